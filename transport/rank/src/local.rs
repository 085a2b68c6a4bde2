//! Messages between threads. The sender puts a short message into a queue if the receiver polls it;
//! otherwise, the sender delivers the message to the inbox of the receiver.
//!
//! Decision 073 has the reasons.

use std::io::IoSlice;
use std::sync::{Arc, OnceLock};

use jstream::buffer::EmptyBuffer;

use super::error::Error;
use super::inbox::Inbox;
use super::queue::{Entry, SHORT};
use super::state::RankState;
use super::transfer::letter::{Leaving, Letter, LetterAnswer};
use super::work_queue::DeferredWork;
use jstream_device::INLINE;
use jstream_device::connection::Payload;
use jstream_endpoint::ops::OpId;
use jstream_matching::Heading;

/// The result of posting a message.
pub(super) enum PostOutcome {
    /// The message was sent.
    Done,
    /// The message was sent, and its jbuf is returned.
    Gone(EmptyBuffer),
    /// The message has this request, which reports its outcome.
    Pending(OpId),
    /// The message was refused, because the other rank has ended.
    Refused(Error, Option<Payload>),
}

/// The result of delivering a copy of bytes.
pub(super) enum Left {
    Done,
    /// No room at the receiver.
    NoRoom,
    Refused(Error),
}

/// The path to a rank of this process.
pub(super) struct Near {
    pub(super) inbox: Arc<Inbox>,
    /// The rank of the inbox. The inbox's own field shares cache lines with those that its rank
    /// changes for each message.
    rank: u32,
    /// Maximum length in bytes of a message for which the other rank allocates memory.
    pub(super) max_allocated: u64,
    /// The sending end of the queue, opened on first use. `None` if another rank of the same number
    /// has opened it.
    entry: OnceLock<Option<Entry>>,
}

impl Near {
    pub(super) fn new(inbox: Arc<Inbox>) -> Self {
        Self {
            rank: inbox.rank,
            max_allocated: inbox.max_allocated,
            inbox,
            entry: OnceLock::new(),
        }
    }

    /// Delivers bytes to the receive that waits for them, or queues a copy.
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
                // The receiver may have gone to sleep between the check in `entry` and the put.
                self.look_after(&heading);
                return Left::Done;
            }
        }
        self.inbox.leave_copy(heading, bytes)
    }

    /// Puts bytes into the queue that are too long for a slot.
    fn put_copy(&self, entry: &Entry, heading: &Heading, bytes: &[u8]) -> bool {
        // Checked before the copy is made. `put` checks again.
        if bytes.len() > SHORT || !entry.is_open() {
            return false;
        }
        let empty = self.inbox.pool().take(bytes.len());
        let Some(copy) = empty.ok().and_then(|empty| empty.copy_from(bytes).ok()) else {
            return false;
        };
        entry.put(heading, |cell, header| cell.put_jbuf(header, copy))
    }

    /// Delivers a message if there is room.
    #[allow(clippy::result_large_err, reason = "the message comes back in it")]
    #[inline]
    pub(super) fn try_bring(
        &self,
        heading: Heading,
        payload: Payload,
    ) -> Result<(), (Option<Error>, Payload)> {
        let filled = match payload {
            Payload::Bytes(filled) if filled.len() <= SHORT => filled,
            payload => return self.inbox.try_bring(heading, payload),
        };
        // The closure runs only if there is room in the queue. Otherwise the buffer is still here.
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

    /// Returns the sending end of the queue while the receiver polls it.
    #[inline]
    fn entry(&self, heading: &Heading) -> Option<&Entry> {
        // A rank's messages to itself are never queued: calls that check whether any message can
        // come look in the matcher only.
        let is_own = heading.envelope.source == self.rank;
        if is_own || !self.inbox.attention.is_given() {
            return None;
        }
        let open = || self.inbox.open_queue(heading.envelope.source);
        // Opened by the first message, because most pairs of a large world never exchange one.
        self.entry.get_or_init(open).as_ref()
    }

    /// Drains the queue if the receiver may have polled it for the last time.
    #[inline]
    fn look_after(&self, heading: &Heading) {
        if !self.inbox.attention.is_given_after_fence() {
            self.inbox.work(heading.envelope.source, |_, _| ());
        }
    }
}

impl Inbox {
    /// Runs `work` on the state for a thread of rank `source`, after draining the queue of that
    /// rank.
    pub(super) fn work<R>(
        &self,
        source: u32,
        work: impl FnOnce(&mut RankState, &mut DeferredWork) -> R,
    ) -> R {
        let mut deferred = DeferredWork::default();
        let mut state = self.lock();
        // Messages in the queue were sent before this one, and must not be overtaken.
        state.drain_queue(source, &mut deferred);
        let result = work(&mut state, &mut deferred);
        // The call may have used up the room on which senders rely who do not take the lock.
        state.arrivals.update_queue(source);
        state.release();
        if !deferred.is_empty() {
            // This thread belongs to another rank and must not use the connections of this one.
            self.carry_out(deferred, |task| self.defer_frame(task));
        }
        result
    }

