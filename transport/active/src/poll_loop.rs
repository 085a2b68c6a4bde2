//! The poll loop of a poll group. The threads that wait for messages poll, one at a time.
//!
//! The poller releases the poller lock before a handler runs. So handlers may wait themselves, and
//! other threads continue to poll.

mod deferred;
mod direct_answer;
mod members;
mod single_connection;
mod waiting;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Wake;
use std::thread;
use std::time::Duration;

use jstream::buffer::Filled;

use self::deferred::DeferredWork;
pub(super) use self::direct_answer::Directly;
use self::members::Member;
pub(super) use self::members::Seen;
use self::waiting::Progress;
pub(super) use self::waiting::Wait;
use super::budget::{Tick, tick};
use super::handlers::Handlers;
use super::ledger::Answer;
use super::link::Link;
use super::poller_lock::PollerLock;
use super::request::Request;
use super::standby::Standby;
use super::turn::{self, Side};
use jstream_base::RecvError;
use jstream_base::process::Origin;
use jstream_device::deadline::Deadline;
use jstream_endpoint::queue::Done;
use jstream_endpoint::receiving::Arrived;
use jstream_endpoint::spin::{Habit, Spin};
use jstream_endpoint::{CompletionQueue, Message};

/// Maximum sleep in the only connection of a group. A connection that joins the group meanwhile
/// waits that long.
const SLICE: Duration = Duration::from_millis(2);

/// Sleep while requests wait to be rerun, or while the pool has no room.
const SOON: Duration = Duration::from_micros(100);

/// Interval, in looks, at which requests to be rerun are run although messages arrive continuously.
const PUT_OFF: usize = 8;

/// Interval, in looks, at which the completion queue is polled although other connections always
/// have messages.
const QUEUE_TURN: usize = 16;

/// Interval, in looks, at which the clock is read to age incomplete messages.
const CLOCK_TURN: usize = 8;

/// Interval at which incomplete messages are aged while no thread sleeps.
const COUNT_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum number of messages per non-blocking call.
const MOST: usize = 64;

/// State shared by all threads that serve a group, on cache lines of its own.
#[repr(align(128))]
pub(super) struct PollLoop {
    origin: Origin,
    side: Side,
    role: PollerLock,
    /// Standby threads, which take over when the others are busy.
    watch: Standby,
    members: Mutex<Arc<Vec<Member>>>,
    /// Number of changes of the members. It changes under their lock.
    version: AtomicU64,
    /// Number of members. `alone` is the identifier of the only member, or 0. Both change under the
    /// members' lock.
    count: AtomicUsize,
    alone: AtomicU64,
    /// Completion queue to which sleeping threads post receives; created by the first of them.
    queue: OnceLock<CompletionQueue>,
    /// Connections that the group keeps alive although the program may hold no handle of them.
    kept: Mutex<Vec<Arc<Link>>>,
    put_off: DeferredWork,
    /// True if there may be deferred work.
    has_more: AtomicBool,
    spin: Duration,
    habit: AtomicU8,
    /// Index of the member that is polled first, for fairness.
    next: AtomicUsize,
    /// Number of looks while work was deferred.
    turns: AtomicUsize,
    /// Number of looks while a receive was posted.
    queue_turns: AtomicUsize,
    /// Number of looks at more than one connection.
    looks: AtomicUsize,
    /// True if the last handler in the receive loop was slow.
    is_slow: AtomicBool,
    /// Time of the last [`count_begun`](Self::count_begun), in nanoseconds of the coarse clock; 0
    /// for never.
    counted: AtomicU64,
}

/// Guard that makes this thread the poller of a group until it is released.
pub(super) struct PollGuard<'c> {
    core: &'c PollLoop,
    is_held: bool,
    /// True if requests are queued instead of handled.
    is_aside: bool,
    /// Connection and number of the request whose answer the poller waits for.
    wanted: Option<(u64, u32)>,
    /// The answer to that request.
    pub(super) found: Option<Answer>,
    /// Tick at which this thread completed its previous message, if it has done nothing since.
    pub(super) last: Tick,
}

