//! What the handles of one connection share: its two directions, each behind a lock of its own.
//!
//! Two kinds of callers meet here. Those that wait, synchronous calls and tickets, carry on everything
//! of their direction while they do. Those that don't are told:
//!
//! - an operation is posted with a [`Notify`](super::ops::Notify): a ticket that is asked, or a [`Sink`](super::ops::Sink)
//!   that gets the outcome and needs no ticket;
//! - a task that polls its ticket, or calls [`progress`](Shared::progress) for operations of a sink,
//!   is woken when the direction can go on, and then has to look again: nothing goes on by itself.

mod calls;
mod gathering;
mod posted;
mod taken;

use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use std::time::Duration;

use jstream::Writer;

use self::gathering::Gathering;
use super::alarm::Alarm;
use super::begun::BegunShare;
use super::counters::{self, Tally};
use super::facts::Facts;
use super::ops::Sink;
use super::progress::Carrier;
use super::receiving::Receiving;
use super::sending::Sending;
use super::tools::Tools;
use super::turn::{Broke, Direction, Turn};
use super::watcher::Watcher;
use crate::address::Address;
use crate::device::connection::Connection;
use crate::device::deadline::Deadline;
use crate::error::SendError;
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

/// Who waits for less looks before a sleep, which may be over before it has begun.
const LONG: Duration = Duration::from_millis(1);

impl Patience {
    /// Whether there is time for a sleep.
    #[inline]
    fn is_long(self) -> bool {
        match self {
            Self::None => false,
            Self::For(timeout) => timeout > LONG,
            Self::Endless => true,
        }
    }

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
    gathering: Gathering,
    /// The device receives by the call that sleeps, as it said before anything had come.
    sleeps_receiving: bool,
    /// What is polled for messages, once somebody asked.
    pub(super) source: OnceLock<OwnedFd>,
    /// What objects are written and read with.
    pub(super) tools: Tools,
    /// What a layer above has of the connection.
    attached: OnceLock<Weak<dyn Any + Send + Sync>>,
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
        let gathering = Gathering::new(&*connection.outgoing, scheme);
        let sleeps_receiving = connection.incoming.receives_asleep();
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
        let half_of_pool = options.pool.options().max_mapped.wrapping_shr(1);
        Arc::new_cyclic(|shared| {
            let receiving = Receiving::new(
                connection.incoming,
                facts.clone(),
                tally.clone(),
                Arc::clone(&receiving_alarm),
                BegunShare::new(
                    options.begun_bytes.clone(),
                    options.max_begun_bytes.min(half_of_pool as u64),
                ),
                shared.clone(),
            );
            Self {
                sending: Turn::new(sending, facts.spin, sending_alarm.clone(), facts.origin),
                receiving: Turn::new(receiving, facts.spin, receiving_alarm.clone(), facts.origin),
                facts,
                tally,
                sending_alarm,
                receiving_alarm,
                carrier: Carrier::default(),
                gathering,
                sleeps_receiving,
                source: OnceLock::new(),
                tools: Tools::new(),
                attached: OnceLock::new(),
            }
        })
    }

    pub(super) fn carrier(&self) -> &Carrier {
        &self.carrier
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether it belongs to the process that this one was forked from.
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.facts.origin.is_elsewhere()
    }

    /// Writes with one of the endpoint's own writers.
    pub(crate) fn with_writer<R>(&self, work: impl FnOnce(&mut Writer) -> R) -> R {
        self.tools.with_writer(work)
    }

    /// Whether something is posted to be sent that has not gone.
    pub(crate) fn has_unsent(&self) -> bool {
        self.sending.is_pending()
    }

    /// Remembers what a layer above has of the connection. False when one did before.
    pub(crate) fn attach(&self, attached: Weak<dyn Any + Send + Sync>) -> bool {
        self.attached.set(attached).is_ok()
    }

    /// What was attached, as long as it is there.
    pub(crate) fn attached(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.attached.get()?.upgrade()
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
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
            Way::Out if self.receiving.is_pending_by_now() => {
                self.progress_of(&self.receiving, &self.receiving_alarm, task, place);
            }
            Way::In if self.sending.is_pending_by_now() => {
                self.progress_of(&self.sending, &self.sending_alarm, task, place);
            }
            Way::Out | Way::In => {}
        }
    }

    /// Has what carries on the posted sends woken when there are none any more.
    pub(super) fn tell_when_sent(&self, carrier: &Waker) {
        self.sending_alarm.set_carrier(carrier);
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
    /// what it receives is given up, and its messages are received otherwise. How many receives that were.
    /// `task` carries on nothing any more.
    pub(crate) fn forget_sink(
        self: &Arc<Self>,
        way: Way,
        sink: &Arc<dyn Sink>,
        task: &Waker,
    ) -> usize {
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
                0
            }
            Way::In => {
                let mut held = self.receiving.lock();
                let missed = held.forget_sink(sink);
                Self::forget_task(&mut *held, &self.receiving_alarm, task);
                held.drive();
                self.settle(self.receiving.leave(held));
                self.forget_beside(&self.sending, &self.sending_alarm, task);
                missed.len()
            }
        }
    }

    /// As [`forget_waker`](Self::forget_waker), for a task that may have had the sources watched.
    pub(crate) fn forget_watching(&self, task: &Waker) {
        self.forget_beside(&self.receiving, &self.receiving_alarm, task);
        self.forget_beside(&self.sending, &self.sending_alarm, task);
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
        self.try_flush();
        let patience = Patience::For(self.facts.send_timeout);
        let held = self.sending.lock();
        let all_gone = |sending: &mut Sending| {
            let all_gone = sending.has_turn() && !sending.waits_for_credit();
            all_gone.then_some(())
        };
        let deadline = || patience.deadline();
        let (mut held, come) = self
            .sending
            .wait_until(&self.receiving, held, deadline, all_gone);
        let half = come.and_then(|()| held.finish());
        self.settle(self.sending.leave(held));
        drop(half);
        come.ok_or_else(|| self.late(patience))
    }

    /// Ends the connection: whoever waits is told so.
    pub(crate) fn close(&self) {
        if self.is_elsewhere() {
            return;
        }
        self.try_flush();
        self.facts.close();
        let mut held = self.receiving.lock();
        held.close();
        self.settle(self.receiving.leave(held));
        let mut held = self.sending.lock();
        held.close();
        self.settle(self.sending.leave(held));
        self.facts.release();
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
        // What the peer has said of its end counts, whichever direction met it first.
        let mut held = self.receiving.lock();
        held.look();
        let _ = self.receiving.leave(held);
        self.facts.break_off();
        self.progress(Way::In, None, None);
        self.progress(Way::Out, None, None);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            self.sending.get_mut().disown();
            self.receiving.get_mut().disown();
            std::mem::forget(self.facts.clone());
        }
        counters::retire(self.facts.scheme, &self.tally);
        tracing::debug!(peer = %self.facts.peer, scheme = self.facts.scheme, "dropped");
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
