//! Where a ring is watched for those who wait for its sockets.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;

use crate::device::connection::Interest;
use crate::endpoint::watcher::{Watch, Watcher};

/// The watchers that tell of a ring: one registration in each, however many sockets are waited for.
#[derive(Default)]
pub(super) struct Places(Vec<Place>);

struct Place {
    watcher: Arc<Watcher>,
    watch: Option<Watch>,
    /// How many of those who wait rely on it.
    relying: usize,
}

impl Places {
    /// Somebody relies on `watcher`, which calls `bell` when `ring` has something. What it is known by.
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
            // Those that nobody relies on any more make way here, so that there are not many.
            self.0.retain(|place| place.relying > 0);
            self.0.push(Place {
                watcher: watcher.clone(),
                watch: None,
                relying: 0,
            });
            self.0.len().saturating_sub(1)
        });
        if let Some(place) = self.0.get_mut(known) {
            watcher.watch(&mut place.watch, ring, Interest::Readable, bell)?;
            place.relying = place.relying.saturating_add(1);
        }
        Ok(address_of(watcher))
    }

    /// One who did relies on it no longer.
    pub(super) fn leave(&mut self, at: usize) {
        let place = self
            .0
            .iter_mut()
            .find(|place| address_of(&place.watcher) == at);
        if let Some(place) = place {
            place.relying = place.relying.saturating_sub(1);
        }
    }

    /// Has all that are relied on tell again, and forgets the others. False where the system has no room
    /// for one.
    pub(super) fn watch_again(&mut self, ring: BorrowedFd<'_>, bell: &Waker) -> bool {
        let mut all = true;
        self.0.retain_mut(|place| {
            let relied_on = place.relying > 0;
            if relied_on {
                let watch = &mut place.watch;
                let watched = place.watcher.watch(watch, ring, Interest::Readable, bell);
                all &= watched.is_ok();
            }
            relied_on
        });
        all
    }
}

/// By which a watcher is known as long as it is in use.
fn address_of(watcher: &Arc<Watcher>) -> usize {
    Arc::as_ptr(watcher).addr()
}
