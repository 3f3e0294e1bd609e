//! Answers as they come in: each is followed to its end before the crate gets its bytes, and none may be larger than
//! anything that is ever asked for. The crate itself waits for the end of whatever is announced, and keeps it.
//!
//! Only RESP2 is read, <https://redis.io/docs/latest/develop/reference/protocol-spec/>: another protocol is not asked
//! for.

use super::failure::Break;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of one answer, at most: the largest body that is recorded, and what stands beside it.
const ANSWER: usize = (16 << 20) + (1 << 20);
/// Bytes of a line, at most: a word, a number, an error.
const LINE: usize = 64 << 10;
/// Elements of one answer, at most; our scripts answer with less than ten.
const ELEMENTS: usize = 64;

/// Why a connection was ended from this side; whoever asked through it is told.
pub(super) type Fault = Arc<OnceLock<Break>>;

/// Where in an answer the next byte stands.
#[derive(Debug, Clone, Copy, Default)]
enum Part {
    /// At the sign of a value.
    #[default]
    Sign,
    Line {
        sign: u8,
        length: usize,
        number: Number,
        /// The byte before was a carriage return.
        ending: bool,
    },
    /// Bytes to come, with the end of line behind them.
    Bulk(usize),
}

/// What the line of a length says.
#[derive(Debug, Clone, Copy, Default)]
struct Number {
    negative: bool,
    digits: usize,
    value: usize,
}

/// Follows answers, whatever their bytes are cut into.
#[derive(Debug, Default)]
struct Frames {
    part: Part,
    /// Of this answer so far.
    bytes: usize,
    elements: usize,
    /// Values until it is whole.
    missing: usize,
}

impl Frames {
    fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Break> {
        while let Some((&byte, rest)) = bytes.split_first() {
            if let Part::Bulk(left) = self.part {
                let here = left.min(bytes.len());
                bytes = &bytes[here..];
                self.grow(here)?;
                self.part = Part::Bulk(left - here);
                if left == here {
                    self.end_value();
                }
                continue;
            }
            bytes = rest;
            self.grow(1)?;
            self.step(byte)?;
        }
        Ok(())
    }

    fn grow(&mut self, by: usize) -> Result<(), Break> {
        self.bytes += by;
        if self.bytes > ANSWER { Err(Break::TooLarge) } else { Ok(()) }
    }

    fn step(&mut self, byte: u8) -> Result<(), Break> {
        match &mut self.part {
            Part::Sign => {
                if !b"+-:$*".contains(&byte) {
                    return Err(Break::Strange);
                }
                // Of the answer itself, or of an array in it.
                self.missing = self.missing.max(1);
                self.part = Part::Line { sign: byte, length: 0, number: Number::default(), ending: false };
            }
            Part::Line { sign, number, ending: true, .. } if byte == b'\n' => {
                let (sign, number) = (*sign, *number);
                return self.end_line(sign, number);
            }
            Part::Line { sign, length, number, ending } => {
                *length += 1;
                if *length > LINE {
                    return Err(Break::TooLarge);
                }
                let (first, broken) = (*length == 1, *ending);
                *ending = byte == b'\r';
                if b"$*".contains(sign) {
                    // The crate would read past a carriage return that ends nothing.
                    if broken {
                        return Err(Break::Strange);
                    }
                    if byte != b'\r' {
                        number.push(byte, first)?;
                    }
                }
            }
            Part::Bulk(_) => {}
        }
        Ok(())
    }

    fn end_line(&mut self, sign: u8, number: Number) -> Result<(), Break> {
        let counts = b"$*".contains(&sign);
        // What -0 announces is read in two ways.
        if counts && (number.digits == 0 || number.negative && number.value == 0) {
            return Err(Break::Strange);
        }
        if !counts || number.negative {
            self.end_value();
        } else if sign == b'$' {
            if number.value > ANSWER {
                return Err(Break::TooLarge);
            }
            self.part = Part::Bulk(number.value + 2);
        } else {
            self.elements += number.value;
            if self.elements > ELEMENTS {
                return Err(Break::TooLarge);
            }
            self.missing += number.value;
            self.end_value();
        }
        Ok(())
    }

