//! A server that probes messages before it receives them. The probe returns the kind of the request
//! and its length. Several threads serve; each thread receives exactly the message that it has
//! probed.
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

/// Client processes ask a server process for sums, for maxima, and for sorted numbers.
#[derive(Parser)]
struct Arguments {
    /// Number of clients.
    #[arg(long, default_value_t = 3)]
    clients: u32,
    /// Number of requests per client.
    #[arg(long, default_value_t = 300)]
    requests: u64,
    /// Number of threads of the server.
    #[arg(long, default_value_t = 2)]
    threads: u32,
}

type Failure = Box<dyn Error + Send + Sync>;

/// Tags of requests. The answer has the tag of its request.
const SUM: u64 = 1;
const MAXIMUM: u64 = 2;
const SORT: u64 = 3;
/// Sent by a client that has no more requests, and by the server to end its own threads.
const DONE: u64 = 4;

/// Computes the answer to a request.
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

/// State that the threads of rank 0 share.
struct Server<'r> {
    rank: &'r Rank,
    threads: u32,
    /// Number of clients that still send requests.
    clients: AtomicU32,
}

impl Server<'_> {
    /// Serves requests in one thread. Returns the number of requests.
    fn serve(&self) -> Result<u64, Failure> {
        let (rank, mut served) = (self.rank, 0);
        loop {
            // Another thread that probes now gets another message.
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

    /// Records that a client is done. After the last one, all threads are told to end.
    fn client_done(&self) -> Result<(), Failure> {
        if self.clients.fetch_sub(1, Ordering::Relaxed) == 1 {
            for _ in 0..self.threads {
                self.rank.send::<u64>(self.rank.rank(), DONE, &[])?;
            }
        }
        Ok(())
    }
}

/// Sends the requests of a client, which is any rank except 0.
fn ask(rank: &Rank, requests: u64) -> Result<(), Failure> {
    let mut state = u64::from(rank.rank());
    for number in 0..requests {
        // The lengths vary, so the receiver can't know the length before it probes.
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
            return Err(format!(
                "request {number} of rank {} got a wrong answer",
                rank.rank()
            )
            .into());
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
    Err("not all requests were served".into())
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
