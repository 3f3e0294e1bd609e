//! JSON text, written member by member: schemas go in as the text they are, and order is kept.

use crate::json::quoted;

/// An object that is being written.
#[derive(Debug)]
pub(super) struct Object<'o> {
    out: &'o mut String,
    empty: bool,
}

impl Object<'_> {
    /// The text of an object with these members.
    pub(super) fn text_of(members: impl FnOnce(&mut Object<'_>)) -> String {
        let mut out = String::new();
        Object::write(&mut out, members);
        out
    }

    fn write(out: &mut String, members: impl FnOnce(&mut Object<'_>)) {
        out.push('{');
        let mut object = Object { out, empty: true };
        members(&mut object);
        out.push('}');
    }

    /// A member that is JSON text already.
    pub(super) fn json(&mut self, name: &str, json: &str) {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        self.out.push_str(&quoted(name));
        self.out.push(':');
        self.out.push_str(json);
    }

    /// A member that is a string.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.json(name, &quoted(text));
    }

    /// A member that is a boolean.
    pub(super) fn flag(&mut self, name: &str, flag: bool) {
        self.json(name, if flag { "true" } else { "false" });
    }

    /// A member that is an object.
    pub(super) fn object(&mut self, name: &str, members: impl FnOnce(&mut Object<'_>)) {
        self.json(name, "");
        Object::write(self.out, members);
    }
}

/// An array of JSON texts.
pub(super) fn array<T: AsRef<str>>(elements: impl IntoIterator<Item = T>) -> String {
    let mut out = String::from("[");
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(element.as_ref());
    }
    out.push(']');
    out
}

/// Compact JSON text with a line a value, indented by two, as people and other tools write it.
pub fn pretty(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    let mut before = ' ';
    for character in compact.chars() {
        if quoted {
            out.push(character);
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            before = character;
            continue;
        }
        let opened = matches!(before, '{' | '[');
        if matches!(character, '}' | ']') {
            depth = depth.saturating_sub(1);
            // What is empty stays on its line.
            if !opened {
                line(&mut out, depth);
            }
        } else if opened {
            line(&mut out, depth);
        }
        out.push(character);
        match character {
            '{' | '[' => depth += 1,
            ',' => line(&mut out, depth),
            ':' => out.push(' '),
            '"' => quoted = true,
            _ => {}
        }
        before = character;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn it_is_written_as_others_write_it() {
        for text in [
            r#"{"a":[1,2,{"b":{}}],"c":[],"d":"{[,:\"\\","e":{"f":null},"g":"\\"}"#,
            "[]",
            "{}",
            "7",
            r#"[[[]],{"":""}]"#,
        ] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(pretty(text), serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
