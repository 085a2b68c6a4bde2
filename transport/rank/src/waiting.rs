//! Waiting for one, some or all of several requests.
//!
//! The order is fair: each search starts behind the request that ended last.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::node::Node;
use super::requests::Request;
use jstream_device::deadline::Deadline;

/// Interval for polling requests of other ranks, whose completion does not wake this thread.
const OTHERS: Duration = Duration::from_millis(1);

/// Blocks until one of `requests` has ended. Returns its index and its outcome. `None` if all
/// outcomes were taken before.
///
/// The requests should belong to one rank. Requests of other ranks are polled, so that their
/// completion is noticed late.
///
/// ```
/// use jstream_transport::rank::{self, Source};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ranks = rank::threads(3, &rank::Options::default());
/// let mut receives = [ranks[0].buffers().irecv(1, 7), ranks[0].buffers().irecv(2, 7)];
/// ranks[2].send(0, 7, b"two")?;
/// ranks[1].send(0, 7, b"one")?;
/// while let Some((place, message)) = rank::wait_any(&mut receives) {
///     let expected = [b"one", b"two"][place];
///     assert_eq!(message?.payload.as_bytes(), expected);
/// }
/// # Ok(())
/// # }
/// ```
pub fn wait_any<R: Request>(requests: &mut [R]) -> Option<(usize, R::Output)> {
    any_until(requests, Deadline::NEVER)
}

/// Like [`wait_any`], for at most `timeout`. Returns `None` also if no request has ended by then.
pub fn wait_any_timeout<R: Request>(
    requests: &mut [R],
    timeout: Duration,
) -> Option<(usize, R::Output)> {
    any_until(requests, Deadline::after(timeout))
}

/// Like [`wait_any`], without blocking.
pub fn test_any<R: Request>(requests: &mut [R]) -> Option<(usize, R::Output)> {
    any_until(requests, Deadline::after(Duration::ZERO))
}

/// Blocks until at least one of `requests` has ended. Returns the indices and outcomes of all that
/// have. Empty if all outcomes were taken before.
pub fn wait_some<R: Request>(requests: &mut [R]) -> Vec<(usize, R::Output)> {
    some_until(requests, Deadline::NEVER)
}

/// Like [`wait_some`], without blocking.
pub fn test_some<R: Request>(requests: &mut [R]) -> Vec<(usize, R::Output)> {
    some_until(requests, Deadline::after(Duration::ZERO))
}

/// Blocks until all of `requests` have ended. Returns the outcomes that were not taken before, in
/// order.
pub fn wait_all<R: Request>(requests: &mut [R]) -> Vec<R::Output> {
    loop {
        let left = requests.iter().find(|request| !request.is_done());
        let Some(node) = left.and_then(|request| request.pending()).cloned() else {
            return taken(requests);
        };
        wait_for_rank(&node, requests, Deadline::NEVER, |requests| {
            let mine = requests.iter().filter(|request| is_of(*request, &node));
            mine.into_iter()
                .all(|request| request.is_done())
                .then_some(())
        });
    }
}

/// Returns the outcomes of `requests` that were not taken before, if all of them have ended.
pub fn test_all<R: Request>(requests: &mut [R]) -> Option<Vec<R::Output>> {
    if let Some(node) = requests.iter().find_map(|request| request.pending()) {
        node.drive();
    }
    let all = requests.iter().all(|request| request.is_done());
    all.then(|| taken(requests))
}

fn taken<R: Request>(requests: &mut [R]) -> Vec<R::Output> {
    requests
        .iter_mut()
        .filter_map(|request| request.take())
        .collect()
}

fn is_of<R: Request>(request: &R, node: &Arc<Node>) -> bool {
    request
        .pending()
        .is_some_and(|other| Arc::ptr_eq(other, node))
}

/// Like [`wait_any`], until a deadline.
pub(super) fn any_until<R: Request>(
    requests: &mut [R],
    deadline: Deadline,
) -> Option<(usize, R::Output)> {
    loop {
        let node = requests.iter().find_map(|request| request.pending());
        let Some(node) = node.cloned() else {
            return take_next(requests, 0);
        };
        let found = wait_for_rank(&node, requests, deadline, |requests| {
            take_next(requests, node.next_request.load(Ordering::Relaxed))
        });
        if let Some((place, output)) = found {
            node.next_request
                .store(place.wrapping_add(1), Ordering::Relaxed);
            return Some((place, output));
        }
        if deadline.has_passed() {
            return None;
        }
    }
}

fn some_until<R: Request>(requests: &mut [R], deadline: Deadline) -> Vec<(usize, R::Output)> {
    let Some(first) = any_until(requests, deadline) else {
        return Vec::new();
    };
    let mut ended = vec![first];
    let others = requests.iter_mut().enumerate();
    ended.extend(others.filter_map(|(place, request)| Some((place, request.take()?))));
    ended
}

/// Takes the outcome of the next request that has ended, starting at index `turn`.
fn take_next<R: Request>(requests: &mut [R], start: usize) -> Option<(usize, R::Output)> {
    let start = start.checked_rem(requests.len()).unwrap_or(0);
    let (before, behind) = requests.split_at_mut_checked(start)?;
    let behind = (start..).zip(behind);
    let mut all = behind.chain((0..).zip(before));
    all.find_map(|(place, request)| Some((place, request.take()?)))
}

/// Waits until `attempt` returns a value. Returns early if requests belong to several ranks.
fn wait_for_rank<R: Request, A>(
    node: &Arc<Node>,
    requests: &mut [R],
    deadline: Deadline,
    mut attempt: impl FnMut(&mut [R]) -> Option<A>,
) -> Option<A> {
    let mut pending = requests.iter().filter_map(|request| request.pending());
    let others = pending.any(|other| !Arc::ptr_eq(other, node));
    let until = || {
        if others {
            deadline.or_sooner(Deadline::after(OTHERS))
        } else {
            deadline
        }
    };
    node.wait_unlocked(None, until, || attempt(requests))
}
