//! Options of the admission of calls.

use std::time::Duration;

/// Options of the admission of calls by a server, over all its listeners
/// ([`ServerOptions::admission`](crate::ServerOptions::admission)). By default, there are no limits
/// of this kind, and calls have no additional cost.
///
/// A call that is refused did not run. Its caller gets
/// [`CallError::Busy`](crate::CallError::Busy), which says when to try again.
///
/// A caller is known by what the server knows of it: its TLS certificate; or else the user of its
/// process; or else the source of its connections, as in
/// [`ServerOptions::max_connections`](crate::ServerOptions::max_connections). All connections of a
/// caller share its quota.
///
/// ```
/// use jstream_rmi::{AdmissionOptions, Server, ServerOptions};
///
/// let mut options = ServerOptions::default();
/// options.admission.min_running = 8;
/// options.admission.max_running = 200;
/// options.admission.calls_per_second = 1000;
/// options.admission.burst = 100;
/// let server = Server::new(options);
/// assert_eq!(server.admission().limit, 8);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AdmissionOptions {
    /// Lower bound of the number of calls that may run at once (default 16). The limit begins
    /// there. Suspended async methods run, too. Protects against callers whose slow calls make the
    /// server appear overloaded: they can't push the limit below this number.
    pub min_running: usize,
    /// Upper bound of the number of calls that may run at once (default `usize::MAX`: calls are not
    /// limited). Between the bounds, the limit grows while it is reached and calls take about as
    /// long as usual, and shrinks while most calls take longer than
    /// [`max_slowdown`](Self::max_slowdown) allows. Equal bounds are a fixed limit. Protects
    /// against more calls than the server can serve in time.
    pub max_running: usize,
    /// Factor by which a call may take longer than the calls of its method usually do, before it
    /// counts as slow (default 2, at least 1). A millisecond more is always allowed.
    pub max_slowdown: u32,
    /// Maximum number of calls that wait until they may run (default 1,024). A caller may have as
    /// many waiting calls as there are free places, so the queue is never full of the calls of one
    /// caller. Protects against a queue that takes more memory and time than its calls are worth.
    pub max_queued: usize,
    /// Maximum time for which a call waits until it may run (default 1 s). A call whose deadline
    /// passes before that fails with [`CallError::Deadline`](crate::CallError::Deadline), and never
    /// runs. Protects against calls without deadlines that wait behind methods which do not end.
    pub max_queue_time: Duration,
    /// Maximum number of calls per second of each caller (default `u32::MAX`: no limit; 0 counts as
    /// 1). Protects against a caller that takes the server's time from all others.
    ///
    /// A caller may make 64 lookups beside its calls, and 8 more per second, so that a low rate
    /// does not keep it from finding objects. Further lookups count as calls.
    pub calls_per_second: u32,
    /// Number of calls that a caller may make at once before
    /// [`calls_per_second`](Self::calls_per_second) applies (default 100; 0 counts as 1).
    pub burst: u32,
    /// Maximum number of running and queued calls of each caller (default: no number). Protects
    /// against a caller whose calls do not end, such as methods that read a stream which the caller
    /// does not send.
    ///
    /// In any case, a free place goes to the waiting caller with the fewest running calls. If
    /// several callers are connected, an eighth of the places, rounded down, is left to those which
    /// have fewer than their share of the limit: so none of them can hold all places with calls
    /// that do not end. A caller that is alone can use them all. They are not taken back when
    /// others connect, who wait until its calls end. Set this number if they may never end.
    pub max_running_per_caller: usize,
    /// Maximum number of callers without connections whose use of their quotas is remembered
    /// (default 4,096). Beyond that, the caller is forgotten whose quota is free again the soonest.
    /// Protects against callers that connect again to get a new quota, and against a table that
    /// grows with every address.
    pub max_former_callers: usize,
}

impl Default for AdmissionOptions {
    fn default() -> Self {
        Self {
            min_running: 16,
            max_running: usize::MAX,
            max_slowdown: 2,
            max_queued: 1024,
            max_queue_time: Duration::from_secs(1),
            calls_per_second: u32::MAX,
            burst: 100,
            max_running_per_caller: usize::MAX,
            max_former_callers: 4096,
        }
    }
}

impl AdmissionOptions {
    /// Returns true if any call could be refused.
    pub(crate) fn are_limiting(&self) -> bool {
        self.limits_running() || self.limits_rate() || self.max_running_per_caller != usize::MAX
    }

    /// Returns true if the number of calls that run at once is limited.
    pub(super) fn limits_running(&self) -> bool {
        self.max_running != usize::MAX
    }

    /// Returns true if the number of calls per second of each caller is limited.
    pub(super) fn limits_rate(&self) -> bool {
        self.calls_per_second != u32::MAX
    }
}
