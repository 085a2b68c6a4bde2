//! Send direction, under its lock: the device half and the posted messages.

mod credit_queue;
mod direction;
mod gathered;
mod outcome;

pub(super) use self::gathered::Flushed;
pub(super) use self::outcome::Leftover;
pub use self::outcome::SendOutcome;

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use super::alarm::Alarm;
use super::connection_info::{ConnectionInfo, EndReason, time_for};
use super::counters::Tally;
use super::direction_lock::{Common, Direction};
use super::gate::{Credit, Gate};
use super::ops::{Notify, OpId, Ops, Sink};
use super::remote::MOST_REQUESTS;
use jstream_base::byte_limit::{ByteCharge, ByteHolder};
use jstream_base::{Header, HeaderError, SendError};
use jstream_device::connection::{Outbound, Outgoing};
use jstream_sync::callbacks;

/// Maximum number of posted answers. Those beyond [`MOST_REQUESTS`] have reached the peer, but the
/// device has not reported it yet. A peer that exceeds its number of requests also makes answers
/// wait.
const MOST_ANSWERS: usize = 2 * MOST_REQUESTS;

/// Time after which a device that has not reported any room is tried again. The system reports room
/// in the buffer of a socket only when a third of it is free, which a peer that stopped reading
/// never brings about, though the buffer may have room for the rest of a message.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// A posted message.
struct SendOp {
    message: Outbound<'static>,
    result: Option<Result<(), SendError>>,
    notify: Notify,
    /// Credit that was charged, or is to be charged.
    cost: Credit,
    /// Value of `clock` at posting time.
    since: Duration,
    /// Position in the queue, counted over all messages that were ever queued; 0 if not queued.
    place: u64,
    /// Charge for the payload, if the layer above limits the bytes that wait for their peers.
    charge: Option<ByteCharge>,
}

/// State of the direction.
///
/// INVARIANT: while the half is present, no message of a blocking call is in progress. Such a call
/// takes the half until its message is complete.
pub(crate) struct SendDirection {
    /// Declared before the messages so that it is dropped first. Afterwards the device does not
    /// read their memory.
    half: Option<Box<dyn Outgoing>>,
    end: Option<EndReason>,
    /// Queued operations, in order, and the number of operations that were ever queued.
    posted: VecDeque<OpId>,
    ever_posted: u64,
    ops: Ops<SendOp>,
    /// Operations that wait for credit of the peer before they are queued.
    gate: Gate<OpId>,
    /// True if the posted messages have no owner any more.
    is_abandoned: bool,
    /// True if the device has taken a part of the first message.
    begun: bool,
    /// Total time that threads have waited while messages were posted.
    clock: Duration,
    /// Value of `clock` when the last message was sent.
    went: Duration,
    /// Number of posted answers to requests of the peer.
    answers: usize,
    common: Common,
    info: Arc<ConnectionInfo>,
    tally: Arc<Tally>,
    alarm: Arc<Alarm>,
    alarm_waker: Waker,
    /// Waker to call when the next posted message has been sent.
    completion_waker: Option<Waker>,
    /// True if the connection was closed locally. A half that is put back is then dropped.
    is_closed: bool,
}

impl SendDirection {
    pub(super) fn new(
        half: Box<dyn Outgoing>,
        info: Arc<ConnectionInfo>,
        tally: Arc<Tally>,
        alarm: Arc<Alarm>,
    ) -> Self {
        Self {
            half: Some(half),
            end: None,
            posted: VecDeque::new(),
            ever_posted: 0,
            ops: Ops::default(),
            gate: Gate::default(),
            is_abandoned: false,
            begun: false,
            clock: Duration::ZERO,
            went: Duration::ZERO,
            answers: 0,
            common: Common::default(),
            info,
            tally,
            alarm_waker: alarm.clone().into(),
            alarm,
            completion_waker: None,
            is_closed: false,
        }
    }

    /// Returns the half for a blocking caller, unless posted messages precede its message.
    #[inline]
    pub(super) fn free_half(&mut self) -> Option<&mut Box<dyn Outgoing>> {
        if !self.posted.is_empty() {
            return None;
        }
        self.half.as_mut()
    }

    /// Appends an operation to the queue.
    pub(super) fn enqueue(&mut self, id: OpId) {
        self.posted.push_back(id);
        // Starts at 1, because 0 means that an operation is not queued.
        self.ever_posted = self.ever_posted.wrapping_add(1);
        if let Some(op) = self.ops.get_mut(id) {
            op.place = self.ever_posted;
        }
    }

