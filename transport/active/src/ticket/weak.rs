//! Tickets of abandoned requests, whose outcome matters only while others keep the connection.

use std::fmt;
use std::sync::{Arc, Weak};

use super::request_state::RequestState;
use super::{Link, Reply, RequestError};

/// An outstanding request that does not keep its connection. It comes from
/// [`Ticket::downgrade`](super::Ticket::downgrade).
pub struct WeakTicket {
    link: Weak<Link>,
    state: RequestState,
}

impl WeakTicket {
    pub(super) fn new(link: &Arc<Link>, state: RequestState) -> Self {
        Self {
            link: Arc::downgrade(link),
            state,
        }
    }

    /// Takes the answer if it was received before. Handles no messages. The answer can be taken
    /// once.
    pub fn try_noted(&mut self) -> Option<Result<Reply, RequestError>> {
        let link = self.link.upgrade()?;
        self.state.attempt(&link, None, None)
    }
}

impl Drop for WeakTicket {
    fn drop(&mut self) {
        if let (Some(number), Some(link)) = (self.state.abandon(), self.link.upgrade()) {
            link.forget(number);
        }
    }
}

impl fmt::Debug for WeakTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakTicket").finish_non_exhaustive()
    }
}
