//! Errors of puts and gets.

use jstream::buffer::PoolError;
use jstream_derive::ErrorDebug;
use thiserror::Error;

use super::frame::RemoteVerdict;
use jstream_base::Address;
use jstream_base::{RecvError, SendError};

/// Error of a put or a get. Unless stated otherwise, nothing was transferred and the connection can
/// still be used.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The peer exposes no memory under this key on this connection, or no longer does.
    #[error("{peer} exposes no memory under this key on this connection")]
    NoSuchKey {
        /// The peer.
        peer: Address,
    },
    /// The memory is exposed, but the rights of the key do not permit the operation.
    #[error("{peer} does not permit this operation; see RemoteKey::rights")]
    NotAllowed {
        /// The peer.
        peer: Address,
    },
    /// The range is not within the exposed memory.
    #[error("{length} bytes at offset {offset} exceed the {exposed} bytes that {peer} exposes")]
    OutOfBounds {
        /// Offset of the range, in bytes.
        offset: u64,
        /// Length of the range, in bytes.
        length: u64,
        /// Length of the exposed memory, in bytes.
        exposed: u64,
        /// The peer.
        peer: Address,
    },
    /// The peer's pool had no room for the answer.
    #[error("the pool of {peer} had no room for the answer; try again")]
    NoRoom {
        /// The peer.
        peer: Address,
    },
    /// The local pool had no room.
    #[error("the pool has no room for {length} bytes: {source}")]
    NoBuffer {
        /// Number of bytes that were needed.
        length: usize,
        /// The error of the pool.
        r#source: PoolError,
    },
    /// The request was not sent.
    #[error("the request was not sent: {source}")]
    Unsent {
        /// The reason.
        r#source: SendError,
    },
    /// The connection ended before the answer arrived. It is unknown whether bytes were written.
    #[error("the connection ended before the answer arrived: {source}")]
    Unanswered {
        /// The cause of the end.
        r#source: RecvError,
    },
    /// The limit of kept messages was reached, and the program did not receive them. The answer is
    /// behind them: receive the messages, and repeat the request. It is unknown whether bytes were
    /// written.
    #[error("{messages} messages of {peer} precede its answer; receive them")]
    Blocked {
        /// Number of kept messages.
        messages: usize,
        /// The peer.
        peer: Address,
    },
}

impl RemoteError {
    /// Converts a verdict of the owner to an error. Returns `None` if the request was carried out.
    pub(super) fn new(
        verdict: RemoteVerdict,
        offset: u64,
        length: u64,
        peer: &Address,
    ) -> Option<Self> {
        if verdict == RemoteVerdict::Done {
            return None;
        }
        let peer = peer.clone();
        Some(match verdict {
            RemoteVerdict::Done => return None,
            RemoteVerdict::NoSuchKey => Self::NoSuchKey { peer },
            RemoteVerdict::NotAllowed => Self::NotAllowed { peer },
            RemoteVerdict::OutOfBounds { exposed } => Self::OutOfBounds {
                offset,
                length,
                exposed,
                peer,
            },
            RemoteVerdict::NoRoom => Self::NoRoom { peer },
        })
    }
}
