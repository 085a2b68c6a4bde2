//! Errors of active messages, by operation.

use std::fmt;
use std::time::Duration;

use jstream::buffer::MessageBuffer;
use jstream::{ReadError, WriteError};
use jstream_derive::ErrorDebug;
use thiserror::Error;

use crate::retry_after::decode_retry_after;
use jstream_base::Address;
use jstream_base::{RecvError, SendError};

/// Error of a handshake that exchanges handler tables. The connection has ended.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum JoinError {
    /// This side's handler table could not be sent.
    #[error("failed to send the handler table: {0}")]
    Send(SendError),
    /// The peer's handler table was not received.
    #[error("failed to receive the peer's handler table: {0}")]
    Receive(RecvError),
    /// The peer's first message is not a hello of this version.
    #[error("handshake with {peer} failed: {reason}; both sides must call Peer::join once")]
    NotActive {
        /// The peer.
        peer: Address,
        /// Description of the invalid part.
        reason: &'static str,
    },
    /// This side's handler table is too long to be sent.
    #[error("handler table of {length} bytes exceeds the limit of {max} bytes; use shorter names")]
    TooLong {
        /// Length of the table in bytes.
        length: usize,
        /// Maximum length in bytes.
        max: usize,
    },
}

impl From<SendError> for JoinError {
    fn from(error: SendError) -> Self {
        Self::Send(error)
    }
}

impl From<RecvError> for JoinError {
    fn from(error: RecvError) -> Self {
        Self::Receive(error)
    }
}

/// Error of the lookup of a handler of the peer.
#[derive(ErrorDebug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The peer has no handler of that name.
    #[error("{peer} has no handler \"{name}\"; it has {known}")]
    Unknown {
        /// The peer.
        peer: Address,
        /// The name.
        name: String,
        /// The first handler names of the peer, as a list.
        known: String,
    },
    /// The handler takes bytes where this side has objects, or the other way round; or it has
    /// another version of the types, and their schemas are too long to be sent.
    #[error(
        "handler \"{name}\" of {peer} has type `{theirs}`, expected `{ours}`; \
         build both sides from one definition"
    )]
    Type {
        /// The peer.
        peer: Address,
        /// The name.
        name: String,
        /// Types that this side expects.
        ours: String,
        /// Types that the peer declares.
        theirs: String,
    },
}

/// The reason for which a message was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The peer has no handler of that number.
    NoSuchHandler,
    /// The handler refused the message.
    Refused,
    /// The handler is busy; the sender should retry later.
    Busy,
    /// The peer accepts no more requests.
    Ending,
    /// The handler panicked.
    Panicked,
    /// The handler dropped the request without an answer, or was cancelled.
    Unanswered,
    /// The payload is not of the handler's type.
    Malformed,
    /// The handler's answer could not be sent.
    Unsendable,
    /// The request was cancelled before its handler ran.
    Cancelled,
    /// A code that this version does not know.
    Other(u16),
}

impl Reason {
    pub(super) fn code(self) -> u16 {
        match self {
            Self::NoSuchHandler => 1,
            Self::Refused => 2,
            Self::Busy => 3,
            Self::Ending => 4,
            Self::Panicked => 5,
            Self::Unanswered => 6,
            Self::Malformed => 7,
            Self::Unsendable => 8,
            Self::Cancelled => 9,
            Self::Other(code) => code,
        }
    }

    pub(super) fn from_code(code: u16) -> Self {
        match code {
            1 => Self::NoSuchHandler,
            2 => Self::Refused,
            3 => Self::Busy,
            4 => Self::Ending,
            5 => Self::Panicked,
            6 => Self::Unanswered,
            7 => Self::Malformed,
            8 => Self::Unsendable,
            9 => Self::Cancelled,
            code => Self::Other(code),
        }
    }

