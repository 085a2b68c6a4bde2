//! Starts processes that pass a barrier and end, and prints how long that took: `start 64`.

use std::error::Error;
use std::time::Instant;

use jstream_transport::rank::world::{World, WorldOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let size = std::env::args().nth(1).map_or(Ok(4), |size| size.parse())?;
    let address = format!("shm://start-{}", std::process::id()).parse()?;
    let mut options = WorldOptions::default();
    options.transport.spin = std::time::Duration::ZERO;
    options.rank.spin = std::time::Duration::ZERO;
    let world = World::processes(&[address], size, &options)?;
    let joined = begun.elapsed();
    world.barrier()?;
    let passed = begun.elapsed();
    let is_first = world.rank() == 0;
    world.finish()?;
    if is_first {
        let ended = begun.elapsed();
        println!(
            "{size} ranks: joined after {joined:.1?}, passed after {passed:.1?}, ended after {ended:.1?}"
        );
    }
    Ok(())
}
