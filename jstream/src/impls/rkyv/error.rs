//! Errors of rkyv, or of a type's own code, about a value or an archive.

use std::any::type_name;
use std::error::Error;
use std::fmt::{self, Debug, Display, Write};

use rkyv::rancor::{Source, Trace};

use crate::impls::limited_text::LimitedText;

/// The reason why a value was not serialized, or why bytes are not an archive.
///
/// The text is that of rkyv, of bytecheck, and of the type: first the cause, then the location in
/// the archive, up to 1 KiB in all. It contains no memory addresses; they are replaced by offsets
/// from the archive's start.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
pub struct RkyvError(Box<ErrorText>);

/// The content of an error. Boxed because each step of a check returns an error.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ErrorText {
    words: String,
    /// True if the archive is too deep.
    deep: bool,
}

/// Number of digits of an address in the text of rkyv.
const DIGITS: usize = 16;

impl RkyvError {
    #[cold]
    #[inline(never)]
    pub(super) fn with_text(details: impl Display) -> Self {
        let mut error = Self(Box::new(ErrorText {
            words: String::new(),
            deep: false,
        }));
        error.add(format_args!("{details}"));
        error
    }

    /// Returns true if the archive is too deep.
    pub(super) fn is_of_depth(&self) -> bool {
        self.0.deep
    }

    fn add(&mut self, words: fmt::Arguments<'_>) {
        // Text beyond the maximum length is dropped.
        let _ = LimitedText(&mut self.0.words).write_fmt(words);
    }

    /// Replaces addresses by offsets from `start`.
    pub(super) fn with_offsets_from(mut self, start: usize) -> Self {
        let mut said = String::new();
        let mut rest = self.0.words.as_str();
        while let Some((before, after)) = rest.split_once("0x") {
            said.push_str(before);
            let end = after.find(|c: char| !c.is_ascii_hexdigit());
            let (digits, tail) = after.split_at(end.unwrap_or(after.len()));
            match usize::from_str_radix(digits, 16) {
                Ok(address) if digits.len() == DIGITS => {
                    let offset = address.wrapping_sub(start) as isize;
                    let sign = if offset < 0 { "-" } else { "" };
                    let _ = write!(said, "{sign}{:#x}", offset.unsigned_abs());
                }
                // A truncated address at the end is dropped, so that no part of an address is
                // disclosed.
                _ if end.is_none() => {}
                _ => {
                    said.push_str("0x");
                    said.push_str(digits);
                }
            }
            rest = tail;
        }
        said.push_str(rest);
        self.0.words = said;
        self
    }
}

impl Display for RkyvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.words)
    }
}

impl Error for RkyvError {}

impl Trace for RkyvError {
    #[cold]
    #[inline(never)]
    fn trace<R: Debug + Display + Send + Sync + 'static>(mut self, trace: R) -> Self {
        self.add(format_args!("; {trace}"));
        // The type is private to rkyv and recognised by its name. If rkyv renames it, only the
        // error text changes.
        self.0.deep |= type_name::<R>().ends_with("::ExceededMaximumSubtreeDepth");
        self
    }
}

impl Source for RkyvError {
    fn new<T: Error + Send + Sync + 'static>(source: T) -> Self {
        Self::with_text(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impls::limited_text::MAX_LEN;

    #[test]
    fn addresses_are_counted_from_the_start() {
        let said = |words: &str| {
            RkyvError::with_text(words)
                .with_offsets_from(0x7f00_0000_1000)
                .0
                .words
        };
        assert_eq!(
            said("ptr 0x00007f0000001010 size 0x3 in 0x00007f0000000ff0..0x00007f0000001000"),
            "ptr 0x10 size 0x3 in -0x10..0x0"
        );
        assert_eq!(said("0x"), "");
        assert_eq!(said("at 0x00007f00"), "at ");
        assert_eq!(said("no 0xfg, 0xß"), "no 0xfg, 0xß");
        assert_eq!(said("0xffffffffffffffff."), "-0x7f0000001001.");
        assert_eq!(said("0x00007f00000010000."), "0x00007f00000010000.");
    }

    #[test]
    fn words_end_somewhere() {
        let mut error = RkyvError::with_text("a\nb");
        for _ in 0..1000 {
            error = error.trace("ä".repeat(7));
        }
        assert!(error.0.words.starts_with("a b; ää"));
        assert!(error.0.words.len() <= MAX_LEN && error.0.words.len() > MAX_LEN - 4);
    }
}
