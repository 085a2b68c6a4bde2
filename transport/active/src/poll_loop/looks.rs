//! Looks for messages and deferred work, without blocking.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jstream::buffer::MessageBuffer;

use super::progress::Progress;
use super::{MOST, Member, PollGuard, PollLoop, PollOutcome};
use crate::budget::{Tick, tick};
use crate::handlers::Handlers;
use crate::link::Link;
use crate::turn;
use jstream_base::RecvError;
use jstream_device::deadline::Deadline;
use jstream_endpoint::CompletionQueue;
use jstream_endpoint::queue::Done;
use jstream_endpoint::receiving::{Arrived, Inbound};
use jstream_endpoint::spin::Spin;

/// Number of polls of a single connection before the state of the group is checked again.
const LOOKS: u32 = 64;

/// Interval, in looks, at which requests to be rerun are run although messages arrive continuously.
const PUT_OFF: usize = 8;

/// Interval, in looks, at which the completion queue is polled although other connections always
/// have messages.
const QUEUE_TURN: usize = 16;

/// Interval, in looks, at which the clock is read to age incomplete messages.
const CLOCK_TURN: usize = 8;

/// Interval at which incomplete messages are aged while no thread sleeps.
const COUNT_INTERVAL: Duration = Duration::from_millis(100);

impl PollLoop {
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
    pub(super) fn has_no_room(
        link: &Link,
        error: &RecvError,
        guard: &mut PollGuard<'_>,
    ) -> PollOutcome {
        if link.note_no_room(error) {
            return PollOutcome::NoRoom;
        }
        guard.release();
        link.give_up_waiting_for_room(error);
        PollOutcome::Something
    }

    /// Handles the result of a receive. The message is taken out of its place, because passing it
    /// by value would copy it at each call.
    #[inline]
    pub(super) fn received(
        &self,
        link: Arc<Link>,
        handlers: &Handlers,
        inbound: &mut Inbound,
        guard: &mut PollGuard<'_>,
    ) -> PollOutcome {
        if inbound.other.is_some() {
            return self.received_else(link, &mut inbound.other, guard);
        }
        let payload = std::mem::replace(&mut inbound.message.payload, MessageBuffer::nothing());
        link.arrived(handlers, &inbound.message.header, payload, guard);
        PollOutcome::Something
    }

