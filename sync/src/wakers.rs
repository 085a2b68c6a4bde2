//! Wakers of threads and tasks that wait for an event.
//!
//! A waiting thread is registered like a task, by the waker of its
//! [`Parker`](crate::parker::Parker). A [`WakerList`] has no lock of its own, because it is part of
//! a state that has one. A [`WaitQueue`] is for a state that changes without a lock.

use std::collections::VecDeque;
use std::collections::vec_deque;
use std::iter::Chain;
use std::mem;
use std::ops::DerefMut;
use std::option;
use std::task::Waker;

use crate::callbacks::discard;
pub use crate::callbacks::wake;
use crate::flag::DekkerFlag;
use crate::publishing_lock::{Publish, PublishingLock};
use crate::{CacheLines, Ordering};

/// Calls the wakers that are in a list now, in order. `locked` is the state with the list; it is
/// released for each call, and locked again by `lock`. The list keeps its memory.
pub fn wake_each<G: DerefMut>(
    mut locked: G,
    lock: impl Fn() -> G,
    list: impl Fn(&mut G::Target) -> &mut WakerList,
) {
    let mut count = list(&mut locked).len();
    while let Some(waker) = list(&mut locked).pop() {
        drop(locked);
        wake(waker);
        count = count.saturating_sub(1);
        if count == 0 {
            return;
        }
        locked = lock();
    }
}

/// Wakers in the order of their registration.
///
/// The list calls no waker. Dropping or calling a waker may run code of the program, so its owner
/// does both after it has released the lock of the list.
#[derive(Debug)]
pub struct WakerList {
    /// The oldest entry. `None` only if `rest` is empty too. A single waker needs no allocation.
    first: Option<(u64, Waker)>,
    /// The other entries, ordered by key.
    rest: VecDeque<(u64, Waker)>,
    next: u64,
}

impl Default for WakerList {
    fn default() -> Self {
        Self::new()
    }
}

impl WakerList {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            first: None,
            rest: VecDeque::new(),
            next: 0,
        }
    }

    /// Returns true if there is no waker.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Returns the number of wakers.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()).saturating_add(self.rest.len())
    }

    /// Registers the waker of the waiter with this key; `None` for a new waiter. If the key is no
    /// longer in the list, the waiter is added at the end under a new key. Returns the waker that
    /// was replaced.
    #[must_use = "the replaced waker is dropped without the lock of the list"]
    pub fn register(&mut self, key: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        match key.and_then(|key| self.get_mut(key)) {
            Some(known) => Some(mem::replace(known, waker)),
            None => {
                *key = Some(self.push(waker));
                None
            }
        }
    }

    /// Adds a waker unless one that wakes the same waiter is in the list.
    pub fn insert(&mut self, waker: &Waker) {
        if !self.iter().any(|(_, known)| known.will_wake(waker)) {
            self.push(waker.clone());
        }
    }

    /// Removes the waker of the waiter with this key, if it is in the list.
    #[must_use = "the removed waker is dropped without the lock of the list"]
    pub fn remove(&mut self, key: u64) -> Option<Waker> {
        if self.first.as_ref().is_some_and(|(first, _)| *first == key) {
            return self.pop();
        }
        let place = place_of(&self.rest, key)?;
        self.rest.remove(place).map(|(_, waker)| waker)
    }

    /// Removes the waker that wakes the same waiter as `waker`, if it is in the list.
    #[must_use = "the removed waker is dropped without the lock of the list"]
    pub fn remove_same(&mut self, waker: &Waker) -> Option<Waker> {
        let found = self.iter().find(|(_, known)| known.will_wake(waker));
        let key = found.map(|(key, _)| *key)?;
        self.remove(key)
    }

    /// Removes the oldest waker.
    pub fn pop(&mut self) -> Option<Waker> {
        let first = mem::replace(&mut self.first, self.rest.pop_front());
        first.map(|(_, waker)| waker)
    }

    /// Returns the oldest entry: the key and the waker.
    #[must_use]
    pub fn first(&self) -> Option<(u64, &Waker)> {
        self.first.as_ref().map(|(key, waker)| (*key, waker))
    }

    /// Removes all wakers. Keys of the list stay unique.
    #[must_use = "the removed wakers are called or dropped without the lock of the list"]
    pub fn take(&mut self) -> Self {
        Self {
            first: self.first.take(),
            rest: mem::take(&mut self.rest),
            next: self.next,
        }
    }

    /// Calls all wakers, in order. The caller holds no lock.
    pub fn wake_all(self) {
        self.into_iter().for_each(wake);
    }

    fn push(&mut self, waker: Waker) -> u64 {
        let key = self.next;
        self.next = key.wrapping_add(1);
        match &self.first {
            None => self.first = Some((key, waker)),
            Some(_) => self.rest.push_back((key, waker)),
        }
        key
    }

    fn iter(&self) -> impl Iterator<Item = &(u64, Waker)> {
        self.first.iter().chain(&self.rest)
    }

    fn get_mut(&mut self, key: u64) -> Option<&mut Waker> {
        match &mut self.first {
            Some((first, waker)) if *first == key => Some(waker),
            _ => {
                let place = place_of(&self.rest, key)?;
                self.rest.get_mut(place).map(|(_, waker)| waker)
            }
        }
    }
}

