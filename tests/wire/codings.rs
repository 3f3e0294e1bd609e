//! Accept-Encoding picks a variant that is made once; all decode to the identity (DESIGN 4, G-39).

use crate::support::{Backend, MEETING, Request, Response, Setup};
use std::io::Read;

fn decoded(response: &Response) -> Vec<u8> {
    let coded = &response.body[..];
    let read = |mut reader: Box<dyn Read + '_>| {
        let mut out = Vec::new();
        reader.read_to_end(&mut out).map(|_| out)
    };
    let out = match response.field("content-encoding") {
        None => read(Box::new(coded)),
        Some("gzip") => read(Box::new(flate2::read::GzDecoder::new(coded))),
        Some("br") => read(Box::new(brotli::Decompressor::new(coded, 4096))),
        Some("zstd") => zstd::decode_all(coded),
        Some(other) => panic!("coded as {other}"),
    };
    out.unwrap()
}

/// Which coding each field leads to; `None` is identity.
const CHOICES: &[(&str, &[Option<&str>])] = &[
    ("gzip", &[Some("gzip")]),
    ("br", &[Some("br")]),
    ("zstd", &[Some("zstd")]),
    ("x-gzip", &[None, Some("gzip")]),
    ("GZIP", &[Some("gzip")]),
    ("gzip, deflate, br, zstd", &[Some("zstd"), Some("br"), Some("gzip")]),
    ("gzip;q=1.0, br;q=0", &[Some("gzip")]),
    ("br;q=0, zstd;q=0, gzip;q=0", &[None]),
    ("*", &[Some("zstd"), Some("br"), Some("gzip"), None]),
    ("*;q=0", &[None]),
    ("identity", &[None]),
    ("identity;q=0", &[None, Some("zstd"), Some("br"), Some("gzip")]),
    ("", &[None]),
    ("deflate", &[None]),
    ("gzipx", &[None]),
    ("nonsense;;,=q", &[None]),
];

#[test]
fn every_variant_decodes_to_the_identity() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let plain = gate.get(MEETING);
    assert_eq!(plain.field("content-encoding"), None);
    for (accepts, codings) in CHOICES {
        let request = Request::get(MEETING).field("Accept-Encoding", accepts);
        let response = gate.exchange(&request);
        assert_eq!(response.status, 200, "{accepts}");
        assert!(codings.contains(&response.field("content-encoding")), "{accepts}: {}", response.head);
        assert_eq!(decoded(&response), plain.body, "{accepts}");
        let vary = response.field("vary").unwrap().to_ascii_lowercase();
        assert!(vary.split(", ").any(|name| name == "accept"), "{accepts}: {vary}");
        if response.field("content-encoding").is_some() {
            assert!(vary.split(", ").any(|name| name == "accept-encoding"), "{accepts}: {vary}");
            assert!(response.body.len() < plain.body.len(), "{accepts}: longer than the identity");
        }
        let again = gate.exchange(&request);
        assert_eq!((again.body, again.status), (response.body.clone(), 200), "{accepts}: not made once?");
        let head = gate.exchange(&Request::new("HEAD", MEETING).field("Accept-Encoding", accepts));
        assert_eq!(head.constant_head(), response.constant_head(), "{accepts}: HEAD");
    }
    backend.untouched();
}

/// A tag got with one coding keeps the copy fresh under the same coding.
#[test]
fn tags_of_variants_revalidate() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    for coding in ["gzip", "br", "zstd", "identity"] {
        let request = Request::get(MEETING).field("Accept-Encoding", coding);
        let etag = gate.exchange(&request).field("etag").unwrap().to_owned();
        assert_eq!(gate.exchange(&request.field("If-None-Match", &etag)).status, 304, "{coding}");
    }
}
