//! Fast path for blocking receives: takes a message that arrives while the receiver is spinning,
//! without allocating a request.
//!
//! A spinning receive is known to the inbox only as a prober that is woken by arrivals. It takes
//! the message from the queue of a thread, if no earlier message is unexpected and no receive is
//! posted, or from the unexpected messages.

use std::sync::atomic::Ordering;

use jstream::buffer::Pool;

use super::arrivals::Unexpected;
use super::error::{ElementName, Error};
use super::failures::add_text;
use super::inbox::{Inbox, InboxGuard};
use super::letter::{Ack, Letter};
use super::matching::refusal;
use super::names::Status;
use super::node::Node;
use super::queue::Content;
use super::state::RankState;
use super::work_queue::DeferredWork;
use jstream_device::connection::Payload;
use jstream_device::deadline::Deadline;
use jstream_endpoint::spin::Spin;
use jstream_matching::{Heading, Pattern};

/// Number of polls of the queues between two pauses of the processor.
const LOOKS: u32 = 16;
/// Number of polls of the queues before the first look into the inbox: as many as take the time
/// in which a message gets from one core to another.
const EARLY_LOOKS: u32 = 64;

/// The destination of a message.
pub(super) enum WantedMessage<'m> {
    /// The front of this memory, if the element type agrees.
    Memory(&'m mut [u8], ElementName),
    /// The form in which the message arrives.
    Payload,
}

/// A message that has arrived.
pub(super) enum ArrivedMessage {
    /// The message was copied to the memory, or the receive has failed.
    Put(Result<Status, Error>),
    Whole(Heading, Payload),
}

/// The result of polling.
enum PollOutcome {
    Came(ArrivedMessage),
    Nothing,
    /// The message needs a request, or none can come.
    Other,
}

impl WantedMessage<'_> {
    #[inline]
    fn take(&mut self, heading: Heading, content: Content<'_>, pool: &Pool) -> ArrivedMessage {
        match (self, content) {
            (Self::Memory(memory, expected), Content::Bytes(bytes)) => {
                let room = memory.get_mut(..bytes.len());
                ArrivedMessage::Put(match room.filter(|_| expected.agrees(heading.descriptor)) {
                    Some(room) => {
                        room.copy_from_slice(bytes);
                        Ok(Status::of(&heading))
                    }
                    None => Err(refused(*expected, memory.len(), &heading, bytes)),
                })
            }
            (_, content) => ArrivedMessage::Whole(heading, Payload::Bytes(content.into_jbuf(pool))),
        }
    }
}

/// Returns the error of a receive whose message does not fit.
#[cold]
fn refused(expected: ElementName, capacity: usize, heading: &Heading, bytes: &[u8]) -> Error {
    match refusal(expected, Some(capacity), heading) {
        Some(error) => add_text(error, heading, bytes),
        None => unreachable!("it does not fit"),
    }
}

impl Node {
    /// Receives a message to its destination, if it arrives while the thread spins, and if this
    /// path can wait for its source. Otherwise, returns the remaining spin budget. `spun` is what
    /// an earlier attempt left of it.
    #[inline]
    pub(super) fn receive_soon(
        &self,
        pattern: &Pattern,
        wanted: &mut WantedMessage<'_>,
        deadline: impl Fn() -> Deadline,
        spun: Option<Spin>,
    ) -> Result<ArrivedMessage, Option<Spin>> {
        let is_for_this = match (pattern.source, &wanted) {
            // The fast path of connections receives directly to the memory.
            (None, WantedMessage::Memory(..)) => !self.has_lines(),
            (Some(rank), WantedMessage::Memory(..)) => self.line(rank).is_none(),
            (_, WantedMessage::Payload) => true,
        };
        if !is_for_this {
            return Err(None);
        }
        let inbox = &*self.inbox;
        // A message that arrives meanwhile is received under one lock. The answer of a rank that
        // has sent at the same time as this one often does.
        let _ = self.has_threads() && (0..EARLY_LOOKS).any(|_| self.has_queued(pattern.source));
        let seen = inbox.epoch();
        match self.look(pattern, wanted, false) {
            PollOutcome::Came(came) => Ok(came),
            PollOutcome::Nothing => self.look_again(pattern, wanted, deadline, seen, spun),
            PollOutcome::Other => Err(None),
        }
    }

    fn look_again(
        &self,
        pattern: &Pattern,
        wanted: &mut WantedMessage<'_>,
        deadline: impl Fn() -> Deadline,
        mut seen: u32,
        spun: Option<Spin>,
    ) -> Result<ArrivedMessage, Option<Spin>> {
        let inbox = &*self.inbox;
        let waits = self.has_lines().then(|| inbox.note_waiting());
        let habit = inbox.habit.load(Ordering::Relaxed);
        let begin = || Spin::begin(inbox.options.spin, habit, Deadline::NEVER);
        let mut spin = spun.unwrap_or_else(begin);
        let result = loop {
            self.drive_lines();
            let is_queued = (0..LOOKS).any(|_| self.has_queued(pattern.source));
            if is_queued || inbox.epoch() != seen {
                seen = inbox.epoch();
                match self.look(pattern, wanted, true) {
                    PollOutcome::Came(came) => {
                        let mut habit = habit;
                        spin.end(&mut habit);
                        inbox.habit.store(habit, Ordering::Relaxed);
                        return Ok(came);
                    }
                    PollOutcome::Nothing => {}
                    PollOutcome::Other => break None,
                }
            } else if self.may_be_over(pattern.context) || !spin.again_until(&deadline) {
                break Some(spin);
            }
        };
        drop(waits);
        inbox.lock().waiters.remove_prober();
        Err(result)
    }

