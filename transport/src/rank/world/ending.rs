//! Saying goodbye: nothing that was sent is lost by the end of a process.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use crate::device::deadline::Deadline;
use crate::endpoint::{CompletionQueue, Endpoint, Outcome};
use crate::error::{RecvError, Unreceived};

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
