//! Peers whose announced messages or answers come late or never.

use std::thread;
use std::time::Duration;

use jstream_transport::rank::{Error, Options, Status};
use jstream_transport::{Endpoint, Header};

use super::{ABSENT, ANNOUNCED, CREDIT, DATA, EAGER, HELLO, MATCHED, WANTED, WITHDRAWN};
use super::{against, hear, refused, say, strangers};
use testing::patterns::bytes;
use testing::transport::{SCHEMES, filled};

const SOON: Duration = Duration::from_millis(20);

fn announce(bare: &Endpoint, tag: u64, offer: u64, length: usize) {
    let length = (length as u64).to_le_bytes();
    say(bare, ANNOUNCED, [tag, 0, offer << 32], &length);
}

fn is_late(received: Result<Status, Error>) -> bool {
    matches!(received, Err(Error::TimedOut { after: SOON }))
}

#[test]
fn what_is_announced_and_never_sent_ends_in_time_and_counts() {
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.bounds.messages = 4;
        let (rank, other, bare) = against(scheme, &options);
        let mut memory = vec![0u8; 100_000];
        for tag in 0..4 {
            announce(&bare, tag, tag, memory.len());
            // The second receive fails in the same way as the first.
            for _ in 0..2 {
                assert!(is_late(rank.recv_timeout(1, tag, &mut memory, SOON)));
            }
            assert_eq!(hear(&bare).0.words[..2], [tag, tag], "{scheme}");
        }
        announce(&bare, 9, 9, memory.len());
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn a_slow_message_is_there_for_the_next_receive() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (rank, _other, bare) = against(scheme, &Options::default());
        let message = bytes(100_000, 6);
        let mut memory = vec![0u8; message.len()];
        let mut give_up = |offer| {
            announce(&bare, 3, offer, message.len());
            say(&bare, EAGER, [3, 0, 0], b"next");
            assert!(is_late(rank.recv_timeout(1, 3, &mut memory, SOON)));
            let (wanted, _) = hear(&bare);
            assert_eq!((wanted.kind, wanted.words[0]), (WANTED, offer));
            // The memory belongs to the program again.
            memory.fill(0);
            wanted.words[1]
        };
        let next = || {
            rank.buffers()
                .recv(1, 3)
                .unwrap()
                .payload
                .as_bytes()
                .to_vec()
        };

        // The message keeps its position, and is not requested again.
        let want = give_up(1);
        let receiving = rank.buffers().irecv(1, 3);
        say(&bare, DATA, [want, 0, 0], &message);
        assert!(receiving.wait().unwrap().payload.as_bytes() == message);
        assert_eq!(next(), b"next");

        // The message arrives while no receive waits.
        let want = give_up(2);
        say(&bare, DATA, [want, 0, 0], &message);
        say(&bare, EAGER, [4, 0, 0], b"behind");
        rank.recv(1, 4, &mut [0u8; 6]).unwrap();
        assert!(next() == message);
        assert_eq!(next(), b"next");

        // The message does not fit, and is dropped when it arrives.
        let want = give_up(3);
        let error = rank.recv(1, 3, &mut [0u8; 9]).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{error}");
        assert_eq!(next(), b"next");
        say(&bare, DATA, [want, 0, 0], &message);
        say(&bare, EAGER, [3, 0, 0], b"last");
        assert_eq!(next(), b"last");
    }
}

