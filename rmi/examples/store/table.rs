//! A table of keys and values that reports its changes.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use jstream::Transportable;
use jstream_rmi::{Sender, Stream, remote};

/// Maximum number of changes that may be queued for a watcher.
const BEHIND: usize = 1024;

#[derive(Transportable, Clone)]
pub(crate) struct Change {
    pub(crate) key: String,
    /// The new value. `None` if the key was removed.
    pub(crate) value: Option<String>,
}

#[remote]
pub(crate) trait Table {
    fn put(&self, key: &str, value: &str);
    fn get(&self, key: &str) -> Option<String>;
    fn remove(&self, key: &str) -> bool;

    /// Returns the current entries whose keys have this prefix, followed by their changes.
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
    /// Sends a change to the watchers of the key. Removes watchers that are gone or too far behind,
    /// which ends their streams.
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

/// Sends a change. Returns false if there is no room for it or the watcher is gone.
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
            // The queue has room for all of them.
            let _ = sender.send(change).wait();
        }
        state.watchers.push((prefix.to_owned(), sender));
        stream
    }
}
