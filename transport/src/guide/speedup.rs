//! From a sequential program to ranks, and to a measured speed-up.
//!
//! The program of this page diffuses heat in a plate. The example `speedup` is the complete
//! program. Four steps lead to it: a kernel that does not know about ranks, a division of the data,
//! an exchange of the borders of the parts, and a measurement that compares the results.
//!
//! # The kernel
//!
//! The sequential program computes all inner points of the plate from their neighbours. The kernel
//! takes slices, so that the same function works on a whole plate and on some of its rows:
//!
//! ```
//! const ROW: usize = 8;
//!
//! /// Computes all rows but the first and the last.
//! fn step(now: &[f64], next: &mut [f64]) {
//!     for at in (ROW..now.len() - ROW).step_by(ROW) {
//!         for j in at + 1..at + ROW - 1 {
//!             next[j] = (now[j - ROW] + now[j + ROW] + now[j - 1] + now[j + 1]) / 4.0;
//!         }
//!     }
//! }
//!
//! /// Returns rows of the plate at the start, of which the first is warm.
//! fn plate(rows: std::ops::Range<usize>) -> Vec<f64> {
//!     rows.flat_map(|row| [if row == 0 { 1.0 } else { 0.0 }; ROW]).collect()
//! }
//!
//! let mut now = plate(0..10);
//! let mut next = now.clone();
//! for _ in 0..100 {
//!     step(&now, &mut next);
//!     std::mem::swap(&mut now, &mut next);
//! }
//! assert!(now[ROW + 1] > now[2 * ROW + 1]);
//! ```
//!
//! Make this version fast first. A slow kernel hides the costs of communication, and the speed-up
//! looks better than it is.
//!
//! # The division and the exchange
//!
//! Each rank computes some neighbouring rows, and stores one more row on each side. After a step,
//! it sends its first row to the rank above, while it receives the first row of the rank below, and
//! then the other way round. [`sendrecv`](crate::rank::Rank::sendrecv) does both at the same time,
//! so that no two ranks wait for each other. At the edges of the plate, the neighbour is
//! [`Destination::Null`](crate::rank::Destination::Null) or
//! [`Source::Null`](crate::rank::Source::Null), and nothing is sent or received:
//!
//! ```
//! use jstream_transport::rank::{self, Destination, Rank, Source};
//!
//! # const ROW: usize = 8;
//! # fn step(now: &[f64], next: &mut [f64]) {
//! #     for at in (ROW..now.len() - ROW).step_by(ROW) {
//! #         for j in at + 1..at + ROW - 1 {
//! #             next[j] = (now[j - ROW] + now[j + ROW] + now[j - 1] + now[j + 1]) / 4.0;
//! #         }
//! #     }
//! # }
//! # fn plate(rows: std::ops::Range<usize>) -> Vec<f64> {
//! #     rows.flat_map(|row| [if row == 0 { 1.0 } else { 0.0 }; ROW]).collect()
//! # }
//! /// Returns the inner rows of this rank after 100 steps of a plate with this many rows.
//! fn parallel(rank: &Rank, rows: usize) -> Result<Vec<f64>, rank::Error> {
//!     let (number, size) = (rank.rank() as usize, rank.size() as usize);
//!     let start = |number: usize| 1 + (rows - 2) * number / size;
//!     let mut now = plate(start(number) - 1..start(number + 1) + 1);
//!     let mut next = now.clone();
//!     let last = now.len() - ROW;
//!     let above = rank.rank().checked_sub(1);
//!     let below = Some(rank.rank() + 1).filter(|below| *below < rank.size());
//!     let to = |rank: Option<u32>| rank.map_or(Destination::Null, Destination::from);
//!     let from = |rank: Option<u32>| rank.map_or(Source::Null, Source::from);
//!     for _ in 0..100 {
//!         step(&now, &mut next);
//!         std::mem::swap(&mut now, &mut next);
//!         let (own, border) = now.split_at_mut(last);
//!         rank.sendrecv(to(above), 0, &own[ROW..2 * ROW], from(below), 0, border)?;
//!         let (border, own) = now.split_at_mut(ROW);
//!         rank.sendrecv(to(below), 0, &own[last - 2 * ROW..][..ROW], from(above), 0, border)?;
//!     }
//!     Ok(now[ROW..last].to_vec())
//! }
//!
//! # fn main() -> Result<(), rank::Error> {
//! let solve = |ranks: u32| {
//!     let ranks = rank::threads(ranks, &rank::Options::default());
//!     std::thread::scope(|scope| {
//!         let start = |rank| scope.spawn(move || parallel(rank, 10));
//!         let started: Vec<_> = ranks.iter().map(start).collect();
//!         let parts = started.into_iter().map(|thread| thread.join().unwrap());
//!         parts.collect::<Result<Vec<_>, _>>()
//!     })
//! };
//! // Each point is computed by the same operations in the same order, so the results are equal.
//! assert_eq!(solve(3)?.concat(), solve(1)?.concat());
//! # Ok(())
//! # }
//! ```
//!
//! Compare the results of the versions in a test, for numbers of ranks that do not divide the rows
//! evenly, too. If a reduction adds floating-point numbers in another order, permit a difference
//! and state its bound.
//!
//! # The ranks
//!
//! [`World::run`](crate::rank::world::World::run) starts the ranks as threads, as processes, or as
//! threads of several processes. The function that computes does not change:
//!
//! ```no_run
//! use jstream_transport::rank::{self, Rank};
//! use jstream_transport::rank::world::{World, WorldOptions};
//!
//! # fn parallel(rank: &Rank, rows: usize) -> Result<Vec<f64>, rank::Error> { unimplemented!() }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (processes, threads) = (2, 1);
//! let addresses = ["shm://plate".parse()?, "tcp://127.0.0.1:0".parse()?];
//! World::run(&addresses, processes, threads, &WorldOptions::default(), |world| {
//!     parallel(world, 600)
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! # The measurement
//!
//! A [`barrier`](crate::rank::Rank::barrier) before and after the parallel part makes all ranks
//! measure the same time, which is that of the slowest rank:
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use jstream_transport::rank::{self, Rank};
//!
//! fn timed<R>(
//!     rank: &Rank,
//!     work: impl FnOnce() -> Result<R, rank::Error>,
//! ) -> Result<(R, Duration), rank::Error> {
//!     rank.barrier()?;
//!     let start = Instant::now();
//!     let result = work()?;
//!     rank.barrier()?;
//!     Ok((result, start.elapsed()))
//! }
//! # let ranks = rank::threads(1, &rank::Options::default());
//! # assert_eq!(timed(&ranks[0], || Ok(7)).unwrap().0, 7);
//! ```
//!
//! Measure the sequential version in the same run, in turn with the parallel one, and compare
//! medians: `cargo run --release --example speedup -- 2 1` prints both times and the speed-up for
//! two processes. If the speed-up is less than expected, these are the usual reasons:
//!
//! - **The memory is the limit.** Run the kernel on two threads without any exchange. Two ranks
//!   cannot be faster than that.
//! - **The parts are too small.** The exchange of a step costs a few microseconds between
//!   threads and processes of a host; `jperf`, described in [`measuring`](super::measuring),
//!   measures it. The
//!   work of a step should take much longer.
//! - **The parts take different times.** Then ranks wait in `sendrecv` for the slowest one.
//!   Divide by work instead of by rows, or post the exchange and compute the inner rows
//!   meanwhile, as the
//!   example `overlap` does.
//! - **There are more ranks than processors.** A rank that waits should then yield its core
//!   soon, as worlds arrange if they know the number of ranks of the host: see
//!   [`WorldOptions`](crate::rank::world::WorldOptions).
