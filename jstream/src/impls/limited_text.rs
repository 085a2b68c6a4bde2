//! Texts of errors that other crates, or the program's types, have written.

use std::fmt::{self, Write};

/// Maximum length of a text in bytes. Each level of a check may add to the text.
pub(super) const MAX_LEN: usize = 1 << 10;

/// A writer that truncates the text to [`MAX_LEN`] bytes and replaces control characters by spaces.
pub(super) struct LimitedText<'s>(pub(super) &'s mut String);

impl Write for LimitedText<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if self.0.len().saturating_add(c.len_utf8()) > MAX_LEN {
                return Err(fmt::Error);
            }
            self.0.push(if c.is_control() { ' ' } else { c });
        }
        Ok(())
    }
}
