//! State that is shared by the halves of a connection.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use socket2::MaybeUninitSlice;

use super::assembly::FAREWELL;
use super::{Short, Wire, write_all};
use crate::connection::Control;
use crate::deadline::Deadline;
use crate::poll::has_hung_up;

/// No message is being sent.
const IDLE: u8 = 0;
/// A message was begun. The rest of it must be sent before anything else.
const SENDING: u8 = 1;
/// This side has ended its sending direction.
const ENDED: u8 = 2;
/// Both directions were closed by this program.
const CLOSED: u8 = 3;

/// Maximum number of threads that wait to send a farewell. The limit protects against peers that
/// never read.
const MOST_WAITING: usize = 16;

/// Maximum amount of unread data that is discarded on drop, in pieces of 4 KiB.
const UNWANTED: usize = 256;

/// A stream and the phase of its sending direction.
pub(crate) struct StreamSocket<W: Wire> {
    pub(crate) wire: W,
    phase: AtomicU8,
}

impl<W: Wire> StreamSocket<W> {
    pub(crate) fn new(wire: W) -> Self {
        Self {
            wire,
            phase: AtomicU8::new(IDLE),
        }
    }

    /// Returns true if the connection was closed by this program.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.phase.load(Ordering::Acquire) == CLOSED
    }

    /// Begins a message. Returns false if nothing may be sent.
    #[inline]
    pub(crate) fn begin(&self) -> bool {
        self.change_phase(IDLE, SENDING)
    }

    /// Ends the current message, which was sent as a whole or not at all.
    #[inline]
    pub(crate) fn end_message(&self) {
        self.change_phase(SENDING, IDLE);
    }

    #[inline]
    fn change_phase(&self, from: u8, to: u8) -> bool {
        self.phase
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Sends the farewell behind all sent data, then ends the sending direction. Does not block: if
    /// the socket has no room now, a background thread waits for the peer, for at most `patience`.
    pub(crate) fn end_sending(self: &Arc<Self>, patience: Duration) {
        // An incomplete message must not be followed by a farewell.
        if self.change_phase(IDLE, ENDED) {
            let sent = self.wire.try_write(&[IoSlice::new(&FAREWELL)]);
            let sent = sent.unwrap_or(Some(FAREWELL.len())).unwrap_or(0);
            if let Some(rest) = FAREWELL.get(sent..).filter(|rest| !rest.is_empty()) {
                if self.end_sending_later(rest, patience) {
                    return;
                }
            }
        }
        self.wire.end_sending();
    }

    /// As [`end_sending`](Self::end_sending), but waits for room. Returns false if there was none
    /// before the deadline.
    pub(crate) fn finish_sending(&self, deadline: Deadline) -> bool {
        // A connection that has failed has no peer that waits for the farewell.
        let in_time = !self.change_phase(IDLE, ENDED)
            || !matches!(
                write_all(&self.wire, &FAREWELL, deadline),
                Err(Short::TimedOut { .. })
            );
        self.wire.end_sending();
        in_time
    }

    /// Returns true if a background thread was started that ends the sending direction.
    fn end_sending_later(self: &Arc<Self>, rest: &'static [u8], patience: Duration) -> bool {
        static WAITING: AtomicUsize = AtomicUsize::new(0);

        let line = Arc::clone(self);
        let wait = move || {
            // If the peer reads nothing, it sees a lost connection instead of a proper end.
            let _ = write_all(&line.wire, rest, Deadline::after(patience));
            line.wire.end_sending();
            WAITING.fetch_sub(1, Ordering::Relaxed);
        };
        let has_room = WAITING.fetch_add(1, Ordering::Relaxed) < MOST_WAITING;
        if has_room && jstream_sync::threads::spawn("jstream-farewell", wait).is_ok() {
            return true;
        }
        WAITING.fetch_sub(1, Ordering::Relaxed);
        false
    }
}

impl<W: Wire> Control for StreamSocket<W> {
    fn close(&self) {
        // The phase is set first, because threads that are woken by the end of the socket must see
        // it.
        if self.phase.swap(CLOSED, Ordering::AcqRel) == IDLE {
            // The phase guarantees that no other thread is sending or will begin to.
            let _ = self.wire.try_write(&[IoSlice::new(&FAREWELL)]);
        }
        self.wire.end();
    }

    fn reject(&self) {
        self.phase.store(CLOSED, Ordering::Release);
        self.wire.reset();
    }

    fn is_gone(&self) -> bool {
        has_hung_up(self.wire.fd())
    }
}

impl<W: Wire> Drop for StreamSocket<W> {
    fn drop(&mut self) {
        // If a socket is closed while it has unread data, the kernel resets the connection, and the
        // peer loses data that it has not received yet.
        let mut piece = [MaybeUninit::uninit(); 4096];
        for _ in 0..UNWANTED {
            let read = self
                .wire
                .try_read_last(&mut [MaybeUninitSlice::new(&mut piece)]);
            if !matches!(read, Ok(Some(1..))) {
                break;
            }
        }
    }
}
