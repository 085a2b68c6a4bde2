//! What time it is for leases.

use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use super::Tender;
use crate::sync::lock;

/// What time it is for leases: that of the system, or one that a test moves on.
///
/// ```
/// use jstream_rmi::{Clock, ServerOptions};
/// use std::time::Duration;
///
/// let clock = Clock::paused();
/// let mut options = ServerOptions::default();
/// options.clock = clock.clone();
/// // Leases that were not renewed in that time are over when this returns.
/// clock.advance(Duration::from_secs(3600));
/// ```
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<Paused>>);

struct Paused {
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    since: Duration,
    /// The connections that go by it.
    tenders: Vec<Weak<Tender>>,
}

impl Clock {
    /// The clock of the system.
    #[must_use]
    pub fn system() -> Self {
        Self(None)
    }

    /// A clock that stands, until it is [moved on](Self::advance). Clones are the same clock.
    #[must_use]
    pub fn paused() -> Self {
        Self(Some(Arc::new(Paused {
            begun: Instant::now(),
            state: Mutex::default(),
        })))
    }

    /// Moves a paused clock on, and does what is due then: leases are renewed, or end. That of the system goes its way.
    pub fn advance(&self, by: Duration) {
        let Some(paused) = &self.0 else { return };
        let mut state = lock(&paused.state);
        state.since = state.since.saturating_add(by);
        state.tenders.retain(|tender| tender.strong_count() > 0);
        let tenders: Vec<_> = state.tenders.iter().filter_map(Weak::upgrade).collect();
        drop(state);
        for tender in tenders {
            tender.wake();
        }
    }

    pub(crate) fn now(&self) -> Instant {
        match &self.0 {
            None => Instant::now(),
            Some(paused) => {
                let since = lock(&paused.state).since;
                paused.begun.checked_add(since).unwrap_or(paused.begun)
            }
        }
    }

    /// Has what is due done when the clock is moved on. False for that of the system.
    pub(super) fn tells(&self, tender: &Arc<Tender>) -> bool {
        let Some(paused) = &self.0 else { return false };
        lock(&paused.state).tenders.push(Arc::downgrade(tender));
        true
    }

    pub(super) fn is_paused(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock")
            .field(&if self.is_paused() { "paused" } else { "system" })
            .finish()
    }
}

/// A waker of who tends a connection.
pub(super) fn waker(tender: &Arc<Tender>) -> Waker {
    Waker::from(tender.clone())
}
