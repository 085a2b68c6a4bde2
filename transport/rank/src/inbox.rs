//! The receive side of a rank: state under one lock, and the threads that wait for it.
//!
//! Lock order: a direction of an endpoint, then an inbox. No other lock is taken under the lock of
//! an inbox. Work on endpoints and other inboxes is [recorded](super::work_queue) and done after
//! the lock is released.

mod sleep;

use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

use jstream::buffer::Pool;

use super::attention::Attention;
use super::bell::Bell;
use super::communicators::Communicators;
use super::credit::{Account, allowed};
use super::failures::Failures;
use super::options::Options;
use super::revocations::Revocations;
use super::state::{Peer, RankState};
use super::tombstones::Tombstones;
use super::wanted_lines::WantedLines;
use jstream_device::SlotMessage as Cell;
use jstream_device::connection::Limits;
use jstream_endpoint::ops::Ops;
use jstream_matching::Matcher;
use jstream_sync::callbacks::Deferral;
use jstream_sync::ring::Viewer;

/// The inbox of a rank, shared with the threads that send to it.
pub(super) struct Inbox {
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) options: Options,
    /// The flag that allows senders to leave messages in their queues.
    pub(super) attention: Attention,
    /// Views of the queues by rank, to poll them without the lock.
    pub(super) views: Box<[OnceLock<Viewer<Cell>>]>,
    state: Mutex<RankState>,
    /// Counter of changes: incremented whenever something ends that a thread may wait for.
    epoch: AtomicU32,
    /// Number of waiting threads.
    waiting: AtomicU32,
    /// Outcomes of recent waits, for adaptive spinning.
    pub(super) habit: AtomicU8,
    /// Notified when there are news, or when no thread sleeps on the bell any more.
    changed: Condvar,
    /// The bell on which one thread sleeps for all connections, if there are any.
    pub(super) bell: OnceLock<Bell>,
    /// True if the pool of a connection had no room.
    starved: AtomicBool,
    /// True if any communicator was revoked.
    has_revocations: AtomicBool,
    /// True if the operations of a communicator that was revoked have not been ended.
    has_open_revocations: AtomicBool,
    /// True if receives wait for ranks without a connection.
    has_wanted: Arc<AtomicBool>,
    /// True if operations have failed at other ranks.
    has_failures: Arc<AtomicBool>,
}

/// Guard of the locked state of an inbox. While it exists, the program is not called: wakers,
/// and reclaim functions of buffers that are dropped, wait until the lock is released.
pub(super) struct InboxGuard<'i> {
    state: MutexGuard<'i, RankState>,
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

impl Inbox {
    pub(super) fn new(rank: u32, size: u32, options: &Options) -> Arc<Self> {
        let mut matcher = Matcher::new(allowed(options.bounds));
        let mut peers = Vec::new();
        for number in 0..size {
            let source = matcher.add_source();
            debug_assert_eq!(source, number, "sources are ranks");
            peers.push(Peer::default());
        }
        let wanted = WantedLines::new(size);
        let failures = Failures::default();
        Arc::new(Self {
            has_wanted: wanted.flag(),
            has_failures: failures.flag(),
            rank,
            size,
            options: options.clone(),
            attention: Attention::new(),
            views: (0..size).map(|_| OnceLock::new()).collect(),
            state: Mutex::new(RankState {
                matcher,
                requests: Ops::default(),
                live: peers.len().saturating_sub(1),
                peers,
                news: false,
                sleepers: 0,
                is_watched: false,
                probers: 0,
                first: 0,
                tasks: 0,
                closed: false,
                communicators: Communicators::default(),
                revocations: Revocations::default(),
                tombstones: Tombstones::default(),
                failures,
                wanted,
            }),
            epoch: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            habit: AtomicU8::new(0),
            changed: Condvar::new(),
            bell: OnceLock::new(),
            starved: AtomicBool::new(false),
            has_revocations: AtomicBool::new(false),
            has_open_revocations: AtomicBool::new(false),
        })
    }

    /// Opens the bell, on which a thread sleeps for all connections.
    pub(super) fn open_bell(&self) -> io::Result<()> {
        if self.bell.get().is_none() {
            let bell = Bell::new()?;
            self.bell.get_or_init(|| bell);
        }
        Ok(())
    }

    /// Prepares for messages of `rank` over a connection with these limits.
    pub(super) fn add_line(&self, rank: u32, limits: &Limits) {
        if let Some(peer) = self.lock().peer(rank) {
            peer.account = Some(Account::new(self.options.bounds));
            peer.max_allocated = limits.max_receive;
        }
    }

    pub(super) fn set_starved(&self) {
        self.starved.store(true, Ordering::Relaxed);
    }

    /// Returns and clears the flag that the pool of a connection had no room.
    #[inline]
    pub(super) fn take_starved(&self) -> bool {
        self.starved.load(Ordering::Relaxed) && self.starved.swap(false, Ordering::Relaxed)
    }

    /// Announces that a communicator was revoked. Called under the lock.
    pub(super) fn set_revocations(&self) {
        self.has_revocations.store(true, Ordering::Relaxed);
        self.has_open_revocations.store(true, Ordering::Relaxed);
    }

    /// Returns true if any communicator was revoked.
    #[inline]
    pub(super) fn has_revocations(&self) -> bool {
        self.has_revocations.load(Ordering::Relaxed)
    }

    /// Returns and clears the flag that operations of revoked communicators have not been ended.
    #[inline]
    pub(super) fn take_open_revocations(&self) -> bool {
        let flag = &self.has_open_revocations;
        flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed)
    }

    /// Returns true if operations have failed at other ranks.
    #[inline]
    pub(super) fn has_failures(&self) -> bool {
        self.has_failures.load(Ordering::Relaxed)
    }

    /// Returns true if receives wait for ranks without a connection.
    #[inline]
    pub(super) fn has_wanted(&self) -> bool {
        self.has_wanted.load(Ordering::Relaxed)
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.options.pool
    }

    /// Locks the state. Code under the lock does not panic, except for failed allocations, which
    /// change nothing. So the state behind a poisoned lock is valid.
    #[inline]
    pub(super) fn lock(&self) -> InboxGuard<'_> {
        let state = jstream_sync::lock(&self.state);
        InboxGuard {
            state,
            deferral: Deferral::begin(),
        }
    }

    /// Releases the lock and notifies waiting threads if there are news.
    #[inline]
    pub(super) fn leave<'i>(&'i self, mut state: InboxGuard<'i>) {
        if std::mem::take(&mut state.news) {
            self.tell(&state);
        }
    }

    fn tell(&self, state: &RankState) {
        // Pairs with the load in `epoch`: a thread that sees the new value also sees what has
        // ended.
        self.epoch.fetch_add(1, Ordering::Release);
        if state.sleepers > 0 {
            self.changed.notify_all();
        }
        if let (Some(bell), true) = (self.bell.get(), state.is_watched) {
            bell.ring();
        }
    }

    #[inline]
    pub(super) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Counts this thread as waiting until the returned guard is dropped.
    pub(super) fn note_waiting(&self) -> impl Drop + '_ {
        struct Waits<'i>(&'i AtomicU32);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
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
        let is_told = state.sleepers > 0 || state.is_watched || state.tasks > 0;
        if !self.attention.is_given() && !is_told && !state.closed {
            self.attention.give();
        }
    }
}
