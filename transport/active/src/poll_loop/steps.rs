//! Steps of a wait: each handles an available message or deferred work, or waits for a message.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use jstream::buffer::MessageBuffer;

use super::members::{Member, MemberSnapshot};
use super::progress::{Progress, Wait};
use super::{MOST, PollGuard, PollLoop, PollOutcome, SHORT_SLEEP, SLICE};
use crate::budget::{Tick, tick};
use crate::handlers::Handlers;
use crate::ledger::Answer;
use crate::link::Link;
use crate::turn;
use jstream_base::RecvError;
use jstream_device::deadline::Deadline;
use jstream_endpoint::CompletionQueue;
use jstream_endpoint::queue::Done;
use jstream_endpoint::receiving::{Arrived, Inbound};
use jstream_endpoint::spin::Spin;
use jstream_sync::callbacks;

impl PollLoop {
    /// Arms each connection that is not armed to report its next message to the queue, except one
    /// whose message waits for room in the pool: it would be reported immediately. Returns true if
    /// there is no such message. Otherwise the caller must poll, because it is not woken when the
    /// pool has room.
    ///
    /// The caller has just polled the members without result.
    pub(super) fn arm_all(&self, queue: &CompletionQueue, members: &mut MemberSnapshot) -> bool {
        let mut has_room = true;
        self.members.update(members);
        for member in members.all() {
            let Some(link) = member.link.upgrade() else {
                continue;
            };
            if link.membership().is_armed() {
                continue;
            }
            if link.shortage().is_active() {
                has_room = false;
                continue;
            }
            // A thread that moves the connection either finds it armed, or it is not armed here.
            let _stays = link.membership().lock_moves();
            if link.membership().arm(self) {
                queue.arm(link.endpoint());
            }
        }
        has_room
    }

    /// Handles an available message, or waits for one until the deadline.
    #[inline]
    pub(super) fn advance(
        &self,
        guard: &mut PollGuard<'_>,
        wait: &Wait<'_>,
        progress: &mut Progress,
    ) {
        // With one connection and nothing else to do, the thread receives and sleeps in the
        // connection. The group needs no completion queue then.
        if let (Some(link), false, false) = (wait.link, progress.slept, self.deferred.is_pending())
        {
            if self.members.has_only(link) && !link.membership().is_armed() {
                progress.last = Tick::default();
                let mut inbound = Inbound::empty();
                let shared = link.endpoint().shared();
                // A message that is already here is received without a system call, so frames may
                // be held back for longer.
                if !shared.has_more() {
                    turn::flush();
                    shared.flush_before_poll();
                }
                if shared.receive_within(&mut inbound, SLICE, wait.until) {
                    let (link, handlers) = (link.clone(), link.handlers());
                    let handled = self.handle(link, handlers, &mut inbound, guard);
                    // The pool does not tell when it has room, so the thread looks again after a
                    // short time. Other threads may poll meanwhile.
                    if let PollOutcome::NoRoom = handled {
                        guard.release();
                        thread::sleep(SHORT_SLEEP);
                    }
                } else {
                    // A message that waits for room would have been reported instead.
                    link.shortage().clear();
                    progress.slept = true;
                }
                return;
            }
        }
        self.step_in_group(guard, wait.until, progress);
    }

