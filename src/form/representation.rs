//! Bytes computed at load, in every coding, with their entity tags.

use super::CompiledForm;
use crate::json::push_quoted;
use crate::media::Coding;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::io::Write;

/// Bytes computed at load in every coding, with strong entity tags (RFC 9110, 8.8.3).
#[derive(Debug)]
pub struct Representation {
    digest: String,
    variants: Vec<Variant>,
}

/// How hard each coding tries, by its own scale: of a form of a kilobyte all three take a tenth of a millisecond. Brotli
/// would be a seventh smaller from level 5 on, and take two milliseconds whatever the length (`benches/NOTES.md`).
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
    /// Compresses; a variant that would not be smaller is left out.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self::under(digest(&bytes), bytes)
    }

    /// Under a digest that depends on all of the bytes.
    fn under(digest: String, bytes: Vec<u8>) -> Self {
        let mut variants = Vec::with_capacity(4);
        let coded =
            [(Coding::Zstd, zstd(&bytes)), (Coding::Brotli, brotli(&bytes)), (Coding::Gzip, gzip(&bytes))];
        let variant = |coding: Coding, bytes: Vec<u8>| Variant {
            coding,
            bytes: Bytes::from(bytes),
            etag: match coding {
                Coding::Identity => format!("\"{digest}\""),
                Coding::Gzip | Coding::Brotli | Coding::Zstd => format!("\"{digest}-{}\"", coding.name()),
            },
        };
        for (coding, coded) in coded {
            if let Some(coded) = coded.filter(|coded| coded.len() < bytes.len()) {
                variants.push(variant(coding, coded));
            }
        }
        variants.insert(0, variant(Coding::Identity, bytes));
        Self { digest, variants }
    }

    /// 32 hexadecimal characters of a SHA-256 over the identity bytes (for an arrival, over those
    /// before its member `digest`, which holds the same characters): the core of every etag.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Identity first, then those that are smaller.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
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
