//! Characters that a reader may be misled by: what YAML does not take as it is, and what a terminal obeys or reorders.

use std::fmt::Write as _;

/// Whether a character stands for itself wherever it is written: printable in YAML 1.2 (production 1), no line break
/// by any count, no byte-order mark, and none that turns the direction of text (Unicode Annex 9, 2).
pub fn is_visible(c: char) -> bool {
    let hidden = c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        );
    !hidden
}

/// JSON text with `\uXXXX` for what is not visible in its strings; its lines stay.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || is_visible(c) {
            out.push(c);
        } else {
            // All of them are below U+10000.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{is_visible, visible};

    #[test]
    fn what_misleads_is_escaped_and_means_the_same() {
        let text = "a\u{7f}\u{85}\u{9b}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}\u{fffe}\u{ffff}\t\n\"é\u{1f600}";
        let written = visible(&serde_json::to_string(text).unwrap());
        assert!(written.chars().all(is_visible), "{written}");
        assert!(written.contains("\\u009b") && written.contains("é\u{1f600}"), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        assert_eq!(visible("{\n}"), "{\n}");
    }
}
