//! Fast paths of receives. A message can go from the connection directly to the only waiting
//! receive, bypassing the matcher, or from the matcher to the receive without a request.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use jstream::buffer::MessageBuffer;

use super::arrivals::Unexpected;
use super::communicator::Members;
use super::error::{ElementName, Error};
use super::failures::add_text;
use super::letter::{Ack, Letter};
use super::matching::{SMALL, refusal};
use super::names::Status;
use super::node::Node;
use super::progress;
use super::receive_fast_path::{ArrivedMessage, WantedMessage};
use super::request::ReceiveTarget;
use super::requests::Pending;
use super::wire::Frame;
use super::work_queue::DeferredWork;
use jstream_base::Header;
use jstream_device::connection::Payload;
use jstream_device::deadline::Deadline;
use jstream_endpoint::gate::Credit;
use jstream_endpoint::spin::Spin;
use jstream_matching::Pattern;

/// Number of polls of a connection that is not the only one.
const LOOKS: u32 = 16;
/// Maximum length in bytes of a message that is received into a jbuf on the fast path: the capacity
/// of the smallest jbufs of a pool.
const SHORT_BUFFER: usize = 256;

/// Result of the fast path.
enum MatchBypass {
    Received(Status),
    /// The message has not arrived, or needs the slow path. Contains the remaining spin budget.
    Nothing(Option<Spin>),
}

impl Node {
    /// Receives a message to the front of `memory` on one of the fast paths, if it arrives while
    /// the thread spins. Otherwise, returns the remaining spin budget. A thread that has posted
    /// collective operations does not take these paths, which would not advance them.
    #[inline]
    pub(super) fn receive_at_once(
        &self,
        pattern: &Pattern,
        expected: ElementName,
        memory: &mut [u8],
        deadline: impl Fn() -> Deadline,
    ) -> Result<Result<Status, Error>, Option<Spin>> {
        if progress::has_posted() {
            return Err(None);
        }
        let comes_by_line = match pattern.source {
            Some(rank) => self.line(rank).is_some(),
            None => self.has_lines(),
        };
        if comes_by_line {
            let past = self.receive_past(pattern, expected.descriptor, memory, deadline);
            let spun = match past {
                MatchBypass::Received(status) => return Ok(Ok(status)),
                MatchBypass::Nothing(spun) => spun,
            };
            return self.receive_waiting(pattern, expected, memory).ok_or(spun);
        }
        let mut wanted = WantedMessage::Memory(memory, expected);
        match self.receive_soon(pattern, &mut wanted, deadline, None)? {
            ArrivedMessage::Put(result) => Ok(result),
            ArrivedMessage::Whole(heading, payload) => {
                Ok(match refusal(expected, Some(memory.len()), &heading) {
                    Some(error) => Err(match &payload {
                        Payload::Bytes(filled) => add_text(error, &heading, filled.as_bytes()),
                        Payload::Object(_) => error,
                    }),
                    None => self.put(Status::of(&heading), payload, memory),
                })
            }
        }
    }

