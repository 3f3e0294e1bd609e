//! The slips that people make in JSON, told from where a strict reader stopped.

/// What to write instead, where what stands at the offset is a slip that is often made. `at`: of a grammar fault.
pub(crate) fn slip(text: &str, at: usize) -> Option<&'static str> {
    let (before, rest) = text.split_at_checked(at)?;
    let before = before.trim_end_matches([' ', '\n', '\r', '\t']);
    match (before.chars().next_back(), rest.chars().next()) {
        (_, None) => Some("the text ends too early: a `}`, a `]` or a `\"` is missing"),
        (Some(','), Some('}' | ']')) => Some("no comma before a closing bracket"),
        (_, Some('\'')) => Some("names and texts stand in `\"`"),
        (_, Some('/' | '#')) => Some("JSON has no comments; a form has `description` and `$comment`"),
        (Some('"' | '}' | ']' | '0'..='9' | 'e' | 'l'), Some('"' | '{' | '[')) => Some("a comma before this"),
        (Some('{' | ','), Some(first)) if first.is_alphabetic() => Some("names stand in `\"`"),
        (Some(_) | None, Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn slips_are_told() {
        for (text, word) in [
            ("{\"a\": [1, 2,]}", "comma"),
            ("{\"a\": 1, }", "comma"),
            ("{\"a\": 1 \"b\": 2}", "comma before"),
            ("{\"a\": true\n\"b\": 2}", "comma before"),
            ("{\"a\": {}", "ends too early"),
            ("{\"a\": 1\n", "ends too early"),
            ("{\'a\': 1}", "stand in"),
            ("{a: 1}", "stand in"),
            ("{\"a\": 1, // one\n\"b\": 2}", "comments"),
            ("{\"a\": é}", ""),
        ] {
            let at = Document::new().parse(text.as_bytes()).map(|_| ()).unwrap_err().at;
            let told = slip(text, at).unwrap_or_default();
            assert!(told.contains(word) && told.is_empty() == word.is_empty(), "{text}: {told}");
        }
    }
}
