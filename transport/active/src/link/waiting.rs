//! Blocking waits for events of a connection.

use std::sync::Arc;
use std::task::Waker;

use super::{Asked, Link};
use crate::ledger::Answer;
use crate::poll_loop::{DirectWait, Wait};
use jstream_device::deadline::Deadline;
use jstream_endpoint::receiving::Inbound;

/// Fast path for an answer: waits for it if no other thread receives on the connection and it
/// was never moved.
#[inline]
pub(crate) fn receive_answer(
    link: &Arc<Link>,
    asked: &Asked,
    until: Deadline,
    inbound: &mut Inbound,
) -> DirectWait {
    match link.membership().unmoved() {
        Some(group) if !link.is_elsewhere() => group.receive_answer(link, asked, until, inbound),
        _ => DirectWait::Unavailable,
    }
}

/// Serves the connection's group until `attempt` returns a value or the deadline has passed.
/// `number` is the request whose answer is awaited. For the arguments of `attempt` see
/// [`PollLoop::wait`](crate::poll_loop::PollLoop::wait).
#[inline]
pub(crate) fn wait<R>(
    link: &Arc<Link>,
    number: Option<u32>,
    until: Deadline,
    attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
) -> Option<R> {
    wait_on(link, (number, false), until, attempt)
}

/// As [`wait`]. `slept` is true if the connection has been idle for a while.
#[inline]
pub(crate) fn wait_on<R>(
    link: &Arc<Link>,
    (number, slept): (Option<u32>, bool),
    until: Deadline,
    mut attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
) -> Option<R> {
    let wait = Wait {
        link: Some(link),
        number,
        until,
        slept,
    };
    loop {
        // Read before the group: if the connection moves, the number differs, and the wait begins
        // anew in the other group.
        let moves = link.membership().moves();
        let waited = link.membership().with_group(|group| {
            group.wait(&wait, |found, waker| match attempt(found, waker) {
                Some(answer) => Some(Some(answer)),
                None if link.membership().moves() != moves => Some(None),
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
