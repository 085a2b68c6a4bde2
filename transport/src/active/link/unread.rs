//! Requests of a peer that does not take what it is sent: they wait until it does.
//!
//! They are received all the same, and answers with them: what has come holds its place in the peer's window, and so
//! the peer sends no more than that. Who stopped receiving instead would not see the answers to requests of its own, and
//! two sides that did so would wait for each other for ever.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use super::{Link, lock_plainly};
use crate::active::request::{Parked, Request};

/// What waits, in the order of coming, each until no more than so many bytes are left to be taken.
pub(super) type Unread = VecDeque<(Parked, u64)>;

impl Link {
    /// Whether a request has to wait: the peer has more than so many bytes to take, or others wait that came before.
    #[inline]
    pub(in crate::active) fn is_unread(&self, most: u64) -> bool {
        self.has_unread.load(Ordering::Relaxed) || self.backlog() > most
    }

    /// Keeps a request until the peer has taken all but so many bytes.
    #[cold]
    pub(in crate::active) fn put_off(self: &Arc<Self>, request: Request, most: u64) {
        let mut unread = lock_plainly(&self.unread);
        // What comes behind the end would be kept for ever.
        if self.has_ended() {
            drop(unread);
            return drop(request);
        }
        unread.push_back((request.park(), most));
        let is_first = unread.len() == 1;
        self.has_unread.store(true, Ordering::Relaxed);
        drop(unread);
        if is_first {
            self.bundle().take_up(self);
        }
    }

    /// The first that waits, if it need not any more, and whether there are others. Else this is taken up again when the
    /// peer has taken something.
    pub(in crate::active) fn next_unread(self: &Arc<Self>) -> Option<(Request, bool)> {
        let mut is_told = false;
        loop {
            let backlog = self.backlog();
            let mut unread = lock_plainly(&self.unread);
            let next = unread.front().map(|(_, most)| *most)?;
            if backlog <= next {
                let (parked, _) = unread.pop_front()?;
                let is_more = !unread.is_empty();
                self.has_unread.store(is_more, Ordering::Relaxed);
                drop(unread);
                let mut request = parked.unpark()?;
                request.has_waited();
                return Some((request, is_more));
            }
            drop(unread);
            if is_told {
                return None;
            }
            let taken = Waker::from(Arc::new(Taken(Arc::downgrade(self))));
            self.endpoint.shared().tell_when_gone(taken);
            // It may have gone since the look.
            is_told = true;
        }
    }

    /// Gives up what waits.
    pub(super) fn drop_unread(&self) {
        let mut unread = lock_plainly(&self.unread);
        let given_up = std::mem::take(&mut *unread);
        self.has_unread.store(false, Ordering::Relaxed);
        drop(unread);
        drop(given_up);
    }
}

/// The peer has taken something. It leaves the look to who serves, as its caller may be at anything.
struct Taken(Weak<Link>);

impl Wake for Taken {
    fn wake(self: Arc<Self>) {
        if let Some(link) = self.0.upgrade() {
            link.bundle().take_up(&link);
        }
    }
}
