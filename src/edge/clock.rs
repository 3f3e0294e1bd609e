//! The `Date` field, written anew once a second.

use std::cell::RefCell;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

thread_local! {
    static DATE: RefCell<(u64, Vec<u8>)> = const { RefCell::new((0, Vec::new())) };
}

/// `Date: …` and CRLF (RFC 9110, 6.6.1).
pub(super) fn write_date(out: &mut Vec<u8>) {
    let now = SystemTime::now();
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    DATE.with_borrow_mut(|(at, line)| {
        if *at != second || line.is_empty() {
            line.clear();
            // Writing to a `Vec` cannot fail.
            let _ = write!(line, "Date: {}\r\n", httpdate::fmt_http_date(now));
            *at = second;
        }
        out.extend_from_slice(line);
    });
}
