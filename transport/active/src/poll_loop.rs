//! The poll loop of a poll group. The threads that wait for messages poll, one at a time.
//!
//! The poller releases the poller lock before a handler runs. So handlers may wait themselves, and
//! other threads continue to poll.
//!
//! This file has the state of a group. A [wait](waiting) is a sequence of [steps]; each of them
//! [looks] for messages and deferred work, and may sleep.

mod deferred;
mod direct_answer;
mod looks;
mod members;
mod progress;
mod single_connection;
mod steps;
mod waiting;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::Wake;
use std::time::Duration;

pub(super) use self::direct_answer::Directly;
pub(super) use self::progress::Wait;
use super::budget::Tick;
use super::executor::Job;
use super::handlers::Handlers;
use super::ledger::Answer;
use super::link::Link;
use super::poller_lock::PollerLock;
use super::request::DeferredRequest;
use super::standby::Standby;
use super::turn::{self, Side};
use jstream_base::process::Origin;
use jstream_endpoint::CompletionQueue;
use jstream_endpoint::receiving::Arrived;
use jstream_endpoint::spin::Habit;
use jstream_sync::callbacks::Deferral;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};

/// Maximum sleep in the only connection of a group. A connection that joins the group meanwhile
/// waits that long.
const SLICE: Duration = Duration::from_millis(2);

/// Sleep while requests wait to be rerun, or while the pool has no room.
const SOON: Duration = Duration::from_micros(100);

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
    members: PublishingLock<GroupMembers>,
    /// Completion queue to which sleeping threads post receives; created by the first of them.
    queue: OnceLock<CompletionQueue>,
    /// Connections that the group keeps alive although the program may hold no handle of them.
    kept: Mutex<Vec<Arc<Link>>>,
    /// The summary is true if there is deferred work.
    put_off: PublishingLock<DeferredWork>,
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

/// A member of a group.
#[derive(Clone)]
struct Member {
    id: u64,
    link: Weak<Link>,
    /// Handlers of the connection. They are stored here because a request takes over the `Arc` of
    /// the link.
    handlers: Handlers,
}

/// Value of [`GroupMembers::only`] if there are several members.
const SEVERAL: u64 = u64::MAX;

/// The members of a group.
#[derive(Default)]
struct GroupMembers {
    all: Arc<Vec<Member>>,
    /// Number of changes.
    version: u64,
    /// Identifier of the only member, 0 if there is none, or [`SEVERAL`].
    only: u64,
}

impl GroupMembers {
    /// Replaces the members. Returns the previous ones, to be dropped without the lock.
    fn replace(&mut self, all: Vec<Member>) -> Arc<Vec<Member>> {
        self.only = match all.as_slice() {
            [] => 0,
            [member] => member.id,
            _ => SEVERAL,
        };
        self.version = self.version.wrapping_add(1);
        std::mem::replace(&mut self.all, Arc::new(all))
    }
}

/// The summary is the number of changes, and the only member.
impl Publish for GroupMembers {
    type Summary = (Word<u64>, Word<u64>);
    type Listeners = ();

    #[inline]
    fn summary(&self) -> (u64, u64) {
        (self.version, self.only)
    }
}

/// A thread's snapshot of the members.
#[derive(Default)]
pub(super) struct Seen {
    version: u64,
    members: Option<Arc<Vec<Member>>>,
}

impl Seen {
    #[inline]
    fn all(&self) -> &[Member] {
        self.members.as_deref().map_or(&[], Vec::as_slice)
    }
}

/// The queues of deferred work.
#[derive(Default)]
struct DeferredWork {
    /// Requests to be rerun.
    later: VecDeque<DeferredRequest>,
    /// Messages of a connection that had moved away before they were received.
    late: VecDeque<(Known, Arrived)>,
    /// Requests received by a thread that could not serve them; they run before all others.
    aside: VecDeque<DeferredRequest>,
    /// Tasks that run on the threads that serve the group.
    jobs: VecDeque<Job>,
    /// Connections whose peers may have drained enough for their deferred requests, each once.
    taken: VecDeque<Known>,
}

impl Publish for DeferredWork {
    type Summary = Word<bool>;
    type Listeners = ();

    fn summary(&self) -> bool {
        !self.later.is_empty()
            || !self.late.is_empty()
            || !self.aside.is_empty()
            || !self.jobs.is_empty()
            || !self.taken.is_empty()
    }
}

/// A connection with deferred work. The reference is weak, so that deferred work does not keep the
/// connection.
struct Known {
    id: u64,
    link: Weak<Link>,
}

/// Guard that makes this thread the poller of a group until it is released. Meanwhile it does not
/// call the program, which may wait for a message: callbacks run when the guard is released. Before
/// the thread sleeps, it releases the guard if there are any.
pub(super) struct PollGuard<'c> {
    core: &'c PollLoop,
    is_held: bool,
    deferral: Option<Deferral>,
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
            self.deferral = None;
        }
    }

    /// Calls `work`, which may run code of the program, but returns quickly. The callbacks of
    /// `work` run at once.
    #[inline]
    pub(super) fn without_deferral<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let is_deferring = self.deferral.take().is_some();
        let result = work();
        if is_deferring {
            self.deferral = Some(Deferral::begin());
        }
        result
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
            members: PublishingLock::new(GroupMembers::default(), ()),
            queue: OnceLock::new(),
            kept: Mutex::default(),
            put_off: PublishingLock::new(DeferredWork::default(), ()),
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
            deferral: Some(Deferral::begin()),
            is_aside: false,
            wanted,
            found: None,
            last: Tick::default(),
        })
    }

    #[inline]
    fn has_more(&self) -> bool {
        self.put_off.summary().get_acquire()
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

    fn habit(&self) -> Habit {
        self.habit.load(Ordering::Relaxed)
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
