//! Where text goes.

use std::io::{self, Write};

use serde_json::Value as Json;

use crate::failure::Failure;

/// Says something beside the output, to whoever listens.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}: {}", crate::PROGRAM, spelled(text));
}

/// Text of the server, that commands no terminal.
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

/// Whether a character changes the direction of those around it, so that names look as others.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Lines for people.
pub(crate) fn lines(text: &str) -> Result<(), Failure> {
    put(&spelled(text))
}

/// A value, on one line for programs.
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
