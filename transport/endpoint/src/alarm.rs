//! Notification of all tasks that wait for a direction, called by the device when the direction can
//! make progress: a list of wakers that is itself a waker.

use std::io;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use super::reactor;
use jstream_sync::callbacks;
use jstream_sync::publishing_lock::{Publish, PublishingGuard, PublishingLock, Word};
use jstream_sync::wakers::{WakerList, wake_each};
use jstream_sync::watcher::Watcher;

/// No task waits.
const IDLE: u32 = 0;
/// Tasks wait, and the device is not armed.
const WANTED: u32 = 1;
/// The device is armed and is going to call.
const ARMED: u32 = 2;

/// The waker with which a half is armed. It wakes every waiting task, so a task that was forgotten
/// or does not poll again does not delay the others.
#[derive(Debug)]
pub(crate) struct Alarm {
    /// The innermost of all locks. The summary is the state, and true if a carrier is to be woken
    /// when nothing is posted any more.
    tasks: PublishingLock<AlarmTasks>,
}

impl Default for Alarm {
    fn default() -> Self {
        Self {
            tasks: PublishingLock::new(AlarmTasks::default(), ()),
        }
    }
}

#[derive(Debug, Default)]
struct AlarmTasks {
    /// [`IDLE`], [`WANTED`] or [`ARMED`].
    state: u32,
    wakers: WakerList,
    /// The watcher with which all tasks have their sources registered; `None` for the reactor's.
    place: Option<Weak<Watcher>>,
    /// Waker to be called when nothing is posted any more.
    carrier: Option<Waker>,
}

impl Publish for AlarmTasks {
    type Summary = (Word<u32>, Word<bool>);
    type Listeners = ();

    #[inline]
    fn summary(&self) -> (u32, bool) {
        (self.state, self.carrier.is_some())
    }
}

impl Alarm {
    /// Registers `carrier` to be woken once when nothing is posted any more, regardless of which
    /// thread drove the operations: the device may not call then. `carrier` must not be a task of
    /// the program, because the thread that wakes it may hold locks.
    pub(super) fn set_carrier(&self, carrier: &Waker) {
        // The guard is gone at the end of the statement, so the old waker is dropped without the
        // lock.
        let before = self.lock().carrier.replace(carrier.clone());
        drop(before);
    }

    /// Wakes the carrier, because nothing is posted any more.
    #[inline]
    pub(super) fn tell_carrier(&self) {
        if self.tasks.summary().1.get() {
            // Taken out so that the waker runs without this lock.
            let carrier = self.lock().carrier.take();
            if let Some(carrier) = carrier {
                carrier.wake();
            }
        }
    }

    /// Registers `task` to be woken by the next call of the device. If the owner of the task polls
    /// `place` whenever the task matters, the source may be registered there, which relieves the
    /// reactor. This is not done while other tasks wait as well.
    pub(crate) fn register(&self, task: &Waker, place: Option<&Arc<Watcher>>) {
        let mut tasks = self.lock();
        let is_known = match (&tasks.place, place) {
            (Some(known), Some(place)) => std::ptr::eq(known.as_ptr(), Arc::as_ptr(place)),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let alone = tasks.wakers.is_empty();
        // A source can be registered with one watcher. Tasks of different watchers share that of
        // the reactor, which wakes them all.
        let moved = !is_known && (alone || tasks.place.is_some());
        if moved {
            tasks.place = place.filter(|_| alone).map(Arc::downgrade);
        }
        tasks.wakers.insert(task);
        // The device is armed with the previous watcher.
        if moved || tasks.state == IDLE {
            tasks.state = WANTED;
        }
    }

    /// Returns the watcher with which to register the source.
    pub(crate) fn watcher(&self) -> io::Result<Arc<Watcher>> {
        // A watcher that has gone polls nothing, so the reactor takes its place.
        let place = self.lock().place.as_ref().and_then(Weak::upgrade);
        place.map_or_else(|| reactor::watcher().cloned(), Ok)
    }

    /// Unregisters `task`, which need not be woken any more as far as the caller knows.
    pub(crate) fn forget(&self, task: &Waker) {
        let forgotten = self.lock().wakers.remove_same(task);
        // The caller may hold the lock of a direction.
        callbacks::discard(forgotten);
    }

    /// Returns true if tasks wait, as far as is known without the lock.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.state() != IDLE
    }

    /// Returns true if the device should be armed: tasks wait, and the device is not going to call.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.state() == WANTED
    }

    /// Marks the device as armed. Called right before arming, because the device may call before it
    /// returns.
    pub(crate) fn set_armed(&self) {
        self.lock().state = ARMED;
    }

    /// Marks the device as not armed, because it may have lost that state. Ends no wait: as long as
    /// tasks wait, the release of the lock of the direction arms the device again.
    /// `CompletionQueue::disarm` and `Shared::disarm_receive` differ: they unregister a task.
    #[inline]
    pub(crate) fn disarm(&self) {
        if self.state() == ARMED {
            // The state is read without the lock first, because almost every message disarms. It
            // may have changed until the lock is held.
            let mut tasks = self.lock();
            if tasks.state == ARMED {
                tasks.state = if tasks.wakers.is_empty() {
                    IDLE
                } else {
                    WANTED
                };
            }
        }
    }

    /// Wakes the tasks that wait now.
    pub(crate) fn ring(&self) {
        let mut tasks = self.lock();
        // Set before the tasks run: a task that registers while others are being woken arms the
        // device anew.
        tasks.state = IDLE;
        // Tasks that register from here on wait for the next call.
        wake_each(tasks, || self.lock(), |tasks| &mut tasks.wakers);
    }

    /// Locks the tasks. While the lock is held, no code of the program runs except the cloning of
    /// wakers.
    fn lock(&self) -> PublishingGuard<'_, AlarmTasks> {
        self.tasks.lock()
    }

    #[inline]
    fn state(&self) -> u32 {
        self.tasks.summary().0.get()
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
