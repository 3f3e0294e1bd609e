//! The chunk decoder: cut anywhere, the same result; and never more taken than a second reader takes.
#![no_main]

use formgate::edge::fuzzing::dechunk;
use libfuzzer_sys::fuzz_target;

/// The body and what is behind it, by a reader that has all of it before it.
fn whole(wire: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    fn line<'w>(rest: &mut &'w [u8]) -> Option<&'w [u8]> {
        let at = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let line = &rest[..at];
        *rest = &rest[at + 2..];
        (!line.iter().any(|byte| b"\r\n".contains(byte))).then_some(line)
    }
    let (mut body, mut rest) = (Vec::new(), wire);
    loop {
        let size = line(&mut rest)?;
        let digits = size.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let size = usize::from_str_radix(std::str::from_utf8(&size[..digits]).ok()?, 16).ok()?;
        if size == 0 {
            break;
        }
        let end = size.checked_add(2)?;
        if rest.get(size..end)? != b"\r\n" {
            return None;
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[end..];
    }
    while !line(&mut rest)?.is_empty() {}
    Some((body, rest.to_vec()))
}

fuzz_target!(|input: &[u8]| {
    let [cuts, wire @ ..] = input else { return };
    let ours = dechunk(&mut std::iter::once(wire));
    // As many ways to cut as a byte can say, and byte by byte.
    let mut pieces: Vec<&[u8]> = Vec::new();
    let (mut rest, mut state) = (wire, u32::from(*cuts) | 0x100);
    while !rest.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (piece, more) = rest.split_at((1 + (state >> 16) as usize % 7).min(rest.len()));
        pieces.push(piece);
        rest = more;
    }
    assert_eq!(dechunk(&mut pieces.into_iter()), ours, "cut");
    assert_eq!(dechunk(&mut wire.chunks(1)), ours, "byte by byte");
    if let Some(ours) = ours {
        assert_eq!(whole(wire), Some(ours));
    }
});
