//! Output of text.

use std::io::{self, Write};

use serde_json::Value as Json;

use crate::failure::Failure;

/// Prints a message to the standard error. If that fails, the error is ignored.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}: {}", crate::PROGRAM, spelled(text));
}

/// Escapes characters of a server's text that would control the terminal.
fn spelled(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        if (c.is_control() && c != '\n') || turns(c) {
            spelled.extend(c.escape_unicode());
        } else {
            spelled.push(c);
        }
    }
    spelled
}

/// Returns true if a character changes the text direction, which can disguise names.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints text for people.
pub(crate) fn lines(text: &str) -> Result<(), Failure> {
    put(&spelled(text))
}

/// Prints a value, on one line if it is for programs.
pub(crate) fn value(of: &Json, for_programs: bool) -> Result<(), Failure> {
    if for_programs {
        put(&of.to_string())
    } else {
        lines(&format!("{of:#}"))
    }
}

fn put(text: &str) -> Result<(), Failure> {
    let mut to = io::stdout().lock();
    writeln!(to, "{text}")
        .and_then(|()| to.flush())
        .map_err(|error| Failure::of_output(&error))
}
