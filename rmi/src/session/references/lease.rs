//! Leases of references: the owner keeps an object until the lease of its holder expires.
//!
//! One message renews all leases of a connection. The timer thread of the process sends it at half
//! of the lease time, regardless of what the program does meanwhile.

use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use jstream_endpoint::Reminder;

use crate::session::clock::{Clock, Tender};
use crate::session::connection::Connection;
use crate::support::lock;

/// Minimum lease that is granted or accepted. The minimum bounds the rate of renewals: a peer can't
/// make this side renew more often than twice in this time.
pub(crate) const MIN_LEASE: Duration = Duration::from_secs(1);

/// Maximum lease that is granted or accepted.
pub(crate) const MAX_LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the effective lease for a lease that an option or the peer asks for.
pub(crate) fn clamped(lease: Duration) -> Duration {
    lease.clamp(MIN_LEASE, MAX_LEASE)
}

/// Delay after which dropped references are released, so that they can be batched.
const TOGETHER: Duration = Duration::from_millis(5);

/// Delay of a retry if there was no credit.
const AGAIN: Duration = Duration::from_millis(50);

/// Timed work for the references of a connection.
#[derive(Default)]
pub(crate) struct Tending {
    due: Mutex<Due>,
}

#[derive(Default)]
struct Due {
    tender: Option<Arc<Tender>>,
    reminder: Option<Reminder>,
    /// Time for which the reminder is set, by the system clock.
    set: Option<Instant>,
    /// Time at which the lease of the other side ends. `renews` is the time at which the lease of
    /// this side is to be renewed.
    ends: Option<Instant>,
    renews: Option<(Instant, Duration)>,
}

impl Wake for Tender {
    fn wake(self: Arc<Self>) {
        let Some(peer) = self.0.upgrade() else { return };
        let connection = Connection::from_peer(peer);
        // The tender was woken, so no time is set. This comes before the work, which may set the
        // next time.
        connection.references().tending.set_off();
        connection.references().tend(&connection);
    }
}

/// The work that is due.
pub(crate) struct Now {
    pub(crate) renew: bool,
    pub(crate) expire: bool,
}

impl Tending {
    /// Grants or renews the lease of the references that were given to the other side.
    pub(crate) fn granted(&self, connection: &Connection, lease: Duration, clock: &Clock) {
        let Some(ends) = clock.now().checked_add(lease) else {
            return;
        };
        let mut due = lock(&self.due);
        // A clock that is read by two threads may give them their times in the wrong order. The
        // lease never becomes shorter by that.
        due.ends = due.ends.max(Some(ends));
        due.at(connection, clock, ends);
    }

    /// Schedules renewals for references that were received with this lease.
    pub(crate) fn leased(&self, connection: &Connection, lease: Duration, clock: &Clock) {
        let mut due = lock(&self.due);
        // One message renews all leases, so the shortest one decides how often.
        if due.renews.is_some_and(|(_, known)| known <= lease) {
            return;
        }
        let half = lease.checked_div(2).unwrap_or(lease);
        let Some(then) = clock.now().checked_add(half) else {
            return;
        };
        due.renews = Some((then, lease));
        due.at(connection, clock, then);
    }

    /// Schedules the expiry of a kept result.
    pub(crate) fn keeps(&self, connection: &Connection, until: Instant, clock: &Clock) {
        lock(&self.due).at(connection, clock, until);
    }

    /// Schedules a message after a short delay for batching.
    pub(crate) fn schedule(&self, connection: &Connection, clock: &Clock) {
        lock(&self.due).after(connection, clock, TOGETHER);
    }

    /// Schedules a retry of work that could not be done now.
    pub(crate) fn schedule_retry(&self, connection: &Connection, clock: &Clock) {
        lock(&self.due).after(connection, clock, AGAIN);
    }

    /// Marks the renewal as due, because it could not be sent.
    pub(crate) fn hurry(&self, clock: &Clock) {
        let mut due = lock(&self.due);
        if let Some((then, _)) = &mut due.renews {
            *then = clock.now();
        }
    }

    fn set_off(&self) {
        lock(&self.due).set = None;
    }

    /// Returns the work that is due. `has` returns whether there are given and received references.
    /// It is called under the lock, so that references which are added concurrently are not missed.
    pub(crate) fn now(
        &self,
        connection: &Connection,
        clock: &Clock,
        has: impl FnOnce() -> (bool, bool),
    ) -> Now {
        let now = clock.now();
        let mut due = lock(&self.due);
        let (given, taken) = has();
        if !given {
            due.ends = None;
        }
        if !taken {
            due.renews = None;
        }
        let mut expire = due.ends.is_some_and(|ends| ends <= now);
        // A paused clock jumps, which is no sign that the process was stopped.
        if let (true, Some(ends), false) = (expire, due.ends, clock.is_paused()) {
            // A process that was stopped may have unread renewals, so the lease is extended once.
            let delay = now.saturating_duration_since(ends);
            if delay > LATE {
                due.ends = now.checked_add(LATE);
                expire = false;
            }
        }
        if expire {
            due.ends = None;
        }
        let renew = due.renews.is_some_and(|(then, _)| then <= now);
        // The next time is set whether or not the message can be sent: without credit, `hurry`
        // makes it due again.
        if let (true, Some((_, lease))) = (renew, due.renews) {
            let half = lease.checked_div(2).unwrap_or(lease);
            due.renews = now.checked_add(half).map(|then| (then, lease));
        }
        let next = [due.ends, due.renews.map(|(then, _)| then)];
        for then in next.into_iter().flatten() {
            due.at(connection, clock, then);
        }
        Now { renew, expire }
    }

    /// Cancels all timed work, because the connection has ended.
    pub(crate) fn end(&self) {
        // Dropped without the lock, which the tender takes when a timer wakes it.
        let ended = std::mem::take(&mut *lock(&self.due));
        drop(ended);
    }
}

/// Delay of a timer that indicates that the process was stopped or starved. Leases are then
/// extended by this time.
const LATE: Duration = Duration::from_secs(1);

impl Due {
    /// Wakes the tender at this time of the clock, or earlier.
    fn at(&mut self, connection: &Connection, clock: &Clock, then: Instant) {
        self.tender(connection, clock);
        // The tender of a paused clock is woken by each advance, and finds out by itself what is
        // due.
        if !clock.is_paused() {
            self.wake(then);
        }
    }

    /// Wakes the tender after a delay of the system clock.
    fn after(&mut self, connection: &Connection, clock: &Clock, time: Duration) {
        self.tender(connection, clock);
        // Delays for batching and retries are not part of the protocol, so a paused clock does not
        // stop them.
        if let Some(then) = Instant::now().checked_add(time) {
            self.wake(then);
        }
    }

    fn tender(&mut self, connection: &Connection, clock: &Clock) {
        if self.tender.is_none() {
            let tender = Arc::new(Tender(connection.peer().downgrade()));
            clock.tells(&tender);
            self.tender = Some(tender);
        }
    }

    fn wake(&mut self, then: Instant) {
        // An earlier time is already set. The tender sets the next one when it runs, so the
        // reminder is changed only for earlier ones.
        if self.set.is_some_and(|set| set <= then) {
            return;
        }
        // If no reminder is available, leases end with their connections.
        self.reminder = self.reminder.take().or_else(|| Reminder::new().ok());
        if let (Some(reminder), Some(tender)) = (&self.reminder, &self.tender) {
            reminder.set(then, &Waker::from(tender.clone()));
            self.set = Some(then);
        }
    }
}
