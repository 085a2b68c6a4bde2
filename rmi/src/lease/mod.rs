//! Leases: references are held for as long as their holder says so, and no longer than a while behind its last word.
//!
//! One message renews all that a connection has. It is sent at half time by the thread of the process that keeps all
//! timers, whatever the program does meanwhile.

use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use jstream_transport::Reminder;
use jstream_transport::active::WeakPeer;

use crate::clock::Clock;
use crate::session::Connection;
use crate::sync::lock;

/// The shortest lease that is granted or accepted. A peer that says a shorter one can't have this side renew without end:
/// renewals are at least half of this apart.
pub(crate) const MIN_LEASE: Duration = Duration::from_secs(1);

/// The longest lease that is granted or accepted.
pub(crate) const MAX_LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the lease that holds where `lease` is asked for, by an option or by the peer.
pub(crate) fn clamped(lease: Duration) -> Duration {
    lease.clamp(MIN_LEASE, MAX_LEASE)
}

/// How long references that were dropped wait for others, to be given back together.
const TOGETHER: Duration = Duration::from_millis(5);

/// When it is tried again for which there was no credit.
const AGAIN: Duration = Duration::from_millis(50);

/// What is to be done for the references of a connection, and when.
#[derive(Default)]
pub(crate) struct Tending {
    due: Mutex<Due>,
}

#[derive(Default)]
struct Due {
    tender: Option<Arc<Tender>>,
    reminder: Option<Reminder>,
    /// When it is woken, by the system's clock.
    set: Option<Instant>,
    /// When the lease that the other side has ends, and when that of this side is to be renewed.
    ends: Option<Instant>,
    renews: Option<(Instant, Duration)>,
}

/// Does what is due for a connection.
pub(crate) struct Tender(WeakPeer);

impl Wake for Tender {
    fn wake(self: Arc<Self>) {
        let Some(peer) = self.0.upgrade() else { return };
        let connection = Connection::of(peer);
        connection.references().tending.set_off();
        connection.references().tend(&connection);
    }
}

/// What is due now.
pub(crate) struct Now {
    pub(crate) renew: bool,
    pub(crate) expire: bool,
}

impl Tending {
    /// What was given is leased for so long from now on.
    pub(crate) fn granted(&self, connection: &Connection, lease: Duration, clock: &Clock) {
        let Some(ends) = clock.now().checked_add(lease) else {
            return;
        };
        let mut due = lock(&self.due);
        due.ends = due.ends.max(Some(ends));
        due.at(connection, clock, ends);
    }

    /// What has come is leased for so long from now on.
    pub(crate) fn leased(&self, connection: &Connection, lease: Duration, clock: &Clock) {
        let mut due = lock(&self.due);
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

    /// A result is kept until then.
    pub(crate) fn keeps(&self, connection: &Connection, until: Instant, clock: &Clock) {
        lock(&self.due).at(connection, clock, until);
    }

    /// Something is to be sent, soon.
    pub(crate) fn soon(&self, connection: &Connection, clock: &Clock) {
        lock(&self.due).after(connection, clock, TOGETHER);
    }

    /// Something could not be done now.
    pub(crate) fn again(&self, connection: &Connection, clock: &Clock) {
        lock(&self.due).after(connection, clock, AGAIN);
    }

    /// A renewal could not be sent: it is due still.
    pub(crate) fn hurry(&self, clock: &Clock) {
        let mut due = lock(&self.due);
        if let Some((then, _)) = &mut due.renews {
            *then = clock.now();
        }
    }

    fn set_off(&self) {
        lock(&self.due).set = None;
    }

    /// What is due. `has` says whether there are references here and there: it is asked while nobody else says that there
    /// are, as who comes later would not be heard.
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
        if let (true, Some(ends), false) = (expire, due.ends, clock.is_paused()) {
            // A process that was stopped has not heard what was said meanwhile.
            let late = now.saturating_duration_since(ends);
            if late > LATE {
                due.ends = now.checked_add(LATE);
                expire = false;
            }
        }
        if expire {
            due.ends = None;
        }
        let renew = due.renews.is_some_and(|(then, _)| then <= now);
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

    /// The connection has ended.
    pub(crate) fn end(&self) {
        let ended = std::mem::take(&mut *lock(&self.due));
        drop(ended);
    }
}

/// How late a timer is when the process was stopped or starved: leases last so much longer then.
const LATE: Duration = Duration::from_secs(1);

impl Due {
    /// Wakes the tender at that moment of the clock, or before.
    fn at(&mut self, connection: &Connection, clock: &Clock, then: Instant) {
        self.tender(connection, clock);
        if !clock.is_paused() {
            self.wake(then);
        }
    }

    /// Wakes it a little later, whatever the clock says.
    fn after(&mut self, connection: &Connection, clock: &Clock, time: Duration) {
        self.tender(connection, clock);
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
        if self.set.is_some_and(|set| set <= then) {
            return;
        }
        // Where none is to be had, leases end with their connections.
        self.reminder = self.reminder.take().or_else(|| Reminder::new().ok());
        if let (Some(reminder), Some(tender)) = (&self.reminder, &self.tender) {
            reminder.set(then, &Waker::from(tender.clone()));
            self.set = Some(then);
        }
    }
}
