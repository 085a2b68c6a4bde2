//! Ranks of jstream: messages with a tag, received by source and tag.

use std::collections::HashMap;
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jstream::buffer::{MessageBuffer, Pool};
use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Collective, Layout, LayoutError, Mesh, Rank};
use jstream_transport::{Address, Endpoint, Options, connect, listen};

use super::case::{Case, Layer, Pattern, Way, Work};
use super::pair::Waiting;
use super::side::{Channel, FILL, Over, Samples, Side, sum};
use super::{Cores, patterns, with_objects};
use crate::Failure;
use crate::measure::since;

const TAG: u64 = 7;

/// Ranks of this process that the connecting side has not taken yet, by their names.
static WAITING: Mutex<Option<HashMap<String, Vec<Rank>>>> = Mutex::new(None);

pub(super) fn serve(case: &Case, subject: &str) -> Result<Waiting, Failure> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("jstream-ranks-{}-{count}", process::id());
    let (case, subject) = (*case, subject.to_owned());
    if case.way == Way::Inproc {
        let mut here = rank::threads(case.ranks, &ranks(&case));
        // Of the pairs, the connecting side has the second halves, and otherwise one rank.
        let kept = match case.pattern {
            Pattern::Pairs(pairs) => pairs,
            _ => here.len().saturating_sub(1),
        };
        let there = here.split_off(kept);
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.get_or_insert_default().insert(name.clone(), there);
        return Ok(Waiting::new(name, move || side(&case, &subject, here)));
    }
    let listener = listen(&Address::shm(&name)?, &options())?;
    let address = listener.local_address().to_string();
    Ok(Waiting::new(address, move || {
        let endpoint = listener.accept()?.establish()?;
        side(&case, &subject, vec![one_of_two(&case, 0, endpoint)?])
    }))
}

pub(super) fn join(case: &Case, subject: &str, address: &str) -> Result<Box<dyn Side>, Failure> {
    let ranks = if case.way == Way::Inproc {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        let ranks = waiting.as_mut().and_then(|ranks| ranks.remove(address));
        ranks.ok_or("no rank waits at this address")?
    } else {
        let endpoint = connect(&address.parse()?, &options())?;
        vec![one_of_two(case, 1, endpoint)?]
    };
    side(case, subject, ranks)
}

fn options() -> Options {
    let mut options = Options::default();
    options.spin = Duration::MAX;
    // The longest message of a case has 72 MiB.
    options.max_message = 128 << 20;
    options
}

fn ranks(case: &Case) -> rank::Options {
    let mut options = rank::Options::default();
    if !case.shares_cores() {
        options.spin = Duration::MAX;
    }
    // Lists are as deep as they are long.
    options.object_limits.depth = None;
    options
}

/// Creates one of two connected ranks.
fn one_of_two(case: &Case, rank: u32, endpoint: Endpoint) -> Result<Rank, Failure> {
    Ok(Mesh::new(rank, 2, &ranks(case))
        .endpoint(1 - rank, endpoint)?
        .build())
}

/// Creates a side of some ranks. Only collective operations and pairs have more than one.
fn side(case: &Case, subject: &str, mut ranks: Vec<Rank>) -> Result<Box<dyn Side>, Failure> {
    if matches!(
        case.pattern,
        Pattern::BroadcastObject | Pattern::ScatterObjects
    ) {
        return with_objects::side(case, subject, ranks);
    }
    if matches!(case.pattern, Pattern::Tags { .. } | Pattern::Pairs(_)) {
        return patterns::side(case, ranks);
    }
    if ranks.len() > 1 && case.layer == Layer::Group {
        let members = ranks.into_iter().map(|rank| Member::new(rank, case.bytes));
        return Ok(Box::new(Members(members.collect())));
    }
    let rank = ranks.pop().ok_or("the side has no rank")?;
    if let Pattern::Indexed(count) = case.pattern {
        return Ok(Box::new(Over::new(Triangles::new(rank, count)?)));
    }
    if case.layer == Layer::Group {
        return Ok(Box::new(Member::new(rank, case.bytes)));
    }
    let slices = Slices {
        other: 1 - rank.rank(),
        rank,
        sent: vec![FILL; case.bytes],
        received: vec![0; case.bytes],
    };
    if subject == "jstream-filled" {
        return Ok(Box::new(Over::new(Moving {
            slices,
            pool: Pool::default(),
            kept: None,
        })));
    }
    Ok(Box::new(Over::new(slices)))
}

