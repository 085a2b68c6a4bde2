//! The poll loop of a poll group. The threads that wait for messages poll, one at a time.
//!
//! The poller releases the poller lock before a handler runs. So handlers may wait themselves, and
//! other threads continue to poll.
//!
//! This file has the state of a group. A [wait](waiting) is a sequence of [steps]; each of them
//! polls once for messages and [deferred work](moves), and may sleep.
//!
//! Decisions 007 and 062 have the reasons.

mod deferred;
mod members;
mod moves;
mod progress;
mod rotation;
mod steps;
mod waiting;

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Wake;
use std::time::Duration;

use self::deferred::DeferredWork;
use self::members::MemberTable;
pub(super) use self::progress::Wait;
use self::rotation::Rotation;
pub(super) use self::waiting::{Attended, DirectWait};
use super::budget::Tick;
use super::ledger::Answer;
use super::link::Link;
use super::poller_lock::PollerLock;
use super::standby::Standby;
use super::turn::{self, Side};
use jstream_base::process::Origin;
use jstream_endpoint::CompletionQueue;
use jstream_endpoint::spin::Habit;
use jstream_sync::callbacks::Deferral;

/// Maximum sleep in the only connection of a group. A connection that joins the group meanwhile
/// waits that long.
const SLICE: Duration = Duration::from_millis(2);

/// Sleep while requests wait to be rerun, or while the pool has no room.
const SHORT_SLEEP: Duration = Duration::from_micros(100);

/// Maximum number of messages per non-blocking call.
const MOST: usize = 64;

/// State shared by all threads that serve a group, on cache lines of its own.
#[repr(align(128))]
pub(super) struct PollLoop {
    origin: Origin,
    side: Side,
    poller_lock: PollerLock,
    /// Standby threads, which take over when the others are busy.
    standby: Standby,
    members: MemberTable,
    /// Queue that reports the messages of armed connections; created by the first thread that
    /// sleeps.
    queue: OnceLock<CompletionQueue>,
    deferred: DeferredWork,
    rotation: Rotation,
    spin: Duration,
    habit: AtomicU8,
    /// True if the last handler in the receive loop was slow.
    is_slow: AtomicBool,
}

/// Guard that makes this thread the poller of a group until it is released. Meanwhile it does not
/// call the program, which may wait for a message: callbacks run when the guard is released. Before
/// the thread sleeps, it releases the guard if there are any.
pub(super) struct PollGuard<'c> {
    poll_loop: &'c PollLoop,
    is_held: bool,
    deferral: Option<Deferral>,
    /// True if requests are queued instead of handled.
    defers_requests: bool,
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
        // Paths that run a handler release the guard early, and its drop must not release the lock
        // of the next poller.
        if std::mem::take(&mut self.is_held) {
            let PollLoop {
                standby,
                poller_lock,
                ..
            } = self.poll_loop;
            // A thread that runs no handlers must not look to the standby thread as if one had
            // begun.
            if self.defers_requests {
                standby.release_after_poll(poller_lock);
            } else {
                standby.release(poller_lock);
            }
            // After the release, because a callback may wait for a message.
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
        self.poll_loop.is_slow.load(Ordering::Relaxed)
    }

    /// Records whether the last handler was slow.
    #[inline]
    pub(super) fn set_slow(&self, is_slow: bool) {
        // Written only if it changes, because all threads of the group read this cache line.
        if self.is_slow() != is_slow {
            self.poll_loop.is_slow.store(is_slow, Ordering::Relaxed);
        }
    }

    /// Returns true if the poller queues requests instead of running handlers.
    pub(super) fn defers_requests(&self) -> bool {
        self.defers_requests
    }

    /// Returns the side for which this thread receives.
    #[inline]
    pub(super) fn side(&self) -> Side {
        self.poll_loop.side
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

/// Outcome of one poll for messages.
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
            poller_lock: PollerLock::new(),
            standby: Standby::new(),
            members: MemberTable::new(),
            queue: OnceLock::new(),
            deferred: DeferredWork::new(),
            rotation: Rotation::default(),
            spin,
            habit: AtomicU8::new(0),
            is_slow: AtomicBool::new(false),
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
        self.poller_lock.wake_all();
        self.standby.call_all();
    }

    /// Wakes a sleeping thread, so that it looks for work.
    pub(super) fn call(&self) {
        if let Some(queue) = self.queue.get() {
            queue.call();
        }
        self.poller_lock.wake_waiter();
    }

    #[inline]
    fn try_drive(&self, wanted: Option<(u64, u32)>) -> Option<PollGuard<'_>> {
        if !self.poller_lock.try_lock(turn::token()) {
            return None;
        }
        Some(PollGuard {
            poll_loop: self,
            is_held: true,
            deferral: Some(Deferral::begin()),
            defers_requests: false,
            wanted,
            found: None,
            last: Tick::default(),
        })
    }

    fn queue(&self) -> Option<&CompletionQueue> {
        if self.queue.get().is_none() {
            let queue = CompletionQueue::new().ok()?;
            // A call that was made before the queue existed takes effect now.
            queue.call();
            // Another thread may have set one meanwhile, which is used then.
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
        // The poller itself looks again before it sleeps, and a call would only wake it once more.
        if !self.poller_lock.is_held_by(turn::token()) {
            if let Some(queue) = self.queue.get() {
                queue.call();
            }
        }
    }
}
