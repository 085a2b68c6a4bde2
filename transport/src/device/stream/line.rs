//! What the halves of a connection share.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use socket2::MaybeUninitSlice;

use super::assembly::FAREWELL;
use super::{Wire, write_all};
use crate::device::connection::Control;
use crate::device::deadline::Deadline;
use crate::device::poll::has_hung_up;

/// Nothing is being sent.
const IDLE: u8 = 0;
/// A message was begun: nothing else can be sent before the rest of it.
const SENDING: u8 = 1;
/// We have no more to say.
const ENDED: u8 = 2;
/// Both directions were closed in this program.
const CLOSED: u8 = 3;

/// How many farewells may wait at the same time until their peers read. Answers the threat of peers
/// that never do.
const MOST_WAITING: usize = 16;

/// How much is read, at most, of what came and nobody wants, in pieces of 4 KiB.
const UNWANTED: usize = 256;

/// A stream, and what was said on it.
pub(crate) struct Line<W: Wire> {
    pub(crate) wire: W,
    phase: AtomicU8,
}

impl<W: Wire> Line<W> {
    pub(crate) fn new(wire: W) -> Self {
        Self {
            wire,
            phase: AtomicU8::new(IDLE),
        }
    }

    /// Whether it was closed in this program.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.phase.load(Ordering::Acquire) == CLOSED
    }

    /// Begins a message, unless nothing may be sent.
    #[inline]
    pub(crate) fn begin(&self) -> bool {
        self.turn(IDLE, SENDING)
    }

    /// Nothing of a message is missing, or nothing of it was sent.
    #[inline]
    pub(crate) fn settle(&self) {
        self.turn(SENDING, IDLE);
    }

    #[inline]
    fn turn(&self, from: u8, to: u8) -> bool {
        self.phase
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Says that nothing more comes, behind everything that was sent. It waits for no peer: where
    /// there is no room now, a thread does, no longer than `patience`.
    pub(crate) fn end_sending(self: &Arc<Self>, patience: Duration) {
        // A message that is not complete is not followed by a farewell.
        if self.turn(IDLE, ENDED) {
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

    /// Whether a thread does it.
    fn end_sending_later(self: &Arc<Self>, rest: &'static [u8], patience: Duration) -> bool {
        static WAITING: AtomicUsize = AtomicUsize::new(0);

        let line = Arc::clone(self);
        let wait = move || {
            // If the peer takes nothing, it learns that we are gone, and not that we ended.
            let _ = write_all(&line.wire, rest, Deadline::after(patience));
            line.wire.end_sending();
            WAITING.fetch_sub(1, Ordering::Relaxed);
        };
        if WAITING.fetch_add(1, Ordering::Relaxed) < MOST_WAITING {
            let named = thread::Builder::new().name("jstream-farewell".into());
            if named.spawn(wait).is_ok() {
                return true;
            }
        }
        WAITING.fetch_sub(1, Ordering::Relaxed);
        false
    }
}

impl<W: Wire> Control for Line<W> {
    fn close(&self) {
        // The phase comes first: whoever is woken by the end has to find it.
        if self.phase.swap(CLOSED, Ordering::AcqRel) == IDLE {
            // Nobody else is sending, and nobody is going to.
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

impl<W: Wire> Drop for Line<W> {
    fn drop(&mut self) {
        // A socket that is closed with bytes unread resets the connection, and what the peer has not
        // received yet is lost.
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
