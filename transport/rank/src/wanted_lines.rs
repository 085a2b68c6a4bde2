//! Connections that receives and probes wait for.
//!
//! A rank that has no connection cannot send, and its death is not noticed. So a thread that has
//! waited for a message of such a rank for [`GRACE`] connects to it. The delay lets the other rank
//! connect, which it does as soon as it sends.

use std::collections::VecDeque;
use std::time::Duration;

use jstream_device::deadline::Deadline;

/// Time for which a receive waits before its thread connects to the source.
const GRACE: Duration = Duration::from_millis(10);

/// The connection to a rank, as far as receives are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// The rank needs no connection, has one, or is gone.
    Settled,
    /// The rank is reached over a connection that does not exist.
    Missing,
    /// Such a connection does not exist, and a receive waits for the rank.
    Wanted,
}

/// The connections that receives wait for.
pub(super) struct WantedLines {
    /// By rank.
    states: Box<[LineState]>,
    /// Number of ranks whose connection is missing, wanted or not.
    missing: usize,
    /// Wanted ranks, with the times from which their connections are due. A rank whose connection
    /// was opened meanwhile stays until its turn.
    queue: VecDeque<(u32, Deadline)>,
}

impl WantedLines {
    /// Returns the state of a world of `size` ranks, none of which needs a connection.
    pub(super) fn new(size: u32) -> Self {
        Self {
            states: (0..size).map(|_| LineState::Settled).collect(),
            missing: 0,
            queue: VecDeque::new(),
        }
    }

    /// Returns true if no connection is wanted, nor was until it was opened.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn state(&mut self, rank: u32) -> Option<&mut LineState> {
        self.states.get_mut(rank as usize)
    }

    /// Returns true if the connection to any rank is missing.
    #[inline]
    pub(super) fn any_is_missing(&self) -> bool {
        self.missing > 0
    }

    /// Notes that a rank is reached over a connection that does not exist yet.
    pub(super) fn expect(&mut self, rank: u32) {
        if let Some(state @ LineState::Settled) = self.state(rank) {
            *state = LineState::Missing;
            self.missing = self.missing.saturating_add(1);
        }
    }

    /// Notes that the connection to a rank exists, or never will.
    pub(super) fn resolve(&mut self, rank: u32) {
        if let Some(state @ (LineState::Missing | LineState::Wanted)) = self.state(rank) {
            *state = LineState::Settled;
            self.missing = self.missing.saturating_sub(1);
        }
    }

    /// Asks for the connection to a rank, if it is missing.
    pub(super) fn want(&mut self, rank: u32) {
        if let Some(state @ LineState::Missing) = self.state(rank) {
            // A rank is queued once, however many receives want it.
            *state = LineState::Wanted;
            self.queue.push_back((rank, Deadline::after(GRACE)));
        }
    }

    /// Removes and returns the next wanted rank whose connection is due. Otherwise, returns the
    /// time at which the next one is.
    pub(super) fn next_due(&mut self) -> Result<u32, Deadline> {
        match self.first() {
            Some((_, due)) if !due.has_passed() => Err(due),
            Some(_) => self.pop().ok_or(Deadline::NEVER),
            None => Err(Deadline::NEVER),
        }
    }

    /// Removes and returns the next wanted rank, due or not. The caller connects to it.
    pub(super) fn pop(&mut self) -> Option<u32> {
        let (rank, _) = self.first()?;
        self.queue.pop_front();
        if let Some(state) = self.state(rank) {
            // The caller connects. If it does not succeed, the rank can be wanted again.
            *state = LineState::Missing;
        }
        Some(rank)
    }

    /// Returns the first entry of the queue whose connection is wanted, and removes those before.
    fn first(&mut self) -> Option<(u32, Deadline)> {
        while let Some(first) = self.queue.front().copied() {
            // The rank has a connection by now, or is gone.
            if self.states.get(first.0 as usize) == Some(&LineState::Wanted) {
                return Some(first);
            }
            self.queue.pop_front();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wanted_connection_is_due_after_the_grace_period() {
        let mut wanted = WantedLines::new(4);
        (1..4).for_each(|rank| wanted.expect(rank));
        assert!(wanted.any_is_missing());
        for rank in [0, 2, 3, 2, 9] {
            wanted.want(rank);
        }
        assert!(!wanted.is_empty());
        wanted.resolve(2);
        let rank = loop {
            match wanted.next_due() {
                Ok(rank) => break rank,
                Err(due) => std::thread::sleep(due.left().expect("a rank is wanted")),
            }
        };
        assert_eq!(rank, 3);
        assert!(matches!(wanted.next_due(), Err(due) if due.moment().is_none()));
        assert!(wanted.is_empty());
        wanted.want(1);
        assert_eq!((wanted.pop(), wanted.pop()), (Some(1), None));
        (1..4).for_each(|rank| wanted.resolve(rank));
        assert!(!wanted.any_is_missing());
    }
}
