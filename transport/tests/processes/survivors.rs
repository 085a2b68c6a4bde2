//! Processes that are killed at random times, and the survivors that go on without them.

use std::env;
use std::process::{self, Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{Algorithm, Error, Rank};
use rustix::process::{Signal, getpid, kill_process};
use testing::patterns::dice;
use testing::process::{again, role};
use testing::transport::worlds::{known, patient};
use testing::{LONG, effort};

/// Environment variables of a child process: its rank, the size of its world, the address of the
/// world, and the time in microseconds after which it is killed.
const PLACE: &str = "JSTREAM_TEST_PLACE";
const MEMBERS: &str = "JSTREAM_TEST_MEMBERS";
const ADDRESS: &str = "JSTREAM_TEST_ADDRESS";
const LIFE: &str = "JSTREAM_TEST_LIFE";

/// The environment variable with the work of the processes.
const WORK: &str = "JSTREAM_TEST_WORK";

/// Entry point of the child processes.
#[test]
fn part() {
    if role().as_deref() != Some("survive") {
        return;
    }
    let variable = |name| env::var(name).unwrap();
    let number = |name| variable(name).parse::<u32>().unwrap();
    let address = variable(ADDRESS).parse().unwrap();
    let world = World::join(&address, number(PLACE), number(MEMBERS), &options()).unwrap();
    // All have joined when this ends, and some may have been killed.
    let _ = world.barrier();
    if let Ok(life) = env::var(LIFE) {
        let life = Duration::from_micros(life.parse().unwrap());
        thread::spawn(move || {
            thread::sleep(life);
            kill_process(getpid(), Signal::KILL).unwrap();
        });
    }
    match variable(WORK).as_str() {
        "stop" => time_out_beside_a_stopped_rank(&world),
        "gather" => println!("\nresult {:?}", work(&world).unwrap()),
        _ => {
            name_the_killed(&world);
            println!("\nresult all named it");
        }
    }
}

/// Operations that need rank 1, which is killed.
fn name_the_killed(world: &World) {
    if world.rank() == 1 {
        thread::sleep(LONG);
    }
    let killed = |error: &Error| match error {
        Error::PeerGone { rank, .. } | Error::FailedAt { rank, .. } => Some(*rank),
        Error::Collective { source, .. } => match **source {
            Error::PeerGone { rank, .. } => Some(rank),
            _ => None,
        },
        _ => None,
    };
    let long = vec![1u64; 200_000];
    let mut sums = vec![0u64; 200_000];
    // The first one of them is under way when the process is killed.
    let errors = [
        match world.rank() % 4 {
            0 => world.recv(1, 7, &mut [0u8]).unwrap_err(),
            2 => world.send(1, 7, &long).unwrap_err(),
            _ => Error::from(world.buffers().irecv(1, 7).wait().unwrap_err()),
        },
        world.all_reduce(&long, &mut sums, &Sum).unwrap_err(),
        world.ssend(1, 7, &[1u8]).unwrap_err(),
        world.objects().all_gather(&[1u8]).unwrap_err(),
        world.probe(1, 7).map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(killed(&error), Some(1), "{error}");
    }
}

/// Operations in which rank 1 stops. They end with the timeout of collective operations, which is
/// much shorter than all other timeouts.
fn time_out_beside_a_stopped_rank(world: &World) {
    if world.rank() == 1 {
        thread::spawn(|| {
            thread::sleep(Duration::from_millis(20));
            kill_process(getpid(), Signal::STOP).unwrap();
        });
    }
    let long = vec![1u64; 50_000];
    let mut sums = vec![0u64; 50_000];
    let rank = world.with_algorithm(Algorithm::Ring);
    loop {
        let begun = Instant::now();
        if let Err(error) = rank.all_reduce(&long, &mut sums, &Sum) {
            assert!(begun.elapsed() < LONG / 4, "{error} after {begun:?}");
            break;
        }
    }
    // Rank 3 has no connection to rank 1, which is not its neighbour, and gets none.
    let begun = Instant::now();
    let counts = vec![1; world.size() as usize];
    let mut all = vec![0u32; world.size() as usize];
    let gathered = world.gather_v(3, &[world.rank()], &counts, &mut all);
    assert_eq!(gathered.is_err(), world.rank() == 3, "{gathered:?}");
    assert!(begun.elapsed() < LONG / 4, "{:?}", begun.elapsed());
    println!("\nresult all timed out");
    // The peers may wait for an orderly end, which is not possible.
    process::exit(0);
}

fn options() -> WorldOptions {
    let mut options = patient();
    options.rank.collective_timeout = match env::var(WORK).as_deref() {
        Ok("stop") => Duration::from_secs(2),
        _ => Duration::from_secs(60),
    };
    options
}

/// Gathers the numbers of the living members several times, in communicators that shrink when a
/// member is killed. Returns what was found each time.
fn work(world: &World) -> Result<Vec<(u32, Vec<u32>)>, Error> {
    let mut rank = Rank::clone(world);
    let mut found = Vec::new();
    while found.len() < 12 {
        let mut members = vec![0; rank.size() as usize];
        let gathered = gather(world, &rank, &mut members);
        if gathered.is_err() {
            rank.recovery().revoke();
        }
        let consensus = rank.recovery().agree(u64::from(gathered.is_ok()))?;
        if consensus.flags == 1 {
            found.push((rank.context(), members));
        }
        if consensus.flags == 0 || !consensus.failed.is_empty() {
            rank = rank.recovery().shrink()?;
        }
    }
    Ok(found)
}

/// Collects the numbers of all members, by short and by long messages.
fn gather(world: &World, rank: &Rank, members: &mut [u32]) -> Result<(), Error> {
    rank.all_gather(&[world.rank()], members)?;
    let mut sums = vec![0u64; 50_000];
    rank.all_reduce(&vec![1; 50_000], &mut sums, &Sum)?;
    assert_eq!(sums, vec![u64::from(rank.size()); 50_000]);
    Ok(())
}

struct Member {
    child: Child,
    is_mortal: bool,
}

/// Starts the members of a world, of which some are killed.
fn start(work: &str, scheme: &str, size: u32, lives: &[Option<u64>]) -> Vec<Member> {
    let address = known(scheme).to_string();
    let members = (0..size).zip(lives).map(|(rank, life)| {
        let mut command = again("survivors::part", "survive");
        command.env(WORK, work);
        command.env(PLACE, rank.to_string());
        command.env(MEMBERS, size.to_string());
        command.env(ADDRESS, &address);
        if let Some(life) = life {
            command.env(LIFE, life.to_string());
        }
        Member {
            child: command.stdout(Stdio::piped()).spawn().unwrap(),
            is_mortal: life.is_some(),
        }
    });
    members.collect()
}

/// Waits for all members, and checks that those that were not killed have found the same.
fn check(context: &str, members: Vec<Member>) {
    let mut results = Vec::new();
    for (rank, member) in members.into_iter().enumerate() {
        let output = member.child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let result = text.lines().find(|line| line.starts_with("result"));
        match result {
            Some(result) => results.push((rank, result.to_owned())),
            None => assert!(
                member.is_mortal,
                "{context}: rank {rank} has failed: {text}"
            ),
        }
    }
    if let Some((_, first)) = results.first() {
        let is_same = results.iter().all(|(_, result)| result == first);
        assert!(is_same, "{context}: {results:?}");
    }
}

#[test]
fn survivors_of_killed_processes_agree() {
    for scheme in ["shm", "tcp", "uds"] {
        for seed in 0..u64::from(12 * effort()) {
            let mut dice = dice(seed);
            let size = 2 + dice(4) as u32;
            let span = 1 << (6 + dice(11));
            let mut lives: Vec<_> = (0..size)
                .map(|_| (dice(2) == 0).then(|| dice(span)))
                .collect();
            // One member survives, often not the first one.
            lives[dice(u64::from(size)) as usize] = None;
            let context = format!("{scheme}, seed {seed}, {lives:?}");
            println!("{context}");
            check(&context, start("gather", scheme, size, &lives));
        }
    }
}

#[test]
fn one_survivor_is_left() {
    for scheme in ["shm", "tcp"] {
        for survivor in 0..4 {
            let lives: Vec<_> = (0..4)
                .map(|rank| (rank != survivor).then_some(2000 * rank + 1000))
                .collect();
            check(
                &format!("{scheme}, survivor {survivor}"),
                start("gather", scheme, 4, &lives),
            );
        }
    }
}

#[test]
fn a_killed_process_is_named_by_the_operations_that_need_it() {
    for scheme in ["shm", "tcp", "uds"] {
        let lives = [None, Some(30_000), None, None, None];
        let context = format!("{scheme}, rank 1 is killed");
        check(&context, start("name", scheme, 5, &lives));
    }
}

#[test]
fn a_stopped_process_does_not_delay_the_timeout_of_others() {
    for scheme in ["shm", "tcp", "uds"] {
        let mut members = start("stop", scheme, 4, &[None; 4]);
        let mut stopped = members.remove(1);
        check(&format!("{scheme}, rank 1 stops"), members);
        stopped.child.kill().unwrap();
        stopped.child.wait().unwrap();
    }
}
