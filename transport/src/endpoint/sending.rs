//! The direction that sends, under its lock: the half, and what was posted.

mod costly;
mod direction;
mod gathered;

pub(super) use self::gathered::Flushed;

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::alarm::Alarm;
use super::counters::Tally;
use super::facts::{End, Facts};
use super::gate::{Credit, Gate};
use super::ops::{Notify, OpId, Ops, Sink};
use super::remote::MOST_REQUESTS;
use super::turn::{Common, Direction};
use crate::device::connection::{Body, Outbound, Outgoing};
use crate::error::SendError;
use crate::header::Header;

/// The most answers that are posted. Those beyond [`MOST_REQUESTS`] have reached the peer already, and the
/// device has not said so; a peer that breaks the rules makes them wait as well.
const MOST_ANSWERS: usize = 2 * MOST_REQUESTS;

/// What came of sending a message, and what is left of it.
pub(crate) struct Sent {
    pub(crate) result: Result<(), SendError>,
    pub(crate) body: Body<'static>,
}

/// What has not gone of what was posted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Leftover {
    Nothing,
    /// Messages that wait for credit, and so for what is received.
    Waiting,
    /// Messages that wait for the device.
    InLine,
}

/// A message that was posted.
struct SendOp {
    message: Outbound<'static>,
    result: Option<Result<(), SendError>>,
    notify: Notify,
    /// What it was charged, or is to be.
    cost: Credit,
    /// What the clock said when it was posted.
    since: Duration,
    /// Its place in line, among all that ever stood there; 0 where it does not.
    place: u64,
}

/// The state of the direction.
///
/// Invariant: while the half is here, no message of a call that waits has begun; such a call keeps
/// the half until its message is done.
pub(crate) struct Sending {
    /// Dropped before the messages: then the device reads none of their memory any more.
    half: Option<Box<dyn Outgoing>>,
    end: Option<End>,
    /// What has not ended, in order, and how much has ever been there.
    posted: VecDeque<OpId>,
    ever_posted: u64,
    ops: Ops<SendOp>,
    /// What was posted and waits for credit of the peer, before it stands in line.
    gate: Gate<OpId>,
    /// Nobody asks any more for what was posted.
    is_left_behind: bool,
    /// The device has a part of the first one.
    begun: bool,
    /// For how long somebody has waited while messages were posted, all in all.
    clock: Duration,
    /// What it said when a message had gone last.
    went: Duration,
    /// How many answers to the peer's requests are posted.
    answers: usize,
    common: Common,
    facts: Arc<Facts>,
    tally: Arc<Tally>,
    alarm: Arc<Alarm>,
    alarm_waker: Waker,
    /// Who is told when the next message has gone that was posted.
    at_gone: Option<Waker>,
    /// The connection was closed in this program: a half that comes back is dropped.
    is_closed: bool,
}

impl Sending {
    pub(super) fn new(
        half: Box<dyn Outgoing>,
        facts: Arc<Facts>,
        tally: Arc<Tally>,
        alarm: Arc<Alarm>,
    ) -> Self {
        Self {
            half: Some(half),
            end: None,
            posted: VecDeque::new(),
            ever_posted: 0,
            ops: Ops::new(),
            gate: Gate::new(),
            is_left_behind: false,
            begun: false,
            clock: Duration::ZERO,
            went: Duration::ZERO,
            answers: 0,
            common: Common::default(),
            facts,
            tally,
            alarm_waker: alarm.clone().into(),
            alarm,
            at_gone: None,
            is_closed: false,
        }
    }

    /// What a caller that waits pushes its message to, when nothing is in its way.
    #[inline]
    pub(super) fn free_half(&mut self) -> Option<&mut Box<dyn Outgoing>> {
        if !self.posted.is_empty() {
            return None;
        }
        self.half.as_mut()
    }

    /// Puts an operation in line.
    pub(super) fn line_one_up(&mut self, id: OpId) {
        self.posted.push_back(id);
        self.ever_posted = self.ever_posted.wrapping_add(1);
        if let Some(op) = self.ops.get_mut(id) {
            op.place = self.ever_posted;
        }
    }

    /// The last place in line that was given, and up to which all have gone, or have ended.
    pub(super) fn count_posted(&self) -> (u64, u64) {
        let first = self.posted.front().and_then(|id| self.ops.get(*id));
        let gone = first.map_or(self.ever_posted, |op| op.place.wrapping_sub(1));
        (self.ever_posted, gone)
    }

    /// Has `waker` called once, when the next posted message has gone, or has ended; instead of another one.
    pub(super) fn tell_when_gone(&mut self, waker: Waker) {
        self.at_gone = Some(waker);
    }

    /// What has not gone.
    pub(super) fn unsent(&self) -> Leftover {
        match (self.posted.is_empty(), self.gate.is_empty()) {
            (false, _) => Leftover::InLine,
            (true, false) => Leftover::Waiting,
            (true, true) => Leftover::Nothing,
        }
    }

