//! Pairs of ranks that are connected when they first need each other.

use std::future::Future;
use std::io::IoSlice;
use std::sync::Barrier;
use std::task::{Context, Poll};
use std::thread;

use jstream_transport::rank::world::{Meeting, Session, World, WorldError};
use jstream_transport::rank::{Error, Source, Tag};
use jstream_transport::{Address, Endpoint, Header, connect};
use testing::transport::fresh;
use testing::transport::worlds::{known, patient};
use testing::{LONG, SHORT, over_devices};

/// The message with which a member asks for the connection of a pair, and the answers.
const ATTACH: u32 = 0x6a73_770a;
const WELCOME: u32 = 0x6a73_7702;
const REFUSED: u32 = 0x6a73_7708;

over_devices!(inproc shm uds tcp uring: {
    ranks_that_connect_at_once_have_one_connection
    the_end_of_a_rank_without_connections_is_noticed
    messages_of_a_rank_that_ends_at_once_arrive
    ranks_end_without_those_that_were_lost
});

fn ranks_that_connect_at_once_have_one_connection(scheme: &str) {
    const SIZE: u32 = 9;
    const COUNT: u64 = 20;
    let begin = Barrier::new(SIZE as usize);
    let work = |world: &World| {
        let own = world.rank();
        begin.wait();
        // All ranks open connections in the same order, or each in another one.
        for other in (0..SIZE).map(|other| (other + own) % SIZE) {
            for number in 0..COUNT {
                world.send(other, 7, &[u64::from(own), number]).unwrap();
            }
        }
        for other in (0..SIZE).rev() {
            for number in 0..COUNT {
                let mut got = [0; 2];
                world.recv(other, 7, &mut got).unwrap();
                assert_eq!(got, [u64::from(other), number]);
            }
        }
        for other in (0..SIZE).filter(|other| *other != own) {
            let first = world.endpoint(other).unwrap();
            assert!(std::ptr::eq(first, world.endpoint(other).unwrap()));
        }
    };
    for _ in 0..5 {
        World::threads_over(&[fresh(scheme)], SIZE, &patient(), work).unwrap();
    }
}

/// Returns the error of a rank that is gone, as a future that must not be pending for ever.
fn poll_until_ready<F: Future + Unpin>(mut future: F) -> F::Output {
    let mut context = Context::from_waker(std::task::Waker::noop());
    loop {
        if let Poll::Ready(output) = std::pin::Pin::new(&mut future).poll(&mut context) {
            return output;
        }
        thread::yield_now();
    }
}

fn assert_gone(error: &Error, rank: u32) {
    assert!(
        matches!(error, Error::PeerGone { rank: found, .. } if *found == rank),
        "{error}"
    );
}

/// Ranks 5 to 8 are children of rank 1, so they have no connections to each other.
fn the_end_of_a_rank_without_connections_is_noticed(scheme: &str) {
    let panicked = std::panic::catch_unwind(|| {
        World::threads_over(&[fresh(scheme)], 9, &patient(), |world| {
            if world.rank() == 8 {
                panic!("rank 8 has enough");
            }
            let error = match world.rank() {
                0 => world.recv(8, 1, &mut [0u8]).unwrap_err(),
                1 => world.probe(8, 1).map(drop).unwrap_err(),
                2 => {
                    poll_until_ready(world.buffers().irecv(8, 1))
                        .unwrap_err()
                        .error
                }
                3 => world.send(8, 1, &vec![1u8; 1 << 20]).unwrap_err(),
                4 => world.ssend(8, 1, &[1u8]).unwrap_err(),
                5 => loop {
                    match world.iprobe(8, 1) {
                        Ok(found) => assert!(found.is_none()),
                        Err(error) => break error,
                    }
                },
                6 => loop {
                    let mut receive = world.buffers().irecv(8, 1);
                    thread::yield_now();
                    if let Some(Err(error)) = receive.test() {
                        break error.error;
                    }
                },
                _ => world.recv_timeout(8, 1, &mut [0u8], LONG).unwrap_err(),
            };
            assert_gone(&error, 8);
        })
    });
    let payload = panicked.unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"rank 8 has enough"));
}

fn messages_of_a_rank_that_ends_at_once_arrive(scheme: &str) {
    for _ in 0..10 {
        let panicked = std::panic::catch_unwind(|| {
            World::threads_over(&[fresh(scheme)], 9, &patient(), |world| {
                match world.rank() {
                    6 => {
                        world.send(5, 7, &[1.5, 2.5]).unwrap();
                        panic!("rank 6 has enough");
                    }
                    5 => {
                        let mut got = [0.0; 2];
                        world.recv(Source::Rank(6), Tag::Any, &mut got).unwrap();
                        assert_eq!(got, [1.5, 2.5]);
                        assert_gone(&world.recv(6, 7, &mut got).unwrap_err(), 6);
                    }
                    _ => {}
                }
            })
        });
        let payload = panicked.unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"rank 6 has enough"));
    }
}

/// Creates a world, ends some of its ranks without `finish`, and checks that all others name these.
fn lose(scheme: &str, size: u32, lost: &[u32]) {
    let meeting = Meeting::open(&[known(scheme)], size, &patient()).unwrap();
    let address = &meeting.addresses()[0].clone();
    thread::scope(|scope| {
        let mut meeting = Some(meeting);
        for rank in 0..size {
            let meeting = meeting.take();
            scope.spawn(move || {
                let world = match meeting {
                    Some(meeting) => meeting.join().unwrap(),
                    None => World::join(address, rank, size, &patient()).unwrap(),
                };
                if lost.contains(&rank) {
                    return drop(world);
                }
                let error = world.finish().unwrap_err();
                let WorldError::Unfinished { ranks, .. } = &error else {
                    panic!("rank {rank}: {error}");
                };
                assert_eq!(ranks, lost, "rank {rank} of {size} over {scheme}: {error}");
            });
        }
    });
}