impl IntoIterator for WakerList {
    type Item = Waker;
    type IntoIter = WakersInOrder;

    fn into_iter(self) -> WakersInOrder {
        WakersInOrder(self.first.into_iter().chain(self.rest))
    }
}

/// The wakers of a list, in the order of their registration.
#[derive(Debug)]
pub struct WakersInOrder(Chain<option::IntoIter<Keyed>, vec_deque::IntoIter<Keyed>>);

/// A waker with its key.
type Keyed = (u64, Waker);

impl Iterator for WakersInOrder {
    type Item = Waker;

    fn next(&mut self) -> Option<Waker> {
        self.0.next().map(|(_, waker)| waker)
    }
}

/// Returns the position of an entry.
fn place_of(entries: &VecDeque<(u64, Waker)>, key: u64) -> Option<usize> {
    entries.binary_search_by_key(&key, |(key, _)| *key).ok()
}

/// Waiters for the changes of a state that has no lock.
///
/// A waiter registers itself before it checks the state a last time, and is counted in a
/// [`DekkerFlag`]. While there are no waiters, a notification is a check of the flag. Each waiter
/// is woken once. A waiter that was woken but does not handle the event notifies the next one.
#[derive(Debug)]
pub struct WaitQueue {
    /// The summary is the number of waiters.
    waiters: PublishingLock<Waiters>,
}

/// The wakers of the waiters.
#[derive(Debug, Default)]
struct Waiters(WakerList);

impl Publish for Waiters {
    type Summary = CacheLines<DekkerFlag>;
    type Listeners = ();

    fn summary(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}

impl Default for WaitQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl WaitQueue {
    /// Creates a queue without waiters.
    #[must_use]
    pub fn new() -> Self {
        Self {
            waiters: PublishingLock::new(Waiters::default(), ()),
        }
    }

    fn flag(&self) -> &DekkerFlag {
        &self.waiters.summary().0
    }

    /// Wakes the oldest waiter. The caller has changed the state before.
    #[inline]
    pub fn notify_one(&self) {
        if self.flag().is_set_after_change() {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        let first = self.waiters.lock().0.pop();
        if let Some(waker) = first {
            wake(waker);
        }
    }

    /// Wakes all waiters. The caller has changed the state before.
    pub fn notify_all(&self) {
        if self.flag().is_set_after_change() {
            let all = self.waiters.lock().0.take();
            all.wake_all();
        }
    }

    /// Registers `waker` under a key, which is `None` for a new waiter. If `is_ready` returns true
    /// after that, removes the waiter and returns false. Otherwise returns true: the next
    /// notification of this waiter calls the waker.
    pub fn join(
        &self,
        key: &mut Option<u64>,
        waker: &Waker,
        is_ready: impl FnOnce() -> bool,
    ) -> bool {
        // Cloning and dropping wakers runs code of the program, so it is done without the lock.
        let waker = waker.clone();
        let before = self.waiters.lock().0.register(key, waker);
        discard(before);
        self.flag().make_all_pass();
        if is_ready() {
            if self.leave(key) {
                // This waiter handles what it has found, which need not be what it was woken for.
                self.notify_one();
            }
            return false;
        }
        true
    }

    /// Does the same as [`join`](Self::join) for the only waiter of a queue: it replaces the
    /// previous one.
    pub fn join_alone(&self, waker: Waker, is_ready: impl FnOnce() -> bool) -> bool {
        let mut waiters = self.waiters.lock();
        let before = waiters.0.pop();
        waiters.0.push(waker);
        drop(waiters);
        discard(before);
        self.flag().make_all_pass();
        if is_ready() {
            self.leave_alone();
            return false;
        }
        true
    }

    /// Removes a waiter. Returns true if it was woken.
    pub fn leave(&self, key: &mut Option<u64>) -> bool {
        let Some(key) = key.take() else {
            return false;
        };
        let left = self.waiters.lock().0.remove(key);
        let was_woken = left.is_none();
        discard(left);
        was_woken
    }

    /// Removes the only waiter, unless it was woken.
    pub fn leave_alone(&self) {
        // The calling thread has stored the flag, and only a notification clears it since then.
        if self.flag().load(Ordering::Relaxed) != 0 {
            let left = self.waiters.lock().0.pop();
            discard(left);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
