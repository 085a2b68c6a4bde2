//! A table of keys and values that tells what changes.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use jstream::Transportable;
use jstream_rmi::{Sender, Stream, remote};

/// How many changes a watcher may be behind.
const BEHIND: usize = 1024;

#[derive(Transportable, Clone)]
pub(crate) struct Change {
    pub(crate) key: String,
    /// None where it was removed.
    pub(crate) value: Option<String>,
}

#[remote]
pub(crate) trait Table {
    fn put(&self, key: &str, value: &str);
    fn get(&self, key: &str) -> Option<String>;
    fn remove(&self, key: &str) -> bool;

    /// What keys with this beginning are, and what they become.
    fn watch(&self, prefix: &str) -> Stream<Change>;
}

#[derive(Default)]
pub(crate) struct Memory(Mutex<State>);

#[derive(Default)]
struct State {
    values: BTreeMap<String, String>,
    watchers: Vec<(String, Sender<Change>)>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Tells those who watch a key, and forgets who is gone, or too far behind: their streams end.
    fn tell(&mut self, key: &str, value: Option<&str>) {
        self.watchers.retain(|(prefix, sender)| {
            let change = Change {
                key: key.to_owned(),
                value: value.map(str::to_owned),
            };
            !key.starts_with(prefix) || is_taken(sender, change)
        });
    }
}

/// Sends a change, if there is room for it.
fn is_taken(sender: &Sender<Change>, change: Change) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    let sent = pin!(sender.send(change)).poll(&mut context);
    matches!(sent, Poll::Ready(Ok(())))
}

impl Table for Memory {
    fn put(&self, key: &str, value: &str) {
        let mut state = self.lock();
        state.values.insert(key.to_owned(), value.to_owned());
        state.tell(key, Some(value));
    }

    fn get(&self, key: &str) -> Option<String> {
        self.lock().values.get(key).cloned()
    }

    fn remove(&self, key: &str) -> bool {
        let mut state = self.lock();
        let removed = state.values.remove(key).is_some();
        if removed {
            state.tell(key, None);
        }
        removed
    }

    fn watch(&self, prefix: &str) -> Stream<Change> {
        let mut state = self.lock();
        let all = state.values.range(prefix.to_owned()..);
        let all: Vec<Change> = all
            .take_while(|(key, _)| key.starts_with(prefix))
            .map(|(key, value)| Change {
                key: key.clone(),
                value: Some(value.clone()),
            })
            .collect();
        let (sender, stream) = jstream_rmi::stream(BEHIND.max(all.len()));
        for change in all {
            // There is room for them.
            let _ = sender.send(change).wait();
        }
        state.watchers.push((prefix.to_owned(), sender));
        stream
    }
}
