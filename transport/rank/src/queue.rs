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

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use jstream::buffer::{Filled, Pool, Spent};

use super::error::ElementName;
use super::inbox::Inbox;
use super::letter::{Ack, Letter};
use super::names::Status;
use super::state::{Peer, RankState};
use super::wire::Label;
use super::work_queue::DeferredWork;
use jstream_base::Header;
use jstream_device::SlotMessage as Cell;
use jstream_device::connection::Payload;
use jstream_matching::{Arrival, Heading, Matched, Pattern};
use jstream_sync::ring::{Emptier, Filler, Viewer, ring};

/// Number of messages that a queue holds.
const SLOTS: usize = 64;

/// Maximum length in bytes of a payload in the queue.
pub(super) const SHORT: usize = 4096;

/// The sending end, which the threads of the sender share.
pub(super) struct Entry {
    filler: Mutex<Filler<Cell>>,
    is_open: Arc<AtomicBool>,
}

/// The receiving end, which is protected by the lock of the inbox.
pub(super) struct Exit {
    emptier: Emptier<Cell>,
    is_open: Arc<AtomicBool>,
}

/// The payload of a message that is taken out.
pub(super) enum Content<'c> {
    Bytes(&'c [u8]),
    Jbuf(Filled),
}

/// Returns both ends, and the view for polling without the lock.
fn queue() -> (Entry, Exit, Viewer<Cell>) {
    let (filler, emptier) = ring(SLOTS);
    let is_open = Arc::new(AtomicBool::new(false));
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
        self.is_open.load(Ordering::Relaxed)
    }

    /// Puts a message into the queue. Returns false if it is closed or full, or if another thread
    /// is using it.
    #[inline]
    pub(super) fn put(&self, heading: &Heading, put: impl FnOnce(&mut Cell, &Header)) -> bool {
        if !self.is_open() {
            return false;
        }
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

    /// Takes the next message, which `source` has sent, to the front of `memory`, if its bytes are
    /// in the slot, the pattern matches, and it fits.
    #[inline]
    pub(super) fn copy_next(
        &mut self,
        source: u32,
        pattern: &Pattern,
        expected: &ElementName,
        memory: &mut [u8],
    ) -> Option<Status> {
        let status = self.emptier.front(|cell| {
            let bytes = cell.bytes()?;
            let Header {
                kind,
                words: [tag, descriptor, _],
                ..
            } = cell.header();
            let is_wanted = kind == pattern.context
                && pattern.tag.is_none_or(|wanted| wanted == tag)
                && expected.agrees(Some(descriptor));
            let room = memory.get_mut(..bytes.len()).filter(|_| is_wanted)?;
            room.copy_from_slice(bytes);
            let bytes = bytes.len() as u64;
            Some(Status { source, tag, bytes })
        });
        let status = status.flatten()?;
        self.emptier.pop();
        Some(status)
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
        if taken.is_some() {
            self.emptier.pop();
        }
        taken
    }
}

impl Content<'_> {
    /// Returns the message in a jbuf. Because the message was sent already, a heap buffer is used
    /// if the pool has no room.
    pub(super) fn into_jbuf(self, pool: &Pool) -> Filled {
        let bytes = match self {
            Self::Jbuf(filled) => return filled,
            Self::Bytes(bytes) => bytes,
        };
        let spent = pool.take(bytes.len());
        let spent = spent.unwrap_or_else(|_| Spent::heap(bytes.len()));
        match spent.copy_from(bytes) {
            Ok(filled) => filled,
            Err(_) => unreachable!("the jbuf has room for the bytes"),
        }
    }
}

impl Inbox {
    /// Opens the queue for messages of a rank. `None` if it has one already.
    #[cold]
    pub(super) fn open_queue(&self, source: u32) -> Option<Entry> {
        let mut state = self.lock();
        let peer = state.peer(source).filter(|peer| peer.exit.is_none())?;
        let (entry, exit, viewer) = queue();
        // The view is set only here, once, because there was no queue before.
        let _ = self.views.get(source as usize)?.set(viewer);
        peer.exit = Some(exit);
        self.settle(&mut state, source);
        Some(entry)
    }

