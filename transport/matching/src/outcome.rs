//! Results of matching.

use jstream_derive::ErrorDebug;
use thiserror::Error;

use super::envelope::{Heading, Pattern};
use super::lanes::Id;

/// Identifier of a posted receive, valid while it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReceiveId(pub(super) Id);

/// Identifier of a message, valid while it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageId(pub(super) Id);

/// A message that is hidden from all receives, until it is [taken](super::Matcher::take) or
/// [restored](super::Matcher::restore).
///
/// A message has at most one claim, so threads that claim messages never get the same one. If a
/// claim is dropped, its message stays hidden and counts for its source.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the message stays hidden until it is taken or restored"]
pub struct Claim {
    pub(super) id: Id,
    pub(super) heading: Heading,
}

impl Claim {
    /// Returns the attributes of the message.
    #[must_use]
    pub const fn heading(&self) -> &Heading {
        &self.heading
    }

    /// Returns the identifier of the message, which it keeps.
    #[must_use]
    pub const fn message(&self) -> MessageId {
        MessageId(self.id)
    }
}

/// A receive and its message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matched<R, M> {
    /// The value that was posted with the receive.
    pub receive: R,
    /// The value that arrived with the message.
    pub message: M,
    /// The attributes of the message.
    pub heading: Heading,
    /// The expected element type.
    pub expected: Option<u64>,
}

impl<R, M> Matched<R, M> {
    /// Returns a receive and its message, for a receive that expects no element type.
    #[inline]
    #[must_use]
    pub fn untyped(receive: R, message: M, heading: Heading) -> Self {
        Self {
            receive,
            message,
            heading,
            expected: None,
        }
    }

    /// Returns true if the element type of the message is the one that the receive expects. If
    /// either has no type, they agree.
    #[inline]
    #[must_use]
    pub fn agrees(&self) -> bool {
        match (self.expected, self.heading.descriptor) {
            (Some(expected), Some(descriptor)) => expected == descriptor,
            _ => true,
        }
    }
}

/// Result of posting a receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Post<R, M> {
    /// A message was waiting.
    Matched(Matched<R, M>),
    /// The receive waits.
    Waits(ReceiveId),
}

/// Result of posting a receive that may leave its message in the matcher.
pub enum Posting<R, M> {
    /// A message was waiting.
    Matched(Matched<R, M>),
    /// The message was found, and stays in the matcher, claimed for the receive.
    Claimed(Claim, R),
    /// The receive waits.
    Waits(ReceiveId),
}

/// Result of the arrival of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival<R, M> {
    /// A receive was waiting.
    Matched(Matched<R, M>),
    /// The message waits.
    Waits(MessageId),
    /// The bounds of the source are reached. The value is returned. This message and all later ones
    /// of the source must be kept until [`next_ready`](super::Matcher::next_ready) returns the
    /// source.
    Full(M),
}

/// A message that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probed<'m, M> {
    /// The identifier of the message.
    pub id: MessageId,
    /// The attributes of the message.
    pub heading: Heading,
    /// The value of the message.
    pub message: &'m M,
}

/// A receive that ended without a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended<R> {
    /// The identifier of the receive, which is no longer valid.
    pub id: ReceiveId,
    /// The pattern of the receive.
    pub pattern: Pattern,
    /// The value that was posted with the receive.
    pub receive: R,
}

/// A receive that was not posted, with the error.
#[derive(ErrorDebug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unposted<R> {
    /// The error.
    pub error: PostError,
    /// The value of the receive.
    pub receive: R,
}

/// Error of posting a receive that would wait forever.
#[derive(ErrorDebug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PostError {
    /// The source has ended, and no waiting message of it matches.
    #[error("source {source_number} has ended, and no message of it matches")]
    SourceEnded {
        /// The source.
        source_number: u32,
    },
    /// All sources have ended, and no waiting message matches.
    #[error("all sources have ended, and no message of theirs matches")]
    NobodyLeft,
    /// The source was not added.
    #[error("there is no source {source_number}; add_source gives the numbers of sources")]
    NoSource {
        /// The number of the source.
        source_number: u32,
    },
}

/// A message of a source that was not added, or has ended.
#[derive(ErrorDebug, Error)]
#[error("there is no source {source_number}, or it has ended")]
#[non_exhaustive]
pub struct Stray<M> {
    /// The source that the message names.
    pub source_number: u32,
    /// The message.
    pub message: M,
}
