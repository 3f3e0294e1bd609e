//! Any bytes as the answers of a Redis, in any cutting: what is made of them is what a second reader makes of them, by
//! the protocol's own words; and nothing else is ever an allowance, or a key that was not used.
#![no_main]

use formgate::store::fuzzing::{Heard, Question, ask};
use formgate::store::State;
use libfuzzer_sys::fuzz_target;
use std::str::from_utf8;
use std::time::{Duration, UNIX_EPOCH};

/// RESP2, <https://redis.io/docs/latest/develop/reference/protocol-spec/>.
#[derive(Debug, PartialEq)]
enum Answer<'a> {
    Error(&'a str),
    Word(&'a str),
    Number(i64),
    Bytes(&'a [u8]),
    Nothing,
    List(Vec<Answer<'a>>),
}

/// One answer, and what is behind it. `room` for elements of arrays.
fn read<'a>(bytes: &'a [u8], room: &mut usize) -> Option<(Answer<'a>, &'a [u8])> {
    let (sign, rest) = bytes.split_first()?;
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, rest) = (from_utf8(&rest[..end]).ok()?, &rest[end + 2..]);
    // How many; none for -1 and below.
    let count = || {
        let digits = line.strip_prefix('-').unwrap_or(line);
        let fits = (1..=10).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
        let count: i64 = line.parse().ok().filter(|count| fits && (*count != 0 || digits == line))?;
        Some(usize::try_from(count).ok())
    };
    Some(match sign {
        b'+' => (Answer::Word(line), rest),
        b'-' => (Answer::Error(line), rest),
        b':' => (Answer::Number(line.trim().parse().ok()?), rest),
        b'$' => match count()? {
            None => (Answer::Nothing, rest),
            Some(count) => {
                let behind = rest.get(count..)?.strip_prefix(b"\r\n")?;
                (Answer::Bytes(&rest[..count]), behind)
            }
        },
        b'*' => match count()? {
            None => (Answer::Nothing, rest),
            Some(count) => {
                *room = room.checked_sub(count)?;
                let (mut list, mut rest) = (Vec::new(), rest);
                for _ in 0..count {
                    let (answer, behind) = read(rest, room)?;
                    list.push(answer);
                    rest = behind;
                }
                (Answer::List(list), rest)
            }
        },
        _ => return None,
    })
}

/// What the scripts in `src/store/redis/` can have meant. `None`: the end of the answers, or none of them.
fn meant<'a>(question: Question, answers: &mut impl Iterator<Item = &'a [u8]>, again: bool) -> Option<Heard> {
    let mut next = || Some(read(answers.next()?, &mut 64)?.0);
    let mut answer = next()?;
    if matches!(answer, Answer::Error(line) if line.split(' ').next() == Some("NOSCRIPT")) {
        // It is told the script, says what it calls it, and is asked again.
        match next()? {
            Answer::Word(_) | Answer::Number(_) => {}
            Answer::Bytes(bytes) if from_utf8(bytes).is_ok() => {}
            _ => return None,
        }
        answer = next()?;
    }
    let records = matches!(question, Question::Find | Question::Begin);
    let list = match (answer, question) {
        (Answer::Number(0), Question::Take) => return Some(Heard::Within),
        (Answer::Number(wait), Question::Take) => {
            return Some(Heard::Above(Duration::from_micros(wait.try_into().ok()?)));
        }
        (Answer::Nothing, Question::Find) => return Some(Heard::Nothing),
        (Answer::List(list), Question::Find | Question::Begin | Question::TryOut) => list,
        _ => return None,
    };
    let parts: Option<Vec<Vec<u8>>> = list.iter().map(|part| match part {
        Answer::Bytes(bytes) => Some(bytes.to_vec()),
        Answer::Number(number) => Some(number.to_string().into_bytes()),
        Answer::Word(word) if !records => Some(word.as_bytes().to_vec()),
        _ => None,
    }).collect();
    let parts = parts?;
    let number = |part: &[u8]| from_utf8(part).ok()?.parse::<i64>().ok();
    let words: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Some(match (words.as_slice(), question) {
        ([mark, ..], Question::TryOut) if mark.len() == 32 && mark.iter().all(u8::is_ascii_hexdigit) => Heard::Usable,
        (_, Question::TryOut) => return None,
        ([b"fresh"], Question::Begin) => Heard::Fresh,
        ([b"full"], Question::Begin) => Heard::Full,
        ([b"crowded"], Question::Begin) => Heard::Crowded,
        ([b"late", now], Question::Begin) if again => {
            number(now)?;
            return meant(question, answers, false);
        }
        ([b"found", fingerprint, state, answer, receipt, since], _) => {
            let heard = formgate::store::Found {
                fingerprint: <[u8; 32]>::try_from(*fingerprint).ok()?.into(),
                state: match *state {
                    b"pending" => State::Pending,
                    b"unknown" => State::Unknown,
                    b"done" => State::Done(answer.to_vec().into()),
                    _ => return None,
                },
                receipt: formgate::store::ReceiptId::read(from_utf8(receipt).ok()?)?,
                since: UNIX_EPOCH + Duration::from_millis(number(since)?.try_into().unwrap_or(0)),
            };
            Heard::Exists(heard)
        }
        _ => return None,
    })
}

fuzz_target!(|bytes: &[u8]| {
    let [question, cuts, wire @ ..] = bytes else { return };
    let question = [Question::Take, Question::Find, Question::Begin, Question::TryOut][usize::from(question % 4)];
    // One after the other; what is none, and what is behind it, is the last.
    let (mut answers, mut rest) = (Vec::new(), wire);
    while let Some((_, behind)) = read(rest, &mut 64) {
        answers.push(&rest[..rest.len() - behind.len()]);
        rest = behind;
    }
    answers.extend(Some(rest).filter(|rest| !rest.is_empty()));
    let mut state = u32::from(*cuts) | 0x100;
    let mut any = |_: &[u8]| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1 + (state >> 16) as usize % 7
    };
    let pieces = |size: &mut dyn FnMut(&[u8]) -> usize| -> Vec<Vec<&[u8]>> {
        answers.iter().map(|answer| answer.chunks(size(answer)).collect()).collect()
    };
    let (heard, told) = ask(question, pieces(&mut |answer| answer.len()));
    for cut in [pieces(&mut |_| 1), pieces(&mut any)] {
        assert_eq!(ask(question, cut).0, heard, "cut");
    }
    let expected = meant(question, &mut answers.iter().copied(), true);
    match question {
        // What it says of itself and its clock is believed, if it is of the right kind.
        Question::TryOut => assert!(heard == Heard::Down || expected == Some(Heard::Usable), "{heard:?}"),
        Question::Take | Question::Find | Question::Begin => assert_eq!(heard, expected.unwrap_or(Heard::Down)),
    }
    for line in told {
        let own = [include_str!("../../src/store/redis/failure.rs"), include_str!("../../src/store/redis/mark.rs")];
        let known = |word: &&str| !own.iter().any(|source| source.contains(*word));
        let said = |word: &str| word.len() >= 8 && wire.windows(word.len()).any(|window| window == word.as_bytes());
        let strange = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(known).find(|word| said(word));
        assert!(strange.is_none_or(|word| word.bytes().all(|byte| byte.is_ascii_uppercase())), "{strange:?} in {line}");
        assert!(line.chars().all(formgate::json::is_visible) && line.len() < 300, "{line:?}");
    }
});
