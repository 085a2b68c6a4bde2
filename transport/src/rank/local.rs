//! Messages between threads: the sender puts short ones into a queue, and brings all others, and those for which
//! nobody looks, to the other rank's inbox.

use std::io::IoSlice;
use std::sync::{Arc, OnceLock};

use jstream::buffer::Spent;

use super::error::Error;
use super::inbox::Inbox;
use super::letter::{Ack, Letter, Sender};
use super::meet::copied;
use super::names::Status;
use super::node::Node;
use super::queue::{Entry, SHORT};
use super::request::{Outcome, Request};
use super::state::State;
use super::todo::Todo;
use crate::device::connection::Payload;
use crate::device::inproc::letter::INLINE;
use crate::endpoint::ops::OpId;
use crate::matching::{Arrival, Heading};

/// What became of a message that was posted.
pub(super) enum Posted {
    /// It has gone.
    Done,
    /// It has gone, and its jbuf is here.
    Gone(Spent),
    /// This request tells.
    Pending(OpId),
    /// The other rank has ended.
    Refused(Error, Option<Payload>),
}

/// What became of bytes of which a copy was to be left.
pub(super) enum Left {
    Done,
    /// There is no room.
    NoRoom,
    Refused(Error),
}

/// The way to a rank of this process.
pub(super) struct Near {
    pub(super) inbox: Arc<Inbox>,
    /// Made when it is used first. There is none where another rank has it that goes by the same number.
    entry: OnceLock<Option<Entry>>,
}

impl Near {
    pub(super) fn new(inbox: Arc<Inbox>) -> Self {
        Self {
            inbox,
            entry: OnceLock::new(),
        }
    }

    /// Brings bytes to the receive that waits for them, or leaves a copy.
    #[inline]
    pub(super) fn leave_copy(&self, heading: Heading, bytes: &[u8]) -> Left {
        if let Some(entry) = self.entry(&heading) {
            let is_put = if bytes.len() <= INLINE {
                let segments = [IoSlice::new(bytes)];
                entry.put(&heading, |cell, header| cell.put_bytes(header, &segments))
            } else {
                self.put_copy(entry, &heading, bytes)
            };
            if is_put {
                self.look_after(&heading);
                return Left::Done;
            }
        }
        self.inbox.leave_copy(heading, bytes)
    }

    /// Puts bytes into the queue that have no room in a slot.
    fn put_copy(&self, entry: &Entry, heading: &Heading, bytes: &[u8]) -> bool {
        if bytes.len() > SHORT || !entry.is_open() {
            return false;
        }
        let spent = self.inbox.pool().take(bytes.len());
        let Some(copy) = spent.ok().and_then(|spent| spent.copy_from(bytes).ok()) else {
            return false;
        };
        entry.put(heading, |cell, header| cell.put_jbuf(header, copy))
    }

    /// Brings a message, if there is room.
    #[allow(clippy::result_large_err, reason = "the message comes back in it")]
    #[inline]
    fn try_bring(
        &self,
        heading: Heading,
        payload: Payload,
    ) -> Result<(), (Option<Error>, Payload)> {
        let filled = match payload {
            Payload::Bytes(filled) if filled.len() <= SHORT => filled,
            payload => return self.inbox.try_bring(heading, payload),
        };
        let mut left = Some(filled);
        if let Some(entry) = self.entry(&heading) {
            entry.put(&heading, |cell, header| {
                if let Some(filled) = left.take() {
                    cell.put_jbuf(header, filled);
                }
            });
        }
        match left {
            None => {
                self.look_after(&heading);
                Ok(())
            }
            Some(filled) => self.inbox.try_bring(heading, Payload::Bytes(filled)),
        }
    }

    /// The queue, while the other rank looks there.
    #[inline]
    fn entry(&self, heading: &Heading) -> Option<&Entry> {
        // What a rank sends itself is looked for by all who ask whether anything can come.
        let is_own = heading.envelope.source == self.inbox.rank;
        if is_own || !self.inbox.attention.is_given() {
            return None;
        }
        let open = || self.inbox.open_queue(heading.envelope.source);
        self.entry.get_or_init(open).as_ref()
    }

    /// Takes in what was put into the queue, if the other rank may have looked for the last time.
    #[inline]
    fn look_after(&self, heading: &Heading) {
        if !self.inbox.attention.is_still_given() {
            self.inbox.work(heading.envelope.source, |_, _| ());
        }
    }
}

impl Inbox {
    /// Works on the state, for a thread of another rank, behind what is in the queue of that.
    fn work<R>(&self, source: u32, work: impl FnOnce(&mut State, &mut Todo) -> R) -> R {
        let mut todo = Todo::default();
        let mut state = self.lock();
        self.take_in(&mut state, source, &mut todo);
        let result = work(&mut state, &mut todo);
        self.settle(&mut state, source);
        self.leave(state);
        if !todo.is_empty() {
            // A thread's message is neither answered over a connection nor frees room for one.
            self.carry_out(todo, |_| {});
        }
        result
    }

    fn is_closed(&self, state: &State) -> Option<Error> {
        state.closed.then(|| Error::PeerGone {
            rank: self.rank,
            why: Arc::from("it has ended"),
        })
    }

