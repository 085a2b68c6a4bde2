//! Data that arrive at a node before it needs them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::node::TIMEOUT;
use crate::Failure;

/// Time for which a waiting node yields its core before it sleeps. The thread that serves it shares
/// the core, and a core that is awake runs this thread sooner than one that sleeps.
const YIELDING: Duration = Duration::from_millis(1);

/// Items that other nodes bring, by channel and phase.
///
/// A sender can be ahead of the receiver. Two nodes that exchange an item in each phase are at most
/// one phase apart, because each of them takes the item of a phase before it sends that of the next
/// one. In a ring of nodes, the distance grows with the length of the ring. So a channel keeps the
/// items of several phases, up to a limit, in the order in which they arrive. Calls of one phase
/// can overtake one another.
pub(super) struct Mailbox<T> {
    channels: Mutex<Vec<VecDeque<(u64, T)>>>,
    /// Maximum number of waiting items of a channel.
    limit: usize,
    arrived: Condvar,
}

impl<T> Mailbox<T> {
    /// Creates a mailbox, of whose channels each keeps at most `limit` items.
    pub(super) fn new(channels: usize, limit: usize) -> Self {
        Self {
            channels: Mutex::new((0..channels).map(|_| VecDeque::new()).collect()),
            limit,
            arrived: Condvar::new(),
        }
    }

    /// Stores an item. Returns false if there is no such channel, or if its limit is reached.
    pub(super) fn put(&self, channel: u64, phase: u64, item: T) -> bool {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        let channel = usize::try_from(channel).ok();
        let Some(waiting) = channel.and_then(|channel| channels.get_mut(channel)) else {
            return false;
        };
        if waiting.len() >= self.limit {
            return false;
        }
        waiting.push_back((phase, item));
        self.arrived.notify_all();
        true
    }

    /// Returns the item of a phase, and waits until it has arrived.
    ///
    /// # Errors
    ///
    /// Fails if there is no such channel, or if nothing arrives within [`TIMEOUT`].
    pub(super) fn take(&self, channel: usize, phase: u64) -> Result<T, Failure> {
        let begun = Instant::now();
        loop {
            let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
            let waiting = channels
                .get_mut(channel)
                .ok_or_else(|| format!("there is no channel {channel}"))?;
            let found = waiting.iter().position(|(of, _)| *of == phase);
            if let Some((_, item)) = found.and_then(|at| waiting.remove(at)) {
                return Ok(item);
            }
            let waited = begun.elapsed();
            if waited >= TIMEOUT {
                return Err(
                    format!("nothing arrived on channel {channel} for phase {phase}").into(),
                );
            }
            if waited < YIELDING {
                drop(channels);
                thread::yield_now();
            } else {
                // Whatever the reason for waking, the next round looks again.
                drop(self.arrived.wait_timeout(channels, TIMEOUT - waited));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_wait_for_their_phase() {
        let mailbox = Mailbox::new(2, 4);
        for (channel, phase) in [(1, 8), (0, 8), (1, 7)] {
            assert!(mailbox.put(channel, phase, (channel, phase)));
        }
        assert_eq!(mailbox.take(1, 7).unwrap(), (1, 7));
        assert_eq!(mailbox.take(1, 8).unwrap(), (1, 8));
        assert_eq!(mailbox.take(0, 8).unwrap(), (0, 8));
    }

    #[test]
    fn channels_are_limited() {
        let mailbox = Mailbox::new(1, 2);
        assert!(mailbox.put(0, 0, ()) && mailbox.put(0, 1, ()));
        assert!(!mailbox.put(0, 2, ()));
        assert!(!mailbox.put(1, 0, ()));
        assert!(mailbox.take(1, 0).is_err());
    }
}
