//! Greeters: connections whose handshake is not complete. This module limits their number and
//! selects the one to evict.
//!
//! If the limit is reached, the oldest greeter of the source that has the most greeters is evicted:
//! its socket is shut down, which ends the thread that performs the handshake. So peers that
//! connect and stay silent lose their own places, and new peers are served.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use jstream_base::Address;
use jstream_endpoint::Cutter;

use crate::server::options::ServerOptions;
use crate::server::places::{Place, Places};
use jstream_sync::lock;

/// Minimum time before a greeter is evicted, so that honest peers that connect at the same time do
/// not evict each other. New connections wait up to this long to be accepted.
const GRACE: Duration = Duration::from_millis(100);

/// Limits of [`ServerOptions`] for connections in the handshake.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    connections: usize,
    greeting: usize,
    source: usize,
}

impl Limits {
    pub(super) fn of(options: &ServerOptions) -> Self {
        Self {
            connections: options.max_connections,
            greeting: options.max_greeting,
            source: options.max_greeting_per_source,
        }
    }
}

/// All greeters of a server.
#[derive(Debug, Default)]
pub(super) struct Greeters {
    table: Mutex<GreeterTable>,
    /// Notified when a greeter has ended, or a listener is about to end.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GreeterTable {
    /// Greeters, oldest first.
    all: Vec<Greeter>,
    next: u64,
    /// Number of handshake threads, including those of evicted greeters.
    threads: usize,
}

#[derive(Debug)]
struct Greeter {
    number: u64,
    source: String,
    since: Instant,
    cutter: Option<Cutter>,
    place: Place,
}

/// Outcome of an attempt to enter a connection.
enum Answer {
    Entered(u64),
    /// The oldest evictable greeter is in its grace period until this time, or threads are about to
    /// end.
    Wait(Instant),
    Refused,
}

impl Greeters {
    /// Enters an accepted connection. If a limit is reached, the oldest greeter is evicted: of the
    /// same source if that source has reached its own limit, else of the source that has the most
    /// greeters. Returns `None` if there is no room, or
    /// if `stops` returns true during the wait.
    pub(super) fn enter(
        self: &Arc<Self>,
        places: &Arc<Places>,
        limits: Limits,
        source: &Address,
        cutter: Option<Cutter>,
        stops: impl Fn() -> bool,
    ) -> Option<Greeting> {
        let (source, mut cutter) = (source.source(), cutter);
        let mut table = lock(&self.table);
        loop {
            match table.enter(places, limits, &source, &mut cutter) {
                Answer::Entered(number) => {
                    let greeters = self.clone();
                    return Some(Greeting { greeters, number });
                }
                Answer::Refused => break,
                Answer::Wait(_) if stops() => break,
                Answer::Wait(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    let waited = self.changed.wait_timeout(table, left);
                    table = jstream_sync::unpoisoned(waited).0;
                }
            }
        }
        drop(table);
        places.refuse();
        None
    }

    /// Wakes the threads that wait in [`enter`](Self::enter).
    pub(super) fn call(&self) {
        drop(lock(&self.table));
        self.changed.notify_all();
    }
}

impl GreeterTable {
    fn enter(
        &mut self,
        places: &Arc<Places>,
        limits: Limits,
        source: &str,
        cutter: &mut Option<Cutter>,
    ) -> Answer {
        let now = Instant::now();
        loop {
            let of_source = |greeter: &&Greeter| greeter.source == source;
            let is_source_full = self.all.iter().filter(of_source).count() >= limits.source;
            let is_full = is_source_full || self.all.len() >= limits.greeting;
            if !is_full {
                // The threads of evicted greeters end soon, but not at once.
                if self.threads >= limits.greeting.saturating_mul(2) {
                    return Answer::Wait(now.checked_add(GRACE).unwrap_or(now));
                }
                if let Some(place) = places.take(limits.connections) {
                    return Answer::Entered(self.insert(source, now, cutter.take(), place));
                }
            }
            let from = if is_source_full {
                Some(source)
            } else {
                let evictable = self.all.iter().filter(|greeter| greeter.cutter.is_some());
                most_frequent(evictable.map(|greeter| greeter.source.as_str()))
            };
            let mut evictable = self.all.iter().filter(|greeter| {
                greeter.cutter.is_some() && Some(greeter.source.as_str()) == from
            });
            let Some((number, since)) =
                evictable.next().map(|oldest| (oldest.number, oldest.since))
            else {
                return Answer::Refused;
            };
            let until = since.checked_add(GRACE).unwrap_or(now);
            if until > now {
                return Answer::Wait(until);
            }
            self.evict(number, places);
        }
    }

    fn insert(
        &mut self,
        source: &str,
        since: Instant,
        cutter: Option<Cutter>,
        place: Place,
    ) -> u64 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.threads = self.threads.saturating_add(1);
        self.all.push(Greeter {
            number,
            source: source.to_owned(),
            since,
            cutter,
            place,
        });
        number
    }

    /// Removes a greeter. There are at most as many as may be in the handshake.
    fn remove(&mut self, number: u64) -> Option<Greeter> {
        let place = self.all.iter().position(|of| of.number == number)?;
        Some(self.all.remove(place))
    }

    fn evict(&mut self, number: u64, places: &Places) {
        if let Some(Greeter { cutter, .. }) = self.remove(number) {
            if let Some(cutter) = cutter {
                cutter.cut();
            }
            places.refuse();
        }
    }
}

/// The place of a connection in the handshake. Held by the thread that performs the handshake.
#[derive(Debug)]
pub(super) struct Greeting {
    greeters: Arc<Greeters>,
    number: u64,
}

impl Greeting {
    /// Ends the handshake and returns the place among the connections, or `None` if the greeter was
    /// evicted.
    pub(super) fn finish(self) -> Option<Place> {
        let greeter = lock(&self.greeters.table).remove(self.number)?;
        Some(greeter.place)
    }
}

impl Drop for Greeting {
    fn drop(&mut self) {
        let mut table = lock(&self.greeters.table);
        table.threads = table.threads.saturating_sub(1);
        let greeter = table.remove(self.number);
        drop(table);
        drop(greeter);
        self.greeters.changed.notify_all();
    }
}

/// Returns the source that occurs most often; of several, the one that occurs first.
fn most_frequent<'s>(sources: impl Iterator<Item = &'s str>) -> Option<&'s str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for source in sources {
        match counts.iter_mut().find(|(of, _)| *of == source) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => counts.push((source, 1)),
        }
    }
    // `max_by_key` returns the last maximum.
    let largest = counts.iter().rev().max_by_key(|(_, count)| *count);
    largest.map(|(source, _)| *source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_with_most_greeters_loses_one() {
        assert_eq!(most_frequent(["a", "b", "b", "c"].into_iter()), Some("b"));
        assert_eq!(most_frequent(["a", "b", "b", "a"].into_iter()), Some("a"));
        assert_eq!(most_frequent([].into_iter()), None);
    }
}
