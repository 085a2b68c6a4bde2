//! Orderly shutdown, so that no message is lost when a process ends.
//!
//! Decision 069 has the reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use jstream::buffer::MessageBuffer;

use super::census::Census;
use crate::state::RankState;
use crate::{Rank, SendRequest, Source};
use jstream_base::RecvError;
use jstream_base::events::emit;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Unreceived;
use jstream_endpoint::{CompletionQueue, Endpoint, Outcome};
use tracing::Level;

/// The tag of goodbye messages, which have a separate context.
const GOODBYE: u64 = 0;

/// The tag of messages with a census.
const CENSUS: u64 = 1;

/// First and last interval at which a rank passes a census on that is not complete. The interval
/// doubles each time. It bounds the number of messages.
const SOON: Duration = Duration::from_millis(10);
const LATER: Duration = Duration::from_millis(80);

/// Ends a rank: waits until all others end, too, and until everything that they sent before has
/// arrived, for at most `timeout`. Returns the ranks that did not end properly, in order, with the
/// reasons.
///
/// The ranks first tell each other along the tree who has begun to end and who was lost. When a
/// rank knows this of all, no rank sends anything or opens a connection any more, so goodbye
/// messages are exchanged over the connections that exist.
pub(super) fn goodbye(rank: &Rank, until: Deadline, timeout: Duration) -> BTreeMap<u32, String> {
    let node = rank.node();
    let mut ending = Ending {
        rank,
        census: Census::new(rank.rank(), rank.size()),
        version: 1,
        told: BTreeMap::new(),
        sends: Vec::new(),
    };
    let is_complete = ending.take_census(until);
    let Ending { census, sends, .. } = ending;
    let mut lost = BTreeMap::new();
    for other in (0..rank.size()).filter(|other| *other != rank.rank()) {
        if census.has_ended(other) {
            // The rank ends, or has ended because its deadline has passed.
            continue;
        }
        if census.is_lost(other) {
            let gone = node.inbox.lock().peers.gone(other);
            let reason = gone.map_or("another rank has lost it".to_owned(), |e| e.to_string());
            lost.insert(other, reason);
        } else {
            lost.insert(other, is_silent(timeout));
        }
    }
    if !is_complete {
        return lost;
    }
    let mut goodbyes = Goodbyes::default();
    loop {
        let mut reached = node.reached(until);
        reached.retain(|other| !lost.contains_key(other));
        let said = goodbyes.post(rank, reached);
        lost.append(&mut goodbyes.exchange(rank, until, timeout));
        // A rank whose parent was lost may have connected to this one meanwhile.
        if said == 0 || until.has_passed() {
            break;
        }
    }
    for mut send in sends {
        let _ = send.wait_timeout(left(until));
    }
    lost
}

/// Returns the reason for a rank that is not lost, but does not end.
fn is_silent(timeout: Duration) -> String {
    format!("it did not say goodbye within {timeout:?} (`WorldOptions::finish_timeout`)")
}

/// The goodbye messages of a rank.
#[derive(Default)]
struct Goodbyes {
    said: BTreeSet<u32>,
    /// Goodbyes that the other rank may not have received.
    sends: Vec<(u32, SendRequest)>,
}

impl Goodbyes {
    /// Says goodbye to ranks that it was not said to before. Returns their number.
    fn post(&mut self, rank: &Rank, others: Vec<u32>) -> usize {
        let before = self.sends.len();
        for other in others {
            if self.said.insert(other) {
                let send = rank
                    .buffers()
                    .isend(other, GOODBYE, MessageBuffer::nothing());
                self.sends.push((other, send));
            }
        }
        self.sends.len().saturating_sub(before)
    }

    /// Waits for the goodbyes of the ranks that it was said to since this was called last. Returns
    /// the ranks that did not answer, with the reasons.
    fn exchange(
        &mut self,
        rank: &Rank,
        until: Deadline,
        timeout: Duration,
    ) -> BTreeMap<u32, String> {
        let sends = std::mem::take(&mut self.sends).into_iter();
        // All receives are posted before the first is waited for, so that a silent rank does not
        // delay the others.
        let meant: Vec<_> = sends
            .map(|(other, said)| (other, said, rank.buffers().irecv(other, GOODBYE)))
            .collect();
        let mut failed = BTreeMap::new();
        for (other, mut said, mut heard) in meant {
            let reason = match heard.wait_timeout(left(until)) {
                Some(Ok(_)) => match said.wait_timeout(left(until)) {
                    Some(Ok(_)) => continue,
                    Some(Err(error)) => error.to_string(),
                    None => format!("it did not receive the goodbye within {timeout:?}"),
                },
                Some(Err(error)) => error.to_string(),
                None => is_silent(timeout),
            };
            failed.insert(other, reason);
        }
        failed
    }
}

