//! Who receives for a bundle.

use std::task::Waker;

use super::sync::{AtomicUsize, Mutex, Ordering, lock};

/// The right to receive, which one thread has at a time, and those who would take it.
///
/// Who leaves it frees the word, and then looks whether somebody waits; who waits is entered first, and then looks
/// at the word. Both change the word, and its changes have one order: whoever of the two is second sees what the
/// other one did before.
#[derive(Debug)]
pub(super) struct Role {
    /// Who has it, or 0.
    owner: AtomicUsize,
    waiting: AtomicUsize,
    parked: Mutex<Vec<Waker>>,
}

impl Role {
    pub(super) fn new() -> Self {
        Self {
            owner: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            parked: Mutex::new(Vec::new()),
        }
    }

    /// Whether `token` has it from now on. A thread that has it already does not get it.
    #[inline]
    pub(super) fn take(&self, token: usize) -> bool {
        self.owner
            .compare_exchange(0, token, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    pub(super) fn is_of(&self, token: usize) -> bool {
        self.owner.load(Ordering::Relaxed) == token
    }

    /// Whether nobody has it. Who has left it before sees what the caller did before, or the other way round.
    pub(super) fn is_free(&self) -> bool {
        self.owner.fetch_add(0, Ordering::AcqRel) == 0
    }

    /// Frees it, and wakes one who waits for it.
    #[inline]
    pub(super) fn leave(&self) {
        self.leave_by(Ordering::AcqRel);
    }

    #[inline]
    pub(super) fn leave_by(&self, order: Ordering) {
        self.owner.swap(0, order);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }

    /// Has `waker` called when it may be free. True when it is free now.
    pub(super) fn wait(&self, waker: &Waker) -> bool {
        self.wait_by(waker, Ordering::AcqRel)
    }

    pub(super) fn wait_by(&self, waker: &Waker, order: Ordering) -> bool {
        let mut parked = lock(&self.parked);
        if !parked.iter().any(|other| other.will_wake(waker)) {
            parked.push(waker.clone());
        }
        self.waiting.store(parked.len(), Ordering::Relaxed);
        drop(parked);
        self.owner.fetch_add(0, order) == 0
    }

    /// `waker` need not be called. Where it was to take the role, another one is woken.
    pub(super) fn forget(&self, waker: &Waker) {
        let mut parked = lock(&self.parked);
        let place = parked.iter().position(|other| other.will_wake(waker));
        let forgotten = place.map(|place| parked.swap_remove(place));
        self.waiting.store(parked.len(), Ordering::Relaxed);
        drop(parked);
        if forgotten.is_none() && self.owner.fetch_add(0, Ordering::AcqRel) == 0 {
            self.wake_one();
        }
    }

    /// Has one who waits look, if there is one.
    pub(super) fn nudge(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }

    /// Has all look who wait.
    pub(super) fn nudge_all(&self) {
        let mut parked = lock(&self.parked);
        let all = std::mem::take(&mut *parked);
        self.waiting.store(0, Ordering::Relaxed);
        drop(parked);
        all.into_iter().for_each(Waker::wake);
    }

    #[cold]
    fn wake_one(&self) {
        let mut parked = lock(&self.parked);
        let waker = if parked.is_empty() {
            None
        } else {
            Some(parked.remove(0))
        };
        self.waiting.store(parked.len(), Ordering::Relaxed);
        drop(parked);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
