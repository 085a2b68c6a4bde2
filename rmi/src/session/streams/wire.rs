//! Transmission of stream frames as active messages.

use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};
use std::time::Instant;

use jstream::Limits;
use jstream_active::{Attendant, Peer, RequestError, WeakPeer};
use jstream_base::SendError;

use crate::frame::{Window, Word};
use crate::session::connection::Connection;
use crate::session::streams::line::{Line, Streams};
use crate::session::streams::tasks::Signal;
use crate::support::lock;

/// Number of frames per possible stream that may wait for credit. Protects against a peer that
/// opens streams and grants no credit.
const MOST_FRAMES: usize = 16;

/// The streams of a connection, and a queue of payload-free frames that wait for credit.
pub(crate) struct Wire {
    pub(crate) streams: Arc<Streams>,
    waiting: Mutex<VecDeque<u64>>,
    /// Waker that flushes the queue when there is credit.
    waker: Waker,
}

impl Wire {
    /// Creates the streams of a connection. They end with it.
    pub(crate) fn new(peer: &Peer) -> Self {
        let streams = Arc::new(Streams::default());
        let ending = streams.clone();
        // The streams are held alone, and not the peer, which would own itself through its
        // callback.
        peer.on_end(move || ending.lose(&"the connection has ended".into()));
        Self {
            streams,
            waiting: Mutex::default(),
            waker: Arc::new(Again(peer.downgrade())).into(),
        }
    }

    /// Sends queued frames as far as there is credit. The rest is sent when there is more.
    fn flush(&self, connection: &Connection) {
        // The lock is held while frames are sent, so that two threads can't exchange their order.
        // Sending does not block here.
        let mut waiting = lock(&self.waiting);
        let mut is_told = false;
        while let Some(word) = waiting.front() {
            if let Err(RequestError::NoCredit) = connection.send_part(*word, &[]) {
                // One more attempt after the waker was registered, and not more: otherwise this
                // would spin until there is credit.
                if std::mem::replace(&mut is_told, true) {
                    return;
                }
                connection.peer().attendant().wake_at_credit(&self.waker);
                // Credit may have arrived before the waker was registered.
                continue;
            }
            // Also after any other error: the connection has ended, and takes no more frames.
            waiting.pop_front();
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}

/// Waker that flushes the queue.
struct Again(WeakPeer);

impl Wake for Again {
    fn wake(self: Arc<Self>) {
        if let Some(peer) = self.0.upgrade() {
            let connection = Connection::from_peer(peer);
            connection.session().wire.flush(&connection);
        }
    }
}

impl Line for Connection {
    fn poll_send(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        task: &Waker,
    ) -> Poll<Result<(), SendError>> {
        let mut sent = self.send_part(word, segments);
        if let Err(RequestError::NoCredit) = sent {
            // The second attempt finds credit that has arrived before the waker was registered.
            self.peer().attendant().wake_at_credit(task);
            sent = self.send_part(word, segments);
        }
        Poll::Ready(match sent {
            Ok(()) => Ok(()),
            Err(RequestError::NoCredit) => return Poll::Pending,
            Err(RequestError::Send(error)) => Err(error),
            Err(_) => Err(SendError::Closed {
                peer: self.peer().endpoint().peer().clone(),
            }),
        })
    }

    fn post(&self, word: u64) {
        let wire = &self.session().wire;
        let mut waiting = lock(&wire.waiting);
        // A grant states a total, so a later one says all that the earlier one did. A peer without
        // credit thus has one grant for each stream in this queue.
        waiting.retain(|known| !is_replaced(*known, word));
        waiting.push_back(word);
        let most = self.session().terms.max_streams.saturating_mul(MOST_FRAMES);
        let is_stuck = waiting.len() > most.max(MOST_FRAMES);
        drop(waiting);
        if is_stuck {
            return self.peer().close();
        }
        wire.flush(self);
    }

    fn wait(&self, signal: &Signal, until: Option<Instant>) {
        self.peer()
            .attendant()
            .wait_until(until, |task| signal.is_set_or_tells(task).then_some(()));
    }

    fn attendant(&self) -> Option<Attendant> {
        Some(self.peer().attendant())
    }

    fn streams(&self) -> &Streams {
        &self.session().wire.streams
    }

    fn limits(&self) -> Limits {
        self.session().terms.limits
    }

    fn window(&self) -> Window {
        self.session().terms.window
    }
}

/// Returns true if a later frame makes an earlier one redundant.
fn is_replaced(known: u64, by: u64) -> bool {
    match (Word::parse(known), Word::parse(by)) {
        (Some((one, Word::Grant { .. })), Some((other, Word::Grant { .. }))) => one == other,
        _ => false,
    }
}
