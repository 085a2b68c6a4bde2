//! A connection and its halves.

use std::fmt;
use std::io::IoSlice;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jstream::buffer::Filled;

use crate::address::Address;
use crate::error::{RecvError, SendError, Unsent};
use crate::header::Header;

/// What a device does behind a [`Sender`].
pub(super) trait SendHalf: Send {
    fn send(&mut self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), SendError>;
    fn send_filled(&mut self, header: Header, filled: Filled) -> Result<(), Unsent>;
    fn max_message(&self) -> u64;
}

/// What a device does behind a [`Receiver`].
pub(super) trait ReceiveHalf: Send {
    /// Without a `timeout` it waits as long as the link lives.
    fn receive(&mut self, timeout: Option<Duration>) -> Result<Message, RecvError>;
    fn max_message(&self) -> u64;
}

/// What a device does behind a [`Closer`].
pub(super) trait Close: Send + Sync {
    fn close(&self);
}

/// A message that was received.
#[derive(Debug)]
#[non_exhaustive]
pub struct Message {
    /// What the sender said about it.
    pub header: Header,
    /// The payload, in a jbuf; nobody has believed its bytes yet.
    pub payload: Filled,
}

impl Message {
    pub(super) fn new(header: Header, payload: Filled) -> Self {
        Self { header, payload }
    }
}

/// A connection. Dropping it ends it.
///
/// Over TCP the system resets a connection that is dropped before all that came was received,
/// and a reset may cost the peer messages that are still on their way to it. Where that
/// matters, receive until [`RecvError::Closed`] before dropping.
pub struct Link {
    peer: Address,
    sender: Sender,
    receiver: Receiver,
    closer: Closer,
}

impl Link {
    pub(super) fn new(
        peer: Address,
        sender: impl SendHalf + 'static,
        receiver: impl ReceiveHalf + 'static,
        closer: Closer,
    ) -> Self {
        Self {
            peer,
            sender: Sender {
                half: Box::new(sender),
            },
            receiver: Receiver {
                half: Box::new(receiver),
            },
            closer,
        }
    }

    /// Where the other side is.
    #[must_use]
    pub fn peer(&self) -> &Address {
        &self.peer
    }

    /// What ends the connection from another thread.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.closer.clone()
    }

    /// The two directions, for two threads. The connection ends when both are dropped.
    #[must_use]
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Link").field(&self.peer).finish()
    }
}

/// The half of a link that sends. Dropping it tells the peer that no more messages come; those
/// already sent are still delivered.
pub struct Sender {
    half: Box<dyn SendHalf>,
}

impl Sender {
    /// Sends one message whose payload is all of `segments`, one after another. Returns when the
    /// device has taken every byte; the segments are not looked at afterwards.
    ///
    /// `header.length` is filled in.
    ///
    /// # Errors
    ///
    /// [`SendError`]; its variants say whether the link can still be used.
    #[inline]
    pub fn send(&mut self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), SendError> {
        self.half.send(header, segments)
    }

    /// Sends one message whose payload stands in a jbuf. Inside the process the jbuf itself
    /// moves to the receiver; elsewhere it is given back to its pool once it was sent.
    ///
    /// # Errors
    ///
    /// [`Unsent`] gives the jbuf back and says why.
    #[inline]
    pub fn send_filled(&mut self, header: Header, filled: Filled) -> Result<(), Unsent> {
        self.half.send_filled(header, filled)
    }

    /// The longest payload that the peer takes, in bytes.
    #[must_use]
    pub fn max_message(&self) -> u64 {
        self.half.max_message()
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The half of a link that receives.
///
/// Dropping it tells the peer at once inside the process; over TCP the peer learns it when both
/// halves are gone, or when its messages are not taken in time.
pub struct Receiver {
    half: Box<dyn ReceiveHalf>,
}

impl Receiver {
    /// Waits for the next message.
    ///
    /// # Errors
    ///
    /// [`RecvError`]; [`RecvError::Closed`] after the last message of a peer that ended properly.
    #[inline]
    pub fn recv(&mut self) -> Result<Message, RecvError> {
        self.half.receive(None)
    }

    /// Waits for the next message, but not longer than `timeout` (which the system may round up
    /// by some milliseconds).
    ///
    /// # Errors
    ///
    /// [`RecvError`]. After [`RecvError::TimedOut`] the link can be used as before, and what had
    /// come of a message is kept.
    #[inline]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Message, RecvError> {
        self.half.receive(Some(timeout))
    }

    /// The longest payload that is received, in bytes.
    #[must_use]
    pub fn max_message(&self) -> u64 {
        self.half.max_message()
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Ends a link or a listener from any thread. Does not keep it alive.
#[derive(Clone)]
pub struct Closer {
    end: Weak<dyn Close>,
}

impl Closer {
    pub(super) fn of<C: Close + 'static>(end: &Arc<C>) -> Self {
        // In two steps, since unsizing needs the type named.
        let end: Weak<C> = Arc::downgrade(end);
        Self { end }
    }

    /// Ends it: threads that wait on it return at once with `ClosedLocally`, and so do all later
    /// calls. Messages that the device has taken are still delivered to the peer, within the
    /// limits that [`Link`] tells of. Closing again does nothing.
    pub fn close(&self) {
        if let Some(end) = self.end.upgrade() {
            end.close();
        }
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer").finish_non_exhaustive()
    }
}

/// The length of all segments together; `None` when it can't be counted.
pub(super) fn payload_length(segments: &[IoSlice<'_>]) -> Option<u64> {
    segments
        .iter()
        .try_fold(0u64, |sum, segment| sum.checked_add(segment.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handles_cross_threads() {
        fn send<T: Send>() {}
        fn sync<T: Sync>() {}
        send::<Link>();
        send::<Sender>();
        send::<Receiver>();
        send::<Closer>();
        sync::<Closer>();
        send::<crate::Incoming>();
        sync::<crate::Listener>();
    }
}
