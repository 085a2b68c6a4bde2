//! Output of text.

use std::io::{self, Write};

use jstream::command_line::{name_of_program, title};
use serde_json::Value as Json;

use crate::failure::Failure;

/// Prints a message to the standard error. If that fails, the error is ignored.
pub(crate) fn print_error(text: &str) {
    let name = name_of_program(crate::PROGRAM);
    let _ = writeln!(io::stderr(), "{name}: {}", spelled(text));
}

/// Escapes characters of a server's text that would control the terminal. Keeps the ends of lines.
fn spelled(text: &str) -> String {
    text.split('\n')
        .map(one_line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Does the same as [`spelled`], and escapes the ends of lines too.
fn one_line(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || turns(c) {
            spelled.extend(c.escape_unicode());
        } else {
            spelled.push(c);
        }
    }
    spelled
}

/// Returns JSON on one line, in which characters that would control the terminal are escaped. JSON
/// has them only in strings.
fn json(of: &Json) -> String {
    let mut spelled = String::new();
    for c in of.to_string().chars() {
        if c.is_control() || turns(c) {
            spelled.push_str(&format!("\\u{:04x}", u32::from(c)));
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

/// Prints lines for people. Each has a name, which stands out, and the text behind it.
pub(crate) fn named(lines: &[(String, String)]) -> Result<(), Failure> {
    let line =
        |(name, text): &(String, String)| format!("{}{}", title(&one_line(name)), one_line(text));
    put(&lines.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Prints a value, on one line if it is for programs.
pub(crate) fn value(of: &Json, for_programs: bool) -> Result<(), Failure> {
    if for_programs {
        put(&json(of))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_server_control_no_terminal() {
        assert_eq!(spelled("a\u{1b}[2J\nb"), "a\\u{1b}[2J\nb");
        assert_eq!(one_line("a\nadmin\u{202e}"), "a\\u{a}admin\\u{202e}");
        let text = Json::from("\u{9b}2J\u{202e}\n\"");
        let shown = json(&text);
        assert_eq!(shown, r#""\u009b2J\u202e\n\"""#);
        assert_eq!(serde_json::from_str::<Json>(&shown).unwrap(), text);
    }
}
