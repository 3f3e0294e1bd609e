//! Chunked transfer coding, read strictly (RFC 9112, 7.1): pure, for both sides of the gateway.
//!
//! Every line ends in CRLF, sizes are plain hex, extensions and trailers are read over and dropped,
//! and everything that is neither chunk data nor bounded is an error.

use bytes::{Buf, BytesMut};

/// How far a chunked body has been read.
#[derive(Debug)]
pub(super) struct Chunks {
    state: State,
    /// Bytes of size lines and trailers still allowed.
    overhead: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a size line.
    Size,
    /// Inside a chunk, this many bytes before its CRLF.
    Data(u64),
    /// At the CRLF after a chunk.
    DataEnd,
    /// After the last chunk.
    Trailers,
    Done,
}

/// What a step came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Needs more input.
    More,
    /// The body is complete; what is left in the input comes after it.
    Done,
}

/// The body is not chunked as it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// A size line with its extensions, at most.
const LINE: usize = 256;
/// Trailers, at most.
const TRAILERS: usize = 8192;

impl Chunks {
    pub(super) fn new() -> Self {
        Self { state: State::Size, overhead: TRAILERS }
    }

    /// Bytes that the chunk being read still announces.
    pub(super) fn announced(&self) -> u64 {
        match self.state {
            State::Data(left) => left,
            State::Size | State::DataEnd | State::Trailers | State::Done => 0,
        }
    }

    /// Moves chunk data from `input` to `sink`, as far as the input goes.
    pub(super) fn decode(
        &mut self,
        input: &mut BytesMut,
        mut sink: impl FnMut(&[u8]),
    ) -> Result<Progress, Malformed> {
        loop {
            match self.state {
                State::Size => {
                    let Some(line) = take_line(input, LINE)? else {
                        return Ok(Progress::More);
                    };
                    self.state = match read_size(&line)? {
                        0 => State::Trailers,
                        size => State::Data(size),
                    };
                }
                State::Data(left) => {
                    if input.is_empty() {
                        return Ok(Progress::More);
                    }
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                    sink(&input[..here]);
                    input.advance(here);
                    let left = left - here as u64;
                    self.state = if left == 0 { State::DataEnd } else { State::Data(left) };
                }
                State::DataEnd => {
                    if input.len() < 2 {
                        let fits = input.first().is_none_or(|byte| *byte == b'\r');
                        return if fits { Ok(Progress::More) } else { Err(Malformed) };
                    }
                    if &input[..2] != b"\r\n" {
                        return Err(Malformed);
                    }
                    input.advance(2);
                    self.state = State::Size;
                }
                State::Trailers => {
                    let Some(line) = take_line(input, self.overhead)? else {
                        return Ok(Progress::More);
                    };
                    self.overhead = self.overhead.saturating_sub(line.len() + 2);
                    if line.is_empty() {
                        self.state = State::Done;
                    } else if !is_trailer(&line) {
                        return Err(Malformed);
                    }
                }
                State::Done => return Ok(Progress::Done),
            }
        }
    }
}

/// The next line without its CRLF. A CR or LF anywhere else is an error, as is a line over `limit`.
fn take_line(input: &mut BytesMut, limit: usize) -> Result<Option<BytesMut>, Malformed> {
    let Some(at) = input.iter().take(limit + 2).position(|byte| matches!(byte, b'\r' | b'\n')) else {
        return if input.len() > limit { Err(Malformed) } else { Ok(None) };
    };
    if input[at] != b'\r' {
        return Err(Malformed);
    }
    match input.get(at + 1) {
        None => Ok(None),
        Some(b'\n') => {
            let line = input.split_to(at);
            input.advance(2);
            Ok(Some(line))
        }
        Some(_) => Err(Malformed),
    }
}

fn read_size(line: &[u8]) -> Result<u64, Malformed> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (size, rest) = line.split_at(digits);
    // Sixteen digits and no sign: nothing that another reader could wrap around.
    if size.is_empty() || size.len() > 16 || !is_extension(rest) {
        return Err(Malformed);
    }
    let text = std::str::from_utf8(size).map_err(|_| Malformed)?;
    u64::from_str_radix(text, 16).map_err(|_| Malformed)
}

/// Nothing, or `;…` of visible bytes, spaces and tabs. Spaces and tabs before it are some writers' padding.
fn is_extension(rest: &[u8]) -> bool {
    let padding = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &rest[padding..];
    rest.is_empty() || (rest[0] == b';' && rest.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')))
}

fn is_trailer(line: &[u8]) -> bool {
    let name = line.iter().take_while(|byte| crate::media::is_token_byte(**byte)).count();
    let value = line.get(name + 1..).unwrap_or_default();
    name > 0
        && line.get(name) == Some(&b':')
        && value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~' | 0x80..))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes `wire` in pieces of every size; all must agree.
    fn decode(wire: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Malformed> {
        let mut outcomes = (1..=wire.len().max(1)).map(|piece| {
            let (mut chunks, mut out) = (Chunks::new(), Vec::new());
            let mut input = BytesMut::new();
            let mut rest = wire.chunks(piece);
            loop {
                match chunks.decode(&mut input, |data| out.extend_from_slice(data)) {
                    Ok(Progress::Done) => {
                        let behind = rest.fold(input.to_vec(), |all, more| [&all, more].concat());
                        return Ok((out, behind));
                    }
                    Ok(Progress::More) => match rest.next() {
                        Some(more) => input.extend_from_slice(more),
                        None => return Err(Malformed),
                    },
                    Err(fault) => return Err(fault),
                }
            }
        });
        let first = outcomes.next().unwrap();
        assert!(outcomes.all(|outcome| outcome == first), "split changes the meaning of {wire:?}");
        first
    }

    #[test]
    fn well_formed() {
        let (body, behind) = decode(b"3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\nT: v\r\n\r\nGET").unwrap();
        assert_eq!(body, b"abc0123456789");
        assert_eq!(behind, b"GET");
        assert_eq!(decode(b"0\r\n\r\n").unwrap(), (vec![], vec![]));
    }

    #[test]
    fn every_trick_is_malformed() {
        for wire in [
            &b"3\nabc\r\n0\r\n\r\n"[..],
            b"3\r\nabc\n0\r\n\r\n",
            b"3\r\nabcd\r\n0\r\n\r\n",
            b"+3\r\nabc\r\n0\r\n\r\n",
            b"-1\r\n\r\n",
            b"0x3\r\nabc\r\n0\r\n\r\n",
            b" 3\r\nabc\r\n0\r\n\r\n",
            b"3 x\r\nabc\r\n0\r\n\r\n",
            b"3\x0c\r\nabc\r\n0\r\n\r\n",
            b"3\x0c;x\r\nabc\r\n0\r\n\r\n",
            b"3;\x00\r\nabc\r\n0\r\n\r\n",
            b"3;a\nb\r\nabc\r\n0\r\n\r\n",
            b"3\rX\nabc\r\n0\r\n\r\n",
            b"\r\n",
            b"10000000000000003\r\nabc\r\n0\r\n\r\n",
            b"0\r\nno colon\r\n\r\n",
            b"0\r\n folded: x\r\n\r\n",
            b"0\r\nT: v\n\r\n",
            b"3\r\nab",
        ] {
            assert!(decode(wire).is_err(), "{:?}", String::from_utf8_lossy(wire));
        }
        let long = [b"3;".as_slice(), &[b'x'; 300], b"\r\nabc\r\n0\r\n\r\n"].concat();
        assert!(decode(&long).is_err());
    }
}
