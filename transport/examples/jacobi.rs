//! Solves the heat equation on a square plate by Jacobi's method. The ranks are a grid, and each
//! has a tile of the plate. In each step it exchanges the borders of its tile with its neighbours.
//! A reduction tells when the temperatures change no more.
//!
//! Run: `cargo run --release --example jacobi`
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "indices are within a tile and its border"
)]

use std::error::Error;

use jstream_transport::rank::operation::Max;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Cartesian, Dimension, Neighbours, Rank};

/// Ranks in each dimension.
const SIDE: u32 = 2;

/// Points of a tile in each dimension, without the border.
const TILE: usize = 24;

/// Points of a row with the border.
const ROW: usize = TILE + 2;

/// The largest change of the last step.
const CALM: f64 = 1e-4;

/// Returns the number of steps and the temperature in the middle of this rank's tile. The left edge
/// of the plate has the temperature 1, and the other edges 0.
fn solve(rank: &Rank) -> Result<(u32, f64), rank::Error> {
    let dimensions = [Dimension::open(SIDE); 2];
    let Some(grid) = Cartesian::new(rank, &dimensions)? else {
        return Ok((0, 0.0));
    };
    let mut tile = vec![0.0f64; ROW * ROW];
    if grid.coordinates()[1] == 0 {
        (0..ROW).for_each(|row| tile[row * ROW] = 1.0);
    }
    let halos = grid.halos(&[ROW, ROW], 1, Neighbours::Faces)?;
    for step in 1.. {
        // At an edge of the plate, the border stays as it is.
        halos.exchange(&mut tile)?;
        let mut next = tile.clone();
        let mut change = 0.0f64;
        for row in 1..=TILE {
            for at in row * ROW + 1..=row * ROW + TILE {
                next[at] = (tile[at - 1] + tile[at + 1] + tile[at - ROW] + tile[at + ROW]) / 4.0;
                change = change.max((next[at] - tile[at]).abs());
            }
        }
        tile = next;
        let mut largest = [0.0];
        grid.all_reduce(&[change], &mut largest, &Max)?;
        if largest[0] < CALM {
            return Ok((step, tile[ROW * ROW / 2 + ROW / 2]));
        }
    }
    unreachable!("the loop has no end")
}

fn main() -> Result<(), Box<dyn Error>> {
    let results = World::threads(SIDE * SIDE, &WorldOptions::default(), |world| solve(world))?;
    for (rank, result) in results.into_iter().enumerate() {
        let (steps, middle) = result?;
        println!("rank {rank}: {middle:.3} in the middle of its tile after {steps} steps");
        // The temperature decreases from the left edge to the right.
        assert_eq!(middle > 0.2, rank % 2 == 0);
    }
    Ok(())
}
