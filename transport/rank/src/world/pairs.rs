//! States of the pairs of this rank with each other rank, without input, output or locks.
//!
//! A pair gets one connection at most. If both ranks open one at the same time, that of the lower
//! rank counts: the lower rank refuses the other one with [`Refusal::Taken`], and the higher rank
//! accepts the connection of the lower one although it opens one itself.
//!
//! Decision 100 has the reasons.

use super::error::Refusal;

/// The pairs of this rank.
pub(super) struct PairTable {
    own: u32,
    pairs: Box<[PairState]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PairState {
    /// There is no connection.
    Idle,
    /// This rank opens a connection.
    Dialing,
    /// The connection was agreed on, and is about to be attached to the rank.
    Accepted,
    Linked,
    /// There is no connection, and never will be, because one of the ranks is gone.
    Closed,
}

/// The next step of a thread that needs a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DialStep {
    /// The thread opens a connection, and reports the result.
    Dial,
    /// The thread waits for a change.
    Wait,
    /// There is a connection.
    Linked,
    /// There will be no connection.
    Closed,
}

impl PairTable {
    /// Returns the table of rank `own` of a world of `size`.
    pub(super) fn new(own: u32, size: u32) -> Self {
        Self {
            own,
            pairs: (0..size).map(|_| PairState::Idle).collect(),
        }
    }

    fn pair(&mut self, rank: u32) -> Option<&mut PairState> {
        let place = usize::try_from(rank).ok()?;
        self.pairs.get_mut(place).filter(|_| rank != self.own)
    }

    /// Returns the next step of a thread that needs a connection to `rank`.
    pub(super) fn dial(&mut self, rank: u32) -> DialStep {
        let Some(pair) = self.pair(rank) else {
            return DialStep::Closed;
        };
        match *pair {
            PairState::Idle => {
                *pair = PairState::Dialing;
                DialStep::Dial
            }
            PairState::Dialing | PairState::Accepted => DialStep::Wait,
            PairState::Linked => DialStep::Linked,
            PairState::Closed => DialStep::Closed,
        }
    }

    /// Notes that the other rank has agreed to the connection that this rank has opened. Returns
    /// false if it is not to be used.
    pub(super) fn welcome(&mut self, rank: u32) -> bool {
        self.change(rank, PairState::Dialing, PairState::Accepted)
    }

    /// Notes that the other rank refused the connection, because it opens one itself.
    pub(super) fn back_off(&mut self, rank: u32) {
        self.change(rank, PairState::Dialing, PairState::Idle);
    }

    /// Notes that this rank can't connect to the other one. Returns false if a connection of the
    /// other rank was accepted meanwhile.
    pub(super) fn fail(&mut self, rank: u32) -> bool {
        self.change(rank, PairState::Dialing, PairState::Closed)
    }

    /// Decides about a connection that the other rank opens.
    pub(super) fn admit(&mut self, rank: u32) -> Result<(), Refusal> {
        // Both sides must decide alike without another message.
        let wins = rank < self.own;
        let pair = self.pair(rank).ok_or(Refusal::Rank)?;
        match pair {
            PairState::Idle => *pair = PairState::Accepted,
            PairState::Dialing if wins => *pair = PairState::Accepted,
            PairState::Dialing | PairState::Accepted | PairState::Linked => {
                return Err(Refusal::Taken);
            }
            PairState::Closed => return Err(Refusal::Closed),
        }
        Ok(())
    }

    /// Notes that the connection is attached to the rank.
    pub(super) fn link(&mut self, rank: u32) {
        self.change(rank, PairState::Accepted, PairState::Linked);
    }

    /// Notes that an accepted connection was lost before it was attached. It had no messages.
    pub(super) fn drop_accepted(&mut self, rank: u32) {
        self.change(rank, PairState::Accepted, PairState::Idle);
    }

    /// Returns true if a connection is being opened or accepted.
    pub(super) fn is_busy(&self) -> bool {
        let mut pairs = self.pairs.iter();
        pairs.any(|pair| matches!(pair, PairState::Dialing | PairState::Accepted))
    }

    fn change(&mut self, rank: u32, from: PairState, to: PairState) -> bool {
        match self.pair(rank) {
            Some(pair) if *pair == from => {
                *pair = to;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strange_ranks_have_no_pair() {
        let mut pairs = PairTable::new(1, 3);
        for rank in [1, 3, u32::MAX] {
            assert_eq!(pairs.dial(rank), DialStep::Closed);
            assert_eq!(pairs.admit(rank), Err(Refusal::Rank));
        }
        assert!(!pairs.is_busy());
    }

    #[test]
    fn a_pair_has_one_connection() {
        let mut pairs = PairTable::new(1, 3);
        assert_eq!(pairs.admit(2), Ok(()));
        assert_eq!(
            (pairs.admit(2), pairs.dial(2)),
            (Err(Refusal::Taken), DialStep::Wait)
        );
        assert!(pairs.is_busy());
        pairs.link(2);
        assert_eq!(
            (pairs.admit(2), pairs.dial(2)),
            (Err(Refusal::Taken), DialStep::Linked)
        );
        assert_eq!(pairs.dial(0), DialStep::Dial);
        assert!(pairs.fail(0));
        assert_eq!(
            (pairs.admit(0), pairs.dial(0)),
            (Err(Refusal::Closed), DialStep::Closed)
        );
    }

    #[test]
    fn an_accepted_connection_without_messages_may_be_lost() {
        let mut pairs = PairTable::new(1, 3);
        assert_eq!(pairs.admit(2), Ok(()));
        pairs.drop_accepted(2);
        assert_eq!(pairs.dial(2), DialStep::Dial);
    }

    /// A request for a connection on its way to the other rank, or the answer on its way back.
    #[derive(Debug, Clone, Copy)]
    enum Wire {
        Nothing,
        Ask,
        Answer(bool),
    }

    proptest! {
        /// Two ranks that open connections in any order have the same single connection.
        #[test]
        fn both_ranks_get_the_same_connection(steps in prop::collection::vec((0..2usize, 0..3u8), 0..60)) {
            let mut tables = [PairTable::new(0, 2), PairTable::new(1, 2)];
            let mut wires = [Wire::Nothing; 2];
            // The rank that has opened the connection that a rank has.
            let mut opened: [Option<usize>; 2] = [None; 2];
            // In the end, both ranks need a connection, and all messages arrive.
            let rest = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)];
            for (one, step) in steps.into_iter().chain(rest.into_iter().cycle().take(60)) {
                let (other, to) = if one == 0 { (1, 1) } else { (0, 0) };
                match (step, wires[one]) {
                    (0, Wire::Nothing) if tables[one].dial(to) == DialStep::Dial => {
                        wires[one] = Wire::Ask;
                    }
                    (1, Wire::Ask) => {
                        let from = u32::try_from(one).unwrap();
                        let admitted = tables[other].admit(from).is_ok();
                        if admitted {
                            prop_assert_eq!(opened[other].replace(one), None);
                            tables[other].link(from);
                        }
                        wires[one] = Wire::Answer(admitted);
                    }
                    (2, Wire::Answer(admitted)) => {
                        wires[one] = Wire::Nothing;
                        if !admitted {
                            tables[one].back_off(to);
                        } else if tables[one].welcome(to) {
                            prop_assert_eq!(opened[one].replace(one), None);
                            tables[one].link(to);
                        }
                    }
                    _ => {}
                }
            }
            prop_assert!(opened[0].is_some());
            prop_assert_eq!(opened[0], opened[1]);
            prop_assert!(!tables[0].is_busy() && !tables[1].is_busy());
        }
    }
}
