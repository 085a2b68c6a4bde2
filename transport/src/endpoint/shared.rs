//! What the handles of one connection share: its two directions, each behind a lock of its own.
//!
//! Two kinds of callers meet here. Those that wait, synchronous calls and tickets, carry on everything
//! of their direction while they do. Those that don't are told:
//!
//! - an operation is posted with a [`Notify`]: a ticket that is asked, or a [`Sink`](super::ops::Sink)
//!   that gets the outcome and needs no ticket;
//! - a task that polls its ticket, or calls [`progress`](Shared::progress) for operations of a sink,
//!   is woken when the direction can go on, and then has to look again: nothing goes on by itself.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::{Filled, Spent};

use super::alarm::Alarm;
use super::counters::{self, Tally};
use super::facts::{End, Facts, Trouble};
use super::message::Message;
use super::ops::{Notify, OpId, Sink};
use super::progress::Carrier;
use super::receiving::{Arrived, Receipt, Receiving};
use super::sending::{self, Sending, Sent};
use super::spin::Spin;
use super::tools::Tools;
use super::turn::{Broke, Direction, Held, Turn};
use super::watcher::Watcher;
use crate::address::Address;
use crate::device::connection::{Body, Connection, Fault, Outbound, Outgoing, Push};
use crate::device::deadline::Deadline;
use crate::error::{RecvError, SendError};
use crate::header::Header;
use crate::options::Options;

/// How long a call may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// So long.
    For(Duration),
    /// As long as the connection lives.
    Endless,
}

impl Patience {
    pub(super) fn deadline(self) -> Deadline {
        match self {
            Self::None => Deadline::after(Duration::ZERO),
            Self::For(timeout) => Deadline::after(timeout),
            Self::Endless => Deadline::NEVER,
        }
    }
}

/// One of the two directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    Out,
    In,
}

pub(crate) struct Shared {
    pub(super) sending: Turn<Sending>,
    pub(super) receiving: Turn<Receiving>,
    facts: Arc<Facts>,
    tally: Arc<Tally>,
    sending_alarm: Arc<Alarm>,
    pub(super) receiving_alarm: Arc<Alarm>,
    carrier: Carrier,
    /// What is polled for messages, once somebody asked.
    pub(super) source: OnceLock<OwnedFd>,
    /// What objects are written and read with.
    pub(super) tools: Tools,
}

impl Shared {
    pub(crate) fn new(address: &Address, connection: Connection, options: &Options) -> Arc<Self> {
        let scheme = connection.scheme;
        let facts = Arc::new(Facts::new(
            address.clone(),
            connection.peer,
            scheme,
            connection.limits,
            connection.degraded,
            connection.control,
            options,
        ));
        let tally = counters::enlist(scheme);
        let (sending_alarm, receiving_alarm) = (Arc::new(Alarm::default()), Arc::default());
        let sending = Sending::new(
            connection.outgoing,
            facts.clone(),
            tally.clone(),
            sending_alarm.clone(),
        );
        tracing::debug!(peer = %facts.peer, scheme, "connected");
        for sentence in &facts.degraded {
            tracing::info!(peer = %facts.peer, scheme, "{sentence}");
        }
        Arc::new_cyclic(|shared| {
            let receiving = Receiving::new(
                connection.incoming,
                facts.clone(),
                tally.clone(),
                Arc::clone(&receiving_alarm),
                shared.clone(),
            );
            Self {
                sending: Turn::new(sending, facts.spin, sending_alarm.clone()),
                receiving: Turn::new(receiving, facts.spin, receiving_alarm.clone()),
                facts,
                tally,
                sending_alarm,
                receiving_alarm,
                carrier: Carrier::default(),
                source: OnceLock::new(),
                tools: Tools::new(),
            }
        })
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// A message that waits to be sent. Its length is filled in, and checked.
    #[inline]
    pub(crate) fn outbound<'a>(
        &self,
        header: Header,
        length: Option<u64>,
        body: Body<'a>,
    ) -> (Outbound<'a>, Option<SendError>) {
        let max = self.facts.limits.max_send;
        let length = length.unwrap_or(u64::MAX);
        let refused = (length > max).then(|| self.too_large(length, max));
        let message = Outbound {
            header: Header {
                op: 0,
                ..header.with_length(length)
            },
            body,
            taken: 0,
        };
        (message, refused)
    }

