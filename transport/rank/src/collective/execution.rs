//! Execution of a schedule at one rank.
//!
//! Decisions 088 and 089 have the reasons.

use std::mem;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use jstream_collective::{Area, Order, Schedule, Span, Step};
use jstream_device::deadline::Deadline;
use jstream_matching::Pattern;
use zerocopy::IntoBytes;

use super::call::{Call, in_node, wait_for_notices};
use super::round::{Party, Round, check_length, is_cause};
use super::scratch::{Scratch, overwrite};
use crate::element::Element;
use crate::error::{ElementName, Error};
use crate::failures::text_of;
use crate::member::Rank;
use crate::requests::Waitable;
use crate::scope::Scope;
use crate::transfer::offers::SendMode;

/// A schedule in execution, with the memory of the rank.
///
/// If the execution ends early, by an error or because an operation of the user panics, the rest of
/// the schedule is executed in a reduced form: each message that the rank should have sent is
/// replaced by one that says that the rank has failed, and each message that it should have
/// received is dropped. So the other ranks get an error rather than wait, and no message is left
/// behind. A rank that disagrees about the operation is told so, because it may wait for a message
/// that is not in this schedule.
///
/// `S` is a reference to the schedule, or shares it.
pub(super) struct Execution<'e, E, C, S>
where
    E: Element,
    C: Fn(&E, &E) -> E,
    S: Deref<Target = Schedule> + Clone,
{
    pub(super) rank: &'e Rank,
    pub(super) call: Call,
    schedule: S,
    input: &'e [E],
    output: &'e mut [E],
    pub(super) scratch: Scratch<E>,
    combine: C,
    /// Index of the next step.
    pub(super) next: usize,
    /// The rank that failure messages name: this one, until another rank is gone or has reported a
    /// failure.
    pub(super) failed: usize,
    /// The text of the first error, for failure messages.
    reason: Option<Arc<str>>,
    /// True if a message has failed.
    has_failed: bool,
    /// The ranks that disagree about the operation, and have not been told.
    pub(super) disagreeing: Vec<usize>,
    /// True if the time for a message is over. Then the rest of the schedule does not wait either.
    is_late: bool,
}