    /// Handles the results of a receive other than a message of bytes.
    #[cold]
    pub(super) fn received_else(
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
                return Self::has_no_room(&link, &error, guard);
            }
            Some(Err(error)) => Self::lost(&link, &error, guard),
        }
        PollOutcome::Something
    }

    /// Handles a deferred item that is due before the next message. Returns true if there was one.
    #[cold]
    fn run_due(&self, guard: &mut PollGuard<'_>) -> bool {
        if self.run_late(guard) || self.run_aside(guard) {
            return true;
        }
        let turns = self.turns.fetch_add(1, Ordering::Relaxed);
        // A task that always wakes itself leaves every other turn to messages. Requests that waited
        // for their peer to drain its receive side alternate with new messages.
        let runs = if turns % 2 == 0 {
            self.run_job(guard)
        } else {
            self.run_taken(guard)
        };
        runs || (turns % PUT_OFF == 1 && self.run_put_off(guard))
    }

    /// Handles one message or one deferred item, if there is one. A thread that queues requests
    /// handles no deferred items. A connection whose message finds no room in the pool does not
    /// block the others. If this thread waits, until a deadline, and the group has no other work, a
    /// single connection is polled several times while its receive half is held.
    #[inline]
    pub(super) fn look(
        &self,
        guard: &mut PollGuard<'_>,
        progress: &mut Progress,
        until: Option<Deadline>,
    ) -> PollOutcome {
        // Deferred work gets its share, however many messages arrive.
        let has_more = self.has_more() && !guard.is_aside;
        if has_more {
            progress.last = Tick::default();
            if self.run_due(guard) {
                return PollOutcome::Something;
            }
        }
        let Progress {
            seen,
            spin,
            is_more,
            last,
            ..
        } = progress;
        let last_done = std::mem::take(last);
        *is_more = false;
        self.see(seen);
        let count = seen.all().len();
        let alone = until.filter(|_| count == 1 && !has_more);
        if count > 1 && self.looks.fetch_add(1, Ordering::Relaxed) % CLOCK_TURN == 0 {
            self.count_begun(seen.all());
        }
        let next = self.next.load(Ordering::Relaxed);
        let first = if next < count { next } else { 0 };
        let (mut is_posted, mut has_room) = (false, true);
        for offset in 0..count {
            let place = first.wrapping_add(offset);
            let place = place.checked_sub(count).unwrap_or(place);
            let member = seen.all().get(place);
            let upgraded = member.and_then(|member| Some((member.link.upgrade()?, member)));
            let Some((link, member)) = upgraded else {
                continue;
            };
            if link.is_posted() {
                if !std::mem::replace(&mut is_posted, true) && self.is_queue_turn() {
                    match self.look_at_queue(guard) {
                        PollOutcome::Something => return PollOutcome::Something,
                        PollOutcome::Nothing => {}
                        PollOutcome::NoRoom => has_room = false,
                    }
                }
                continue;
            }
            let mut inbound = Inbound::empty();
            let shared = link.endpoint().shared();
            let had_more = shared.has_more();
            if alone.is_some() && !had_more {
                turn::flush();
            }
            shared.flush_before_poll();
            let mut looks = 0u32;
            let has_come = shared.poll_message(&mut inbound, || {
                looks = looks.wrapping_add(1);
                let begin = |until| Spin::begin(self.spin, self.habit(), until);
                alone.is_some_and(|until| {
                    looks < LOOKS && spin.get_or_insert_with(|| begin(until)).again()
                })
            });
            if !has_come {
                link.note_room();
                continue;
            }
            if alone.is_some() {
                *is_more = shared.has_more();
                if had_more && looks == 0 {
                    guard.last = last_done;
                }
            }
            match self.received(link, &member.handlers, &mut inbound, guard) {
                PollOutcome::NoRoom => has_room = false,
                looked => {
                    self.next.store(place.wrapping_add(1), Ordering::Relaxed);
                    *last = std::mem::take(&mut guard.last);
                    return looked;
                }
            }
        }
        if is_posted {
            match self.look_at_queue(guard) {
                PollOutcome::Something => return PollOutcome::Something,
                PollOutcome::Nothing => {}
                PollOutcome::NoRoom => has_room = false,
            }
        }
        let has_more = self.has_more() && !guard.is_aside;
        if has_more && (self.run_job(guard) || self.run_taken(guard) || self.run_put_off(guard)) {
            PollOutcome::Something
        } else if has_room {
            PollOutcome::Nothing
        } else {
            PollOutcome::NoRoom
        }
    }

    /// Ages incomplete messages of connections that are polled without sleeping. For connections
    /// with a posted receive, the endpoint does this.
    pub(super) fn count_begun(&self, members: &[Member]) {
        let now = tick();
        let before = self.counted.load(Ordering::Relaxed);
        let elapsed = Duration::from_nanos(now.saturating_sub(before));
        if elapsed < COUNT_INTERVAL {
            return;
        }
        self.counted.store(now, Ordering::Relaxed);
        if before == 0 {
            return;
        }
        for link in members.iter().filter_map(|member| member.link.upgrade()) {
            if !link.is_posted() && !link.starves() {
                link.endpoint().shared().count_begun(elapsed);
            }
        }
    }

    /// Returns true if posted receives are polled before the connections.
    #[inline]
    pub(super) fn is_queue_turn(&self) -> bool {
        // Only the poller gets here, so no other thread increments the counter at the same time.
        let turns = self.queue_turns.load(Ordering::Relaxed);
        self.queue_turns
            .store(turns.wrapping_add(1), Ordering::Relaxed);
        turns % QUEUE_TURN == 0
    }

    /// Handles one completion of a posted receive, if there is one.
    pub(super) fn look_at_queue(&self, guard: &mut PollGuard<'_>) -> PollOutcome {
        let mut looked = PollOutcome::Nothing;
        while let Some(done) = self.queue.get().and_then(CompletionQueue::poll_done) {
            match self.take(done, guard) {
                // No receive is posted to that connection until the pool has room.
                PollOutcome::NoRoom => looked = PollOutcome::NoRoom,
                PollOutcome::Something | PollOutcome::Nothing => return PollOutcome::Something,
            }
        }
        looked
    }

    /// Handles one completion.
    pub(super) fn take(&self, done: Done, guard: &mut PollGuard<'_>) -> PollOutcome {
        let Done::Received(_, receipt, endpoint) = done else {
            return PollOutcome::Something;
        };
        let Some(link) = Link::of(&endpoint) else {
            return PollOutcome::Something;
        };
        link.set_posted(self, false);
        match receipt {
            Ok(arrived) => self.deliver(link, arrived, guard),
            Err(missed) => match missed.error {
                RecvError::Cancelled => {}
                error @ RecvError::NoBuffer { .. } => {
                    return Self::has_no_room(&link, &error, guard);
                }
                error => Self::lost(&link, &error, guard),
            },
        }
        PollOutcome::Something
    }

    /// Handles the available messages without blocking. Returns their number.
    pub(crate) fn poll(&self) -> usize {
        if self.is_elsewhere() {
            return 0;
        }
        let mut progress = Progress::default();
        let mut count = 0usize;
        while count < MOST {
            let Some(mut guard) = self.try_drive(None) else {
                break;
            };
            match self.look(&mut guard, &mut progress, None) {
                PollOutcome::Something => count = count.saturating_add(1),
                PollOutcome::Nothing | PollOutcome::NoRoom => break,
            }
        }
        count
    }
}