/// Channel that sends directly from the program's memory and receives into memory of the program.
struct Slices {
    rank: Rank,
    other: u32,
    sent: Vec<u8>,
    received: Vec<u8>,
}

impl Channel for Slices {
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure> {
        if let Some(fill) = fill {
            self.sent.fill(fill);
        }
        Ok(self.rank.send(self.other, TAG, &self.sent)?)
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        self.rank.recv(self.other, TAG, &mut self.received)?;
        Ok(if look { sum(&self.received) } else { 0 })
    }
}

/// Channel that sends and receives the upper triangles of matrices in place.
struct Triangles {
    rank: Rank,
    other: u32,
    layout: Layout,
    sent: Vec<f64>,
    received: Vec<f64>,
}

impl Triangles {
    fn new(rank: Rank, count: usize) -> Result<Self, LayoutError> {
        let one = Layout::indexed((0..8).map(|row| (9 * row, 8 - row)))?;
        Ok(Self {
            other: 1 - rank.rank(),
            rank,
            layout: one.repeat(count, 64)?,
            sent: vec![1.0; 64 * count],
            received: vec![0.0; 64 * count],
        })
    }
}

impl Channel for Triangles {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        let (rank, other) = (&self.rank, self.other);
        Ok(rank.layouts().send(other, TAG, &self.sent, &self.layout)?)
    }

    fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
        let (rank, other) = (&self.rank, self.other);
        rank.layouts()
            .recv(other, TAG, &mut self.received, &self.layout)?;
        // The last element of a matrix is a block of its own.
        if self
            .received
            .last()
            .is_none_or(|last| last.total_cmp(&1.0).is_ne())
        {
            return Err("the received elements differ from the elements sent".into());
        }
        Ok(0)
    }
}

/// Channel that sends back each jbuf that it has received.
struct Moving {
    slices: Slices,
    pool: Pool,
    kept: Option<MessageBuffer>,
}

impl Channel for Moving {
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure> {
        let mut filled = match self.kept.take() {
            Some(filled) => filled,
            None => {
                let sent = &self.slices.sent;
                self.pool.take(sent.len())?.copy_from(sent)?
            }
        };
        if let Some(fill) = fill {
            filled.as_bytes_mut().fill(fill);
        }
        let (rank, other) = (&self.slices.rank, self.slices.other);
        Ok(rank
            .buffers()
            .send(other, TAG, filled)
            .map_err(|e| e.error)?)
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        let message = self.slices.rank.buffers().recv(self.slices.other, TAG)?;
        let bytes = message.payload.as_bytes();
        let sum = if look { sum(bytes) } else { 0 };
        self.kept = Some(message.payload);
        Ok(sum)
    }
}

/// A member of a group that takes part in collective operations.
struct Member {
    rank: Rank,
    sent: Vec<f64>,
    received: Vec<f64>,
    samples: Samples,
    /// Number of operations so far.
    turn: u32,
}

impl Member {
    fn new(rank: Rank, bytes: usize) -> Self {
        let all = bytes / size_of::<f64>() * rank.size() as usize;
        Self {
            rank,
            sent: vec![1.0; all],
            received: vec![1.0; all],
            samples: Samples::default(),
            turn: 0,
        }
    }

