//! Places of the open connections of a server.
//!
//! Decision 113 has the reasons.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::server::options::ServerOptions;
use crate::support::lock;

/// A source may have this many times as many connections as there are free places.
const SHARE: usize = 8;

/// Counters of the open connections and of the refused ones.
#[derive(Default)]
pub(crate) struct Places {
    taken: Mutex<Taken>,
    refused: Arc<AtomicU64>,
    /// Listeners whose connections have places.
    listeners: Mutex<Vec<Weak<dyn HoldsPlaces>>>,
}

/// A listener whose connections have places.
pub(crate) trait HoldsPlaces: Send + Sync {
    /// Returns the number of a connection that may be closed for another one, of `source` if that
    /// is given.
    fn idle(&self, source: Option<&str>) -> Option<u64>;

    /// Closes a connection, and frees its place at once.
    fn close(&self, number: u64);
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// Connections of each source that has any.
    sources: HashMap<String, usize>,
}

/// Limits of [`ServerOptions`] for open connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlaceLimits {
    all: usize,
    source: usize,
}

impl PlaceLimits {
    pub(crate) fn from_options(options: &ServerOptions) -> Self {
        Self {
            all: options.max_connections,
            source: options.max_connections_per_source,
        }
    }
}

/// The place of one connection. Dropping it releases the place.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    source: String,
}

/// The reason why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// All places are taken.
    Full(usize),
    /// The source has its share of the places.
    Share(usize),
    /// The source has as many connections as the options allow.
    Source(usize),
}

impl Places {
    /// Takes a place for a connection of a source.
    pub(crate) fn allocate(
        self: &Arc<Self>,
        source: &str,
        limits: PlaceLimits,
    ) -> Result<Place, NoPlace> {
        let mut taken = lock(&self.taken);
        // Checked and taken under one lock. The earlier check of a newcomer may be outdated.
        taken.check(source, limits)?;
        taken.all = taken.all.saturating_add(1);
        let of_source = taken.sources.entry(source.to_owned()).or_default();
        *of_source = of_source.saturating_add(1);
        Ok(Place {
            places: self.clone(),
            source: source.to_owned(),
        })
    }

    /// Checks whether there is a place for a connection of a source.
    pub(crate) fn check(&self, source: &str, limits: PlaceLimits) -> Result<(), NoPlace> {
        lock(&self.taken).check(source, limits)
    }

    /// Adds a listener.
    pub(crate) fn add(&self, listener: Weak<dyn HoldsPlaces>) {
        let mut listeners = lock(&self.listeners);
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(listener);
    }

    /// Returns a connection that may be closed for one of `source`, which got no place for this
    /// reason, and its listener.
    pub(crate) fn idle(
        &self,
        source: &str,
        reason: NoPlace,
    ) -> Option<(Arc<dyn HoldsPlaces>, u64)> {
        let source = match reason {
            NoPlace::Full(_) => None,
            NoPlace::Share(_) => Some(source),
            // The options say that connections beyond this limit are refused, whatever the others
            // do.
            NoPlace::Source(_) => return None,
        };
        let listeners = lock(&self.listeners);
        let all: Vec<_> = listeners.iter().filter_map(Weak::upgrade).collect();
        // Their locks are not taken under this one.
        drop(listeners);
        let mut all = all.into_iter();
        all.find_map(|listener| listener.idle(source).map(|number| (listener, number)))
    }

    /// Counts a connection that was refused.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counter of refused connections.
    pub(crate) fn refusals(&self) -> &Arc<AtomicU64> {
        &self.refused
    }

    /// Returns the number of open connections.
    pub(crate) fn taken(&self) -> usize {
        lock(&self.taken).all
    }

    /// Returns the number of refused connections.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Taken {
    fn check(&self, source: &str, limits: PlaceLimits) -> Result<(), NoPlace> {
        let of_source = self.sources.get(source).copied().unwrap_or(0);
        if of_source >= limits.source {
            return Err(NoPlace::Source(limits.source));
        }
        let free = limits.all.saturating_sub(self.all);
        if free == 0 {
            return Err(NoPlace::Full(limits.all));
        }
        // With few free places, a source that has many connections gets no more, so that others
        // find one.
        if of_source > free.saturating_mul(SHARE) {
            return Err(NoPlace::Share(of_source));
        }
        Ok(())
    }
}

impl Place {
    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places")
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.places.taken);
        taken.all = taken.all.saturating_sub(1);
        match taken.sources.get_mut(&self.source) {
            Some(of_source) if *of_source > 1 => *of_source = of_source.saturating_sub(1),
            // An entry for each address that has ever connected would let strangers fill the table.
            _ => drop(taken.sources.remove(&self.source)),
        }
    }
}

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(most) => write!(
                f,
                "too many connections: the limit is {most} (ServerOptions::max_connections)"
            ),
            Self::Share(count) => write!(
                f,
                "too many connections from the same source: it has {count}, which leaves few places \
                 to others (ServerOptions::max_connections)"
            ),
            Self::Source(most) => write!(
                f,
                "too many connections from the same source: the limit is {most} \
                 (ServerOptions::max_connections_per_source)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes as many places as possible for a source.
    fn fill(places: &Arc<Places>, source: &str, all: usize) -> Vec<Place> {
        let limits = PlaceLimits {
            all,
            source: usize::MAX,
        };
        std::iter::from_fn(|| places.allocate(source, limits).ok()).collect()
    }

    #[test]
    fn one_source_leaves_places_to_others() {
        let places = Arc::new(Places::default());
        let first = fill(&places, "a", 256);
        let second = fill(&places, "b", 256);
        let third = fill(&places, "c", 256);
        assert_eq!((first.len(), second.len(), third.len()), (228, 25, 3));
        assert_eq!(places.taken(), 256);
        drop(first);
        assert_eq!(places.taken(), 28);
        drop((second, third));
        assert!(lock(&places.taken).sources.is_empty());
        // The last place of a few is not kept for others.
        for (all, one) in [(0, 0), (1, 1), (2, 2), (9, 9), (10, 9), (100, 89)] {
            assert_eq!(fill(&places, "a", all).len(), one);
        }
    }

    #[test]
    fn who_gets_no_place_learns_why() {
        let places = Arc::new(Places::default());
        let limits = PlaceLimits { all: 10, source: 9 };
        let many: Vec<_> = (0..9)
            .map(|_| places.allocate("a", limits).unwrap())
            .collect();
        assert_eq!(places.check("a", limits), Err(NoPlace::Source(9)));
        let limits = PlaceLimits {
            all: 10,
            source: 10,
        };
        assert_eq!(places.check("a", limits), Err(NoPlace::Share(9)));
        assert_eq!(places.check("b", limits), Ok(()));
        let last = places.allocate("b", limits).unwrap();
        assert_eq!(places.check("c", limits), Err(NoPlace::Full(10)));
        drop((many, last));
        assert_eq!(places.check("c", limits), Ok(()));
    }
}