    /// Returns the last position that was assigned, and the position up to which all operations
    /// have completed.
    pub(super) fn posted_positions(&self) -> (u64, u64) {
        let first = self.posted.front().and_then(|id| self.ops.get(*id));
        let gone = first.map_or(self.ever_posted, |op| op.place.wrapping_sub(1));
        (self.ever_posted, gone)
    }

    /// Registers `waker` to be called once when the next posted operation has completed. Replaces
    /// the previous waker.
    pub(super) fn notify_when_completed(&mut self, waker: Waker) {
        // The replaced waker is dropped outside of the lock, because that calls the program.
        callbacks::discard(self.completion_waker.replace(waker));
    }

    /// Returns the kind of messages that were not sent.
    pub(super) fn unsent(&self) -> Leftover {
        match (self.posted.is_empty(), self.gate.is_empty()) {
            (false, _) => Leftover::InLine,
            (true, false) => Leftover::Waiting,
            (true, true) => Leftover::Nothing,
        }
    }

    /// Returns true if a blocking caller can send now, or if it can never send. The caller has its
    /// credit or needs none, so operations that wait for credit do not block it: they may wait for
    /// the result of its message.
    pub(super) fn has_turn(&self) -> bool {
        self.end.is_some() || (self.posted.is_empty() && self.half.is_some())
    }

    /// Returns the error if nothing can be sent any more.
    pub(super) fn ended(&self) -> Option<SendError> {
        self.end.as_ref().map(|end| self.info.unsendable(end))
    }

    #[inline]
    pub(super) fn count(&self, header: &Header) {
        self.tally.sent(header.length);
        self.info.trace(header, "sent");
    }

    /// Appends an operation. If it can't be sent, it completes at once.
    pub(super) fn post(
        &mut self,
        message: Outbound<'static>,
        refused: Option<SendError>,
        notify: Notify,
    ) -> OpId {
        self.post_with_credit(message, refused, notify, Credit::FREE)
    }

    /// Continues a message of which the device has a part, and which has no owner. No other message
    /// is posted.
    pub(super) fn adopt(&mut self, message: Outbound<'static>) {
        self.enqueue_message(message, Notify::Nobody);
        // The device has a part of the message, so it can neither be cancelled nor be overtaken.
        self.begun = true;
    }

    /// Appends an operation that needs no credit.
    fn enqueue_message(&mut self, message: Outbound<'static>, notify: Notify) {
        let id = self.ops.insert(SendOp {
            message,
            result: None,
            notify,
            cost: Credit::FREE,
            since: self.clock,
            place: 0,
            charge: None,
        });
        self.enqueue(id);
    }

    /// Appends a message without an owner, which the peer waits for. The charge for it is released
    /// when it has been sent or has failed.
    pub(super) fn post_charged(
        &mut self,
        message: Outbound<'static>,
        refused: Option<SendError>,
        charge: Option<ByteCharge>,
    ) {
        // The charge is dropped here: a message that has failed already does not wait for its peer.
        if refused.is_some() || self.end.is_some() {
            self.post(message, refused, Notify::Request);
            return;
        }
        let was_idle = self.posted.is_empty();
        self.enqueue_message(message, Notify::Request);
        if let Some(op) = self.posted.back().and_then(|id| self.ops.get_mut(*id)) {
            op.charge = charge;
        }
        self.drive();
        if was_idle {
            // The first bytes go to a buffer of the system, whatever the peer does.
            let first = self.posted.front().and_then(|id| self.ops.get(*id));
            if let Some(holder) = first.and_then(SendOp::holder) {
                holder.restart();
            }
        }
    }

    /// Appends an answer to a request of the peer. Returns false if too many answers wait, which
    /// means that the peer violates the protocol.
    ///
    /// A peer that has received an answer may send its next request before the device reports that
    /// the answer was sent. Therefore, the device is polled first, and some extra answers are
    /// accepted for devices that report late.
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

