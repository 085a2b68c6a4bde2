//! The methods that wait, of one connection and of several.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::Session;
use crate::promise::Promises;
use crate::server::Load;
use crate::sync::lock;

/// The methods that wait, of several connections.
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
        self.load.wait();
        let mut count = lock(&self.count);
        *count = count.saturating_add(1);
    }

    fn leave(&self) {
        self.load.go_on();
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
    count: AtomicUsize,
    all: Arc<Waiting>,
    promises: Arc<Promises>,
}

impl Here {
    pub(super) fn new(all: Arc<Waiting>, promises: Arc<Promises>) -> Arc<Self> {
        Arc::new(Self {
            count: AtomicUsize::new(0),
            all,
            promises,
        })
    }
}

/// A method that waits, or is waited for to begin, and counts as long as it does. It does not keep its connection, with
/// which it may be kept.
pub(crate) struct Waits(Arc<Here>);

impl Waits {
    pub(crate) fn new(session: &Session) -> Self {
        let here = session.waiting.clone();
        here.count.fetch_add(1, Ordering::Relaxed);
        here.all.add();
        Self(here)
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        // SYNC POINT: who stands looks at the count behind saying so.
        self.0.count.fetch_sub(1, Ordering::SeqCst);
        self.0.all.leave();
        self.0.promises.go_on();
    }
}

impl Session {
    /// How much the server has to do.
    pub(crate) fn load(&self) -> &Arc<Load> {
        &self.waiting.all.load
    }

    /// Whether one more method may wait.
    pub(crate) fn may_wait(&self) -> bool {
        let waiting = self.waiting.count.load(Ordering::SeqCst);
        let in_all = || self.load().waiting() < self.terms.max_waiting_in_all;
        waiting < self.terms.max_waiting && (waiting == 0 || in_all())
    }

    /// Whether a call may as well wait until another one does not any more, which [lets it go on](crate::promise::Promises::go_on).
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.count.load(Ordering::SeqCst) > 0
    }

    /// Whether calls are not taken any more.
    pub(crate) fn is_ending(&self) -> bool {
        self.waiting.all.is_ending.load(Ordering::Relaxed)
    }
}
