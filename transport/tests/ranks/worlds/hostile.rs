//! Strangers, malicious members and members that go away: they harm at most their own world.

use std::io::IoSlice;
use std::thread;
use std::time::Duration;

use jstream_transport::rank::Error;
use jstream_transport::rank::world::{Meeting, Refusal, Session, World, WorldError};
use jstream_transport::{Address, Endpoint, Header, Options, connect, listen};
use testing::process::{alone, descriptors};
use testing::transport::fresh;
use testing::transport::worlds::{known, patient};
use testing::{LONG, SHORT};

/// The messages between members during the bootstrap.
const ASK: u32 = 0x6a73_7701;
const WELCOME: u32 = 0x6a73_7702;
const HERE: u32 = 0x6a73_7703;
const TABLE: u32 = 0x6a73_7704;
const READY: u32 = 0x6a73_7705;
const GO: u32 = 0x6a73_7706;
const REFUSED: u32 = 0x6a73_7708;

/// Asks for a rank like a member. Returns the endpoint, and the header and payload of the answer.
fn ask(address: &Address, words: [u64; 3], session: &[u8]) -> (Endpoint, Header, Vec<u8>) {
    let endpoint = connect(address, &testing::transport::patient()).unwrap();
    let header = Header::new(ASK, words);
    endpoint
        .send_message(header, &[IoSlice::new(session)])
        .unwrap();
    let answer = endpoint.recv_message_within(LONG).unwrap();
    (endpoint, answer.header, answer.payload.as_bytes().to_vec())
}

#[test]
fn strangers_and_liars_are_refused_by_rank_0() {
    let mut options = patient();
    options.session = Some(Session::new().unwrap());
    options.transport.handshake_timeout = LONG;
    let meeting = Meeting::open(&[known("tcp")], 2, &options).unwrap();
    let address = &meeting.addresses()[0].clone();
    let session = options.session.unwrap().to_string();
    let session = u128::from_str_radix(&session, 16).unwrap().to_be_bytes();
    // Connections that stay silent, at each step.
    let silent: Vec<_> = (0..20)
        .map(|_| testing::transport::bare::raw(address))
        .collect();
    let wordless: Vec<_> = (0..10)
        .map(|_| connect(address, &Options::default()).unwrap())
        .collect();
    for (words, shown, code) in [
        ([9, 1, 2], &session[..], 1),
        ([1, 1, 9], &session, 2),
        ([1, 0, 2], &session, 3),
        ([1, 2, 2], &session, 3),
        ([1, u64::MAX, 2], &session, 3),
        ([1, 1, 2], &[0; 16], 5),
        ([1, 1, 2], &[9; 16], 5),
        ([1, 1, 2], &[9; 15], 7),
    ] {
        let (_, answer, _) = ask(address, words, shown);
        assert_eq!((answer.kind, answer.words[0]), (REFUSED, code), "{words:?}");
    }
    // Unexpected messages, and a message that is too long.
    for (kind, payload) in [(0, &[][..]), (HERE, b"shm://x"), (ASK, &[0; 1 << 20])] {
        let endpoint = connect(address, &testing::transport::patient()).unwrap();
        let _ = endpoint.send_message(Header::new(kind, [1, 1, 2]), &[IoSlice::new(payload)]);
        let answer = endpoint.recv_message_within(LONG);
        assert!(answer.is_err_and(|_| payload.len() > 16) || payload.len() <= 16);
    }
    thread::scope(|scope| {
        let joining = scope.spawn(|| World::join(address, 1, 2, &options));
        let first = meeting.join().unwrap();
        assert_eq!(joining.join().unwrap().unwrap().size(), first.size());
    });
    drop((silent, wordless));
}

#[test]
fn who_goes_away_makes_room_for_another() {
    let meeting = Meeting::open(&[known("tcp")], 2, &patient()).unwrap();
    let address = &meeting.addresses()[0].clone();
    // The first connection ends after its welcome, the second one after its announcement.
    let (endpoint, answer, _) = ask(address, [1, 1, 2], &[0; 16]);
    assert_eq!(answer.kind, WELCOME);
    drop(endpoint);
    loop {
        let (endpoint, answer, _) = ask(address, [1, 1, 2], &[0; 16]);
        // The end of the first connection may not have been noticed yet.
        if answer.kind == WELCOME {
            let here = Header::new(HERE, [0; 3]);
            endpoint
                .send_message(here, &[IoSlice::new(b"tcp://127.0.0.1:1")])
                .unwrap();
            break;
        }
        assert_eq!((answer.kind, answer.words[0]), (REFUSED, 4));
    }
    thread::scope(|scope| {
        let joining = scope.spawn(|| {
            loop {
                match World::join(address, 1, 2, &patient()) {
                    Err(WorldError::Refused {
                        refusal: Refusal::Taken,
                        ..
                    }) => {}
                    world => break world,
                }
            }
        });
        // Rank 0 may have counted the member that has gone.
        match meeting.join() {
            Ok(world) => assert_eq!(joining.join().unwrap().unwrap().size(), world.size()),
            Err(error) => panic!("{error}"),
        }
    });
}

