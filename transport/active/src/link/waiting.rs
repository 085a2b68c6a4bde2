//! Blocking waits for events of a connection.

use std::sync::Arc;
use std::task::Waker;

use super::{Asked, Link};
use crate::ledger::Answer;
use crate::poll_loop::{Directly, Wait};
use jstream_device::deadline::Deadline;
use jstream_endpoint::receiving::Inbound;

impl Link {
    /// Fast path for an answer: waits for it if no other thread receives on the connection and it
    /// was never moved.
    #[inline]
    pub(crate) fn receive_answer(
        self: &Arc<Self>,
        asked: &Asked,
        until: Deadline,
        inbound: &mut Inbound,
    ) -> Directly {
        if self.moves() > 0 || self.is_elsewhere() {
            return Directly::Else;
        }
        self.first.receive_answer(self, asked, until, inbound)
    }

    /// Serves the connection's group until `attempt` returns a value or the deadline has passed.
    /// `number` is the request whose answer is awaited. For the arguments of `attempt` see
    /// [`PollLoop::wait`](crate::poll_loop::PollLoop::wait).
    #[inline]
    pub(crate) fn wait<R>(
        self: &Arc<Self>,
        number: Option<u32>,
        until: Deadline,
        attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        self.wait_on((number, false), until, attempt)
    }

    /// As [`wait`](Self::wait). `slept` is true if the connection has been idle for a while.
    #[inline]
    pub(crate) fn wait_on<R>(
        self: &Arc<Self>,
        (number, slept): (Option<u32>, bool),
        until: Deadline,
        mut attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let wait = Wait {
            link: Some(self),
            number,
            until,
            slept,
        };
        loop {
            let moves = self.moves();
            let waited = self.with_group(|group| {
                group.wait(&wait, |found, waker| match attempt(found, waker) {
                    Some(answer) => Some(Some(answer)),
                    None if self.moves() != moves => Some(None),
                    None => None,
                })
            });
            match waited {
                Some(Some(answer)) => return Some(answer),
                Some(None) => {}
                None => return None,
            }
        }
    }
}
