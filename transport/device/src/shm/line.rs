//! State that the halves of a connection share: the sockets to the peer.
//!
//! A connection has two Unix sockets. A byte on one of them wakes the peer's receive half, which
//! waits until something is published; a byte on the other wakes the peer's send half, which waits
//! until something is consumed. So each socket is read by one half. Both are hung up when the peer
//! ends, in whatever way. Each process owns its end of a socket pair, so the peer cannot make calls
//! on it block, as it could with an eventfd.
//!
//! Decision 040 has the reasons.

use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;

use super::mapping::{Control, Lane};
use super::remote::Nonce;
use super::trusted::Outbox;
use crate::connection::Control as Closing;

/// Sockets and shared state of a connection.
pub(super) struct ShmConnection {
    /// Read by the receive half.
    published: Socket,
    /// Read by the send half.
    consumed: Socket,
    closed: AtomicBool,
    outgoing: Lane,
    incoming: Lane,
    /// Memory of the messages that the peer reads in place.
    outbox: Option<Outbox>,
    /// Kept at its address for as long as the peer may read it.
    _nonce: Nonce,
}

/// Event that a half waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum HalfEvent {
    Published,
    Consumed,
}

impl ShmConnection {
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

    /// Adds an outbox, in which messages are left for the peer.
    pub(super) fn with_outbox(self, outbox: Option<Outbox>) -> Self {
        Self { outbox, ..self }
    }

    #[inline]
    pub(super) fn outbox(&self) -> Option<&Outbox> {
        self.outbox.as_ref()
    }

    fn socket(&self, bell: HalfEvent) -> &Socket {
        match bell {
            HalfEvent::Published => &self.published,
            HalfEvent::Consumed => &self.consumed,
        }
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Wakes the half of the peer that waits for `bell`.
    #[cold]
    pub(super) fn ring(&self, bell: HalfEvent) {
        // If the socket buffer is full, it already contains bytes that wake the peer. If the peer
        // is gone, it needs no wake-up.
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let _ = rustix::net::send(self.socket(bell), &[0], flags);
    }

    /// Returns the descriptor that becomes readable when the peer rings and when it hangs up.
    pub(super) fn source(&self, bell: HalfEvent) -> BorrowedFd<'_> {
        self.socket(bell).as_fd()
    }

    /// Discards the bytes of past wake-ups. Returns true if the peer is still connected.
    pub(super) fn drain(&self, bell: HalfEvent) -> bool {
        let mut bytes = [0; 64];
        // Usually there is one byte. The loop is bounded in case the peer sends bytes without end.
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

impl Closing for ShmConnection {
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
            // The shutdown fails only if the peer has hung up. Then all threads are awake.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}
