//! Bytes that are served, with their entity tags; and what they are in other codings, made by the first who asks.

use super::CompiledForm;
use crate::json::push_quoted;
use crate::media::Coding;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::sync::OnceLock;

/// Bytes with strong entity tags (RFC 9110, 8.8.3), and the same in other codings.
#[derive(Debug)]
pub struct Representation {
    digest: String,
    identity: Variant,
    coded: OnceLock<Vec<Variant>>,
}

/// How hard each coding tries, by its own scale: a request waits for it, once. Of a form of a kilobyte all three take a
/// tenth of a millisecond, of a page three. From level 5 on brotli takes two whatever the length (`benches/NOTES.md`).
const GZIP: u32 = 6;
const BROTLI: u32 = 4;
const ZSTD: i32 = 6;

/// One coding of a representation.
#[derive(Debug)]
pub struct Variant {
    /// How the bytes are coded.
    pub coding: Coding,
    /// The bytes.
    pub bytes: Bytes,
    /// Quoted, strong, unique to these bytes: `"…"`, with the coding's suffix.
    pub etag: String,
}

impl Representation {
    /// These bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self::under(digest(&bytes), bytes)
    }

    /// Under a digest that depends on all of the bytes.
    fn under(digest: String, bytes: Vec<u8>) -> Self {
        let identity =
            Variant { coding: Coding::Identity, bytes: bytes.into(), etag: format!("\"{digest}\"") };
        Self { digest, identity, coded: OnceLock::new() }
    }

    /// 32 hexadecimal characters of a SHA-256 over the identity bytes (for an arrival, over those
    /// before its member `digest`, which holds the same characters): the core of every etag.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// As they are.
    pub fn identity(&self) -> &Variant {
        &self.identity
    }

    /// In the other codings, those that make it smaller. Made by the first call: of many forms few are asked for in each.
    pub fn coded(&self) -> &[Variant] {
        self.coded.get_or_init(|| {
            let whole = &self.identity.bytes;
            let codings =
                [(Coding::Zstd, zstd(whole)), (Coding::Brotli, brotli(whole)), (Coding::Gzip, gzip(whole))];
            let smaller = codings.into_iter().filter_map(|(coding, coded)| {
                let bytes = coded.filter(|coded| coded.len() < whole.len())?.into();
                Some(Variant { coding, bytes, etag: format!("\"{}-{}\"", self.digest, coding.name()) })
            });
            smaller.collect()
        })
    }
}

/// The arrival body: `{"p":…,"m":[…],"s":…,"digest":…}` (GPT draft, "Arrival", "Response").
///
/// `context` is `p`, `messages` the JSON text of `m`. `digest` is the SHA-256 of everything before
/// it, cut to 32 characters; the entity tags are made of the same, so a reader of the body alone
/// knows what to send in `If-Match`.
pub fn arrival(context: &str, messages: &str, form: &CompiledForm) -> Representation {
    let mut body = String::with_capacity(context.len() + messages.len() + form.published().len() + 80);
    body.push_str("{\"p\":");
    push_quoted(context, &mut body);
    body.push_str(",\"m\":");
    body.push_str(messages);
    body.push_str(",\"s\":");
    body.push_str(form.published());
    let digest = digest(body.as_bytes());
    body.push_str(",\"digest\":\"");
    body.push_str(&digest);
    body.push_str("\"}");
    Representation::under(digest, body.into_bytes())
}

/// 32 hexadecimal characters of the SHA-256 of some bytes.
pub fn digest(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(32);
    for byte in &Sha256::digest(bytes)[..16] {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from(if half < 10 { b'0' + half } else { b'a' + half - 10 }));
        }
    }
    text
}

// Writing to a `Vec` does not fail; were it to, the variant is left out.

fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(GZIP));
    out.write_all(bytes).ok()?;
    out.finish().ok()
}

fn brotli(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    // A window that holds all of it, and not more: the encoder's memory goes by the window, tens of MiB at 22.
    let window = (usize::BITS - bytes.len().leading_zeros()).clamp(10, 22);
    let mut writer = brotli::CompressorWriter::new(&mut out, 4096, BROTLI, window);
    writer.write_all(bytes).ok()?;
    writer.flush().ok()?;
    drop(writer);
    Some(out)
}

fn zstd(bytes: &[u8]) -> Option<Vec<u8>> {
    zstd::bulk::compress(bytes, ZSTD).ok()
}
