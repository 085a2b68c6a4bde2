//! Receiving for connections that are served together: by whoever waits, one thread at a time.
//!
//! Who receives frees the right to do so before a handler runs. So handlers may wait themselves, and others go on.

mod alone;
mod direct;
mod members;
mod put_off;
mod waiting;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Wake;
use std::thread;
use std::time::Duration;

use jstream::buffer::Filled;

pub(super) use self::direct::Directly;
use self::members::Member;
pub(super) use self::members::Seen;
use self::put_off::PutOff;
use self::waiting::Progress;
pub(super) use self::waiting::Wait;
use super::budget::{Tick, tick};
use super::handlers::Handlers;
use super::ledger::Answer;
use super::link::Link;
use super::request::Request;
use super::role::Role;
use super::turn::{self, Side};
use super::watch::Watch;
use crate::device::deadline::Deadline;
use crate::endpoint::queue::Done;
use crate::endpoint::receiving::Arrived;
use crate::endpoint::spin::{Habit, Spin};
use crate::endpoint::{CompletionQueue, Message};
use crate::error::RecvError;
use crate::process::Origin;

/// How long a thread sleeps in a connection alone. One that comes into its bundle meanwhile has to wait as long.
const SLICE: Duration = Duration::from_millis(2);

/// How long a thread sleeps while requests wait to be run again, or where the pool had no room.
const SOON: Duration = Duration::from_micros(100);

/// After how many messages what was put off is run, though more have come.
const PUT_OFF: usize = 8;

/// After how many looks the completion queue is polled, though other connections always have messages.
const QUEUE_TURN: usize = 16;

/// How many looks there are between two looks at the clock, for messages that have begun.
const CLOCK_TURN: usize = 8;

/// How often the time of messages that have begun is counted while nobody sleeps.
const COUNT_INTERVAL: Duration = Duration::from_millis(100);

/// How many messages a call that does not wait takes at most.
const MOST: usize = 64;

/// What all who serve a bundle share, on cache lines of its own.
#[repr(align(128))]
pub(super) struct Core {
    origin: Origin,
    side: Side,
    role: Role,
    /// Those who serve when the others are busy.
    watch: Watch,
    members: Mutex<Arc<Vec<Member>>>,
    /// How often the members have changed; changes under their lock.
    version: AtomicU64,
    /// How many there are, and the only one of them, or 0; change under their lock.
    count: AtomicUsize,
    alone: AtomicU64,
    /// Where receives are posted by those who sleep; there once somebody did.
    queue: OnceLock<CompletionQueue>,
    /// Connections that are there though the program has no handle of them.
    kept: Mutex<Vec<Arc<Link>>>,
    put_off: PutOff,
    /// There may be something that was put off.
    has_more: AtomicBool,
    spin: Duration,
    habit: AtomicU8,
    /// Whose turn it is.
    next: AtomicUsize,
    /// How many looks there were while something was put off.
    turns: AtomicUsize,
    /// How many looks there were while a receive was posted.
    queue_turns: AtomicUsize,
    /// How many looks there were at several connections.
    looks: AtomicUsize,
    /// The last handler that ran in the receive loop took long.
    is_slow: AtomicBool,
    /// When [`count_begun`](Self::count_begun) was done last, in nanoseconds of the clock of ticks; 0 for never.
    counted: AtomicU64,
}

/// The right to receive for a bundle, until it is released.
pub(super) struct Driving<'c> {
    core: &'c Core,
    is_held: bool,
    /// Requests are put aside.
    is_aside: bool,
    /// The request whose answer is waited for by whoever drives, by its connection and number.
    wanted: Option<(u64, u32)>,
    /// That answer.
    pub(super) found: Option<Answer>,
    /// When this thread was done with what it received before, if it was at nothing else since.
    pub(super) last: Tick,
}

