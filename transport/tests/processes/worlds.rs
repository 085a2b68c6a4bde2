//! Worlds of processes, some of which are killed.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use jstream_transport::Address;
use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{PARENT, RANK, World, WorldError};
use jstream_transport::rank::{Error, Field, Layout, rank_local};
use testing::process::{ROLE, again, role};
use testing::transport::fresh;
use testing::transport::worlds::patient;
use testing::{LONG, SHORT};
use zerocopy::{FromBytes, Immutable, IntoBytes};

const SCHEMES: [&str; 4] = ["shm", "uds", "tcp", "uring"];

/// Starts a world whose other ranks are processes of this program in the given role.
fn processes(role: &str, addresses: &[Address], size: u32) -> Result<World, WorldError> {
    World::spawn(addresses, size, &patient(), |_| again("worlds::part", role))
}

/// Entry point of the child processes.
#[test]
fn part() {
    let Some(role) = role() else {
        return;
    };
    match &*role {
        "go" => return,
        "fail" => process::exit(7),
        "start a world" => return start_and_stay(),
        "be killed while it joins" => return be_killed_while_joining(),
        "have several ranks" => {
            World::run_from_env(&patient(), exchange).unwrap();
            return;
        }
        "exchange records" => {
            World::run_from_env(&patient(), exchange_records).unwrap();
            return;
        }
        "exchange long messages" => {
            World::run_from_env(&patient(), exchange_long).unwrap();
            return;
        }
        "panic in one of several ranks" => {
            return drop(World::run_from_env(&patient(), panic_at_rank_3));
        }
        "know no threads" => {
            World::from_env(&patient()).unwrap();
            return;
        }
        _ => {}
    }
    let world = World::from_env(&patient()).unwrap();
    match &*role {
        "pass on" => {
            pass_on(&world);
            world.finish().unwrap();
        }
        "stay" => {
            // Returns when rank 0 ends.
            let _ = world.recv(0, 1, &mut [0u8]);
            thread::sleep(LONG);
        }
        "end with its rank" => {
            let code = i32::try_from(world.rank()).unwrap();
            world.finish().unwrap();
            process::exit(code - 1);
        }
        "be killed" => {
            if world.rank() == 2 {
                process::abort();
            }
            is_gone(&world, 2);
            let others = world.finish().unwrap_err();
            assert!(
                matches!(&others, WorldError::Unfinished { ranks, .. } if ranks == &[2]),
                "{others}"
            );
            // It was lost at once, so the text names no time.
            assert!(!others.to_string().contains("within"), "{others}");
        }
        _ => panic!("unknown role {role}"),
    }
}

