//! What can go wrong with active messages, by operation.

use std::fmt;
use std::time::Duration;

use jstream::buffer::Filled;
use jstream::{ReadError, WriteError};
use thiserror::Error;

use crate::address::Address;
use crate::error::{RecvError, SendError};

/// Why two sides did not come to terms about their handlers. The connection was ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JoinError {
    /// This side's table could not be sent.
    #[error("the handlers could not be told: {0}")]
    Send(#[from] SendError),
    /// The other side's did not come.
    #[error("the other side did not tell its handlers: {0}")]
    Receive(#[from] RecvError),
    /// What came is no table of this version.
    #[error("{peer} does not speak of handlers: {reason}; does it join with active messages, too?")]
    NotActive {
        /// The peer.
        peer: Address,
        /// What is wrong with what it said.
        reason: &'static str,
    },
    /// This side's table is too long to be told.
    #[error("a table of {length} bytes is too long to be told, at most {max} are allowed")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The most that it may have.
        max: usize,
    },
}

/// Why a handler of the peer can't be named.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LookupError {
    /// It has none of that name.
    #[error("{peer} has no handler \"{name}\"; it has {known}")]
    Unknown {
        /// The peer.
        peer: Address,
        /// The name.
        name: String,
        /// Those that it has, the first of them by name.
        known: String,
    },
    /// It takes or gives other types.
    #[error(
        "the handler \"{name}\" of {peer} is `{theirs}` there, `{ours}` here; build both from one definition"
    )]
    Type {
        /// The peer.
        peer: Address,
        /// The name.
        name: String,
        /// What it is here.
        ours: String,
        /// What it is there.
        theirs: String,
    },
}

/// Why a message came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The peer has no handler of that number.
    NoSuchHandler,
    /// The handler does not want it.
    Refused,
    /// The handler can't take it now, and asks to be asked later.
    Busy,
    /// The peer takes no more requests.
    Ending,
    /// The handler panicked.
    Panicked,
    /// The handler dropped the request without an answer, or was cancelled.
    Unanswered,
    /// The payload is not of the handler's type.
    Malformed,
    /// The handler has an answer that could not be sent.
    Unsendable,
    /// It was cancelled before its handler ran.
    Cancelled,
    /// Something that this version does not know.
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

    pub(super) fn of(code: u16) -> Self {
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

    /// Whether the handler may have done something.
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
            Self::Cancelled => "it was cancelled before",
            Self::Other(code) => return write!(f, "reason {code}"),
        })
    }
}

/// A message that came back.
#[derive(Debug)]
#[non_exhaustive]
pub struct Returned {
    /// Why.
    pub reason: Reason,
    /// What the handler said about it.
    pub text: String,
    /// The number of the handler.
    pub handler: u16,
    /// The word that was sent.
    pub word: u64,
    /// The payload that was sent, where the handler had not taken it.
    pub payload: Option<Filled>,
}

impl fmt::Display for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        if self.text.is_empty() {
            Ok(())
        } else {
            write!(f, ": {}", self.text)
        }
    }
}

/// Why a request has no reply, or a message was not sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// It came back.
    #[error("{peer} gave a message back: {returned}")]
    Returned {
        /// The peer.
        peer: Address,
        /// What came back.
        returned: Box<Returned>,
    },
    /// The peer has to be done with others first. Nothing was sent.
    #[error("the peer has to be done with other messages first; wait, or try again")]
    NoCredit,
    /// The peer was not done with others in time. Nothing was sent.
    #[error("{peer} was not done with other messages within {after:?}")]
    TimedOut {
        /// The peer.
        peer: Address,
        /// How long was waited.
        after: Duration,
    },
    /// It was not sent.
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
    /// The connection belongs to the process that this one was forked from, which goes on with it.
    #[error(
        "the connection to {peer} belongs to the process that this one was forked from; \
         make one of your own"
    )]
    Forked {
        /// The peer.
        peer: Address,
    },
    /// There is no room in this side's pool for what has come. The connection goes on when there is.
    #[error("there is no room for what {peer} has sent: {why}")]
    NoRoom {
        /// The peer.
        peer: Address,
        /// What the pool says.
        why: String,
    },
    /// The object could not be written. Nothing was sent.
    #[error("the object can't be written: {0}")]
    Write(#[source] WriteError),
    /// The reply is not of the type that was asked for. The handler ran.
    #[error("the reply can't be read: {0}")]
    Read(#[source] Box<ReadError>),
}
