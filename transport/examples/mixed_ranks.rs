//! Runs one function at ranks that are threads of one process, processes, or threads of several
//! processes, and shows how each rank reaches the others.
//!
//! Run: `cargo run --release --example mixed_ranks -- [PROCESSES [THREADS]]`

use std::error::Error;

use jstream_transport::rank;
use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{World, WorldOptions};

/// Returns the sum of the numbers of all ranks, and the ways to the other ranks.
fn work(world: &World) -> Result<(u64, String), rank::Error> {
    let own = u64::from(world.rank());
    let mut sum = [0];
    world.all_reduce(&[own], &mut sum, &Sum)?;
    let way = |rank| match world.endpoint(rank) {
        Some(endpoint) => endpoint.info().scheme,
        None if rank == world.rank() => "-",
        None => "direct",
    };
    let ways: Vec<_> = (0..world.size()).map(way).collect();
    Ok((sum[0], ways.join(" ")))
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Result<Vec<u32>, _> = std::env::args().skip(1).map(|n| n.parse()).collect();
    let numbers = numbers?;
    let processes = numbers.first().copied().unwrap_or(2);
    let threads = numbers.get(1).copied().unwrap_or(3);
    let addresses = [format!("shm://mixed-{}", std::process::id()).parse()?];
    // The processes that this starts run this function, too, and take part in the world.
    let results = World::run(
        &addresses,
        processes,
        threads,
        &WorldOptions::default(),
        |world| (world.rank(), work(world)),
    )?;
    for (rank, result) in results {
        let (sum, ways) = result?;
        println!("rank {rank}: the sum is {sum}, the ways are {ways}");
        let ranks = u64::from(processes.saturating_mul(threads));
        assert_eq!(sum, (0..ranks).sum::<u64>());
    }
    Ok(())
}
