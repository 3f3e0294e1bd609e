//! Something to start from where there is no document and no recording.

use super::{Adoption, Report};

const GATEWAY: &str = r#"# A gateway with one route, to start from. Every key is explained in config/gateway.yaml of the source, and by
# `formgate check --schema`.
listen: ["127.0.0.1:8080"] # decide: where clients connect
admin: "127.0.0.1:9901"     # metrics, health, why bodies are refused; never public
upstreams:
  api: { servers: ["http://127.0.0.1:8081"] } # decide: where your API is
defaults:
  max_body: 64KiB
  # decide: per client and route
  limits: { get: 50/s burst 100, post: 5/s burst 10, refused: 1/s burst 20 }
routes:
  - address: /notes/add # what clients GET and POST
    name: add_note
    context: "Adds a note. It can be read by everyone in the team."
    form: forms/add_note.json # the smallest schema that covers the one action
    upstream:
      to: api
      path: /internal/v1/notes # what your API calls it
      # set_headers: { Authorization: "Bearer ${file:secrets/api}" } # a secret of yours; clients never see it
    examples: # checked whenever the file is read
      accepted: ['{"title":"Lunch","text":"12:30, the usual place"}']
      refused: ['{"title":""}', '{"title":"Lunch","admin":true}']
"#;

const FORM: &str = r#"{
  "description": "Add a note.",
  "type": "object",
  "properties": {
    "title": { "description": "One line.", "type": "string", "minLength": 1, "maxLength": 80 },
    "text": { "type": "string", "maxLength": 2000 },
    "importance": { "enum": ["low", "normal", "high"] }
  },
  "required": ["title"],
  "additionalProperties": false
}
"#;

/// The files of a gateway with one route.
pub fn starter() -> Adoption {
    let files = [("gateway.yaml", GATEWAY), ("forms/add_note.json", FORM)];
    Adoption {
        files: files.map(|(file, text)| (file.to_owned(), text.to_owned())).into(),
        report: Report::default(),
    }
}
