//! Destinations of messages, selectors of receives, and the status of a received message.

use jstream_matching::{Heading, Pattern};

/// The destination of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Destination {
    /// A rank, which may be the sending rank itself.
    Rank(u32),
    /// No rank: sending returns immediately.
    Null,
}

/// The source that a receive accepts messages from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The rank with this number.
    Rank(u32),
    /// Any rank.
    Any,
    /// No rank: receiving returns immediately with an empty message.
    Null,
}

/// The tag that a receive accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    /// Exactly this tag.
    Is(u64),
    /// Any tag.
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

/// The source, tag and length of a message that was received or probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The rank of the sender, or [`Status::NOBODY`] if the source was [`Source::Null`].
    pub source: u32,
    /// The tag of the message.
    pub tag: u64,
    /// The length of the message in bytes.
    pub bytes: u64,
}

impl Status {
    /// The source of a message that was received from [`Source::Null`].
    pub const NOBODY: u32 = u32::MAX;

    pub(super) const NULL: Self = Self {
        source: Self::NOBODY,
        tag: 0,
        bytes: 0,
    };

    #[inline]
    pub(super) fn from_heading(heading: &Heading) -> Self {
        Self {
            source: heading.envelope.source,
            tag: heading.envelope.tag,
            bytes: heading.length,
        }
    }

    /// Returns true if the message is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns the number of values of type `T` in the message, not counting an incomplete one at
    /// the end. 0 for types without a size.
    #[must_use]
    pub fn len<T>(&self) -> usize {
        let size = size_of::<T>() as u64;
        let count = self.bytes.checked_div(size).unwrap_or(0);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

/// Returns the pattern of a receive, or `None` if the source is [`Source::Null`].
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
