//! The messages of one round of a schedule, posted in a scope.

use std::time::Duration;

use jstream_collective::{Span, Step};
use jstream_device::deadline::Deadline;
use jstream_endpoint::ops::OpId;
use zerocopy::IntoBytes;

use super::call::{Call, in_node};
use crate::element::Element;
use crate::error::{ElementName, Error};
use crate::letter::SendMode;
use crate::member::Rank;
use crate::names::Status;
use crate::requests::Waitable;
use crate::scope::{Scope, ScopedRecv, ScopedSend};
use crate::wire::Label;

/// The messages of one round that were posted and have not ended, and the errors of the others.
#[derive(Default)]
pub(super) struct Round<'scope> {
    receives: Vec<PostedReceive<'scope>>,
    /// Sends, and the members to which they go.
    sends: Vec<(ScopedSend<'scope>, usize)>,
    /// Errors of receives.
    unreceived: Vec<Error>,
    /// Errors of sends.
    unsent: Vec<Error>,
}

struct PostedReceive<'scope> {
    request: ScopedRecv<'scope>,
    /// Length in bytes of the expected message.
    length: usize,
}

impl<'scope> Round<'scope> {
    /// Posts the messages of a round. `targets` has the memory for each receive, by the index of
    /// its step, and `sent` returns the elements of a send.
    pub(super) fn post<E: Element>(
        scope: &'scope Scope<'scope, '_>,
        rank: &Rank,
        call: &Call,
        steps: &[Step],
        targets: Vec<Option<&'scope mut [E]>>,
        sent: impl Fn(Span) -> &'scope [E],
    ) -> Self {
        let mut round = Self::default();
        // The receivers may wait for their own sends, so receives are posted first.
        for (step, target) in steps.iter().zip(targets) {
            if let (Step::Receive { from, .. }, Some(target)) = (*step, target) {
                let (pattern, expected) = (call.pattern(rank, from), call.expected());
                let memory = target.as_mut_bytes();
                let length = memory.len();
                round.receives.push(PostedReceive {
                    request: scope.receive_bytes(Some(pattern), expected, memory),
                    length,
                });
            }
        }
        for step in steps {
            if let Step::Send { to, span } = *step {
                round.send(scope, rank, to, call.label(rank), sent(span).as_bytes());
            }
        }
        round
    }

    /// Posts the messages of a round of a rank that has failed: messages without elements, which
    /// name the member `failed`, and receives of which no result matters.
    pub(super) fn post_failures(
        scope: &'scope Scope<'scope, '_>,
        rank: &Rank,
        call: &Call,
        steps: &[Step],
        failed: usize,
    ) -> Self {
        let mut round = Self::default();
        for step in steps {
            match *step {
                Step::Send { to, .. } => round.send_failure(scope, rank, call, (to, failed)),
                Step::Receive { from, .. } => {
                    let pattern = Some(call.pattern(rank, from));
                    // A message that does not fit is dropped.
                    let request = scope.receive_bytes(pattern, ElementName::BYTES, &mut []);
                    round.receives.push(PostedReceive { request, length: 0 });
                }
                _ => {}
            }
        }
        round
    }

    /// Posts a message that tells the member `to` that the member `failed` has failed.
    pub(super) fn send_failure(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        rank: &Rank,
        call: &Call,
        (to, failed): (usize, usize),
    ) {
        self.send(scope, rank, to, call.failure_label(rank, failed), &[]);
    }

    fn send(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        rank: &Rank,
        to: usize,
        label: Label,
        bytes: &'scope [u8],
    ) {
        let to_in_node = in_node(rank, to);
        match rank.node().send_at_once(to_in_node, label, bytes) {
            Some(Ok(())) => {}
            Some(Err(error)) => self.unsent.push(rank.members().error(error)),
            None => {
                let mode = match self.receives.is_empty() {
                    true => SendMode::Standard,
                    false => SendMode::Exchange,
                };
                let send = scope.send_bytes(to_in_node, label, bytes, mode);
                self.sends.push((send, to));
            }
        }
    }

    /// Takes the results of the messages that have ended. Returns true if no message is left.
    pub(super) fn poll(&mut self, scope: &Scope<'_, '_>) -> bool {
        let Self {
            receives,
            sends,
            unreceived,
            unsent,
        } = self;
        receives.retain_mut(|receive| {
            let result = receive.request.take();
            let Some(result) = result else {
                return true;
            };
            scope.vacate(receive.request.index());
            let checked = result.and_then(|status| check_length(status, receive.length));
            unreceived.extend(checked.err());
            false
        });
        sends.retain_mut(|(send, _)| {
            let Some(result) = send.take() else {
                return true;
            };
            scope.vacate(send.index());
            unsent.extend(result.err());
            false
        });
        receives.is_empty() && sends.is_empty()
    }

    /// Takes the errors of the messages that have ended.
    pub(super) fn take_errors(&mut self) -> Vec<Error> {
        let mut errors = std::mem::take(&mut self.unreceived);
        errors.append(&mut self.unsent);
        errors
    }

    /// Returns the requests of the messages.
    pub(super) fn requests(&self) -> impl Iterator<Item = OpId> {
        let receives = self.receives.iter();
        let sends = self.sends.iter();
        receives
            .filter_map(|receive| receive.request.id())
            .chain(sends.filter_map(|(send, _)| send.id()))
    }

    /// Waits for all messages, and returns the errors. Messages that have not ended by the deadline
    /// are cancelled.
    pub(super) fn wait(mut self, deadline: Deadline, timeout: Duration) -> Vec<Error> {
        let left = || deadline.left().unwrap_or(timeout);
        let late = || Error::TimedOut { after: timeout };
        for mut receive in self.receives.drain(..) {
            let result = match receive.request.wait_timeout(left()) {
                Some(result) => result,
                None => receive.request.give_up().map_err(|_| late()),
            };
            let checked = result.and_then(|status| check_length(status, receive.length));
            self.unreceived.extend(checked.err());
        }
        for (mut send, _) in self.sends.drain(..) {
            let result = match send.wait_timeout(left()) {
                Some(result) => result,
                None => send.abandon().map_err(|_| late()),
            };
            self.unsent.extend(result.err());
        }
        self.take_errors()
    }

    /// Ends all messages that have not ended. Returns the members to which nothing was sent.
    pub(super) fn give_up(&mut self) -> Vec<usize> {
        for receive in self.receives.drain(..) {
            let _ = receive.request.give_up();
        }
        let sends = self.sends.drain(..);
        let unsent = sends.filter_map(|(send, to)| send.abandon().is_err().then_some(to));
        unsent.collect()
    }
}

/// Returns an error if a message is shorter than its span.
pub(super) fn check_length(status: Status, length: usize) -> Result<(), Error> {
    if status.bytes == length as u64 {
        return Ok(());
    }
    Err(Error::Truncated {
        length: status.bytes,
        capacity: length as u64,
        rank: status.source,
        tag: status.tag,
    })
}
