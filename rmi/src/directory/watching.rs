//! What those who watch a registry have not yet been told: bounded, and without a list of all names for each.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::task::{Poll, Waker};

use super::{Change, Event};

/// One who watches.
#[derive(Default)]
pub(super) struct Watcher {
    /// Up to which name it was told what is bound; what happens behind that it sees when it gets there.
    scan: Scan,
    changes: VecDeque<Change>,
    /// The bytes of these.
    bytes: usize,
    /// The connection that watches; none where that is this program.
    owner: Option<usize>,
    lag: Lag,
    waker: Option<Waker>,
}

/// Whether it takes what it is told.
#[derive(Default, PartialEq, Eq)]
enum Lag {
    #[default]
    None,
    /// It has missed something, and is to know.
    Missed,
    /// It knows, and that was all.
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
    /// One of that connection.
    pub(super) fn of(owner: Option<usize>) -> Self {
        Self {
            owner,
            ..Self::default()
        }
    }

    pub(super) fn owner(&self) -> Option<usize> {
        self.owner
    }

    /// Something has happened. Whom to wake, without a lock.
    pub(super) fn note(&mut self, change: &Change, most: usize) -> Option<Waker> {
        let is_ahead = match &self.scan {
            Scan::Begins => true,
            Scan::Behind(name) => change.name > *name,
            Scan::Done => false,
        };
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

    /// The bytes of the changes that wait for it.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets what waits for it: it is told that it has missed something. Whom to wake, without a lock.
    pub(super) fn miss(&mut self) -> Option<Waker> {
        self.lag = Lag::Missed;
        self.changes = VecDeque::new();
        self.bytes = 0;
        self.waker.take()
    }

    /// What it is told next: `None` when that was all.
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
        self.waker = Some(waker.clone());
        Poll::Pending
    }
}

/// The bytes that a change counts.
fn size(change: &Change) -> usize {
    let texts = change.name.len().saturating_add(change.interface.len());
    size_of::<Change>().saturating_add(texts)
}

/// What one is told who may not watch.
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
    fn each_change_is_told_once() {
        let mut names: BTreeMap<String, ()> = ["b", "d"].map(|name| (name.to_owned(), ())).into();
        let mut watcher = Watcher::default();
        let bound = Poll::Ready(Some((Event::Bound, "bound".to_owned())));
        // Not told what it will see.
        watcher.note(&change(Event::Bound, "d"), 9);
        assert_eq!(poll(&mut watcher, &names), bound);
        names.insert("c".to_owned(), ());
        watcher.note(&change(Event::Bound, "c"), 9);
        names.remove("b");
        watcher.note(&change(Event::Unbound, "b"), 9);
        let unbound = Poll::Ready(Some((Event::Unbound, "b".to_owned())));
        assert_eq!(poll(&mut watcher, &names), unbound);
        assert_eq!(poll(&mut watcher, &names), bound);
        assert_eq!(poll(&mut watcher, &names), bound);
        assert_eq!(poll(&mut watcher, &names), COMPLETE);
        assert!(poll(&mut watcher, &names).is_pending());
        assert!(watcher.note(&change(Event::Bound, "a"), 9).is_some());
        let told = Poll::Ready(Some((Event::Bound, "a".to_owned())));
        assert_eq!(poll(&mut watcher, &names), told);
    }

    #[test]
    fn who_lags_is_told_so_and_no_more() {
        let names = BTreeMap::new();
        let mut watcher = Watcher::default();
        assert_eq!(poll(&mut watcher, &names), COMPLETE);
        assert!(poll(&mut watcher, &names).is_pending());
        for _ in 0..4 {
            watcher.note(&change(Event::Bound, "a"), 3);
        }
        assert!(watcher.changes.is_empty());
        let missed = Poll::Ready(Some((Event::Missed, String::new())));
        assert_eq!(poll(&mut watcher, &names), missed);
        watcher.note(&change(Event::Bound, "a"), 3);
        assert_eq!(poll(&mut watcher, &names), Poll::Ready(None));
    }
}
