//! Hexadecimal dumps.

use std::fmt::{self, Write};
use std::ops::Range;

use super::paint::{Colour, Paint};

/// Number of bytes per line.
const LINE: usize = 16;
/// Number of lines shown before and after a marked byte.
const AROUND: usize = 2;

/// Formats bytes as two digits each, separated by spaces.
pub(super) fn digits(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        if !text.is_empty() {
            text.push(' ');
        }
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Writes the lines around the range `marked`, with the range highlighted. `base` is added to the
/// displayed offsets.
pub(super) fn context(
    paint: Paint,
    bytes: &[u8],
    marked: &Range<usize>,
    base: usize,
    to: &mut dyn Write,
) -> fmt::Result {
    let first = (marked.start / LINE).saturating_sub(AROUND);
    let last = (marked.start / LINE).saturating_add(AROUND);
    for line in first..=last {
        let start = line.saturating_mul(LINE);
        let end = start.saturating_add(LINE).min(bytes.len());
        let Some(shown) = bytes.get(start..end).filter(|shown| !shown.is_empty()) else {
            continue;
        };
        let place = start.saturating_add(base);
        write!(to, "  {} ", paint.offset(place))?;
        let mut carets = String::new();
        for (i, byte) in shown.iter().enumerate() {
            let at = start.saturating_add(i);
            let hit = marked.contains(&at);
            let digits = format!("{byte:02x}");
            let colour = if hit { Colour::Wrong } else { Colour::Plain };
            write!(to, " {}", paint.paint(colour, &digits))?;
            carets.push_str(if hit { " ^^" } else { "   " });
        }
        let empty = LINE.saturating_sub(shown.len()).saturating_mul(3);
        write!(to, "{:empty$}  |", "")?;
        for byte in shown {
            let is_shown = (0x20..0x7f).contains(byte);
            to.write_char(if is_shown { char::from(*byte) } else { '.' })?;
        }
        writeln!(to, "|")?;
        if carets.contains('^') {
            let indent = paint.width(place).saturating_add(3);
            let carets = paint.paint(Colour::Wrong, carets.trim_end());
            writeln!(to, "{:indent$}{carets}", "")?;
        }
    }
    Ok(())
}
