//! What fields say: media types, codings, entity tags, forwarded addresses, traces, keys.
#![no_main]

use formgate::gateway::fuzzing::idempotency_key;
use formgate::gateway::{Field, Gateway, Head};
use formgate::media::{Accept, Coding, Codings, is_any_json, is_json_utf8, is_text, lists, names_entity_tag};
use libfuzzer_sys::fuzz_target;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;

static GATEWAY: LazyLock<Gateway> = LazyLock::new(|| {
    let trusted = ["10.0.0.0/8", "fd00::/8", "127.0.0.1/32"].map(|network| network.parse().unwrap());
    Gateway::new(Vec::new(), trusted.to_vec(), String::new())
});

/// All entries of all fields, from the left; the right-most that is no trusted address decides.
fn expected(values: &[&[u8]], peer: IpAddr) -> IpAddr {
    let entries: Vec<Vec<u8>> = values.join(&b","[..]).split(|byte| *byte == b',').map(<[u8]>::to_vec).collect();
    let read = |entry: &Vec<u8>| {
        let text = String::from_utf8(entry.clone()).ok()?;
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
        let bare = if text.len() > 1 && text.starts_with('[') && text.ends_with(']') { &text[1..text.len() - 1] } else { text };
        bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
    };
    let mut client = peer;
    for entry in entries.iter().rev() {
        match read(entry) {
            Some(address) => {
                client = address;
                if !GATEWAY.trusted_proxies.iter().any(|network| network.contains(&address)) {
                    break;
                }
            }
            None => break,
        }
    }
    client
}

fuzz_target!(|bytes: &[u8]| {
    let [mode, field @ ..] = bytes else { return };
    match mode % 8 {
        0 => {
            let _ = is_text(field);
            if is_json_utf8(field) {
                assert!(is_any_json(field));
                let plain = field.to_ascii_lowercase();
                let word = plain.trim_ascii().strip_prefix(b"application/json").expect("it says so");
                assert!(word.trim_ascii_start().first().is_none_or(|byte| *byte == b';'));
                let mut parts = plain.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
                let other = |part: &[u8]| part.starts_with(b"charset=") && part != b"charset=utf-8";
                assert!(plain.contains(&b'"') || !parts.any(other), "another charset");
            }
        }
        1 => {
            let codings = Codings::NONE.read(field);
            for coding in [Coding::Identity, Coding::Gzip, Coding::Brotli, Coding::Zstd] {
                assert!(codings.quality(coding) <= 1000);
            }
            // Fields are one list (RFC 9110, 5.3).
            for (at, _) in field.iter().enumerate().filter(|(_, byte)| **byte == b',') {
                assert_eq!(Codings::NONE.read(&field[..at]).read(&field[at + 1..]), codings);
            }
        }
        2 => {
            let tag = b"\"abc\"";
            let weak = names_entity_tag(field, false, |have| have == tag);
            let strong = names_entity_tag(field, true, |have| have == tag);
            assert!(weak || !strong, "strong comparison is the narrower one");
            let there = field.windows(tag.len()).any(|window| window == tag);
            assert!(!weak || there || field.trim_ascii() == b"*");
            let _ = names_entity_tag(field, false, |have| {
                assert!(have.len() >= 2 && have.starts_with(b"\"") && have.ends_with(b"\""));
                assert!(!have[1..have.len() - 1].contains(&b'"'));
                false
            });
        }
        3 => {
            let accept = Accept::NONE.read(field);
            let named = field.to_ascii_lowercase().windows(9).any(|window| window == b"text/html");
            assert!(named || !accept.prefers_page());
            if !field.contains(&b'"') {
                for (at, _) in field.iter().enumerate().filter(|(_, byte)| **byte == b',') {
                    assert_eq!(Accept::NONE.read(&field[at + 1..]).read(&field[..at]), accept);
                }
            }
        }
        4 => {
            if lists(field, "close") {
                assert!(field.to_ascii_lowercase().windows(5).any(|window| window == b"close"));
            }
        }
        5 => {
            let origin = GATEWAY.origin(&Head::nothing(Ipv4Addr::LOCALHOST.into()));
            let fields = [Field { name: "traceparent", value: field }];
            let ids = GATEWAY.ids(&Head { fields: &fields, ..Head::nothing(Ipv4Addr::LOCALHOST.into()) }, &origin, || 7);
            let parts: Vec<&[u8]> = field.split(|byte| *byte == b'-').collect();
            let hex = |text: &[u8], length| text.len() == length && text.iter().all(|b| b"0123456789abcdef".contains(b));
            let named = |text: &[u8], length| hex(text, length) && text.iter().any(|digit| *digit != b'0');
            match parts[..] {
                [b"00", trace, parent, flags] if named(trace, 32) && named(parent, 16) && hex(flags, 2) => {
                    assert_eq!(ids.trace.as_bytes(), trace);
                    assert_eq!(ids.sampled, b"13579bdf".contains(&flags[1]));
                }
                _ => assert!(ids.trace.to_string().ends_with("7") && !ids.sampled, "{ids:?}"),
            }
        }
        6 => {
            let Some(key) = idempotency_key(field) else { return };
            assert!((1..=255).contains(&key.len()) && key.iter().all(u8::is_ascii_graphic));
            assert!(!key.iter().any(|byte| b"\"\\".contains(byte)));
            let quoted = [b"\"", key, b"\""].concat();
            assert!(field == key && !key.iter().any(|byte| b",;".contains(byte)) || field == quoted);
            assert_eq!(idempotency_key(&quoted), Some(key));
        }
        _ => {
            let values: Vec<&[u8]> = field.split(|byte| *byte == b'\n').collect();
            let fields: Vec<Field<'_>> =
                values.iter().map(|value| Field { name: "X-Forwarded-For", value }).collect();
            for peer in [IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3)), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9))] {
                let head = Head { fields: &fields, ..Head::nothing(peer) };
                let origin = GATEWAY.origin(&head);
                let trusted = peer == IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3));
                assert_eq!(origin.peer_trusted, trusted);
                assert_eq!(origin.client, if trusted { expected(&values, peer) } else { peer });
            }
        }
    }
});
