//! Solves the heat equation by Jacobi's method in processes of which one is killed. The others
//! start a new process in its place, give it the rows that its neighbour has kept, and go on.
//!
//! Run: `cargo run --release --example replace`, or under `jrun --keep-going -n 4`
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "indices are within a band of rows and its border"
)]

use std::error::Error;
use std::process;

use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Cartesian, Dimension};

const PROCESSES: u32 = 4;
/// Columns of the plate, and rows of a band without its border.
const WIDTH: usize = 60;
const HEIGHT: usize = 15;
/// The plate is computed in phases of some steps. After each, the processes keep copies.
const PHASES: u64 = 10;
const STEPS: usize = 20;
/// The process that is killed, and its last phase.
const VICTIM: (u32, u64) = (2, 6);

/// The rows of one process at the beginning of a phase, and a copy of those of the band before it.
#[derive(Clone)]
struct Band {
    phase: u64,
    rows: Vec<f64>,
    kept: Vec<f64>,
}

/// Returns a band of `height` rows and a border. The left edge of the plate has the temperature 1,
/// and the others 0.
fn cold(height: usize) -> Vec<f64> {
    let columns = (0..(height + 2) * WIDTH).map(|at| at % WIDTH);
    columns.map(|column| f64::from(column == 0)).collect()
}

fn step(rows: &mut Vec<f64>) {
    let mut next = rows.clone();
    for at in WIDTH..rows.len() - WIDTH {
        if (1..WIDTH - 1).contains(&(at % WIDTH)) {
            let [left, right] = [rows[at - 1], rows[at + 1]];
            next[at] = (left + right + rows[at - WIDTH] + rows[at + WIDTH]) / 4.0;
        }
    }
    *rows = next;
}

/// Gives each process a band: the one that it has, or else one that nobody has, which comes from
/// the process that keeps a copy. The numbers of the group are those of the bands.
fn arrange(world: &World, band: Option<(u32, Band)>) -> Result<(Cartesian, Band), rank::Error> {
    let own = band.as_ref().map_or([u64::MAX, 0], |(number, band)| {
        [u64::from(*number), band.phase]
    });
    let mut all = [own; PROCESSES as usize];
    world.all_gather(&[own], &mut all)?;
    let is_lost = |number: &u32| all.iter().all(|[other, _]| *other != u64::from(*number));
    let lost: Vec<u32> = (0..PROCESSES).filter(is_lost).collect();
    let before = all[..world.rank() as usize].iter();
    let place = before.filter(|[other, _]| *other == u64::MAX).count();
    let number = band
        .as_ref()
        .map_or_else(|| lost[place], |(number, _)| *number);
    // All processes are in one group, so there is one for this process.
    let group = world
        .split(Some(0), number)?
        .unwrap_or_else(|| rank::Rank::clone(world));
    let grid = Cartesian::new(&group, &[Dimension::open(PROCESSES)])?;
    let grid = grid.expect("the grid has a place for each process");
    let mut band = band.map_or_else(
        || Band {
            phase: all.iter().map(|[_, phase]| *phase).max().unwrap_or(0),
            rows: cold(HEIGHT),
            kept: cold(HEIGHT),
        },
        |(_, band)| band,
    );
    for lost in lost {
        let keeper = (lost + 1) % PROCESSES;
        if number == keeper {
            grid.send(lost, 0, &band.kept)?;
        } else if number == lost {
            grid.recv(keeper, 0, &mut band.rows)?;
        }
    }
    keep(&grid, &mut band)?;
    Ok((grid, band))
}

/// Exchanges copies of the bands.
fn keep(grid: &Cartesian, band: &mut Band) -> Result<(), rank::Error> {
    let (own, size) = (grid.rank(), grid.size());
    let (next, before) = ((own + 1) % size, (own + size - 1) % size);
    grid.sendrecv(next, 1, &band.rows, before, 1, &mut band.kept)?;
    Ok(())
}

/// Computes a phase.
fn compute(grid: &Cartesian, band: &mut Band) -> Result<(), rank::Error> {
    let (last, end) = (HEIGHT * WIDTH, (HEIGHT + 1) * WIDTH);
    for count in 0..STEPS {
        let is_victim = (grid.rank(), band.phase) == VICTIM && !World::is_newcomer();
        if is_victim && count == STEPS / 2 {
            process::abort();
        }
        // At the edge of the plate, nothing is sent or received.
        for (distance, sent, received) in [(1, last, 0), (-1, WIDTH, end)] {
            let (from, to) = grid.shift(0, distance);
            let row = band.rows[sent..sent + WIDTH].to_vec();
            grid.sendrecv(
                to,
                2,
                &row,
                from,
                2,
                &mut band.rows[received..received + WIDTH],
            )?;
        }
        step(&mut band.rows);
    }
    band.phase += 1;
    keep(grid, band)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (addresses, options) = (
        [format!("shm://replace-{}", process::id()).parse()?],
        WorldOptions::default(),
    );
    // The processes that this starts run this function, too, and so does the one that comes later.
    let mut world = World::processes(&addresses, PROCESSES, &options)?;
    let first = Band {
        phase: 0,
        rows: cold(HEIGHT),
        kept: cold(HEIGHT),
    };
    let own = (!World::is_newcomer()).then(|| (world.rank(), first));
    let (mut grid, mut band) = arrange(&world, own)?;
    while band.phase < PHASES {
        let mut next = band.clone();
        let computed = compute(&grid, &mut next);
        if computed.is_err() {
            // Processes that have not noticed the failure stop to wait.
            grid.recovery().revoke();
        }
        // The phase counts for all processes or for none.
        let consensus = grid.recovery().agree(u64::from(computed.is_ok()))?;
        if consensus.flags == 1 {
            band = next;
        }
        if consensus.flags == 0 || !consensus.failed.is_empty() {
            let (survivors, number) = (grid.recovery().shrink()?, grid.rank());
            if survivors.rank() == 0 {
                println!(
                    "phase {}: process {:?} is replaced",
                    band.phase, consensus.failed
                );
            }
            world = world.grow(&survivors, PROCESSES - survivors.size(), &options)?;
            (grid, band) = arrange(&world, Some((number, band)))?;
        }
    }
    // One process computes the same alone.
    let mut plate = cold(HEIGHT * PROCESSES as usize);
    for _ in 0..PHASES {
        (0..STEPS).for_each(|_| step(&mut plate));
    }
    let inner = WIDTH..(HEIGHT + 1) * WIDTH;
    let first = grid.rank() as usize * HEIGHT * WIDTH;
    assert_eq!(band.rows[inner.clone()], plate[first..][inner]);
    if world.rank() == 0 {
        println!("the result is that of a single process, bit for bit");
    }
    Ok(world.finish()?)
}