#[test]
fn many_who_are_silent_hold_up_others_for_a_while() {
    let mut options = patient();
    options.transport.handshake_timeout = SHORT;
    let meeting = Meeting::open(&[known("tcp")], 2, &options).unwrap();
    let address = &meeting.addresses()[0].clone();
    // More connections than rank 0 serves at a time.
    let silent: Vec<_> = (0..150)
        .map(|_| testing::transport::bare::raw(address))
        .collect();
    thread::scope(|scope| {
        let joining = scope.spawn(|| World::join(address, 1, 2, &patient()));
        assert_eq!(meeting.join().unwrap().size(), 2);
        joining.join().unwrap().unwrap();
    });
    drop(silent);
}

/// Plays rank 0 with a bare endpoint. Returns the error of the member that joins.
fn by_hand(words: impl FnOnce(&Endpoint) + Send, rank: u32, size: u32) -> WorldError {
    let listener = listen(&fresh("shm"), &testing::transport::patient()).unwrap();
    let address = listener.local_address().clone();
    thread::scope(|scope| {
        let joining = scope.spawn(|| World::join(&address, rank, size, &patient()).unwrap_err());
        let endpoint = listener.accept().unwrap().establish().unwrap();
        assert_eq!(endpoint.recv_message_within(LONG).unwrap().header.kind, ASK);
        words(&endpoint);
        let error = joining.join().unwrap();
        drop(endpoint);
        error
    })
}

fn say(endpoint: &Endpoint, kind: u32, words: [u64; 3], payload: &[u8]) {
    let header = Header::new(kind, words);
    endpoint
        .send_message(header, &[IoSlice::new(payload)])
        .unwrap();
}

#[test]
fn a_first_rank_that_makes_no_sense_is_an_error() {
    let is_nonsense = |error: WorldError| {
        assert!(
            matches!(error, WorldError::Nonsense { rank: 0, .. }),
            "{error}"
        );
    };
    is_nonsense(by_hand(|first| say(first, READY, [0; 3], &[]), 1, 2));
    is_nonsense(by_hand(|first| say(first, WELCOME, [0; 3], &[1; 3]), 1, 2));
    is_nonsense(by_hand(|first| say(first, REFUSED, [99, 0, 0], &[]), 1, 2));
    // Tables whose number of entries is wrong.
    for (count, table) in [
        (1, "shm://a"),
        (2, "shm://a"),
        (u64::MAX, "shm://a\nshm://b"),
    ] {
        is_nonsense(by_hand(
            |first| {
                say(first, WELCOME, [1, 0, 0], &[1; 16]);
                assert_eq!(first.recv_message_within(LONG).unwrap().header.kind, HERE);
                say(first, TABLE, [count, 0, 0], table.as_bytes());
            },
            1,
            3,
        ));
    }
}

#[test]
fn a_member_that_nobody_finds_is_gone() {
    let listener = listen(&fresh("shm"), &testing::transport::patient()).unwrap();
    let address = listener.local_address().clone();
    thread::scope(|scope| {
        let joining = scope.spawn(|| World::join(&address, 2, 3, &patient()).unwrap());
        let first = listener.accept().unwrap().establish().unwrap();
        first.recv_message_within(LONG).unwrap();
        say(&first, WELCOME, [1, 0, 0], &[5; 16]);
        assert_eq!(first.recv_message_within(LONG).unwrap().header.kind, HERE);
        // No member listens at the address of rank 1 in this table.
        say(&first, TABLE, [2, 0, 0], b"shm://nobody-is-here\nshm://b");
        assert_eq!(first.recv_message_within(LONG).unwrap().header.kind, READY);
        say(&first, GO, [0; 3], &[]);
        let world = joining.join().unwrap();
        let gone = world.send(1, 1, &[0u8]).unwrap_err();
        assert!(matches!(gone, Error::PeerGone { rank: 1, .. }), "{gone}");
    });
    // A rank can't join without its children.
    let error = by_hand(
        |first| {
            say(first, WELCOME, [1, 0, 0], &[6; 16]);
            assert_eq!(first.recv_message_within(LONG).unwrap().header.kind, HERE);
            let table = ["shm://nobody-is-here"; 5].join("\n");
            say(first, TABLE, [5, 0, 0], table.as_bytes());
        },
        1,
        6,
    );
    assert!(
        matches!(error, WorldError::Unreachable { rank: 5, .. }),
        "{error}"
    );
}

