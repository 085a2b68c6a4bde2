//! Connections that are served together.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::driving::Core;
use super::peer::Peer;
use crate::device::deadline::Deadline;

/// Connections that are served together, by whoever waits for an answer over one of them, polls, or serves.
///
/// Every connection is in one bundle: in one of its own first, and in another one when it is
/// [added](Self::add) there, which may be done at any time, also while both are served. A connection that a
/// bundle was given stays in it until it ends, is removed, or the bundle is dropped.
///
/// Among threads that serve one bundle, one receives at a time; what it has received it handles while the next one
/// receives. Messages of one connection begin to be handled in the order in which they were sent where one thread
/// serves.
pub struct Bundle {
    core: Arc<Core>,
}

impl Bundle {
    /// An empty one, whose threads look for so long before they sleep
    /// (see [`Options::spin`](crate::Options::spin)).
    #[must_use]
    pub fn new(spin: Duration) -> Self {
        Self {
            core: Core::new(spin),
        }
    }

    /// Has a connection served here from now on.
    pub fn add(&self, peer: &Peer) {
        if self.core.adopt(peer.link()) && !peer.link().has_ended() {
            self.core.keep(peer.link());
        }
    }

    /// Has a connection served by itself again, if it is served here.
    pub fn remove(&self, peer: &Peer) {
        if peer.link().is_in(&self.core) {
            let alone = Core::new(peer.link().endpoint().shared().facts().spin);
            alone.adopt(peer.link());
        }
    }

    /// Takes the messages that are here, some at most, without waiting. How many.
    pub fn poll(&self) -> usize {
        self.core.poll()
    }

    /// Serves until no connection is left.
    pub fn serve(&self) {
        self.serve_until(Deadline::NEVER);
    }

    /// As [`serve`](Self::serve), for so long at most.
    pub fn serve_for(&self, time: Duration) {
        self.serve_until(Deadline::after(time));
    }

    fn serve_until(&self, until: Deadline) {
        self.core
            .wait(until, |_| self.core.is_empty().then_some(()));
    }

    /// Starts a thread that serves, also when there is no connection yet, until its handle is dropped. Of several such
    /// threads one serves, and the others stand by: where a handler runs for long, one of them goes on.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of threads.
    pub fn start(&self) -> io::Result<Serving> {
        Serving::start(self.core.clone())
    }
}

impl Default for Bundle {
    /// One whose threads look as long as those of the default options.
    fn default() -> Self {
        Self::new(crate::Options::default().spin)
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        self.core.clear();
    }
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle").finish_non_exhaustive()
    }
}

/// A thread that serves. It ends when this is dropped, behind the handler that it is at.
#[must_use = "the thread ends when this is dropped"]
pub struct Serving {
    core: Arc<Core>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    pub(super) fn start(core: Arc<Core>) -> io::Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        let (its, flag) = (core.clone(), stopped.clone());
        let name = "jstream-serving".to_owned();
        let thread = Builder::new().name(name).spawn(move || {
            its.work(|| flag.load(Ordering::Acquire));
        })?;
        Ok(Self {
            core,
            stopped,
            thread: Some(thread),
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else {
            return;
        };
        // It may be dropped by one of its own handlers.
        if thread.thread().id() == std::thread::current().id() {
            return;
        }
        self.core.call_all();
        let _ = thread.join();
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}
