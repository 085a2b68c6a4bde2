//! Counts of suspended methods and held calls, for each connection and for a whole listener.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::Session;
use crate::pipelining::Promises;
use crate::server::Load;
use crate::sync::lock;

/// Count of the suspended methods and held calls of several connections.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    count: Mutex<usize>,
    changed: Condvar,
    /// True if calls are no longer accepted.
    is_ending: AtomicBool,
    /// Counters that are shared by all listeners of the server.
    load: Arc<Load>,
}

impl Waiting {
    pub(crate) fn new(load: Arc<Load>) -> Self {
        Self {
            load,
            ..Self::default()
        }
    }

    /// Stops accepting calls.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    fn add(&self) {
        let mut count = lock(&self.count);
        *count = count.saturating_add(1);
    }

    fn leave(&self) {
        let mut count = lock(&self.count);
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.changed.notify_all();
        }
    }

    /// Blocks until no method is suspended and no call is held.
    pub(crate) fn wait(&self) {
        let mut count = lock(&self.count);
        while *count > 0 {
            let waited = self.changed.wait(count);
            count = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Counts of the suspended methods and held calls of one connection.
pub(crate) struct Here {
    methods: AtomicUsize,
    /// Number of held calls.
    held: AtomicUsize,
    all: Arc<Waiting>,
    promises: Arc<Promises>,
}

impl Here {
    pub(super) fn new(all: Arc<Waiting>, promises: Arc<Promises>) -> Arc<Self> {
        Arc::new(Self {
            methods: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            all,
            promises,
        })
    }
}

/// Guard that counts a suspended method. It holds no reference to its connection, because the
/// connection may own it.
pub(crate) struct Waits(Arc<Here>);

impl Waits {
    pub(crate) fn new(session: &Session) -> Self {
        let here = session.waiting.clone();
        here.methods.fetch_add(1, Ordering::Relaxed);
        here.all.load.wait();
        here.all.add();
        Self(here)
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        // SYNC POINT (Dekker): this thread decrements the count and then looks for stalled calls. A
        // stalling call publishes itself and then reads the count. At least one of them sees the
        // other.
        self.0.methods.fetch_sub(1, Ordering::SeqCst);
        self.0.all.load.go_on();
        self.0.all.leave();
        self.0.promises.go_on();
    }
}

/// Guard that counts a held call, which cannot begin yet. It does not occupy a place of a suspended
/// method: otherwise a held call could take the place that the call before it needs.
pub(crate) struct IsHeld(Arc<Here>);

impl IsHeld {
    pub(crate) fn new(session: &Session) -> Self {
        let here = session.waiting.clone();
        here.held.fetch_add(1, Ordering::Relaxed);
        here.all.load.hold();
        here.all.add();
        Self(here)
    }
}

impl Drop for IsHeld {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::Relaxed);
        self.0.all.load.release();
        self.0.all.leave();
    }
}

impl Session {
    /// Returns the load of the server.
    pub(crate) fn load(&self) -> &Arc<Load> {
        &self.waiting.all.load
    }

    /// Returns true if one more method may be suspended, or one more call held.
    pub(crate) fn may_wait(&self) -> bool {
        let held = self.waiting.held.load(Ordering::Relaxed);
        let waiting = self.methods().saturating_add(held);
        let in_all = || self.load().waiting() < self.terms.max_waiting_in_all;
        waiting < self.terms.max_waiting && (waiting == 0 || in_all())
    }

    /// Returns true if the method of a pipelined call whose turn has come may be suspended. Held
    /// calls do not count here, because they may be waiting behind this very call.
    pub(crate) fn may_wait_in_turn(&self) -> bool {
        let in_all = || self.load().methods() < self.terms.max_waiting_in_all;
        !self.is_full() && (self.methods() == 0 || in_all())
    }

    /// Returns true if a call has to wait until a suspended method of this connection ends, which
    /// [resumes the held calls](crate::pipelining::Promises::go_on).
    pub(crate) fn is_full(&self) -> bool {
        let methods = self.methods();
        methods > 0 && methods >= self.terms.max_waiting
    }

    fn methods(&self) -> usize {
        self.waiting.methods.load(Ordering::SeqCst)
    }

    /// Returns true if calls are no longer accepted.
    pub(crate) fn is_ending(&self) -> bool {
        self.waiting.all.is_ending.load(Ordering::Relaxed)
    }
}
