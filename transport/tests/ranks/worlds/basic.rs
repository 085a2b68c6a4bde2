//! Worlds whose members join in any order, and errors of members that do not match.

use std::thread;
use std::time::Duration;

use jstream_transport::Address;
use jstream_transport::rank::world::{Meeting, Refusal, Session, World, WorldError, WorldOptions};
use jstream_transport::rank::{self, Source, Tag};
use testing::transport::fresh;
use testing::transport::worlds::{known, patient};
use testing::{SHORT, over_devices};

fn brief() -> WorldOptions {
    let mut options = patient();
    options.timeout = SHORT;
    options
}

/// Sends the number of this rank to all other ranks, and receives theirs.
fn greet_all(world: &World) {
    let peers = (0..world.size()).filter(|peer| *peer != world.rank());
    for peer in peers.clone() {
        world.send(peer, 7, &[world.rank()]).unwrap();
    }
    for peer in peers {
        let mut number = [0];
        world.recv(peer, 7, &mut number).unwrap();
        assert_eq!(number, [peer]);
    }
    assert!(world.endpoint(world.rank()).is_none());
}

/// Creates a world whose members join in the given order, with a pause between them.
fn joined(address: &Address, order: &[u32], options: &WorldOptions) -> Vec<World> {
    let size = u32::try_from(order.len()).unwrap();
    thread::scope(|scope| {
        let joining: Vec<_> = order
            .iter()
            .map(|rank| {
                let joining = scope.spawn(move || World::join(address, *rank, size, options));
                thread::sleep(Duration::from_millis(3));
                joining
            })
            .collect();
        let worlds = joining
            .into_iter()
            .map(|world| world.join().unwrap().unwrap());
        worlds.collect()
    })
}

over_devices!(inproc shm uds tcp uring: {
    members_join_in_every_order
    all_reach_all
    messages_arrive_before_the_end
});

fn members_join_in_every_order(scheme: &str) {
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let worlds = joined(&known(scheme), &order, &patient());
        thread::scope(|scope| {
            for (world, rank) in worlds.into_iter().zip(order) {
                assert_eq!((world.rank(), world.size()), (rank, 3));
                scope.spawn(move || {
                    greet_all(&world);
                    world.finish().unwrap();
                });
            }
        });
    }
}

fn all_reach_all(scheme: &str) {
    let ranks = World::threads_over(&[fresh(scheme)], 7, &patient(), |world| {
        for peer in 0..7 {
            let endpoint = world.endpoint(peer);
            assert_eq!(endpoint.is_none(), peer == world.rank());
            assert!(endpoint.is_none_or(|endpoint| endpoint.info().scheme == scheme));
        }
        assert!(world.endpoint(7).is_none());
        greet_all(world);
        world.rank()
    });
    assert_eq!(ranks.unwrap(), [0, 1, 2, 3, 4, 5, 6]);
}

fn messages_arrive_before_the_end(scheme: &str) {
    let ends = World::threads_over(&[fresh(scheme)], 3, &patient(), |world| {
        let payload = vec![7u64; 1000];
        if world.rank() == 0 {
            // Rank 0 is late, and the other ranks finish first.
            thread::sleep(SHORT);
            let mut numbers = vec![0u64; 1000];
            return (0..40)
                .map(|_| {
                    let status = world.recv(Source::Any, Tag::Any, &mut numbers).unwrap();
                    assert_eq!(numbers, payload);
                    status.len::<u64>()
                })
                .sum();
        }
        for tag in 0..20 {
            world.send(0, tag, &payload).unwrap();
        }
        0
    });
    assert_eq!(ends.unwrap(), [2 * 20 * 1000, 0, 0]);
}

#[test]
fn threads_reach_each_other_directly() {
    let ranks = World::threads(5, &patient(), |world| {
        assert!((0..5).all(|peer| world.endpoint(peer).is_none()));
        for peer in (0..5).filter(|peer| *peer != world.rank()) {
            world.send(peer, 1, &[world.rank()]).unwrap();
        }
        (0..4)
            .map(|_| {
                let mut number = [0];
                world.recv(Source::Any, 1, &mut number).unwrap();
                number[0]
            })
            .sum::<u32>()
    });
    assert_eq!(ranks.unwrap(), [10, 9, 8, 7, 6]);
}