    /// Appends messages that the receive direction produces. Returns the kind of messages that were
    /// not sent, or an error if too many answers wait.
    pub(super) fn post_replies(
        &mut self,
        messages: impl Iterator<Item = (Outbound<'static>, Notify)>,
    ) -> Result<Leftover, HeaderError> {
        // All messages are posted even if an answer is one too many. The error ends the connection,
        // and with it their operations.
        let mut few = true;
        for (message, notify) in messages {
            match notify {
                Notify::Answer => few &= self.post_answer(message),
                notify => drop(self.post(message, None, notify)),
            }
        }
        few.then_some(self.unsent())
            .ok_or(HeaderError::TooManyRequests { max: MOST_REQUESTS })
    }

    /// Removes an operation that has completed, and returns its outcome.
    pub(super) fn take_outcome(&mut self, id: OpId) -> Option<SendOutcome> {
        self.ops.get_mut(id)?.result.as_ref()?;
        let op = self.ops.remove(id)?;
        Some(SendOutcome {
            result: op.result?,
            body: op.message.body,
        })
    }

    /// Registers `task` to be woken when the operation completes. Replaces the previous task.
    pub(super) fn notify(&mut self, id: OpId, task: &Waker) {
        let op = self.ops.get_mut(id);
        if let Some(other) = op.and_then(|op| op.notify.set_task(task)) {
            self.release(other);
        }
    }

    /// Detaches an operation from its owner. The operation is still carried out. Returns the
    /// outcome if it has completed.
    pub(super) fn forget(&mut self, id: OpId) -> Option<SendOutcome> {
        let op = self.ops.get_mut(id)?;
        if op.result.is_some() {
            return self.take_outcome(id);
        }
        if let Notify::Task(task) = std::mem::replace(&mut op.notify, Notify::Nobody) {
            self.release(task);
        }
        None
    }

    /// Unregisters a task from the alarm unless it waits for another operation.
    fn release(&mut self, task: Waker) {
        // One task may poll several tickets of this direction.
        let mut posted = self.posted.iter().filter_map(|id| self.ops.get(*id));
        if !posted.any(|op| op.notify.is_task(&task)) {
            self.alarm.forget(&task);
        }
        callbacks::discard([task]);
    }

    /// Detaches the operations of a sink. The operations are still carried out.
    pub(super) fn forget_sink(&mut self, sink: &Arc<dyn Sink>) {
        for id in &self.posted {
            if let Some(op) = self.ops.get_mut(*id) {
                if op.notify.is_of(sink) {
                    op.notify = Notify::Nobody;
                }
            }
        }
    }

    /// Cancels an operation of which the device has taken nothing. Returns false if the device has
    /// taken a part.
    pub(super) fn cancel(&mut self, id: OpId) -> bool {
        let place = self.posted.iter().position(|posted| *posted == id);
        let Some(place) = place else {
            return true;
        };
        // The peer has a part of the message. Without the rest it would read the next message as
        // this one.
        if place == 0 && self.begun {
            return false;
        }
        self.posted.remove(place);
        self.complete(id, Err(SendError::Cancelled));
        true
    }

    /// Takes the half for a caller that blocks outside of the lock.
    pub(super) fn take_out(&mut self) -> Option<Box<dyn Outgoing>> {
        self.half.take()
    }

    pub(super) fn give_back(&mut self, half: Box<dyn Outgoing>) {
        self.half = Some(half);
        if self.is_closed {
            self.end_closed();
        }
    }

    /// Closes the direction locally.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        // What the device takes now is still delivered.
        self.drive();
        self.end_closed();
    }

    /// Drops the half. If another thread has taken it, this is done when it is put back.
    fn end_closed(&mut self) {
        if self.half.is_some() {
            self.fail(EndReason::ClosedLocally, false);
        }
    }

    /// Ends the direction, and returns the half so that the caller can notify the peer.
    pub(super) fn finish(&mut self) -> Option<Box<dyn Outgoing>> {
        self.end.get_or_insert(EndReason::ClosedLocally);
        self.common.duties.record_change();
        self.common.watch = None;
        self.half.take()
    }

    /// Ends the direction and all posted operations. If `pushed`, it is unknown whether the peer
    /// has the first message.
    pub(super) fn fail(&mut self, end: EndReason, pushed: bool) {
        // Wakes the threads that wait for the half, which is not put back.
        self.common.duties.record_change();
        // The watcher has to remove the descriptor before it is closed.
        self.common.watch = None;
        // The device may still read the memory of the message, which is returned to its owner
        // below.
        if let (Some(mut half), true) = (self.half.take(), self.begun) {
            if let Some(op) = self.posted.front().and_then(|id| self.ops.get_mut(*id)) {
                half.abandon(&mut op.message);
            }
        }
        if end.silences() {
            self.common.duties.record_break();
        }
        // Only the first message can have reached the peer, so only its error says that this is
        // unknown.
        let mut first = std::mem::take(&mut self.begun) || pushed;
        while let Some(id) = self.posted.pop_front() {
            let error = if std::mem::take(&mut first) {
                self.info.send_error(&end)
            } else {
                self.info.unsendable(&end)
            };
            self.complete(id, Err(error));
        }
        self.fail_waiting(&end);
        if self.end.is_none() {
            self.info.note_end(&end, "sending");
            self.end = Some(end);
        }
    }

