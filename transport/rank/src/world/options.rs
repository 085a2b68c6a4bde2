//! Options of worlds.
//!
//! Decision 109 has the reasons.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use super::session::Session;
use jstream_base::Address;
use jstream_base::Options;

/// Configuration of a world: how its members connect, and for how long they try.
///
/// A world sets the time to spin, in `transport` and in `rank`, unless it differs from the default:
/// to 1 ms if each rank has a core of its own, and to 1 us if the ranks of this host share cores.
/// Functions that create all ranks know their number, and so does [`from_env`] from most launchers.
///
/// [`from_env`]: super::World::from_env
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorldOptions {
    /// Options of the connections between members.
    pub transport: Options,
    /// Options of the ranks.
    pub rank: crate::Options,
    /// Maximum time to join, until all members have joined (default 30 s). It covers members that
    /// never start, and strangers that occupy a place.
    pub timeout: Duration,
    /// Maximum time of [`World::finish`](super::World::finish) (default 30 s). It covers members
    /// that never finish.
    pub finish_timeout: Duration,
    /// Addresses at which this member listens for the others (default: derived from the addresses
    /// of rank 0). The others try the cheapest first.
    pub listen: Vec<Address>,
    /// The session, if the launcher has told it to the members. Rank 0 then refuses every member
    /// that does not show it. Otherwise, rank 0 generates a session, and tells it to every member
    /// that asks for a place.
    pub session: Option<Session>,
}

/// Time for which a rank spins that shares its core with others, before it yields the core to them.
const SPIN_OF_SHARERS: Duration = Duration::from_micros(1);

/// Time for which a rank with a core of its own spins. Ranks that compute for the same time, and
/// then exchange what they have, reach the exchange some 100 us apart. A rank that slept meanwhile
/// would let the others wait until it has woken.
const SPIN_OF_OWNERS: Duration = Duration::from_millis(1);

impl WorldOptions {
    /// Returns the defaults, with these options for the connections.
    #[must_use]
    pub fn new(transport: Options) -> Self {
        Self {
            rank: crate::Options::new(transport.pool.clone()),
            transport,
            timeout: Duration::from_secs(30),
            finish_timeout: Duration::from_secs(30),
            listen: Vec::new(),
            session: None,
        }
    }

    /// Sets the time to spin of ranks of which `sharers` run on the cores of this process, unless
    /// the program has set it. If other processes may run more of them, `are_all` is false.
    pub(super) fn spin_among(&mut self, sharers: u32, are_all: bool) {
        let cores = available_parallelism().map_or(1, NonZero::get);
        let has_core = usize::try_from(sharers).is_ok_and(|sharers| sharers <= cores);
        let time = match (has_core, cores) {
            (false, _) => SPIN_OF_SHARERS,
            // The system and the other threads of the process need the core, too.
            (true, 1) => return,
            (true, _) if are_all => SPIN_OF_OWNERS,
            (true, _) => return,
        };
        let default = Options::new(self.transport.pool.clone()).spin;
        for spin in [&mut self.transport.spin, &mut self.rank.spin] {
            // A time that the program has set stays.
            if *spin == default {
                *spin = time;
            }
        }
    }
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_spin_for_as_long_as_they_have_cores() {
        let spin_of = |sharers, are_all| {
            let mut options = WorldOptions::default();
            options.spin_among(sharers, are_all);
            assert_eq!(options.rank.spin, options.transport.spin);
            options.rank.spin
        };
        let default = WorldOptions::default().rank.spin;
        let has_one_core = available_parallelism().is_ok_and(|cores| cores.get() == 1);
        let of_owners = if has_one_core {
            default
        } else {
            SPIN_OF_OWNERS
        };
        assert_eq!(spin_of(1, true), of_owners);
        assert_eq!(spin_of(1, false), default);
        assert_eq!(spin_of(u32::MAX, true), SPIN_OF_SHARERS);
        assert_eq!(spin_of(u32::MAX, false), SPIN_OF_SHARERS);
    }

    #[test]
    fn a_time_of_the_program_stays() {
        let mut options = WorldOptions::default();
        options.rank.spin = Duration::ZERO;
        options.transport.spin = Duration::from_secs(1);
        options.spin_among(u32::MAX, true);
        options.spin_among(1, true);
        assert_eq!(options.rank.spin, Duration::ZERO);
        assert_eq!(options.transport.spin, Duration::from_secs(1));
    }
}