    fn leave_copy(&self, heading: Heading, bytes: &[u8]) -> Left {
        self.work(heading.envelope.source, |state, todo| {
            if let Some(error) = self.is_closed(state) {
                return Left::Refused(error);
            }
            if state.has_backlog(heading.envelope.source) {
                return Left::NoRoom;
            }
            match state.matcher.arrive(heading, Letter::Lost) {
                Ok(Arrival::Matched(matched)) => {
                    self.bring(state, matched.receive, &heading, bytes, todo);
                    Left::Done
                }
                Ok(Arrival::Waits(id)) => {
                    let copy = self.pool().take(bytes.len()).ok();
                    let copy = copy.and_then(|spent| spent.copy_from(bytes).ok());
                    match (copy, state.matcher.message_mut(id)) {
                        (Some(copy), Some(letter)) => {
                            let payload = Payload::Bytes(copy);
                            let ack = Ack::Nobody;
                            *letter = Letter::Here { payload, ack };
                            state.note_arrival();
                            Left::Done
                        }
                        _ => {
                            let _ = state.matcher.withdraw(id);
                            Left::NoRoom
                        }
                    }
                }
                Ok(Arrival::Full(_)) => Left::NoRoom,
                Err(_) => Left::Refused(Error::PeerGone {
                    rank: self.rank,
                    why: Arc::from("it has lost this rank"),
                }),
            }
        })
    }

    pub(super) fn bring(
        &self,
        state: &mut State,
        id: OpId,
        heading: &Heading,
        bytes: &[u8],
        todo: &mut Todo,
    ) {
        if !state.accept(id, heading, todo) {
            return;
        }
        let place = state.requests.get_mut(id);
        let outcome = match place.and_then(|request| request.take_place()) {
            Some(spent) => copied(Status::of(heading), spent, bytes),
            None => match self.pool().take(bytes.len()) {
                Ok(spent) => copied(Status::of(heading), spent, bytes),
                Err(source) => Outcome::failed(Error::NoBuffer {
                    length: heading.length,
                    source,
                }),
            },
        };
        state.complete(id, outcome, todo);
    }

    /// Brings a message, or queues it behind those that had no room.
    pub(super) fn bring_letter(&self, heading: Heading, letter: Letter) -> Result<(), Letter> {
        let source = heading.envelope.source;
        self.work(source, |state, todo| {
            if self.is_closed(state).is_some() {
                return Err(letter);
            }
            let letter = if state.has_backlog(source) {
                letter
            } else {
                match state.arrive(heading, letter, todo) {
                    Ok(()) => return Ok(()),
                    Err(letter) => letter,
                }
            };
            if let Some(peer) = state.peer(source) {
                peer.backlog.push_back((heading, letter));
            }
            state.note_arrival();
            Ok(())
        })
    }

    #[allow(clippy::result_large_err, reason = "the message comes back in it")]
    fn try_bring(
        &self,
        heading: Heading,
        payload: Payload,
    ) -> Result<(), (Option<Error>, Payload)> {
        self.work(heading.envelope.source, |state, todo| {
            if let Some(error) = self.is_closed(state) {
                return Err((Some(error), payload));
            }
            if state.has_backlog(heading.envelope.source) {
                return Err((None, payload));
            }
            let ack = Ack::Nobody;
            match state.arrive(heading, Letter::Here { payload, ack }, todo) {
                Err(Letter::Here { payload, .. }) => Err((None, payload)),
                _ => Ok(()),
            }
        })
    }

    /// Ends the rank: nobody asks it for anything any more. What was in it is to be dropped without its
    /// lock.
    pub(super) fn close(&self) -> impl Sized + use<> {
        let mut state = self.lock();
        state.closed = true;
        self.attention.withdraw();
        let queues = Self::close_queues(&mut state);
        let fresh = crate::matching::Matcher::default();
        let matcher = std::mem::replace(&mut state.matcher, fresh);
        state.forget_wanted();
        let backlogs: Vec<_> = state
            .peers
            .iter_mut()
            .map(|peer| std::mem::take(&mut peer.backlog))
            .collect();
        drop(state);
        (matcher, backlogs, queues)
    }

    /// Tells another rank that this one has ended.
    pub(super) fn end_for(&self, other: &Self) {
        if !std::ptr::eq(self, other) {
            let why = Arc::from("it has ended");
            // What else is to be done is of this rank alone.
            other.work(self.rank, |state, todo| state.lose(self.rank, &why, todo));
        }
    }
}

impl State {
    fn has_backlog(&self, source: u32) -> bool {
        let peer = self.peers.get(source as usize);
        peer.is_some_and(|peer| !peer.backlog.is_empty())
    }
}

impl Node {
    /// A request of a message for `to`.
    pub(super) fn sender(&self, to: u32) -> (OpId, Sender) {
        let request = self.inbox.lock().requests.insert(Request::send(to));
        (request, Sender::new(self.inbox.clone(), request, to))
    }

    /// Moves a message to a thread.
    pub(super) fn post_to_thread(
        &self,
        to: u32,
        near: &Near,
        heading: Heading,
        mut payload: Payload,
        confirmed: bool,
    ) -> Posted {
        if !confirmed {
            payload = match near.try_bring(heading, payload) {
                Ok(()) => return Posted::Done,
                Err((Some(error), payload)) => return Posted::Refused(error, Some(payload)),
                Err((None, payload)) => payload,
            };
        }
        let (request, sender) = self.sender(to);
        let ack = if confirmed {
            Ack::Thread(sender)
        } else {
            Ack::Admitted(sender)
        };
        if let Err(letter) = near
            .inbox
            .bring_letter(heading, Letter::Here { payload, ack })
        {
            // The sender is told by this.
            drop(letter);
        }
        Posted::Pending(request)
    }
}
