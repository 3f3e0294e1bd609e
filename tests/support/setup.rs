//! What a gate is started with: one config as a value (JSON is YAML) and the files beside it.

use super::{Backend, Gate, cases};
use serde_json::{Value, json};

pub(crate) struct Setup {
    pub(crate) config: Value,
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

impl Setup {
    /// No route yet; `backend` is the upstream named `backend`.
    pub(crate) fn bare(backend: &Backend) -> Self {
        Self::towards(&backend.url())
    }

    pub(crate) fn towards(url: &str) -> Self {
        let config = json!({
            "listen": ["127.0.0.1:0"],
            "admin": "127.0.0.1:0",
            "threads": 2,
            "upstreams": { "backend": { "servers": [url], "timeouts": { "connect": "1s", "exchange": "5s" } } },
            "defaults": { "max_body": "64KiB", "limits": "none" },
            "routes": [],
        });
        Self { config, files: Vec::new() }
    }

    /// The one route most tests need: `start_meeting` with the form of the cases.
    pub(crate) fn meeting(backend: &Backend) -> Self {
        Self::bare(backend).case_route("meetings-start")
    }

    /// A route for a form of the cases, at the address [`cases::address`] names.
    pub(crate) fn case_route(self, form: &str) -> Self {
        let file = format!("forms/{form}.json");
        let route = json!({
            "address": cases::address(form),
            "name": form.replace('-', "_"),
            "form": file,
            "upstream": { "to": "backend", "method": "POST", "path": format!("/legacy/{form}") },
        });
        self.file(&file, cases::form(form)).route(route)
    }

    /// A route at `/NAME` whose form is written inline.
    pub(crate) fn inline_route(self, name: &str, form: &Value) -> Self {
        self.route(json!({
            "address": format!("/{name}"),
            "name": name,
            "form": form,
            "upstream": { "to": "backend", "method": "POST", "path": format!("/legacy/{name}") },
        }))
    }

    /// More routes than those of which everything is made at load (`gateway::FEW`).
    pub(crate) fn crowded(self) -> Self {
        let form = json!({ "type": "boolean", "description": "Whether." });
        (0..70).fold(self, |setup, number| setup.inline_route(&format!("r{number}"), &form))
    }

    pub(crate) fn route(mut self, route: Value) -> Self {
        self.config["routes"].as_array_mut().unwrap().push(route);
        self
    }

    pub(crate) fn file(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.into(), bytes.into()));
        self
    }

    /// Sets a value by a path such as `defaults/max_body` or `routes/0/limits`.
    pub(crate) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        let mut at = &mut self.config;
        for part in path.split('/') {
            at = match part.parse::<usize>() {
                Ok(index) => &mut at[index],
                Err(_) => &mut at[part],
            };
        }
        *at = value.into();
        self
    }

    /// The config as it is written.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(&self.config).unwrap()
    }

    #[track_caller]
    pub(crate) fn start(self) -> Gate {
        Gate::start(&self)
    }
}