impl PollGuard<'_> {
    /// Releases the poller lock.
    #[inline]
    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.is_held) {
            let (watch, role) = (&self.core.watch, &self.core.role);
            if self.is_aside {
                watch.leave_look(role);
            } else {
                watch.leave(role);
            }
        }
    }

    /// Returns true if the last handler was slow.
    #[inline]
    pub(super) fn is_slow(&self) -> bool {
        self.core.is_slow.load(Ordering::Relaxed)
    }

    /// Records whether the last handler was slow.
    #[inline]
    pub(super) fn set_slow(&self, is_slow: bool) {
        if self.is_slow() != is_slow {
            self.core.is_slow.store(is_slow, Ordering::Relaxed);
        }
    }

    /// Returns true if the poller queues requests instead of running handlers.
    pub(super) fn is_aside(&self) -> bool {
        self.is_aside
    }

    /// Returns the side for which this thread receives.
    #[inline]
    pub(super) fn side(&self) -> Side {
        self.core.side
    }

    /// Queues a request for the threads that serve.
    #[cold]
    pub(super) fn put_aside(&self, request: Request) {
        self.core.put_aside(request);
    }

    /// Returns true if the poller waits for that answer.
    #[inline]
    pub(super) fn wants(&self, link: &Link, number: u32) -> bool {
        self.wanted == Some((link.id, number))
    }
}

impl Drop for PollGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.release();
    }
}

/// Outcome of one look for messages.
enum PollOutcome {
    Something,
    Nothing,
    /// A message has arrived for which the pool has no room, and no other message was available.
    NoRoom,
}

impl PollLoop {
    pub(super) fn new(spin: Duration) -> Arc<Self> {
        Arc::new(Self {
            origin: Origin::here(),
            side: Side::new(),
            role: PollerLock::new(),
            watch: Standby::new(),
            members: Mutex::default(),
            version: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            alone: AtomicU64::new(0),
            queue: OnceLock::new(),
            kept: Mutex::default(),
            put_off: DeferredWork::default(),
            has_more: AtomicBool::new(false),
            spin,
            habit: AtomicU8::new(0),
            next: AtomicUsize::new(0),
            turns: AtomicUsize::new(0),
            queue_turns: AtomicUsize::new(0),
            looks: AtomicUsize::new(0),
            is_slow: AtomicBool::new(false),
            counted: AtomicU64::new(0),
        })
    }

    /// Returns true if the group belongs to the parent process. Its serving threads do not exist in
    /// this process, and the poller lock may be held forever.
    #[inline]
    pub(super) fn is_elsewhere(&self) -> bool {
        self.origin.is_elsewhere()
    }

    /// Wakes all sleeping threads, so that they check their conditions.
    pub(super) fn call_all(&self) {
        self.call();
        self.role.nudge_all();
        self.watch.call_all();
    }

    /// Wakes a sleeping thread, so that it looks for work.
    pub(super) fn call(&self) {
        if let Some(queue) = self.queue.get() {
            queue.call();
        }
        self.role.nudge();
    }

