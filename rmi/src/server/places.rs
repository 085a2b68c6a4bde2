//! Places of the open connections of a server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::lock;

/// Counters of the open connections and of the refused ones.
#[derive(Debug, Default)]
pub(crate) struct Places {
    taken: AtomicUsize,
    refused: AtomicU64,
    /// Connections of each source that has any.
    sources: Mutex<HashMap<String, usize>>,
}

/// The place of one connection. Dropping it releases the place.
#[derive(Debug)]
pub(crate) struct Place(Arc<Places>);

/// The place of one connection among those of its source. Dropping it releases the place.
#[derive(Debug)]
pub(crate) struct PlaceOfSource {
    places: Arc<Places>,
    source: String,
}

impl Places {
    /// Takes a place for a connection if fewer than `most` are taken.
    pub(crate) fn take(self: &Arc<Self>, most: usize) -> Option<Place> {
        let more = |taken: usize| (taken < most).then(|| taken.wrapping_add(1));
        let took = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        took.is_ok().then(|| Place(self.clone()))
    }

    /// Takes a place for a connection of a source if fewer than `most` of its places are taken.
    pub(crate) fn take_of_source(
        self: &Arc<Self>,
        source: String,
        most: usize,
    ) -> Option<PlaceOfSource> {
        let mut sources = lock(&self.sources);
        let taken = sources.get(&source).copied().unwrap_or(0);
        if taken >= most {
            return None;
        }
        sources.insert(source.clone(), taken.saturating_add(1));
        Some(PlaceOfSource {
            places: self.clone(),
            source,
        })
    }

    /// Counts a connection that was refused or evicted during the handshake.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of open connections.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns the number of refused connections.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for PlaceOfSource {
    fn drop(&mut self) {
        let mut sources = lock(&self.places.sources);
        match sources.get_mut(&self.source) {
            Some(taken) if *taken > 1 => *taken = taken.saturating_sub(1),
            _ => drop(sources.remove(&self.source)),
        }
    }
}