fn ranks_end_without_those_that_were_lost(scheme: &str) {
    lose(scheme, 7, &[6]);
    lose(scheme, 7, &[1]);
    lose(scheme, 7, &[0]);
    lose(scheme, 9, &[0, 1, 5]);
    lose(scheme, 25, &[1, 2, 5, 21]);
}

#[test]
fn a_receive_from_any_source_ends_with_the_last_other_rank() {
    let meeting = Meeting::open(&[known("tcp")], 7, &patient()).unwrap();
    let address = &meeting.addresses()[0].clone();
    thread::scope(|scope| {
        for rank in 1..7 {
            scope.spawn(move || {
                let world = World::join(address, rank, 7, &patient()).unwrap();
                if rank == 6 {
                    let nobody = world.recv(Source::Any, Tag::Any, &mut [0u8]).unwrap_err();
                    assert!(matches!(nobody, Error::NobodyLeft), "{nobody}");
                }
            });
        }
        drop(meeting.join().unwrap());
    });
}

/// Asks for the connection of a pair like a member, and returns the answer.
fn attach(address: &Address, words: [u64; 3], session: &[u8]) -> (Endpoint, Header) {
    let endpoint = connect(address, &testing::transport::patient()).unwrap();
    let header = Header::new(ATTACH, words);
    endpoint
        .send_message(header, &[IoSlice::new(session)])
        .unwrap();
    let answer = endpoint.recv_message_within(LONG).unwrap();
    (endpoint, answer.header)
}

#[test]
fn strangers_and_second_connections_are_refused() {
    let mut options = patient();
    options.session = Some(Session::new().unwrap());
    let session = options.session.unwrap().to_string();
    let session = u128::from_str_radix(&session, 16).unwrap().to_be_bytes();
    let meeting = Meeting::open(&[known("tcp")], 7, &options).unwrap();
    let address = &meeting.addresses()[0].clone();
    // Nobody may connect before the world is complete.
    let (_, answer) = attach(address, [1, 5, 7], &session);
    assert_eq!((answer.kind, answer.words[0]), (REFUSED, 6));
    let (go, left) = (Barrier::new(7), Barrier::new(7));
    thread::scope(|scope| {
        for rank in 1..7 {
            let (options, go, left) = (&options, &go, &left);
            scope.spawn(move || {
                let world = World::join(address, rank, 7, options).unwrap();
                go.wait();
                // Rank 5 takes the connection of the impostor for that of rank 0.
                if rank == 5 {
                    drop(world);
                    left.wait();
                } else {
                    left.wait();
                    assert_eq!(unfinished(world), [5]);
                }
            });
        }
        let world = meeting.join().unwrap();
        for (words, shown, code) in [
            ([9, 5, 7], &session[..], 1),
            ([1, 5, 7], &[0; 16], 5),
            ([1, 5, 7], &[9; 16], 5),
            ([1, 5, 9], &session, 2),
            ([1, 0, 7], &session, 3),
            ([1, 7, 7], &session, 3),
            ([1, u64::MAX, 7], &session, 3),
            ([1, 1, 7], &session, 4),
        ] {
            let (_, answer) = attach(address, words, shown);
            assert_eq!((answer.kind, answer.words[0]), (REFUSED, code), "{words:?}");
        }
        let (first, answer) = attach(address, [1, 5, 7], &session);
        assert_eq!(answer.kind, WELCOME);
        for _ in 0..3 {
            let (_, answer) = attach(address, [1, 5, 7], &session);
            assert_eq!((answer.kind, answer.words[0]), (REFUSED, 4));
        }
        drop(first);
        assert_gone(&world.recv(5, 1, &mut [0u8]).unwrap_err(), 5);
        let (_, answer) = attach(address, [1, 5, 7], &session);
        assert_eq!((answer.kind, answer.words[0]), (REFUSED, 4));
        go.wait();
        left.wait();
        assert_eq!(unfinished(world), [5]);
    });
}

fn unfinished(world: World) -> Vec<u32> {
    match world.finish().unwrap_err() {
        WorldError::Unfinished { ranks, .. } => ranks,
        error => panic!("{error}"),
    }
}

#[test]
fn all_members_learn_that_some_are_missing() {
    // Rank 6 waits for a connection of its parent, rank 1, which never comes.
    let mut short = patient();
    short.timeout = 2 * SHORT;
    let meeting = Meeting::open(&[known("tcp")], 7, &short).unwrap();
    let address = &meeting.addresses()[0].clone();
    thread::scope(|scope| {
        let others = [2, 6].map(|rank| {
            scope.spawn(move || World::join(address, rank, 7, &patient()).unwrap_err())
        });
        let first = meeting.join().unwrap_err();
        assert!(
            matches!(&first, WorldError::Missing { ranks, .. } if ranks == &[1, 3, 4, 5]),
            "{first}"
        );
        for other in others {
            let other = other.join().unwrap();
            assert!(
                matches!(&other, WorldError::Failed { rank: 0, reason } if reason.contains("ranks 1, 3, 4, 5 of 7")),
                "{other}"
            );
        }
    });
}