    fn end_value(&mut self) {
        self.part = Part::Sign;
        self.missing -= 1;
        if self.missing == 0 {
            *self = Self::default();
        }
    }
}

impl Number {
    fn push(&mut self, byte: u8, first: bool) -> Result<(), Break> {
        match byte {
            b'-' if first => self.negative = true,
            b'0'..=b'9' if self.digits < 10 => {
                self.digits += 1;
                self.value = self.value.saturating_mul(10).saturating_add(usize::from(byte - b'0'));
            }
            b'0'..=b'9' => return Err(Break::TooLarge),
            _ => return Err(Break::Strange),
        }
        Ok(())
    }
}

/// A stream whose answers are bounded.
#[derive(Debug)]
pub(super) struct Bounded<S> {
    stream: S,
    frames: Frames,
    fault: Fault,
}

impl<S> Bounded<S> {
    pub(super) fn new(stream: S, fault: Fault) -> Self {
        Self { stream, frames: Frames::default(), fault }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let fed = self.frames.feed(&buffer.filled()[before..]);
        Poll::Ready(fed.map_err(|fault| {
            buffer.set_filled(before);
            // The first one is the cause.
            let _ = self.fault.set(fault);
            // To the crate this is an end, after which it reads no more.
            io::ErrorKind::ConnectionAborted.into()
        }))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same whatever the bytes are cut into.
    fn fed(bytes: &[u8]) -> Result<bool, Break> {
        let [mut whole, mut single] = [Frames::default(), Frames::default()];
        let at_once = whole.feed(bytes);
        let one_by_one = bytes.iter().try_for_each(|byte| single.feed(&[*byte]));
        assert_eq!(at_once, one_by_one);
        at_once.map(|()| whole.missing == 0)
    }

    #[test]
    fn an_answer_is_followed_to_its_end() {
        for whole in [
            "+OK\r\n",
            "-ERR no\rway\n\r\r\n",
            ":-7\r\n",
            "$-1\r\n",
            "$0\r\n\r\n",
            "$4\r\n\r\n+x\r\n",
            "*0\r\n",
            "*-1\r\n",
            "*2\r\n*1\r\n$1\r\na\r\n:1\r\n",
            "+a\r\n+b\r\n",
        ] {
            assert_eq!(fed(whole.as_bytes()), Ok(true), "{whole:?}");
        }
        for part in ["+OK\r", "$4\r\nabcd", "*2\r\n:1\r\n", "*1\r\n*1\r\n"] {
            assert_eq!(fed(part.as_bytes()), Ok(false), "{part:?}");
        }
    }

    #[test]
    fn what_nobody_asks_for_is_not_read() {
        for (bytes, fault) in [
            ("$500000000\r\n", Break::TooLarge),
            ("*65\r\n", Break::TooLarge),
            ("*99999999999999999999\r\n", Break::TooLarge),
            ("%1\r\n", Break::Strange),
            ("HTTP/1.1 200 OK\r\n", Break::Strange),
            ("$\r\n", Break::Strange),
            ("$+1\r\n", Break::Strange),
            ("$-0\r\n\r\n", Break::Strange),
            ("*1\r\r\n:1\r\n", Break::Strange),
            ("$1\r5\r\n", Break::Strange),
        ] {
            assert_eq!(fed(bytes.as_bytes()), Err(fault), "{bytes:?}");
        }
        assert_eq!(fed(format!("+{}", "A".repeat(LINE + 1)).as_bytes()), Err(Break::TooLarge));
        assert_eq!(fed("*64\r\n".repeat(2).as_bytes()), Err(Break::TooLarge));
        let mut frames = Frames::default();
        let element = [format!("${}\r\n", 9 << 20).into_bytes(), vec![b'x'; 9 << 20], b"\r\n".to_vec()];
        frames.feed(b"*2\r\n").unwrap();
        frames.feed(&element.concat()).unwrap();
        assert_eq!(frames.feed(&element.concat()), Err(Break::TooLarge));
    }
}