/// Exchanges numbers with all ranks, by messages and by a collective operation. Returns the
/// schemes of the connections.
fn exchange(world: &World) -> Vec<Option<&'static str>> {
    let (rank, size) = (world.rank(), world.size());
    for other in 0..size {
        world.send(other, u64::from(rank), &[rank, other]).unwrap();
    }
    for other in (0..size).rev() {
        let mut numbers = [0u32; 2];
        world.recv(other, u64::from(other), &mut numbers).unwrap();
        assert_eq!(numbers, [other, rank]);
    }
    let mut sum = [0];
    world.all_reduce(&[rank], &mut sum, &Sum).unwrap();
    assert_eq!(sum, [(0..size).sum::<u32>()]);
    let scheme = |other| Some(world.endpoint(other)?.info().scheme);
    (0..size).map(scheme).collect()
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Particle {
    mass: f64,
    position: [f32; 3],
    kind: u32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Dot {
    kind: u32,
    color: [u8; 4],
    position: [f32; 3],
}

rank_local! {
    static RECEIVED: AtomicU32 = AtomicU32::new(0);
}

/// Sends fields of particles to the next rank, which receives them into dots. Returns the number of
/// messages that this rank has counted.
fn exchange_records(world: &World) -> u32 {
    let (rank, size) = (world.rank(), world.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    for (tag, count) in (0..).zip([1usize, 1_000, 50_000]) {
        let all = Layout::contiguous(count).unwrap();
        let position = Field::of(|p: &Particle| &p.position).unwrap();
        let sent = all.record(&position.and(Field::of(|p: &Particle| &p.kind).unwrap()));
        let position = Field::of(|d: &Dot| &d.position).unwrap();
        let received = all.record(&position.and(Field::of(|d: &Dot| &d.kind).unwrap()));
        let particle = |kind| Particle {
            mass: 1.0,
            position: [rank as f32; 3],
            kind,
        };
        let particles: Vec<_> = (0..).take(count).map(particle).collect();
        let dot = Dot {
            kind: 0,
            color: [9; 4],
            position: [0.5; 3],
        };
        let mut dots = vec![dot; count];
        world.scope(|scope| {
            let receive = scope.irecv_layout(before, tag, &mut dots, &received);
            scope
                .isend_layout(next, tag, &particles, &sent)
                .wait()
                .unwrap();
            receive.wait().unwrap();
        });
        RECEIVED.get(world).fetch_add(1, Ordering::Relaxed);
        for (kind, dot) in (0..).zip(&dots) {
            let found = (dot.kind, dot.position, dot.color);
            assert_eq!(found, (kind, [before as f32; 3], [9; 4]));
        }
    }
    RECEIVED.get(world).load(Ordering::Relaxed)
}

/// Ends one of the ranks of the second process by a panic. All others learn that it is gone.
fn panic_at_rank_3(world: &World) {
    assert_ne!(world.rank(), 3, "this rank panics");
    is_gone(world, 3);
}

/// Waits until a rank that sends no messages has gone.
fn is_gone(world: &World, rank: u32) {
    let gone = world.recv(rank, 1, &mut [0u8]).unwrap_err();
    assert!(
        matches!(gone, Error::PeerGone { rank: found, .. } if found == rank),
        "{gone}"
    );
}

/// Receives a sum from the previous rank, adds this rank to it, and sends it to the next rank.
fn pass_on(world: &World) -> u64 {
    let (rank, size) = (world.rank(), world.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut sum = [0];
    if rank > 0 {
        world.recv(before, 7, &mut sum).unwrap();
    }
    world.send(next, 7, &[sum[0] + u64::from(rank)]).unwrap();
    if rank > 0 {
        return 0;
    }
    world.recv(before, 7, &mut sum).unwrap();
    sum[0]
}

#[test]
fn processes_are_a_world() {
    for scheme in SCHEMES {
        let world = processes("pass on", &[fresh(scheme)], 4).unwrap();
        assert_eq!(pass_on(&world), 1 + 2 + 3, "{scheme}");
        for rank in 1..4 {
            assert_eq!(world.endpoint(rank).unwrap().info().scheme, scheme);
        }
        world.finish().unwrap();
    }
}

#[test]
fn processes_of_one_host_share_memory() {
    let world = processes("pass on", &[fresh("tcp"), fresh("shm")], 3).unwrap();
    assert_eq!(pass_on(&world), 3);
    for rank in 1..3 {
        assert_eq!(world.endpoint(rank).unwrap().info().scheme, "shm");
    }
    world.finish().unwrap();
}

/// Runs `work` at the ranks of this process, in a world of `processes` processes with `threads`
/// ranks each; the other processes have the given role.
fn run<R: Send>(
    role: &str,
    addresses: &[Address],
    (processes, threads): (u32, u32),
    work: impl Fn(&World) -> R + Sync,
) -> Result<Vec<R>, WorldError> {
    let command = |_| again("worlds::part", role);
    World::run_commands(addresses, (processes, threads), &patient(), command, work)
}

#[test]
fn processes_have_several_ranks_each() {
    for (processes, threads) in [(1, 4), (4, 1), (2, 1), (2, 3), (3, 2)] {
        for scheme in SCHEMES {
            let addresses = [fresh(scheme)];
            let role = "have several ranks";
            let schemes = run(role, &addresses, (processes, threads), exchange).unwrap();
            // Ranks of one process have no connections.
            let expected = |other| (other >= threads).then_some(scheme);
            let expected: Vec<_> = (0..processes * threads).map(expected).collect();
            assert_eq!(schemes, vec![expected; threads as usize], "{scheme}");
        }
    }
}

#[test]
fn processes_exchange_fields_of_their_structs() {
    for (processes, threads) in [(2, 1), (2, 2)] {
        for scheme in SCHEMES {
            let (role, addresses) = ("exchange records", [fresh(scheme)]);
            let counts = run(role, &addresses, (processes, threads), exchange_records);
            assert_eq!(counts.unwrap(), vec![3; threads as usize], "{scheme}");
        }
    }
}

/// Exchanges 80 MiB with the other rank, by messages and by a collective operation. That is more
/// than the library allocates for a message, and more than a ring or a pipe holds.
fn exchange_long(world: &World) {
    const COUNT: u64 = 10 << 20;
    let (rank, other) = (u64::from(world.rank()), 1 - world.rank());
    let long: Vec<u64> = (0..COUNT).map(|number| 2 * number + rank).collect();
    let mut received = vec![0; long.len()];
    world
        .sendrecv(other, 3, &long, other, 3, &mut received)
        .unwrap();
    let is_others = |(number, value): (u64, u64)| value == 2 * number + u64::from(other);
    assert!((0..).zip(received.iter().copied()).all(is_others));
    let mut sum = vec![0; long.len()];
    world.all_reduce(&long, &mut sum, &Sum).unwrap();
    let is_sum = |(number, value): (u64, u64)| value == 4 * number + 1;
    assert!((0..).zip(sum).all(is_sum));
}

#[test]
fn processes_exchange_long_messages() {
    for scheme in SCHEMES {
        let ends = run(
            "exchange long messages",
            &[fresh(scheme)],
            (2, 1),
            exchange_long,
        );
        assert_eq!(ends.unwrap().len(), 1, "{scheme}");
    }
}

#[test]
fn processes_with_several_ranks_share_memory() {
    let addresses = [fresh("tcp"), fresh("shm")];
    let schemes = run("have several ranks", &addresses, (2, 2), exchange).unwrap();
    assert_eq!(schemes, [[None, None, Some("shm"), Some("shm")]; 2]);
}

#[test]
fn a_panic_at_one_of_several_ranks_is_seen_by_all() {
    let role = "panic in one of several ranks";
    let error = run(role, &[fresh("shm")], (2, 2), panic_at_rank_3).unwrap_err();
    assert!(
        matches!(
            &error,
            WorldError::Unfinished { ranks, .. } if ranks == &[3]
        ) || matches!(&error, WorldError::Children { ends } if ends[0].0 == 2),
        "{error}"
    );
}

#[test]
fn other_numbers_of_ranks_are_errors() {
    let run = |role, processes, threads| run(role, &[fresh("shm")], (processes, threads), |_| ());
    for (processes, threads) in [(0, 1), (1, 0), (1 << 16, 1 << 16), (3, 1 << 15)] {
        let error = run("go", processes, threads).unwrap_err();
        assert!(matches!(error, WorldError::BadSize { .. }), "{error}");
    }
    // A process that is told to have two ranks, and joins with one.
    let error = run("know no threads", 2, 2).unwrap_err();
    assert!(matches!(error, WorldError::Children { .. }), "{error}");
}

#[test]
fn commands_may_start_the_processes() {
    let shell = |told: bool| {
        World::spawn(&[fresh("shm")], 2, &patient(), |_| {
            let direct = again("worlds::part", "pass on");
            let mut shell = Command::new("sh");
            shell.args(["-c", "\"$@\"; exit $?", "sh"]);
            shell.arg(direct.get_program()).args(direct.get_args());
            shell.env(ROLE, "pass on");
            if !told {
                shell.env_remove(PARENT);
            }
            shell
        })
    };
    let world = shell(false).unwrap();
    assert_eq!(pass_on(&world), 1);
    world.finish().unwrap();
    // The parent of the process is not the process with which it is told to end.
    let error = shell(true).unwrap_err();
    assert!(matches!(error, WorldError::Children { .. }), "{error}");
}

#[test]
fn who_ends_before_it_joins_is_named_at_once() {
    for (role, code) in [("go", 0), ("fail", 7)] {
        let error = processes(role, &[fresh("shm")], 2).unwrap_err();
        let WorldError::Children { ends } = &error else {
            panic!("{error}");
        };
        let [(1, Some(status))] = &ends[..] else {
            panic!("{error}");
        };
        assert_eq!(status.code(), Some(code));
        assert!(error.to_string().contains("the process of rank 1 ended"));
    }
}

#[test]
fn exit_codes_are_told() {
    let world = processes("end with its rank", &[fresh("shm")], 3).unwrap();
    let error = world.finish().unwrap_err();
    let WorldError::Children { ends } = &error else {
        panic!("{error}");
    };
    let ends: Vec<_> = ends
        .iter()
        .map(|(rank, end)| (*rank, end.and_then(|end| end.code())))
        .collect();
    assert_eq!(ends, [(2, Some(1))]);
}

#[test]
fn a_killed_process_is_told_from_those_that_ended() {
    for scheme in SCHEMES {
        let world = processes("be killed", &[fresh(scheme)], 4).unwrap();
        is_gone(&world, 2);
        let error = world.finish().unwrap_err();
        let WorldError::Children { ends } = &error else {
            panic!("{scheme}: {error}");
        };
        assert!(matches!(ends[..], [(2, Some(_))]), "{scheme}: {error}");
    }
}

/// The environment variable with the lifetime of rank 2, in microseconds.
const LIFE: &str = "JSTREAM_TEST_LIFE";

fn be_killed_while_joining() {
    if env::var(RANK).is_ok_and(|rank| rank == "2") {
        let life = env::var(LIFE).unwrap().parse().unwrap();
        thread::spawn(move || {
            thread::sleep(Duration::from_micros(life));
            process::abort();
        });
    }
    match World::from_env(&patient()) {
        Ok(world) => {
            if world.rank() != 2 {
                is_gone(&world, 2);
            }
            thread::sleep(LONG);
        }
        // This member may come after the attempt has failed.
        Err(error) => {
            let text = error.to_string();
            let reasons = [
                "rank 2",
                "rank 0 went away",
                "no more members",
                "rank 0 can't",
            ];
            assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
        }
    }
}

#[test]
fn whoever_is_killed_while_it_joins_is_named() {
    for (round, scheme) in SCHEMES.iter().cycle().take(24).enumerate() {
        let world = World::spawn(&[fresh(scheme)], 4, &patient(), |_| {
            let mut command = again("worlds::part", "be killed while it joins");
            command.env(LIFE, (round * 250).to_string());
            command
        });
        match world {
            Ok(world) => {
                is_gone(&world, 2);
                let error = world.finish_within(SHORT).unwrap_err().to_string();
                assert!(error.contains("rank 2"), "{scheme}: {error}");
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("rank 2"), "{scheme}: {text}");
            }
        }
    }
}

#[test]
fn those_that_do_not_end_are_killed() {
    let world = processes("stay", &[fresh("uds")], 3).unwrap();
    let error = world.finish_within(SHORT).unwrap_err();
    assert!(
        matches!(&error, WorldError::Children { ends } if ends == &[(1, None), (2, None)]),
        "{error}"
    );
    // Dropping a world ends its processes, too.
    let world = processes("stay", &[fresh("uds")], 3).unwrap();
    drop(world);
    assert_eq!(children_of(process::id()), [0; 0]);
}

#[test]
fn a_program_that_is_missing_is_an_error() {
    let missing = |_| Command::new("/nowhere/at/all");
    let error = World::spawn(&[fresh("shm")], 2, &patient(), missing).unwrap_err();
    assert!(
        matches!(error, WorldError::Spawn { rank: 1, .. }),
        "{error}"
    );
}

/// Returns the live child processes of `parent` in the role "stay".
fn children_of(parent: u32) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap();
    let numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_child = |number: &u32| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        let rest = stat.rsplit(") ").next().unwrap_or_default();
        let mut words = rest.split(' ');
        let (state, of) = (words.next(), words.next());
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        let stays = variables.any(|variable| variable == format!("{ROLE}=stay").as_bytes());
        state != Some("Z") && of == Some(&parent.to_string()) && stays
    };
    numbers.filter(is_child).collect()
}