    fn operate(&mut self, work: &Work) -> Result<(), Failure> {
        let Pattern::Collective(collective) = work.pattern else {
            return Err("the case is no collective operation".into());
        };
        let count = work.bytes / size_of::<f64>();
        let (rank, sent, received) = (&self.rank, &self.sent[..], &mut self.received[..]);
        let own = sent.get(..count).unwrap_or_default();
        let root = self.turn % rank.size();
        self.turn = self.turn.wrapping_add(1);
        match collective {
            Collective::Barrier => rank.barrier()?,
            Collective::Broadcast => {
                rank.broadcast(root, received.get_mut(..count).unwrap_or_default())?;
            }
            Collective::AllReduce => {
                let sums = received.get_mut(..count).unwrap_or_default();
                rank.all_reduce(own, sums, &Sum)?;
                let expected = f64::from(rank.size());
                if sums
                    .last()
                    .is_some_and(|sum| sum.total_cmp(&expected).is_ne())
                {
                    return Err("the sum is wrong".into());
                }
            }
            Collective::AllGather => rank.all_gather(own, received)?,
            Collective::AllToAll => rank.all_to_all(sent, received)?,
            other => return Err(format!("{other} is not measured").into()),
        }
        Ok(())
    }
}

impl Side for Member {
    fn lead(&mut self, work: &Work) -> Result<f64, Failure> {
        self.samples.begin(work.batches + 1);
        for _ in 0..=work.batches {
            let start = Instant::now();
            for _ in 0..work.batch {
                self.operate(work)?;
            }
            self.samples.push(since(start, work.batch));
        }
        Ok(self.samples.median())
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        (0..work.exchanges()).try_for_each(|_| self.operate(work))
    }
}

/// Some members of a group in this process, each of which runs in a thread of its own.
struct Members(Vec<Member>);

impl Side for Members {
    fn lead(&mut self, _work: &Work) -> Result<f64, Failure> {
        Err("several members can't measure the time together".into())
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        thread::scope(|scope| {
            let members = self.0.iter_mut().map(|member| {
                scope.spawn(move || {
                    with_objects::pin_member(&member.rank);
                    member.follow(work)
                })
            });
            let members: Vec<_> = members.collect();
            let ends = members.into_iter().map(|member| {
                let joined = member.join();
                joined.unwrap_or_else(|_| Err("a rank has panicked".into()))
            });
            ends.fold(Ok(()), Result::and)
        })
    }
}

/// Tag of the message that begins a round of several processes.
const ROUND: u64 = 8;

/// The member of several processes that measures the time. Dropping the world ends the others.
struct Leader {
    world: World,
    member: Member,
}

impl Side for Leader {
    fn lead(&mut self, work: &Work) -> Result<f64, Failure> {
        for other in 1..self.world.size() {
            self.world.send(other, ROUND, &[0u8])?;
        }
        self.member.lead(work)
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        self.member.follow(work)
    }
}

/// Starts the other processes of a case with more than two, and returns the side of rank 0.
pub(super) fn lead_processes(
    case: &Case,
    subject: &str,
    cores: Cores,
) -> Result<Box<dyn Side>, Failure> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let address = Address::shm(&format!("jstream-group-{}-{count}", process::id()))?;
    let program = std::env::current_exe()?;
    let command = |rank| {
        let mut command = Command::new(&program);
        command
            .args(["transport-peer", case.name, subject])
            .arg(cores.of(rank).to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    };
    let world = World::spawn(&[address], case.ranks, &world_options(case), command)?;
    let member = Member::new(Rank::clone(&world), case.bytes);
    Ok(Box::new(Leader { world, member }))
}

/// Runs the side of another process: a round for each message of rank 0, until that rank ends.
pub(super) fn follow_processes(case: &Case) -> Result<(), Failure> {
    let world = World::from_env(&world_options(case))?;
    let (mut member, work) = (Member::new(Rank::clone(&world), case.bytes), case.work());
    while world.recv(0, ROUND, &mut [0u8]).is_ok() {
        member.follow(&work)?;
    }
    Ok(())
}

fn world_options(case: &Case) -> WorldOptions {
    let mut options = WorldOptions::default();
    options.rank = ranks(case);
    options
}