#[test]
fn contexts_are_the_same_everywhere() {
    let contexts = World::threads_over(&[fresh("shm")], 3, &patient(), |world| {
        let other = world.duplicate().unwrap();
        world.send((world.rank() + 1) % 3, 1, &[1u8]).unwrap();
        other.send((world.rank() + 1) % 3, 1, &[2u8]).unwrap();
        let mut byte = [0];
        other.recv(Source::Any, Tag::Any, &mut byte).unwrap();
        assert_eq!(byte, [2]);
        world.recv(Source::Any, Tag::Any, &mut byte).unwrap();
        assert_eq!(byte, [1]);
        other.context()
    });
    let contexts = contexts.unwrap();
    assert!(contexts.iter().all(|context| *context == contexts[0]));
}

#[test]
fn a_world_of_one_needs_nobody() {
    let world = World::join(&fresh("shm"), 0, 1, &brief()).unwrap();
    assert_eq!((world.rank(), world.size()), (0, 1));
    world.finish().unwrap();
}

#[test]
fn ranks_and_sizes_that_make_no_sense_are_errors() {
    let options = brief();
    let join = |rank, size| World::join(&fresh("shm"), rank, size, &options).unwrap_err();
    assert!(matches!(
        join(3, 3),
        WorldError::NoRank { rank: 3, size: 3 }
    ));
    assert!(matches!(join(0, 0), WorldError::BadSize { size: 0, .. }));
    assert!(matches!(join(0, u32::MAX), WorldError::BadSize { .. }));
    let nowhere = World::join_cheapest(&[], 1, 2, &options).unwrap_err();
    assert!(matches!(nowhere, WorldError::NoAddress));
}

#[test]
fn each_pair_takes_the_cheapest_device() {
    let addresses = [known("tcp"), known("shm"), known("uds")];
    let join = |rank| {
        let mut options = patient();
        if rank == 1 {
            options.listen = vec!["tcp://127.0.0.1:0".parse().unwrap()];
        }
        // Rank 3 knows only one address of rank 0.
        let known = if rank == 3 { 1 } else { 3 };
        World::join_cheapest(&addresses[..known], rank, 4, &options).unwrap()
    };
    let worlds = thread::scope(|scope| {
        let join = &join;
        let joining = [0, 1, 2, 3].map(|rank| scope.spawn(move || join(rank)));
        joining.map(|world| world.join().unwrap())
    });
    // The member of the higher rank opens the connection of a pair.
    for world in worlds.into_iter().rev() {
        let rank = world.rank();
        for peer in (0..4).filter(|peer| *peer != rank) {
            let expected = match (rank.min(peer), rank.max(peer)) {
                (0, 3) | (1, _) => "tcp",
                _ => "shm",
            };
            let scheme = world.endpoint(peer).unwrap().info().scheme;
            assert_eq!(scheme, expected, "{rank} to {peer}");
        }
    }
}

#[test]
fn members_listen_where_they_are_told() {
    let meeting = Meeting::open(&[known("tcp")], 3, &patient()).unwrap();
    let address = &meeting.addresses()[0].clone();
    thread::scope(|scope| {
        let join = |rank| {
            let mut options = patient();
            options.listen = vec!["tcp://0.0.0.0:0".parse().unwrap(), fresh("shm")];
            World::join(address, rank, 3, &options).unwrap()
        };
        let others = [1, 2].map(|rank| scope.spawn(move || join(rank)));
        let first = meeting.join().unwrap();
        let [one, two] = others.map(|other| other.join().unwrap());
        assert_eq!(first.endpoint(2).unwrap().info().scheme, "tcp");
        assert_eq!(one.endpoint(2).unwrap().info().scheme, "shm");
        assert_eq!(two.endpoint(1).unwrap().info().scheme, "shm");
    });
}

#[test]
fn missing_members_are_named_to_all() {
    let mut short = patient();
    short.timeout = 2 * SHORT;
    let address = &known("tcp");
    thread::scope(|scope| {
        let short = &short;
        let first = scope.spawn(move || World::join(address, 0, 5, short).unwrap_err());
        let second = scope.spawn(move || World::join(address, 3, 5, &patient()).unwrap_err());
        let first = first.join().unwrap();
        let text = first.to_string();
        assert!(
            matches!(&first, WorldError::Missing { ranks, .. } if ranks == &[1, 2, 4]),
            "{text}"
        );
        assert!(text.contains("ranks 1, 2, 4 of 5"), "{text}");
        let second = second.join().unwrap();
        assert!(
            matches!(&second, WorldError::Failed { rank: 0, reason } if reason.contains("ranks 1, 2, 4 of 5")),
            "{second}"
        );
    });
}