impl Driving<'_> {
    /// Lets others receive.
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

    /// Whether the last handler took long.
    #[inline]
    pub(super) fn is_slow(&self) -> bool {
        self.core.is_slow.load(Ordering::Relaxed)
    }

    /// Notes whether a handler took long.
    #[inline]
    pub(super) fn set_slow(&self, is_slow: bool) {
        if self.is_slow() != is_slow {
            self.core.is_slow.store(is_slow, Ordering::Relaxed);
        }
    }

    /// Whether who drives only looks.
    pub(super) fn is_aside(&self) -> bool {
        self.is_aside
    }

    /// For whom it is received.
    #[inline]
    pub(super) fn side(&self) -> Side {
        self.core.side
    }

    /// Leaves a request to who serves.
    #[cold]
    pub(super) fn put_aside(&self, request: Request) {
        self.core.put_aside(request);
    }

    /// Whether that is the answer that is waited for.
    #[inline]
    pub(super) fn wants(&self, link: &Link, number: u32) -> bool {
        self.wanted == Some((link.id, number))
    }
}

impl Drop for Driving<'_> {
    #[inline]
    fn drop(&mut self) {
        self.release();
    }
}

/// Outcome of a look.
enum Looked {
    Something,
    Nothing,
    /// A message has come for which the pool has no room, and nothing else.
    NoRoom,
}

