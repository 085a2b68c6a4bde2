//! The messages of one round of a schedule, posted in a scope.
//!
//! Decision 107 has the reasons.

use std::cell::LazyCell;
use std::time::Duration;

use jstream_collective::{Span, Step};
use jstream_device::deadline::Deadline;
use jstream_endpoint::ops::OpId;
use zerocopy::IntoBytes;

use super::call::{Call, in_node};
use crate::element::Element;
use crate::error::{ElementName, Error};
use crate::failures::text_of;
use crate::member::Rank;
use crate::names::Status;
use crate::requests::{SendRequest, Waitable};
use crate::scope::{Scope, ScopedRecv, ScopedSend};
use crate::transfer::offers::SendMode;
use crate::wire::Label;

/// The messages of one round that were posted and have not ended, and the errors of the others.
///
/// INVARIANT: a message is in the round from its post until it has ended, also if a call panics. So
/// the memory of a round without messages is not used by any request.
#[derive(Default)]
pub(super) struct Round<'scope> {
    receives: Vec<PostedReceive<'scope>>,
    sends: Vec<PostedSend<'scope>>,
    /// Messages that tell members that this rank has failed. They own their memory.
    notices: Vec<SendRequest>,
    /// Errors of receives, with the indices of their steps. The error of the first one is that of
    /// the operation, whichever ends first.
    unreceived: Vec<(usize, Error)>,
    /// Errors of sends.
    unsent: Vec<Error>,
}

struct PostedReceive<'scope> {
    request: ScopedRecv<'scope>,
    /// Index of the step.
    step: usize,
    /// The member that sends the message.
    from: usize,
    /// Length in bytes of the expected message.
    length: usize,
}

struct PostedSend<'scope> {
    request: ScopedSend<'scope>,
    /// The member that the message goes to.
    to: usize,
}

/// The operation that a round belongs to.
#[derive(Clone, Copy)]
pub(super) struct Party<'r> {
    pub(super) rank: &'r Rank,
    pub(super) call: Call,
    /// The member that notices name as the one that has failed.
    pub(super) failed: usize,
}

impl Party<'_> {
    /// Tells the member `to`, which waits for a message that could not be sent. A member that is
    /// gone is not told.
    pub(super) fn notice(&self, to: usize, error: &Error) -> Option<SendRequest> {
        // Nobody is left who could be told.
        if let Error::PeerGone { .. } = error {
            return None;
        }
        let now = Deadline::after(Duration::ZERO);
        let reason = text_of(error);
        self.call
            .send_failure(self.rank, (to, self.failed), Some(&reason), now)
    }

    /// Returns the deadline of a message that begins now.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline::after(self.timeout())
    }

    /// Returns the maximum time that a message may take.
    fn timeout(&self) -> Duration {
        self.rank.node().inbox.options.collective_timeout
    }

    /// Connects to the member `to`, if there is no connection.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if there is none by the deadline.
    #[inline]
    pub(super) fn reach(&self, to: usize, until: impl FnOnce() -> Deadline) -> Result<(), Error> {
        let node = self.rank.node();
        let after = self.timeout();
        let is_reached = node.reach(in_node(self.rank, to), until);
        is_reached.then_some(()).ok_or(Error::TimedOut { after })
    }
}

impl<'scope> Round<'scope> {
    /// Returns true if no message is left.
    pub(super) fn is_over(&self) -> bool {
        self.receives.is_empty() && self.sends.is_empty() && self.notices.is_empty()
    }

