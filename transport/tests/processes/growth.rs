//! Worlds that new processes join, also in the place of killed ones.

use std::process::{self, Command};

use jstream_transport::rank::operation::{Max, Sum};
use jstream_transport::rank::world::{World, WorldError, WorldOptions};
use jstream_transport::rank::{self, Error, Rank};
use testing::process::{again, role};
use testing::transport::fresh;
use testing::transport::worlds::patient;

/// Number of ranks of the first world.
const FIRST: u32 = 3;

fn command(role: &str) -> Command {
    again("growth::part", role)
}

/// Creates a world whose other processes work as `role` says, and does the same at rank 0.
fn all_work(scheme: &str, role: &str) {
    let world = World::spawn(&[fresh(scheme)], FIRST, &patient(), |_| command(role)).unwrap();
    work(role, world);
}

/// Entry point of the child processes.
#[test]
fn part() {
    match role().as_deref() {
        None => {}
        Some("fail") => process::exit(7),
        Some(role) => work(role, World::from_env(&patient()).unwrap()),
    }
}

fn work(role: &str, mut world: World) {
    let grown = |world: &mut World, members: &Rank, added| {
        world.grow_with(members, added, &patient(), |_| command(role))
    };
    match role {
        "grow" => {
            // Newcomers of the first time are members of the second.
            while world.size() < FIRST + 4 {
                is_complete(&world);
                let number = world.rank();
                assert_eq!(World::is_newcomer(), number >= FIRST);
                let members = Rank::clone(&world);
                world = grown(&mut world, &members, 2).unwrap();
                assert_eq!(world.rank(), number);
            }
        }
        "replace" => {
            if !World::is_newcomer() {
                if world.rank() == 1 {
                    process::abort();
                }
                let error = world.recv(1, 0, &mut [0u8]).unwrap_err();
                assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
                let survivors = world.recovery().shrink().unwrap();
                world = grown(&mut world, &survivors, 1).unwrap();
            }
            assert_eq!(world.size(), FIRST);
            assert_eq!(World::is_newcomer(), world.rank() == FIRST - 1);
        }
        "turn around" => {
            if !World::is_newcomer() {
                // The process that has started the others is not the first member.
                let number = FIRST - 1 - world.rank();
                let members = world.split(Some(0), number).unwrap().unwrap();
                world = grown(&mut world, &members, 1).unwrap();
                assert_eq!(world.rank(), number);
            }
            assert_eq!(world.size(), FIRST + 1);
        }
        "fail to grow" => {
            let members = Rank::clone(&world);
            let failed = world.grow_with(&members, 2, &patient(), |_| command("fail"));
            let error = failed.unwrap_err();
            let is_known = match &error {
                WorldError::Children { ends } => world.rank() == 0 && ends[0].0 >= FIRST,
                // It depends on how far this member came until the others gave up.
                WorldError::Failed { .. }
                | WorldError::Lost { .. }
                | WorldError::Refused { .. }
                | WorldError::Unreachable { .. } => world.rank() > 0,
                _ => false,
            };
            assert!(is_known, "{error}");
            let failed = world.grow_with(&members, 1, &patient(), |_| Command::new("/no/such"));
            let error = failed.unwrap_err();
            let is_known = match &error {
                WorldError::Spawn { rank: FIRST, .. } => world.rank() == 0,
                WorldError::Failed { rank: 0, reason } => reason.contains("can't be started"),
                _ => false,
            };
            assert!(is_known, "{error}");
            // The world that could not grow still works.
            is_complete(&world);
            world = grown(&mut world, &members, 0).unwrap();
            assert_eq!(world.size(), FIRST);
        }
        _ => panic!("unknown role {role}"),
    }
    is_complete(&world);
    world.finish().unwrap();
}

/// All ranks work together.
fn is_complete(world: &Rank) {
    let size = world.size();
    let mut sum = [0];
    world.all_reduce(&[world.rank()], &mut sum, &Sum).unwrap();
    assert_eq!(sum, [(0..size).sum::<u32>()]);
    let mut largest = [0];
    world
        .all_reduce(&[world.rank()], &mut largest, &Max)
        .unwrap();
    assert_eq!(largest, [size - 1]);
    for other in 0..size {
        world.send(other, 1, &[world.rank()]).unwrap();
    }
    for other in 0..size {
        let mut number = [size];
        world.recv(other, 1, &mut number).unwrap();
        assert_eq!(number, [other]);
    }
}

#[test]
fn processes_join_ranks_that_work() {
    for scheme in ["shm", "uds", "tcp"] {
        all_work(scheme, "grow");
    }
}

#[test]
fn a_killed_process_is_replaced() {
    for scheme in ["shm", "tcp"] {
        all_work(scheme, "replace");
    }
}

#[test]
fn the_first_member_may_be_any_rank() {
    all_work("uds", "turn around");
}

#[test]
fn processes_that_do_not_join_are_errors_at_all_members() {
    all_work("shm", "fail to grow");
}

#[test]
fn members_are_ranks_of_the_world() {
    let worlds = World::threads(2, &WorldOptions::default(), |world| {
        let strangers = rank::threads(2, &rank::Options::default());
        let mut mine = World::spawn(&[fresh("shm")], 1, &patient(), |_| command("fail")).unwrap();
        for stranger in [&strangers[0], &Rank::clone(world)] {
            let error = mine.grow(stranger, 1, &patient()).unwrap_err();
            assert!(error.to_string().contains("another world"), "{error}");
        }
        let members = Rank::clone(&mine);
        let error = mine.grow(&members, u32::MAX, &patient()).unwrap_err();
        assert!(matches!(error, WorldError::BadSize { .. }), "{error}");
        mine.finish().unwrap();
    });
    worlds.unwrap();
}