impl<'e, E, C, S> Execution<'e, E, C, S>
where
    E: Element,
    C: Fn(&E, &E) -> E,
    S: Deref<Target = Schedule> + Clone,
{
    pub(super) fn new(
        rank: &'e Rank,
        call: Call,
        schedule: S,
        input: &'e [E],
        output: &'e mut [E],
        combine: C,
    ) -> Self {
        Self {
            rank,
            call,
            schedule,
            input,
            output,
            scratch: Scratch::new(),
            combine,
            next: 0,
            failed: rank.rank() as usize,
            reason: None,
            has_failed: false,
            disagreeing: Vec::new(),
            is_late: false,
        }
    }

    /// Executes all steps.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if the memory does not have the lengths of the schedule. Otherwise
    /// the error of the first message that failed.
    pub(super) fn run(mut self) -> Result<(), Error> {
        self.begin()?;
        // Cloned, because the steps are read while the execution changes.
        let schedule = self.schedule.clone();
        let steps = schedule.steps();
        while let Some(step) = steps.get(self.next) {
            match *step {
                Step::Copy { .. } | Step::Combine { .. } => {
                    self.work(*step);
                    self.next = self.next.saturating_add(1);
                }
                Step::Send { .. } | Step::Receive { .. } | Step::Wait => {
                    let round = messages(steps.get(self.next..).unwrap_or_default());
                    let done = self.exchange(round);
                    // The round is over, even if a message of it has failed.
                    self.next = self.next.saturating_add(round.len()).saturating_add(1);
                    done.map_err(|error| self.record_failure(error))?;
                }
            }
        }
        Ok(())
    }

    /// Checks and allocates the memory.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if the memory does not have the lengths of the schedule.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        self.check_lengths()
            .inspect_err(|error| self.reason = Some(text_of(error)))?;
        let scratch = self.schedule.len_of(Area::Scratch);
        self.scratch = Scratch::zeroed(scratch);
        Ok(())
    }

    pub(super) fn schedule(&self) -> S {
        self.schedule.clone()
    }

    /// Executes a step without messages.
    pub(super) fn work(&mut self, step: Step) {
        match step {
            Step::Copy { from, into } => {
                let (from, into) = self.pair(from, into);
                into.as_mut_bytes().copy_from_slice(from.as_bytes());
            }
            Step::Combine { with, into, order } => self.combine(with, into, order),
            Step::Send { .. } | Step::Receive { .. } | Step::Wait => {}
        }
    }

    /// Returns the error of the operation for that of a message, and keeps what other ranks have to
    /// know of it.
    #[cold]
    pub(super) fn record_failure(&mut self, error: Error) -> Error {
        // A failure of another rank is passed on as its own, so that all ranks name the one where
        // it began.
        let error = self.call.error(error);
        self.has_failed = true;
        match &error {
            Error::FailedAt { rank, reason, .. } => {
                self.failed = *rank as usize;
                self.reason = reason.clone();
            }
            Error::Collective { source, .. } => match **source {
                Error::TimedOut { .. } => self.is_late = true,
                Error::PeerGone { rank, .. } => {
                    self.failed = rank as usize;
                    self.reason = None;
                    // The others may wait for the lost rank without a connection that would tell
                    // them.
                    self.call.tell_others(self.rank, rank);
                }
                ref cause => self.reason = Some(text_of(cause)),
            },
            Error::Disagreement { rank, .. } => self.disagreeing.push(*rank as usize),
            _ => {}
        }
        error
    }

    fn check_lengths(&self) -> Result<(), Error> {
        let collective = self.call.collective;
        let memory = [
            ("sent", self.input.len(), Area::Input),
            ("received", self.output.len(), Area::Output),
        ];
        for (what, given, area) in memory {
            let expected = self.schedule.len_of(area);
            if given != expected {
                return Err(Error::WrongLength {
                    collective,
                    what,
                    given,
                    expected,
                });
            }
        }
        Ok(())
    }

    fn combine(&mut self, with: Span, into: Span, order: Order) {
        let Self {
            input,
            output,
            scratch,
            combine,
            ..
        } = self;
        let (with, into) = pair(input, output, scratch, with, into);
        let both = into.iter_mut().zip(with);
        match order {
            Order::WithFirst => both.for_each(|(into, with)| overwrite(into, combine(with, into))),
            Order::IntoFirst => both.for_each(|(into, with)| overwrite(into, combine(into, with))),
        }
    }

    /// Returns two spans, the second to be written to.
    fn pair(&mut self, read: Span, written: Span) -> (&[E], &mut [E]) {
        pair(self.input, self.output, &mut self.scratch, read, written)
    }

    fn pattern(&self, from: usize) -> Pattern {
        self.call.pattern(self.rank, from)
    }

    /// Sends and receives the messages of one round. All messages of the round have been sent or
    /// have failed in the end, even if one of them fails.
    ///
    /// The patterns before the last are shortcuts for the rounds of most algorithms. They post no
    /// request and allocate nothing.
    fn exchange(&mut self, round: &[Step]) -> Result<(), Error> {
        match *round {
            [] => Ok(()),
            [Step::Receive { from, span }] => self.receive(from, span),
            // Most rounds have one or two short messages, for which no request is needed.
            [Step::Send { to, span }] => match self.try_send(to, span) {
                Some(sent) => sent,
                None => self.exchange_posted(round),
            },
            [
                Step::Receive { from, span: target },
                Step::Send { to, span },
            ] => match self.try_send(to, span) {
                Some(sent) => {
                    let received = self.receive(from, target);
                    self.either(received, sent)
                }
                None => self.exchange_long((to, span), (from, target)),
            },
            _ => self.exchange_posted(round),
        }
    }

    /// Sends a short message. Returns `None` if the message is long or there is no room for it.
    fn try_send(&self, to: usize, span: Span) -> Option<Result<(), Error>> {
        let area = match span.area {
            Area::Input => self.input,
            Area::Output => &*self.output,
            Area::Scratch => &self.scratch,
        };
        let bytes = part(area, span).as_bytes();
        let (node, label) = (self.rank.node(), self.call.label(self.rank));
        // Connecting has a deadline here. The send below would connect without one.
        if let Err(error) = self.party().reach(to, || self.party().deadline()) {
            return Some(Err(error));
        }
        let sent = node.try_send(in_node(self.rank, to), label, bytes)?;
        Some(sent.map_err(|error| {
            let error = self.rank.members().error(error);
            // The receiver is told before this rank waits for a message that may depend on it.
            drop(self.party().notice(to, &error));
            error
        }))
    }

    /// Returns the operation, for the messages of a round.
    pub(super) fn party(&self) -> Party<'e> {
        Party {
            rank: self.rank,
            call: self.call,
            failed: self.failed,
        }
    }

    /// Returns the text of the error that other ranks have to know of.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    fn receive(&mut self, from: usize, span: Span) -> Result<(), Error> {
        let pattern = self.pattern(from);
        let (rank, expected, timeout) = (self.rank, self.call.expected(), self.timeout());
        let area = match span.area {
            Area::Scratch => &mut self.scratch[..],
            _ => &mut *self.output,
        };
        let memory = part_mut(area, span).as_mut_bytes();
        let length = memory.len();
        let received = rank
            .node()
            .receive_in_time(pattern, expected, memory, timeout);
        let status = rank.members().result(received)?;
        check_length(status, length)
    }

    /// Sends a message that can't be sent at once, and receives another one meanwhile.
    ///
    /// A thread that spins receives without a posted request. So it copies the message itself when
    /// it comes. If its receive was posted, a thread that comes later would copy both messages, one
    /// after the other.
    fn exchange_long(
        &mut self,
        (to, span): (usize, Span),
        (from, target): (usize, Span),
    ) -> Result<(), Error> {
        let (rank, call, timeout) = (self.rank, self.call, self.timeout());
        let pattern = self.pattern(from);
        let deadline = Deadline::after(timeout);
        let timed_out = || Error::TimedOut { after: timeout };
        let party = self.party();
        let (sent, received) = self.pair(span, target);
        let memory = received.as_mut_bytes();
        let length = memory.len();
        let (received, sent) = rank.scope(|scope| {
            let (node, label) = (rank.node(), call.label(rank));
            let to_in_node = in_node(rank, to);
            let bytes = sent.as_bytes();
            let mut send = scope.send_bytes(to_in_node, label, bytes, SendMode::Exchange);
            // A message that was refused is not sent later. Its receiver may wait for it before it
            // sends, so it is told first.
            let tell = |error: &Error| drop(party.notice(to, error));
            let sent_early = send.take().map(|sent| sent.inspect_err(tell));
            let received = node.receive_in_time(pattern, call.expected(), memory, timeout);
            let sent = sent_early.or_else(|| {
                let sent = send.wait_until(deadline);
                sent.map(|sent| sent.inspect_err(tell))
            });
            // The bytes are borrowed, so the send has to end before the scope. It is withdrawn, or
            // its connection is ended.
            let sent = sent.unwrap_or_else(|| {
                send.withdraw();
                let sent = send.wait_or_sever(to_in_node).map_err(|_| timed_out());
                sent.inspect_err(tell)
            });
            (rank.members().result(received), sent)
        });
        let received = received.and_then(|status| check_length(status, length));
        self.either(received, sent)
    }

    /// Returns the error of an exchange, if there is one. If both messages have failed, the other
    /// error is noted, because each rank that disagrees has to be told.
    fn either(
        &mut self,
        received: Result<(), Error>,
        sent: Result<(), Error>,
    ) -> Result<(), Error> {
        match (received, sent) {
            (Err(received), Err(sent)) => {
                // A refused send makes the other rank fail, and its notice is what the receive then
                // gets.
                let (first, second) = match is_cause(&sent) {
                    true => (sent, received),
                    false => (received, sent),
                };
                drop(self.record_failure(second));
                Err(first)
            }
            (received, sent) => received.and(sent),
        }
    }

    /// Posts the messages of one round, and waits for all.
    fn exchange_posted(&mut self, steps: &[Step]) -> Result<(), Error> {
        let (rank, party, timeout) = (self.rank, self.party(), self.timeout());
        // All messages of the round share one deadline.
        let deadline = Deadline::after(timeout);
        let Memory { targets, rest } =
            Memory::of(self.input, self.output, &mut self.scratch, steps);
        let mut errors = rank.scope(|scope| {
            let sent = |span| rest.part(span);
            let mut round = Round::default();
            round.post(scope, party, steps, targets, sent);
            round.wait(scope, party, deadline, timeout);
            round.take_errors()
        });
        if errors.is_empty() {
            return Ok(());
        }
        let first = errors.remove(0);
        // Each rank that disagrees has to be told.
        errors
            .into_iter()
            .for_each(|error| drop(self.record_failure(error)));
        Err(first)
    }

    /// Posts the messages of one round in a scope.
    ///
    /// # Safety
    ///
    /// Until all messages of the round have ended, the execution must not be dropped or moved, and
    /// no method of it may be called that accesses its memory. The memory of the caller is borrowed
    /// for `'e`, which must outlive `'scope`.
    pub(super) unsafe fn post<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        steps: &[Step],
        round: &mut Round<'scope>,
    ) {
        let party = self.party();
        let memory = Memory::of(self.input, self.output, &mut self.scratch, steps);
        // SAFETY: the types differ in a lifetime only. The scope waits for the messages before
        // `'scope` ends. Until then, or until the messages have ended, the areas of the caller are
        // borrowed, and the caller of this function promises that the scratch area stays in place
        // and that none of the areas is used in another way.
        let memory = unsafe { mem::transmute::<Memory<'_, E>, Memory<'scope, E>>(memory) };
        let Memory { targets, rest } = memory;
        round.post(scope, party, steps, targets, |span| rest.part(span));
    }

    /// Executes the rest of the schedule for a rank that has failed, without waiting.
    pub(super) fn give_up(&mut self) {
        self.is_late = true;
        self.fail();
    }

    fn timeout(&self) -> Duration {
        self.rank.node().inbox.options.collective_timeout
    }

    /// Executes the rest of the schedule for a rank that has failed. All of it has one deadline, so
    /// that the rank does not hang for several timeouts.
    #[cold]
    fn fail(&mut self) {
        // All the time of the operation is used up, so the rest of the schedule does not wait
        // again.
        let timeout = if self.is_late {
            Duration::ZERO
        } else {
            self.timeout()
        };
        let deadline = Deadline::after(timeout);
        let left = || deadline.left().unwrap_or(timeout);
        let schedule = self.schedule.clone();
        let mut rest = schedule.steps().get(self.next..).unwrap_or_default();
        let mut notices = Vec::new();
        while let Some(step) = rest.first() {
            let round = messages(rest);
            for step in round {
                if let Step::Send { to, .. } = *step {
                    // This notice tells them as well.
                    self.disagreeing.retain(|rank| *rank != to);
                    notices.extend(self.call.send_failure(
                        self.rank,
                        (to, self.failed),
                        self.reason.as_deref(),
                        deadline,
                    ));
                }
            }
            for step in round {
                if let Step::Receive { from, .. } = *step {
                    let (node, pattern) = (self.rank.node(), self.pattern(from));
                    // A message that does not fit is dropped.
                    let _ = node.receive_in_time(pattern, ElementName::BYTES, &mut [], left());
                }
            }
            let is_message = matches!(step, Step::Send { .. } | Step::Receive { .. });
            let passed = if is_message { round.len() } else { 1 };
            rest = rest.get(passed..).unwrap_or_default();
        }
        for to in mem::take(&mut self.disagreeing) {
            notices.extend(self.call.send_failure(
                self.rank,
                (to, self.failed),
                self.reason.as_deref(),
                deadline,
            ));
        }
        // The schedule is over, so that dropping the execution does not execute it again.
        self.next = schedule.steps().len();
        wait_for_notices(notices, deadline);
    }
}

