//! Blocking receives.
//!
//! A blocking receive first tries the fast path ([`Node::receive_early`]): a message that has
//! arrived, or that arrives while the thread spins, is taken without a request. Over a connection,
//! it goes directly to the memory of the receive, bypassing the matcher. Otherwise, the receive is
//! posted, and the thread waits for its request with what is left of its spin budget.

use std::cell::LazyCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{MessageBuffer, Pool};
use jstream::{Received, Transportable, Writer};

use super::arrivals::Unexpected;
use super::communicator::Members;
use super::error::{ElementName, Error};
use super::failures::{add_text, is_notice};
use super::inbox::InboxGuard;
use super::lent_memory::{AbortOnUnwind, jbuf_of, received};
use super::line::Line;
use super::matching::{over_limit, refusal};
use super::names::Status;
use super::node::Node;
use super::progress;
use super::queue::Content;
use super::request::ReceiveTarget;
use super::requests::Pending;
use super::state::RankState;
use super::transfer::letter::Letter;
use super::wire::Frame;
use super::work_queue::DeferredWork;
use jstream_base::Header;
use jstream_device::connection::Payload;
use jstream_device::deadline::Deadline;
use jstream_endpoint::spin::Spin;
use jstream_matching::{Claim, Envelope, Heading, Pattern};

/// Number of polls of the queues between two pauses of the processor.
const POLLS: u32 = 16;
/// Number of polls of the queues before the first look into the inbox: as many as take the time
/// in which a message gets from one core to another.
const EARLY_POLLS: u32 = 64;
/// Maximum length in bytes of a message that is received from a connection directly into a jbuf:
/// the capacity of the smallest jbufs of a pool.
const SHORT_BUFFER: usize = 256;

/// The message to receive.
pub(super) enum Wanted {
    Pattern(Pattern),
    Claim(Claim),
}

/// The destination of a message on the fast path.
enum EarlyTarget<'m> {
    /// The front of this memory, if the element type agrees.
    Memory(&'m mut [u8], ElementName),
    /// The form in which the message arrives.
    Payload,
}

/// A message on the fast path.
enum EarlyMessage {
    /// The message was copied to the memory, or the receive has failed.
    Copied(Result<Status, Error>),
    Whole(Heading, Payload),
}

/// The result of polling on the fast path.
enum Poll {
    Arrived(EarlyMessage),
    Nothing,
    /// The message needs a request, or none can come.
    NeedsRequest,
}