    /// Whether a caller that waits may send now, or never. It has its credit, or needs none, so those that wait
    /// for some are not in its way: they may wait for what its message brings about.
    pub(super) fn has_turn(&self) -> bool {
        self.end.is_some() || (self.posted.is_empty() && self.half.is_some())
    }

    /// Why nothing can be sent any more.
    pub(super) fn ended(&self) -> Option<SendError> {
        self.end.as_ref().map(|end| self.facts.unsendable(end))
    }

    #[inline]
    pub(super) fn count(&self, header: &Header) {
        self.tally.sent(header.length);
        self.facts.trace(header, "sent");
    }

    /// Appends an operation. One that can't be sent ends at once.
    pub(super) fn post(
        &mut self,
        message: Outbound<'static>,
        refused: Option<SendError>,
        notify: Notify,
    ) -> OpId {
        self.post_costly(message, refused, notify, Credit::FREE)
    }

    /// Goes on with a message of which the device has a part, and nobody asks for. Nothing else is posted.
    pub(super) fn adopt(&mut self, message: Outbound<'static>) {
        self.go_on_with(message, Notify::Nobody);
        self.begun = true;
    }

    fn go_on_with(&mut self, message: Outbound<'static>, notify: Notify) {
        let id = self.ops.insert(SendOp {
            message,
            result: None,
            notify,
            cost: Credit::FREE,
            since: self.clock,
            place: 0,
        });
        self.line_one_up(id);
    }

    /// Appends an answer to a request of the peer. False when too many wait: then the peer does not keep
    /// to the rules.
    ///
    /// A peer that has an answer may ask again before the device says here that the answer is gone. So
    /// the device is asked first, and some that can't tell at once are let through.
    pub(super) fn post_answer(&mut self, message: Outbound<'static>) -> bool {
        if self.answers >= MOST_REQUESTS {
            self.drive();
        }
        let few = self.answers < MOST_ANSWERS;
        if few {
            self.answers = self.answers.saturating_add(1);
            self.post(message, None, Notify::Answer);
        }
        few
    }

    /// What came of an operation, once it has ended.
    pub(super) fn take(&mut self, id: OpId) -> Option<Sent> {
        self.ops.get_mut(id)?.result.as_ref()?;
        let op = self.ops.remove(id)?;
        Some(Sent {
            result: op.result?,
            body: op.message.body,
        })
    }

    /// Has `task` woken when the operation ends, in the place of whoever polled before.
    pub(super) fn notify(&mut self, id: OpId, task: &Waker) {
        let op = self.ops.get_mut(id);
        if let Some(other) = op.and_then(|op| op.notify.set_task(task)) {
            self.release(&other);
        }
    }

    /// Nobody asks for an operation any more; it is still carried out.
    pub(super) fn forget(&mut self, id: OpId) -> Option<Sent> {
        let op = self.ops.get_mut(id)?;
        if op.result.is_some() {
            return self.take(id);
        }
        if let Notify::Task(task) = std::mem::replace(&mut op.notify, Notify::Nobody) {
            self.release(&task);
        }
        None
    }

    /// A task does not wait for one operation any more, but maybe for another.
    fn release(&mut self, task: &Waker) {
        let mut posted = self.posted.iter().filter_map(|id| self.ops.get(*id));
        if !posted.any(|op| op.notify.is_task(task)) {
            self.alarm.forget(task);
        }
    }

    /// Nobody takes the outcomes of a sink's operations any more; they are still carried out.
    pub(super) fn forget_sink(&mut self, sink: &Arc<dyn Sink>) {
        for id in &self.posted {
            if let Some(op) = self.ops.get_mut(*id) {
                if op.notify.is_of(sink) {
                    op.notify = Notify::Nobody;
                }
            }
        }
    }

    /// Ends an operation that the device has taken nothing of. False when it has.
    pub(super) fn cancel(&mut self, id: OpId) -> bool {
        let place = self.posted.iter().position(|posted| *posted == id);
        let Some(place) = place else {
            return true;
        };
        if place == 0 && self.begun {
            return false;
        }
        self.posted.remove(place);
        self.complete(id, Err(SendError::Cancelled));
        true
    }

    /// Takes the half for a call that waits outside of the lock.
    pub(super) fn take_out(&mut self) -> Option<Box<dyn Outgoing>> {
        self.half.take()
    }

    pub(super) fn give_back(&mut self, half: Box<dyn Outgoing>) {
        self.half = Some(half);
        if self.is_closed {
            self.end_closed();
        }
    }

