//! Errors of operations between ranks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer, PoolError};
use jstream::{ReadError, WriteError};
use jstream_collective::{Collective, ScheduleError};
use jstream_derive::ErrorDebug;
use thiserror::Error;

use super::layout::error::LayoutError;
use super::names::Status;
use jstream_base::SendError;

/// Error of an operation of a [`Rank`](super::Rank).
///
/// An error does not affect other operations. [`PeerGone`](Self::PeerGone),
/// [`Revoked`](Self::Revoked) and [`NobodyLeft`](Self::NobodyLeft) are permanent.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The matched message is longer than the memory of the receive. The message is dropped,
    /// nothing is written to the memory, and the next message is received as usual.
    #[error(
        "the message of rank {rank} with tag {tag:#x} has {length} bytes, but the receive has room \
         for {capacity}; receive it with `recv_vec`, which finds out the length, or into a jbuf"
    )]
    Truncated {
        /// The length of the message in bytes.
        length: u64,
        /// The number of bytes that fit.
        capacity: u64,
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
    },
    /// The matched message has elements of another type. The message is dropped, nothing is written
    /// to the memory, and the next message is received as usual.
    #[error(
        "the message of rank {rank} with tag {tag:#x} has elements of {sent}, but the receive \
         expects {expected}; both sides have to name the same type"
    )]
    WrongElements {
        /// The element type of the receive.
        expected: ElementName,
        /// The element type of the message.
        sent: ElementName,
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
    },
    /// The message is shorter than the value to receive. The message is dropped, and the next one
    /// is received as usual.
    #[error(
        "the message of rank {rank} with tag {tag:#x} has {length} bytes, but the value has {size}; \
         receive messages of any length with `recv_vec`"
    )]
    TooShort {
        /// The length of the message in bytes.
        length: u64,
        /// The size of the value in bytes.
        size: u64,
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
    },
    /// The other rank has ended, or the connection to it was lost.
    #[error("rank {rank} is gone: {reason}")]
    PeerGone {
        /// The number of the rank.
        rank: u32,
        /// The reason.
        reason: Arc<str>,
    },
    /// The communicator was revoked. All operations in it fail, except for
    /// [`agree`](super::Recovery::agree) and [`shrink`](super::Recovery::shrink).
    #[error(
        "the communicator with context {context} was revoked by rank {rank}; make one of the \
         survivors with `shrink`"
    )]
    Revoked {
        /// The number of the [context](super::Rank::context).
        context: u32,
        /// The number of a rank that has revoked it.
        rank: u32,
    },
    /// The matched message was withdrawn by its sender, because the operation has failed there.
    #[error("rank {rank} has withdrawn its message with tag {tag:#x}, because it has failed")]
    Withdrawn {
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
    },
    /// A receive from any source failed because all other ranks are gone.
    #[error("all other ranks are gone, and none of their messages is left")]
    NobodyLeft,
    /// The operation was cancelled.
    #[error("the operation was cancelled")]
    Cancelled,
    /// No message arrived in time. The operation was cancelled.
    #[error("no message arrived within {after:?}")]
    TimedOut {
        /// The timeout of the call.
        after: Duration,
    },
    /// The group has no rank of this number, or this rank is not connected to it.
    #[error("this rank is not connected to a rank {rank} (size of the group: {size})")]
    NoRank {
        /// The number.
        rank: u32,
        /// The number of ranks in the group.
        size: u32,
    },
    /// The receive of the other rank gives no memory for the message, and the message is longer
    /// than what the other rank allocates. None of it was sent.
    #[error(
        "a message of {length} bytes is too long for rank {rank}, which allocates at most {max} \
         for it; receive it into memory with `recv` there, split it, or raise the `bytes` of \
         rank::Options::object_limits of rank {rank}"
    )]
    TooLong {
        /// The length of the message in bytes.
        length: u64,
        /// The maximum length in bytes for which the other rank allocates memory.
        max: u64,
        /// The number of the other rank.
        rank: u32,
    },
    /// The receive gives no memory for the matched message, and the message is longer than what the
    /// rank allocates: the `bytes` of its [`object_limits`](super::Options::object_limits). The
    /// message is not received, and its sender gets [`TooLong`](Self::TooLong), unless it has sent
    /// the message [eagerly](super::Rank::eager).
    #[error(
        "the message of rank {rank} with tag {tag:#x} has {length} bytes, but this rank allocates \
         at most {max}; receive it into memory with `recv`, or raise the `bytes` of \
         rank::Options::object_limits"
    )]
    OverLimit {
        /// The length of the message in bytes.
        length: u64,
        /// The maximum length in bytes for which this rank allocates memory.
        max: u64,
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
    },
    /// The pool has no jbuf for the message, which is dropped.
    #[error("no room for a message of {length} bytes: {source}")]
    NoBuffer {
        /// The number of bytes needed.
        length: u64,
        /// The error of the pool.
        r#source: PoolError,
    },
    /// The layout does not suit the operation. Nothing was sent or received.
    #[error("{0}")]
    Layout(LayoutError),
    /// The message was not sent, although the other rank is still connected.
    #[error("the message for rank {rank} was not sent: {source}")]
    NotSent {
        /// The number of the other rank.
        rank: u32,
        /// The cause.
        r#source: Box<SendError>,
    },
    /// The object can't be written. Nothing was sent.
    #[error("the object can't be written: {0}")]
    Write(WriteError),
    /// The arguments of a collective operation are invalid. No elements were sent.
    #[error("the arguments of {collective} are invalid: {source}")]
    Arguments {
        /// The operation.
        collective: Collective,
        /// The cause.
        r#source: ScheduleError,
    },
    /// The memory of a collective operation has another length than its other arguments imply.
    #[error(
        "`{what}` of {collective} has {given} elements, but the number of ranks and the other \
         arguments require {expected}"
    )]
    WrongLength {
        /// The operation.
        collective: Collective,
        /// The name of the argument.
        what: &'static str,
        /// Number of elements.
        given: usize,
        /// Number of elements that are required.
        expected: usize,
    },
    /// A rank has called another collective operation, or the same one with other arguments.
    #[error(
        "rank {rank} disagrees about {collective}: it has called another collective operation, or \
         with another root, algorithm, element type or number of elements"
    )]
    Disagreement {
        /// The operation that this rank has called.
        collective: Collective,
        /// The number of the other rank.
        rank: u32,
    },
    /// A collective operation has failed at another rank, which has the cause or is gone.
    #[error("{collective} has failed at rank {rank}{}", cause(reason.as_deref()))]
    FailedAt {
        /// The operation.
        collective: Collective,
        /// The number of the other rank.
        rank: u32,
        /// The text of the other rank's error, if the other rank has told it.
        reason: Option<Arc<str>>,
    },
    /// A message of a collective operation has failed.
    #[error("{collective} has failed: {source}")]
    Collective {
        /// The operation.
        collective: Collective,
        /// The cause.
        r#source: Box<Error>,
    },
    /// The root of a collective operation on objects has called the method of the other members.
    #[error("rank {rank} is the root of {collective}; the root has to call `{instead}`")]
    IsRoot {
        /// The operation.
        collective: Collective,
        /// The number of this rank.
        rank: u32,
        /// The name of the method that the root calls.
        instead: &'static str,
    },
    /// The environment chooses algorithms of collective operations that do not exist.
    #[error("{reason}")]
    Settings {
        /// The reason.
        reason: Arc<str>,
    },
    /// A grid has no point, or more points than the communicator has ranks.
    #[error("a grid of {points} points needs as many ranks, but the communicator has {size}")]
    TooFewRanks {
        /// Number of points.
        points: u64,
        /// Number of ranks.
        size: u32,
    },
    /// Another rank has given other dimensions of a grid.
    #[error(
        "rank {rank} has given other dimensions of the grid; give the same dimensions at all ranks"
    )]
    OtherGrid {
        /// The number of the other rank.
        rank: u32,
    },
    /// Another rank has given another group.
    #[error("rank {rank} has given another group; give the same group at all ranks")]
    OtherGroup {
        /// The number of the other rank.
        rank: u32,
    },
    /// A position was given twice for a group.
    #[error("the position {rank} was given twice; a group has each rank once")]
    RankTwice {
        /// The position.
        rank: u32,
    },
    /// A group has a rank that is not in the communicator.
    #[error(
        "rank {rank} of the world is not in the communicator; make the group of members of it, or \
         use a communicator that has all of them"
    )]
    NotMember {
        /// The number of the rank in the world.
        rank: u32,
    },
    /// All numbers of contexts have been used.
    #[error(
        "all 2147483648 contexts of a rank have been used; keep communicators instead of \
         creating them anew"
    )]
    NoContext,
    /// The message is not a valid object of the requested type. The message is dropped.
    #[error("the message of rank {rank} with tag {tag:#x} can't be read: {source}")]
    Read {
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
        /// The cause.
        r#source: Box<ReadError>,
    },
}

