//! The forms of a payload, and the behaviour without credit.

use std::io::IoSlice;
use std::time::Instant;

use jstream::buffer::MessageBuffer;

use super::Peer;

/// The payload of a request or one-way message.
#[derive(Debug)]
pub enum Payload<'a> {
    /// One segment.
    Bytes(&'a [u8]),
    /// Several segments, which arrive as one.
    Segments(&'a [IoSlice<'a>]),
    /// A buffer of the pool. The handler may keep it, and if the device can, it moves to the peer
    /// without a copy. Sending it never blocks for the device.
    MessageBuffer(MessageBuffer),
}

impl Payload<'_> {
    /// Returns the length in bytes.
    #[inline]
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Segments(segments) => {
                let lengths = segments.iter().map(|segment| segment.len() as u64);
                lengths.fold(0, u64::saturating_add)
            }
            Self::MessageBuffer(filled) => filled.len() as u64,
        }
    }

    /// Returns the payload in a buffer, into which it is copied unless it is one.
    pub(super) fn into_buffer(self, peer: &Peer) -> MessageBuffer {
        let shared = peer.endpoint().shared();
        match self {
            Self::Bytes(bytes) => shared.gather(&[IoSlice::new(bytes)]),
            Self::Segments(segments) => shared.gather(segments),
            Self::MessageBuffer(filled) => filled,
        }
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    #[inline]
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, const LENGTH: usize> From<&'a [u8; LENGTH]> for Payload<'a> {
    #[inline]
    fn from(bytes: &'a [u8; LENGTH]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Payload<'a> {
    #[inline]
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a [IoSlice<'a>]> for Payload<'a> {
    #[inline]
    fn from(segments: &'a [IoSlice<'a>]) -> Self {
        Self::Segments(segments)
    }
}

impl From<MessageBuffer> for Payload<'_> {
    #[inline]
    fn from(filled: MessageBuffer) -> Self {
        Self::MessageBuffer(filled)
    }
}

/// Behaviour of a request or one-way message if there is no credit, because the peer has not
/// completed earlier ones.
///
/// A payload above 32 KiB that is borrowed, and has credit, is sent in place by
/// [`Wait`](Self::Wait) and [`QueueInPlace`](Self::QueueInPlace): they return when the connection
/// has taken it, and serve meanwhile. The others copy what the connection does not take at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backpressure {
    /// Serves until there is credit, at most until that time, and for
    /// [`Settings::credit_timeout`](crate::Settings::credit_timeout) at most. For threads.
    Wait(Option<Instant>),
    /// Fails with [`RequestError::NoCredit`](crate::RequestError::NoCredit). Never blocks.
    Fail,
    /// Copies the payload. The message is sent in its turn, when there is credit. Never blocks, so
    /// it is the choice of tasks.
    Queue,
    /// As [`Queue`](Self::Queue), but sends a long payload that has credit in place. For callers
    /// that may be tasks or threads.
    QueueInPlace,
}
