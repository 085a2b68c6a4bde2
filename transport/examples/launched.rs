//! A program for launchers: `jrun -n 4 target/debug/examples/launched`, and the same with `mpirun`,
//! `mpiexec` or `srun`. Started without a launcher, it is a world of one rank.

use std::error::Error;

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{World, WorldError, WorldOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let options = WorldOptions::default();
    let world = match World::from_env(&options) {
        // No launcher has set its variables.
        Err(WorldError::Environment {
            variable: "JSTREAM_RANK",
            ..
        }) => {
            let sums = World::threads(1, &options, sum_of_ranks)?;
            let sum: Result<Vec<_>, _> = sums.into_iter().collect();
            println!("alone, with the sum {:?}", sum?);
            return Ok(());
        }
        joined => joined?,
    };
    world.barrier()?;
    let sum = sum_of_ranks(&world)?;
    if world.rank() == 0 {
        println!("{} ranks, with the sum {sum}", world.size());
    }
    world.finish()?;
    Ok(())
}

fn sum_of_ranks(world: &World) -> Result<u32, jstream_transport::rank::Error> {
    let mut sum = [0];
    world.all_reduce(&[world.rank()], &mut sum, &Sum)?;
    Ok(sum[0])
}
