//! Graceful shutdown of a server: running calls may finish, new calls are refused, and the time is
//! limited.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use jstream_active as active;
use jstream_active::Peer;

use crate::server::serving::{Serving, ServingState};
use crate::session::{Connection, Session};
use crate::support::{Operation, lock};

/// Time that cancelled methods have to end.
const GRACE: Duration = Duration::from_millis(500);

/// Time for calls that are counted as done to send their answers. Part of [`GRACE`].
const SETTLING: Duration = Duration::from_millis(100);

/// Maximum time for clients to say that they make no more calls, once all calls have ended.
const MOVING: Duration = Duration::from_secs(1);

/// Maximum pause between two checks whether all calls have ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// The outcome of a server's [shutdown](Serving::shutdown).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Number of calls that had not ended, or had unread answers, when the time was over. Their
    /// callers receive an error that the connection was lost.
    pub cut_off: usize,
    /// True if synchronous methods, which can't be cancelled, still run in detached threads.
    pub abandoned: bool,
}

impl Serving {
    /// Shuts the server down within this time and half a second. The server accepts no more
    /// connections. It refuses new calls as [`CallError::Ending`](crate::CallError::Ending), which
    /// did not run, and lets running calls finish. The connections end when all calls have ended
    /// and their answers were sent, or when the time is over. Suspended async methods are then
    /// dropped; synchronous methods that do not return are left to their threads. Clients are told
    /// to move at the beginning, so that a [`ClientSet`](crate::ClientSet) uses other servers, a
    /// [`Client`](crate::Client) connects again, and no call is lost.
    ///
    /// If all calls have ended, the clients are told. A call that a client makes later, or has sent
    /// too late to be received, then fails as [`CallError::Ending`](crate::CallError::Ending), too,
    /// so that the client may repeat it at another server. The clients of a
    /// [`LocalServer`](crate::LocalServer) are not told: their later calls may fail as
    /// [`CallError::Lost`](crate::CallError::Lost).
    ///
    /// Meanwhile the server's [health](crate::Reflection::health) is available over the existing
    /// connections. A method must not shut its own server down this way: it would wait for itself.
    ///
    /// The shutdown begins when it is waited for or first polled. As a future, it has a thread of
    /// its own and blocks no thread of a runtime; if it is dropped after that, it still completes.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = jstream_rmi::Server::default();
    /// let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    /// let ended = serving.shutdown(std::time::Duration::from_secs(10)).wait();
    /// assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    /// # Ok(())
    /// # }
    /// ```
    pub fn shutdown(self, within: Duration) -> Operation<Ended> {
        Operation::blocking("jstream-shutdown", move || self.end(within))
    }

    fn end(mut self, within: Duration) -> Ended {
        let until = Instant::now().checked_add(within);
        // Before calls are refused: a client that connects from now on must reach another server.
        self.state.close_listener();
        // From now on, calls are refused. Clients whose handshakes end meanwhile are told to move
        // while the others end their calls.
        self.state.waiting.end();
        for peer in self.state.peers() {
            Connection::from_peer(peer).tell_to_move();
        }
        drop(self.accepting.take());
        self.state.stop();
        let mut cut_off = self.state.wait_for_calls(until);
        // With calls that are left, the time is over.
        if cut_off == 0 {
            self.state.wait_for_moves(until);
        }
        let reaping = self.serving.take().map(|serving| self.state.reap(serving));
        if cut_off == 0 && reaping.as_ref().is_some_and(|all| all.wait(SETTLING)) {
            // A call is counted as done just before its answer is sent. Wait until the peers have
            // read all answers.
            cut_off = self.state.wait_for_calls(until);
            self.state.announce_end();
        }
        self.state.close_all();
        let abandoned = match reaping {
            Some(reaping) => !reaping.wait(GRACE.saturating_sub(SETTLING)),
            None => {
                // Wakes the application threads that serve, so that they see that nothing is left.
                self.state.group.call();
                false
            }
        };
        Ended { cut_off, abandoned }
    }
}

/// The end of the serving threads. `None` if no thread could be started to wait for them.
pub(super) struct Reaping(Option<mpsc::Receiver<()>>);

