//! A queue of work: rank 0 gives pieces to whoever asks first, so that fast workers do more. One of them is
//! killed, and what it had is given to another.
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

/// Counts primes with processes of uneven speed, one of which is killed on the way.
#[derive(Parser)]
struct Arguments {
    /// How many processes work.
    #[arg(long, default_value_t = 4)]
    workers: u32,
    /// How many pieces of work there are.
    #[arg(long, default_value_t = 60)]
    pieces: u64,
    /// Which rank is killed, in its third piece; 0 for none.
    #[arg(long, default_value_t = 2)]
    kill: u32,
}

type Failure = Box<dyn Error + Send + Sync>;

/// A piece, from rank 0: its number, or [`NO_MORE`].
const PIECE: u64 = 1;
/// What a worker found: the number of the piece, and how many primes are in it. The first one asks for work
/// alone.
const FOUND: u64 = 2;
/// Nobody sends this: who waits for it learns that a worker is gone.
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

/// What all ranks but 0 do.
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

/// The pieces, as rank 0 sees them.
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
    /// Gives a piece to each who waits, as long as there are some.
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
            // One who is gone is found to be so below.
            let _ = self.rank.send(*number, PIECE, &[piece]);
        }
    }

    /// All is found, and nobody is about to say more.
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

    /// Takes back what one has who is gone.
    fn gone(&mut self, number: u32) {
        if let Some(worker) = self.workers.remove(&number) {
            println!("rank {number} had {:?}", worker.has);
            self.left.extend(worker.has);
        }
    }
}

/// What rank 0 does: how many primes there are in all pieces.
fn share_out(rank: &Rank, pieces: u64) -> Result<u64, Failure> {
    let workers = (1..rank.size()).map(|number| (number, Worker::default()));
    let mut queue = Queue {
        rank,
        left: (0..pieces).collect(),
        found: BTreeMap::new(),
        workers: workers.collect(),
    };
    // What anybody found; and behind it, at the place of its rank, what each worker never says.
    let mut requests = vec![rank.irecv(Source::Any, FOUND)];
    requests.extend((1..rank.size()).map(|number| rank.irecv(number, NEVER)));
    while !queue.is_done(pieces) {
        match rank::wait_any(&mut requests) {
            Some((0, found)) => {
                let found = found?;
                let &[piece, primes] = found.payload.view_of::<[u64; 2]>()?;
                queue.received(found.status.source, piece, primes);
                if let Some(next) = requests.first_mut() {
                    *next = rank.irecv(Source::Any, FOUND);
                }
            }
            Some((number, ended)) => {
                if let Err(why) = ended {
                    println!("{why}");
                }
                queue.gone(u32::try_from(number)?);
            }
            None => return Err("nobody works any more".into()),
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
        // Who was killed says no goodbye.
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
    Err(format!("there are {expected}").into())
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