/// Returns the end of the sentence that names the rank at which an operation has failed.
fn cause(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!(": {reason}"),
        None => ", which is gone or whose error has the cause".to_owned(),
    }
}

impl Error {
    /// Converts the number of the rank that the error names by `convert`, and the size of the group
    /// to `group_size`.
    #[cold]
    pub(super) fn renumber(&mut self, convert: impl Fn(u32) -> u32, group_size: u32) {
        match self {
            Self::NoRank { rank, size } => {
                *rank = convert(*rank);
                *size = group_size;
            }
            Self::Truncated { rank, .. }
            | Self::WrongElements { rank, .. }
            | Self::TooShort { rank, .. }
            | Self::PeerGone { rank, .. }
            | Self::Revoked { rank, .. }
            | Self::Withdrawn { rank, .. }
            | Self::TooLong { rank, .. }
            | Self::OverLimit { rank, .. }
            | Self::NotSent { rank, .. }
            | Self::Read { rank, .. } => {
                if *rank != Status::NOBODY {
                    *rank = convert(*rank);
                }
            }
            Self::NobodyLeft
            | Self::Cancelled
            | Self::TimedOut { .. }
            | Self::NoBuffer { .. }
            | Self::Write(_)
            | Self::Arguments { .. }
            | Self::WrongLength { .. }
            | Self::Disagreement { .. }
            | Self::FailedAt { .. }
            | Self::Collective { .. }
            | Self::IsRoot { .. }
            | Self::Settings { .. }
            | Self::TooFewRanks { .. }
            | Self::Layout(_)
            | Self::OtherGrid { .. }
            | Self::OtherGroup { .. }
            | Self::RankTwice { .. }
            | Self::NotMember { .. }
            | Self::NoContext => {}
        }
    }