    /// The connection was closed in this program.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.drive();
        self.end_closed();
    }

    /// Drops the half, unless somebody has it who is going to give it back.
    fn end_closed(&mut self) {
        if self.half.is_some() {
            self.fail(End::ClosedLocally, false);
        }
    }

    /// Says to the peer that nothing more is sent.
    pub(super) fn finish(&mut self) -> Option<Box<dyn Outgoing>> {
        self.end.get_or_insert(End::ClosedLocally);
        self.common.news = true;
        self.common.watch = None;
        self.half.take()
    }

    /// Ends the direction: all that was posted ends with it. Whether the peer has the first one is
    /// unknown where it is `pushed`.
    pub(super) fn fail(&mut self, end: End, pushed: bool) {
        // Threads that wait for the half to come back wait for ever otherwise.
        self.common.news = true;
        // Whoever watches the descriptor forgets it before it is closed.
        self.common.watch = None;
        if let (Some(mut half), true) = (self.half.take(), self.begun) {
            if let Some(op) = self.posted.front().and_then(|id| self.ops.get_mut(*id)) {
                half.abandon(&mut op.message);
            }
        }
        if end.silences() {
            self.common.broke = true;
        }
        let mut first = std::mem::take(&mut self.begun) || pushed;
        while let Some(id) = self.posted.pop_front() {
            let error = if std::mem::take(&mut first) {
                self.facts.send_error(&end)
            } else {
                self.facts.unsendable(&end)
            };
            self.complete(id, Err(error));
        }
        self.end_all_waiting(&end);
        if self.end.is_none() {
            self.facts.note_end(&end, "sending");
            self.end = Some(end);
        }
    }

    fn complete(&mut self, id: OpId, result: Result<(), SendError>) {
        let Some(op) = self.ops.get_mut(id) else {
            return;
        };
        // What was gathered was counted then.
        if result.is_ok() && !matches!(op.notify, Notify::Gathered) {
            self.tally.sent(op.message.header.length);
            self.facts.trace(&op.message.header, "sent");
        }
        if result.is_err() && op.cost != Credit::FREE {
            self.gate.refund(std::mem::take(&mut op.cost));
        }
        // Who waits for an answer would wait for ever, and so the connection ends; unless it has.
        let missed = matches!(
            result,
            Err(SendError::TimedOut { .. } | SendError::NoBuffer { .. })
        );
        op.result = Some(result);
        self.common.to_wake.extend(self.at_gone.take());
        match std::mem::replace(&mut op.notify, Notify::Ticket) {
            Notify::Ticket => self.common.news = true,
            Notify::Task(task) => {
                self.alarm.forget(&task);
                self.common.to_wake.push(task);
            }
            Notify::Nobody => drop(self.ops.remove(id)),
            frame @ (Notify::Request | Notify::Answer | Notify::Gathered) => {
                drop(self.ops.remove(id));
                self.common.broke |= missed;
                if matches!(frame, Notify::Answer) {
                    self.answers = self.answers.saturating_sub(1);
                }
            }
            Notify::Sink(sink, user) => {
                if let Some(sent) = self.take(id) {
                    sink.sent(user, sent);
                }
            }
        }
    }

    /// The first operation has ended.
    fn complete_first(&mut self, result: Result<(), SendError>) {
        if let Some(id) = self.posted.pop_front() {
            self.begun = false;
            let failed = result.is_err();
            if !failed {
                self.went = self.clock;
            }
            self.common.waited_since = None;
            self.complete(id, result);
            if failed {
                self.line_up();
            }
        }
    }

    /// How long the first operation may still take. Those behind it have waited, too, since they were
    /// posted, unless something went meanwhile: so they end together when nothing does.
    fn left(&self) -> Option<Duration> {
        let op = self.posted.front().and_then(|id| self.ops.get(*id))?;
        let waited = self.clock.saturating_sub(op.since.max(self.went));
        Some(self.facts.send_timeout.saturating_sub(waited))
    }

    /// The first operation has waited for too long.
    fn expire(&mut self) {
        let after = self.facts.send_timeout;
        let peer = self.facts.peer.clone();
        let Some(op) = self.posted.front().and_then(|id| self.ops.get_mut(*id)) else {
            return;
        };
        if !self.begun {
            return self.complete_first(Err(SendError::TimedOut { after, peer }));
        }
        let (sent, total) = progress(&op.message);
        if let Some(half) = &mut self.half {
            half.abandon(&mut op.message);
        }
        self.complete_first(Err(SendError::Stalled {
            sent,
            total,
            after,
            peer,
        }));
        self.common.watch = None;
        self.half = None;
        self.fail(End::Stalled { received: 0 }, false);
    }
}

/// How much of a message the device took, and how much it is, with the header.
pub(super) fn progress(message: &Outbound<'_>) -> (u64, u64) {
    let total = message
        .header
        .length
        .saturating_add(Header::WIRE_LENGTH as u64);
    (message.taken, total)
}

impl Drop for Sending {
    /// Whoever watches the descriptor forgets it before it is closed.
    fn drop(&mut self) {
        self.common.watch = None;
    }
}
