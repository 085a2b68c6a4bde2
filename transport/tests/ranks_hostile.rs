//! A rank whose peer does not keep to the rules: the connection ends, and nothing else.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod common;

use std::io::IoSlice;

use common::{LONG, SCHEMES, fresh, join, patient};
use jstream_transport::rank::{Error, Mesh, Options, Rank};
use jstream_transport::{Endpoint, Header, listen};

const EAGER: u32 = 0x6a73_7201;
const EAGER_CONFIRMED: u32 = 0x6a73_7202;
const ANNOUNCED: u32 = 0x6a73_7203;
const WANTED: u32 = 0x6a73_7204;
const DATA: u32 = 0x6a73_7205;
const MATCHED: u32 = 0x6a73_7206;
const WITHDRAW: u32 = 0x6a73_7207;
const WITHDRAWN: u32 = 0x6a73_7208;

/// A rank, and the bare endpoint of its peer 1; its peer 2 is a thread.
fn against(scheme: &str, options: &Options) -> (Rank, Rank, Endpoint) {
    let listener = listen(&fresh(scheme), &patient()).unwrap();
    let (bare, endpoint) = join(&listener, &patient());
    let (zero, two) = (Mesh::new(0, 3, options), Mesh::new(2, 3, options));
    let (of_zero, of_two) = (zero.node(), two.node());
    let zero = zero.endpoint(1, endpoint).unwrap().thread(2, &of_two);
    (zero.build(), two.thread(0, &of_zero).build(), bare)
}

fn say(bare: &Endpoint, kind: u32, words: [u64; 3], payload: &[u8]) {
    bare.send_message(Header::new(kind, words), &[IoSlice::new(payload)])
        .unwrap();
}

fn hear(bare: &Endpoint) -> (Header, Vec<u8>) {
    let message = bare.recv_message_timeout(LONG).unwrap();
    (message.header, message.payload.as_bytes().to_vec())
}

/// What a peer that breaks a rule comes to; the other one does not notice.
fn refused(rank: &Rank, other: &Rank, bare: &Endpoint, case: &str) {
    let error = rank.recv_timeout(1, 77, &mut [0u8], LONG).unwrap_err();
    let Error::PeerGone { rank: 1, why } = &error else {
        panic!("{case}: {error}")
    };
    assert!(why.contains("makes no sense"), "{case}: {why}");
    // It is told.
    while bare.recv_message_timeout(LONG).is_ok() {}
    other.send(0, 5, &[8u8]).unwrap();
    rank.recv(2, 5, &mut [0u8]).unwrap();
}

#[test]
fn invented_numbers_kinds_and_lengths_end_the_connection() {
    type Case = (&'static str, u32, [u64; 3], &'static [u8]);
    let cases: [Case; 14] = [
        ("no kind", 0, [0; 3], b""),
        ("a kind that is none", WITHDRAWN + 1, [0; 3], b""),
        ("nothing was offered", WANTED, [0, 0, 0], b""),
        ("offered and far", WANTED, [1 << 31, 0, 0], b""),
        ("a number too wide", WANTED, [1 << 32, 0, 0], b""),
        ("nothing was wanted", DATA, [0; 3], b"data"),
        ("nothing was wanted, empty", DATA, [9, 0, 0], b""),
        ("nothing waits to be matched", MATCHED, [0; 3], b""),
        ("nothing was withdrawn", WITHDRAWN, [0, 1, 0], b""),
        (
            "nothing was withdrawn, nor there",
            WITHDRAWN,
            [0, 0, 0],
            b"",
        ),
        ("an announcement too short", ANNOUNCED, [0; 3], b"1234567"),
        ("an announcement too long", ANNOUNCED, [0; 3], b"123456789"),
        ("a length beyond the limit", ANNOUNCED, [0; 3], &[0xff; 8]),
        ("an answer with a payload", MATCHED, [0; 3], b"x"),
    ];
    for scheme in SCHEMES {
        for (case, kind, words, payload) in cases {
            let (rank, other, bare) = against(scheme, &Options::default());
            say(&bare, kind, words, payload);
            refused(&rank, &other, &bare, &format!("{scheme}, {case}"));
        }
    }
}

