//! Queue from one rank of the process to another. Short messages pass through it without the lock
//! of the inbox.
//!
//! A queued message counts as sent. It comes before everything that its rank delivers to the inbox
//! from then on: a sender drains the queue before it delivers to the inbox. Messages are taken out
//! only under the lock.
//!
//! A queue is open while the bounds have room for all that it may contain, and while the backlog of
//! its rank is empty. This keeps the bounds of the inbox, with one exception: if several threads of
//! a rank send while one of them reaches the bounds, the others can exceed them by the contents of
//! one queue.
//!
//! Decision 073 has the reasons.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use jstream::buffer::{EmptyBuffer, MessageBuffer, Pool};

use super::wire::Label;
use jstream_base::Header;
use jstream_device::SlotMessage as Cell;
use jstream_matching::Heading;
use jstream_sync::CacheLines;
use jstream_sync::ring::{Emptier, Filler, Viewer, ring};

/// Number of messages that a queue holds.
pub(super) const SLOTS: usize = 64;

/// Maximum length in bytes of a payload in the queue.
pub(super) const SHORT: usize = 4096;

/// The sending end, which the threads of the sender share.
pub(super) struct Entry {
    filler: Mutex<Filler<Cell>>,
    is_open: Arc<CacheLines<AtomicBool>>,
}

/// The receiving end, which is protected by the lock of the inbox.
pub(super) struct Exit {
    emptier: Emptier<Cell>,
    is_open: Arc<CacheLines<AtomicBool>>,
}

/// The payload of a message that is taken out.
pub(super) enum Content<'c> {
    Bytes(&'c [u8]),
    Jbuf(MessageBuffer),
}

/// Returns both ends, and the view for polling without the lock.
pub(super) fn queue() -> (Entry, Exit, Viewer<Cell>) {
    let (filler, emptier) = ring(SLOTS);
    let is_open = Arc::new(CacheLines(AtomicBool::new(false)));
    let viewer = emptier.viewer();
    let entry = Entry {
        filler: Mutex::new(filler),
        is_open: is_open.clone(),
    };
    (entry, Exit { emptier, is_open }, viewer)
}

impl Entry {
    /// Returns true if the queue is open. A thread that has added a message to the backlog sees it
    /// closed.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open.0.load(Ordering::Relaxed)
    }

    /// Puts a message into the queue. Returns false if it is closed or full, or if another thread
    /// is using it.
    #[inline]
    pub(super) fn put(&self, heading: &Heading, put: impl FnOnce(&mut Cell, &Header)) -> bool {
        if !self.is_open() {
            return false;
        }
        // A sender that finds another thread here delivers to the inbox, which takes no longer than
        // to wait.
        let mut filler = match self.filler.try_lock() {
            Ok(filler) => filler,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let envelope = heading.envelope;
        let descriptor = heading.descriptor.unwrap_or(0);
        let header = Header::new(envelope.context, [envelope.tag, descriptor, 0]);
        filler.fill(|cell| put(cell, &header))
    }
}

impl Exit {
    #[inline]
    pub(super) fn is_filled(&self) -> bool {
        self.emptier.is_filled()
    }

    /// Takes the next message, which `source` has sent, if there is one and it is wanted.
    #[inline]
    pub(super) fn take<R>(
        &mut self,
        source: u32,
        is_wanted: impl FnOnce(&Heading) -> bool,
        take: impl FnOnce(Heading, Content<'_>) -> R,
    ) -> Option<R> {
        let taken = self.emptier.front(|cell| {
            let Header {
                kind,
                words: [tag, descriptor, _],
                length,
                ..
            } = cell.header();
            let label = Label {
                context: kind,
                tag,
                descriptor,
            };
            let heading = label.heading(source, length);
            is_wanted(&heading).then(|| match cell.take_jbuf() {
                Some(filled) => take(heading, Content::Jbuf(filled)),
                None => take(heading, Content::Bytes(cell.bytes().unwrap_or_default())),
            })
        });
        let taken = taken.flatten();
        // Popped after the message was taken, because it was read in its slot.
        if taken.is_some() {
            self.emptier.pop();
        }
        taken
    }
}

impl Exit {
    /// Opens or closes the queue for the threads of the sender.
    #[inline]
    pub(super) fn set_open(&self, is_open: bool) {
        // The cache line stays with the senders unless it changes.
        if self.is_open.0.load(Ordering::Relaxed) != is_open {
            self.is_open.0.store(is_open, Ordering::Relaxed);
        }
    }
}

/// Queues that were closed, with the messages in them.
pub(super) struct Cleared(Vec<Option<Exit>>);

impl Cleared {
    pub(super) fn new(queues: Vec<Option<Exit>>) -> Self {
        Self(queues)
    }
}

impl Drop for Cleared {
    fn drop(&mut self) {
        for queue in self.0.iter_mut().flatten() {
            while queue
                .take(0, |_| true, |_, content| drop(content))
                .is_some()
            {}
        }
    }
}

impl Content<'_> {
    /// Returns the message in a jbuf. Because the message was sent already, a heap buffer is used
    /// if the pool has no room.
    pub(super) fn into_jbuf(self, pool: &Pool) -> MessageBuffer {
        let bytes = match self {
            Self::Jbuf(filled) => return filled,
            Self::Bytes(bytes) => bytes,
        };
        let empty = pool.take(bytes.len());
        let empty = empty.unwrap_or_else(|_| EmptyBuffer::heap(bytes.len()));
        match empty.copy_from(bytes) {
            Ok(filled) => filled,
            Err(_) => unreachable!("the jbuf has room for the bytes"),
        }
    }
}