impl EarlyTarget<'_> {
    /// Takes a message of a queue.
    #[inline]
    fn take(&mut self, heading: Heading, content: Content<'_>, pool: &Pool) -> EarlyMessage {
        match (self, content) {
            (Self::Memory(memory, expected), Content::Bytes(bytes)) => {
                let room = memory.get_mut(..bytes.len());
                EarlyMessage::Copied(match room.filter(|_| expected.agrees(heading.descriptor)) {
                    Some(room) => {
                        room.copy_from_slice(bytes);
                        Ok(Status::from_heading(&heading))
                    }
                    None => Err(refused(*expected, memory.len(), &heading, bytes)),
                })
            }
            (_, content) => EarlyMessage::Whole(heading, Payload::Bytes(content.into_jbuf(pool))),
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

/// Takes an unexpected message that needs no acknowledgement.
#[inline]
fn take_unexpected(state: &mut RankState, pattern: &Pattern, deferred: &mut DeferredWork) -> Poll {
    match state.arrivals.take_unexpected(pattern, Letter::is_plain) {
        Unexpected::Taken(heading, letter) => match letter.into_payload() {
            Some(payload) => {
                state.release_credit(heading.envelope.source, heading.held, deferred);
                state.admit_backlogs(deferred);
                Poll::Arrived(EarlyMessage::Whole(heading, payload))
            }
            None => unreachable!("a plain letter has its payload"),
        },
        Unexpected::Busy => Poll::NeedsRequest,
        Unexpected::None => Poll::Nothing,
    }
}

/// Takes a message from the queue of a rank, if no unexpected message matches.
#[inline]
fn take_queued(
    state: &mut RankState,
    source: u32,
    pattern: &Pattern,
    target: &mut EarlyTarget<'_>,
    deferred: &mut DeferredWork,
) -> Poll {
    let RankState { arrivals, pool, .. } = state;
    // A receive that was posted before may match the message, and then has to get it.
    let is_first = !arrivals.has_posted();
    let Some(queue) = arrivals.queue(source).filter(|queue| queue.is_filled()) else {
        return Poll::Nothing;
    };
    if is_first {
        let is_wanted = |heading: &Heading| {
            // A notice of a failure looks like a message of the operation, and must take effect
            // instead of being received.
            pattern.matches(&heading.envelope) && !heading.descriptor.is_some_and(is_notice)
        };
        let take = |heading, content: Content<'_>| target.take(heading, content, pool);
        if let Some(message) = queue.take(source, is_wanted, take) {
            return Poll::Arrived(message);
        }
    }
    // The first message of the queue is another one. All are moved to the matcher, where any of
    // them can be found.
    state.drain_queue(source, deferred);
    take_unexpected(state, pattern, deferred)
}

/// Takes a message that needs no request, from the unexpected messages or from a queue.
#[inline]
fn take_arrived(
    state: &mut RankState,
    pattern: &Pattern,
    target: &mut EarlyTarget<'_>,
    deferred: &mut DeferredWork,
) -> Poll {
    match take_unexpected(state, pattern, deferred) {
        Poll::Nothing => {}
        found => return found,
    }
    if state.arrivals.has_stalled() {
        // Messages of stalled sources are admitted only by a posted receive.
        return Poll::NeedsRequest;
    }
    if let Some(source) = pattern.source {
        let poll = take_queued(state, source, pattern, target, deferred);
        let is_hopeless = matches!(poll, Poll::Nothing) && state.peers.is_gone(source);
        return if is_hopeless {
            Poll::NeedsRequest
        } else {
            poll
        };
    }
    for source in state.arrivals.polling_order() {
        match take_queued(state, source, pattern, target, deferred) {
            Poll::Nothing => {}
            found => {
                state.arrivals.poll_after(source);
                return found;
            }
        }
    }
    if state.peers.is_alone_in(pattern.context, &state.contexts) {
        return Poll::NeedsRequest;
    }
    Poll::Nothing
}

impl Node {
    /// Blocks until a message arrives and copies it to the front of `memory`. If a message has
    /// begun to arrive when the time is over, the call waits for the rest of it.
    #[inline]
    pub(super) fn receive_bytes(
        &self,
        pattern: Pattern,
        expected: ElementName,
        memory: &mut [u8],
        timeout: Option<Duration>,
    ) -> Result<Status, Error> {
        self.receive_within(pattern, expected, memory, timeout, None)
    }

    /// Like [`receive_bytes`](Self::receive_bytes). If the rest of a message takes too long, the
    /// connection to its source ends.
    #[inline]
    pub(super) fn receive_in_time(
        &self,
        pattern: Pattern,
        expected: ElementName,
        memory: &mut [u8],
        timeout: Duration,
    ) -> Result<Status, Error> {
        self.receive_within(pattern, expected, memory, Some(timeout), pattern.source)
    }

    #[inline]
    fn receive_within(
        &self,
        pattern: Pattern,
        expected: ElementName,
        memory: &mut [u8],
        timeout: Option<Duration>,
        severed: Option<u32>,
    ) -> Result<Status, Error> {
        self.check(pattern.context)?;
        // The deadline reads the clock, which a message that arrives early does not need.
        let until = LazyCell::new(|| timeout.map_or(Deadline::NEVER, Deadline::after));
        let mut target = EarlyTarget::Memory(&mut *memory, expected);
        let spun = match self.receive_early(&pattern, &mut target, || *until) {
            Ok(EarlyMessage::Copied(result)) => return result,
            Ok(EarlyMessage::Whole(heading, payload)) => {
                return self.put_checked(&heading, payload, expected, memory);
            }
            Err(spun) => spun,
        };
        let sends_nothing = || Ok(());
        self.receive_into(
            Wanted::Pattern(pattern),
            expected,
            memory,
            spun,
            sends_nothing,
            || *until,
            || timeout.map_or(Error::Cancelled, |after| Error::TimedOut { after }),
            severed,
        )
    }

    /// Blocks until a message arrives, and returns it in the form in which it arrives.
    pub(super) fn receive_payload(
        self: &Arc<Self>,
        pattern: Pattern,
    ) -> Result<(Status, Payload), Error> {
        self.check(pattern.context)?;
        let mut target = EarlyTarget::Payload;
        let spun = match self.receive_early(&pattern, &mut target, || Deadline::NEVER) {
            Ok(EarlyMessage::Whole(heading, payload)) => {
                return match self.inbox.max_allocated {
                    max if heading.length > max => Err(over_limit(&heading, max)),
                    _ => Ok((Status::from_heading(&heading), payload)),
                };
            }
            Ok(EarlyMessage::Copied(_)) => unreachable!("no memory was given"),
            Err(spun) => spun,
        };
        let expected = ElementName::BYTES;
        let id = self
            .with(|state, deferred| state.post(pattern, ReceiveTarget::Pool, expected, deferred));
        let mut pending = Pending::new(self.clone(), Members::default(), id);
        let Some(outcome) = pending.wait_spun(spun, Deadline::NEVER) else {
            unreachable!("a wait without a deadline ends with the request")
        };
        let status = outcome.result?;
        let nothing = || Payload::Bytes(MessageBuffer::nothing());
        Ok((status, outcome.payload.unwrap_or_else(nothing)))
    }

    /// Receives a message without a request, if it arrives while the thread spins. Otherwise,
    /// returns the remaining spin budget. A thread that has posted collective operations does not
    /// take this path, which would not advance them.
    #[inline]
    fn receive_early(
        &self,
        pattern: &Pattern,
        target: &mut EarlyTarget<'_>,
        deadline: impl Fn() -> Deadline,
    ) -> Result<EarlyMessage, Option<Spin>> {
        if progress::has_posted() {
            return Err(None);
        }
        let line = pattern
            .source
            .and_then(|rank| Some((rank, self.line(rank)?)));
        let spun = match (&mut *target, line) {
            (EarlyTarget::Memory(memory, expected), Some((rank, line))) => {
                match self.receive_bypassing(rank, line, pattern, *expected, memory, deadline) {
                    Ok(status) => return Ok(EarlyMessage::Copied(Ok(status))),
                    Err(spun) => spun,
                }
            }
            (EarlyTarget::Memory(..), None) if pattern.source.is_none() && self.has_lines() => None,
            (EarlyTarget::Payload, Some((rank, line))) => {
                return match self.receive_short(rank, line, pattern) {
                    Ok(message) => Ok(message),
                    Err(spun) => self.receive_spinning(pattern, target, deadline, spun),
                };
            }
            (_, None) => return self.receive_spinning(pattern, target, deadline, None),
        };
        // Nothing has come that could bypass the matcher. A message that has arrived meanwhile may
        // be in it.
        match self.poll_arrived(pattern, target, None) {
            Poll::Arrived(message) => Ok(message),
            Poll::Nothing | Poll::NeedsRequest => Err(spun),
        }
    }

    /// Receives the wanted message of the rank at the other end of a connection to the front of
    /// `memory`, if it arrives while the thread spins, fits, and the matcher is empty. Because the
    /// matcher is empty, no other receive can match the message, and no earlier message can match
    /// this receive. Otherwise, returns the remaining spin budget.
    ///
    /// While this call holds the receive direction, no other message gets from the connection to
    /// the matcher. A receive that another thread posts meanwhile counts as posted later. If there
    /// may be other connections, this one is polled only a few times.
    #[inline]
    fn receive_bypassing(
        &self,
        rank: u32,
        line: &Line,
        pattern: &Pattern,
        expected: ElementName,
        memory: &mut [u8],
        deadline: impl Fn() -> Deadline,
    ) -> Result<Status, Option<Spin>> {
        // The request reports the error.
        if line.is_gone() {
            return Err(None);
        }
        let inbox = &*self.inbox;
        let may_bypass = || inbox.lock().arrivals.is_empty();
        let shared = line.endpoint.shared();
        // A longer message violates the protocol, which the receive sink finds.
        let capacity = shared.info().limits.max_receive.min(memory.len() as u64);
        let wants = |header: &Header| match Frame::parse(header) {
            Ok(Frame::Eager { label }) => {
                label.context == pattern.context
                    && pattern.tag.is_none_or(|tag| tag == label.tag)
                    && expected.agrees(Some(label.descriptor))
                    && !is_notice(label.descriptor)
                    && header.length <= capacity
            }
            _ => false,
        };
        let is_alone = self.has_one_line();
        let mut spin = None;
        let mut polls = 0;
        let retry = || {
            // No other connection has to be driven, so the thread spins on this one.
            if is_alone {
                let spin = spin.get_or_insert_with(|| inbox.begin_spin(Deadline::NEVER));
                !self.may_be_over(pattern.context) && spin.may_continue_until(&deadline)
            } else {
                polls = u32::wrapping_add(polls, 1);
                polls < line.polls
            }
        };
        let mut due = None;
        let count = |header: &Header| due = line.passed.count(header.length);
        let received = shared.receive_bypassing_sink(memory, may_bypass, wants, count, retry);
        let Some(header) = received else {
            return Err(spin);
        };
        // Sent without the lock of the direction, under which messages were counted.
        if let Some(due) = due {
            self.with(|state, deferred| state.release_bypassed(rank, due, deferred));
        }
        if let Some(spin) = spin {
            inbox.end_spin(spin);
        }
        Ok(Status {
            source: rank,
            tag: header.tag(),
            bytes: header.length,
        })
    }

    /// Receives a short message of the rank at the other end of a connection to a jbuf, as
    /// [`receive_bypassing`](Self::receive_bypassing) does. A connection that moves jbufs does not
    /// need this.
    #[inline]
    fn receive_short(
        &self,
        rank: u32,
        line: &Line,
        pattern: &Pattern,
    ) -> Result<EarlyMessage, Option<Spin>> {
        let info = line.endpoint.shared().info();
        if info.limits.moves {
            return Err(None);
        }
        let empty = info.pool.take(SHORT_BUFFER).ok();
        // Written once, because the memory of a jbuf is not initialized.
        let filled = empty.and_then(|empty| empty.copy_from(&[0; SHORT_BUFFER]).ok());
        let Some(mut filled) = filled else {
            return Err(None);
        };
        let (memory, never) = (filled.as_bytes_mut(), || Deadline::NEVER);
        let status =
            self.receive_bypassing(rank, line, pattern, ElementName::BYTES, memory, never)?;
        // The message was no longer than the buffer.
        filled.truncate(status.len::<u8>());
        let envelope = Envelope {
            context: pattern.context,
            source: rank,
            tag: status.tag,
        };
        let heading = Heading::new(envelope, status.bytes);
        Ok(EarlyMessage::Whole(heading, Payload::Bytes(filled)))
    }

    /// Receives a message without a request, if it arrives while the thread spins, which drives the
    /// connections meanwhile. `spun` is what an earlier attempt has left of the spin budget.
    #[inline]
    fn receive_spinning(
        &self,
        pattern: &Pattern,
        target: &mut EarlyTarget<'_>,
        deadline: impl Fn() -> Deadline,
        spun: Option<Spin>,
    ) -> Result<EarlyMessage, Option<Spin>> {
        // A message that arrives meanwhile is received under one lock. The answer of a rank that
        // has sent at the same time as this one often does.
        let _ = self.has_threads() && (0..EARLY_POLLS).any(|_| self.has_queued(pattern.source));
        // Read before the poll: a change during the poll makes the loop look again.
        let seen = self.inbox.epoch();
        match self.poll_arrived(pattern, target, Some(Prober::New)) {
            Poll::Arrived(message) => Ok(message),
            Poll::Nothing => self.spin_for_arrival(pattern, target, deadline, seen, spun),
            Poll::NeedsRequest => Err(None),
        }
    }

    fn spin_for_arrival(
        &self,
        pattern: &Pattern,
        target: &mut EarlyTarget<'_>,
        deadline: impl Fn() -> Deadline,
        mut seen: u32,
        spun: Option<Spin>,
    ) -> Result<EarlyMessage, Option<Spin>> {
        let inbox = &*self.inbox;
        // While a thread counts as waiting, replies of the receive sinks are left to it instead of
        // a background thread.
        let waits = self.has_lines().then(|| inbox.note_waiting());
        let mut spin = spun.unwrap_or_else(|| inbox.begin_spin(Deadline::NEVER));
        let result = loop {
            self.drive_lines();
            let is_queued = (0..POLLS).any(|_| self.has_queued(pattern.source));
            if is_queued || inbox.epoch() != seen {
                seen = inbox.epoch();
                match self.poll_arrived(pattern, target, Some(Prober::Known)) {
                    Poll::Arrived(message) => {
                        inbox.end_spin(spin);
                        return Ok(message);
                    }
                    Poll::Nothing => {}
                    Poll::NeedsRequest => break None,
                }
            } else if self.may_be_over(pattern.context) || !spin.may_continue_until(&deadline) {
                // The polls find messages only. The receive that is posted next reports a
                // revocation or a failure.
                break Some(spin);
            }
        };
        drop(waits);
        // A prober makes each arrival notify, which a posted receive does not need.
        inbox.lock().waiters.remove_prober();
        Err(result)
    }

    /// Polls for a message. If there is none, the inbox counts a `prober`, which it notifies when
    /// any message arrives, until it has got one.
    #[inline]
    fn poll_arrived(
        &self,
        pattern: &Pattern,
        target: &mut EarlyTarget<'_>,
        prober: Option<Prober>,
    ) -> Poll {
        let mut deferred = DeferredWork::default();
        let inbox = &*self.inbox;
        let mut state: InboxGuard<'_> = inbox.lock();
        let poll = take_arrived(&mut state, pattern, target, &mut deferred);
        match (&poll, prober) {
            (Poll::Arrived(_), Some(Prober::Known)) => state.waiters.remove_prober(),
            (Poll::Nothing, Some(Prober::New)) => state.waiters.add_prober(),
            _ => {}
        }
        // This thread has not slept and will poll again, so senders may use the queues.
        if matches!(poll, Poll::Arrived(_)) && self.has_threads() {
            inbox.attend(&state);
        }
        state.release();
        if !deferred.is_empty() {
            self.carry_out(deferred);
        }
        poll
    }

    /// Returns true if the queue of a rank, or any queue, seems to have a message.
    #[inline]
    fn has_queued(&self, source: Option<u32>) -> bool {
        match source {
            Some(source) => self.inbox.has_queued(source),
            None => self.has_any_queued(),
        }
    }

    /// Receives a message into the front of `memory` and blocks until it has arrived. Calls
    /// `meanwhile` after the receive was posted; if that fails, the receive is cancelled. The wait
    /// continues with the spin budget that the caller has left in `spun`.
    ///
    /// If the message has begun to arrive when the time is over, its rest is waited for. If it
    /// comes from the rank `severed` and takes too long, the connection ends.
    #[allow(clippy::too_many_arguments, reason = "two callers have all of them")]
    #[inline]
    pub(super) fn receive_into(
        &self,
        wanted: Wanted,
        expected: ElementName,
        memory: &mut [u8],
        spun: Option<Spin>,
        meanwhile: impl FnOnce() -> Result<(), Error>,
        deadline: impl FnOnce() -> Deadline,
        timed_out: impl FnOnce() -> Error,
        severed: Option<u32>,
    ) -> Result<Status, Error> {
        let guard = AbortOnUnwind;
        let (base, length) = (NonNull::from(&mut *memory).cast(), memory.len());
        // SAFETY: this function takes the outcome of the request and drops it before the memory is
        // used and before the function returns. It does not unwind, because of the guard.
        let empty = unsafe { jbuf_of(base, length) };
        let target = ReceiveTarget::Memory(empty);
        let id = self.with(|state, deferred| match wanted {
            Wanted::Pattern(pattern) => state.post(pattern, target, expected, deferred),
            Wanted::Claim(claim) => state.post_claimed(claim, target, expected, deferred),
        });
        let (outcome, failed) = match meanwhile() {
            Ok(()) => {
                let take = |state: &mut RankState| state.requests.take_outcome(id);
                (self.wait_spun(spun, deadline, take), None)
            }
            Err(error) => (None, Some(error)),
        };
        let outcome = outcome.unwrap_or_else(|| {
            self.with(|state, deferred| state.abandon_receive(id, timed_out(), deferred));
            // If the message is arriving already, the request ends with it.
            if let Some(rank) = severed {
                // The payload may be arriving in the memory of the caller, so the call cannot
                // return before the request has ended.
                if let Some(outcome) = self.wait_for(id, None, self.rest_deadline()) {
                    return outcome;
                }
                self.sever(rank);
            }
            self.outcome(id)
        });
        let (result, elsewhere) = received(outcome, base.as_ptr());
        std::mem::forget(guard);
        if let Some(error) = failed {
            return Err(error);
        }
        let status = result?;
        match elsewhere {
            None => Ok(status),
            Some(payload) => self.put(status, payload, memory),
        }
    }

    /// Copies a message to memory, if its element type agrees and it fits.
    #[inline]
    fn put_checked(
        &self,
        heading: &Heading,
        payload: Payload,
        expected: ElementName,
        memory: &mut [u8],
    ) -> Result<Status, Error> {
        match refusal(expected, Some(memory.len()), heading) {
            None => self.put(Status::from_heading(heading), payload, memory),
            Some(error) => Err(match &payload {
                Payload::Bytes(filled) => add_text(error, heading, filled.as_bytes()),
                Payload::Object(_) => error,
            }),
        }
    }

    /// Copies a message to memory.
    pub(super) fn put(
        &self,
        status: Status,
        payload: Payload,
        memory: &mut [u8],
    ) -> Result<Status, Error> {
        let filled = self.bytes_of(payload)?;
        match memory.get_mut(..filled.len()) {
            Some(room) => {
                room.copy_from_slice(filled.as_bytes());
                let bytes = filled.len() as u64;
                Ok(Status { bytes, ..status })
            }
            None => Err(Error::Truncated {
                length: filled.len() as u64,
                capacity: memory.len() as u64,
                rank: status.source,
                tag: status.tag,
            }),
        }
    }

    /// Returns the bytes of a message. An object is converted back to its message.
    pub(super) fn bytes_of(&self, payload: Payload) -> Result<MessageBuffer, Error> {
        match payload {
            Payload::Bytes(filled) => Ok(filled),
            Payload::Object(object) => object
                .forward(&mut Writer::new(), self.inbox.pool())
                .map(|forwarded| forwarded.message)
                .map_err(|unforwarded| Error::Write(unforwarded.error)),
        }
    }

    /// Returns the object of a message that was received.
    pub(super) fn object_of<T: Transportable + 'static>(
        &self,
        status: Status,
        payload: Payload,
    ) -> Result<(Received<T>, Status), Error> {
        let payload = match payload {
            Payload::Object(object) => match object.downcast::<T>() {
                Ok(received) => return Ok((received, status)),
                Err(object) => Payload::Object(object),
            },
            payload => payload,
        };
        let filled = self.bytes_of(payload)?;
        let read = self.codecs.readers.with(|reader| {
            reader.set_limits(self.inbox.options.object_limits);
            reader.read::<T>(filled)
        });
        read.map(|received| (received, status))
            .map_err(|failure| Error::Read {
                rank: status.source,
                tag: status.tag,
                source: Box::new(failure.error),
            })
    }
}

/// A thread that waits for a message on the fast path, as far as its inbox is concerned.
#[derive(Clone, Copy)]
enum Prober {
    /// The inbox does not count it yet.
    New,
    Known,
}
