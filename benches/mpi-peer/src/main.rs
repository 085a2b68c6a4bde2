//! The applications of the benchmark program over an MPI library. `jstream-benches` builds and
//! starts this program for each library that is installed.
//!
//! The kernels are files of `jstream-benches`, compiled here once more without jstream.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    dead_code,
    reason = "as in jstream-benches, whose files have more than this program uses"
)]

mod apps;

use std::fs::File;
use std::io::{BufWriter, Write};

use mpi::traits::Communicator;

use self::apps::size::Size;

/// An error that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "usage: jstream-benches-mpi-peer APP quick|full|long FILE [--check]";

fn main() -> Result<(), Failure> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (app, size, file, check) = match &arguments[..] {
        [app, size, file] => (app, size, file, false),
        [app, size, file, flag] if flag == "--check" => (app, size, file, true),
        _ => return Err(USAGE.into()),
    };
    let mut sizes = Size::ALL.into_iter();
    let size = sizes.find(|known| known.name() == size).ok_or(USAGE)?;
    let universe = mpi::initialize().ok_or("MPI cannot be initialised")?;
    let world = universe.world();
    let rank = world.rank();
    pin(rank as usize);
    let outcome = apps::run(app, size, check, world)?;
    if rank == 0 {
        // The time, and the result behind it.
        let mut out = BufWriter::new(File::create(file)?);
        for number in std::iter::once(outcome.nanos).chain(outcome.answer) {
            out.write_all(&number.to_le_bytes())?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Pins the process to a core, as `jstream-benches` does with its nodes.
fn pin(rank: usize) {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    if let Some(core) = cores.get(rank % cores.len().max(1)) {
        // If the system refuses, the rank runs where the system puts it.
        core_affinity::set_for_current(*core);
    }
}
