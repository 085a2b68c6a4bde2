//! Requests deferred because their peer is not draining its receive side.
//!
//! They are received nevertheless, and so are answers. A deferred request keeps its place in the
//! peer's window, which limits how many the peer can send. If a side stopped receiving instead, it
//! would miss the answers to its own requests, and two such sides would wait for each other
//! forever.
//!
//! Decision 081 has the reasons.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use super::Link;
use crate::request::{DeferredRequest, Request};
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};

/// The deferred requests of a connection. The summary is true if there are any.
pub(crate) struct DeferredRequests(PublishingLock<DeferredState>);

/// Deferred requests in the order of arrival, each with the backlog in bytes at which it may run.
#[derive(Default)]
struct DeferredState(VecDeque<(DeferredRequest, u64)>);

impl Publish for DeferredState {
    type Summary = Word<bool>;
    type Listeners = ();

    fn summary(&self) -> bool {
        !self.0.is_empty()
    }
}

impl DeferredRequests {
    pub(super) fn new() -> Self {
        Self(PublishingLock::new(DeferredState::default(), ()))
    }

    /// Returns true if a request should be deferred: the peer's backlog exceeds `most` bytes, it
    /// has a backlog and the sum of all backlogs is large, or earlier requests are deferred.
    pub(crate) fn defers(&self, link: &Link, most: u64) -> bool {
        self.0.summary().get() || exceeds(link, link.backlog(), most)
    }

    /// Defers a request until the peer's backlog permits it.
    pub(crate) fn push(&self, link: &Arc<Link>, request: Request, most: u64) {
        let mut state = self.0.lock();
        // A request that is queued after the end would never be dropped.
        if link.has_ended() {
            drop(state);
            return drop(request);
        }
        state.0.push_back((request.park(), most));
        let is_first = state.0.len() == 1;
        drop(state);
        // Requests behind the first one are found when that has run.
        if is_first {
            link.membership().group().run_deferred_of(link);
        }
    }

    /// Takes the first deferred request if it may run, and tells whether there are more. Otherwise
    /// the check is repeated when the peer has taken more bytes.
    pub(crate) fn pop(&self, link: &Arc<Link>) -> Option<(Request, bool)> {
        let mut is_registered = false;
        loop {
            // Read without the lock of the requests, because it locks the ledger.
            let backlog = link.backlog();
            let mut state = self.0.lock();
            let most = state.0.front().map(|(_, most)| *most)?;
            if !exceeds(link, backlog, most) {
                let (parked, _) = state.0.pop_front()?;
                let is_more = !state.0.is_empty();
                drop(state);
                let mut request = parked.unpark()?;
                request.has_waited();
                return Some((request, is_more));
            }
            drop(state);
            if is_registered {
                return None;
            }
            // The check is repeated after the registration: progress between the check and the
            // registration wakes nobody.
            let waker = Waker::from(Arc::new(DrainWaker(Arc::downgrade(link))));
            link.endpoint().shared().notify_when_completed(waker);
            // The backlog may have shrunk since the check.
            is_registered = true;
        }
    }

    /// Drops the deferred requests.
    pub(super) fn clear(&self) {
        // Requests hold values of the program, so they are dropped without the lock.
        let dropped = std::mem::take(&mut self.0.lock().0);
        drop(dropped);
    }
}

/// Returns true if this backlog does not permit another request. A peer without a backlog may
/// always have one.
fn exceeds(link: &Link, backlog: u64, most: u64) -> bool {
    backlog > most || (backlog > 0 && link.settings.has_large_backlog())
}

/// Waker for progress of the peer. It leaves the check to a serving thread, because its caller may
/// hold any lock.
struct DrainWaker(Weak<Link>);

impl Wake for DrainWaker {
    fn wake(self: Arc<Self>) {
        if let Some(link) = self.0.upgrade() {
            link.membership().group().run_deferred_of(&link);
        }
    }
}
