//! Roster of the members of a world, without input, output or locks.
//!
//! Decision 067 has the reasons.

use std::mem;
use std::ops::Range;

use super::error::Refusal;
use super::session::Session;
use super::words::{Ask, VERSION};

/// The expected ranks, and the members that have joined.
pub(super) struct Roster<M> {
    size: u32,
    session: Session,
    /// True if members that do not know the session are refused.
    is_strict: bool,
    /// The rank of the first seat.
    first: u32,
    seats: Vec<RosterEntry<M>>,
    is_closed: bool,
}

enum RosterEntry<M> {
    Free,
    /// Reserved for a member that is joining.
    Coming,
    Taken(M),
}

impl<M> Roster<M> {
    /// Returns a roster for some ranks of a world of `size`. Set `is_strict` if the members know
    /// the session already.
    pub(super) fn new(session: Session, is_strict: bool, ranks: Range<u32>, size: u32) -> Self {
        Self {
            size,
            session,
            is_strict,
            first: ranks.start,
            seats: ranks.map(|_| RosterEntry::Free).collect(),
            is_closed: false,
        }
    }

    fn seat(&mut self, rank: u32) -> Option<&mut RosterEntry<M>> {
        let place = usize::try_from(rank.checked_sub(self.first)?).ok()?;
        self.seats.get_mut(place)
    }

    /// Reserves a seat for a member that asks, or returns the reason why not. A seat whose member
    /// is no longer connected is given to the new one.
    pub(super) fn reserve(
        &mut self,
        ask: &Ask,
        lives: impl Fn(&M) -> bool,
    ) -> Result<u32, Refusal> {
        let rank = check_ask(ask, self.session, self.is_strict, self.size)?;
        let is_closed = self.is_closed;
        let seat = self.seat(rank).ok_or(Refusal::Rank)?;
        match seat {
            // A second process with the same rank is refused, unless the first one is gone.
            RosterEntry::Coming => return Err(Refusal::Taken),
            RosterEntry::Taken(member) if lives(member) => return Err(Refusal::Taken),
            _ if is_closed => return Err(Refusal::Closed),
            RosterEntry::Free | RosterEntry::Taken(_) => *seat = RosterEntry::Coming,
        }
        Ok(rank)
    }

    /// Frees the seat of a member that did not complete joining.
    pub(super) fn release(&mut self, rank: u32) {
        if let Some(seat @ RosterEntry::Coming) = self.seat(rank) {
            *seat = RosterEntry::Free;
        }
    }

    /// Seats a member that has joined.
    pub(super) fn add(&mut self, rank: u32, member: M) {
        if let Some(seat @ RosterEntry::Coming) = self.seat(rank) {
            *seat = RosterEntry::Taken(member);
        }
    }

    /// Frees the seats of members that are no longer connected. Returns the last of them.
    pub(super) fn sweep(&mut self, lives: impl Fn(&M) -> bool) -> Option<u32> {
        let mut gone = None;
        for (rank, seat) in (self.first..).zip(&mut self.seats) {
            if matches!(seat, RosterEntry::Taken(member) if !lives(member)) {
                *seat = RosterEntry::Free;
                gone = Some(rank);
            }
        }
        gone
    }

    pub(super) fn is_complete(&self) -> bool {
        let mut seats = self.seats.iter();
        seats.all(|seat| matches!(seat, RosterEntry::Taken(_)))
    }

    /// Returns the ranks that have not joined.
    pub(super) fn missing(&self) -> Vec<u32> {
        let seats = (self.first..).zip(&self.seats);
        let missing = seats.filter(|(_, seat)| !matches!(seat, RosterEntry::Taken(_)));
        missing.map(|(rank, _)| rank).collect()
    }

    /// Closes the roster and returns the members that have joined.
    pub(super) fn close(&mut self) -> Vec<(u32, M)> {
        self.is_closed = true;
        let mut members = Vec::new();
        for (rank, seat) in (self.first..).zip(&mut self.seats) {
            if let RosterEntry::Taken(member) = mem::replace(seat, RosterEntry::Free) {
                members.push((rank, member));
            }
        }
        members
    }
}

