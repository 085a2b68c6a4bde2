//! Threads that wait for a change to the state of an inbox.

/// The threads that wait for a change, as far as they have to be notified of one.
///
/// A waiting thread compares [`epoch`](Self::epoch), which is published when the lock of the inbox
/// is released, with the value that it has seen before. So every change that a thread may wait for
/// has to be followed by [`notify`](Self::notify) under the same lock.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    /// Counter that is incremented whenever something ends that a thread may wait for.
    epoch: u32,
    /// Number of threads that sleep without the bell.
    sleepers: u32,
    /// True if a thread sleeps on the bell.
    is_bell_taken: bool,
    /// Number of threads that wait for any message to arrive, whether they receive it or not.
    probers: u32,
}

impl Waiters {
    /// Makes all waiting threads check their conditions again, when the lock is released.
    #[inline]
    pub(super) fn notify(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Notifies the threads that wait for any message that one was queued, or has no room.
    #[inline]
    pub(super) fn notify_of_arrival(&mut self) {
        if self.probers > 0 {
            self.notify();
        }
    }

    /// Returns the counter of changes.
    #[inline]
    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Counts a thread that waits for any message to arrive.
    #[inline]
    pub(super) fn add_prober(&mut self) {
        self.probers = self.probers.saturating_add(1);
    }

    #[inline]
    pub(super) fn remove_prober(&mut self) {
        self.probers = self.probers.saturating_sub(1);
    }

    /// Counts a thread that sleeps without the bell.
    pub(super) fn add_sleeper(&mut self) {
        self.sleepers = self.sleepers.saturating_add(1);
    }

    pub(super) fn remove_sleeper(&mut self) {
        self.sleepers = self.sleepers.saturating_sub(1);
    }

    /// Reserves the bell for a thread that is going to sleep on it. Returns false if another thread
    /// has it.
    pub(super) fn take_bell(&mut self) -> bool {
        !std::mem::replace(&mut self.is_bell_taken, true)
    }

    /// Returns the bell, which another thread can take then.
    pub(super) fn return_bell(&mut self) {
        self.is_bell_taken = false;
    }

    /// Returns true if a thread sleeps on the bell.
    #[inline]
    pub(super) fn is_bell_taken(&self) -> bool {
        self.is_bell_taken
    }

    /// Returns true if a thread sleeps without the bell.
    #[inline]
    pub(super) fn have_sleepers(&self) -> bool {
        self.sleepers > 0
    }
}