    /// Polls for a message. If there is none, the inbox counts this receive as a prober until a
    /// message arrives; `probing` says that it is counted already.
    #[inline]
    fn look(
        &self,
        pattern: &Pattern,
        wanted: &mut WantedMessage<'_>,
        probing: bool,
    ) -> PollOutcome {
        let inbox = &*self.inbox;
        let mut state = inbox.lock();
        if let Some(source) = pattern.source {
            if let Some(came) = inbox.take_straight(&mut state, source, pattern, wanted) {
                if probing {
                    state.waiters.remove_prober();
                }
                inbox.attend(&state);
                return PollOutcome::Came(came);
            }
        }
        self.look_everywhere(state, pattern, wanted, probing)
    }

    fn look_everywhere<'i>(
        &'i self,
        mut state: InboxGuard<'i>,
        pattern: &Pattern,
        wanted: &mut WantedMessage<'_>,
        probing: bool,
    ) -> PollOutcome {
        let mut deferred = DeferredWork::default();
        let inbox = &*self.inbox;
        let look = inbox.take_fast(&mut state, pattern, wanted, &mut deferred);
        match (&look, probing) {
            (PollOutcome::Came(_), true) => state.waiters.remove_prober(),
            (PollOutcome::Nothing, false) => state.waiters.add_prober(),
            _ => {}
        }
        if matches!(look, PollOutcome::Came(_)) && self.has_threads() {
            inbox.attend(&state);
        }
        state.release();
        if !deferred.is_empty() {
            self.carry_out(deferred);
        }
        look
    }

    /// Returns true if the queue of a rank, or any queue, seems to have a message.
    #[inline]
    fn has_queued(&self, source: Option<u32>) -> bool {
        match source {
            Some(source) => self.inbox.has_queued(source),
            None => self.has_any_queued(),
        }
    }
}

impl Inbox {
    /// Takes a message directly from the queue of a rank, if the matcher is empty.
    #[inline]
    fn take_straight(
        &self,
        state: &mut RankState,
        source: u32,
        pattern: &Pattern,
        wanted: &mut WantedMessage<'_>,
    ) -> Option<ArrivedMessage> {
        if !state.arrivals.is_empty() {
            return None;
        }
        let exit = state.arrivals.queue(source)?;
        match wanted {
            WantedMessage::Memory(memory, expected) => {
                let status = exit.copy_next(source, pattern, expected, memory)?;
                Some(ArrivedMessage::Put(Ok(status)))
            }
            WantedMessage::Payload => {
                let is_wanted = |heading: &Heading| pattern.matches(&heading.envelope);
                exit.take(source, is_wanted, |heading, content: Content<'_>| {
                    wanted.take(heading, content, self.pool())
                })
            }
        }
    }

    fn take_fast(
        &self,
        state: &mut RankState,
        pattern: &Pattern,
        wanted: &mut WantedMessage<'_>,
        deferred: &mut DeferredWork,
    ) -> PollOutcome {
        match take_unexpected(state, pattern, deferred) {
            PollOutcome::Nothing => {}
            found => return found,
        }
        if state.arrivals.has_stalled() {
            // Messages of stalled sources are admitted only by a posted receive.
            return PollOutcome::Other;
        }
        match pattern.source {
            Some(source) => {
                let look = self.take_queued(state, source, pattern, wanted, deferred);
                if matches!(look, PollOutcome::Nothing) && state.peers.is_gone(source) {
                    return PollOutcome::Other;
                }
                look
            }
            None => {
                for source in state.arrivals.polling_order() {
                    match self.take_queued(state, source, pattern, wanted, deferred) {
                        PollOutcome::Nothing => {}
                        found => {
                            state.arrivals.poll_after(source);
                            return found;
                        }
                    }
                }
                if state.peers.is_alone_in(pattern.context, &state.contexts) {
                    return PollOutcome::Other;
                }
                PollOutcome::Nothing
            }
        }
    }

    /// Takes a message from the queue of a rank, if no unexpected message matches.
    #[inline]
    fn take_queued(
        &self,
        state: &mut RankState,
        source: u32,
        pattern: &Pattern,
        wanted: &mut WantedMessage<'_>,
        deferred: &mut DeferredWork,
    ) -> PollOutcome {
        let is_first = !state.arrivals.has_posted();
        let Some(exit) = state.arrivals.queue(source) else {
            return PollOutcome::Nothing;
        };
        if is_first {
            let is_wanted = |heading: &Heading| pattern.matches(&heading.envelope);
            let take = |heading, content: Content<'_>| wanted.take(heading, content, self.pool());
            if let Some(came) = exit.take(source, is_wanted, take) {
                return PollOutcome::Came(came);
            }
        }
        if !exit.is_filled() {
            return PollOutcome::Nothing;
        }
        state.drain_queue(source, deferred);
        take_unexpected(state, pattern, deferred)
    }
}

/// Takes an unexpected message that needs no acknowledgement.
#[inline]
fn take_unexpected(
    state: &mut RankState,
    pattern: &Pattern,
    deferred: &mut DeferredWork,
) -> PollOutcome {
    let is_simple = |letter: &Letter| {
        matches!(
            letter,
            Letter::Here {
                ack: Ack::Nobody,
                ..
            }
        )
    };
    match state.arrivals.take_unexpected(pattern, is_simple) {
        Unexpected::Taken(heading, Letter::Here { payload, .. }) => {
            state.release_credit(heading.envelope.source, heading.held, deferred);
            state.admit_backlogs(deferred);
            PollOutcome::Came(ArrivedMessage::Whole(heading, payload))
        }
        Unexpected::Taken(..) | Unexpected::Busy => PollOutcome::Other,
        Unexpected::None => PollOutcome::Nothing,
    }
}
