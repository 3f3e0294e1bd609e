//! JSON strings (RFC 8259, 7): only what must be escaped is.

/// The JSON text of a string, with its quotes.
pub fn quoted(text: &str) -> String {
    // Serialising a `str` cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// Appends the JSON text of a string to text.
pub fn push_quoted(text: &str, out: &mut String) {
    out.push_str(&quoted(text));
}

/// Appends the JSON text of a string to bytes.
pub fn write_quoted(text: &str, out: &mut Vec<u8>) {
    // Neither serialising a `str` nor writing to a `Vec` can fail.
    let _ = serde_json::to_writer(out, text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn a_string_is_read_back_as_it_was() {
        for text in ["", "a", "\"\\/", "\u{0}\u{8}\t\n\u{c}\r\u{1f}", "\u{7f}\u{85}\u{2028}é\u{1f600}"] {
            let written = quoted(text);
            let mut document = Document::new();
            assert_eq!(document.parse(written.as_bytes()).unwrap().as_str(), Some(text), "{written}");
            let (mut more, mut bytes) = ("[".to_owned(), b"[".to_vec());
            push_quoted(text, &mut more);
            write_quoted(text, &mut bytes);
            assert_eq!(more, format!("[{written}"));
            assert_eq!(bytes, more.as_bytes());
        }
        assert_eq!(quoted("\u{1}\n\"\\/\u{7f}é"), "\"\\u0001\\n\\\"\\\\/\u{7f}é\"");
    }
}
