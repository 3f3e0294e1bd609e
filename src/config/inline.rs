//! An inline form: YAML to JSON text, members in order, numbers as written.

use super::fault::{Finding, Findings};
use super::scalar::{self, Plain};
use super::tree::{Content, Mark, Tree};
use crate::json::{push_quoted, quoted};

/// The JSON text of a subtree. `None` when a scalar in it means different things to different readers of YAML;
/// each one has been reported.
pub(super) fn to_json(tree: &Tree, at: Mark, findings: &Findings) -> Option<String> {
    let mut writer = Writer { tree, findings, out: String::new(), sound: true };
    writer.value(at);
    writer.sound.then_some(writer.out)
}

struct Writer<'t> {
    tree: &'t Tree,
    findings: &'t Findings,
    out: String,
    sound: bool,
}

impl Writer<'_> {
    /// Recursion is bounded by the YAML parser, which refuses more than 255 open containers of a kind.
    fn value(&mut self, at: Mark) {
        match self.tree.content(at) {
            Content::Scalar { text, plain: false } => push_quoted(text, &mut self.out),
            Content::Scalar { text, plain: true } => match scalar::resolve(text) {
                Plain::Null => self.out.push_str("null"),
                Plain::Bool(value) => self.out.push_str(if value { "true" } else { "false" }),
                Plain::Number => self.out.push_str(text),
                Plain::Text => push_quoted(text, &mut self.out),
                Plain::Ambiguous(why) => self.refuse(at, text, why),
            },
            Content::Sequence(elements) => {
                self.out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    self.comma(index);
                    self.value(*element);
                }
                self.out.push(']');
            }
            Content::Mapping(members) => {
                self.out.push('{');
                for (index, member) in members.iter().enumerate() {
                    self.comma(index);
                    self.key(member.key);
                    self.out.push(':');
                    self.value(member.value);
                }
                self.out.push('}');
            }
        }
    }

    /// A name is text whatever it looks like, but `on:` is `true:` to a YAML 1.1 reader.
    fn key(&mut self, at: Mark) {
        let Content::Scalar { text, plain } = self.tree.content(at) else { return };
        match scalar::resolve(text) {
            Plain::Ambiguous(why) if *plain => self.refuse(at, text, why),
            Plain::Null | Plain::Bool(_) | Plain::Number if *plain => {
                self.refuse(at, text, "a member name is text, and YAML does not take this for text");
            }
            Plain::Ambiguous(_) | Plain::Null | Plain::Bool(_) | Plain::Number | Plain::Text => {
                push_quoted(text, &mut self.out);
            }
        }
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
    }

    fn refuse(&mut self, at: Mark, text: &str, why: &str) {
        self.sound = false;
        let (line, column) = self.tree.position(at);
        let suggestion = match text {
            "" => "write a value, `\"\"` or `null`".to_owned(),
            _ => format!("write {} for text, or a number as JSON writes it", quoted(text)),
        };
        self.findings.add(Finding {
            line,
            column,
            pointer: self.tree.pointer(at),
            reason: format!("`{}` in an inline form: {why}", text.escape_debug()),
            suggestion: Some(suggestion),
            lint: None,
        });
    }
}