impl Core {
    pub(super) fn new(spin: Duration) -> Arc<Self> {
        Arc::new(Self {
            origin: Origin::here(),
            side: Side::new(),
            role: Role::new(),
            watch: Watch::new(),
            members: Mutex::default(),
            version: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            alone: AtomicU64::new(0),
            queue: OnceLock::new(),
            kept: Mutex::default(),
            put_off: PutOff::default(),
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

    /// Whether it belongs to the process that this one was forked from. Who serves there is not here, and may have
    /// the role for ever.
    #[inline]
    pub(super) fn is_elsewhere(&self) -> bool {
        self.origin.is_elsewhere()
    }

    /// Has all look again who sleep.
    pub(super) fn call_all(&self) {
        self.call();
        self.role.nudge_all();
        self.watch.call_all();
    }

    /// Has those look again who sleep.
    pub(super) fn call(&self) {
        if let Some(queue) = self.queue.get() {
            queue.call();
        }
        self.role.nudge();
    }

    #[inline]
    fn try_drive(&self, wanted: Option<(u64, u32)>) -> Option<Driving<'_>> {
        if !self.role.take(turn::token()) {
            return None;
        }
        Some(Driving {
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

    fn deliver(&self, link: Arc<Link>, arrived: Arrived, driving: &mut Driving<'_>) {
        let pool = &link.endpoint().shared().info().pool;
        match arrived.into_bytes(pool) {
            Ok((header, payload)) => {
                let handlers = link.handlers().clone();
                link.arrived(&handlers, &header, payload, driving);
            }
            Err(_) => Self::lost(&link, &RecvError::Empty, driving),
        }
    }

    /// Nothing more comes. What ends with that is the program's, and may wait for something.
    #[cold]
    fn lost(link: &Link, error: &RecvError, driving: &mut Driving<'_>) {
        driving.release();
        link.lost(error);
    }

    /// The pool has no room for a message. A connection that has waited for too long is ended.
    #[cold]
    fn has_no_room(link: &Link, error: &RecvError, driving: &mut Driving<'_>) -> Looked {
        if link.note_no_room(error) {
            return Looked::NoRoom;
        }
        driving.release();
        link.give_up_waiting_for_room(error);
        Looked::Something
    }

    /// What a receive came to. A message is taken from where it is: one that is passed on is copied each time.
    #[inline]
    fn received(
        &self,
        link: Arc<Link>,
        handlers: &Handlers,
        (message, more): (&mut Message, &mut Option<Result<Arrived, RecvError>>),
        driving: &mut Driving<'_>,
    ) -> Looked {
        if more.is_some() {
            return self.received_else(link, more, driving);
        }
        let payload = std::mem::replace(&mut message.payload, Filled::nothing());
        link.arrived(handlers, &message.header, payload, driving);
        Looked::Something
    }

    /// The same of what is not a message of bytes.
    #[cold]
    fn received_else(
        &self,
        link: Arc<Link>,
        more: &mut Option<Result<Arrived, RecvError>>,
        driving: &mut Driving<'_>,
    ) -> Looked {
        match more.take() {
            Some(Ok(arrived)) => self.deliver(link, arrived, driving),
            None | Some(Err(RecvError::TimedOut { .. } | RecvError::Empty)) => {
                return Looked::Nothing;
            }
            // It waits in the connection until others have left the pool.
            Some(Err(error @ RecvError::NoBuffer { .. })) => {
                return Self::has_no_room(&link, &error, driving);
            }
            Some(Err(error)) => Self::lost(&link, &error, driving),
        }
        Looked::Something
    }

    /// Takes one message, if there is one.
    #[inline]
    fn look(&self, driving: &mut Driving<'_>, seen: &mut Seen) -> Looked {
        // What was put off has its turn, however much comes.
        if self.has_more() {
            if self.run_late(driving) || self.run_aside(driving) {
                return Looked::Something;
            }
            let turns = self.turns.fetch_add(1, Ordering::Relaxed);
            // A task that wakes itself each time lets others be received.
            if turns % 2 == 0 && self.run_job(driving) {
                return Looked::Something;
            }
            // What has waited for its peer takes turns with what comes.
            if turns % 2 == 1 && self.run_taken(driving) {
                return Looked::Something;
            }
            if turns % PUT_OFF == 1 && self.run_put_off(driving) {
                return Looked::Something;
            }
        }
        let looked = self.look_at_members(driving, seen);
        if let Looked::Something = looked {
            return looked;
        }
        if self.has_more()
            && (self.run_job(driving) || self.run_taken(driving) || self.run_put_off(driving))
        {
            return Looked::Something;
        }
        looked
    }

    /// Takes one message of a connection, if there is one. A connection for whose message the pool has no room does not
    /// hold up the others.
    #[inline]
    fn look_at_members(&self, driving: &mut Driving<'_>, seen: &mut Seen) -> Looked {
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
                    match self.look_at_queue(driving) {
                        Looked::Something => return Looked::Something,
                        Looked::Nothing => {}
                        Looked::NoRoom => has_room = false,
                    }
                }
                continue;
            }
            let (mut message, mut more) = (Message::nothing(), None);
            let shared = link.endpoint().shared();
            shared.flush_before_look();
            if !shared.look(&mut message, &mut more) {
                link.note_room();
                continue;
            }
            let come = (&mut message, &mut more);
            match self.received(link, &member.handlers, come, driving) {
                Looked::NoRoom => has_room = false,
                looked => {
                    self.next.store(place.wrapping_add(1), Ordering::Relaxed);
                    return looked;
                }
            }
        }
        if is_posted {
            match self.look_at_queue(driving) {
                Looked::Something => return Looked::Something,
                Looked::Nothing => {}
                Looked::NoRoom => has_room = false,
            }
        }
        if has_room {
            Looked::Nothing
        } else {
            Looked::NoRoom
        }
    }

    /// Counts the time of messages that have begun and are looked for without a sleep. For those for which a receive is
    /// posted, the endpoint counts it.
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

    /// Whether posted receives go before the connections that are looked at.
    #[inline]
    fn is_queue_turn(&self) -> bool {
        // Only who has the role comes here, so nobody counts at the same time.
        let turns = self.queue_turns.load(Ordering::Relaxed);
        self.queue_turns
            .store(turns.wrapping_add(1), Ordering::Relaxed);
        turns % QUEUE_TURN == 0
    }

    /// Takes one completion of a posted receive, if there is one.
    fn look_at_queue(&self, driving: &mut Driving<'_>) -> Looked {
        let mut looked = Looked::Nothing;
        while let Some(done) = self.queue.get().and_then(CompletionQueue::poll_done) {
            match self.take(done, driving) {
                // Nothing is posted to that connection until the pool has room.
                Looked::NoRoom => looked = Looked::NoRoom,
                Looked::Something | Looked::Nothing => return Looked::Something,
            }
        }
        looked
    }

    /// Sees to a completion.
    fn take(&self, done: Done, driving: &mut Driving<'_>) -> Looked {
        let Done::Received(_, receipt, endpoint) = done else {
            return Looked::Something;
        };
        let Some(link) = Link::of(&endpoint) else {
            return Looked::Something;
        };
        link.set_posted(self, false);
        match receipt {
            Ok(arrived) => self.deliver(link, arrived, driving),
            Err(missed) => match missed.error {
                RecvError::Cancelled => {}
                error @ RecvError::NoBuffer { .. } => {
                    return Self::has_no_room(&link, &error, driving);
                }
                error => Self::lost(&link, &error, driving),
            },
        }
        Looked::Something
    }

    fn queue(&self) -> Option<&CompletionQueue> {
        if self.queue.get().is_none() {
            let queue = CompletionQueue::new().ok()?;
            // Who has called before there was one is heard now.
            queue.call();
            let _ = self.queue.set(queue);
        }
        self.queue.get()
    }

    /// Posts a receive to each connection that has none, except where a message waits for room in the pool: the receive
    /// would end at once. True if there is no such message; if there is one, nobody calls when the pool has room.
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
            // Whoever moves it finds the receive, or there is none.
            let _stays = link.moving();
            if link.set_posted(self, true) {
                queue.post_recv_any(link.endpoint(), 0);
            }
        }
        has_room
    }

