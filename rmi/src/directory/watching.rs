//! The bounded queue of each watcher of a registry. The initial list of names is read
//! incrementally, without a copy.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::task::{Poll, Waker};

use jstream_sync::callbacks;

use crate::directory::protocol::{Change, Event};

/// A watcher of a registry.
#[derive(Default)]
pub(super) struct Watcher {
    /// Position in the initial list of names. Changes of later names are not queued, because the
    /// list will show them.
    scan: Scan,
    changes: VecDeque<Change>,
    /// Size of the queued changes in bytes.
    bytes: usize,
    /// The connection of the watcher. `None` if it is in this program.
    owner: Option<usize>,
    lag: Lag,
    waker: Option<Waker>,
}

/// State of a watcher that may be too slow.
#[derive(Default, PartialEq, Eq)]
enum Lag {
    #[default]
    None,
    /// The watcher has missed changes, and was not informed yet.
    Missed,
    /// The watcher was informed. Its stream has ended.
    Told,
}

#[derive(Default)]
enum Scan {
    #[default]
    Begins,
    Behind(String),
    Done,
}

impl Watcher {
    /// Creates a watcher of this connection.
    pub(super) fn new(owner: Option<usize>) -> Self {
        Self {
            owner,
            ..Self::default()
        }
    }

    pub(super) fn owner(&self) -> Option<usize> {
        self.owner
    }

    /// Queues a change. Returns the waker, which the caller wakes after releasing the lock.
    pub(super) fn queue(&mut self, change: &Change, most: usize) -> Option<Waker> {
        let is_ahead = match &self.scan {
            Scan::Begins => true,
            Scan::Behind(name) => change.name > *name,
            Scan::Done => false,
        };
        // A watcher that has missed changes gets no more of them: it has to watch again.
        if is_ahead || self.lag != Lag::None {
            return None;
        }
        if self.changes.len() >= most {
            return self.miss();
        }
        self.bytes = self.bytes.saturating_add(size(change));
        self.changes.push_back(change.clone());
        self.waker.take()
    }

    /// Returns the size of the queued changes in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops the queued changes: the watcher receives [`Event::Missed`] next. Returns the waker,
    /// which the caller wakes after releasing the lock.
    pub(super) fn miss(&mut self) -> Option<Waker> {
        self.lag = Lag::Missed;
        // A new queue, because clearing would keep the memory of the old one.
        self.changes = VecDeque::new();
        self.bytes = 0;
        self.waker.take()
    }

    /// Polls for the next change. Returns `None` at the end.
    pub(super) fn poll<T>(
        &mut self,
        names: &BTreeMap<String, T>,
        bound: impl Fn(&T) -> Change,
        waker: &Waker,
    ) -> Poll<Option<Change>> {
        match self.lag {
            Lag::None => {}
            Lag::Missed => {
                self.lag = Lag::Told;
                return Poll::Ready(Some(nameless(Event::Missed)));
            }
            Lag::Told => return Poll::Ready(None),
        }
        // Changes of names that the list has shown come before the rest of the list.
        if let Some(change) = self.changes.pop_front() {
            self.bytes = self.bytes.saturating_sub(size(&change));
            return Poll::Ready(Some(change));
        }
        let next = match &self.scan {
            Scan::Begins => names.iter().next(),
            Scan::Behind(name) => names
                .range::<str, _>((Excluded(name.as_str()), Unbounded))
                .next(),
            Scan::Done => None,
        };
        if let Some((name, kept)) = next {
            self.scan = Scan::Behind(name.clone());
            return Poll::Ready(Some(bound(kept)));
        }
        if !matches!(self.scan, Scan::Done) {
            self.scan = Scan::Done;
            return Poll::Ready(Some(nameless(Event::Complete)));
        }
        // The replaced waker is code of the program, and this runs under the lock of the names.
        callbacks::discard(self.waker.replace(waker.clone()));
        Poll::Pending
    }
}

/// Returns the number of bytes for which a change counts.
fn size(change: &Change) -> usize {
    let texts = change.name.len().saturating_add(change.interface.len());
    size_of::<Change>().saturating_add(texts)
}

/// Returns the only event of a watcher that is refused.
pub(super) fn refused(reason: String) -> Change {
    Change {
        name: reason,
        ..nameless(Event::Refused)
    }
}

fn nameless(event: Event) -> Change {
    Change {
        event,
        name: String::new(),
        interface: String::new(),
        id: 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    fn change(event: Event, name: &str) -> Change {
        Change {
            event,
            name: name.to_owned(),
            interface: "A".to_owned(),
            id: 1,
        }
    }

    const COMPLETE: Poll<Option<(Event, String)>> =
        Poll::Ready(Some((Event::Complete, String::new())));

    fn poll(watcher: &mut Watcher, names: &BTreeMap<String, ()>) -> Poll<Option<(Event, String)>> {
        let waker = Waker::noop();
        let next = watcher.poll(names, |()| change(Event::Bound, "bound"), waker);
        next.map(|next| next.map(|next| (next.event, next.name)))
    }

    #[test]
    fn no_change_is_told_twice() {
        let mut names: BTreeMap<String, ()> = ["b", "d"].map(|name| (name.to_owned(), ())).into();
        let mut watcher = Watcher::default();
        let bound = Poll::Ready(Some((Event::Bound, "bound".to_owned())));
        // The change is not queued, because the initial list will show it.
        watcher.queue(&change(Event::Bound, "d"), 9);
        assert_eq!(poll(&mut watcher, &names), bound);
        names.insert("c".to_owned(), ());
        watcher.queue(&change(Event::Bound, "c"), 9);
        names.remove("b");
        watcher.queue(&change(Event::Unbound, "b"), 9);
        let unbound = Poll::Ready(Some((Event::Unbound, "b".to_owned())));
        assert_eq!(poll(&mut watcher, &names), unbound);
        assert_eq!(poll(&mut watcher, &names), bound);
        assert_eq!(poll(&mut watcher, &names), bound);
        assert_eq!(poll(&mut watcher, &names), COMPLETE);
        assert!(poll(&mut watcher, &names).is_pending());
        assert!(watcher.queue(&change(Event::Bound, "a"), 9).is_some());
        let told = Poll::Ready(Some((Event::Bound, "a".to_owned())));
        assert_eq!(poll(&mut watcher, &names), told);
    }

    #[test]
    fn a_lagging_watcher_learns_only_that() {
        let names = BTreeMap::new();
        let mut watcher = Watcher::default();
        assert_eq!(poll(&mut watcher, &names), COMPLETE);
        assert!(poll(&mut watcher, &names).is_pending());
        for _ in 0..4 {
            watcher.queue(&change(Event::Bound, "a"), 3);
        }
        assert!(watcher.changes.is_empty());
        let missed = Poll::Ready(Some((Event::Missed, String::new())));
        assert_eq!(poll(&mut watcher, &names), missed);
        watcher.queue(&change(Event::Bound, "a"), 3);
        assert_eq!(poll(&mut watcher, &names), Poll::Ready(None));
    }
}
