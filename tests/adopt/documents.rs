//! Whole documents: what is carried, what is not and why, and what stands in the files.

use super::{Made, case};
use serde_json::json;

#[test]
fn every_operation_is_carried_or_listed() {
    let made = Made::of(&case("orders.yaml"), &[]);
    let names: Vec<&str> = made.report["carried"]
        .as_array()
        .unwrap()
        .iter()
        .map(|route| route["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["create_order", "replace_order", "pay", "add_contact", "add_node"]);
    for (operation, kind) in [
        ("listOrders", "reads"),
        ("deleteOrder", "path_parameters"),
        ("shipOrders", "required_parameters"),
        ("uploadLabel", "media_type"),
        ("ping", "no_body"),
        ("oldOrder", "deprecated"),
        ("elsewhere", "schema"),
        ("clever", "schema"),
    ] {
        assert_eq!(made.refusal(operation).0, kind, "{operation}");
        assert!(made.yaml().contains(&format!("({operation})")), "{operation} is not listed in the file");
    }
    assert!(made.refusal("clever").1.contains("look-around"), "{:?}", made.refusal("clever"));
    assert!(made.refusal("elsewhere").1.contains("another document"));
}

#[test]
fn the_file_says_what_is_to_be_decided() {
    let made = Made::of(&case("orders.yaml"), &[]);
    let yaml = made.yaml();
    for line in [
        r#"api: { servers: ["http://orders.internal:8081"] }"#,
        r#"- address: "/api/orders""#,
        r#"- address: "/api/orders/put""#,
        r#"path: "/v1/orders""#,
        "method: PUT",
        r#"# set_headers: { X-Api-Key: "${file:secrets/key}" }"#,
        "query parameter `trace`: optional",
        r#"context: "Places an order; it is charged at once.""#,
    ] {
        assert!(yaml.contains(line), "{line}\n{yaml}");
    }
    // Without security of its own there is nothing to decide.
    assert_eq!(yaml.matches("set_headers").count(), 4, "{yaml}");
    assert_eq!(made.report["carried"][0]["examples_accepted"], 1);
    assert_eq!(made.report["carried"][0]["examples_not_carried"].as_array().unwrap().len(), 1);
}

#[test]
fn forms_hold_what_the_document_says() {
    let made = Made::of(&case("orders.yaml"), &[]);
    let order = made.form("create_order");
    assert_eq!(order["description"], "Places an order; it is charged at once.");
    assert_eq!(order["required"], json!(["customer", "lines"]));
    assert_eq!(order["properties"]["note"]["type"], json!(["string", "null"]));
    assert_eq!(
        order["properties"]["discount"],
        json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1})
    );
    let payment = made.form("pay");
    assert_eq!(payment["anyOf"][0]["properties"]["kind"], json!({"const": "card"}));
    assert_eq!(payment["anyOf"][1]["properties"]["kind"], json!({"const": "iban"}));
}

#[test]
fn swagger_2_is_read_too() {
    let made = Made::of(&case("pets-2.yaml"), &[]);
    let yaml = made.yaml();
    assert!(
        yaml.contains(r#"servers: ["http://pets.example"]"#) && yaml.contains(r#"path: "/api/v2/pets""#),
        "{yaml}"
    );
    assert_eq!(made.form("add_pet")["properties"]["chip"]["type"], json!(["string", "null"]));
    assert_eq!(made.refusal("addPhoto").0, "media_type");
}

#[test]
fn the_same_document_gives_the_same_files() {
    let [first, second] = [0, 1].map(|_| Made::of(&case("orders.yaml"), &[]));
    assert_eq!(first.yaml(), second.yaml());
    assert_eq!(first.report, second.report);
}

#[test]
fn parameters_of_a_path_become_members_where_that_is_said() {
    let made = Made::of(&case("orders.yaml"), &["--path-members"]);
    let form = made.form("delete_order");
    assert_eq!(form["properties"], json!({"id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}}));
    assert_eq!(form["required"], json!(["id"]));
    let yaml = made.yaml();
    for line in [r#"path: "/v1/orders/{/id}""#, "method: DELETE", "pattern guessed:", "goes into the path"] {
        assert!(yaml.contains(line), "{line}\n{yaml}");
    }
}