    /// Blocks until a message arrives, and returns it in the form in which it arrives.
    pub(super) fn receive_payload(
        self: &Arc<Self>,
        pattern: Pattern,
    ) -> Result<(Status, Payload), Error> {
        self.check(pattern.context)?;
        let spun = match self.receive_payload_at_once(&pattern) {
            Ok(received) => return Ok(received),
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

    /// Receives a message in the form in which it arrives, on one of the fast paths. Otherwise,
    /// returns the remaining spin budget.
    fn receive_payload_at_once(
        &self,
        pattern: &Pattern,
    ) -> Result<(Status, Payload), Option<Spin>> {
        if progress::has_posted() {
            return Err(None);
        }
        let spun = match self.receive_short(pattern) {
            Ok(received) => return Ok(received),
            Err(spun) => spun,
        };
        let never = || Deadline::NEVER;
        match self.receive_soon(pattern, &mut WantedMessage::Payload, never, spun)? {
            ArrivedMessage::Whole(heading, payload) => Ok((Status::of(&heading), payload)),
            ArrivedMessage::Put(_) => unreachable!("no memory was given"),
        }
    }

    /// Receives a short message to a jbuf, bypassing the matcher. Otherwise, returns the remaining
    /// spin budget. A connection that moves jbufs is left to the slow path.
    #[inline]
    fn receive_short(&self, pattern: &Pattern) -> Result<(Status, Payload), Option<Spin>> {
        let line = pattern.source.and_then(|rank| self.line(rank));
        let info = line.map(|line| line.endpoint.shared().info());
        let Some(info) = info.filter(|info| !info.limits.moves) else {
            return Err(None);
        };
        let empty = info.pool.take(SHORT_BUFFER).ok();
        let filled = empty.and_then(|empty| empty.copy_from(&[0; SHORT_BUFFER]).ok());
        let Some(mut filled) = filled else {
            return Err(None);
        };
        let any = ElementName::BYTES.descriptor;
        let never = || Deadline::NEVER;
        match self.receive_past(pattern, any, filled.as_bytes_mut(), never) {
            MatchBypass::Received(status) => {
                // The message was no longer than the buffer.
                filled.truncate(usize::try_from(status.bytes).unwrap_or(SHORT_BUFFER));
                Ok((status, Payload::Bytes(filled)))
            }
            MatchBypass::Nothing(spun) => Err(spun),
        }
    }

    /// Receives a short message that is queued and needs no acknowledgement.
    #[inline]
    fn receive_waiting(
        &self,
        pattern: &Pattern,
        expected: ElementName,
        memory: &mut [u8],
    ) -> Option<Result<Status, Error>> {
        let mut deferred = DeferredWork::default();
        let mut state = self.inbox.lock();
        let is_simple = |letter: &Letter| match letter {
            Letter::Here {
                payload: Payload::Bytes(filled),
                ack: Ack::Nobody,
            } => filled.len() <= SMALL,
            _ => false,
        };
        let found = state.arrivals.take_unexpected(pattern, is_simple);
        let Unexpected::Taken(heading, letter) = found else {
            return None;
        };
        state.release_credit(heading.envelope.source, heading.held, &mut deferred);
        state.admit_backlogs(&mut deferred);
        state.release();
        if !deferred.is_empty() {
            self.carry_out(deferred);
        }
        let Letter::Here { payload, .. } = letter else {
            return None;
        };
        if let Some(error) = refusal(expected, Some(memory.len()), &heading) {
            return Some(Err(match &payload {
                Payload::Bytes(filled) => add_text(error, &heading, filled.as_bytes()),
                Payload::Object(_) => error,
            }));
        }
        Some(self.put(Status::of(&heading), payload, memory))
    }

    /// Receives the wanted message to the front of `memory`, if it arrives while the thread spins,
    /// fits, and the matcher is empty. Because the matcher is empty, no other receive can match the
    /// message, and no earlier message can match this receive.
    ///
    /// While this call holds the receive direction, no other message gets from the connection to
    /// the matcher. A receive that another thread posts meanwhile counts as posted later. If there
    /// may be other connections, this one is polled only a few times.
    #[inline]
    fn receive_past(
        &self,
        pattern: &Pattern,
        descriptor: u64,
        memory: &mut [u8],
        deadline: impl Fn() -> Deadline,
    ) -> MatchBypass {
        let line = pattern.source.and_then(|rank| self.line(rank));
        let Some(line) = line.filter(|line| !line.is_gone()) else {
            return MatchBypass::Nothing(None);
        };
        let inbox = &*self.inbox;
        let may = || inbox.lock().arrivals.is_empty();
        let capacity = memory.len() as u64;
        let wants = |header: &Header| match Frame::of(header) {
            Ok(Frame::Eager { label }) => {
                label.context == pattern.context
                    && pattern.tag.is_none_or(|tag| tag == label.tag)
                    && (label.descriptor == descriptor || label.descriptor == 0 || descriptor == 0)
                    && header.length <= capacity
            }
            _ => false,
        };
        let alone = self.has_one_line();
        let mut spin = None;
        let mut looks = 0;
        let again = || {
            if alone {
                let spin = spin.get_or_insert_with(|| {
                    let habit = inbox.habit.load(Ordering::Relaxed);
                    Spin::begin(inbox.options.spin, habit, Deadline::NEVER)
                });
                !self.may_be_over(pattern.context) && spin.again_until(&deadline)
            } else {
                looks = u32::wrapping_add(looks, 1);
                looks < LOOKS
            }
        };
        let mut due = None;
        let note = |header: &Header| due = line.passed.note(header.length);
        let shared = line.endpoint.shared();
        let received = shared.receive_bypassing_sink(memory, may, wants, note, again);
        let Some(header) = received else {
            return MatchBypass::Nothing(spin);
        };
        if let (Some(due), Some(rank)) = (due, pattern.source) {
            self.settle_passed(rank, due);
        }
        if let Some(spin) = spin {
            let mut habit = inbox.habit.load(Ordering::Relaxed);
            spin.end(&mut habit);
            inbox.habit.store(habit, Ordering::Relaxed);
        }
        MatchBypass::Received(Status {
            source: pattern.source.unwrap_or(Status::NOBODY),
            tag: header.tag(),
            bytes: header.length,
        })
    }
    /// Settles the credit of messages that bypassed the matcher.
    #[cold]
    fn settle_passed(&self, rank: u32, passed: Credit) {
        self.with(|state, deferred| state.release_bypassed(rank, passed, deferred));
    }
}
