//! What a keyword of a JSON Schema holds, where the schema is a parsed document. What is not there, or is of another
//! kind, holds nothing.

use super::Value;

/// The value of a keyword.
pub fn get<'d>(schema: Value<'d>, keyword: &str) -> Option<Value<'d>> {
    schema.as_object()?.get(keyword)
}

/// Its text.
pub fn text<'d>(schema: Value<'d>, keyword: &str) -> Option<&'d str> {
    get(schema, keyword)?.as_str()
}

/// Its number, as it is written.
pub fn number<'d>(schema: Value<'d>, keyword: &str) -> Option<&'d str> {
    Some(get(schema, keyword)?.as_number()?.text())
}

/// Its number, if that is written as a count.
pub fn count(schema: Value<'_>, keyword: &str) -> Option<u64> {
    number(schema, keyword)?.parse().ok()
}

/// Whether it is `true`.
pub fn is_set(schema: Value<'_>, keyword: &str) -> bool {
    get(schema, keyword).and_then(|value| value.as_bool()) == Some(true)
}

/// Its elements.
pub fn elements<'d>(schema: Value<'d>, keyword: &str) -> Vec<Value<'d>> {
    let array = get(schema, keyword).and_then(|value| value.as_array());
    array.map(|array| array.elements().collect()).unwrap_or_default()
}

/// Its members.
pub fn members<'d>(schema: Value<'d>, keyword: &str) -> Vec<(&'d str, Value<'d>)> {
    let object = get(schema, keyword).and_then(|value| value.as_object());
    object.map(|object| object.members().collect()).unwrap_or_default()
}

/// The texts among its elements.
pub fn names<'d>(schema: Value<'d>, keyword: &str) -> impl Iterator<Item = &'d str> {
    elements(schema, keyword).into_iter().filter_map(|name| name.as_str())
}

/// The names in `type`: of one, or of several.
pub fn types(schema: Value<'_>) -> Vec<&str> {
    match text(schema, "type") {
        Some(one) => vec![one],
        None => names(schema, "type").collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn a_keyword_of_another_kind_holds_nothing() {
        let mut document = Document::new();
        let text_of =
            br#"{"type":["string",7,"null"],"maxLength":1e1,"minLength":2,"enum":{"a":1},"readOnly":true}"#;
        let schema = document.parse(text_of).unwrap();
        assert_eq!(types(schema), ["string", "null"]);
        assert_eq!((number(schema, "maxLength"), count(schema, "maxLength")), (Some("1e1"), None));
        assert_eq!((count(schema, "minLength"), text(schema, "minLength")), (Some(2), None));
        assert!(elements(schema, "enum").is_empty() && members(schema, "type").is_empty());
        assert_eq!(members(schema, "enum").len(), 1);
        assert!(is_set(schema, "readOnly") && !is_set(schema, "type") && !is_set(schema, "missing"));
        let mut boolean = Document::new();
        assert!(types(boolean.parse(b"true").unwrap()).is_empty());
    }
}