    #[cold]
    fn too_large(&self, length: u64, max: u64) -> SendError {
        SendError::TooLarge {
            length,
            max,
            peer: self.facts.peer.clone(),
        }
    }

    /// Sends a message behind everything posted; its body is left in it where that did not move.
    #[inline]
    pub(crate) fn send(
        self: &Arc<Self>,
        message: &mut Outbound<'_>,
        patience: Patience,
    ) -> Result<(), SendError> {
        let mut held = self.sending.lock();
        let Some(half) = held.free_half() else {
            return self.send_slowly(held, message, None, patience);
        };
        match half.push(message) {
            Ok(Push::Done) => {
                held.count(&message.header);
                self.settle(self.sending.leave(held));
                Ok(())
            }
            pushed => self.send_slowly(held, message, Some(pushed), patience),
        }
    }

    #[cold]
    fn send_slowly<'s>(
        self: &'s Arc<Self>,
        mut held: Held<'s, Sending>,
        message: &mut Outbound<'_>,
        mut pushed: Option<Result<Push, Fault>>,
        patience: Patience,
    ) -> Result<(), SendError> {
        let deadline = patience.deadline();
        if pushed.is_none() {
            let (mut turn, come) = self.sending.wait_until(
                &self.receiving,
                held,
                || deadline,
                |sending| sending.has_turn().then_some(()),
            );
            if come.is_none() {
                self.settle(self.sending.leave(turn));
                return Err(self.late(patience));
            }
            if let Some(error) = turn.ended() {
                self.settle(self.sending.leave(turn));
                return Err(error);
            }
            pushed = turn.free_half().map(|half| half.push(message));
            held = turn;
        }
        let begun = match pushed {
            Some(Ok(Push::Begun)) => {
                if matches!(patience, Patience::None) {
                    self.let_go(held, message);
                    return Ok(());
                }
                true
            }
            Some(Ok(Push::Untouched)) | None => {
                if matches!(patience, Patience::None) {
                    self.settle(self.sending.leave(held));
                    return Err(SendError::WouldBlock);
                }
                false
            }
            Some(Ok(Push::Done)) => {
                held.count(&message.header);
                self.settle(self.sending.leave(held));
                return Ok(());
            }
            Some(Err(fault)) => return Err(self.send_failed(held, fault)),
        };
        let Some(mut half) = held.take_out() else {
            unreachable!("what was pushed to is here")
        };
        self.settle(self.sending.leave(held));
        let outcome = self.push_until(&mut half, message, begun, deadline);
        self.sending_alarm.disarm();
        let mut held = self.sending.lock();
        held.give_back(half);
        let result = match outcome {
            Ok(()) => {
                held.count(&message.header);
                Ok(())
            }
            Err(Unpushed::Late) => Err(self.late(patience)),
            Err(Unpushed::Stalled) => {
                let (sent, total) = sending::progress(message);
                held.fail(End::Stalled { received: 0 }, false);
                Err(SendError::Stalled {
                    sent,
                    total,
                    after: self.facts.send_timeout,
                    peer: self.facts.peer.clone(),
                })
            }
            Err(Unpushed::Fault(fault)) => return Err(self.send_failed(held, fault)),
        };
        held.drive();
        self.settle(self.sending.leave(held));
        result
    }

    /// Has the rest of a message sent without its caller, as if it had been posted.
    #[cold]
    fn let_go(self: &Arc<Self>, mut held: Held<'_, Sending>, message: &mut Outbound<'_>) {
        let body = match std::mem::replace(&mut message.body, Body::Taken) {
            Body::Borrowed(segments) => Body::Owned(self.gather(segments)),
            Body::Owned(filled) => Body::Owned(filled),
            Body::Object(_) | Body::Taken => unreachable!("what moves moves as a whole"),
        };
        held.adopt(Outbound {
            header: message.header,
            body,
            taken: message.taken,
        });
        self.settle(self.sending.leave(held));
        self.carry();
    }

    /// A copy of a message's payload. At most one in a connection is on its way, so where the pool has no
    /// room, it is memory of its own.
    pub(crate) fn gather(&self, segments: &[IoSlice<'_>]) -> Filled {
        let length = segments.iter().map(|segment| segment.len());
        let length = length.fold(0, usize::saturating_add);
        let spent = self.facts.pool.take(length);
        let mut filling = spent.unwrap_or_else(|_| Spent::heap(length)).filling();
        for segment in segments {
            let fits = filling.extend(segment);
            debug_assert!(fits, "there is room for all of them");
        }
        filling.finish()
    }

    /// Whether a message that is not posted could be sent now, as far as what was posted goes.
    pub(crate) fn has_turn(&self) -> bool {
        let mut held = self.sending.lock();
        held.drive();
        let has_turn = held.has_turn();
        self.settle(self.sending.leave(held));
        has_turn
    }

    /// Pushes one message until it is done, while the half is nobody else's.
    fn push_until(
        &self,
        half: &mut Box<dyn Outgoing>,
        message: &mut Outbound<'_>,
        mut begun: bool,
        deadline: Deadline,
    ) -> Result<(), Unpushed> {
        let mut spin = Spin::begin(self.facts.spin, 0, deadline);
        loop {
            match half.push(message).map_err(Unpushed::Fault)? {
                Push::Done => return Ok(()),
                Push::Begun => begun = true,
                Push::Untouched => {}
            }
            // What was posted beside goes on in the sleep.
            if !self.receiving.is_pending() && spin.again() {
                continue;
            }
            if deadline.has_passed() {
                if begun {
                    half.abandon(message);
                    return Err(Unpushed::Stalled);
                }
                return Err(Unpushed::Late);
            }
            let (slept, broke) = self.receiving.sleep_beside::<Sending>(half, deadline);
            self.settle(broke);
            slept.map_err(Unpushed::Fault)?;
        }
    }

    fn late(&self, patience: Patience) -> SendError {
        match patience {
            Patience::None => SendError::WouldBlock,
            Patience::For(after) => SendError::TimedOut {
                after,
                peer: self.facts.peer.clone(),
            },
            Patience::Endless => unreachable!("nothing is late that may take for ever"),
        }
    }

    fn send_failed(&self, mut held: Held<'_, Sending>, fault: Fault) -> SendError {
        let error = match Trouble::of(fault, 0) {
            Trouble::NoBuffer { length, source } => SendError::NoBuffer {
                length,
                peer: self.facts.peer.clone(),
                source,
            },
            Trouble::End(end) => {
                let error = self.facts.send_error(&end);
                held.fail(end, false);
                error
            }
        };
        held.drive();
        self.settle(self.sending.leave(held));
        error
    }

    /// Posts a message. What is refused ends at once.
    pub(crate) fn post_send(
        self: &Arc<Self>,
        message: Outbound<'static>,
        refused: Option<SendError>,
        notify: Notify,
    ) -> OpId {
        let mut held = self.sending.lock();
        let id = held.post(message, refused, notify);
        let is_left = held.has_posted();
        self.settle(self.sending.leave(held));
        // Those who wait for a message already have not seen it.
        if is_left && (self.sending.has_sleepers_beside() || self.receiving_alarm.is_waited_for()) {
            self.carry();
        }
        id
    }

    /// Has what is posted to be sent carried on, though nobody waits for it.
    fn carry(self: &Arc<Self>) {
        // Only its own thread can go on with a simulation.
        if self.facts.scheme != "sim" {
            self.carrier.carry(self);
        }
    }

    /// Posts a receive into a jbuf, or into one of the pool.
    pub(crate) fn post_recv(&self, spent: Option<Spent>, notify: Notify) -> OpId {
        let mut held = self.receiving.lock();
        let id = held.post(spent, notify);
        let is_left = held.has_posted();
        self.settle(self.receiving.leave(held));
        // Tasks that wait for a send already have not seen it.
        if is_left && self.sending_alarm.is_waited_for() {
            self.sending_alarm.ring();
        }
        id
    }

    /// Receives a message behind everything posted: into `message`, or to `other` where it is more than
    /// bytes.
    #[inline]
    pub(crate) fn receive(
        &self,
        message: &mut Message,
        other: &mut Option<Arrived>,
        patience: Patience,
    ) -> Result<(), RecvError> {
        let mut held = self.receiving.lock();
        let mut more = None;
        if !held.receive_whole(message, &mut more) {
            let attempt = |receiving: &mut Receiving| receiving.receive_whole(message, &mut more);
            let (turn, come) = self.receive_slowly(held, patience, attempt);
            if !come {
                more = Some(Err(self.unreceived(patience)));
            }
            held = turn;
        }
        self.settle(self.receiving.leave(held));
        if let Some(more) = more {
            *other = Some(more?);
        }
        Ok(())
    }

    /// As [`receive`](Self::receive), for a message that is wanted in `memory`.
    #[inline]
    pub(crate) fn receive_into(
        &self,
        memory: &mut [u8],
        patience: Patience,
    ) -> Result<Header, RecvError> {
        let mut held = self.receiving.lock();
        let (mut header, mut failed) = (Header::default(), None);
        if !held.receive_into(memory, &mut header, &mut failed) {
            let attempt = |receiving: &mut Receiving| {
                receiving.receive_into(memory, &mut header, &mut failed)
            };
            let (turn, come) = self.receive_slowly(held, patience, attempt);
            if !come {
                failed = Some(self.unreceived(patience));
            }
            held = turn;
        }
        self.settle(self.receiving.leave(held));
        match failed {
            None => Ok(header),
            Some(error) => Err(error),
        }
    }

    /// Waits until `attempt` says that something has come, or not any longer.
    fn receive_slowly<'s>(
        &'s self,
        held: Held<'s, Receiving>,
        patience: Patience,
        mut attempt: impl FnMut(&mut Receiving) -> bool,
    ) -> (Held<'s, Receiving>, bool) {
        let deadline = || patience.deadline();
        let attempt = |receiving: &mut Receiving| attempt(receiving).then_some(());
        let waited = self
            .receiving
            .wait_until(&self.sending, held, deadline, attempt);
        (waited.0, waited.1.is_some())
    }

    #[cold]
    fn unreceived(&self, patience: Patience) -> RecvError {
        match patience {
            Patience::None => RecvError::Empty,
            Patience::For(after) => RecvError::TimedOut {
                after,
                peer: self.facts.peer.clone(),
            },
            Patience::Endless => unreachable!("nothing is late that may take for ever"),
        }
    }

    /// Has a message received next, as if it had not been received yet.
    pub(crate) fn keep(&self, arrived: Arrived) {
        let mut held = self.receiving.lock();
        held.keep(arrived);
        self.settle(self.receiving.leave(held));
    }

    /// Waits for what comes of a posted send; `None` when it is not known in time.
    pub(crate) fn wait_sent(&self, id: OpId, patience: Patience) -> Option<Sent> {
        let mut held = self.sending.lock();
        let sent = held.take(id);
        let (held, sent) = match sent {
            Some(sent) => (held, Some(sent)),
            None => {
                let deadline = || patience.deadline();
                self.sending
                    .wait_until(&self.receiving, held, deadline, |sending| sending.take(id))
            }
        };
        self.settle(self.sending.leave(held));
        sent
    }

    /// Waits for what comes of a posted receive; `None` when it is not known in time.
    pub(crate) fn wait_received(&self, id: OpId, patience: Patience) -> Option<Receipt> {
        let mut held = self.receiving.lock();
        let receipt = held.take(id);
        let (held, receipt) = match receipt {
            Some(receipt) => (held, Some(receipt)),
            None => {
                let deadline = || patience.deadline();
                self.receiving
                    .wait_until(&self.sending, held, deadline, |receiving| {
                        receiving.take(id)
                    })
            }
        };
        self.settle(self.receiving.leave(held));
        receipt
    }

    /// What came of a posted send, or else `task` is woken when it may be known.
    pub(crate) fn poll_sent(&self, id: OpId, task: &Waker) -> Option<Sent> {
        let mut held = self.sending.lock();
        Turn::drive_for_task(&mut *held);
        let sent = held.take(id);
        if sent.is_none() {
            held.notify(id, task);
            self.sending_alarm.register(task, None);
        }
        self.settle(self.sending.leave(held));
        if sent.is_none() {
            self.progress_beside(Way::Out, Some(task), None);
        }
        sent
    }

    /// What came of a posted receive, or else `task` is woken when it may be known.
    pub(crate) fn poll_received(self: &Arc<Self>, id: OpId, task: &Waker) -> Option<Receipt> {
        let mut held = self.receiving.lock();
        Turn::drive_for_task(&mut *held);
        let receipt = held.take(id);
        if receipt.is_none() {
            held.notify(id, task);
            self.receiving_alarm.register(task, None);
        }
        self.settle(self.receiving.leave(held));
        if receipt.is_none() {
            self.progress_beside(Way::In, Some(task), None);
        }
        receipt
    }

    /// Ends a posted send that the device has taken nothing of. False when it has.
    pub(crate) fn cancel_send(&self, id: OpId) -> bool {
        let mut held = self.sending.lock();
        let cancelled = held.cancel(id);
        held.drive();
        self.settle(self.sending.leave(held));
        cancelled
    }

    /// Ends a posted receive that has no message.
    pub(crate) fn cancel_receive(&self, id: OpId) {
        let mut held = self.receiving.lock();
        held.cancel(id);
        held.drive();
        self.settle(self.receiving.leave(held));
    }

    /// Nobody asks for a posted send any more; it is still carried out.
    pub(crate) fn forget_send(self: &Arc<Self>, id: OpId) {
        let mut held = self.sending.lock();
        let sent = held.forget(id);
        let is_left = held.has_posted();
        self.settle(self.sending.leave(held));
        drop(sent);
        if is_left {
            self.carry();
        }
    }

    /// Nobody asks for a posted receive any more; a message that it has is kept.
    pub(crate) fn forget_receive(&self, id: OpId) {
        let mut held = self.receiving.lock();
        let missed = held.forget(id);
        self.settle(self.receiving.leave(held));
        drop(missed);
    }

    /// Carries on what was posted, without waiting. Whether something has not ended; then `task`, if
    /// given, is woken once when the direction can go on. `place` is where the source may be watched
    /// meanwhile, if whoever has the task sees to it.
    pub(crate) fn progress(
        &self,
        way: Way,
        task: Option<&Waker>,
        place: Option<&Arc<Watcher>>,
    ) -> bool {
        let is_left = match way {
            Way::Out => self.progress_of(&self.sending, &self.sending_alarm, task, place),
            Way::In => self.progress_of(&self.receiving, &self.receiving_alarm, task, place),
        };
        if is_left {
            self.progress_beside(way, task, place);
        }
        is_left
    }

    /// Carries on what was posted to the other direction, for a task that waits for one: the peer may
    /// wait for an answer, or for somebody to receive.
    pub(super) fn progress_beside(
        &self,
        way: Way,
        task: Option<&Waker>,
        place: Option<&Arc<Watcher>>,
    ) {
        match way {
            Way::Out if self.receiving.is_pending() => {
                self.progress_of(&self.receiving, &self.receiving_alarm, task, place);
            }
            Way::In if self.sending.is_pending() => {
                self.progress_of(&self.sending, &self.sending_alarm, task, place);
            }
            Way::Out | Way::In => {}
        }
    }

    /// As [`progress`](Self::progress), for a task that also carries on what is posted later.
    pub(crate) fn attend(&self, way: Way, task: &Waker) {
        match way {
            Way::Out => self.sending_alarm.register(task, None),
            Way::In => self.receiving_alarm.register(task, None),
        }
        self.progress(way, Some(task), None);
    }

    /// Nobody takes the outcomes of a sink's operations any more. What it sends is still carried out;
    /// what it receives is given up, and its messages are received otherwise. `task` carries on nothing
    /// any more.
    pub(crate) fn forget_sink(self: &Arc<Self>, way: Way, sink: &Arc<dyn Sink>, task: &Waker) {
        match way {
            Way::Out => {
                let mut held = self.sending.lock();
                held.drive();
                held.forget_sink(sink);
                Self::forget_task(&mut *held, &self.sending_alarm, task);
                let is_left = held.has_posted();
                self.settle(self.sending.leave(held));
                self.forget_beside(&self.receiving, &self.receiving_alarm, task);
                if is_left {
                    self.carry();
                }
            }
            Way::In => {
                let mut held = self.receiving.lock();
                let missed = held.forget_sink(sink);
                Self::forget_task(&mut *held, &self.receiving_alarm, task);
                held.drive();
                self.settle(self.receiving.leave(held));
                self.forget_beside(&self.sending, &self.sending_alarm, task);
                drop(missed);
            }
        }
    }

    /// A task that is gone may have carried on the other direction, too.
    fn forget_beside<D: Direction>(&self, turn: &Turn<D>, alarm: &Alarm, task: &Waker) {
        let mut held = turn.lock();
        Self::forget_task(&mut *held, alarm, task);
        self.settle(turn.leave(held));
    }

    /// A task is gone, and where it had the source watched: others that wait have it watched anew.
    fn forget_task<D: Direction>(held: &mut D, alarm: &Alarm, task: &Waker) {
        alarm.forget(task);
        alarm.disarm();
        held.common().watch = None;
    }

    fn progress_of<D: Direction>(
        &self,
        turn: &Turn<D>,
        alarm: &Alarm,
        task: Option<&Waker>,
        place: Option<&Arc<Watcher>>,
    ) -> bool {
        let mut held = turn.lock();
        Turn::drive_for_task(&mut *held);
        let is_left = held.has_posted();
        if let (Some(task), true) = (task, is_left) {
            alarm.register(task, place);
        }
        self.settle(turn.leave(held));
        is_left
    }

    /// Says that nothing more is sent, behind everything posted.
    pub(crate) fn finish(&self) -> Result<(), SendError> {
        let patience = Patience::For(self.facts.send_timeout);
        let held = self.sending.lock();
        let (mut held, come) = self.sending.wait_until(
            &self.receiving,
            held,
            || patience.deadline(),
            |sending| sending.has_turn().then_some(()),
        );
        let half = come.and_then(|()| held.finish());
        self.settle(self.sending.leave(held));
        drop(half);
        come.ok_or_else(|| self.late(patience))
    }

    /// Ends the connection: whoever waits is told so.
    pub(crate) fn close(&self) {
        self.facts.control.close();
        let mut held = self.receiving.lock();
        held.close();
        self.settle(self.receiving.leave(held));
        self.progress(Way::Out, None, None);
    }

    /// A descriptor of its own for what is polled for messages.
    pub(super) fn source(&self) -> io::Result<OwnedFd> {
        let held = self.receiving.lock();
        let source = held.source();
        self.settle(self.receiving.leave(held));
        source
    }

    /// Prepares to sleep in the program's own poll. True when something is to be received first.
    pub(super) fn arm(&self) -> bool {
        let mut held = self.receiving.lock();
        let is_ready = held.arm_bare();
        self.settle(self.receiving.leave(held));
        is_ready
    }

    /// Ends the other direction, where one can't go on.
    #[inline]
    pub(super) fn settle(&self, broke: Broke) {
        if broke.0 {
            self.break_off();
        }
    }

    #[cold]
    fn break_off(&self) {
        self.facts.break_off();
        self.progress(Way::In, None, None);
        self.progress(Way::Out, None, None);
    }
}

/// Why a message was not pushed to its end.
enum Unpushed {
    /// Nothing of it was taken in time.
    Late,
    /// Something was.
    Stalled,
    Fault(Fault),
}

impl Drop for Shared {
    fn drop(&mut self) {
        counters::retire(self.facts.scheme, &self.tally);
        tracing::debug!(peer = %self.facts.peer, scheme = self.facts.scheme, "dropped");
    }
}