    /// Posts the messages of a round. `targets` has the memory for each receive, by the index of
    /// its step, and `sent` returns the elements of a send.
    pub(super) fn post<E: Element>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        party: Party<'_>,
        steps: &[Step],
        targets: Vec<Option<&'scope mut [E]>>,
        sent: impl Fn(Span) -> &'scope [E],
    ) {
        let Party { rank, call, .. } = party;
        self.receives.reserve(steps.len());
        self.sends.reserve(steps.len());
        // The receivers may wait for their own sends, so receives are posted first.
        for (step, (of, target)) in steps.iter().zip(targets).enumerate() {
            if let (Step::Receive { from, .. }, Some(target)) = (*of, target) {
                let (pattern, expected) = (call.pattern(rank, from), call.expected());
                let memory = target.as_mut_bytes();
                let length = memory.len();
                self.receives.push(PostedReceive {
                    request: scope.receive_bytes(Some(pattern), expected, memory),
                    step,
                    from,
                    length,
                });
            }
        }
        // Connecting to all receivers has one deadline.
        let until = LazyCell::new(|| party.deadline());
        for step in steps {
            if let Step::Send { to, span } = *step {
                match party.reach(to, || *until) {
                    Ok(()) => {
                        self.send(scope, party, to, call.label(rank), sent(span).as_bytes());
                    }
                    Err(error) => self.fail_send(party, to, error),
                }
            }
        }
    }

    /// Posts the messages of a round of a rank that has failed: messages without elements, which
    /// name the member that has failed and have the text of its error, and receives of which no
    /// result matters.
    pub(super) fn post_failures(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        party: Party<'_>,
        reason: Option<&str>,
        steps: &[Step],
    ) {
        let Party { rank, call, .. } = party;
        let until = LazyCell::new(|| party.deadline());
        for (step, of) in steps.iter().enumerate() {
            match *of {
                Step::Send { to, .. } => self.send_failure(party, to, reason, || *until),
                Step::Receive { from, .. } => {
                    let pattern = Some(call.pattern(rank, from));
                    // A message that does not fit is dropped.
                    let request = scope.receive_bytes(pattern, ElementName::BYTES, &mut []);
                    let length = 0;
                    self.receives.push(PostedReceive {
                        request,
                        step,
                        from,
                        length,
                    });
                }
                _ => {}
            }
        }
    }

    /// Posts a message that tells the member `to` which member has failed, and why.
    pub(super) fn send_failure(
        &mut self,
        party: Party<'_>,
        to: usize,
        reason: Option<&str>,
        until: impl FnOnce() -> Deadline,
    ) {
        let Party { rank, call, failed } = party;
        let notice = call.send_failure(rank, (to, failed), reason, until());
        self.notices.extend(notice);
    }

    fn send(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        party: Party<'_>,
        to: usize,
        label: Label,
        bytes: &'scope [u8],
    ) {
        let rank = party.rank;
        let to_in_node = in_node(rank, to);
        match rank.node().try_send(to_in_node, label, bytes) {
            Some(Ok(())) => {}
            Some(Err(error)) => self.fail_send(party, to, rank.members().error(error)),
            None => {
                // In a round that also receives, the peer is likely to send meanwhile.
                let mode = match self.receives.is_empty() {
                    true => SendMode::Standard,
                    false => SendMode::Exchange,
                };
                let request = scope.send_bytes(to_in_node, label, bytes, mode);
                self.sends.push(PostedSend { request, to });
            }
        }
    }

    /// Records the error of a send. The receiver is told at once, because this rank may wait for a
    /// message of a member that waits for this one.
    fn fail_send(&mut self, party: Party<'_>, to: usize, error: Error) {
        // The receiver would wait for the message until its timeout.
        self.notices.extend(party.notice(to, &error));
        self.unsent.push(error);
    }

    /// Takes the results of the messages that have ended. Returns true if no message is left.
    pub(super) fn poll(&mut self, scope: &Scope<'_, '_>, party: Party<'_>) -> bool {
        let mut failed = Vec::new();
        let Self {
            receives,
            sends,
            unreceived,
            ..
        } = self;
        receives.retain_mut(|receive| {
            let result = receive.request.take();
            let Some(result) = result else {
                return true;
            };
            // A posted operation has many rounds in one scope, whose list would grow with each of
            // them.
            scope.vacate(receive.request.index());
            let checked = result.and_then(|status| check_length(status, receive.length));
            unreceived.extend(checked.err().map(|error| (receive.step, error)));
            false
        });
        sends.retain_mut(|send| {
            let Some(result) = send.request.take() else {
                return true;
            };
            scope.vacate(send.request.index());
            failed.extend(result.err().map(|error| (send.to, error)));
            false
        });
        for (to, error) in failed {
            self.fail_send(party, to, error);
        }
        // If a notice can't be sent, the other rank is gone. New notices may have ended already.
        self.notices.retain_mut(|notice| notice.take().is_none());
        self.is_over()
    }

    /// Takes the errors of the messages that have ended.
    pub(super) fn take_errors(&mut self) -> Vec<Error> {
        let mut unreceived = std::mem::take(&mut self.unreceived);
        // In the order of the schedule, so that the error does not depend on the order of arrival.
        unreceived.sort_by_key(|(step, _)| *step);
        let unreceived = unreceived.into_iter().map(|(_, error)| error);
        // Errors of sends that follow from another error come last.
        let (causes, unsent): (Vec<_>, Vec<_>) = self.unsent.drain(..).partition(is_cause);
        causes.into_iter().chain(unreceived).chain(unsent).collect()
    }

    /// Returns the requests of the messages.
    pub(super) fn requests(&self) -> impl Iterator<Item = OpId> {
        let receives = self.receives.iter();
        let sends = self.sends.iter();
        receives
            .filter_map(|receive| receive.request.id())
            .chain(sends.filter_map(|send| send.request.id()))
            .chain(self.notices.iter().filter_map(SendRequest::id))
    }

    /// Waits for all messages. Those that have not ended by the deadline are ended, with an error
    /// that names the `timeout`.
    pub(super) fn wait(
        &mut self,
        scope: &Scope<'_, '_>,
        party: Party<'_>,
        deadline: Deadline,
        timeout: Duration,
    ) {
        let node = party.rank.node();
        let is_over = || self.poll(scope, party).then_some(());
        let waited = node.wait_unlocked(None, || deadline, is_over);
        if waited.is_none() {
            self.give_up(party, timeout);
        }
    }

    /// Ends all messages that have not ended, with an error that names the `timeout`. A message
    /// that is being sent or received can't be taken back. If the rest of it takes too long, the
    /// connection ends.
    pub(super) fn give_up(&mut self, party: Party<'_>, timeout: Duration) {
        let rank = party.rank;
        // All are withdrawn before the first is waited for, so that the time for the rest is
        // shared.
        for receive in &self.receives {
            receive.request.withdraw();
        }
        for send in &self.sends {
            send.request.withdraw();
        }
        let rest = rank.node().rest_deadline();
        let timed_out = || Error::TimedOut { after: timeout };
        for receive in &mut self.receives {
            let result = match receive.request.wait_until(rest) {
                // The memory of the message is borrowed, so it cannot be left to the connection.
                None => {
                    rank.node().sever(in_node(rank, receive.from));
                    receive.request.wait_until(Deadline::NEVER)
                }
                result => result,
            };
            let ended = result.unwrap_or_else(|| Err(timed_out()));
            // The first reason is that the time was over. Errors that came with the end of the
            // connection are its effects.
            let checked = ended.map_err(|_| timed_out());
            let checked = checked.and_then(|status| check_length(status, receive.length));
            let failure = checked.err().map(|error| (receive.step, error));
            self.unreceived.extend(failure);
        }
        let mut failed = Vec::new();
        for send in &mut self.sends {
            let result = match send.request.wait_until(rest) {
                None => {
                    rank.node().sever(in_node(rank, send.to));
                    send.request.wait_until(Deadline::NEVER)
                }
                result => result,
            };
            if !matches!(result, Some(Ok(()))) {
                failed.push(send.to);
            }
        }
        // All of them have ended.
        self.receives.clear();
        self.sends.clear();
        for to in failed {
            self.fail_send(party, to, timed_out());
        }
        self.notices.clear();
    }
}

/// Returns true for the error of a send that is a cause of its own. Errors of receives may follow
/// from it, because the receiver is told.
pub(super) fn is_cause(error: &Error) -> bool {
    matches!(error, Error::TooLong { .. } | Error::NotSent { .. })
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
