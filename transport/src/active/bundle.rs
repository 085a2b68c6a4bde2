//! Connections that are served together.

use std::fmt;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::crew::{Around, Crew};
use super::driving::{Core, Wait};
use super::executor::{Executor, Job};
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
        self.core.adopt(peer.link(), true);
    }

    /// Has a connection served by itself again, if it is served here.
    pub fn remove(&self, peer: &Peer) {
        if peer.link().is_in(&self.core) {
            let alone = Core::new(peer.link().endpoint().shared().info().spin);
            alone.adopt(peer.link(), false);
        }
    }

    /// Takes the messages that are here, some at most, without waiting. How many.
    pub fn poll(&self) -> usize {
        self.core.poll()
    }

    /// Serves until no connection is left.
    pub fn serve(&self) {
        self.serve_by(Deadline::NEVER);
    }

    /// As [`serve`](Self::serve), for so long at most.
    pub fn serve_for(&self, time: Duration) {
        self.serve_by(Deadline::after(time));
    }

    fn serve_by(&self, until: Deadline) {
        let wait = Wait {
            link: None,
            number: None,
            until,
            slept: false,
        };
        self.core
            .wait(&wait, |_, _| self.core.is_empty().then_some(()));
    }

    /// Serves, also when there is no connection yet, until `stops` says so, which is asked when something has happened
    /// and behind each [call](Self::call).
    pub fn serve_until(&self, stops: impl Fn() -> bool) {
        self.core.work(None, false, stops);
    }

    /// Has those who serve look again whether to stop.
    pub fn call(&self) {
        self.core.call_all();
    }

    /// Has tasks go on where the bundle is served, by whoever does that: handlers that wait stay on one thread if one
    /// thread alone serves. When the bundle is gone its tasks are dropped.
    #[must_use]
    pub fn executor(&self) -> Arc<dyn Executor> {
        Arc::new(Here(Arc::downgrade(&self.core)))
    }

    /// Starts a thread that serves, also when there is no connection yet, until its handle is dropped.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of threads.
    pub fn start(&self) -> io::Result<Serving> {
        Serving::start(self.core.clone(), 1, 1, Box::new(|work| work()))
    }

    /// Starts `least` threads that serve, one at least, until the handle is dropped. While all of them are at handlers
    /// that wait or compute for long, more are started, one after another, so that there are `most` at most. Those end
    /// when enough others stand by again.
    ///
    /// With one alone nobody sees that it is busy, and no other is started. Each thread does what `around` says, which
    /// calls what it is given once.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of threads.
    pub fn start_many(
        &self,
        least: usize,
        most: usize,
        around: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static,
    ) -> io::Result<Serving> {
        Serving::start(self.core.clone(), least.max(1), most, Box::new(around))
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

/// Where a bundle is served.
struct Here(Weak<Core>);

impl Executor for Here {
    fn execute(&self, job: Job) {
        if let Some(core) = self.0.upgrade() {
            core.run_here(job);
        }
    }

    /// Whoever waits there is in the way.
    fn has_room(&self) -> bool {
        false
    }
}

/// Threads that serve. They end when this is dropped, behind the handlers that they are at.
#[must_use = "the threads end when this is dropped"]
pub struct Serving {
    core: Arc<Core>,
    crew: Arc<Crew>,
}

impl Serving {
    pub(super) fn start(
        core: Arc<Core>,
        least: usize,
        most: usize,
        around: Box<Around>,
    ) -> io::Result<Self> {
        let crew = Crew::start(&core, least, most, around)?;
        Ok(Self { core, crew })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.crew.stop(&self.core);
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}
