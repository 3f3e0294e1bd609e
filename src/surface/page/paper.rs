//! HTML that is written once, from front to back, and stays within a length.

use std::fmt::Write;

/// What HTML is written to. Markup comes from this program alone: it takes nothing but literals, and what
/// comes from the configuration goes through [`Paper::text`].
pub(in crate::surface) struct Paper {
    html: String,
    limit: usize,
    cut: bool,
}

impl Paper {
    /// `limit`: bytes after which nothing more should be begun.
    pub(in crate::surface) fn new(limit: usize) -> Self {
        Self { html: String::new(), limit, cut: false }
    }

    pub(in crate::surface) fn markup(&mut self, literal: &'static str) -> &mut Self {
        self.html.push_str(literal);
        self
    }

    /// HTML that another paper made.
    pub(in crate::surface) fn drawn(&mut self, paper: &Self) -> &mut Self {
        self.html.push_str(&paper.html);
        self.cut |= paper.cut;
        self
    }

    /// JSON for a script to read: `<` stands in strings only, where it can be written otherwise.
    pub(in crate::surface) fn data(&mut self, json: &str) -> &mut Self {
        self.html.push_str(&json.replace('<', "\\u003c"));
        self
    }

    /// Text, or the value of a quoted attribute.
    pub(in crate::surface) fn text(&mut self, text: &str) -> &mut Self {
        escape(text, &mut self.html);
        self
    }

    /// Text of at most so many characters; what is longer ends in a mark, and counts as cut.
    pub(in crate::surface) fn short(&mut self, text: &str, most: usize) -> &mut Self {
        match text.char_indices().nth(most) {
            Some((end, _)) => {
                self.cut = true;
                self.text(&text[..end]).text("…")
            }
            None => self.text(text),
        }
    }

    pub(in crate::surface) fn code(&mut self, text: &str) -> &mut Self {
        self.markup("<code>").short(text, 400).markup("</code>")
    }

    pub(in crate::surface) fn number(&mut self, number: usize) -> &mut Self {
        self.text(&number.to_string())
    }

    /// Whether nothing more should be begun; asking is admitting that there was more.
    pub(in crate::surface) fn is_full(&mut self) -> bool {
        let full = self.html.len() >= self.limit;
        self.cut |= full;
        full
    }

    /// Whether something was left out.
    pub(in crate::surface) fn is_cut(&self) -> bool {
        self.cut
    }

    pub(in crate::surface) fn into_html(self) -> String {
        self.html
    }
}

/// Escapes for text and for attributes in quotes. What would be invisible, or would turn the direction of the
/// text around it, is shown as JSON would write it.
pub(super) fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            '\t' => out.push('\t'),
            // Writing to a string does not fail.
            other if is_hidden(other) => drop(write!(out, "\\u{:04x}", u32::from(other))),
            other => out.push(other),
        }
    }
}

/// Controls, and the marks that reorder or join text unseen (Unicode Standard Annex 9).
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        let mut out = String::new();
        escape("</script><img src=x onerror='a'>&\"\u{202e}\u{0}\r\nß", &mut out);
        assert_eq!(
            out,
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;\\u202e\\u0000\\u000d\nß"
        );
    }

    #[test]
    fn what_is_long_is_cut_between_characters() {
        let mut paper = Paper::new(100);
        paper.short("äöü", 3);
        assert!(!paper.is_cut());
        paper.short("äöü", 2);
        assert!(paper.is_cut());
        assert_eq!(paper.into_html(), "äöüäö…");
    }
}
