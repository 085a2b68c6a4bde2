//! Where a message is not what its type says.

use std::fmt;
use std::ops::Range;

/// What kind of thing is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The bytes are too few, or do not begin as they should.
    Magic,
    /// The lengths in the header don't fit one another, or the bytes.
    Lengths,
    /// No schema with the message's descriptor is known.
    Descriptor,
    /// The text is not UTF-8.
    NotUtf8,
    /// The bytes are no value of the type.
    Value,
    /// A pointer does not lead to the next free place.
    Misplaced,
    /// A target reaches past the end of its segment.
    PastEnd,
    /// A string ends inside a character.
    SplitCharacter,
    /// A pointer names no shared target that was met before, or one of another type.
    NotShared,
    /// An object is reached from itself, and no cell is on the way.
    Circle,
    /// No schema of a trait object's class is known.
    Class,
    /// A segment holds more than what the root reaches.
    Unused,
    /// What the schema says makes more work than the message is worth.
    Work,
    /// Bytes that must be zero are not.
    Padding,
    /// What the file says of itself is wrong.
    File,
}

impl Code {
    /// Its name, as it stands in JSON.
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

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// What kind of thing it is.
    pub code: Code,
    /// What it is, in words.
    pub what: String,
    /// The bytes that are wrong, from the message's start.
    pub at: Range<usize>,
    /// The fields that lead to it from the root; empty where no field does.
    pub path: String,
    /// The same below what is being walked, the last step first.
    pub(super) steps: Vec<String>,
}

impl Fault {
    /// Something wrong with these bytes.
    #[cold]
    #[must_use]
    pub fn new(code: Code, at: Range<usize>, what: impl Into<String>) -> Self {
        Self {
            code,
            what: what.into(),
            at,
            path: String::new(),
            steps: Vec::new(),
        }
    }

    /// The same, in what a message begins in at so many bytes.
    #[must_use]
    pub(crate) fn moved(mut self, by: usize) -> Self {
        self.at = self.at.start.saturating_add(by)..self.at.end.saturating_add(by);
        self
    }

    /// The same, met below this step.
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
        write!(f, "{} (at offset {:#x})", self.what, self.at.start)
    }
}

impl std::error::Error for Fault {}
