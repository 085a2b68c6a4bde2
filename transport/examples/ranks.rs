//! Runs one function as ranks in threads and as ranks in processes. Tokens are passed around a
//! ring, and heat spreads along a rod that is divided among the ranks. The result is bit-identical
//! to that of a single thread.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "numbers of this program's own"
)]

use std::env;
use std::error::Error;
use std::ops::Range;
use std::process::{self, ExitCode};
use std::time::{Duration, Instant};

use clap::Parser;
use jstream_transport::Address;
use jstream_transport::rank::world::{RANK, World, WorldOptions};
use jstream_transport::rank::{Destination, Rank, Source};

/// Runs a computation with ranks that are threads or processes. Without options, it runs both.
#[derive(Parser)]
struct Arguments {
    /// Run with this number of threads.
    #[arg(long, conflicts_with = "processes")]
    threads: Option<u32>,
    /// Run with this number of processes.
    #[arg(long)]
    processes: Option<u32>,
    /// Device between the ranks: shm (default), uds, tcp or uring. Without this option, threads
    /// communicate directly.
    #[arg(long)]
    over: Option<String>,
    /// Number of cells of the rod.
    #[arg(long, default_value_t = 10_000)]
    cells: usize,
    /// Number of time steps.
    #[arg(long, default_value_t = 300)]
    steps: usize,
}

type Failure = Box<dyn Error + Send + Sync>;

/// Message tags.
const TOKEN: u64 = 1;
const TO_LEFT: u64 = 2;
const TO_RIGHT: u64 = 3;
const PIECE: u64 = 4;

/// Fraction of the temperature difference that flows to a neighbour in one step.
const PART: f64 = 0.2;

/// Returns the initial temperature of a cell.
fn initial(cell: usize) -> f64 {
    f64::from(u32::try_from(cell * cell % 1009).unwrap_or(0))
}

/// Computes one step for all cells except the first and the last.
fn step(now: &[f64], next: &mut [f64]) {
    for (cell, near) in next[1..].iter_mut().zip(now.windows(3)) {
        *cell = near[1] + PART * (near[0] - 2.0 * near[1] + near[2]);
    }
}

/// Returns the cells of a rank.
fn piece(cells: usize, rank: u32, size: u32) -> Range<usize> {
    let (rank, size) = (rank as usize, size as usize);
    cells * rank / size..cells * (rank + 1) / size
}

/// Computes the whole rod in one thread.
fn alone(cells: usize, steps: usize) -> Vec<f64> {
    let outside = [0.0];
    let inside = (0..cells).map(initial);
    let mut now: Vec<_> = outside.into_iter().chain(inside).chain(outside).collect();
    let mut next = vec![0.0; now.len()];
    for _ in 0..steps {
        step(&now, &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    now[1..=cells].to_vec()
}

/// Computes the rod with all ranks. Each rank has its piece and one cell of each neighbour. Rank 0
/// returns the whole rod.
fn together(rank: &Rank, cells: usize, steps: usize) -> Result<Vec<f64>, Failure> {
    let (me, size) = (rank.rank(), rank.size());
    // At the ends of the rod there is no neighbour.
    let (to_left, from_left) = match me.checked_sub(1) {
        Some(left) => (Destination::Rank(left), Source::Rank(left)),
        None => (Destination::Null, Source::Null),
    };
    let (to_right, from_right) = match me + 1 {
        right if right < size => (Destination::Rank(right), Source::Rank(right)),
        _ => (Destination::Null, Source::Null),
    };
    let mine = piece(cells, me, size);
    let count = mine.len();
    let mut now = vec![0.0; count + 2];
    let mut next = now.clone();
    for (cell, place) in now[1..].iter_mut().zip(mine) {
        *cell = initial(place);
    }
    for _ in 0..steps {
        let (first, last) = ([now[1]], [now[count]]);
        rank.sendrecv(
            to_left,
            TO_LEFT,
            &first,
            from_right,
            TO_LEFT,
            &mut now[count + 1..],
        )?;
        rank.sendrecv(
            to_right,
            TO_RIGHT,
            &last,
            from_left,
            TO_RIGHT,
            &mut now[..1],
        )?;
        step(&now, &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    let piece_of_mine = &now[1..=count];
    if me > 0 {
        rank.send(0, PIECE, piece_of_mine)?;
        return Ok(Vec::new());
    }
    let mut all = vec![0.0; cells];
    all[..count].copy_from_slice(piece_of_mine);
    for other in 1..size {
        rank.recv(other, PIECE, &mut all[piece(cells, other, size)])?;
    }
    Ok(all)
}

/// Passes a token of each rank around the ring. Each rank adds its number, and each token must
/// return to its rank.
fn ring(rank: &Rank) -> Result<(), Failure> {
    let (me, size) = (rank.rank(), rank.size());
    let (next, before) = ((me + 1) % size, (me + size - 1) % size);
    let mut token = [u64::from(me), 0];
    for _ in 0..size {
        token[1] += u64::from(me);
        let sent = token;
        rank.sendrecv(next, TOKEN, &sent, before, TOKEN, &mut token)?;
    }
    let sum = (0..u64::from(size)).sum();
    if token == [u64::from(me), sum] {
        return Ok(());
    }
    Err(
        format!("rank {me} received the token {token:?} instead of its own with the sum {sum}")
            .into(),
    )
}

/// Runs the work of one rank.
fn work(rank: &Rank, arguments: &Arguments) -> Result<(), Failure> {
    let begun = Instant::now();
    ring(rank)?;
    let (ring, begun) = (begun.elapsed(), Instant::now());
    let warmth = together(rank, arguments.cells, arguments.steps)?;
    if rank.rank() > 0 {
        return Ok(());
    }
    let took = begun.elapsed();
    if warmth != alone(arguments.cells, arguments.steps) {
        return Err("the result differs from that of a single thread".into());
    }
    println!(
        "{} ranks: {ring:.1?} for a ring of tokens, {took:.1?} for {} steps of {} cells; the result is correct",
        rank.size(),
        arguments.steps,
        arguments.cells,
    );
    Ok(())
}

fn address(scheme: &str) -> Result<Address, Failure> {
    let uri = match scheme {
        "tcp" | "uring" => format!("{scheme}://127.0.0.1:0"),
        "uds" => format!("uds://@ranks-{}", process::id()),
        _ => format!("{scheme}://ranks-{}", process::id()),
    };
    Ok(uri.parse()?)
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut options = WorldOptions::default();
    options.timeout = Duration::from_secs(20);
    let over = arguments.over.as_deref();
    // A process that was started as a rank must not start threads.
    let is_process = env::var_os(RANK).is_some();
    let both = arguments.threads.is_none() && arguments.processes.is_none();
    if let Some(threads) = arguments
        .threads
        .or(both.then_some(4))
        .filter(|_| !is_process)
    {
        let work = |world: &World| work(world, arguments);
        let done = match over {
            None => World::threads(threads, &options, work),
            Some(scheme) => World::threads_over(&[address(scheme)?], threads, &options, work),
        };
        done?.into_iter().collect::<Result<(), _>>()?;
    }
    if let Some(processes) = arguments.processes.or(both.then_some(4)) {
        let address = address(over.unwrap_or("shm"))?;
        let world = World::processes(&[address], processes, &options)?;
        work(&world, arguments)?;
        world.finish()?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ranks: {error}");
            ExitCode::FAILURE
        }
    }
}
