//! The receive side of a rank: state under one lock, and the threads that wait for it.
//!
//! Lock order: a direction of an endpoint, then an inbox. No other lock is taken under the lock of
//! an inbox. Work on endpoints and other inboxes is [recorded](super::work_queue) and done after
//! the lock is released.
//!
//! Decision 070 has the reasons.

mod sleep;

use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use jstream::buffer::Pool;

use super::attention::Attention;
use super::bell::Bell;
use super::options::Options;
use super::queue::Entry;
use super::state::RankState;
use super::summary::{Flags, Summary};
use jstream_device::SlotMessage as Cell;
use jstream_device::deadline::Deadline;
use jstream_endpoint::spin::Spin;
use jstream_sync::Condvar;
use jstream_sync::callbacks::Deferral;
use jstream_sync::publishing_lock::{Publish, PublishingGuard, PublishingLock, Word};
use jstream_sync::ring::Viewer;

/// The inbox of a rank, shared with the threads that send to it.
pub(super) struct Inbox {
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) options: Options,
    /// Maximum length in bytes of a message to another thread that is sent as a copy.
    pub(super) eager_between_threads: u64,
    /// Maximum length in bytes of a message for which the library allocates memory.
    pub(super) max_allocated: u64,
    /// The flag that allows senders to leave messages in their queues.
    pub(super) attention: Attention,
    /// Views of the queues by rank, to poll them without the lock.
    views: Box<[OnceLock<Viewer<Cell>>]>,
    /// The summary has the counter of changes, and flags of rare parts.
    state: PublishingLock<RankState>,
    /// Number of waiting threads.
    waiting: AtomicU32,
    /// Outcomes of recent waits, for adaptive spinning.
    habit: AtomicU8,
    /// True if the pool of a connection had no room.
    starved: AtomicBool,
}

/// Parts of an inbox that are notified when its lock is released.
pub(super) struct InboxListeners {
    /// Notified when the counter of changes was incremented, or when no thread sleeps on the bell
    /// any more.
    changed: Condvar,
    /// The bell on which one thread sleeps for all connections, if there are any.
    bell: OnceLock<Bell>,
}

impl Publish for RankState {
    type Summary = Word<u64>;
    type Listeners = InboxListeners;

    #[inline]
    fn summary(&self) -> u64 {
        Self::summary(self).word()
    }

    fn notify(&mut self, listeners: &InboxListeners, before: u64) {
        // All that a thread may wait for changes the epoch. Other changes wake nobody.
        if Summary::from_word(before).epoch() == self.waiters.epoch() {
            return;
        }
        // All are woken, because each of them may wait for another request.
        if self.waiters.have_sleepers() {
            listeners.changed.notify_all();
        }
        // A ring is a system call, so it is made only for a thread that sleeps there.
        if let (Some(bell), true) = (listeners.bell.get(), self.waiters.is_bell_taken()) {
            bell.ring();
        }
    }
}

/// Guard of the locked state of an inbox. While it exists, the program is not called: wakers,
/// and reclaim functions of buffers that are dropped, wait until the lock is released.
pub(super) struct InboxGuard<'i> {
    state: PublishingGuard<'i, RankState>,
    /// Dropped after the lock was released.
    deferral: Deferral,
}

impl Deref for InboxGuard<'_> {
    type Target = RankState;

    #[inline]
    fn deref(&self) -> &RankState {
        &self.state
    }
}

impl DerefMut for InboxGuard<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut RankState {
        &mut self.state
    }
}

impl InboxGuard<'_> {
    /// Drops the guard, on a hot path ([`PublishingGuard::release`]).
    #[inline(always)]
    pub(super) fn release(self) {
        let Self { state, deferral } = self;
        // Callbacks of the deferral may lock this inbox, so the lock is released before they run.
        state.release();
        drop(deferral);
    }
}

impl Inbox {
    pub(super) fn new(rank: u32, size: u32, options: &Options) -> Arc<Self> {
        let listeners = InboxListeners {
            changed: Condvar::new(),
            bell: OnceLock::new(),
        };
        Arc::new(Self {
            rank,
            size,
            options: options.clone(),
            eager_between_threads: options.eager_between_threads(),
            max_allocated: options.max_allocated(),
            attention: Attention::new(),
            views: (0..size).map(|_| OnceLock::new()).collect(),
            state: PublishingLock::new(RankState::new(size, options), listeners),
            waiting: AtomicU32::new(0),
            habit: AtomicU8::new(0),
            starved: AtomicBool::new(false),
        })
    }

