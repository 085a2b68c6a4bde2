//! Registry of the listeners of this process, with the backlog of each.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use super::bell::prepare;
use crate::connection::Connection;
use crate::deadline::Deadline;
use jstream_base::Options;
use jstream_sync::event_fd::EventFd;
use jstream_sync::{lock, unpoisoned};

/// Maximum number of connection requests in the backlog of a listener. Further callers block before
/// they enter it. Protects against endless connection requests to a listener that does not accept.
const MAX_WAITING: usize = 128;

/// The listeners of this process, ordered by name.
static NAMES: Mutex<Vec<Arc<Backlog>>> = Mutex::new(Vec::new());

/// Returns the index of a name. The error is the index at which it would be inserted.
fn find(name: &str, names: &[Arc<Backlog>]) -> Result<usize, usize> {
    names.binary_search_by(|backlog| backlog.name.as_str().cmp(name))
}

/// The connection requests that wait at a listener.
pub(super) struct Backlog {
    name: String,
    options: Options,
    state: Mutex<NameTable>,
    changed: Condvar,
    /// Readable while a request waits, and once the listener was closed.
    event: EventFd,
}

#[derive(Default)]
struct NameTable {
    waiting: VecDeque<Arc<AcceptRequest>>,
    closed: bool,
}

/// Reason why a request did not enter a backlog.
pub(super) enum Unqueued {
    /// The backlog was full until the deadline.
    Full,
    Closed,
}

impl Backlog {
    /// Registers a listener. Returns `None` if the name is in use.
    pub(super) fn register(name: &str, options: Options) -> io::Result<Option<Arc<Self>>> {
        prepare()?;
        let event = EventFd::new()?;
        let mut names = lock(&NAMES);
        let Err(place) = find(name, &names) else {
            return Ok(None);
        };
        let backlog = Arc::new(Self {
            name: name.into(),
            options,
            state: Mutex::default(),
            changed: Condvar::new(),
            event,
        });
        names.insert(place, backlog.clone());
        Ok(Some(backlog))
    }

    /// Returns the backlog of the listener with this name.
    pub(super) fn find(name: &str) -> Option<Arc<Self>> {
        let names = lock(&NAMES);
        names.get(find(name, &names).ok()?).cloned()
    }

    /// Options of the listener's connections.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    pub(super) fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// Adds a request to the backlog. Blocks while the backlog is full, until the deadline.
    pub(super) fn push(
        &self,
        request: &Arc<AcceptRequest>,
        deadline: Deadline,
    ) -> Result<(), Unqueued> {
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return Err(Unqueued::Closed);
            }
            if state.waiting.len() < MAX_WAITING {
                if state.waiting.is_empty() {
                    self.event.signal();
                }
                state.waiting.push_back(request.clone());
                return Ok(());
            }
            if deadline.has_passed() {
                return Err(Unqueued::Full);
            }
            state = sleep(&self.changed, state, deadline);
        }
    }

    /// Removes the oldest request. The result is `None` if the listener was closed, and
    /// `Some(None)` if no request waits.
    pub(super) fn pop(&self) -> Option<Option<Arc<AcceptRequest>>> {
        let mut state = lock(&self.state);
        if state.closed {
            return None;
        }
        let request = state.waiting.pop_front();
        self.popped(&state);
        Some(request)
    }

    /// Removes a request that was withdrawn.
    pub(super) fn forget(&self, request: &Arc<AcceptRequest>) {
        let mut state = lock(&self.state);
        state.waiting.retain(|other| !Arc::ptr_eq(other, request));
        self.popped(&state);
    }

    fn popped(&self, state: &NameTable) {
        if state.waiting.is_empty() && !state.closed {
            self.event.clear();
        }
        self.changed.notify_all();
    }

    /// Releases the name, and answers the requests that were not accepted.
    pub(super) fn close(&self) {
        let mut names = lock(&NAMES);
        // Another listener may have registered the name since.
        names.retain(|holder| !std::ptr::eq(Arc::as_ptr(holder), self));
        drop(names);
        let mut state = lock(&self.state);
        state.closed = true;
        self.event.signal();
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.changed.notify_all();
        for request in waiting {
            request.decide(RequestState::Unheard);
        }
    }
}

/// A request to be accepted by a listener.
pub(super) struct AcceptRequest {
    state: Mutex<(RequestState, Option<Connection>)>,
    decided: Condvar,
}

/// State of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestState {
    Open,
    Established,
    /// The listener refused it, for this reason.
    Refused(String),
    /// The listener was closed before it accepted the request.
    Unheard,
    /// The request was accepted and then dropped.
    Dropped,
    /// The caller's deadline has passed.
    Withdrawn,
}

impl AcceptRequest {
    /// Creates a request that offers the listener's side of a connection.
    pub(super) fn new(connection: Connection) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new((RequestState::Open, Some(connection))),
            decided: Condvar::new(),
        })
    }

    /// Sets the verdict if the request is still open, and returns its connection.
    pub(super) fn decide(&self, verdict: RequestState) -> Option<Connection> {
        let mut state = lock(&self.state);
        if state.0 != RequestState::Open {
            return None;
        }
        state.0 = verdict;
        let connection = state.1.take();
        drop(state);
        self.decided.notify_all();
        connection
    }

    /// Blocks until there is a verdict. After the deadline the verdict is `Withdrawn`.
    pub(super) fn wait(&self, deadline: Deadline) -> RequestState {
        let mut state = lock(&self.state);
        loop {
            if state.0 != RequestState::Open {
                return state.0.clone();
            }
            if deadline.has_passed() {
                drop(state);
                self.decide(RequestState::Withdrawn);
                state = lock(&self.state);
            } else {
                state = sleep(&self.decided, state, deadline);
            }
        }
    }
}

/// Blocks until a notification, the deadline, or a spurious wake-up.
fn sleep<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Deadline,
) -> MutexGuard<'a, T> {
    match deadline.left() {
        None => unpoisoned(condition.wait(guard)),
        Some(left) => unpoisoned(condition.wait_timeout(guard, left)).0,
    }
}
