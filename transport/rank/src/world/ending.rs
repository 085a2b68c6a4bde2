//! Orderly shutdown, so that no message is lost when a process ends.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use jstream::buffer::MessageBuffer;

use crate::Rank;
use jstream_base::RecvError;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Unreceived;
use jstream_endpoint::{CompletionQueue, Endpoint, Outcome};

/// The tag of goodbye messages, which have a separate context.
const GOODBYE: u64 = 0;

/// Exchanges goodbye messages with all other ranks, so that everything they sent before has
/// arrived. Returns the ranks that did not answer, in order, with the reasons.
pub(super) fn goodbye(rank: &Rank, until: Deadline) -> BTreeMap<u32, String> {
    let others = (0..rank.size()).filter(|other| *other != rank.rank());
    let heard: Vec<_> = others
        .clone()
        .map(|other| (other, rank.irecv(other, GOODBYE)))
        .collect();
    let said: Vec<_> = others
        .map(|other| (other, rank.isend(other, GOODBYE, MessageBuffer::nothing())))
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
            None => "it did not receive the goodbye in time".to_owned(),
        };
        lost.entry(other).or_insert(reason);
    }
    lost
}

/// Ends sending to all peers, and receives until they have done so too. Returns the peers that did
/// not, in order of their ranks, with the reasons. Messages that were not received before are
/// dropped.
pub(super) fn farewell(
    peers: Vec<(u32, Endpoint)>,
    until: Deadline,
) -> io::Result<BTreeMap<u32, String>> {
    let queue = CompletionQueue::new()?;
    for (rank, endpoint) in &peers {
        queue.post_recv(endpoint, u64::from(*rank), None);
    }
    let finishing = peers.clone();
    // Runs in a separate thread: each call may wait for a peer that waits until its own messages
    // are read here. The send timeout limits it.
    let (done, finished) = mpsc::channel();
    let builder = Builder::new().name("jstream-goodbye".to_owned());
    builder.spawn(move || {
        for (rank, endpoint) in finishing {
            if let Err(error) = endpoint.finish() {
                tracing::debug!(rank, %error, "can't shut down the connection");
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
                tracing::debug!(rank, header = ?message.header, "message dropped at the end");
                if let Some(endpoint) = open.get(&rank) {
                    queue.post_recv(endpoint, completion.user, None);
                }
            }
            Outcome::Received(Err(Unreceived { error, .. })) => {
                open.remove(&rank);
                if !matches!(error, RecvError::Closed { .. }) {
                    lost.insert(rank, error.to_string());
                }
            }
            _ => {}
        }
    }
    for rank in open.into_keys() {
        lost.insert(rank, "it did not say goodbye in time".to_owned());
    }
    // The peers may have ended before this side did.
    let _ = finished.recv_timeout(left(until));
    Ok(lost)
}

fn left(until: Deadline) -> Duration {
    until.left().unwrap_or(Duration::MAX)
}
