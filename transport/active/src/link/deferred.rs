//! Requests deferred because their peer is not draining its receive side.
//!
//! They are received nevertheless, and so are answers. A deferred request keeps its place in the
//! peer's window, which limits how many the peer can send. If a side stopped receiving instead, it
//! would miss the answers to its own requests, and two such sides would wait for each other
//! forever.

use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use super::Link;
use crate::request::Request;

impl Link {
    /// Returns true if a request should be deferred: the peer's backlog exceeds `most` bytes, it
    /// has a backlog and the sum of all backlogs is large, or earlier requests are deferred.
    #[inline]
    pub(crate) fn is_unread(&self, most: u64) -> bool {
        self.unread.summary().get() || self.exceeds(self.backlog(), most)
    }

    /// Returns true if this backlog does not permit another request. A peer without a backlog may
    /// always have one.
    #[inline]
    fn exceeds(&self, backlog: u64, most: u64) -> bool {
        backlog > most || (backlog > 0 && self.settings.has_large_backlog())
    }

    /// Defers a request until the peer's backlog permits it.
    #[cold]
    pub(crate) fn put_off(self: &Arc<Self>, request: Request, most: u64) {
        let mut unread = self.unread.lock();
        // A request that is queued after the end would never be dropped.
        if self.has_ended() {
            drop(unread);
            return drop(request);
        }
        unread.0.push_back((request.park(), most));
        let is_first = unread.0.len() == 1;
        drop(unread);
        if is_first {
            self.group().take_up(self);
        }
    }

    /// Takes the first deferred request if it may run, and tells whether there are more. Otherwise
    /// the check is repeated when the peer has taken more bytes.
    pub(crate) fn next_unread(self: &Arc<Self>) -> Option<(Request, bool)> {
        let mut is_told = false;
        loop {
            let backlog = self.backlog();
            let mut unread = self.unread.lock();
            let next = unread.0.front().map(|(_, most)| *most)?;
            if !self.exceeds(backlog, next) {
                let (parked, _) = unread.0.pop_front()?;
                let is_more = !unread.0.is_empty();
                drop(unread);
                let mut request = parked.unpark()?;
                request.has_waited();
                return Some((request, is_more));
            }
            drop(unread);
            if is_told {
                return None;
            }
            let taken = Waker::from(Arc::new(TakenWaker(Arc::downgrade(self))));
            self.endpoint.shared().notify_when_completed(taken);
            // The backlog may have shrunk since the check.
            is_told = true;
        }
    }

    /// Drops the deferred requests.
    pub(super) fn drop_unread(&self) {
        let given_up = std::mem::take(&mut self.unread.lock().0);
        drop(given_up);
    }
}

/// Waker for progress of the peer. It leaves the check to a serving thread, because its caller may
/// hold any lock.
struct TakenWaker(Weak<Link>);

impl Wake for TakenWaker {
    fn wake(self: Arc<Self>) {
        if let Some(link) = self.0.upgrade() {
            link.group().take_up(&link);
        }
    }
}
