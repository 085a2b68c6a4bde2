//! Fast path for an answer: the waiting thread takes it directly from its connection, if no other
//! thread polls.

use std::sync::Arc;

use super::{PollLoop, SLICE};
use crate::link::{Asked, Link};
use crate::turn;
use jstream_device::deadline::Deadline;
use jstream_endpoint::receiving::Inbound;

/// Result of waiting on the fast path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directly {
    /// The answer has come.
    Answered,
    /// The caller must use the general path.
    Else,
    /// The caller must use the general path, and no message has come for a while.
    Slept,
}

impl PollLoop {
    /// Receives the next message of a connection into `inbound`, if the connection is the only one
    /// of its group, this thread is the poller, and no other work is pending. Handles a message
    /// that is not the answer to `asked`.
    #[inline]
    pub(crate) fn receive_answer(
        &self,
        link: &Arc<Link>,
        asked: &Asked,
        until: Deadline,
        inbound: &mut Inbound,
    ) -> Directly {
        // `is_free` may drop a value of the program, so it is called before the lock is taken.
        if !turn::is_free() {
            return Directly::Else;
        }
        // Other threads note what they receive before they release the poller lock. So the notes
        // are checked while this thread holds it.
        let Some(mut guard) = self.try_drive(None) else {
            return Directly::Else;
        };
        let has_news = link.answers() != asked.answers || link.starves() || self.has_more();
        if has_news || !self.has_only(link) || link.is_posted() {
            return Directly::Else;
        }
        let shared = link.endpoint().shared();
        if !shared.has_more() {
            turn::flush();
            shared.flush_before_poll();
        }
        if !shared.receive_within(inbound, SLICE, until) {
            return Directly::Slept;
        }
        if inbound.other.is_none() && link.take_reply(&inbound.message.header, asked.number) {
            return Directly::Answered;
        }
        let (link, handlers) = (link.clone(), link.handlers());
        self.received(link, handlers, inbound, &mut guard);
        Directly::Else
    }
}
