//! Poll groups: connections that are served together.

use std::fmt;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::executor::{Executor, Job};
use super::peer::Peer;
use super::poll_loop::{PollLoop, Wait};
use super::thread_pool::Serving;
use jstream_device::deadline::Deadline;

/// A poll group: connections that are served together by the threads that wait for an answer over
/// one of them, poll, or serve.
///
/// Every connection belongs to one group: first to one of its own, and later to the group to
/// which it is [added](Self::add). A connection can be added at any time, also while both groups
/// are served. It stays until it ends, is removed, or the group is dropped.
///
/// Of the threads that serve a group, one polls at a time. It releases the right to poll before it
/// runs a handler, so that the next thread can receive meanwhile. If one thread serves, the
/// handlers of one connection's messages begin in the order in which the messages were sent.
pub struct PollGroup {
    poll_loop: Arc<PollLoop>,
}

impl PollGroup {
    /// Creates an empty group. Its threads spin for `spin` before they sleep (see
    /// [`Options::spin`](jstream_base::Options::spin)).
    #[must_use]
    pub fn new(spin: Duration) -> Self {
        Self {
            poll_loop: PollLoop::new(spin),
        }
    }

    /// Moves a connection to this group. Messages that were received but not handled before the
    /// move are handled here, in order. A message that another thread is taking from the connection
    /// during the move may begin after the next one, as with several threads in one group. To keep
    /// the order, add the connection before its first request is sent.
    pub fn add(&self, peer: &Peer) {
        self.poll_loop.adopt(peer.link(), true);
    }

    /// Moves a connection back to a group of its own, if it is in this one.
    pub fn remove(&self, peer: &Peer) {
        if peer.link().membership().is_in(&self.poll_loop) {
            let alone = PollLoop::new(peer.link().endpoint().shared().info().spin);
            alone.adopt(peer.link(), false);
        }
    }

    /// Receives and handles the available messages, up to a limit, without blocking. Returns their
    /// number.
    pub fn poll(&self) -> usize {
        self.poll_loop.poll(None).0
    }

    /// Serves until the group has no connections.
    pub fn serve(&self) {
        self.serve_by(Deadline::NEVER);
    }

    /// As [`serve`](Self::serve), for `time` at most.
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
        self.poll_loop
            .wait(&wait, |_, _| self.poll_loop.is_empty().then_some(()));
    }

    /// Serves, also while there are no connections, until `stops` returns true. It is called after
    /// each event and after each [call](Self::call).
    pub fn serve_until(&self, stops: impl Fn() -> bool) {
        self.poll_loop.work(None, false, stops);
    }

    /// Makes the serving threads check their stop condition.
    pub fn call(&self) {
        self.poll_loop.call_all();
    }

    /// Returns an executor that runs tasks on the threads that serve the group. If one thread
    /// serves, suspended handlers stay on that thread. When the group is dropped, so are its
    /// tasks.
    #[must_use]
    pub fn executor(&self) -> Arc<dyn Executor> {
        Arc::new(Here(Arc::downgrade(&self.poll_loop)))
    }

    /// Starts a thread that serves, also while there are no connections, until the handle is
    /// dropped.
    ///
    /// # Errors
    ///
    /// Any error of the system if it can't create a thread.
    pub fn start(&self) -> io::Result<Serving> {
        Serving::start(self.poll_loop.clone(), 1, 1, Box::new(|work| work()))
    }

    /// Starts `least` serving threads, but at least one, until the handle is dropped. While all of
    /// them run handlers that wait or compute for a long time, more are started one by one, up to
    /// `most` in total. Additional threads end when enough others are on standby again.
    ///
    /// With a single thread, no other thread detects that it is busy, so none is started. Each
    /// thread calls `around`, which must call its argument once.
    ///
    /// # Errors
    ///
    /// Any error of the system if it can't create a thread.
    pub fn start_many(
        &self,
        least: usize,
        most: usize,
        around: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static,
    ) -> io::Result<Serving> {
        Serving::start(self.poll_loop.clone(), least.max(1), most, Box::new(around))
    }
}

impl Default for PollGroup {
    /// Creates a group with the spin time of the default options.
    fn default() -> Self {
        Self::new(jstream_base::Options::default().spin)
    }
}

impl Drop for PollGroup {
    fn drop(&mut self) {
        self.poll_loop.drop_kept();
    }
}

impl fmt::Debug for PollGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollGroup").finish_non_exhaustive()
    }
}

/// Executor that runs jobs on the threads that serve a group.
struct Here(Weak<PollLoop>);

impl Executor for Here {
    fn execute(&self, job: Job) {
        if let Some(poll_loop) = self.0.upgrade() {
            poll_loop.run_job(job);
        }
    }

    /// Always false: a job that blocks would block the poll loop.
    fn has_room(&self) -> bool {
        false
    }
}