    /// Opens the bell, on which a thread sleeps for all connections.
    pub(super) fn open_bell(&self) -> io::Result<()> {
        if self.bell().is_none() {
            let bell = Bell::new()?;
            // Another thread may have opened one meanwhile. Then this one is dropped.
            self.state.listeners().bell.get_or_init(|| bell);
        }
        Ok(())
    }

    fn bell(&self) -> Option<&Bell> {
        self.state.listeners().bell.get()
    }

    fn changed(&self) -> &Condvar {
        &self.state.listeners().changed
    }

    /// Prepares for messages of `rank` over a connection.
    pub(super) fn add_line(&self, rank: u32) {
        let bounds = self.options.bounds;
        self.lock().peers.open_account(rank, bounds);
    }

    /// Opens the queue for messages of a thread of a rank. Returns `None` if it has one already.
    #[cold]
    pub(super) fn open_queue(&self, source: u32) -> Option<Entry> {
        let mut state = self.lock();
        let (entry, viewer) = state.arrivals.open_queue(source)?;
        // The view is set only here, once, because there was no queue before.
        let _ = self.views.get(source as usize)?.set(viewer);
        Some(entry)
    }

    /// Returns true if the queue of a rank seems to have a message.
    #[inline]
    pub(super) fn has_queued(&self, source: u32) -> bool {
        let view = self.views.get(source as usize);
        view.and_then(|view| view.get())
            .is_some_and(|view| view.is_filled())
    }

    /// Begins to spin for a message, for as long as recent waits suggest.
    #[inline]
    pub(super) fn begin_spin(&self, until: Deadline) -> Spin {
        let habit = self.habit.load(Ordering::Relaxed);
        Spin::begin(self.options.spin, habit, until)
    }

    /// Records the outcome of a wait.
    #[inline]
    pub(super) fn end_spin(&self, spin: Spin) {
        // Two threads may lose an outcome to one another. It only guides the next spin.
        let mut habit = self.habit.load(Ordering::Relaxed);
        spin.end(&mut habit);
        self.habit.store(habit, Ordering::Relaxed);
    }

    pub(super) fn set_starved(&self) {
        self.starved.store(true, Ordering::Relaxed);
    }

    /// Returns and clears the flag that the pool of a connection had no room.
    #[inline]
    pub(super) fn take_starved(&self) -> bool {
        // Read first, so that the cache line stays shared while no pool lacks room.
        self.starved.load(Ordering::Relaxed) && self.starved.swap(false, Ordering::Relaxed)
    }

    /// Returns flags of rare parts of the state, as of the last release of the lock.
    #[inline]
    pub(super) fn flags(&self) -> Flags {
        Summary::from_word(self.state.summary().get()).flags()
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.options.pool
    }

    /// Locks the state. Code under the lock does not panic, except for failed allocations, which
    /// change nothing. So the state behind a poisoned lock is valid.
    #[inline]
    pub(super) fn lock(&self) -> InboxGuard<'_> {
        InboxGuard {
            state: self.state.lock(),
            deferral: Deferral::begin(),
        }
    }

    /// Returns the counter of changes as of the last release. A thread that sees a new value also
    /// sees what has ended.
    #[inline]
    pub(super) fn epoch(&self) -> u32 {
        Summary::from_word(self.state.summary().get_acquire()).epoch()
    }

    /// Counts this thread as waiting until the returned guard is dropped.
    pub(super) fn note_waiting(&self) -> impl Drop + '_ {
        struct Waits<'i>(&'i AtomicU32);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        // Relaxed is enough, because the count only decides who drives replies. A carrier sends
        // them if nobody waits.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waits(&self.waiting)
    }

    pub(super) fn somebody_waits(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Allows senders to leave messages in their queues, unless a sleeping thread or a task has to
    /// be notified of them. The caller must poll the queues, and must not have slept before its
    /// last message arrived.
    #[inline]
    pub(super) fn attend(&self, state: &RankState) {
        // A sleeping thread polls no queue, so senders have to come to the inbox and notify it.
        if !self.attention.is_given() && !state.has_sleepers() && !state.is_closed() {
            self.attention.grant();
        }
    }
}
