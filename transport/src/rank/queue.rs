//! The queue from one rank of the process to another: short messages go through it past the lock of the inbox.
//!
//! A message in it has been sent, and comes before all that its rank brings to the inbox itself from then on: who
//! brings something takes in first what is in the queue. Nobody takes anything out without the lock.
//!
//! The queue is open while there is room for all that may be in it, and while no message of its rank waits for
//! room. So the bounds of the inbox are kept, but for a queue of what several threads of a rank send while one of
//! them reaches these.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use jstream::buffer::{Filled, Pool, Spent};

use super::error::ElementName;
use super::inbox::Inbox;
use super::letter::{Ack, Letter};
use super::names::Status;
use super::state::{Peer, State};
use super::todo::Todo;
use super::wire::Label;
use crate::device::connection::Payload;
use crate::device::inproc::letter::Letter as Cell;
use crate::device::inproc::ring::{Emptier, Filler, Viewer, ring};
use crate::header::Header;
use crate::matching::{Arrival, Heading, Matched, Pattern};

/// How many messages a queue holds.
const SLOTS: usize = 64;

/// Payloads of up to so many bytes go through it.
pub(super) const SHORT: usize = 4096;

/// The end that the threads of the sender have.
pub(super) struct Entry {
    filler: Mutex<Filler<Cell>>,
    is_open: Arc<AtomicBool>,
}

/// The end of the receiver, under the lock of its inbox.
pub(super) struct Exit {
    emptier: Emptier<Cell>,
    is_open: Arc<AtomicBool>,
}

/// A message that is taken out.
pub(super) enum Content<'c> {
    Bytes(&'c [u8]),
    Jbuf(Filled),
}

/// Both ends, and who looks without the lock.
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
    /// Who has made a message of its rank wait for room knows that the queue is closed.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Puts a message into the queue, if that is open, has room, and no other thread is at it.
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

    /// Takes the next message, which is of `source`, to the front of `memory`, if it stands in its slot, is wanted,
    /// and fits.
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

    /// Takes the next message, which is of `source`, if it is there and wanted.
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
    /// The message in a jbuf. It was sent already: where the pool has none, there is another one.
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
    /// A queue for the messages of a rank, which has it alone. `None` if there is one already.
    #[cold]
    pub(super) fn open_queue(&self, source: u32) -> Option<Entry> {
        let mut state = self.lock();
        let peer = state.peer(source).filter(|peer| peer.exit.is_none())?;
        let (entry, exit, viewer) = queue();
        // Nobody has looked for one while there was none.
        let _ = self.views.get(source as usize)?.set(viewer);
        peer.exit = Some(exit);
        self.settle(&mut state, source);
        Some(entry)
    }

    /// Whether something of a rank seems to be in its queue.
    #[inline]
    pub(super) fn has_queued(&self, source: u32) -> bool {
        let view = self.views.get(source as usize);
        view.and_then(|view| view.get())
            .is_some_and(|view| view.is_filled())
    }

    /// Takes in what is in the queue of a rank.
    #[inline]
    pub(super) fn take_in(&self, state: &mut State, source: u32, todo: &mut Todo) {
        let exit = state.peer(source).map(|peer| &mut peer.exit);
        if let Some(exit) = exit.and_then(|exit| exit.take_if(|exit| exit.is_filled())) {
            self.take_all(state, source, exit, todo);
        }
    }

    /// Takes in what is in all queues.
    pub(super) fn take_in_all(&self, state: &mut State, todo: &mut Todo) {
        for source in 0..self.size {
            self.take_in(state, source, todo);
        }
    }

    fn take_all(&self, state: &mut State, source: u32, mut exit: Exit, todo: &mut Todo) {
        let all = |_: &Heading| true;
        while exit
            .take(source, all, |heading, content| {
                self.admit(state, heading, content, todo);
            })
            .is_some()
        {}
        if let Some(peer) = state.peer(source) {
            peer.exit = Some(exit);
        }
        self.settle(state, source);
    }

    /// Takes a message that was sent, to the receive that waits for it, or to those that wait.
    fn admit(&self, state: &mut State, heading: Heading, content: Content<'_>, todo: &mut Todo) {
        match state.matcher.arrive_beyond(heading, Letter::Lost) {
            Ok(Arrival::Matched(Matched { receive, .. })) => match content {
                Content::Bytes(bytes) => self.bring(state, receive, &heading, bytes, todo),
                Content::Jbuf(filled) => {
                    let payload = Payload::Bytes(filled);
                    if state.accept(receive, &heading, todo) {
                        state.hand_over(receive, &heading, payload, todo);
                    } else {
                        todo.drop_later(payload);
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
            Ok(Arrival::Full(_)) => unreachable!("it is let in beyond the bounds"),
            // Of a rank that has ended, whoever ended it.
            Err(_) => {
                if let Content::Jbuf(filled) = content {
                    todo.drop_later(Payload::Bytes(filled));
                }
            }
        }
    }

    /// Opens or closes the queue of a rank, by how much of it waits here. To be called after the last thing that
    /// is done for a rank.
    #[inline]
    pub(super) fn settle(&self, state: &mut State, source: u32) {
        let State { matcher, peers, .. } = state;
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
        // What is in the queue now, and what comes until it is looked at next.
        let messages = messages.saturating_add(2 * SLOTS);
        let bytes = bytes.saturating_add((2 * SLOTS * SHORT) as u64);
        let is_open = backlog.is_empty() && messages <= bounds.messages && bytes <= bounds.bytes;
        if exit.is_open.load(Ordering::Relaxed) != is_open {
            exit.is_open.store(is_open, Ordering::Relaxed);
        }
    }

    /// Ends a queue. What is in it is to be dropped without the lock.
    pub(super) fn close_queues(state: &mut State) -> impl Sized + use<> {
        let exits = state.peers.iter_mut().filter_map(|peer| peer.exit.take());
        Cleared(exits.collect())
    }
}

/// Queues that nobody takes anything from any more.
struct Cleared(Vec<Exit>);

impl Drop for Cleared {
    fn drop(&mut self) {
        for exit in &mut self.0 {
            while exit.take(0, |_| true, |_, content| drop(content)).is_some() {}
        }
    }
}
