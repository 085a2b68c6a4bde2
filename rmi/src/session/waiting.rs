//! Counts of suspended methods and held calls, for each connection and for a whole listener.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use jstream_sync::lock;

/// Counters of a server, over all its listeners.
#[derive(Debug, Default)]
pub(crate) struct ServerCounters {
    waiting: AtomicUsize,
    /// Calls that are held until they can start.
    held: AtomicUsize,
    refused: AtomicU64,
    /// Calls that started inline and continued as tasks.
    moved: AtomicU64,
    /// Listeners that are not shutting down.
    listening: AtomicUsize,
}

impl ServerCounters {
    /// Counts a method that is suspended.
    fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a method that is no longer suspended.
    fn end_wait(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a call that is held.
    fn hold(&self) {
        self.held.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call that is no longer held.
    fn release(&self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the number of suspended methods.
    pub(super) fn methods(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the number of suspended methods and held calls.
    pub(crate) fn waiting(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        self.methods().saturating_add(held)
    }

    /// Counts a refused call.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of refused calls.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts a listener.
    pub(crate) fn listen(&self) {
        self.listening.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a listener is shutting down.
    pub(crate) fn end_listening(&self) {
        self.listening.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns true if a listener is not shutting down.
    pub(crate) fn listens(&self) -> bool {
        self.listening.load(Ordering::Relaxed) > 0
    }

    /// Counts a call that continues as a task.
    pub(crate) fn count_moved(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of calls that continued as tasks.
    pub(crate) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }
}

/// Count of the suspended methods and held calls of several connections.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    count: Mutex<usize>,
    changed: Condvar,
    /// True if calls are no longer accepted.
    is_ending: AtomicBool,
    /// Counters that are shared by all listeners of the server.
    load: Arc<ServerCounters>,
}

impl Waiting {
    pub(crate) fn new(load: Arc<ServerCounters>) -> Self {
        Self {
            load,
            ..Self::default()
        }
    }

    /// Stops accepting calls.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    /// Returns true if calls are no longer accepted.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    pub(crate) fn load(&self) -> &Arc<ServerCounters> {
        &self.load
    }

    fn add(&self) {
        let mut count = lock(&self.count);
        *count = count.saturating_add(1);
    }

    fn remove(&self) {
        let mut count = lock(&self.count);
        *count = count.saturating_sub(1);
        // Only a shutdown waits, for zero. Waking it for each method would cost a system call each.
        if *count == 0 {
            self.changed.notify_all();
        }
    }

    /// Blocks until no method is suspended and no call is held.
    pub(crate) fn wait(&self) {
        let mut count = lock(&self.count);
        // The wait has no deadline of its own: each method ends at its deadline or with its
        // connection, which the shutdown ends at its time limit.
        while *count > 0 {
            let waited = self.changed.wait(count);
            count = jstream_sync::unpoisoned(waited);
        }
    }
}

/// Counts of the suspended methods and held calls of one connection.
#[derive(Debug)]
pub(crate) struct CallCounts {
    methods: AtomicUsize,
    /// Number of held calls.
    held: AtomicUsize,
    all: Arc<Waiting>,
}

impl CallCounts {
    pub(crate) fn new(all: Arc<Waiting>) -> Arc<Self> {
        Arc::new(Self {
            methods: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            all,
        })
    }

    /// Counts a method that is suspended.
    pub(crate) fn suspend(&self) {
        self.methods.fetch_add(1, Ordering::Relaxed);
        self.all.load.wait();
        self.all.add();
    }

    /// Counts a method that is no longer suspended.
    pub(crate) fn resume(&self) {
        // SYNC POINT (Dekker): this thread decrements the count and then looks for stalled calls. A
        // stalling call publishes itself and then reads the count. At least one of them sees the
        // other.
        self.methods.fetch_sub(1, Ordering::SeqCst);
        self.all.load.end_wait();
        self.all.remove();
    }

    /// Returns the number of suspended methods.
    pub(super) fn methods(&self) -> usize {
        self.methods.load(Ordering::SeqCst)
    }

    /// Returns the number of held calls.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Returns the counts of all connections of the listener.
    pub(crate) fn all(&self) -> &Waiting {
        &self.all
    }
}

/// Guard that counts a held call, which cannot begin yet. It does not occupy a place of a suspended
/// method: otherwise a held call could take the place that the call before it needs.
pub(crate) struct IsHeld(Arc<CallCounts>);

impl IsHeld {
    pub(crate) fn new(counts: Arc<CallCounts>) -> Self {
        counts.held.fetch_add(1, Ordering::Relaxed);
        // Listener and server count before the guard exists, so that no release can come before its
        // count.
        counts.all.load.hold();
        counts.all.add();
        Self(counts)
    }
}

impl Drop for IsHeld {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::Relaxed);
        self.0.all.load.release();
        self.0.all.remove();
    }
}