/// Runs the process that is killed while it has children.
fn start_and_stay() {
    let world = processes("stay", &[fresh("shm")], 3).unwrap();
    let children = children_of(process::id());
    assert_eq!(children.len(), 2);
    for child in children {
        println!("child {child}");
    }
    println!("child 0");
    thread::sleep(LONG);
    drop(world);
}

#[test]
fn processes_end_with_the_one_that_started_them() {
    let mut parent = again("worlds::part", "start a world")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let numbers = lines.filter_map(|line| {
        let line = line.unwrap();
        let (_, number) = line.split_once("child ")?;
        Some(number.parse::<u32>().unwrap())
    });
    let children: Vec<_> = numbers.take_while(|number| *number > 0).collect();
    assert_eq!(children.len(), 2);
    parent.kill().unwrap();
    parent.wait().unwrap();
    for child in children {
        while fs::exists(format!("/proc/{child}")).unwrap() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn an_environment_that_makes_no_sense_is_an_error() {
    let variables = |changes: &[(&str, &str)]| {
        let mut command = again("worlds::environment", "environment");
        for (name, value) in [
            (RANK, "0"),
            ("JSTREAM_SIZE", "1"),
            ("JSTREAM_WORLD", "shm://nobody"),
        ] {
            command.env(name, value);
        }
        for (name, value) in changes {
            command.env(name, value);
        }
        let output = command.output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let name = format!("shm://jstream-environment-{}", process::id());
    assert!(variables(&[("JSTREAM_WORLD", &name)]).contains("said: a world of 1"));
    for (changes, text) in [
        ([(RANK, "one")], "JSTREAM_RANK is `one`"),
        ([("JSTREAM_SIZE", "-1")], "JSTREAM_SIZE is `-1`"),
        ([(RANK, "1")], "there is no rank 1 in a world of 1"),
        (
            [("JSTREAM_THREADS", "2")],
            "JSTREAM_THREADS is 2, but the world has 1 ranks from 0 on",
        ),
        (
            [("JSTREAM_THREADS", "0")],
            "JSTREAM_THREADS is 0, but the world",
        ),
        (
            [("JSTREAM_WORLD", "shm")],
            "JSTREAM_WORLD has an invalid address",
        ),
        ([("JSTREAM_WORLD", " ")], "no address was given"),
        ([("JSTREAM_SESSION", "12")], "JSTREAM_SESSION is `12`"),
        ([("JSTREAM_PARENT", "1")], "did not start this process"),
    ] {
        let said = variables(&changes);
        assert!(said.contains(text), "{said}");
    }
    let nothing = World::from_env(&patient()).unwrap_err();
    assert!(nothing.to_string().contains("JSTREAM_RANK is not set"));
}

/// Prints the result of `World::from_env`.
#[test]
fn environment() {
    if role().is_none() {
        return;
    }
    match World::from_env(&patient()) {
        Ok(world) => println!("said: a world of {}", world.size()),
        Err(error) => println!("said: {error}"),
    }
}