    /// Takes what is here, or waits for something until then.
    #[inline]
    fn step(&self, driving: &mut Driving<'_>, wait: &Wait<'_>, progress: &mut Progress) {
        let last = std::mem::take(&mut progress.last);
        if let (Some(link), false, false) = (wait.link, progress.slept, self.has_more()) {
            if self.has_only(link) && !link.is_posted() {
                let (mut message, mut more) = (Message::nothing(), None);
                let shared = link.endpoint().shared();
                if !shared.has_more() {
                    turn::flush();
                    shared.flush_before_look();
                }
                if shared.receive_within(&mut message, &mut more, SLICE, wait.until) {
                    let (link, handlers) = (link.clone(), link.handlers());
                    let come = (&mut message, &mut more);
                    if let Looked::NoRoom = self.received(link, handlers, come, driving) {
                        driving.release();
                        thread::sleep(SOON);
                    }
                } else {
                    link.note_room();
                    progress.slept = true;
                }
                return;
            }
        }
        self.step_among_many(driving, wait.until, last, progress);
    }

    fn step_among_many(
        &self,
        driving: &mut Driving<'_>,
        mut until: Deadline,
        last: Tick,
        progress: &mut Progress,
    ) {
        let is_awake = std::mem::take(&mut progress.is_awake);
        // Where more is here, who sleeps would come back at once.
        let sleeps = self.spin.is_zero() && !is_awake && !progress.is_more;
        if sleeps && self.sleep_alone(until, progress) {
            return;
        }
        let looked = self.look_alone(driving, until, last, progress);
        let looked = looked.unwrap_or_else(|| self.look(driving, &mut progress.seen));
        if let Looked::Something = looked {
            return self.has_come(progress);
        }
        turn::flush();
        if is_awake {
            return self.look_after_sleep(driving, progress);
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
            driving.release();
            return thread::sleep(SOON);
        };
        if !self.post_all(queue, &mut progress.seen) {
            until = until.or_sooner(Deadline::after(SOON));
        }
        let done = queue.wait_done(until);
        if let Some(spin) = &mut progress.spin {
            spin.has_slept();
        }
        match done.map(|done| self.take(done, driving)) {
            Some(Looked::Something) => self.has_come(progress),
            Some(Looked::Nothing | Looked::NoRoom) | None => self.end(progress),
        }
    }

    /// Something has come: the next wait begins anew.
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

    /// Takes what is here, without waiting. How many messages.
    pub(super) fn poll(&self) -> usize {
        if self.is_elsewhere() {
            return 0;
        }
        let mut seen = Seen::default();
        let mut count = 0usize;
        while count < MOST {
            let Some(mut driving) = self.try_drive(None) else {
                break;
            };
            match self.look(&mut driving, &mut seen) {
                Looked::Something => count = count.saturating_add(1),
                Looked::Nothing | Looked::NoRoom => break,
            }
        }
        count
    }
}

impl Wake for Core {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Wakes who receives, unless that is who calls.
    fn wake_by_ref(self: &Arc<Self>) {
        if !self.role.is_of(turn::token()) {
            if let Some(queue) = self.queue.get() {
                queue.call();
            }
        }
    }
}

/// A panic elsewhere can't leave what is locked half changed: it holds between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
