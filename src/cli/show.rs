//! How faults look on a terminal and in JSON.

use super::INTERNAL;
use crate::config::Fault;
use crate::json::{is_visible, visible};
use crate::lint::Lint;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

/// What is shown: it decides the word and its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    Error,
    Warning,
}

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    coloured: bool,
}

impl Style {
    /// Colours only for a person: standard error is a terminal and `NO_COLOR` (<https://no-color.org>) is not set.
    pub(super) fn of_stderr() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { coloured: !refused && std::io::stderr().is_terminal() }
    }

    /// The same for standard output.
    pub(super) fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { coloured: !refused && std::io::stdout().is_terminal() }
    }

    /// What a line is about.
    pub(super) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A word in the colour of what it says.
    pub(super) fn word(self, severity: Severity, text: &str) -> String {
        match severity {
            Severity::Error => self.paint("1;31", text),
            Severity::Warning => self.paint("1;33", text),
        }
    }

    /// Whether there are colours.
    pub(super) fn is_coloured(self) -> bool {
        self.coloured
    }

    pub(super) fn paint(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A fault as compilers print it, three lines at most.
    pub(super) fn fault(self, severity: Severity, fault: &Fault) -> String {
        let mut place = fault.file.display().to_string();
        if fault.line != 0 {
            let _ = write!(place, ":{}:{}", fault.line, fault.column);
        }
        let word = match severity {
            Severity::Error => self.word(severity, "error"),
            Severity::Warning => self.word(severity, "warning"),
        };
        let mut text =
            format!("{}: {word}: {}", self.paint("1", &printable(&place)), printable(&fault.reason));
        if let Some(lint) = fault.lint {
            let _ = write!(text, " [{}]", lint.name());
        }
        text.push('\n');
        if !fault.pointer.is_empty() {
            let _ = writeln!(text, "    at {}", printable(&fault.pointer));
        }
        if let Some(suggestion) = &fault.suggestion {
            let _ = writeln!(text, "    {}: {}", self.paint("1;36", "help"), printable(suggestion));
        }
        text
    }
}

/// Text from a file or a client, without what a terminal would obey, and without what would turn or hide its words.
pub(super) fn printable(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        if is_visible(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
        out
    })
}

/// JSON for a program, which a terminal may show as well.
pub(super) fn json_text(value: &Value) -> String {
    visible(&format!("{value:#}\n"))
}

/// All members of a fault.
pub(super) fn to_json(fault: &Fault) -> Value {
    json!({
        "file": fault.file.display().to_string(),
        "line": fault.line,
        "column": fault.column,
        "pointer": fault.pointer,
        "reason": fault.reason,
        "suggestion": fault.suggestion,
        "lint": fault.lint.map(Lint::name),
    })
}

/// Faults and a line that counts them, to standard error.
pub(super) fn refuse(faults: &[Fault]) {
    let style = Style::of_stderr();
    let mut text = faults.iter().map(|fault| style.fault(Severity::Error, fault)).collect::<String>();
    let _ = writeln!(text, "refused: {}", count(faults.len(), "fault"));
    to_stderr(&text);
}

/// `1 fault`, `2 faults`.
pub(super) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Prints what was asked for and ends with `code`. A reader that has gone away is no reason to fail; a full
/// disk is.
pub(super) fn to_stdout(text: &str, code: ExitCode) -> ExitCode {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            to_stderr(&format!("error: cannot write to standard output: {error}\n"));
            ExitCode::from(INTERNAL)
        }
        Ok(()) | Err(_) => code,
    }
}

/// A reader that has gone away is no reason to fail.
pub(super) fn to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
