//! The shortest ways of a message: from the connection to a receive that waits alone, past the matcher; and
//! from the matcher, where it waits as it is, without a request.

use std::sync::atomic::Ordering;

use super::error::{ElementName, Error};
use super::letter::{Ack, Letter};
use super::meet::{SMALL, refusal};
use super::names::Status;
use super::node::Node;
use super::todo::Todo;
use super::wire::Frame;
use crate::device::connection::Payload;
use crate::device::deadline::Deadline;
use crate::endpoint::gate::Credit;
use crate::endpoint::spin::Spin;
use crate::header::Header;
use crate::matching::Pattern;

/// How often a connection is looked at that is not the only one.
const LOOKS: u32 = 16;

/// What came of it.
pub(super) enum Past {
    Received(Status),
    /// The message is not here, or not so simple. What is left of looking for it again and again.
    Nothing(Option<Spin>),
}

impl Node {
    /// Receives a message that waits as a few bytes, and that nobody is to be told of.
    #[inline]
    pub(super) fn receive_waiting(
        &self,
        pattern: &Pattern,
        expected: ElementName,
        memory: &mut [u8],
    ) -> Option<Result<Status, Error>> {
        let mut todo = Todo::default();
        let mut state = self.inbox.lock();
        if state.matcher.unexpected() == 0 {
            return None;
        }
        let found = state.matcher.probe(pattern)?;
        let is_simple = match found.message {
            Letter::Here {
                payload: Payload::Bytes(filled),
                ack: Ack::Nobody,
            } => filled.len() <= SMALL,
            _ => false,
        };
        if !is_simple {
            return None;
        }
        let (heading, letter) = state.matcher.receive(pattern)?;
        state.settle(heading.envelope.source, heading.held, &mut todo);
        state.let_in(&mut todo);
        self.inbox.leave(state);
        if !todo.is_empty() {
            self.carry_out(todo);
        }
        if let Some(error) = refusal(expected, Some(memory.len()), &heading) {
            return Some(Err(error));
        }
        let Letter::Here { payload, .. } = letter else {
            return None;
        };
        Some(self.put(Status::of(&heading), payload, memory))
    }

    /// Receives a message that is wanted in `memory`, if it comes soon, fits, and nothing else waits here:
    /// then no other receive can have it, and no message that came before is the one that is wanted.
    ///
    /// While this has the connection, nothing else gets from there to the matcher. A receive that another
    /// thread posts meanwhile was posted later. Who is not `patient` looks a few times only.
    #[inline]
    pub(super) fn receive_past(
        &self,
        pattern: &Pattern,
        descriptor: u64,
        memory: &mut [u8],
        patient: bool,
    ) -> Past {
        let line = pattern.source.and_then(|rank| self.line(rank));
        let Some(line) = line.filter(|line| !line.is_gone()) else {
            return Past::Nothing(None);
        };
        let inbox = &*self.inbox;
        let may = || {
            let state = inbox.lock();
            state.matcher.posted() == 0 && state.matcher.unexpected() == 0
        };
        let capacity = memory.len() as u64;
        let wants = |header: &Header| match Frame::of(header) {
            Ok(Frame::Eager { label, offer: None }) => {
                label.context == pattern.context
                    && pattern.tag.is_none_or(|tag| tag == label.tag)
                    && (label.descriptor == descriptor || label.descriptor == 0 || descriptor == 0)
                    && header.length <= capacity
            }
            _ => false,
        };
        let alone = patient && self.has_one_line();
        let mut spin = None;
        let mut looks = 0;
        let again = || {
            if alone {
                let spin = spin.get_or_insert_with(|| {
                    let habit = inbox.habit.load(Ordering::Relaxed);
                    Spin::begin(inbox.options.spin, habit, Deadline::NEVER)
                });
                spin.again()
            } else {
                looks = u32::wrapping_add(looks, 1);
                looks < LOOKS
            }
        };
        let mut due = None;
        let note = |header: &Header| due = line.passed.note(header.length);
        let shared = line.endpoint.shared();
        let received = shared.receive_past(memory, may, wants, note, again);
        let Some(header) = received else {
            return Past::Nothing(spin);
        };
        if let (Some(due), Some(rank)) = (due, pattern.source) {
            self.settle_passed(rank, due);
        }
        if let Some(spin) = spin {
            let mut habit = inbox.habit.load(Ordering::Relaxed);
            spin.end(&mut habit);
            inbox.habit.store(habit, Ordering::Relaxed);
        }
        Past::Received(Status {
            source: pattern.source.unwrap_or(Status::NOBODY),
            tag: header.tag(),
            bytes: header.length,
        })
    }
    /// Messages of a rank were received past its account.
    #[cold]
    fn settle_passed(&self, rank: u32, passed: Credit) {
        self.with(|state, todo| state.settle_passed(rank, passed, todo));
    }
}
