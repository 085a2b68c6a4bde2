//! What can go wrong with a put or a get.

use jstream::buffer::PoolError;
use thiserror::Error;

use super::frame::Verdict;
use crate::address::Address;
use crate::error::{RecvError, SendError};

/// Why nothing was put or got. Unless it says so, the connection can be used as before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The peer exposes nothing under this key on this connection, or not any more.
    #[error("{peer} exposes nothing under this key on this connection")]
    NoSuchKey {
        /// The peer.
        peer: Address,
    },
    /// The memory is exposed, but not for this.
    #[error("{peer} does not allow this; see RemoteKey::rights")]
    NotAllowed {
        /// The peer.
        peer: Address,
    },
    /// It is not all inside of what is exposed.
    #[error("{length} bytes from {offset} on don't lie in the {exposed} that {peer} exposes")]
    OutOfBounds {
        /// Where it was to begin, in bytes.
        offset: u64,
        /// How long it was to be, in bytes.
        length: u64,
        /// How many bytes are exposed.
        exposed: u64,
        /// The peer.
        peer: Address,
    },
    /// The peer's pool had no room for the answer.
    #[error("{peer} had no room for its answer; try again")]
    NoRoom {
        /// The peer.
        peer: Address,
    },
    /// The pool of this side had no room.
    #[error("no room for {length} bytes: {source}")]
    NoBuffer {
        /// How many bytes were needed.
        length: usize,
        /// What the pool said.
        source: PoolError,
    },
    /// The request was not sent.
    #[error("the request was not sent: {source}")]
    Unsent {
        /// Why.
        source: SendError,
    },
    /// The connection ended before the answer came. Whether something was put is unknown.
    #[error("there was no answer: {source}")]
    Unanswered {
        /// How it ended.
        source: RecvError,
    },
    /// So many messages came that no more are kept, and nobody received them. The answer stands behind
    /// them: receive, and ask again. Whether something was put is unknown.
    #[error("{messages} messages of {peer} stand before its answer; receive them")]
    Blocked {
        /// How many messages are here.
        messages: usize,
        /// The peer.
        peer: Address,
    },
}

impl RemoteError {
    /// What the owner refused of this request.
    pub(super) fn of(verdict: Verdict, offset: u64, length: u64, peer: &Address) -> Option<Self> {
        if verdict == Verdict::Done {
            return None;
        }
        let peer = peer.clone();
        Some(match verdict {
            Verdict::Done => return None,
            Verdict::NoSuchKey => Self::NoSuchKey { peer },
            Verdict::NotAllowed => Self::NotAllowed { peer },
            Verdict::OutOfBounds { exposed } => Self::OutOfBounds {
                offset,
                length,
                exposed,
                peer,
            },
            Verdict::NoRoom => Self::NoRoom { peer },
        })
    }
}