#[test]
fn without_rank_0_there_is_no_world() {
    for scheme in testing::transport::SCHEMES {
        let error = World::join(&known(scheme), 1, 2, &brief()).unwrap_err();
        assert!(
            matches!(error, WorldError::Unreachable { rank: 0, .. }),
            "{scheme}: {error}"
        );
    }
}

#[test]
fn who_does_not_fit_is_told_why_and_harms_nobody() {
    let meeting = Meeting::open(&[known("tcp")], 2, &patient()).unwrap();
    let address = &meeting.addresses()[0].clone();
    let refusal = |rank, size, session: Option<Session>| {
        let mut options = patient();
        options.session = session;
        match World::join(address, rank, size, &options).unwrap_err() {
            WorldError::Refused { refusal, .. } => refusal,
            error => panic!("{error}"),
        }
    };
    let size = refusal(1, 3, None);
    assert!(
        size.to_string()
            .contains("has 2 ranks, but this member expects 3"),
        "{size}"
    );
    let session = Session::new().unwrap();
    assert_eq!(refusal(1, 2, Some(session)), Refusal::Session);
    thread::scope(|scope| {
        let joining = scope.spawn(|| World::join(address, 1, 2, &patient()).unwrap());
        let first = meeting.join().unwrap();
        let second = joining.join().unwrap();
        drop((first, second));
    });
}

#[test]
fn a_rank_is_there_once() {
    let meeting = Meeting::open(&[known("uds")], 3, &patient()).unwrap();
    let address = &meeting.addresses()[0].clone();
    let join = |rank| World::join(address, rank, 3, &patient());
    thread::scope(|scope| {
        let twice = [(); 2].map(|()| scope.spawn(|| join(1)));
        let refused = loop {
            if let Some(refused) = twice.iter().position(|one| one.is_finished()) {
                break refused;
            }
            thread::yield_now();
        };
        let other = scope.spawn(|| join(2));
        let first = meeting.join().unwrap();
        for (place, one) in twice.into_iter().enumerate() {
            match one.join().unwrap() {
                Ok(world) => assert!(place != refused && world.rank() == 1),
                Err(WorldError::Refused { refusal, .. }) => {
                    assert!(place == refused && refusal == Refusal::Taken);
                }
                Err(error) => panic!("{error}"),
            }
        }
        drop((first, other.join().unwrap().unwrap()));
    });
}

#[test]
fn who_does_not_end_is_named() {
    let address = &fresh("shm");
    let mut worlds = joined(address, &[0, 1, 2], &patient());
    let _silent = worlds.pop().unwrap();
    let end = |world: World| thread::spawn(move || world.finish_within(SHORT).unwrap_err());
    let ends: Vec<_> = worlds.into_iter().map(end).collect();
    for error in ends.into_iter().map(|end| end.join().unwrap()) {
        assert!(
            matches!(&error, WorldError::Unfinished { ranks, .. } if ranks == &[2]),
            "{error}"
        );
        let within = format!("it did not say goodbye within {SHORT:?}");
        assert!(error.to_string().contains(&within), "{error}");
    }
}

/// Runs a rank of a world of three in which rank 1 panics.
fn one_panics(world: &World) {
    if world.rank() == 1 {
        panic!("rank 1 has enough");
    }
    let gone = world.recv(1, 1, &mut [0u8]).unwrap_err();
    assert!(
        matches!(gone, rank::Error::PeerGone { rank: 1, .. }),
        "{gone}"
    );
}

#[test]
fn a_panic_of_one_ends_the_waits_of_others_and_goes_on() {
    for scheme in [None, Some("inproc"), Some("shm"), Some("tcp")] {
        let panicked = std::panic::catch_unwind(|| match scheme {
            None => World::threads(3, &patient(), one_panics),
            Some(scheme) => World::threads_over(&[fresh(scheme)], 3, &patient(), one_panics),
        });
        let payload = panicked.unwrap_err();
        let said = payload.downcast_ref::<&str>();
        assert_eq!(said, Some(&"rank 1 has enough"), "{scheme:?}");
    }
}