    /// As [`advance`](Self::advance), for a thread that waits for no connection in particular.
    pub(super) fn step_in_group(
        &self,
        guard: &mut PollGuard<'_>,
        mut until: Deadline,
        progress: &mut Progress,
    ) {
        let last = std::mem::take(&mut progress.last);
        let is_awake = std::mem::take(&mut progress.is_awake);
        // If more messages are available, a sleep would return immediately.
        let sleeps = self.spin.is_zero() && !is_awake && !progress.is_more;
        if sleeps && self.sleep_in_connection(until, progress) {
            return;
        }
        progress.last = last;
        if let PollOutcome::Something = self.poll_once(guard, progress) {
            return self.end_idle(progress);
        }
        // Answers of this thread that were held back go before it spins or sleeps.
        turn::flush();
        if is_awake {
            return self.poll_after_sleep(guard, progress);
        }
        let spinning = progress
            .spin
            .get_or_insert_with(|| Spin::begin(self.spin, self.habit(), until));
        if spinning.may_continue() {
            return;
        }
        // The awaited event must know a waker before the thread sleeps. The next step has
        // registered it.
        if !progress.is_entered {
            progress.slept = true;
            return;
        }
        if self.sleep_in_connection(until, progress) {
            return;
        }
        // The work may depend on something that wakes nobody, such as room in the pool.
        if self.deferred.is_pending() {
            until = until.or_sooner(Deadline::after(SHORT_SLEEP));
        }
        // The system has no descriptor for a queue.
        let Some(queue) = self.queue() else {
            guard.release();
            return thread::sleep(SHORT_SLEEP);
        };
        if !self.arm_all(queue, &mut progress.members) {
            until = until.or_sooner(Deadline::after(SHORT_SLEEP));
        }
        let done = queue.wait_done(until);
        if let Some(spin) = &mut progress.spin {
            spin.has_slept();
        }
        match done.map(|done| self.complete(done, guard)) {
            Some(PollOutcome::Something) => self.end_idle(progress),
            Some(PollOutcome::Nothing | PollOutcome::NoRoom) | None => self.end_spin(progress),
        }
    }

    /// Records that a message was handled: the next wait begins anew.
    pub(super) fn end_idle(&self, progress: &mut Progress) {
        progress.slept = false;
        self.end_spin(progress);
    }

    fn end_spin(&self, progress: &mut Progress) {
        if let Some(spin) = progress.spin.take() {
            let mut habit = self.habit();
            spin.end(&mut habit);
            self.habit.store(habit, Ordering::Relaxed);
        }
    }

    /// Fast path for a group with a single connection: its poller sleeps in the connection itself,
    /// without arming it. Sleeps until a message of the connection arrives, or a thread
    /// calls; the caller must then poll for messages. Returns false without sleeping if the group
    /// has other work, or a message is available.
    pub(super) fn sleep_in_connection(&self, until: Deadline, progress: &mut Progress) -> bool {
        if !progress.is_entered || self.deferred.is_pending() || callbacks::are_queued() {
            return false;
        }
        self.members.update(&mut progress.members);
        let [member] = progress.members.all() else {
            return false;
        };
        let Some(link) = member.link.upgrade() else {
            return false;
        };
        // A message that waits for room in the pool keeps the socket readable.
        if link.membership().is_armed() || link.shortage().is_active() {
            return false;
        }
        if !link.endpoint().shared().may_be_called() {
            return false;
        }
        // The sleep must not keep the link alive, so only the endpoint is cloned.
        let endpoint = link.endpoint().clone();
        drop(link);
        let (shared, Some(queue)) = (endpoint.shared(), self.queue()) else {
            return false;
        };
        turn::flush();
        shared.flush_before_poll();
        let slept = queue.sleep_beside(|bell| shared.sleep_or_called(bell, until));
        progress.is_awake = slept == Some(true);
        if let (true, Some(spin)) = (progress.is_awake, &mut progress.spin) {
            spin.has_slept();
        }
        progress.is_awake
    }

    /// Handles a wake-up after which no message was found: a call by another thread, or a spurious
    /// one.
    #[cold]
    pub(super) fn poll_after_sleep(&self, guard: &mut PollGuard<'_>, progress: &mut Progress) {
        match self.poll_queue(guard) {
            PollOutcome::Something => self.end_idle(progress),
            PollOutcome::Nothing | PollOutcome::NoRoom => self.end_spin(progress),
        }
    }

    pub(super) fn deliver(&self, link: Arc<Link>, arrived: Arrived, guard: &mut PollGuard<'_>) {
        let pool = &link.endpoint().shared().info().pool;
        match arrived.into_bytes(pool) {
            Ok((header, payload)) => {
                let handlers = link.handlers().clone();
                link.arrived(&handlers, &header, payload, guard);
            }
            Err(_) => Self::lost(&link, &RecvError::Empty, guard),
        }
    }

    /// Ends a connection that was lost. That runs code of the program which may block, so the
    /// poller lock is released first.
    #[cold]
    pub(super) fn lost(link: &Link, error: &RecvError, guard: &mut PollGuard<'_>) {
        guard.release();
        link.lost(error);
    }

