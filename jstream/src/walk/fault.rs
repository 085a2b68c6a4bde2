//! Errors that a walk finds in a message.

use std::fmt;
use std::ops::Range;

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The bytes are too few for a header, or do not begin with the magic number.
    Magic,
    /// The lengths in the header are inconsistent, or do not match the number of bytes.
    Lengths,
    /// The schema with the message's descriptor is not known.
    Descriptor,
    /// The text is not UTF-8.
    NotUtf8,
    /// The bytes are not a valid value of the type.
    Value,
    /// A pointer does not point to the next free place.
    Misplaced,
    /// A target reaches past the end of its segment.
    PastEnd,
    /// A string ends inside a character.
    SplitCharacter,
    /// A pointer refers to a shared target that was not visited before, or has another type.
    NotShared,
    /// An object is reachable from itself without a cell on the path.
    Circle,
    /// The schema of a trait object's class is not known.
    Class,
    /// A segment has bytes that are not reachable from the root.
    Unused,
    /// The schema requires too much work for the length of the message.
    Work,
    /// Bytes that must be zero are not zero.
    Padding,
    /// The metadata of a file is invalid.
    File,
}

impl Code {
    /// Returns the name of the code in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Magic => "magic",
            Self::Lengths => "lengths",
            Self::Descriptor => "descriptor",
            Self::NotUtf8 => "not_utf8",
            Self::Value => "value",
            Self::Misplaced => "misplaced",
            Self::PastEnd => "past_end",
            Self::SplitCharacter => "split_character",
            Self::NotShared => "not_shared",
            Self::Circle => "circle",
            Self::Class => "class",
            Self::Unused => "unused",
            Self::Work => "work",
            Self::Padding => "padding",
            Self::File => "file",
        }
    }
}

/// An error in a message, and its position.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// Kind of the error.
    pub code: Code,
    /// Description of the error.
    pub details: String,
    /// The invalid bytes, as a range in the message.
    pub at: Range<usize>,
    /// Path of fields from the root; empty if there is none.
    pub path: String,
    /// Steps of the path below the run that is being walked, the last step first.
    pub(super) steps: Vec<String>,
}

impl Fault {
    /// Creates a fault for these bytes.
    #[cold]
    #[must_use]
    pub fn new(code: Code, at: Range<usize>, details: impl Into<String>) -> Self {
        Self {
            code,
            details: details.into(),
            at,
            path: String::new(),
            steps: Vec::new(),
        }
    }

    /// Shifts the position by the offset of the message in its container.
    #[must_use]
    pub(crate) fn moved(mut self, by: usize) -> Self {
        self.at = self.at.start.saturating_add(by)..self.at.end.saturating_add(by);
        self
    }

    /// Adds a step to the path, from the inside out.
    #[cold]
    pub(super) fn under(mut self, step: String) -> Self {
        self.steps.push(step);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} (at offset {:#x})", self.details, self.at.start)
    }
}

impl std::error::Error for Fault {}