impl<E, C, S> Drop for Execution<'_, E, C, S>
where
    E: Element,
    C: Fn(&E, &E) -> E,
    S: Deref<Target = Schedule> + Clone,
{
    fn drop(&mut self) {
        let is_open = self.next < self.schedule.steps().len() || !self.disagreeing.is_empty();
        if is_open {
            self.fail();
        }
        if is_open || self.has_failed {
            // Messages of this operation may still arrive, for which no receive will be posted.
            self.call.bury(self.rank);
        }
    }
}

/// Returns the sends and receives in front of some steps.
pub(super) fn messages(steps: &[Step]) -> &[Step] {
    let is_message = |step: &&Step| matches!(step, Step::Send { .. } | Step::Receive { .. });
    let count = steps.iter().take_while(is_message).count();
    steps.get(..count).unwrap_or_default()
}

/// Returns the elements of a span in its area.
fn part<E>(area: &[E], span: Span) -> &[E] {
    match area.get(span.start..span.end()) {
        Some(part) => part,
        None => unreachable!("a schedule names elements of its areas only"),
    }
}

fn part_mut<E>(area: &mut [E], span: Span) -> &mut [E] {
    match area.get_mut(span.start..span.end()) {
        Some(part) => part,
        None => unreachable!("a schedule names elements of its areas only"),
    }
}