    fn is_closed(&self, state: &RankState) -> Option<Error> {
        state.is_closed().then(|| Error::PeerGone {
            rank: self.rank,
            reason: Arc::from("it has ended"),
        })
    }

    fn leave_copy(&self, heading: Heading, bytes: &[u8]) -> Left {
        self.work(heading.envelope.source, |state, deferred| {
            if let Some(error) = self.is_closed(state) {
                return Left::Refused(error);
            }
            if state.is_dropped(&heading, deferred) {
                return Left::Done;
            }
            // Messages of this rank already wait for room, and come first.
            if state.arrivals.has_backlog(heading.envelope.source) {
                return Left::NoRoom;
            }
            match state.arrivals.match_receive(&heading) {
                Ok(Some(receive)) => {
                    state.deliver_bytes(receive, &heading, bytes, deferred);
                    Left::Done
                }
                Ok(None) => {
                    // Copied only if no receive takes the bytes.
                    let copy = self.pool().take(bytes.len()).ok();
                    let copy = copy.and_then(|empty| empty.copy_from(bytes).ok());
                    let Some(copy) = copy else {
                        return Left::NoRoom;
                    };
                    let letter = Letter::whole(Payload::Bytes(copy));
                    match state.arrivals.push(heading, letter) {
                        Ok(_) => {
                            state.waiters.notify_of_arrival();
                            Left::Done
                        }
                        Err(letter) => {
                            deferred.drop_later(letter);
                            Left::NoRoom
                        }
                    }
                }
                Err(_) => Left::Refused(Error::PeerGone {
                    rank: self.rank,
                    reason: Arc::from("it has lost this rank"),
                }),
            }
        })
    }

    /// Delivers a message, or adds it to the backlog of messages without room.
    pub(super) fn bring_letter(&self, heading: Heading, letter: Letter) -> Result<(), Letter> {
        let source = heading.envelope.source;
        self.work(source, |state, deferred| {
            if self.is_closed(state).is_some() {
                // Dropping the letter notifies its sender, for which the lock of this inbox must
                // not be held. The caller drops it.
                return Err(letter);
            }
            let letter = if state.arrivals.has_backlog(source) {
                letter
            } else {
                match state.arrive(heading, letter, deferred) {
                    Ok(()) => return Ok(()),
                    Err(letter) => letter,
                }
            };
            state.arrivals.push_backlog(source, heading, letter);
            // A posted receive that matches it lets it in, so threads that only look for messages
            // have to post one.
            state.waiters.notify_of_arrival();
            Ok(())
        })
    }

    #[allow(clippy::result_large_err, reason = "the message comes back in it")]
    fn try_bring(
        &self,
        heading: Heading,
        payload: Payload,
    ) -> Result<(), (Option<Error>, Payload)> {
        self.work(heading.envelope.source, |state, deferred| {
            if let Some(error) = self.is_closed(state) {
                return Err((Some(error), payload));
            }
            if state.arrivals.has_backlog(heading.envelope.source) {
                return Err((None, payload));
            }
            match state.arrive(heading, Letter::whole(payload), deferred) {
                Ok(()) => Ok(()),
                Err(letter) => letter
                    .into_payload()
                    .map_or(Ok(()), |payload| Err((None, payload))),
            }
        })
    }

    /// Closes the inbox at the end of its rank. The caller must drop the result without holding the
    /// lock.
    pub(super) fn close(&self) -> impl Sized + use<> {
        let mut state = self.lock();
        // Senders come to the inbox from here on, and are refused there.
        self.attention.withdraw();
        state.close()
    }

    /// Removes the message of a send request of a rank, unless a receive has it.
    fn remove_letter(&self, source: u32, request: OpId) -> Option<Letter> {
        let mut deferred = DeferredWork::default();
        let mut state = self.lock();
        let (letter, is_next_ready) = state.arrivals.remove_letter(source, request)?;
        if is_next_ready {
            state.admit_backlog(source, &mut deferred);
        }
        // Other sources may have room now.
        state.admit_backlogs(&mut deferred);
        drop(state);
        self.carry_out(deferred, |_| {});
        Some(letter)
    }

    /// Withdraws the message of a send request of a rank. A message that was matched or probed is
    /// left to end regularly. Called without a lock, because cancelling locks the inbox of the
    /// sender.
    pub(super) fn withdraw(&self, source: u32, request: OpId) {
        let Some(letter) = self.remove_letter(source, request) else {
            return;
        };
        let cancelled = Leaving::Unwanted(Some(Error::Cancelled));
        if let (LetterAnswer::Fail(sender, payload, error), _) = letter.leave(cancelled) {
            sender.fail(payload, error);
        }
    }

    /// Notifies another rank that this one has ended.
    pub(super) fn end_for(&self, other: &Self) {
        if !std::ptr::eq(self, other) {
            let reason = Arc::from("it has ended");
            // The other recorded work concerns only this rank.
            other.work(self.rank, |state, deferred| {
                state.lose(self.rank, &reason, deferred)
            });
        }
    }
}