impl Reaping {
    /// Waits for the threads to end. Returns false if the time is over before that.
    fn wait(&self, time: Duration) -> bool {
        let ended = self.0.as_ref().map(|ended| ended.recv_timeout(time));
        // The thread never sends. The drop of its end of the channel is the signal, also if it
        // panics.
        ended == Some(Err(mpsc::RecvTimeoutError::Disconnected))
    }
}

impl ServingState {
    /// Ends the serving threads in the background.
    pub(super) fn reap(&self, serving: active::Serving) -> Reaping {
        let (done, ended) = mpsc::channel::<()>();
        let waiting = self.waiting.clone();
        // Shared with the thread, so that the handle is not lost with the closure if no thread can
        // be started.
        let kept = Arc::new(Mutex::new(Some(serving)));
        let started = {
            let kept = kept.clone();
            jstream_sync::threads::spawn("jstream-reap", move || {
                let serving = lock(&kept).take();
                // Joins the threads, which finish their methods first.
                drop(serving);
                waiting.wait();
                drop(done);
            })
        };
        if started.is_err() {
            // No thread is available to join them, so they are detached.
            std::mem::forget(lock(&kept).take());
            return Reaping(None);
        }
        Reaping(Some(ended))
    }

    /// Blocks until no call is in flight, or until `until`. Returns the number of calls that are
    /// left.
    fn wait_for_calls(&self, until: Option<Instant>) -> usize {
        let mut pause = Duration::from_micros(100);
        loop {
            let peers = self.peers();
            for peer in &peers {
                if let Some(session) = peer.attached::<Session>() {
                    // More calls may have been held since the last check.
                    session.promises.refuse_held();
                    if let Some(caller) = &session.admission {
                        caller.end_queued();
                    }
                    Connection::from_peer(peer.clone()).tell_to_move();
                }
            }
            let left = calls(&peers);
            let now = Instant::now();
            if left == 0 || until.is_some_and(|until| until <= now) {
                return left;
            }
            let rest = until.map_or(pause, |until| until.saturating_duration_since(now));
            thread::sleep(pause.min(rest));
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    /// Blocks until the clients that attend to the end of the server make no more calls, but not
    /// for long. Calls that arrive meanwhile are returned.
    fn wait_for_moves(&self, until: Option<Instant>) {
        let most = Instant::now().checked_add(MOVING);
        let until = [most, until].into_iter().flatten().min();
        let is_awaited = |peer: &Peer| {
            let session = peer.attached::<Session>();
            !peer.has_ended() && session.is_some_and(|session| session.moving.is_awaited())
        };
        while self.peers().iter().any(is_awaited) {
            if until.is_none_or(|until| until <= Instant::now()) {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Tells the clients whose calls were all answered that calls which were not answered did not
    /// run. No thread of the server runs calls any more. A thread of the program does so while it
    /// waits for a call of its own to a client; then nothing is announced.
    fn announce_end(&self) {
        let peers = self.peers();
        let is_served = peers.iter().any(|peer| peer.status().outstanding > 0);
        if !is_served {
            let done = peers.iter().filter(|peer| calls(&[(*peer).clone()]) == 0);
            done.for_each(|peer| peer.attendant().announce_end());
        }
    }

    fn peers(&self) -> Vec<Peer> {
        let connections = lock(&self.connections);
        connections.values().map(|open| open.peer.clone()).collect()
    }
}

/// Returns the number of calls in flight and of kept results, plus one for each connection whose
/// client has unread answers.
fn calls(peers: &[Peer]) -> usize {
    let each = peers.iter().map(|peer| {
        let status = peer.status();
        let unread = usize::from(status.backlog > 0 || status.is_sending);
        let session = peer.attached::<Session>();
        // A lane shares the results of its first connection, which must not count twice.
        let kept = session.filter(|session| session.is_first());
        let kept = kept.map_or(0, |session| session.references().results.count());
        status.under_way.saturating_add(unread).saturating_add(kept)
    });
    each.fold(0, usize::saturating_add)
}
