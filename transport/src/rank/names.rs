//! Whom a message is for, which one a receive wants, and what it got.

use crate::matching::{Heading, Pattern};

/// Whom a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Destination {
    /// This rank; one may send to itself.
    Rank(u32),
    /// Nobody: sending returns at once.
    Null,
}

/// Who sent the message that a receive wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// This rank.
    Rank(u32),
    /// Whoever is first.
    Any,
    /// Nobody: receiving returns at once, with an empty message.
    Null,
}

/// Which tag the message has that a receive wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    /// This one.
    Is(u64),
    /// Whichever is first.
    Any,
}

impl From<u32> for Destination {
    fn from(rank: u32) -> Self {
        Self::Rank(rank)
    }
}

impl From<u32> for Source {
    fn from(rank: u32) -> Self {
        Self::Rank(rank)
    }
}

impl From<u64> for Tag {
    fn from(tag: u64) -> Self {
        Self::Is(tag)
    }
}

/// What is known of a message that was received or found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Who sent it; [`Status::NOBODY`] where nobody did.
    pub source: u32,
    /// Its tag.
    pub tag: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Status {
    /// The source of what was received from [`Source::Null`].
    pub const NOBODY: u32 = u32::MAX;

    pub(super) const NULL: Self = Self {
        source: Self::NOBODY,
        tag: 0,
        bytes: 0,
    };

    #[inline]
    pub(super) fn of(heading: &Heading) -> Self {
        Self {
            source: heading.envelope.source,
            tag: heading.envelope.tag,
            bytes: heading.length,
        }
    }

    /// How many values of type `T` it is, not counting a part of one at the end. 0 for types without a size.
    #[must_use]
    pub fn len<T>(&self) -> usize {
        let size = size_of::<T>() as u64;
        let count = self.bytes.checked_div(size).unwrap_or(0);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

/// The pattern of a receive; `None` when nobody is to send it.
#[inline]
pub(super) fn pattern(context: u32, source: Source, tag: Tag) -> Option<Pattern> {
    let source = match source {
        Source::Rank(rank) => Some(rank),
        Source::Any => None,
        Source::Null => return None,
    };
    let tag = match tag {
        Tag::Is(tag) => Some(tag),
        Tag::Any => None,
    };
    Some(Pattern {
        context,
        source,
        tag,
    })
}
