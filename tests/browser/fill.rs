//! Filling in a form as a person does: looking for a label's control, clicking, typing.

use super::driver::{Browser, Element};
use serde_json::{Value, json};

/// Fills the whole form in with a value.
#[track_caller]
pub(super) fn fill(browser: &Browser, form: &Value, value: &Value) {
    Filler { browser, form }.slot("", 0, form, value);
}

struct Filler<'b> {
    browser: &'b Browser,
    form: &'b Value,
}

/// The slot at a place; alternatives put a second one inside the first.
const SLOT: &str =
    "[...document.querySelectorAll('[data-at]')].filter(e => e.dataset.at === arguments[0])[arguments[1]]";

impl Filler<'_> {
    /// Whether the slot has something that no slot within it has.
    fn own(&self, path: &str, nth: usize, selector: &str) -> Option<Element> {
        let expression = format!(
            "[...{SLOT}.querySelectorAll(arguments[2])].find(e => e.closest('[data-at]') === {SLOT}) || null"
        );
        let found =
            self.browser.look(&format!("return Boolean({expression})"), &json!([path, nth, selector]));
        (found == json!(true)).then(|| self.browser.element(&expression, &json!([path, nth, selector])))
    }

    #[track_caller]
    fn must(&self, path: &str, nth: usize, selector: &str) -> Element {
        self.own(path, nth, selector).unwrap_or_else(|| panic!("no {selector} at {path:?}"))
    }

    #[track_caller]
    fn slot(&self, path: &str, nth: usize, schema: &Value, value: &Value) {
        let schema = self.resolved(schema);
        if let Some(add) = self.own(path, nth, ".absent button") {
            self.browser.click(&add);
        }
        if self.own(path, nth, ".which select").is_some() {
            let alternatives = schema["anyOf"].as_array().unwrap();
            let index = alternatives.iter().position(|each| self.admits(each, value)).unwrap();
            self.choose(path, nth, ".which select", index);
            return self.slot(path, nth + 1, &alternatives[index], value);
        }
        if let Some(fixed) = self.own(path, nth, ".fixed code") {
            let shown = self.browser.look("return arguments[0].textContent", &json!([fixed.to_json()]));
            assert_eq!(shown.as_str().unwrap(), value.to_string(), "{path}");
            return;
        }
        if self.own(path, nth, "select").is_some() {
            let options = match schema["enum"].as_array() {
                Some(values) => values.clone(),
                None if schema["const"].is_null() => vec![json!(true), json!(false)],
                None => vec![schema["const"].clone()],
            };
            let index = options.iter().position(|option| option == value).unwrap();
            return self.choose(path, nth, "select", index + 1);
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let token = name.replace('~', "~0").replace('/', "~1");
                    self.slot(&format!("{path}/{token}"), 0, &schema["properties"][name], member);
                }
            }
            Value::Array(elements) if self.own(path, nth, ".ticks").is_some() => {
                let choices = schema["items"]["enum"].as_array().unwrap();
                for element in elements {
                    let index = choices.iter().position(|choice| choice == element).unwrap();
                    let label = format!(".tick:nth-child({}) label", index + 1);
                    self.browser.click(&self.must(path, nth, &label));
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    let below = format!("{path}/{index}");
                    let there = self.browser.look(&format!("return Boolean({SLOT})"), &json!([below, 0]));
                    if there == json!(false) {
                        self.browser.click(&self.must(path, nth, ".row > button"));
                    }
                    self.slot(&below, 0, &schema["items"], element);
                }
            }
            Value::String(text) => self.write(path, nth, text),
            Value::Number(number) => self.write(path, nth, &number.to_string()),
            Value::Null | Value::Bool(_) => panic!("nothing to fill {value} into at {path:?}"),
        }
    }

    fn write(&self, path: &str, nth: usize, text: &str) {
        let control = self.must(path, nth, "input, textarea");
        self.browser.send_keys(&control, text);
    }

    fn choose(&self, path: &str, nth: usize, selector: &str, index: usize) {
        let option = self.must(path, nth, &format!("{selector} option:nth-of-type({})", index + 1));
        self.browser.click(&option);
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        match schema["$ref"].as_str() {
            Some(reference) => self.resolved(self.form.pointer(&reference[1..]).unwrap()),
            None => schema,
        }
    }

    fn admits(&self, schema: &Value, value: &Value) -> bool {
        let whole = json!({ "$defs": self.form["$defs"].as_object().cloned().unwrap_or_default(), "allOf": [schema] });
        jsonschema::validator_for(&whole).unwrap().is_valid(value)
    }
}
