//! A work queue: rank 0 gives pieces of work to the workers that ask for them, so fast workers do
//! more. One worker is killed, and its piece is given to another one.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "numbers of this program's own"
)]

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::process::{self, ExitCode};
use std::thread;
use std::time::Duration;

use clap::Parser;
use jstream_transport::Address;
use jstream_transport::rank::world::{World, WorldError, WorldOptions};
use jstream_transport::rank::{self, Rank, Source};

/// Counts primes with processes of different speed, one of which is killed.
#[derive(Parser)]
struct Arguments {
    /// Number of worker processes.
    #[arg(long, default_value_t = 4)]
    workers: u32,
    /// Number of pieces of work.
    #[arg(long, default_value_t = 60)]
    pieces: u64,
    /// Rank that is killed during its third piece; 0 for none.
    #[arg(long, default_value_t = 2)]
    kill: u32,
}

type Failure = Box<dyn Error + Send + Sync>;

/// Tag of a piece from rank 0: its number, or [`NO_MORE`].
const PIECE: u64 = 1;
/// Tag of a result: the number of the piece, and the number of primes in it. The first message of a
/// worker has no result and only asks for work.
const FOUND: u64 = 2;
/// Tag that is never sent. A receive with this tag fails when the worker is gone.
const NEVER: u64 = 3;

const NO_MORE: u64 = u64::MAX;
const LENGTH: u64 = 2000;

fn is_prime(number: u64) -> bool {
    number > 1
        && (2..)
            .take_while(|d| d * d <= number)
            .all(|d| number % d != 0)
}

fn primes(piece: u64) -> u64 {
    let numbers = piece * LENGTH..(piece + 1) * LENGTH;
    numbers.filter(|number| is_prime(*number)).count() as u64
}

/// Runs a worker, which is any rank except 0.
fn work(rank: &Rank, kill: u32) -> Result<(), Failure> {
    let mut found = [NO_MORE, 0];
    for turn in 0.. {
        rank.send(0, FOUND, &found)?;
        let mut piece = [0];
        rank.recv(0, PIECE, &mut piece)?;
        let [piece] = piece;
        if piece == NO_MORE {
            return Ok(());
        }
        if rank.rank() == kill && turn == 2 {
            process::abort();
        }
        thread::sleep(Duration::from_millis(u64::from(rank.rank())));
        found = [piece, primes(piece)];
    }
    Ok(())
}

/// The state of all pieces and workers at rank 0.
struct Queue<'r> {
    rank: &'r Rank,
    left: VecDeque<u64>,
    found: BTreeMap<u64, u64>,
    workers: BTreeMap<u32, Worker>,
}

#[derive(Default)]
struct Worker {
    has: Option<u64>,
    done: u64,
    waits: bool,
}

impl Queue<'_> {
    /// Gives a piece to each waiting worker, as long as there are pieces.
    fn give(&mut self) {
        for (number, worker) in &mut self.workers {
            if !worker.waits {
                continue;
            }
            let Some(piece) = self.left.pop_front() else {
                return;
            };
            worker.waits = false;
            worker.has = Some(piece);
            // If the worker is gone, its receive with the tag `NEVER` reports it.
            let _ = self.rank.send(*number, PIECE, &[piece]);
        }
    }

    /// Returns true if all results have arrived and all workers wait for work.
    fn is_done(&self, pieces: u64) -> bool {
        let mut workers = self.workers.values();
        self.found.len() as u64 == pieces && workers.all(|worker| worker.waits)
    }

    fn received(&mut self, from: u32, piece: u64, primes: u64) {
        let Some(worker) = self.workers.get_mut(&from) else {
            return;
        };
        worker.waits = true;
        if worker.has.take().is_some_and(|has| has == piece) {
            worker.done += 1;
            self.found.insert(piece, primes);
        }
    }

    /// Takes back the piece of a worker that is gone.
    fn gone(&mut self, number: u32) {
        if let Some(worker) = self.workers.remove(&number) {
            println!("rank {number} is gone; it had piece {:?}", worker.has);
            self.left.extend(worker.has);
        }
    }
}

/// Distributes the pieces. Returns the total number of primes.
fn share_out(rank: &Rank, pieces: u64) -> Result<u64, Failure> {
    let workers = (1..rank.size()).map(|number| (number, Worker::default()));
    let mut queue = Queue {
        rank,
        left: (0..pieces).collect(),
        found: BTreeMap::new(),
        workers: workers.collect(),
    };
    // The first request receives results of any worker. The request at the index of a worker's rank
    // fails when that worker is gone.
    let mut requests = vec![rank.buffers().irecv(Source::Any, FOUND)];
    requests.extend((1..rank.size()).map(|number| rank.buffers().irecv(number, NEVER)));
    while !queue.is_done(pieces) {
        match rank::wait_any(&mut requests) {
            Some((0, found)) => {
                let found = found?;
                let &[piece, primes] = found.payload.view_of::<[u64; 2]>()?;
                queue.received(found.status.source, piece, primes);
                if let Some(next) = requests.first_mut() {
                    *next = rank.buffers().irecv(Source::Any, FOUND);
                }
            }
            Some((number, ended)) => {
                if let Err(why) = ended {
                    println!("{why}");
                }
                queue.gone(u32::try_from(number)?);
            }
            None => return Err("all workers are gone".into()),
        }
        queue.give();
    }
    for (number, worker) in queue.workers {
        rank.send(number, PIECE, &[NO_MORE])?;
        println!("rank {number} did {} pieces", worker.done);
    }
    Ok(queue.found.values().sum())
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let address: Address = format!("shm://work-queue-{}", process::id()).parse()?;
    let size = arguments.workers + 1;
    let world = World::processes(&[address], size, &WorldOptions::default())?;
    if world.rank() > 0 {
        work(&world, arguments.kill)?;
        // The killed worker sends no goodbye message.
        return match world.finish() {
            Err(WorldError::Unfinished { ranks, .. }) if ranks == [arguments.kill] => Ok(()),
            end => Ok(end?),
        };
    }
    let found = share_out(&world, arguments.pieces)?;
    let expected: u64 = (0..arguments.pieces).map(primes).sum();
    match world.finish() {
        Err(WorldError::Children { ends }) if ends.iter().all(|end| end.0 == arguments.kill) => {}
        end => end?,
    }
    println!("{found} primes in {} pieces", arguments.pieces);
    if found == expected {
        return Ok(());
    }
    Err(format!("wrong result: expected {expected} primes").into())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("work_queue: {error}");
            ExitCode::FAILURE
        }
    }
}
