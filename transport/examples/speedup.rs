//! Diffuses heat in a plate with one rank and with several, compares the results, and prints the
//! speed-up. The page `speedup` of the guide goes from a sequential program to this one.
//!
//! Run: `cargo run --release --example speedup -- [PROCESSES [THREADS [ROWS]]]`
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "indices are within the plate"
)]

use std::error::Error;
use std::ops::Range;
use std::time::{Duration, Instant};

use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Destination, Rank, Source};

/// Points of a row.
const ROW: usize = 1000;

const STEPS: usize = 100;

/// Number of runs, of which the median counts.
const RUNS: usize = 5;

/// Returns rows of the plate at the start, of which the first is warm.
fn plate(rows: Range<usize>) -> Vec<f64> {
    let row = |row: usize| vec![if row == 0 { 1.0 } else { 0.0 }; ROW];
    rows.flat_map(row).collect()
}

/// Computes all rows but the first and the last.
fn step(now: &[f64], next: &mut [f64]) {
    for at in (ROW..now.len() - ROW).step_by(ROW) {
        let (above, beside, below) = (&now[at - ROW..][..ROW], &now[at..][..ROW], &now[at + ROW..]);
        let (below, next) = (&below[..ROW], &mut next[at..][..ROW]);
        for j in 1..ROW - 1 {
            next[j] = (above[j] + below[j] + beside[j - 1] + beside[j + 1]) / 4.0;
        }
    }
}

/// Computes the inner rows of a plate.
fn sequential(rows: usize) -> Vec<f64> {
    let mut now = plate(0..rows);
    let mut next = now.clone();
    for _ in 0..STEPS {
        step(&now, &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    now[ROW..(rows - 1) * ROW].to_vec()
}

/// Computes the rows of this rank.
fn parallel(rank: &Rank, rows: usize) -> Result<Vec<f64>, rank::Error> {
    let (number, size) = (rank.rank() as usize, rank.size() as usize);
    let start = |number: usize| 1 + (rows - 2) * number / size;
    // One more row on each side, which the neighbour computes or which is an edge of the plate.
    let mut now = plate(start(number) - 1..start(number + 1) + 1);
    let mut next = now.clone();
    let last = now.len() - ROW;
    let (above, below) = (rank.rank().checked_sub(1), rank.rank() + 1);
    let below = (below < rank.size()).then_some(below);
    let to = |rank: Option<u32>| rank.map_or(Destination::Null, Destination::from);
    let from = |rank: Option<u32>| rank.map_or(Source::Null, Source::from);
    for _ in 0..STEPS {
        step(&now, &mut next);
        std::mem::swap(&mut now, &mut next);
        let (own, border) = now.split_at_mut(last);
        rank.sendrecv(to(above), 0, &own[ROW..2 * ROW], from(below), 0, border)?;
        let (border, own) = now.split_at_mut(ROW);
        rank.sendrecv(
            to(below),
            0,
            &own[last - 2 * ROW..][..ROW],
            from(above),
            0,
            border,
        )?;
    }
    Ok(now[ROW..last].to_vec())
}

/// Measures both versions in turn, and compares their results at the first rank.
fn measure(rank: &Rank, rows: usize) -> Result<(), rank::Error> {
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let begin = Instant::now();
        let expected = (rank.rank() == 0).then(|| sequential(rows));
        alone.push(begin.elapsed());
        rank.barrier()?;
        let begin = Instant::now();
        let own = parallel(rank, rows)?;
        rank.barrier()?;
        together.push(begin.elapsed());
        if let Some(parts) = rank.objects().gather(0, &own)? {
            let all: Vec<f64> = parts.iter().flatten().copied().collect();
            assert!(
                expected.is_some_and(|expected| expected == all),
                "other temperatures"
            );
        }
    }
    if rank.rank() == 0 {
        let median = |times: &mut Vec<Duration>| {
            times.sort_unstable();
            times[RUNS / 2].as_secs_f64()
        };
        let (alone, together) = (median(&mut alone), median(&mut together));
        println!("1 rank: {:.1} ms", alone * 1e3);
        println!(
            "{} ranks: {:.1} ms, speed-up {:.2}",
            rank.size(),
            together * 1e3,
            alone / together
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u32>());
    let mut number = |default| numbers.next().unwrap_or(Ok(default));
    let (processes, threads, rows) = (number(1)?, number(2)?, number(600)?);
    if rows < 3 || rows - 2 < processes.saturating_mul(threads) {
        return Err(format!("{rows} rows are too few for {processes} x {threads} ranks").into());
    }
    let address = [format!("shm://speedup-{}", std::process::id()).parse()?];
    let options = WorldOptions::default();
    let results = World::run(&address, processes, threads, &options, |world| {
        measure(world, rows as usize)
    })?;
    results.into_iter().collect::<Result<(), _>>()?;
    Ok(())
}