    /// Returns true if the queue of a rank seems to have a message.
    #[inline]
    pub(super) fn has_queued(&self, source: u32) -> bool {
        let view = self.views.get(source as usize);
        view.and_then(|view| view.get())
            .is_some_and(|view| view.is_filled())
    }

    /// Drains the queue of a rank.
    #[inline]
    pub(super) fn take_in(&self, state: &mut RankState, source: u32, deferred: &mut DeferredWork) {
        let exit = state.peer(source).map(|peer| &mut peer.exit);
        if let Some(exit) = exit.and_then(|exit| exit.take_if(|exit| exit.is_filled())) {
            self.take_all(state, source, exit, deferred);
        }
    }

    /// Drains all queues.
    pub(super) fn take_in_all(&self, state: &mut RankState, deferred: &mut DeferredWork) {
        for source in 0..self.size {
            self.take_in(state, source, deferred);
        }
    }

    fn take_all(
        &self,
        state: &mut RankState,
        source: u32,
        mut exit: Exit,
        deferred: &mut DeferredWork,
    ) {
        let all = |_: &Heading| true;
        while exit
            .take(source, all, |heading, content| {
                self.admit(state, heading, content, deferred);
            })
            .is_some()
        {}
        if let Some(peer) = state.peer(source) {
            peer.exit = Some(exit);
        }
        self.settle(state, source);
    }

    /// Gives a message that was sent already to the receive that matches it, or adds it to the
    /// unexpected messages.
    fn admit(
        &self,
        state: &mut RankState,
        heading: Heading,
        content: Content<'_>,
        deferred: &mut DeferredWork,
    ) {
        match state.matcher.arrive_beyond(heading, Letter::Lost) {
            Ok(Arrival::Matched(Matched { receive, .. })) => match content {
                Content::Bytes(bytes) => self.bring(state, receive, &heading, bytes, deferred),
                Content::Jbuf(filled) => {
                    let payload = Payload::Bytes(filled);
                    if state.accept(receive, &heading, deferred) {
                        state.hand_over(receive, &heading, payload, deferred);
                    } else {
                        deferred.drop_later(payload);
                    }
                }
            },
            Ok(Arrival::Waits(id)) => {
                let payload = Payload::Bytes(content.into_jbuf(self.pool()));
                let ack = Ack::Nobody;
                if let Some(letter) = state.matcher.message_mut(id) {
                    *letter = Letter::Here { payload, ack };
                }
                state.note_arrival();
            }
            Ok(Arrival::Full(_)) => unreachable!("the bounds do not apply to queued messages"),
            // The rank has ended.
            Err(_) => {
                if let Content::Jbuf(filled) = content {
                    deferred.drop_later(Payload::Bytes(filled));
                }
            }
        }
    }

    /// Opens or closes the queue of a rank, depending on how many of its messages are unexpected.
    /// Must be called after the last change to the state of a rank.
    #[inline]
    pub(super) fn settle(&self, state: &mut RankState, source: u32) {
        let RankState { matcher, peers, .. } = state;
        let Some(Peer {
            exit: Some(exit),
            backlog,
            ..
        }) = peers.get(source as usize)
        else {
            return;
        };
        let (messages, bytes) = matcher.held(source).unwrap_or((usize::MAX, 0));
        let bounds = self.options.bounds;
        // Messages that are in the queue now, and those that may arrive before it is drained next.
        let messages = messages.saturating_add(2 * SLOTS);
        let bytes = bytes.saturating_add((2 * SLOTS * SHORT) as u64);
        let is_open = backlog.is_empty() && messages <= bounds.messages && bytes <= bounds.bytes;
        if exit.is_open.load(Ordering::Relaxed) != is_open {
            exit.is_open.store(is_open, Ordering::Relaxed);
        }
    }

    /// Closes all queues. The caller must drop the result without holding the lock.
    pub(super) fn close_queues(state: &mut RankState) -> impl Sized + use<> {
        let exits = state.peers.iter_mut().filter_map(|peer| peer.exit.take());
        Cleared(exits.collect())
    }
}

/// Queues that were closed, with the messages in them.
struct Cleared(Vec<Exit>);

impl Drop for Cleared {
    fn drop(&mut self) {
        for exit in &mut self.0 {
            while exit.take(0, |_| true, |_, content| drop(content)).is_some() {}
        }
    }
}
