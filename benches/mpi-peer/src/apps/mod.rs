//! Applications whose kernels run over a communicator.

#[path = "../../../src/apps/clock.rs"]
mod clock;
#[path = "../../../src/apps/comm.rs"]
mod comm;
mod communicator;
mod nbody;
mod ring_matmul;
mod shallow_water;
#[path = "../../../src/apps/size.rs"]
pub(crate) mod size;
mod sor;

use mpi::topology::SimpleCommunicator;
use mpi::traits::CommunicatorCollectives;

use self::clock::Clock;
use self::comm::Comm;
use self::communicator::World;
use self::size::Size;
use crate::Failure;

/// Result of a run.
pub(crate) struct Outcome {
    /// Length of the measured part in nanoseconds.
    pub(crate) nanos: f64,
    /// The numbers of all ranks, unless the result is not checked.
    pub(crate) answer: Vec<f64>,
}

/// Runs an application, whose name is that of `jstream-benches`, at all ranks.
pub(crate) fn run(
    app: &str,
    size: Size,
    check: bool,
    communicator: SimpleCommunicator,
) -> Result<Outcome, Failure> {
    let world = World(communicator);
    let barrier = || {
        world.0.barrier();
        Ok(())
    };
    let clock = Clock::new(&barrier);
    let part = run_part(app, size, &world, &clock)?;
    Ok(Outcome {
        nanos: clock.nanos()?,
        answer: if check {
            world.collect(&part)?
        } else {
            Vec::new()
        },
    })
}

/// Runs the part of this rank in an application.
fn run_part(
    app: &str,
    size: Size,
    comm: &dyn Comm,
    clock: &Clock<'_>,
) -> Result<Vec<f64>, Failure> {
    let (name, side) = match app.rsplit_once('-') {
        Some((name, side)) if side.bytes().all(|digit| digit.is_ascii_digit()) => {
            (name, side.parse()?)
        }
        _ => (app, 0),
    };
    match name {
        "sor" => sor::over_messages::run_plain::<f64>(comm, clock, sor::grid::Problem::of(size)),
        "sor-float" => {
            sor::over_messages::run_plain::<f32>(comm, clock, sor::grid::Problem::of(size))
        }
        "nbody" => nbody::over_messages::run_plain(comm, clock, nbody::galaxies::Problem::of(size)),
        "shallow-water" => {
            let problem = shallow_water::model::Problem::of(side, size);
            shallow_water::workers::run_plain(comm, clock, problem)
        }
        "ring-matmul" => {
            let problem = ring_matmul::kernel::Problem::of(side, size);
            ring_matmul::over_messages::run_plain(comm, clock, problem)
        }
        _ => Err(format!("no application is named {app}").into()),
    }
}