    #[inline]
    fn try_drive(&self, wanted: Option<(u64, u32)>) -> Option<PollGuard<'_>> {
        if !self.role.take(turn::token()) {
            return None;
        }
        Some(PollGuard {
            core: self,
            is_held: true,
            is_aside: false,
            wanted,
            found: None,
            last: Tick::default(),
        })
    }

    #[inline]
    fn has_more(&self) -> bool {
        self.has_more.load(Ordering::Acquire)
    }

    fn deliver(&self, link: Arc<Link>, arrived: Arrived, guard: &mut PollGuard<'_>) {
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
    fn lost(link: &Link, error: &RecvError, guard: &mut PollGuard<'_>) {
        guard.release();
        link.lost(error);
    }

    /// Handles a message for which the pool has no room. A connection that has waited too long is
    /// ended.
    #[cold]
    fn has_no_room(link: &Link, error: &RecvError, guard: &mut PollGuard<'_>) -> PollOutcome {
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
    fn received(
        &self,
        link: Arc<Link>,
        handlers: &Handlers,
        (message, more): (&mut Message, &mut Option<Result<Arrived, RecvError>>),
        guard: &mut PollGuard<'_>,
    ) -> PollOutcome {
        if more.is_some() {
            return self.received_else(link, more, guard);
        }
        let payload = std::mem::replace(&mut message.payload, Filled::nothing());
        link.arrived(handlers, &message.header, payload, guard);
        PollOutcome::Something
    }

    /// Handles the results of a receive other than a message of bytes.
    #[cold]
    fn received_else(
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

    /// Handles one message or one deferred item, if there is one.
    #[inline]
    fn look(&self, guard: &mut PollGuard<'_>, seen: &mut Seen) -> PollOutcome {
        // Deferred work gets its share, however many messages arrive.
        if self.has_more() {
            if self.run_late(guard) || self.run_aside(guard) {
                return PollOutcome::Something;
            }
            let turns = self.turns.fetch_add(1, Ordering::Relaxed);
            // A task that always wakes itself leaves every other turn to messages.
            if turns % 2 == 0 && self.run_job(guard) {
                return PollOutcome::Something;
            }
            // Requests that waited for their peer to drain its receive side alternate with new
            // messages.
            if turns % 2 == 1 && self.run_taken(guard) {
                return PollOutcome::Something;
            }
            if turns % PUT_OFF == 1 && self.run_put_off(guard) {
                return PollOutcome::Something;
            }
        }
        let looked = self.look_at_members(guard, seen);
        if let PollOutcome::Something = looked {
            return looked;
        }
        if self.has_more()
            && (self.run_job(guard) || self.run_taken(guard) || self.run_put_off(guard))
        {
            return PollOutcome::Something;
        }
        looked
    }

    /// Handles one message of the members, if there is one. A connection whose message finds no
    /// room in the pool does not block the others.
    #[inline]
    fn look_at_members(&self, guard: &mut PollGuard<'_>, seen: &mut Seen) -> PollOutcome {
        self.see(seen);
        let count = seen.all().len();
        if count > 1 && self.looks.fetch_add(1, Ordering::Relaxed) % CLOCK_TURN == 0 {
            self.count_begun(seen.all());
        }
        let first = self.next.load(Ordering::Relaxed);
        let (mut is_posted, mut has_room) = (false, true);
        for offset in 0..count {
            let place = first.wrapping_add(offset).checked_rem(count).unwrap_or(0);
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
            let (mut message, mut more) = (Message::nothing(), None);
            let shared = link.endpoint().shared();
            shared.flush_before_poll();
            if !shared.poll_message(&mut message, &mut more) {
                link.note_room();
                continue;
            }
            let come = (&mut message, &mut more);
            match self.received(link, &member.handlers, come, guard) {
                PollOutcome::NoRoom => has_room = false,
                looked => {
                    self.next.store(place.wrapping_add(1), Ordering::Relaxed);
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
        if has_room {
            PollOutcome::Nothing
        } else {
            PollOutcome::NoRoom
        }
    }

    /// Ages incomplete messages of connections that are polled without sleeping. For connections
    /// with a posted receive, the endpoint does this.
    fn count_begun(&self, members: &[Member]) {
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
    fn is_queue_turn(&self) -> bool {
        // Only the poller gets here, so no other thread increments the counter at the same time.
        let turns = self.queue_turns.load(Ordering::Relaxed);
        self.queue_turns
            .store(turns.wrapping_add(1), Ordering::Relaxed);
        turns % QUEUE_TURN == 0
    }

    /// Handles one completion of a posted receive, if there is one.
    fn look_at_queue(&self, guard: &mut PollGuard<'_>) -> PollOutcome {
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
    fn take(&self, done: Done, guard: &mut PollGuard<'_>) -> PollOutcome {
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

    fn queue(&self) -> Option<&CompletionQueue> {
        if self.queue.get().is_none() {
            let queue = CompletionQueue::new().ok()?;
            // A call that was made before the queue existed takes effect now.
            queue.call();
            let _ = self.queue.set(queue);
        }
        self.queue.get()
    }

    /// Posts a receive to each connection that has none, except to one whose message waits for room
    /// in the pool: there the receive would end immediately. Returns true if there is no such
    /// message. Otherwise the caller must poll, because it is not woken when the pool has room.
    fn post_all(&self, queue: &CompletionQueue, seen: &mut Seen) -> bool {
        let mut has_room = true;
        self.see(seen);
        for member in seen.all() {
            let Some(link) = member.link.upgrade() else {
                continue;
            };
            if link.is_posted() {
                continue;
            }
            if link.starves() {
                has_room = false;
                continue;
            }
            // A thread that moves the connection either finds the receive, or no receive is posted.
            let _stays = link.moving();
            if link.set_posted(self, true) {
                queue.post_recv_any(link.endpoint(), 0);
            }
        }
        has_room
    }

    /// Handles an available message, or waits for one until the deadline.
    #[inline]
    fn step(&self, guard: &mut PollGuard<'_>, wait: &Wait<'_>, progress: &mut Progress) {
        let last = std::mem::take(&mut progress.last);
        if let (Some(link), false, false) = (wait.link, progress.slept, self.has_more()) {
            if self.has_only(link) && !link.is_posted() {
                let (mut message, mut more) = (Message::nothing(), None);
                let shared = link.endpoint().shared();
                if !shared.has_more() {
                    turn::flush();
                    shared.flush_before_poll();
                }
                if shared.receive_within(&mut message, &mut more, SLICE, wait.until) {
                    let (link, handlers) = (link.clone(), link.handlers());
                    let come = (&mut message, &mut more);
                    if let PollOutcome::NoRoom = self.received(link, handlers, come, guard) {
                        guard.release();
                        thread::sleep(SOON);
                    }
                } else {
                    link.note_room();
                    progress.slept = true;
                }
                return;
            }
        }
        self.step_among_many(guard, wait.until, last, progress);
    }

    fn step_among_many(
        &self,
        guard: &mut PollGuard<'_>,
        mut until: Deadline,
        last: Tick,
        progress: &mut Progress,
    ) {
        let is_awake = std::mem::take(&mut progress.is_awake);
        // If more messages are available, a sleep would return immediately.
        let sleeps = self.spin.is_zero() && !is_awake && !progress.is_more;
        if sleeps && self.sleep_alone(until, progress) {
            return;
        }
        let looked = self.look_alone(guard, until, last, progress);
        let looked = looked.unwrap_or_else(|| self.look(guard, &mut progress.seen));
        if let PollOutcome::Something = looked {
            return self.has_come(progress);
        }
        turn::flush();
        if is_awake {
            return self.look_after_sleep(guard, progress);
        }
        let spinning = progress
            .spin
            .get_or_insert_with(|| Spin::begin(self.spin, self.habit(), until));
        if spinning.again() {
            return;
        }
        if !progress.is_entered {
            progress.slept = true;
            return;
        }
        if self.sleep_alone(until, progress) {
            return;
        }
        if self.has_more() {
            until = until.or_sooner(Deadline::after(SOON));
        }
        let Some(queue) = self.queue() else {
            guard.release();
            return thread::sleep(SOON);
        };
        if !self.post_all(queue, &mut progress.seen) {
            until = until.or_sooner(Deadline::after(SOON));
        }
        let done = queue.wait_done(until);
        if let Some(spin) = &mut progress.spin {
            spin.has_slept();
        }
        match done.map(|done| self.take(done, guard)) {
            Some(PollOutcome::Something) => self.has_come(progress),
            Some(PollOutcome::Nothing | PollOutcome::NoRoom) | None => self.end(progress),
        }
    }

    /// Records that a message was handled: the next wait begins anew.
    fn has_come(&self, progress: &mut Progress) {
        progress.slept = false;
        self.end(progress);
    }

    fn end(&self, progress: &mut Progress) {
        if let Some(spin) = progress.spin.take() {
            let mut habit = self.habit();
            spin.end(&mut habit);
            self.habit.store(habit, Ordering::Relaxed);
        }
    }

    fn habit(&self) -> Habit {
        self.habit.load(Ordering::Relaxed)
    }

    /// Handles the available messages without blocking. Returns their number.
    pub(super) fn poll(&self) -> usize {
        if self.is_elsewhere() {
            return 0;
        }
        let mut seen = Seen::default();
        let mut count = 0usize;
        while count < MOST {
            let Some(mut guard) = self.try_drive(None) else {
                break;
            };
            match self.look(&mut guard, &mut seen) {
                PollOutcome::Something => count = count.saturating_add(1),
                PollOutcome::Nothing | PollOutcome::NoRoom => break,
            }
        }
        count
    }
}

impl Wake for PollLoop {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Wakes the poller, unless that is the caller.
    fn wake_by_ref(self: &Arc<Self>) {
        if !self.role.is_of(turn::token()) {
            if let Some(queue) = self.queue.get() {
                queue.call();
            }
        }
    }
}

/// Locks a mutex and ignores poisoning: the locked state is consistent between statements, so a
/// panic can't leave it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
