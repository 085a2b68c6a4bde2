//! State that is protected by the lock of an inbox.

use super::arrivals::Arrivals;
use super::contexts::Contexts;
use super::credit::allowed;
use super::error::Error;
use super::options::Options;
use super::peers::Peers;
use super::request::Requests;
use super::summary::Summary;
use super::waiters::Waiters;
use super::wire::Frame;
use jstream::buffer::Pool;
use jstream_endpoint::ops::OpId;

/// State that is protected by the lock of an inbox. Each part owns its data. What concerns several
/// parts is done by the methods in `matching`, `completion` and `transfer::connection`.
pub(super) struct RankState {
    pub(super) requests: Requests,
    pub(super) peers: Peers,
    pub(super) arrivals: Arrivals,
    pub(super) waiters: Waiters,
    pub(super) contexts: Contexts,
    /// Pool for the messages of threads.
    pub(super) pool: Pool,
    /// Maximum length in bytes of a message for which the library allocates memory.
    pub(super) max_allocated: u64,
    is_closed: bool,
}

impl RankState {
    /// Creates the state of an inbox in a world of `size` ranks.
    pub(super) fn new(size: u32, options: &Options) -> Self {
        Self {
            requests: Requests::default(),
            peers: Peers::new(size),
            arrivals: Arrivals::new(size, allowed(options.bounds), options.bounds),
            waiters: Waiters::default(),
            contexts: Contexts::default(),
            pool: options.pool.clone(),
            max_allocated: options.max_allocated(),
            is_closed: false,
        }
    }

    /// Returns the parts that threads read without the lock.
    #[inline]
    pub(super) fn summary(&self) -> Summary {
        let flags = self.contexts.flags().and(self.peers.flags());
        Summary::new(self.waiters.epoch(), flags)
    }

    /// Returns true if the rank has ended.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Ends the rank. The caller must drop the result without holding the lock.
    pub(super) fn close(&mut self) -> impl Sized + use<> {
        self.is_closed = true;
        let messages = self.arrivals.close();
        // The claims of the receives are those of the matcher that was closed.
        self.peers.drop_requesters();
        messages
    }

    /// Returns true if a thread or a task has to be notified of each message.
    #[inline]
    pub(super) fn has_sleepers(&self) -> bool {
        let waiters = &self.waiters;
        waiters.have_sleepers() || waiters.is_bell_taken() || self.requests.have_tasks()
    }

    /// Creates a request of a message for the rank `to`.
    pub(super) fn insert_send(&mut self, context: u32, to: u32) -> Result<OpId, Error> {
        match self.contexts.revocation(context) {
            Some(error) => Err(error),
            None => Ok(self.requests.insert_send(context, to)),
        }
    }

    /// Records a new connection, which the threads and tasks that wait have to drive.
    pub(super) fn add_connection(&mut self, rank: u32) {
        self.peers.wanted().resolve(rank);
        // The tasks are registered with the connections that existed before, so they have to
        // register again.
        if self.requests.have_tasks() {
            self.requests.wake_all_tasks();
        }
        self.waiters.notify();
    }

    /// Keeps a frame for a rank, which the next thread that drives the connections sends.
    pub(super) fn defer_frame(&mut self, to: u32, frame: Frame) {
        self.peers.defer_frame(to, frame);
        // A task that is polled drives the connections, and sends the frame.
        if self.requests.have_tasks() {
            self.requests.wake_all_tasks();
        }
        self.waiters.notify();
    }

    /// Records that the rank `by` has revoked a communicator, as the rank `source` says. Returns
    /// false if no communicator of this context can be revoked.
    pub(super) fn record_revocation(&mut self, context: u32, by: u32, source: u32) -> bool {
        if !Contexts::can_be_revoked(context) || by >= self.peers.size() {
            return false;
        }
        if !self.is_closed && self.contexts.revoke(context, by, source) {
            // One of the tasks ends the operations of the communicator.
            self.requests.wake_tasks_in(context);
            self.waiters.notify();
        }
        true
    }
}
