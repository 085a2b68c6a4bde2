//! Sleep of a thread until there are news in its inbox.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Inbox, InboxGuard};
use crate::bell::Bell;
use crate::work_queue::DeferredWork;
use jstream_device::deadline::Deadline;

/// Interval of retries for a connection whose pool had no room.
const STARVED: Duration = Duration::from_millis(1);

impl Inbox {
    /// Shortens the deadline to the retry interval if the pool of a connection had no room.
    fn or_room(&self, until: Deadline) -> Deadline {
        if self.starved.load(Ordering::Relaxed) {
            until.or_sooner(Deadline::after(STARVED))
        } else {
            until
        }
    }

    /// Sleeps until there are news since `seen` or the deadline has passed. Spurious wake-ups are
    /// possible. `arm` makes the connections ring the bell, and `disarm` is called afterwards.
    pub(crate) fn sleep(
        &self,
        seen: u32,
        until: Deadline,
        arm: impl FnOnce(&Bell),
        disarm: impl Fn(&Bell),
    ) {
        let mut state = self.lock();
        // Compared under the lock. A change that comes later finds this thread counted as a
        // sleeper, or the bell taken.
        if self.epoch() != seen {
            return;
        }
        // From here on, senders deliver to the inbox and notify. Messages that they left in the
        // queues before are taken now.
        if self.attention.withdraw() {
            let mut deferred = DeferredWork::default();
            state.drain_queues(&mut deferred);
            // The epoch of the state, because that of the summary is published with the release
            // only.
            if state.waiters.epoch() != seen || !deferred.is_empty() {
                drop(state);
                return self.carry_out(deferred, |_| {});
            }
        }
        if state.deferral.has_queued() {
            // The callbacks run before the sleep.
            return;
        }
        // One thread sleeps for all connections. The others sleep on the condition variable, and
        // one of them takes the bell when it is free.
        if let Some(bell) = self.bell().filter(|_| state.waiters.take_bell()) {
            // Under the lock: whoever changes the state after the release finds the bell taken, and
            // rings it.
            bell.expect();
            drop(state);
            let bell_guard = BellWatch {
                inbox: self,
                bell,
                disarm,
            };
            // Without the lock, because arming locks the receive directions, which come before an
            // inbox.
            arm(bell);
            // Arming may have received messages.
            if self.epoch() == seen {
                bell.sleep(self.or_room(until));
            }
            drop(bell_guard);
            return;
        }
        // Counted under the lock that the wait releases, so no notification falls in between.
        state.waiters.add_sleeper();
        let InboxGuard {
            state,
            deferral: _deferral,
        } = state;
        let left = self.or_room(until).left();
        let mut state = state.wait(self.changed(), left);
        state.waiters.remove_sleeper();
    }
}

/// Guard of the thread that sleeps on the bell. When it is dropped, another thread can sleep there.
struct BellWatch<'i, D: Fn(&Bell)> {
    inbox: &'i Inbox,
    bell: &'i Bell,
    /// Makes the connections ring the bell no more.
    disarm: D,
}

impl<D: Fn(&Bell)> Drop for BellWatch<'_, D> {
    fn drop(&mut self) {
        // First, so that the connections do not ring while they are disarmed: this thread is awake.
        self.bell.forget();
        (self.disarm)(self.bell);
        let mut state = self.inbox.lock();
        state.waiters.return_bell();
        if state.waiters.have_sleepers() {
            // Another sleeping thread takes over the bell.
            self.inbox.changed().notify_all();
        }
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::options::Options;

    #[test]
    fn a_thread_that_finds_no_room_retries_after_an_interval() {
        let inbox = Inbox::new(0, 2, &Options::default());
        inbox.open_bell().unwrap();
        inbox.add_line(1);
        let (done, woken) = mpsc::channel();
        std::thread::spawn(move || {
            let arm = |_: &Bell| inbox.set_starved();
            inbox.sleep(inbox.epoch(), Deadline::NEVER, arm, |_| {});
            done.send(()).unwrap();
        });
        let woken = woken.recv_timeout(Duration::from_secs(60));
        woken.expect("the thread sleeps while messages wait for room");
    }
}