#[test]
fn a_payload_is_what_was_announced_and_comes_once() {
    for scheme in SCHEMES {
        for (lengths, is_right) in [(&[8usize, 8][..], true), (&[9], false), (&[0], false)] {
            let (rank, other, bare) = against(scheme, &Options::default());
            let receiving = rank.irecv(1, 3);
            say(&bare, ANNOUNCED, [3, 0, 6 << 32], &8u64.to_le_bytes());
            let mut waiting = receiving;
            assert!(
                waiting
                    .wait_timeout(std::time::Duration::from_millis(20))
                    .is_none()
            );
            let (wanted, _) = hear(&bare);
            assert_eq!((wanted.kind, wanted.words[0]), (WANTED, 6));
            for length in lengths {
                say(&bare, DATA, [wanted.words[1], 0, 0], &vec![5; *length]);
            }
            match waiting.wait() {
                Ok(message) => {
                    assert!(is_right);
                    assert_eq!(message.payload.as_bytes(), [5; 8]);
                }
                Err(error) => assert!(!is_right, "{error}"),
            }
            refused(&rank, &other, &bare, scheme);
        }
    }
}

#[test]
fn what_was_offered_is_sent_once() {
    for scheme in SCHEMES {
        let (rank, other, bare) = against(scheme, &Options::default());
        let long = vec![1u8; 1 << 20];
        let sent = std::thread::scope(|scope| {
            let sending = scope.spawn(|| rank.ssend(1, 4, &long));
            let (announced, length) = hear(&bare);
            assert_eq!(announced.kind, ANNOUNCED);
            assert_eq!(length, (1u64 << 20).to_le_bytes());
            let offer = announced.words[2] >> 32;
            say(&bare, WANTED, [offer, 17, 0], b"");
            let (data, payload) = hear(&bare);
            assert_eq!((data.kind, data.words[0]), (DATA, 17));
            assert!(payload == long);
            say(&bare, WANTED, [offer, 17, 0], b"");
            sending.join().unwrap()
        });
        sent.unwrap();
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn what_was_sent_at_once_is_not_sent_again() {
    for scheme in SCHEMES {
        let (rank, other, bare) = against(scheme, &Options::default());
        let error = std::thread::scope(|scope| {
            let sending = scope.spawn(|| rank.ssend(1, 4, &[1u8; 8]));
            let (eager, _) = hear(&bare);
            assert_eq!(eager.kind, EAGER_CONFIRMED);
            say(&bare, WANTED, [eager.words[2] >> 32, 1, 0], b"");
            sending.join().unwrap().unwrap_err()
        });
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn what_is_announced_in_vain_is_bounded_and_gone_with_its_sender() {
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.bounds.messages = 4;
        let (rank, other, bare) = against(scheme, &options);
        for offer in 0..4u64 {
            say(
                &bare,
                ANNOUNCED,
                [9, 0, offer << 32],
                &(1u64 << 20).to_le_bytes(),
            );
        }
        // This one has no room, and is not lost.
        say(&bare, EAGER, [10, 0, 0], b"last");
        assert!(
            rank.probe_timeout(1, 10, std::time::Duration::from_millis(50))
                .is_err()
        );
        let found = rank.probe(1, 9).unwrap();
        assert_eq!(found.status().bytes, 1 << 20);
        drop(found);
        drop(rank.irecv(1, 9));
        let receiving = rank.irecv(1, 10);
        assert_eq!(receiving.wait().unwrap().payload.as_bytes(), b"last");
        // Withdrawn, and withdrawn once more.
        say(&bare, WITHDRAW, [3, 0, 0], b"");
        say(&bare, WITHDRAW, [3, 0, 0], b"");
        let _ = rank.recv_timeout(1, 11, &mut [0u8], std::time::Duration::from_millis(50));
        let mut answers = Vec::new();
        while answers.len() < 2 {
            let (answer, _) = hear(&bare);
            if answer.kind == WITHDRAWN {
                answers.push(answer.words[1]);
            }
        }
        assert_eq!(answers, [1, 0]);
        let mut receives = [rank.irecv(1, 9), rank.irecv(1, 9)];
        drop(bare);
        for ended in jstream_transport::rank::wait_all(&mut receives) {
            let error = ended.unwrap_err().error;
            assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        }
        other.send(0, 5, &[8u8]).unwrap();
        rank.recv(2, 5, &mut [0u8]).unwrap();
    }
}