    /// Returns the error of a receive that needs a message, from
    /// [`Source::Null`](super::Source::Null).
    #[cold]
    pub(super) fn null_source(what: &str) -> Self {
        Self::PeerGone {
            rank: Status::NOBODY,
            reason: format!("the null source sends no {what}").into(),
        }
    }
}

/// The element type of a message, for display.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ElementName {
    pub(super) descriptor: u64,
    pub(super) name: Option<&'static str>,
}

impl ElementName {
    /// Untyped bytes.
    pub(super) const BYTES: Self = Self {
        descriptor: 0,
        name: Some("u8"),
    };

    /// Returns true if a message of the sent type may be received as this type. Untyped bytes agree
    /// with every type.
    #[inline]
    pub(super) fn agrees(&self, sent: Option<u64>) -> bool {
        self.descriptor == 0 || sent.is_none_or(|sent| sent == 0 || sent == self.descriptor)
    }

    /// Returns the number that identifies the type on the wire.
    #[must_use]
    pub const fn descriptor(&self) -> u64 {
        self.descriptor
    }

    /// Returns the name of the type, if this program knows it.
    #[must_use]
    pub const fn name(&self) -> Option<&'static str> {
        self.name
    }
}

/// Shows the type as `Display` does: errors that end a program are shown by `Debug`.
impl fmt::Debug for ElementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ElementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "a type with the descriptor {:#x}", self.descriptor),
        }
    }
}

/// Error of a send, with the jbuf if it was not sent.
#[derive(ErrorDebug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unsent {
    /// The cause.
    pub error: Error,
    /// The jbuf, unchanged, if it was not sent.
    pub filled: Option<MessageBuffer>,
}

impl From<LayoutError> for Error {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl From<Unsent> for Error {
    fn from(unsent: Unsent) -> Self {
        unsent.error
    }
}

/// Error of a receive, with the jbuf that was posted for it.
#[derive(ErrorDebug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unreceived {
    /// The cause.
    pub error: Error,
    /// The jbuf that was posted, if there was one and it is unused.
    pub buffer: Option<EmptyBuffer>,
}

impl From<Unreceived> for Error {
    fn from(unreceived: Unreceived) -> Self {
        unreceived.error
    }
}
