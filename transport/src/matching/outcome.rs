//! What becomes of receives and of messages.

use thiserror::Error;

use super::envelope::{Heading, Pattern};
use super::lanes::Id;

/// A receive that waits, as long as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReceiveId(pub(super) Id);

/// A message that waits, as long as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageId(pub(super) Id);

/// A message that is hidden from all receives, until it is [taken](super::Matcher::take) or
/// [restored](super::Matcher::restore).
///
/// There is one claim on a message, so threads that each claim one never have the same. A claim that is
/// dropped leaves its message hidden, where it counts for its source.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the message stays hidden until it is taken or restored"]
pub struct Claim {
    pub(super) id: Id,
    pub(super) heading: Heading,
}

impl Claim {
    /// What is known of the message.
    #[must_use]
    pub const fn heading(&self) -> &Heading {
        &self.heading
    }

    /// The message's number, which it keeps.
    #[must_use]
    pub const fn message(&self) -> MessageId {
        MessageId(self.id)
    }
}

/// A receive and its message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matched<R, M> {
    /// What was posted.
    pub receive: R,
    /// What arrived.
    pub message: M,
    /// What is known of the message.
    pub heading: Heading,
    /// What its elements should be.
    pub expected: Option<u64>,
}

impl<R, M> Matched<R, M> {
    /// Whether the message has elements of the type that the receive expects. Who has no type agrees
    /// with all.
    #[inline]
    #[must_use]
    pub fn agrees(&self) -> bool {
        match (self.expected, self.heading.descriptor) {
            (Some(expected), Some(descriptor)) => expected == descriptor,
            _ => true,
        }
    }
}

/// What becomes of a receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Post<R, M> {
    /// Its message is here.
    Matched(Matched<R, M>),
    /// It waits.
    Waits(ReceiveId),
}

/// What becomes of a receive that leaves some messages where they are.
pub(crate) enum Posting<R, M> {
    Matched(Matched<R, M>),
    /// Its message is here, and stays for it.
    Claimed(Claim, R),
    Waits(ReceiveId),
}

/// What becomes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival<R, M> {
    /// A receive waited for it.
    Matched(Matched<R, M>),
    /// It waits.
    Waits(MessageId),
    /// There is no room for more of its source. It comes back; it, and what comes behind it from that
    /// source, has to be kept until [`next_ready`](super::Matcher::next_ready) names the source.
    Full(M),
}

/// A message that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probed<'m, M> {
    /// Its number.
    pub id: MessageId,
    /// What is known of it.
    pub heading: Heading,
    /// The message.
    pub message: &'m M,
}

/// A receive that ended without a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended<R> {
    /// Its number, which means nothing any more.
    pub id: ReceiveId,
    /// What it waited for.
    pub pattern: Pattern,
    /// What was posted.
    pub receive: R,
}

/// A receive that was not posted, and why.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unposted<R> {
    /// Why.
    #[source]
    pub error: PostError,
    /// What was to be posted.
    pub receive: R,
}

/// Why a receive would wait for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PostError {
    /// The source has ended, and nothing that it sent before matches.
    #[error("source {source_number} has ended, and no message of it matches")]
    SourceEnded {
        /// The source.
        source_number: u32,
    },
    /// All sources have ended, and nothing that they sent before matches.
    #[error("all sources have ended, and no message of theirs matches")]
    NobodyLeft,
    /// There is no such source.
    #[error("there is no source {source_number}; add_source gives the numbers of sources")]
    NoSource {
        /// The number.
        source_number: u32,
    },
}

/// A message of a source that was not added, or has ended.
#[derive(Debug, Error)]
#[error("there is no source {source_number}, or it has ended")]
#[non_exhaustive]
pub struct Stray<M> {
    /// The source that the message names.
    pub source_number: u32,
    /// The message.
    pub message: M,
}