/// Checks that a member belongs to the world of this session and size, and returns its rank. If
/// `is_strict` is not set, the member may not know the session.
pub(super) fn check_ask(
    ask: &Ask,
    session: Session,
    is_strict: bool,
    size: u32,
) -> Result<u32, Refusal> {
    if ask.version != VERSION {
        return Err(Refusal::Version {
            theirs: VERSION,
            ours: ask.version,
        });
    }
    let is_known = ask.session.matches(&session);
    if !is_known && (is_strict || ask.session != Session::UNKNOWN) {
        return Err(Refusal::Session);
    }
    if ask.size != u64::from(size) {
        return Err(Refusal::Size {
            theirs: u64::from(size),
            ours: ask.size,
        });
    }
    u32::try_from(ask.rank).map_err(|_| Refusal::Rank)
}

#[cfg(test)]
mod tests {
    use super::super::words::Purpose;
    use super::*;

    /// Returns a request for a rank in a world of four.
    fn ask(session: Session, rank: u64) -> Ask {
        Ask {
            purpose: Purpose::Join,
            version: VERSION,
            rank,
            size: 4,
            session,
        }
    }

    #[test]
    fn a_seat_has_one_member() {
        let session = Session::new().unwrap();
        let mut roll = Roster::new(session, false, 1..4, 4);
        for rank in [3, 1, 2] {
            assert!(!roll.is_complete());
            let asked = roll.reserve(&ask(session, rank), |_| true);
            let rank = asked.unwrap();
            // Duplicate requests are refused before and after the member has joined.
            let second = ask(Session::UNKNOWN, u64::from(rank));
            assert_eq!(roll.reserve(&second, |_| true), Err(Refusal::Taken));
            roll.add(rank, rank * 10);
            assert_eq!(roll.reserve(&second, |_| true), Err(Refusal::Taken));
        }
        assert!(roll.is_complete());
        assert_eq!(roll.close(), [(1, 10), (2, 20), (3, 30)]);
        let last = roll.reserve(&ask(session, 2), |_| true);
        assert_eq!(last, Err(Refusal::Closed));
    }

    #[test]
    fn strangers_are_refused() {
        let (session, other) = (Session::new().unwrap(), Session::new().unwrap());
        let mut roll: Roster<()> = Roster::new(session, false, 2..4, 4);
        let mut asks = |ask: Ask| roll.reserve(&ask, |()| true);
        let good = ask(session, 2);
        assert_eq!(
            asks(Ask {
                session: other,
                ..good
            }),
            Err(Refusal::Session)
        );
        let (theirs, ours) = (VERSION, 9);
        let version = Refusal::Version { theirs, ours };
        assert_eq!(asks(Ask { version: 9, ..good }), Err(version));
        let size = Refusal::Size { theirs: 4, ours: 5 };
        assert_eq!(asks(Ask { size: 5, ..good }), Err(size));
        for rank in [0, 1, 4, 1 << 32, u64::MAX] {
            assert_eq!(asks(Ask { rank, ..good }), Err(Refusal::Rank));
        }
        assert_eq!(asks(good), Ok(2));
        assert_eq!(roll.missing(), [2, 3]);
    }

    #[test]
    fn a_world_that_told_its_session_asks_for_it() {
        let session = Session::new().unwrap();
        let mut roll: Roster<()> = Roster::new(session, true, 1..4, 4);
        let stranger = roll.reserve(&ask(Session::UNKNOWN, 1), |()| true);
        assert_eq!(stranger, Err(Refusal::Session));
        assert_eq!(roll.reserve(&ask(session, 1), |()| true), Ok(1));
    }

    #[test]
    fn the_seat_of_a_lost_member_is_free() {
        let session = Session::new().unwrap();
        let mut roll = Roster::new(session, false, 1..4, 4);
        let coming = roll.reserve(&ask(session, 1), |_| true).unwrap();
        roll.release(coming);
        assert_eq!(roll.reserve(&ask(session, 1), |_| true), Ok(1));
        roll.add(1, "first");
        let second = roll.reserve(&ask(session, 1), |member| *member != "first");
        assert_eq!(second, Ok(1));
        roll.add(1, "second");
        // Releasing the seat of a joined member has no effect.
        roll.release(1);
        assert_eq!(roll.missing(), [2, 3]);
        assert_eq!(roll.sweep(|_| true), None);
        assert_eq!(roll.sweep(|member| *member != "second"), Some(1));
        assert_eq!(roll.missing(), [1, 2, 3]);
    }
}
