//! Who listens under which name in this process, and who waits there to be accepted.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::bell::{new_event, prepare, signal, silence};
use crate::device::connection::Connection;
use crate::device::deadline::Deadline;
use crate::options::Options;

/// How many connections wait at a listener until it accepts them; further ones wait outside. Answers
/// the threat of connecting without end to somebody who does not accept.
const MAX_WAITING: usize = 128;

static NAMES: Mutex<BTreeMap<String, Arc<Backlog>>> = Mutex::new(BTreeMap::new());

/// Those who wait to be accepted at a name.
pub(super) struct Backlog {
    name: String,
    options: Options,
    state: Mutex<State>,
    changed: Condvar,
    /// Readable while somebody waits, and once it was closed.
    event: OwnedFd,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Arc<Request>>,
    closed: bool,
}

/// Why somebody does not wait at a listener.
pub(super) enum Unqueued {
    /// Too many wait.
    Full,
    Closed,
}

impl Backlog {
    /// Takes the name; `None` when it is taken.
    pub(super) fn register(name: &str, options: Options) -> rustix::io::Result<Option<Arc<Self>>> {
        prepare()?;
        let event = new_event(0)?;
        let mut names = lock(&NAMES);
        if names.contains_key(name) {
            return Ok(None);
        }
        let backlog = Arc::new(Self {
            name: name.into(),
            options,
            state: Mutex::default(),
            changed: Condvar::new(),
            event,
        });
        names.insert(name.into(), backlog.clone());
        Ok(Some(backlog))
    }

    /// Whoever has the name.
    pub(super) fn of(name: &str) -> Option<Arc<Self>> {
        lock(&NAMES).get(name).cloned()
    }

    /// How the listener's connections receive.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    pub(super) fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// Waits to be accepted.
    pub(super) fn push(&self, request: &Arc<Request>, deadline: Deadline) -> Result<(), Unqueued> {
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return Err(Unqueued::Closed);
            }
            if state.waiting.len() < MAX_WAITING {
                if state.waiting.is_empty() {
                    signal(self.event());
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

    /// Who has waited longest; `None` within when nobody waits, and without when the listener was
    /// closed.
    pub(super) fn pop(&self) -> Option<Option<Arc<Request>>> {
        let mut state = lock(&self.state);
        if state.closed {
            return None;
        }
        let request = state.waiting.pop_front();
        self.popped(&state);
        Some(request)
    }

    /// Lets somebody go who waits no longer.
    pub(super) fn forget(&self, request: &Arc<Request>) {
        let mut state = lock(&self.state);
        state.waiting.retain(|other| !Arc::ptr_eq(other, request));
        self.popped(&state);
    }

    fn popped(&self, state: &State) {
        if state.waiting.is_empty() && !state.closed {
            silence(self.event());
        }
        self.changed.notify_all();
    }

    /// Frees the name, and tells those whom nobody accepted.
    pub(super) fn close(&self) {
        let mut names = lock(&NAMES);
        // Somebody else may have the name by now.
        if names
            .get(&self.name)
            .is_some_and(|holder| std::ptr::eq(Arc::as_ptr(holder), self))
        {
            names.remove(&self.name);
        }
        drop(names);
        let mut state = lock(&self.state);
        state.closed = true;
        signal(self.event());
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.changed.notify_all();
        for request in waiting {
            request.decide(Verdict::Unheard);
        }
    }
}

/// Somebody who wants to be accepted.
pub(super) struct Request {
    state: Mutex<(Verdict, Option<Connection>)>,
    decided: Condvar,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Open,
    Established,
    /// Why.
    Refused(String),
    /// The listener was closed before it accepted.
    Unheard,
    /// It was accepted, and then dropped.
    Dropped,
    /// It has waited long enough.
    Withdrawn,
}

impl Request {
    /// Offers the listener's side of a connection.
    pub(super) fn new(connection: Connection) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new((Verdict::Open, Some(connection))),
            decided: Condvar::new(),
        })
    }

    /// Says what becomes of it, if that is open; gives its connection to who decides that it is
    /// established.
    pub(super) fn decide(&self, verdict: Verdict) -> Option<Connection> {
        let mut state = lock(&self.state);
        if state.0 != Verdict::Open {
            return None;
        }
        state.0 = verdict;
        let connection = state.1.take();
        drop(state);
        self.decided.notify_all();
        connection
    }

    /// Waits for the verdict, which is `Withdrawn` after the deadline.
    pub(super) fn wait(&self, deadline: Deadline) -> Verdict {
        let mut state = lock(&self.state);
        loop {
            if state.0 != Verdict::Open {
                return state.0.clone();
            }
            if deadline.has_passed() {
                drop(state);
                self.decide(Verdict::Withdrawn);
                state = lock(&self.state);
            } else {
                state = sleep(&self.decided, state, deadline);
            }
        }
    }
}

/// Sleeps until it is woken or the deadline has passed, whichever is first, or without a reason.
fn sleep<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Deadline,
) -> MutexGuard<'a, T> {
    match deadline.left() {
        None => condition
            .wait(guard)
            .unwrap_or_else(PoisonError::into_inner),
        Some(left) => {
            condition
                .wait_timeout(guard, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0
        }
    }
}

/// A panic elsewhere can't leave what is locked half changed: it holds between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