/// A rank that ends, while it tells others what it knows about the end of the world.
struct Ending<'r> {
    rank: &'r Rank,
    census: Census,
    /// Number of changes of the census.
    version: u64,
    /// The versions that other ranks were told.
    told: BTreeMap<u32, u64>,
    sends: Vec<SendRequest>,
}

impl Ending<'_> {
    /// Exchanges the census with the neighbours in the tree until it is complete. Returns false if
    /// the deadline passes before.
    fn take_census(&mut self, until: Deadline) -> bool {
        let node = self.rank.node();
        let mut receive = self.rank.buffers().irecv(Source::Any, CENSUS);
        let (mut pause, mut next) = (SOON, Deadline::after(SOON));
        let mut living = usize::MAX;
        loop {
            // Read first, so that whatever comes during this round ends the wait below.
            let seen = node.inbox.epoch();
            // The last messages of ranks that are gone are taken before these count as lost: a rank
            // ends properly after it has told its neighbours a complete census.
            let gone = self.gone(&mut living);
            while let Some(received) = receive.test() {
                let Ok(message) = received else {
                    break;
                };
                self.merge(message.status.source, message.payload.as_bytes());
                receive = self.rank.buffers().irecv(Source::Any, CENSUS);
            }
            if self.census.is_complete() {
                self.send_census(self.census.neighbours());
                return true;
            }
            let lost = gone.into_iter().filter(|rank| self.census.lose(*rank));
            if lost.count() > 0 {
                self.version = self.version.saturating_add(1);
                self.send_census(self.census.neighbours());
                // Ranks that can't be connected to are gone.
                continue;
            }
            if until.has_passed() {
                return false;
            }
            // The parent needs one message for the whole subtree. Before that, only timeouts and
            // losses are told.
            if self.census.is_complete_below() {
                self.send_census(self.census.parent().into_iter().collect());
            }
            // A rank whose neighbour was lost may not have got what that one should have passed on.
            if next.has_passed() {
                self.send_census(self.census.neighbours());
                pause = pause.saturating_mul(2).min(LATER);
                next = Deadline::after(pause);
            }
            let has_news = |state: &mut RankState| {
                (state.peers.live() != living || node.inbox.epoch() != seen).then_some(())
            };
            node.wait(|| until.or_sooner(next), has_news);
        }
    }

    /// Adds what another rank knows.
    fn merge(&mut self, source: u32, bytes: &[u8]) {
        if self.census.merge(bytes) {
            self.version = self.version.saturating_add(1);
        }
        // The source knows the same, so it need not be told.
        if self.census.to_bytes() == bytes {
            self.told.insert(source, self.version);
        }
    }

    /// Returns the ranks that are gone, if their number has changed.
    fn gone(&self, living: &mut usize) -> Vec<u32> {
        let state = self.rank.node().inbox.lock();
        if std::mem::replace(living, state.peers.live()) == state.peers.live() {
            return Vec::new();
        }
        let all = 0..self.rank.size();
        all.filter(|rank| state.peers.gone(*rank).is_some())
            .collect()
    }

    /// Sends the census to ranks that were not told its version.
    fn send_census(&mut self, others: Vec<u32>) {
        let bytes = self.census.to_bytes();
        for other in others {
            if self.told.insert(other, self.version) != Some(self.version) {
                let message = self.rank.message_of(&bytes);
                self.sends
                    .push(self.rank.buffers().isend(other, CENSUS, message));
            }
        }
    }
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
                emit(Level::DEBUG, move || {
                    tracing::debug!(rank, %error, "can't shut down the connection");
                });
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
                let header = message.header;
                emit(Level::DEBUG, move || {
                    tracing::debug!(rank, ?header, "message dropped at the end");
                });
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
