//! What a device calls when a direction can go on, for all the tasks that wait for it.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Wake, Waker};

use super::reactor;
use super::watcher::{Watcher, wake};

/// Nobody waits.
const IDLE: u8 = 0;
/// Tasks wait, and the device was not asked to call.
const WANTED: u8 = 1;
/// The device is going to call.
const ARMED: u8 = 2;

/// The waker that a half is armed with. It wakes every task that waits: one that was forgotten, or
/// does not look again, then holds up nobody.
///
/// The state changes under the lock of the tasks only; that lock is the innermost of all.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    state: AtomicU8,
    tasks: Mutex<Tasks>,
    /// Somebody is woken when nothing is posted any more. Changes under the lock of the tasks.
    has_carrier: AtomicBool,
}

#[derive(Debug, Default)]
struct Tasks {
    wakers: VecDeque<Waker>,
    /// Where all of them have their sources watched; nothing for the reactor.
    place: Option<Weak<Watcher>>,
    /// Who is woken when nothing is posted any more.
    carrier: Option<Waker>,
}

impl Alarm {
    /// Has `carrier` woken once when nothing is posted any more, whoever has carried it on: no device may
    /// call then. It is no task of the program, for its caller may hold locks.
    pub(super) fn set_carrier(&self, carrier: &Waker) {
        let mut tasks = self.lock();
        let before = tasks.carrier.replace(carrier.clone());
        self.has_carrier.store(true, Ordering::Relaxed);
        drop(tasks);
        drop(before);
    }

    /// Nothing is posted any more.
    #[inline]
    pub(super) fn tell_carrier(&self) {
        if self.has_carrier.load(Ordering::Relaxed) {
            let mut tasks = self.lock();
            self.has_carrier.store(false, Ordering::Relaxed);
            let carrier = tasks.carrier.take();
            drop(tasks);
            if let Some(carrier) = carrier {
                carrier.wake();
            }
        }
    }

    /// Has `task` woken at the next call. Where somebody sees to `place` whenever the task matters, the
    /// source may be watched there, which spares the reactor; but not while others wait, too.
    pub(crate) fn register(&self, task: &Waker, place: Option<&Arc<Watcher>>) {
        let mut tasks = self.lock();
        let known = match (&tasks.place, place) {
            (Some(known), Some(place)) => std::ptr::eq(known.as_ptr(), Arc::as_ptr(place)),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let alone = tasks.wakers.is_empty();
        let moved = !known && (alone || tasks.place.is_some());
        if moved {
            tasks.place = place.filter(|_| alone).map(Arc::downgrade);
        }
        if !tasks.wakers.iter().any(|other| other.will_wake(task)) {
            tasks.wakers.push_back(task.clone());
        }
        // The device is armed for where it was.
        if moved || self.state.load(Ordering::Relaxed) == IDLE {
            self.state.store(WANTED, Ordering::Relaxed);
        }
    }

    /// Where the source is to be watched.
    pub(crate) fn watcher(&self) -> io::Result<Arc<Watcher>> {
        let place = self.lock().place.as_ref().and_then(Weak::upgrade);
        place.map_or_else(|| reactor::watcher().cloned(), Ok)
    }

    /// `task` need not be woken any more, as far as its caller knows.
    pub(crate) fn forget(&self, task: &Waker) {
        let mut tasks = self.lock();
        let mut wakers = tasks.wakers.iter();
        let place = wakers.position(|other| other.will_wake(task));
        let forgotten = place.and_then(|place| tasks.wakers.remove(place));
        drop(tasks);
        drop(forgotten);
    }

    /// Whether tasks wait, as far as is known without the lock.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.state.load(Ordering::Relaxed) != IDLE
    }

    /// Whether the device should be armed: tasks wait, and it won't call.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.state.load(Ordering::Relaxed) == WANTED
    }

    /// Right before the device is armed: its call may come before it answers.
    pub(crate) fn set_armed(&self) {
        let tasks = self.lock();
        self.state.store(ARMED, Ordering::Relaxed);
        drop(tasks);
    }

    /// The device may have forgotten that it was armed.
    #[inline]
    pub(crate) fn disarm(&self) {
        if self.state.load(Ordering::Relaxed) == ARMED {
            let tasks = self.lock();
            if self.state.load(Ordering::Relaxed) == ARMED {
                let state = if tasks.wakers.is_empty() {
                    IDLE
                } else {
                    WANTED
                };
                self.state.store(state, Ordering::Relaxed);
            }
        }
    }

    /// As [`ring`](Self::ring), by a caller that has a lock and wakes them without it.
    pub(crate) fn take(&self, to_wake: &mut Vec<Waker>) {
        let mut tasks = self.lock();
        self.state.store(IDLE, Ordering::Relaxed);
        to_wake.extend(tasks.wakers.drain(..));
    }

    /// Wakes the tasks that wait now.
    pub(crate) fn ring(&self) {
        let mut tasks = self.lock();
        self.state.store(IDLE, Ordering::Relaxed);
        // Those that register from here on wait for the next call.
        for _ in 0..tasks.wakers.len() {
            let Some(task) = tasks.wakers.pop_front() else {
                break;
            };
            drop(tasks);
            wake(task);
            tasks = self.lock();
        }
    }

    /// Nothing of the program runs while it is held, but the cloning of wakers.
    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}