#[test]
fn a_probed_message_that_is_not_sent_fails_its_receive_and_counts_no_more() {
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.bounds.messages = 4;
        let (rank, _other, bare) = against(scheme, &options);
        let mut memory = vec![0u8; 100_000];
        for offer in 0..10 {
            announce(&bare, 3, offer, memory.len());
            assert!(is_late(rank.recv_timeout(1, 3, &mut memory, SOON)));
            let wanted = loop {
                let (heard, _) = hear(&bare);
                if heard.kind != CREDIT {
                    break heard;
                }
            };
            assert_eq!((wanted.kind, wanted.words[0]), (WANTED, offer), "{scheme}");
            let probed = rank.iprobe(1, 3).unwrap().unwrap();
            say(&bare, ABSENT, [wanted.words[1], 0, 0], b"");
            say(&bare, EAGER, [4, 0, 0], b"behind");
            rank.recv(1, 4, &mut [0u8; 6]).unwrap();
            if offer % 2 == 0 {
                let error = probed.recv(&mut memory).unwrap_err();
                let is_withdrawn = matches!(error, Error::Withdrawn { rank: 1, tag: 3 });
                assert!(is_withdrawn, "{scheme}: {error}");
            } else {
                drop(probed);
                assert!(rank.iprobe(1, 3).unwrap().is_none(), "{scheme}");
            }
        }
    }
}

#[test]
fn a_receive_that_gives_up_leaves_its_message_to_the_one_posted_behind_it() {
    for scheme in SCHEMES {
        let (rank, _other, bare) = against(scheme, &Options::default());
        let message = bytes(100_000, 7);
        let mut memory = vec![0u8; message.len()];
        thread::scope(|threads| {
            let first = threads.spawn(|| rank.recv_timeout(1, 3, &mut memory, SOON));
            announce(&bare, 3, 5, message.len());
            let (wanted, _) = hear(&bare);
            assert_eq!((wanted.kind, wanted.words[0]), (WANTED, 5));
            let behind = rank.buffers().irecv(1, 3);
            assert!(is_late(first.join().unwrap()));
            say(&bare, DATA, [wanted.words[1], 0, 0], &message);
            assert!(behind.wait().unwrap().payload.as_bytes() == message);
        });
    }
}

#[test]
fn a_number_means_nothing_else_until_its_withdrawal_is_answered() {
    for scheme in SCHEMES {
        let (rank, other, bare) = against(scheme, &Options::default());
        let offer_of = |header: Header| header.words[2] >> 32;
        let posted = rank.buffers().issend(1, 3, filled(b"first"));
        let first = offer_of(hear(&bare).0);
        thread::scope(|threads| {
            let cancelled = threads.spawn(|| posted.cancel());
            assert_eq!(hear(&bare).0.words[0], first);
            say(&bare, MATCHED, [first, 0, 0], b"");
            cancelled.join().unwrap().unwrap();
        });
        let posted = rank.buffers().issend(1, 3, filled(b"second"));
        let second = offer_of(hear(&bare).0);
        assert_ne!(second, first, "{scheme}");
        say(&bare, WITHDRAWN, [first, 0, 0], b"");
        say(&bare, MATCHED, [second, 0, 0], b"");
        posted.wait().unwrap();
        let posted: Vec<_> = (0..2)
            .map(|_| rank.buffers().issend(1, 3, filled(b"others")))
            .collect();
        let mut numbers: Vec<_> = (0..2).map(|_| offer_of(hear(&bare).0)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [first, second], "{scheme}");
        drop(posted);
        say(&bare, WITHDRAWN, [first, 0, 0], b"");
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn what_a_rank_has_left_behind_outlasts_what_comes_for_it() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (rank, _other, bare) = strangers(scheme, &Options::default());
        // There is no space for the last message.
        for number in 0..5 {
            drop(rank.buffers().isend(1, 1, filled(&[number])));
        }
        for number in 0..4 {
            assert_eq!(hear(&bare).1, [number]);
        }
        announce(&bare, 3, 0, 100_000);
        let mut receiving = rank.buffers().irecv(1, 3);
        let wanted = loop {
            assert!(receiving.test().is_none());
            if let Ok(message) = bare.recv_message_within(SOON) {
                break message.header;
            }
        };
        assert_eq!(wanted.kind, WANTED);
        drop((receiving, rank));
        say(&bare, DATA, [wanted.words[1], 0, 0], &bytes(100_000, 8));
        say(&bare, EAGER, [3, 0, 0], b"for nobody");
        say(&bare, HELLO, [1, 100, 1 << 20], b"");
        assert_eq!(hear(&bare).1, [4]);
    }
}
