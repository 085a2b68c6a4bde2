//! Ending a server in order: what runs may end, what comes is refused, and nothing takes longer than it may.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::active::{self, Peer};

use super::Serving;
use super::serving::ServingState;
use crate::session::Session;
use crate::sync::lock;

/// How long methods that are ended may take to come to their end.
const GRACE: Duration = Duration::from_millis(500);

/// How long calls that were counted as done may take to their end; a part of [`GRACE`].
const SETTLING: Duration = Duration::from_millis(100);

/// The longest pause before it is looked again whether all calls have ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// How a server has [ended](Serving::shutdown).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// How many calls had not ended, or had answers that nobody has read, when the time was over. Their callers are told
    /// that their connection was lost.
    pub cut_off: usize,
    /// Whether methods of these still run, in threads that nobody waits for: plain ones, which can't be ended.
    pub abandoned: bool,
}

impl Serving {
    /// Ends the server in order, and within this time and half a second: connections are not accepted any more, calls
    /// that come are refused as [`CallError::Ending`](crate::CallError::Ending), which did not run, and those that run
    /// may end. When all of them have, and their answers have gone, or when the time is over, the connections end. Async
    /// methods that wait then are dropped; plain ones that don't return are left to their threads.
    ///
    /// Meanwhile the server's [health](crate::Reflection::health) can be asked over the connections that there are.
    /// A method does not end its own server so: it would wait for itself.
    #[must_use = "says whether all calls have ended"]
    pub fn shutdown(mut self, within: Duration) -> Ended {
        let until = Instant::now().checked_add(within);
        self.state.stop();
        self.state.waiting.end();
        if let Some(accepting) = self.accepting.take() {
            // It can't panic but by a fault of ours, which it has reported then.
            let _ = accepting.join();
        }
        let mut cut_off = self.state.wait_for_calls(until);
        let reaping = self.serving.take().map(|serving| self.state.reap(serving));
        if cut_off == 0 && reaping.as_ref().is_some_and(|all| all.wait(SETTLING)) {
            // A call is counted as done just before its answer is sent: that it was, as far as its peer has read.
            cut_off = self.state.wait_for_calls(until);
        }
        self.state.close_all();
        let abandoned = match reaping {
            Some(reaping) => !reaping.wait(GRACE.saturating_sub(SETTLING)),
            None => {
                // Whoever serves finds that there is nothing more.
                self.state.bundle.call();
                false
            }
        };
        Ended { cut_off, abandoned }
    }
}

/// The end of the threads, which somebody waits for; nothing where there is nobody for that.
struct Reaping(Option<mpsc::Receiver<()>>);

impl Reaping {
    /// Whether it has come in that time.
    fn wait(&self, time: Duration) -> bool {
        let ended = self.0.as_ref().map(|ended| ended.recv_timeout(time));
        ended == Some(Err(mpsc::RecvTimeoutError::Disconnected))
    }
}

impl ServingState {
    /// Ends the threads.
    fn reap(&self, serving: active::Serving) -> Reaping {
        let (done, ended) = mpsc::channel::<()>();
        let waiting = self.waiting.clone();
        let kept = Arc::new(Mutex::new(Some(serving)));
        let reaper = thread::Builder::new().name("jstream-reap".to_owned());
        let started = {
            let kept = kept.clone();
            reaper.spawn(move || {
                let serving = lock(&kept).take();
                // This waits for the threads, and they for their methods.
                drop(serving);
                waiting.wait();
                drop(done);
            })
        };
        if started.is_err() {
            // Nobody is there to wait for them.
            std::mem::forget(lock(&kept).take());
            return Reaping(None);
        }
        Reaping(Some(ended))
    }

    /// Waits until no call is under way, until then at most. How many still are.
    fn wait_for_calls(&self, until: Option<Instant>) -> usize {
        let mut pause = Duration::from_micros(100);
        loop {
            let peers = self.peers();
            // Some may have come to be held since the last look.
            for session in peers.iter().filter_map(|peer| peer.attached::<Session>()) {
                session.promises.refuse_held();
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

    fn peers(&self) -> Vec<Peer> {
        let connections = lock(&self.connections);
        connections.values().map(|open| open.peer.clone()).collect()
    }
}

/// How many calls are under way, with the connections whose clients have not read all answers.
fn calls(peers: &[Peer]) -> usize {
    let each = peers.iter().map(|peer| {
        let unread = usize::from(peer.backlog() > 0);
        let session = peer.attached::<Session>();
        let kept = session.filter(|session| session.is_first());
        let kept = kept.map_or(0, |session| session.references().results.count());
        peer.under_way().saturating_add(unread).saturating_add(kept)
    });
    each.fold(0, usize::saturating_add)
}