/// Returns two spans that do not overlap, the second to be written to. Spans of the same area are
/// separated at the start of the later one, where neither span crosses the cut.
fn pair<'m, E>(
    input: &'m [E],
    output: &'m mut [E],
    scratch: &'m mut [E],
    read: Span,
    written: Span,
) -> (&'m [E], &'m mut [E]) {
    if read.area == written.area {
        let area = if read.area == Area::Output {
            output
        } else {
            scratch
        };
        let split = read.start.max(written.start);
        let Some((front, back)) = area.split_at_mut_checked(split) else {
            unreachable!("a schedule names elements of its areas only")
        };
        let behind = |span: Span| Span {
            start: span.start.saturating_sub(split),
            ..span
        };
        return if read.start < split {
            (part(front, read), part_mut(back, behind(written)))
        } else {
            (part(back, behind(read)), part_mut(front, written))
        };
    }
    let (other, target) = match written.area {
        Area::Output => (&*scratch, output),
        _ => (&*output, scratch),
    };
    let source = if read.area == Area::Input {
        input
    } else {
        other
    };
    (part(source, read), part_mut(target, written))
}

/// The memory of a round, cut into the spans that are received into and the rest.
struct Memory<'m, E> {
    /// The target of each receive, by the index of its step.
    targets: Vec<Option<&'m mut [E]>>,
    rest: Rest<'m, E>,
}