    fn complete(&mut self, id: OpId, result: Result<(), SendError>) {
        let Some(op) = self.ops.get_mut(id) else {
            return;
        };
        // Gathered messages were counted when they were gathered.
        if result.is_ok() && !matches!(op.notify, Notify::Gathered) {
            self.tally.sent(op.message.header.length);
            self.info.trace(&op.message.header, "sent");
        }
        // The peer never sees this message, so it returns no credit for it.
        if result.is_err() && op.cost != Credit::FREE {
            self.gate.refund(std::mem::take(&mut op.cost));
        }
        // A waiter for the answer would wait indefinitely, so the connection ends unless it has
        // ended already.
        let missed = matches!(
            result,
            Err(SendError::TimedOut { .. } | SendError::NoBuffer { .. })
        );
        op.result = Some(result);
        if let Some(waker) = self.completion_waker.take() {
            callbacks::wake(waker);
        }
        match std::mem::replace(&mut op.notify, Notify::Ticket) {
            Notify::Ticket => self.common.duties.record_change(),
            Notify::Task(task) => {
                self.alarm.forget(&task);
                callbacks::wake(task);
            }
            Notify::Nobody => drop(self.ops.remove(id)),
            frame @ (Notify::Request | Notify::Answer | Notify::Gathered) => {
                drop(self.ops.remove(id));
                if missed {
                    self.common.duties.record_break();
                }
                if matches!(frame, Notify::Answer) {
                    self.answers = self.answers.saturating_sub(1);
                }
            }
            Notify::Sink(sink, user) => {
                if missed && sink.is_awaited() {
                    self.common.duties.record_break();
                }
                // The operation leaves the table before the sink is told, since it has no ticket
                // that would remove it.
                if let Some(sent) = self.take_outcome(id) {
                    sink.sent(user, sent);
                }
            }
        }
    }

    /// Completes the first operation.
    fn complete_first(&mut self, result: Result<(), SendError>) {
        if let Some(id) = self.posted.pop_front() {
            self.begun = false;
            let failed = result.is_err();
            if !failed {
                self.went = self.clock;
            }
            // The tasks that wait go on waiting for the next operation, if there is one.
            let waited = &mut self.common.waited_since;
            *waited = waited
                .filter(|_| !self.posted.is_empty())
                .map(|_| Instant::now());
            self.complete(id, result);
            // The failure has refunded credit, with which other messages may go. After a success,
            // the peer decides when it returns the credit.
            if failed {
                self.enqueue_waiting();
            }
        }
    }

    /// Returns the time left for the first operation. Operations behind it have waited since they
    /// were posted, unless a message was sent meanwhile. So they all time out together if nothing
    /// is sent.
    fn left(&self) -> Option<Duration> {
        let op = self.posted.front().and_then(|id| self.ops.get(*id))?;
        let waited = self.clock.saturating_sub(op.since.max(self.went));
        Some(self.time_for(&op.message).saturating_sub(waited))
    }

    /// Returns the time that the device may take for a message.
    fn time_for(&self, message: &Outbound<'_>) -> Duration {
        let info = &self.info;
        time_for(
            info.send_timeout,
            message.header.length,
            info.limits.max_send,
        )
    }

    /// Completes the first operation, which has timed out.
    fn expire(&mut self) {
        let peer = self.info.peer.clone();
        let first = self.posted.front().copied();
        let Some(op) = first.and_then(|id| self.ops.get(id)) else {
            return;
        };
        let after = self.time_for(&op.message);
        let Some(op) = first.and_then(|id| self.ops.get_mut(id)) else {
            return;
        };
        // The device has nothing of the message, so the connection can go on without it.
        if !self.begun {
            return self.complete_first(Err(SendError::TimedOut { after, peer }));
        }
        let (sent, total) = progress(&op.message);
        // The outcome returns the memory of the message to its owner, so the device has to let go
        // of it first.
        if let Some(half) = &mut self.half {
            half.abandon(&mut op.message);
        }
        self.complete_first(Err(SendError::Stalled {
            sent,
            total,
            after,
            peer,
        }));
        // The stream ends within a message. Nothing that follows would be understood, so the half
        // is dropped.
        self.common.watch = None;
        self.half = None;
        self.fail(EndReason::Stalled { received: 0 }, false);
    }
}

impl SendOp {
    fn holder(&self) -> Option<&ByteHolder> {
        self.charge.as_ref()?.holder()
    }
}

/// Returns the number of bytes that the device took, and the total including the header.
pub(super) fn progress(message: &Outbound<'_>) -> (u64, u64) {
    let total = message
        .header
        .length
        .saturating_add(Header::WIRE_LENGTH as u64);
    (message.taken, total)
}

impl Drop for SendDirection {
    /// Removes the descriptor from the watcher before it is closed.
    fn drop(&mut self) {
        self.common.watch = None;
    }
}