#[test]
fn strangers_at_a_member_are_refused() {
    let listener = listen(&fresh("shm"), &testing::transport::patient()).unwrap();
    let address = &listener.local_address().clone();
    thread::scope(|scope| {
        let joining = scope.spawn(|| World::join(address, 1, 3, &patient()));
        let first = listener.accept().unwrap().establish().unwrap();
        first.recv_message_within(LONG).unwrap();
        say(&first, WELCOME, [1, 0, 0], &[7; 16]);
        let here = first.recv_message_within(LONG).unwrap();
        let place = String::from_utf8(here.payload.as_bytes().to_vec()).unwrap();
        let place: Address = place.parse().unwrap();
        say(
            &first,
            TABLE,
            [2, 0, 0],
            format!("{place}\nshm://unused").as_bytes(),
        );
        // Members without the session, and members that claim the rank of another.
        for (words, session, code) in [
            ([1, 2, 3], [0; 16], 5),
            ([1, 2, 3], [8; 16], 5),
            ([1, 1, 3], [7; 16], 3),
            ([1, 3, 3], [7; 16], 3),
            ([1, 2, 2], [7; 16], 2),
        ] {
            let (_, answer, _) = ask(&place, words, &session);
            assert_eq!((answer.kind, answer.words[0]), (REFUSED, code), "{words:?}");
        }
        let (second, answer, _) = ask(&place, [1, 2, 3], &[7; 16]);
        assert_eq!(answer.kind, WELCOME);
        let ready = first.recv_message_within(LONG).unwrap();
        assert_eq!(ready.header.kind, READY);
        say(&first, GO, [0; 3], &[]);
        let world = joining.join().unwrap().unwrap();
        // The accepted member was the second one.
        drop(second);
        let gone = world.recv(2, 1, &mut [0u8]).unwrap_err();
        assert!(matches!(gone, Error::PeerGone { rank: 2, .. }), "{gone}");
    });
}

#[test]
fn a_member_that_goes_while_all_connect_ends_it_for_all() {
    let meeting = Meeting::open(&[known("tcp")], 3, &patient()).unwrap();
    let address = &meeting.addresses()[0].clone();
    thread::scope(|scope| {
        let other = scope.spawn(|| World::join(address, 1, 3, &patient()).unwrap_err());
        let leaving = scope.spawn(|| {
            let (endpoint, _, _) = ask(address, [1, 2, 3], &[0; 16]);
            say(&endpoint, HERE, [0; 3], b"tcp://127.0.0.1:1");
            let table = endpoint.recv_message_within(LONG).unwrap();
            assert_eq!(table.header.kind, TABLE);
        });
        let first = meeting.join().unwrap_err();
        assert!(matches!(first, WorldError::Lost { rank: 2, .. }), "{first}");
        let other = other.join().unwrap();
        assert!(
            matches!(&other, WorldError::Failed { rank: 0, reason } if reason.contains("rank 2 went away")),
            "{other}"
        );
        leaving.join().unwrap();
    });
}

#[test]
fn worlds_that_fail_leave_nothing_behind() {
    alone(|| {
        let fail = |scheme| {
            let mut options = patient();
            options.timeout = Duration::from_millis(5);
            let meeting = Meeting::open(&[known(scheme)], 3, &options).unwrap();
            let address = &meeting.addresses()[0].clone();
            thread::scope(|scope| {
                scope.spawn(|| {
                    // This member may come after the attempt has failed.
                    let mut options = patient();
                    options.timeout = SHORT;
                    World::join(address, 2, 3, &options).unwrap_err();
                });
                let strange = connect(address, &Options::default());
                drop(meeting.join().unwrap_err());
                drop(strange);
            });
        };
        // The first attempts open the descriptors that devices keep.
        testing::transport::SCHEMES.into_iter().for_each(fail);
        let before = descriptors();
        (0..100).for_each(|_| testing::transport::SCHEMES.into_iter().for_each(fail));
        // Connections that were closed last may still hold their descriptors.
        for _ in 0..10_000 {
            if descriptors() <= before + 5 {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("{} descriptors instead of {before}", descriptors());
    });
}
