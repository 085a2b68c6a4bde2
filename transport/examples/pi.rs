//! Estimates pi with four ranks: each integrates a part of the quarter circle, and a reduction adds
//! the parts. The same function runs as threads and as processes.
//!
//! Run: `cargo run --release --example pi`

use std::error::Error;
use std::f64::consts::PI;

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Rank};

const RANKS: u32 = 4;

/// Number of intervals, which rank 0 decides.
const INTERVALS: u64 = 4_000_000;

/// Returns pi at rank 0, and 0 at the others.
fn pi(rank: &Rank) -> Result<f64, rank::Error> {
    let mut intervals = [if rank.rank() == 0 { INTERVALS } else { 0 }];
    rank.broadcast(0, &mut intervals)?;
    let [intervals] = intervals;
    let width = 1.0 / intervals as f64;
    let own = (u64::from(rank.rank())..intervals).step_by(rank.size() as usize);
    let heights = own.map(|index| {
        let x = (index as f64 + 0.5) * width;
        (1.0 - x * x).sqrt()
    });
    let part = 4.0 * width * heights.sum::<f64>();
    let mut sum = [0.0];
    rank.reduce(0, &[part], &mut sum, &Sum)?;
    Ok(sum[0])
}

fn show(what: &str, result: f64) {
    println!("{what}: {result:.9}, off by {:.1e}", (result - PI).abs());
    assert!((result - PI).abs() < 1e-6);
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = WorldOptions::default();
    // The started processes run this program, too, and take part in the world instead.
    let addresses = ["tcp://127.0.0.1:0".parse()?];
    let world = World::processes(&addresses, RANKS, &options)?;
    let result = pi(&world)?;
    let rank = world.rank();
    world.finish()?;
    if rank == 0 {
        show("processes", result);
        let results = World::threads(RANKS, &options, |world| pi(world))?;
        for result in results.into_iter().take(1) {
            show("threads", result?);
        }
    }
    Ok(())
}