    /// Returns true if the handler may have run, at least in part.
    #[must_use]
    pub fn may_have_run(self) -> bool {
        !matches!(
            self,
            Self::NoSuchHandler | Self::Busy | Self::Ending | Self::Cancelled
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchHandler => "there is no such handler",
            Self::Refused => "the handler refused it",
            Self::Busy => "the handler is busy",
            Self::Ending => "the peer takes no more requests",
            Self::Panicked => "the handler panicked",
            Self::Unanswered => "the handler gave no answer",
            Self::Malformed => "the payload is not of the handler's type",
            Self::Unsendable => "the answer could not be sent",
            Self::Cancelled => "the request was cancelled before its handler ran",
            Self::Other(code) => return write!(f, "reason {code}"),
        })
    }
}

/// A message that was returned by the peer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Returned {
    /// The reason.
    pub reason: Reason,
    /// Explanation by the handler.
    pub text: String,
    /// The number of the handler.
    pub handler: u16,
    /// The word that was sent.
    pub word: u64,
    /// The payload that was sent, unless the handler had taken it.
    pub payload: Option<MessageBuffer>,
    /// The time after which the message may be sent again, at most a minute. Present if the peer
    /// was [busy](Reason::Busy), and has said how long it will be.
    pub retry_after: Option<Duration>,
}

impl Returned {
    /// Creates the value from a message that a peer returned. The last `text` bytes of `payload`
    /// are the explanation.
    pub(super) fn new(
        handler: u16,
        reason: u16,
        word: u64,
        mut payload: MessageBuffer,
        text: u16,
    ) -> Self {
        let length = payload.len().saturating_sub(usize::from(text));
        let why = payload.as_bytes().get(length..).unwrap_or_default();
        let why = String::from_utf8_lossy(why).into_owned();
        payload.truncate(length);
        let payload = (length > 0).then_some(payload);
        let reason = Reason::from_code(reason);
        let retry_after = match reason {
            Reason::Busy => decode_retry_after(&why),
            _ => None,
        };
        Self {
            reason,
            text: why,
            handler,
            word,
            payload,
            retry_after,
        }
    }
}

impl fmt::Display for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        match self.retry_after {
            Some(time) => write!(f, ": send it again after {time:?}"),
            None if self.text.is_empty() => Ok(()),
            None => write!(f, ": {}", self.text),
        }
    }
}

/// Error of a request or of sending a message.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The peer returned the message, or has [announced](crate::Attendant::announce_end) that it
    /// runs no more requests, and the connection has ended. In that case the word and the payload
    /// of `returned` are empty.
    #[error("{peer} returned the message: {returned}")]
    Returned {
        /// The peer.
        peer: Address,
        /// The returned message.
        returned: Box<Returned>,
    },
    /// There is no credit: the peer has not completed earlier messages. Nothing was sent.
    #[error("no credit: the peer has not completed earlier messages; wait, or try again")]
    NoCredit,
    /// The peer granted no credit in time. Nothing was sent.
    #[error("{peer} granted no credit within {after:?}")]
    TimedOut {
        /// The peer.
        peer: Address,
        /// The time waited.
        after: Duration,
    },
    /// The send failed.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The connection had ended before. Nothing was sent.
    #[error("the connection to {peer} has ended; connect again")]
    Ended {
        /// The peer.
        peer: Address,
    },
    /// The connection ended before the answer came. The handler may have run.
    #[error("the connection to {peer} ended before it answered; the handler may have run")]
    Lost {
        /// The peer.
        peer: Address,
    },
    /// The connection belongs to the parent process, which continues to use it.
    #[error(
        "the connection to {peer} belongs to the parent process; create a new connection after fork"
    )]
    Forked {
        /// The peer.
        peer: Address,
    },
    /// The pool of this side has no room for a received message. The connection continues when
    /// there is room.
    #[error("the pool has no room for a message from {peer}: {why}")]
    NoRoom {
        /// The peer.
        peer: Address,
        /// Error of the pool.
        why: String,
    },
    /// The object can't be written. Nothing was sent.
    #[error("the object can't be written: {0}")]
    Write(WriteError),
    /// The reply does not have the expected type. The handler ran.
    #[error("the reply can't be read: {0}")]
    Read(Box<ReadError>),
}
