//! Solves the heat equation on a ring of points. While each rank computes the points inside its
//! part, the borders of the parts are exchanged, and a posted reduction tells how much the
//! temperatures have changed in the step before.
//!
//! Run: `cargo run --release --example overlap`
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "indices are within a part"
)]

use jstream_transport::rank::operation::Max;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Rank};

const RANKS: u32 = 4;
/// Points of a rank.
const PART: usize = 500;
/// The largest change of the last step.
const CALM: f64 = 1e-3;
/// Tags of messages to the next rank, and to the one before.
const FORWARD: u64 = 1;
const BACK: u64 = 2;

fn initial(point: usize) -> f64 {
    if point % 97 < 30 { 1.0 } else { 0.0 }
}

/// Returns the temperature of a point after a step.
fn next(left: f64, middle: f64, right: f64) -> f64 {
    middle + 0.25 * (left - 2.0 * middle + right)
}

fn change(old: &[f64], new: &[f64]) -> f64 {
    let changes = old.iter().zip(new).map(|(old, new)| (new - old).abs());
    changes.fold(0.0, f64::max)
}

/// Returns the number of steps and the temperatures of this rank's points.
fn solve(rank: &Rank) -> Result<(u32, Vec<f64>), rank::Error> {
    let (own, size) = (rank.rank(), rank.size());
    let (before, behind) = ((own + size - 1) % size, (own + 1) % size);
    let first = own as usize * PART;
    let mut old: Vec<f64> = (first..first + PART).map(initial).collect();
    let mut new = old.clone();
    let mut changed = [f64::MAX];
    for step in 1.. {
        let (mut left, mut right, mut largest) = ([0.0], [0.0], [0.0]);
        rank.scope(|scope| {
            let reduction = scope.iall_reduce(&changed, &mut largest, &Max);
            let borders = [
                scope.irecv(before, FORWARD, &mut left),
                scope.irecv(behind, BACK, &mut right),
            ];
            let _sends = [
                scope.isend(behind, FORWARD, &old[PART - 1..]),
                scope.isend(before, BACK, &old[..1]),
            ];
            // These points depend on those of this rank only.
            for (point, near) in old.windows(3).enumerate() {
                new[point + 1] = next(near[0], near[1], near[2]);
            }
            for border in borders {
                border.wait()?;
            }
            // The scope waits for the sends.
            reduction.wait()
        })?;
        new[0] = next(left[0], old[0], old[1]);
        new[PART - 1] = next(old[PART - 2], old[PART - 1], right[0]);
        changed = [change(&old, &new)];
        std::mem::swap(&mut old, &mut new);
        if largest[0] < CALM {
            return Ok((step, old));
        }
    }
    unreachable!("the loop has no end")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let results = World::threads(RANKS, &WorldOptions::default(), |world| solve(world))?;
    // The same, by one thread.
    let count = RANKS as usize * PART;
    let mut all: Vec<f64> = (0..count).map(initial).collect();
    let (mut steps, mut last, mut largest) = (0, f64::MAX, f64::MAX);
    while largest >= CALM {
        let at = |point: usize| all[point % count];
        let points = (0..count).map(|i| next(at(i + count - 1), at(i), at(i + 1)));
        let new: Vec<f64> = points.collect();
        (largest, last) = (last, change(&all, &new));
        (steps, all) = (steps + 1, new);
    }
    for (result, part) in results.into_iter().zip(all.chunks(PART)) {
        assert_eq!(result?, (steps, part.to_vec()));
    }
    println!("{RANKS} ranks have the result of one after {steps} steps");
    Ok(())
}
