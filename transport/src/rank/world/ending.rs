//! Saying goodbye: nothing that was sent is lost by the end of a process.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use jstream::buffer::Filled;

use crate::device::deadline::Deadline;
use crate::endpoint::{CompletionQueue, Endpoint, Outcome};
use crate::error::{RecvError, Unreceived};
use crate::rank::Rank;

/// The tag of goodbyes, in a context of their own.
const GOODBYE: u64 = 0;

/// Says goodbye to all other ranks, and hears theirs: all that they have sent before is here then. Those that
/// did not say it, in the order of their ranks, and why.
pub(super) fn goodbye(rank: &Rank, until: Deadline) -> BTreeMap<u32, String> {
    let others = (0..rank.size()).filter(|other| *other != rank.rank());
    let heard: Vec<_> = others
        .clone()
        .map(|other| (other, rank.irecv(other, GOODBYE)))
        .collect();
    let said: Vec<_> = others
        .map(|other| (other, rank.isend(other, GOODBYE, Filled::nothing())))
        .collect();
    let mut lost = BTreeMap::new();
    for (other, mut request) in heard {
        let reason = match request.wait_timeout(left(until)) {
            Some(Ok(_)) => continue,
            Some(Err(error)) => error.to_string(),
            None => "it did not say goodbye in time".to_owned(),
        };
        lost.insert(other, reason);
    }
    for (other, mut request) in said {
        let reason = match request.wait_timeout(left(until)) {
            Some(Ok(_)) => continue,
            Some(Err(error)) => error.to_string(),
            None => "it did not take a goodbye in time".to_owned(),
        };
        lost.entry(other).or_insert(reason);
    }
    lost
}

/// Says to all peers that nothing more comes, and receives until they have said so, too: those who did not,
/// in the order of their ranks, and why. What they had sent that nobody has received is dropped.
pub(super) fn farewell(
    peers: Vec<(u32, Endpoint)>,
    until: Deadline,
) -> io::Result<BTreeMap<u32, String>> {
    let queue = CompletionQueue::new()?;
    for (rank, endpoint) in &peers {
        queue.post_recv_any(endpoint, u64::from(*rank));
    }
    let finishing = peers.clone();
    // Each may wait for a peer that waits in turn for being read here. It ends with the time-out of sending.
    let (done, finished) = mpsc::channel();
    let builder = Builder::new().name("jstream-goodbye".to_owned());
    builder.spawn(move || {
        for (rank, endpoint) in finishing {
            if let Err(error) = endpoint.finish() {
                tracing::debug!(rank, %error, "no goodbye");
            }
        }
        let _ = done.send(());
    })?;
    let mut open: BTreeMap<u32, &Endpoint> = BTreeMap::new();
    for (rank, endpoint) in &peers {
        open.insert(*rank, endpoint);
    }
    let mut lost = BTreeMap::new();
    while !open.is_empty() {
        let Some(completion) = queue.wait(left(until)) else {
            break;
        };
        let rank = u32::try_from(completion.user).unwrap_or(u32::MAX);
        match completion.outcome {
            Outcome::Received(Ok(message)) => {
                tracing::debug!(rank, header = ?message.header, "dropped at the end");
                if let Some(endpoint) = open.get(&rank) {
                    queue.post_recv_any(endpoint, completion.user);
                }
            }
            Outcome::Received(Err(Unreceived { error, .. })) => {
                open.remove(&rank);
                if !matches!(error, RecvError::Closed { .. }) {
                    lost.insert(rank, error.to_string());
                }
            }
            Outcome::Sent(_) => {}
        }
    }
    for rank in open.into_keys() {
        lost.insert(rank, "it did not say goodbye in time".to_owned());
    }
    // Peers may have said goodbye before we have.
    let _ = finished.recv_timeout(left(until));
    Ok(lost)
}

fn left(until: Deadline) -> Duration {
    until.left().unwrap_or(Duration::MAX)
}
