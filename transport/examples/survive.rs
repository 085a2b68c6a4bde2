//! Counts primes in processes of which one is killed. The others notice that, form a smaller group
//! and share the work that is left.
//!
//! Run: `cargo run --release --example survive`
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "the numbers are small, and the indices are those of pieces"
)]

use std::error::Error;
use std::process;

use jstream_transport::rank::world::{World, WorldError, WorldOptions};
use jstream_transport::rank::{self, Rank};

const PROCESSES: u32 = 4;
const PIECES: usize = 50;
const LENGTH: usize = 2000;

/// The process that is killed, and its last round.
const VICTIM: (u32, usize) = (2, 3);

/// Returns the number of primes in a piece of the numbers below `PIECES * LENGTH`.
fn count(piece: usize) -> u64 {
    let is_prime = |n: usize| n > 1 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0);
    let numbers = (0..LENGTH).map(|index| index + piece * LENGTH);
    numbers.filter(|number| is_prime(*number)).count() as u64
}

/// Returns the number of all primes, and the number of members that are left in the end.
fn count_all(world: &World) -> Result<(u64, u32), rank::Error> {
    let mut group = Rank::clone(world);
    let mut counts = [None; PIECES];
    for round in 0.. {
        // All members know the same counts, so they divide the open pieces alike.
        let open: Vec<_> = (0..PIECES)
            .filter(|piece| counts[*piece].is_none())
            .collect();
        if open.is_empty() {
            return Ok((counts.iter().flatten().sum(), group.size()));
        }
        let own = open
            .get(group.rank() as usize)
            .map_or(0, |piece| count(*piece));
        if (world.rank(), round) == VICTIM {
            process::abort();
        }
        let mut found = vec![0; group.size() as usize];
        let gathered = group.all_gather(&[own], &mut found);
        if gathered.is_err() {
            // Members that have not noticed the failure stop to wait.
            group.recovery().revoke();
        }
        // The counts are used by all members or by none.
        let consensus = group.recovery().agree(u64::from(gathered.is_ok()))?;
        if consensus.flags == 1 {
            for (piece, found) in open.iter().zip(found) {
                counts[*piece] = Some(found);
            }
        }
        if consensus.flags == 0 || !consensus.failed.is_empty() {
            group = group.recovery().shrink()?;
            if group.rank() == 0 {
                println!("round {round}: {} processes are left", group.size());
            }
        }
    }
    unreachable!("the loop has no end")
}

fn main() -> Result<(), Box<dyn Error>> {
    let addresses = [format!("shm://survive-{}", process::id()).parse()?];
    // The processes that this starts run this function, too.
    let world = World::processes(&addresses, PROCESSES, &WorldOptions::default())?;
    let (primes, members) = count_all(&world)?;
    if world.rank() == 0 {
        println!("{primes} primes below {}", PIECES * LENGTH);
    }
    assert_eq!((primes, members), (9592, PROCESSES - 1));
    // The killed process is an error here: rank 0 sees how it ended, and the others that it did not
    // take leave.
    match world.finish() {
        Err(WorldError::Children { ends }) if ends.len() == 1 => Ok(()),
        Err(WorldError::Unfinished { ranks, .. }) if ranks == [VICTIM.0] => Ok(()),
        other => Err(format!("only one process was killed, but: {other:?}").into()),
    }
}
