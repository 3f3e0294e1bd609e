//! What is served: the arrival's bytes, their codings and tags.

use super::{cases, loads, read};
use formgate::form::{Representation, arrival};
use formgate::media::Coding;
use std::io::Read;

#[test]
fn an_arrival_has_its_members_in_order() {
    let form = loads(r#"{ "type": "null" }"#);
    let arrival = arrival("say \"hi\"", r#"[{"role":"user","content":"x"}]"#, &form);
    let digest = arrival.digest();
    assert_eq!(digest.len(), 32);
    assert!(digest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)));
    let body = std::str::from_utf8(&arrival.identity().bytes).unwrap();
    assert_eq!(
        body,
        format!(
            r#"{{"p":"say \"hi\"","m":[{{"role":"user","content":"x"}}],"s":{{"type":"null"}},"digest":"{digest}"}}"#
        )
    );
    assert_eq!(arrival.identity().etag, format!("\"{digest}\""));
}

#[test]
fn a_digest_is_stable_and_depends_on_every_part() {
    let form = loads(r#"{"type":"null"}"#);
    let digest = |context: &str, messages: &str, text: &str| {
        arrival(context, messages, &loads(text)).digest().to_owned()
    };
    let first = digest("", "[]", form.published());
    assert_eq!(first, digest("", "[]", " { \"type\" : \"null\" } "));
    // Written down: a change of these bytes is a change of what every client sees.
    assert_eq!(first, "96898eeb8b9da16ff0b43605fb682955");
    assert_ne!(first, digest("x", "[]", form.published()));
    assert_ne!(first, digest("", "[{}]", form.published()));
    assert_ne!(first, digest("", "[]", r#"{"type":"boolean"}"#));
}

#[test]
fn variants_are_smaller_and_unpack_to_the_same_bytes() {
    let form = loads(&read(&cases("forms/home-command/form.json")));
    let arrival = arrival("", "[]", &form);
    let identity = &arrival.identity().bytes;
    let variants = || std::iter::once(arrival.identity()).chain(arrival.coded());
    let codings: Vec<Coding> = variants().map(|variant| variant.coding).collect();
    assert_eq!(codings, [Coding::Identity, Coding::Zstd, Coding::Brotli, Coding::Gzip]);
    let mut tags = Vec::new();
    for variant in variants() {
        tags.push(variant.etag.clone());
        let mut unpacked = Vec::new();
        match variant.coding {
            Coding::Identity => unpacked.extend_from_slice(&variant.bytes),
            Coding::Gzip => {
                flate2::read::GzDecoder::new(&variant.bytes[..]).read_to_end(&mut unpacked).unwrap();
            }
            Coding::Brotli => {
                brotli::Decompressor::new(&variant.bytes[..], 4096).read_to_end(&mut unpacked).unwrap();
            }
            Coding::Zstd => {
                zstd::stream::copy_decode(&variant.bytes[..], &mut unpacked).unwrap();
            }
        }
        assert_eq!(unpacked, identity[..]);
        assert!(variant.coding == Coding::Identity || variant.bytes.len() < identity.len());
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 4);
}

#[test]
fn a_variant_that_would_not_be_smaller_is_left_out() {
    let tiny = Representation::new(b"{}".to_vec());
    assert!(tiny.coded().is_empty());
    assert_eq!(tiny.digest(), "44136fa355b3678a1146ad16f7e8649e");
}