    /// Handles a message for which the pool has no room. A connection that has waited too long is
    /// ended.
    #[cold]
    pub(super) fn handle_shortage(
        link: &Link,
        error: &RecvError,
        guard: &mut PollGuard<'_>,
    ) -> PollOutcome {
        if link.shortage().record(error, link.settings.buffer_timeout) {
            return PollOutcome::NoRoom;
        }
        guard.release();
        link.give_up_waiting_for_room(error);
        PollOutcome::Something
    }

    /// Handles the result of a receive. The message is taken out of its index, because passing it
    /// by value would copy it at each call.
    #[inline]
    pub(super) fn handle(
        &self,
        link: Arc<Link>,
        handlers: &Handlers,
        inbound: &mut Inbound,
        guard: &mut PollGuard<'_>,
    ) -> PollOutcome {
        if inbound.other.is_some() {
            return self.handle_other(link, &mut inbound.other, guard);
        }
        let payload = std::mem::replace(&mut inbound.message.payload, MessageBuffer::nothing());
        link.arrived(handlers, &inbound.message.header, payload, guard);
        PollOutcome::Something
    }

    /// Handles the results of a receive other than a message of bytes.
    #[cold]
    pub(super) fn handle_other(
        &self,
        link: Arc<Link>,
        more: &mut Option<Result<Arrived, RecvError>>,
        guard: &mut PollGuard<'_>,
    ) -> PollOutcome {
        match more.take() {
            Some(Ok(arrived)) => self.deliver(link, arrived, guard),
            None | Some(Err(RecvError::TimedOut { .. } | RecvError::Empty)) => {
                return PollOutcome::Nothing;
            }
            // The message stays in the connection until there is room in the pool.
            Some(Err(error @ RecvError::NoBuffer { .. })) => {
                return Self::handle_shortage(&link, &error, guard);
            }
            Some(Err(error)) => Self::lost(&link, &error, guard),
        }
        PollOutcome::Something
    }

    /// Handles one message or one deferred item, if there is one. A thread that queues requests
    /// handles no deferred items. A connection whose message finds no room in the pool does not
    /// block the others.
    #[inline]
    pub(super) fn poll_once(
        &self,
        guard: &mut PollGuard<'_>,
        progress: &mut Progress,
    ) -> PollOutcome {
        // Deferred work gets its share, however many messages arrive.
        let is_due = self.deferred.is_pending() && !guard.defers_requests;
        if is_due {
            progress.last = Tick::default();
            if self.run_due(guard) {
                return PollOutcome::Something;
            }
        }
        let Progress {
            members,
            is_more,
            last,
            ..
        } = progress;
        let last_done = std::mem::take(last);
        *is_more = false;
        self.members.update(members);
        let count = members.all().len();
        let is_alone = count == 1 && !is_due;
        if count > 1 && self.rotation.is_clock_turn() {
            self.age_incomplete(members.all());
        }
        let first = self.rotation.first(count);
        let (mut has_armed, mut has_room) = (false, true);
        for offset in 0..count {
            let index = first.wrapping_add(offset);
            let index = index.checked_sub(count).unwrap_or(index);
            let member = members.all().get(index);
            // A connection that is being dropped has no messages for anybody.
            let upgraded = member.and_then(|member| Some((member.link.upgrade()?, member)));
            let Some((link, member)) = upgraded else {
                continue;
            };
            if link.membership().is_armed() {
                if !std::mem::replace(&mut has_armed, true) && self.rotation.is_queue_turn() {
                    match self.poll_queue(guard) {
                        PollOutcome::Something => return PollOutcome::Something,
                        PollOutcome::Nothing => {}
                        PollOutcome::NoRoom => has_room = false,
                    }
                }
                continue;
            }
            let mut inbound = Inbound::empty();
            let shared = link.endpoint().shared();
            // Read before the poll, which replaces the value.
            let had_more = shared.has_more();
            shared.flush_before_poll();
            if !shared.poll_message(&mut inbound) {
                link.shortage().clear();
                continue;
            }
            if is_alone {
                *is_more = shared.has_more();
                // The message was here when the one before it was completed, so that time is also
                // the start of this one, and the clock need not be read.
                if had_more {
                    guard.last = last_done;
                }
            }
            match self.handle(link, &member.handlers, &mut inbound, guard) {
                PollOutcome::NoRoom => has_room = false,
                handled => {
                    self.rotation.advance(index);
                    *last = std::mem::take(&mut guard.last);
                    return handled;
                }
            }
        }
        if has_armed {
            match self.poll_queue(guard) {
                PollOutcome::Something => return PollOutcome::Something,
                PollOutcome::Nothing => {}
                PollOutcome::NoRoom => has_room = false,
            }
        }
        // Read again, because the polls may have queued work.
        let is_due = self.deferred.is_pending() && !guard.defers_requests;
        if is_due && self.run_idle(guard) {
            PollOutcome::Something
        } else if has_room {
            PollOutcome::Nothing
        } else {
            PollOutcome::NoRoom
        }
    }

