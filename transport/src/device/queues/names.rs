//! Who listens under which name in this process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::channel::{Refusal, sleep};
use crate::device::deadline::Deadline;
use crate::device::link::{Close, Link};
use crate::options::Options;

/// How many links wait at a listener until it accepts them; further ones wait outside. Answers
/// the threat of connecting without end to somebody who does not accept.
const MAX_WAITING: usize = 128;

static NAMES: Mutex<BTreeMap<String, Arc<Backlog>>> = Mutex::new(BTreeMap::new());

/// The links that wait to be accepted at a name.
pub(super) struct Backlog {
    name: String,
    options: Options,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Link>,
    closed: bool,
}

impl Backlog {
    /// Takes the name; `None` when it is taken.
    pub(super) fn register(name: &str, options: Options) -> Option<Arc<Self>> {
        let mut names = lock(&NAMES);
        if names.contains_key(name) {
            return None;
        }
        let backlog = Arc::new(Self {
            name: name.into(),
            options,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        names.insert(name.into(), backlog.clone());
        Some(backlog)
    }

    /// Whoever has the name.
    pub(super) fn of(name: &str) -> Option<Arc<Self>> {
        lock(&NAMES).get(name).cloned()
    }

    /// How the listener's links receive.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Queues a link to be accepted.
    pub(super) fn push(&self, link: Link, timeout: Duration) -> Result<(), Refusal> {
        let deadline = Deadline::after(timeout);
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return Err(Refusal::Gone);
            }
            if state.waiting.len() < MAX_WAITING {
                state.waiting.push_back(link);
                self.changed.notify_all();
                return Ok(());
            }
            if deadline.has_passed() {
                return Err(Refusal::Full);
            }
            state = sleep(&self.changed, state, deadline);
        }
    }

    /// Waits for the next link; `None` when the listener was closed.
    pub(super) fn pop(&self) -> Option<Link> {
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return None;
            }
            if let Some(link) = state.waiting.pop_front() {
                self.changed.notify_all();
                return Some(link);
            }
            state = sleep(&self.changed, state, Deadline::NEVER);
        }
    }
}

impl Close for Backlog {
    /// Frees the name, and ends the links that nobody accepted.
    fn close(&self) {
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
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.changed.notify_all();
        drop(waiting);
    }
}

/// A panic elsewhere can't leave what is locked half changed: it holds between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
