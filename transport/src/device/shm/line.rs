//! What the halves of a connection share: the sockets to the peer.
//!
//! Two Unix sockets belong to a connection. Over each, a byte wakes the peer: over one, whoever waits
//! for what is published, over the other, whoever waits for what is consumed. So each is read by one
//! half, and each is hung up when the peer ends, however it does. A socket's end is the process's own:
//! the peer can't make calls on it block, as it could with an eventfd.

use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;

use super::mapping::{Control, Lane};
use super::remote::Nonce;
use super::trusted::Outbox;
use crate::device::connection::Control as Closing;

/// The sockets of a connection.
pub(super) struct Line {
    /// Read by whoever receives.
    published: Socket,
    /// Read by whoever sends.
    consumed: Socket,
    closed: AtomicBool,
    outgoing: Lane,
    incoming: Lane,
    /// Where messages stand that the peer reads there.
    outbox: Option<Outbox>,
    /// Stays where it is as long as the peer may look for it.
    _nonce: Nonce,
}

/// For what somebody waits.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bell {
    Published,
    Consumed,
}

impl Line {
    pub(super) fn new(
        published: Socket,
        consumed: Socket,
        outgoing: Lane,
        incoming: Lane,
        nonce: Nonce,
    ) -> Self {
        Self {
            published,
            consumed,
            closed: AtomicBool::new(false),
            outgoing,
            incoming,
            outbox: None,
            _nonce: nonce,
        }
    }

    /// The same, where messages can be left for the peer.
    pub(super) fn with_outbox(self, outbox: Option<Outbox>) -> Self {
        Self { outbox, ..self }
    }

    #[inline]
    pub(super) fn outbox(&self) -> Option<&Outbox> {
        self.outbox.as_ref()
    }

    fn socket(&self, bell: Bell) -> &Socket {
        match bell {
            Bell::Published => &self.published,
            Bell::Consumed => &self.consumed,
        }
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Wakes the peer's half that waits for `bell`.
    #[cold]
    pub(super) fn ring(&self, bell: Bell) {
        // Where there is no room for a byte, there are enough to wake the peer; and who is gone needs
        // none.
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let _ = rustix::net::send(self.socket(bell), &[0], flags);
    }

    /// What becomes readable when the peer rings, and when it is gone.
    pub(super) fn source(&self, bell: Bell) -> BorrowedFd<'_> {
        self.socket(bell).as_fd()
    }

    /// Takes the bytes that woke us. Whether the peer is still there.
    pub(super) fn drain(&self, bell: Bell) -> bool {
        let mut bytes = [0; 64];
        // Usually there is one. A peer that sends them without end is not followed.
        for _ in 0..8 {
            match rustix::net::recv(self.socket(bell), &mut bytes, RecvFlags::DONTWAIT) {
                Ok((_, 64)) | Err(rustix::io::Errno::INTR) => {}
                Ok((_, n)) => return n > 0,
                Err(error) => return error == rustix::io::Errno::WOULDBLOCK,
            }
        }
        true
    }
}

impl Closing for Line {
    fn outbox(&self) -> Option<&Outbox> {
        self.outbox.as_ref()
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let ended = self.outgoing.control(Control::Ended);
        ended.store(1, Ordering::Release);
        let gone = self.incoming.control(Control::Gone);
        gone.store(1, Ordering::Release);
        for socket in [&self.published, &self.consumed] {
            // It fails only when the peer has hung up: then everybody is awake.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}