/// The elements that no receive of a round writes to.
struct Rest<'m, E> {
    /// Pieces with the index of their first element in the area.
    pieces: Vec<(Area, usize, &'m [E])>,
}

impl<'m, E> Memory<'m, E> {
    fn of(input: &'m [E], output: &'m mut [E], scratch: &'m mut [E], round: &[Step]) -> Self {
        let mut targets: Vec<_> = round.iter().map(|_| None).collect();
        let mut pieces = vec![(Area::Input, 0, input)];
        for (area, mut memory) in [(Area::Output, output), (Area::Scratch, scratch)] {
            let receives = round
                .iter()
                .enumerate()
                .filter_map(|(index, step)| match step {
                    Step::Receive { span, .. } if span.area == area => Some((span, index)),
                    _ => None,
                });
            let mut receives: Vec<_> = receives.collect();
            // Sorted by their place, so that the area can be cut into disjoint parts from front to
            // back.
            receives.sort_unstable_by_key(|(span, _)| (span.start, span.len));
            let mut start = 0;
            for (span, index) in receives {
                let before = span.start.saturating_sub(start);
                let cut = memory.split_at_mut_checked(before);
                let cut = cut.and_then(|(gap, behind)| {
                    let (target, behind) = behind.split_at_mut_checked(span.len)?;
                    Some((gap, target, behind))
                });
                let Some((gap, target, behind)) = cut else {
                    unreachable!("a schedule receives into elements of its areas, without overlap")
                };
                pieces.push((area, start, &*gap));
                if let Some(place) = targets.get_mut(index) {
                    *place = Some(target);
                }
                (start, memory) = (span.end(), behind);
            }
            pieces.push((area, start, &*memory));
        }
        let rest = Rest { pieces };
        Self { targets, rest }
    }
}

impl<'m, E> Rest<'m, E> {
    /// Returns the elements of a span.
    fn part(&self, span: Span) -> &'m [E] {
        if span.len == 0 {
            return &[];
        }
        let mut pieces = self.pieces.iter();
        let found = pieces.find_map(|(area, first, piece)| {
            let start = span.start.checked_sub(*first)?;
            let end = start.checked_add(span.len)?;
            piece.get(start..end).filter(|_| *area == span.area)
        });
        match found {
            Some(part) => part,
            None => unreachable!("a schedule sends no element that it receives at the same time"),
        }
    }
}
