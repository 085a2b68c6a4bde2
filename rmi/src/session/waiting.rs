//! The methods that wait, of one connection and of several.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::Session;
use crate::promise::Promises;
use crate::server::Load;
use crate::sync::lock;

/// The methods that wait, and the calls that are held, of several connections.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    count: Mutex<usize>,
    changed: Condvar,
    /// There are to be no more.
    is_ending: AtomicBool,
    /// Those of all listeners count here, too.
    load: Arc<Load>,
}

impl Waiting {
    pub(crate) fn new(load: Arc<Load>) -> Self {
        Self {
            load,
            ..Self::default()
        }
    }

    /// No call is taken any more.
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

    /// Waits until none is left.
    pub(crate) fn wait(&self) {
        let mut count = lock(&self.count);
        while *count > 0 {
            let waited = self.changed.wait(count);
            count = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// How many methods of one connection wait, and what is done when one does not any more.
pub(crate) struct Here {
    methods: AtomicUsize,
    /// Calls that are held.
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

/// A method that waits, and counts as long as it does. It does not keep its connection, with which it may be kept.
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
        // SYNC POINT: who stands looks at the count behind saying so.
        self.0.methods.fetch_sub(1, Ordering::SeqCst);
        self.0.all.load.go_on();
        self.0.all.leave();
        self.0.promises.go_on();
    }
}

/// A call that is held until it can begin, and counts as long as it is. It takes no place of a method that waits: one
/// behind another in a row would have what that one stands for.
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
    /// How much the server has to do.
    pub(crate) fn load(&self) -> &Arc<Load> {
        &self.waiting.all.load
    }

    /// Whether one more method may wait, or one more call be held.
    pub(crate) fn may_wait(&self) -> bool {
        let held = self.waiting.held.load(Ordering::Relaxed);
        let waiting = self.methods().saturating_add(held);
        let in_all = || self.load().waiting() < self.terms.max_waiting_in_all;
        waiting < self.terms.max_waiting && (waiting == 0 || in_all())
    }

    /// Whether that of a call that has its turn may. It is not held up by those that are held, perhaps behind it.
    pub(crate) fn may_wait_in_turn(&self) -> bool {
        let in_all = || self.load().methods() < self.terms.max_waiting_in_all;
        !self.is_full() && (self.methods() == 0 || in_all())
    }

    /// Whether a call has to wait until a method of this connection does not any more, which
    /// [lets it go on](crate::promise::Promises::go_on).
    pub(crate) fn is_full(&self) -> bool {
        let methods = self.methods();
        methods > 0 && methods >= self.terms.max_waiting
    }

    fn methods(&self) -> usize {
        self.waiting.methods.load(Ordering::SeqCst)
    }

    /// Whether calls are not taken any more.
    pub(crate) fn is_ending(&self) -> bool {
        self.waiting.all.is_ending.load(Ordering::Relaxed)
    }
}
