//! JSON-RPC 2.0, as far as a server that never asks anything needs it.

use crate::json::{Kind, Object, Value};
use std::ops::Range;

/// One message that asks for something, or tells something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'d> {
    /// After unescaping.
    pub(super) method: &'d str,
    /// Always an object where there are any: MCP has no positional ones.
    pub(super) params: Option<Object<'d>>,
    /// Whether it has an id, and so wants an answer.
    pub(super) is_request: bool,
}

/// A message and where its id stands.
pub(super) type Message<'d> = (Option<Range<usize>>, Call<'d>);

/// Something else than a message: a batch, an answer to what nobody asked, or broken. With the place of its id, if that
/// at least can be told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoMessage(pub(super) Option<Range<usize>>);

/// Reads one message. Members beside the four that JSON-RPC knows are refused: who reads them would read another message.
pub(super) fn read<'d>(value: Value<'d>, text: &[u8]) -> Result<Message<'d>, NoMessage> {
    // Batches went with revision 2025-06-18.
    let Some(object) = value.as_object() else { return Err(NoMessage(None)) };
    let id = object.get("id");
    // Of a broken id nothing is told, as if there were none.
    let at = id.filter(|id| is_id(*id, text)).map(|id| id.span());
    if id.is_some() && at.is_none() {
        return Err(NoMessage(None));
    }
    let nothing = || NoMessage(at.clone());
    let known = |name: &str| matches!(name, "jsonrpc" | "id" | "method" | "params");
    if !object.members().all(|(name, _)| known(name)) {
        return Err(nothing());
    }
    if object.get("jsonrpc").and_then(|version| version.as_str()) != Some("2.0") {
        return Err(nothing());
    }
    let method = object.get("method").and_then(|method| method.as_str()).ok_or_else(nothing)?;
    let params = match object.get("params") {
        None => None,
        Some(params) => Some(params.as_object().ok_or_else(nothing)?),
    };
    Ok((at.clone(), Call { method, params, is_request: at.is_some() }))
}

/// A string, or an integer written as one: an answer repeats it byte for byte.
fn is_id(id: Value<'_>, text: &[u8]) -> bool {
    match id.kind() {
        Kind::String => true,
        Kind::Number => text.get(id.span()).is_some_and(|number| {
            let digits = number.strip_prefix(b"-").unwrap_or(number);
            digits.iter().all(u8::is_ascii_digit)
        }),
        Kind::Null | Kind::Boolean | Kind::Array | Kind::Object => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn outcome(text: &str) -> Result<(Option<String>, String), Option<String>> {
        let mut document = Document::new();
        let value = document.parse(text.as_bytes()).unwrap();
        let cut = |span: Option<Range<usize>>| span.map(|span| text[span].to_owned());
        match read(value, text.as_bytes()) {
            Ok((id, call)) => Ok((cut(id), call.method.to_owned())),
            Err(NoMessage(id)) => Err(cut(id)),
        }
    }

    #[test]
    fn ids_are_strings_and_integers_as_written() {
        for id in ["0", "-1", "9007199254740993", "\"\"", "\"\\u0061\"", "123456789012345678901234567890"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(outcome(&text), Ok((Some(id.to_owned()), "ping".to_owned())), "{id}");
        }
        for id in ["null", "true", "1.0", "1e3", "1E0", "-0.5", "[]", "{}"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(outcome(&text), Err(None), "{id}");
        }
    }

    #[test]
    fn what_is_no_message_keeps_its_id_where_it_has_one() {
        for text in [
            r#"{"id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","more":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#,
        ] {
            assert_eq!(outcome(text), Err(Some("1".to_owned())), "{text}");
        }
        for text in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "null", "\"ping\"", "1", "{}"] {
            assert_eq!(outcome(text), Err(None), "{text}");
        }
    }

    #[test]
    fn without_an_id_it_wants_no_answer() {
        let text = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(outcome(text), Ok((None, "notifications/initialized".to_owned())));
    }
}
