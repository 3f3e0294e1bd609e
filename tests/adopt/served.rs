//! The end of it: what was written is served, and an example of the document goes through to the backend.

use super::{Made, case};
use crate::support::{Backend, Gate, Setup};

/// A gate on the files of `init`, with addresses of its own.
fn serve(made: &Made, backend: &Backend) -> Gate {
    let mut setup = Setup::bare(backend);
    for entry in std::fs::read_dir(made.dir.path().join("forms")).unwrap() {
        let entry = entry.unwrap();
        let name = format!("forms/{}", entry.file_name().to_string_lossy());
        setup = setup.file(&name, std::fs::read(entry.path()).unwrap());
    }
    let gate = Gate::start(&setup.route(serde_json::json!({
        "address": "/start", "name": "start", "form": {"type": "boolean", "description": "A start."}, "upstream": {"to": "backend", "path": "/"}
    })));
    // The file as it was written, but for where it listens and where the API is.
    let yaml = made.yaml();
    let yaml = yaml.replace("http://orders.internal:8081", &backend.url());
    let yaml = yaml.replace("127.0.0.1:8080", "127.0.0.1:0").replace("127.0.0.1:9901", "127.0.0.1:0");
    gate.replace("gateway.yaml", yaml);
    let reloaded = gate.reload();
    assert_eq!(reloaded.status, 200, "{}", reloaded.text());
    gate
}

#[test]
fn an_example_of_the_document_goes_through() {
    let made = Made::of(&case("orders.yaml"), &[]);
    let backend = Backend::agreeing();
    let gate = serve(&made, &backend);
    let body = r#"{"customer":{"name":"Ada","email":"ada@example.com"},"lines":[{"sku":"AB-1234","count":2}],"note":null}"#;
    assert_eq!(gate.post("/api/orders", body).status, 200);
    let seen = backend.only();
    assert!(seen.line().starts_with("POST /v1/orders "), "{}", seen.line());
    assert_eq!(seen.body, body.as_bytes());
    // A member that the document does not declare, and one that it calls `readOnly`.
    for refused in [
        r#"{"customer":{"name":"Ada"},"lines":[{"sku":"AB-1234","count":2}],"admin":true}"#,
        r#"{"id":1,"customer":{"name":"Ada"},"lines":[]}"#,
    ] {
        assert_eq!(gate.post("/api/orders", refused).status, 204, "{refused}");
    }
    assert_eq!(backend.count(), 1);
    assert_eq!(gate.get("/api/payments").status, 200);
}

#[test]
fn a_member_goes_into_the_path() {
    let made = Made::of(&case("orders.yaml"), &["--path-members"]);
    let backend = Backend::agreeing();
    let gate = serve(&made, &backend);
    assert_eq!(gate.post("/api/orders/id", r#"{"id":"A-1"}"#).status, 200);
    assert!(backend.only().line().starts_with("DELETE /v1/orders/A-1 "), "{}", backend.only().line());
    for refused in [r#"{"id":"../x"}"#, r#"{"id":""}"#, "{}"] {
        assert_eq!(gate.post("/api/orders/id", refused).status, 204, "{refused}");
    }
    assert_eq!(backend.count(), 1);
}
