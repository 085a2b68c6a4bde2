//! A server that looks before it receives: what a request asks for, and how much room it needs, is known from
//! the probe. Several threads serve; each receives what it has probed, and nobody else does.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "numbers of this program's own"
)]

use std::error::Error;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use clap::Parser;
use jstream_transport::Address;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{Rank, Source, Tag};

/// Client processes ask a server process for sums, for what is greatest, and to have numbers sorted.
#[derive(Parser)]
struct Arguments {
    /// How many clients there are.
    #[arg(long, default_value_t = 3)]
    clients: u32,
    /// How many requests each makes.
    #[arg(long, default_value_t = 300)]
    requests: u64,
    /// How many threads serve.
    #[arg(long, default_value_t = 2)]
    threads: u32,
}

type Failure = Box<dyn Error + Send + Sync>;

/// What a request asks for; its answer has the same tag.
const SUM: u64 = 1;
const MAXIMUM: u64 = 2;
const SORT: u64 = 3;
/// A client has no more requests; or the server none, to its own threads.
const DONE: u64 = 4;

/// What comes of a request.
fn answer(request: u64, mut numbers: Vec<u64>) -> Vec<u64> {
    match request {
        SUM => vec![
            numbers
                .iter()
                .fold(0, |sum, number| sum.wrapping_add(*number)),
        ],
        MAXIMUM => numbers.iter().max().copied().into_iter().collect(),
        _ => {
            numbers.sort_unstable();
            numbers
        }
    }
}

/// What the threads of rank 0 share.
struct Server<'r> {
    rank: &'r Rank,
    threads: u32,
    /// How many clients have requests.
    clients: AtomicU32,
}

impl Server<'_> {
    /// What each thread does: how many requests it had.
    fn serve(&self) -> Result<u64, Failure> {
        let (rank, mut served) = (self.rank, 0);
        loop {
            // Another thread that probes now finds another message.
            let probed = rank.probe(Source::Any, Tag::Any)?;
            let status = probed.status();
            let mut numbers = vec![0u64; status.len::<u64>()];
            probed.recv(&mut numbers)?;
            match (status.tag, status.source) {
                (DONE, source) if source == rank.rank() => return Ok(served),
                (DONE, _) => self.client_done()?,
                (request, client) => {
                    served += 1;
                    rank.send(client, request, &answer(request, numbers))?;
                }
            }
        }
    }

    /// The last one lets all threads end.
    fn client_done(&self) -> Result<(), Failure> {
        if self.clients.fetch_sub(1, Ordering::Relaxed) == 1 {
            for _ in 0..self.threads {
                self.rank.send::<u64>(self.rank.rank(), DONE, &[])?;
            }
        }
        Ok(())
    }
}

/// What all other ranks do.
fn ask(rank: &Rank, requests: u64) -> Result<(), Failure> {
    let mut state = u64::from(rank.rank());
    for number in 0..requests {
        // Of all lengths: no receive could be sure to have room.
        let length = usize::try_from(number * number % 5003)?;
        let numbers = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 20
        });
        let numbers: Vec<u64> = numbers.take(length).collect();
        let request = match number % 3 {
            0 => SUM,
            1 => MAXIMUM,
            _ => SORT,
        };
        rank.send(0, request, &numbers)?;
        let answered = rank.probe(0, request)?;
        let mut answered_with = vec![0u64; answered.status().len::<u64>()];
        answered.recv(&mut answered_with)?;
        if answered_with != answer(request, numbers) {
            return Err(format!("request {number} of rank {} went wrong", rank.rank()).into());
        }
    }
    Ok(rank.send::<u64>(0, DONE, &[])?)
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let address: Address = format!("shm://probe-server-{}", process::id()).parse()?;
    let size = arguments.clients + 1;
    let world = World::processes(&[address], size, &WorldOptions::default())?;
    if world.rank() > 0 {
        ask(&world, arguments.requests)?;
        return Ok(world.finish()?);
    }
    let server = Server {
        rank: &world,
        threads: arguments.threads,
        clients: arguments.clients.into(),
    };
    let served = thread::scope(|scope| {
        let threads = (0..arguments.threads).map(|_| scope.spawn(|| server.serve()));
        let threads: Vec<_> = threads.collect();
        let served = threads.into_iter().map(|thread| match thread.join() {
            Ok(served) => served,
            Err(_) => Err("a thread panicked".into()),
        });
        served.collect::<Result<Vec<_>, Failure>>()
    })?;
    world.finish()?;
    println!("The threads served {served:?} requests.");
    if served.iter().sum::<u64>() == u64::from(arguments.clients) * arguments.requests {
        return Ok(());
    }
    Err("which are not all".into())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("probe_server: {error}");
            ExitCode::FAILURE
        }
    }
}
