//! Registrations of a ring with watchers, which wake its threads and tasks.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;

use jstream_sync::watcher::Interest;
use jstream_sync::watcher::{Watch, Watcher};

/// Watchers that watch a ring. Each has one registration, regardless of how many sockets are waited
/// for.
#[derive(Default)]
pub(super) struct WatcherPlaces(Vec<WatcherPlace>);

struct WatcherPlace {
    watcher: Arc<Watcher>,
    registration: Option<Watch>,
    /// Number of waiting receivers that rely on this registration.
    relying: usize,
}

impl WatcherPlaces {
    /// Adds a receiver that relies on `watcher`, which calls `bell` when `ring` becomes readable.
    /// Returns the key of the registration.
    pub(super) fn rely(
        &mut self,
        watcher: &Arc<Watcher>,
        ring: BorrowedFd<'_>,
        bell: &Waker,
    ) -> io::Result<usize> {
        let known = self
            .0
            .iter()
            .position(|place| Arc::ptr_eq(&place.watcher, watcher));
        let known = known.unwrap_or_else(|| {
            // Unused registrations are removed here, which keeps their number small.
            self.0.retain(|place| place.relying > 0);
            self.0.push(WatcherPlace {
                watcher: watcher.clone(),
                registration: None,
                relying: 0,
            });
            self.0.len().saturating_sub(1)
        });
        if let Some(place) = self.0.get_mut(known) {
            watcher.watch(&mut place.registration, ring, Interest::Readable, bell)?;
            place.relying = place.relying.saturating_add(1);
        }
        Ok(address_of(watcher))
    }

    /// Removes a receiver that relied on the registration with the key `at`.
    pub(super) fn release(&mut self, at: usize) {
        let place = self
            .0
            .iter_mut()
            .find(|place| address_of(&place.watcher) == at);
        if let Some(place) = place {
            place.relying = place.relying.saturating_sub(1);
        }
    }

    /// Renews the registrations that receivers rely on, and removes the others. Returns false if
    /// one of them failed.
    pub(super) fn renew(&mut self, ring: BorrowedFd<'_>, bell: &Waker) -> bool {
        let mut all = true;
        self.0.retain_mut(|place| {
            let relied_on = place.relying > 0;
            if relied_on {
                let registration = &mut place.registration;
                let watched = place
                    .watcher
                    .watch(registration, ring, Interest::Readable, bell);
                all &= watched.is_ok();
            }
            relied_on
        });
        all
    }
}

/// Returns the key of a watcher, which is unique while the watcher is in use.
fn address_of(watcher: &Arc<Watcher>) -> usize {
    Arc::as_ptr(watcher).addr()
}