    /// Ages incomplete messages of connections that are polled without sleeping. For armed
    /// connections, the endpoint does this.
    fn age_incomplete(&self, members: &[Member]) {
        let Some(elapsed) = self.rotation.age(tick()) else {
            return;
        };
        for link in members.iter().filter_map(|member| member.link.upgrade()) {
            if !link.membership().is_armed() && !link.shortage().is_active() {
                link.endpoint().shared().count_begun(elapsed);
            }
        }
    }

    /// Receives from one of the connections that the queue has reported, if there is one.
    pub(super) fn poll_queue(&self, guard: &mut PollGuard<'_>) -> PollOutcome {
        let mut outcome = PollOutcome::Nothing;
        while let Some(done) = self.queue.get().and_then(CompletionQueue::poll_done) {
            match self.complete(done, guard) {
                PollOutcome::Something => return PollOutcome::Something,
                PollOutcome::Nothing => {}
                // That connection is not armed until the pool has room.
                PollOutcome::NoRoom => outcome = PollOutcome::NoRoom,
            }
        }
        outcome
    }

    /// Receives from a connection that the queue has reported. A call of the waiters has no
    /// connection: the caller looks for work.
    pub(super) fn complete(&self, done: Done, guard: &mut PollGuard<'_>) -> PollOutcome {
        let Done::Ready(shared) = done else {
            return PollOutcome::Something;
        };
        // A connection that has moved is polled by its current group.
        let link = Link::of_shared(&shared).filter(|link| link.membership().disarm(self));
        let Some(link) = link else {
            return PollOutcome::Nothing;
        };
        let mut inbound = Inbound::empty();
        shared.flush_before_poll();
        if !shared.poll_reported(&mut inbound) {
            link.shortage().clear();
            return PollOutcome::Nothing;
        }
        let handlers = link.handlers().clone();
        self.handle(link, &handlers, &mut inbound, guard)
    }

    /// Handles the available messages without blocking. Returns their number. Stops at the answer
    /// to the request that is wanted, and returns it.
    pub(crate) fn poll(&self, wanted: Option<(u64, u32)>) -> (usize, Option<Answer>) {
        self.poll_with(wanted, &mut Progress::default(), drop)
    }

    /// As [`poll`](Self::poll), with the state of the caller. Passes the guard to `idle` if this
    /// thread is the poller when there are no more messages.
    #[inline]
    pub(super) fn poll_with<'c>(
        &'c self,
        wanted: Option<(u64, u32)>,
        progress: &mut Progress,
        idle: impl FnOnce(PollGuard<'c>),
    ) -> (usize, Option<Answer>) {
        if self.is_elsewhere() {
            return (0, None);
        }
        let mut count = 0usize;
        while count < MOST {
            let Some(mut guard) = self.try_drive(wanted) else {
                break;
            };
            match self.poll_once(&mut guard, progress) {
                PollOutcome::Something => count = count.saturating_add(1),
                PollOutcome::Nothing | PollOutcome::NoRoom => {
                    idle(guard);
                    break;
                }
            }
            if guard.found.is_some() {
                return (count, guard.found.take());
            }
        }
        (count, None)
    }
}
