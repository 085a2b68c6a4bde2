//! The patterns of section 4.1 of the thesis on McMPI: ping-pong, ping-ping, and tags in order, in
//! reverse order and in arbitrary order, over all kinds of connections. The received bytes are
//! compared with the sent bytes.

use std::thread;

use jstream_transport::rank::{self, Options, Rank, Source, Tag};
use testing::patterns::bytes;
use testing::transport::filled;
use testing::transport::ranks::{group, ways};

/// Lengths in bytes of short messages, and of one that is announced between threads.
const LENGTHS: [usize; 4] = [0, 8, 1_000, 40_000];
/// The length in bytes of a message that is announced over every device.
const LONG: usize = 270_000;

/// Returns a message whose length and bytes are unique in its batch.
fn message(length: usize, number: usize) -> Vec<u8> {
    bytes(length + number, number as u64 + 1)
}

fn source(rank: u32, is_known: bool) -> Source {
    if is_known {
        Source::Rank(rank)
    } else {
        Source::Any
    }
}

/// Runs the first and the second rank of each pair, all pairs at once.
fn in_pairs(all: &[Rank], first: impl Fn(&Rank, u32) + Sync, second: impl Fn(&Rank, u32) + Sync) {
    thread::scope(|threads| {
        for pair in all.chunks_exact(2) {
            let (first, second) = (&first, &second);
            threads.spawn(move || first(&pair[0], pair[1].rank()));
            threads.spawn(move || second(&pair[1], pair[0].rank()));
        }
    });
}

/// Section 4.1.1: the receiver of a message sends it back.
fn ping_pong(all: &[Rank], length: usize, is_known: bool) {
    const TURNS: usize = 4;
    in_pairs(
        all,
        |rank, other| {
            let mut back = vec![0u8; length + TURNS];
            for turn in 0..TURNS {
                let ping = message(length, turn);
                rank.send(other, turn as u64, &ping).unwrap();
                let from = source(other, is_known);
                let status = rank.recv(from, turn as u64, &mut back).unwrap();
                assert_eq!((status.source, status.tag), (other, turn as u64));
                assert!(back[..status.len::<u8>()] == ping);
            }
        },
        |rank, other| {
            let mut ping = vec![0u8; length + TURNS];
            for _ in 0..TURNS {
                let from = source(other, is_known);
                let status = rank.recv(from, Tag::Any, &mut ping).unwrap();
                let pong = &ping[..status.len::<u8>()];
                rank.send(status.source, status.tag, pong).unwrap();
            }
        },
    );
}

/// Section 4.1.2: both sides send before they receive, twice before they wait.
fn ping_ping(all: &[Rank], length: usize, is_known: bool) {
    const TURNS: usize = 4;
    let side = |rank: &Rank, other: u32| {
        let mut memory = vec![0u8; length + TURNS];
        for turns in (0..TURNS).collect::<Vec<_>>().chunks(2) {
            let mut sends = Vec::new();
            for &turn in turns {
                let number = turn + TURNS * rank.rank() as usize;
                let ping = filled(&message(length, number)[..length + turn]);
                sends.push(rank.buffers().isend(other, 1, ping));
                let from = source(other, is_known);
                let status = rank.recv(from, 1, &mut memory).unwrap();
                let number = turn + TURNS * other as usize;
                let expected = &message(length, number)[..length + turn];
                assert!(memory[..status.len::<u8>()] == *expected);
            }
            for sent in rank::wait_all(&mut sends) {
                sent.unwrap();
            }
        }
    };
    in_pairs(all, side, side);
}

/// Section 4.1.3: the second rank posts its receives in the given `order`. It sends back their
/// messages in that order, so the first rank can compare them.
fn tags(all: &[Rank], length: usize, order: &[usize], is_known: bool, is_posted_first: bool) {
    const READY: u64 = 1 << 40;
    const BACK: u64 = 1 << 41;
    let count = order.len();
    in_pairs(
        all,
        |rank, other| {
            if is_posted_first {
                rank.recv(other, READY, &mut [0u8; 0]).unwrap();
            }
            let sends = (0..count).map(|tag| {
                let message = filled(&message(length, tag));
                rank.buffers().isend(other, tag as u64, message)
            });
            let mut sends: Vec<_> = sends.collect();
            if !is_posted_first {
                rank.send(other, READY, &[0u8; 0]).unwrap();
            }
            for sent in rank::wait_all(&mut sends) {
                sent.unwrap();
            }
            for (place, &tag) in order.iter().enumerate() {
                let from = source(other, is_known);
                let back = rank.buffers().recv(from, BACK + place as u64).unwrap();
                assert!(back.payload.as_bytes() == message(length, tag));
            }
        },
        |rank, other| {
            if !is_posted_first {
                rank.recv(other, READY, &mut [0u8; 0]).unwrap();
            }
            let from = source(other, is_known);
            let receives = order
                .iter()
                .map(|&tag| rank.buffers().irecv(from, tag as u64));
            let mut receives: Vec<_> = receives.collect();
            if is_posted_first {
                rank.send(other, READY, &[0u8; 0]).unwrap();
            }
            let messages = rank::wait_all(&mut receives).into_iter();
            for (place, got) in messages.enumerate() {
                let got = got.unwrap();
                assert_eq!(got.status.tag, order[place] as u64);
                let back = rank
                    .buffers()
                    .isend(other, BACK + place as u64, got.payload);
                back.wait().unwrap();
            }
        },
    );
}

/// Returns all numbers below `count`, in a pseudo-random order.
fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..count).collect();
    order.sort_by_key(|number| (*number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    order
}

#[test]
fn pings_come_back_and_cross_each_other() {
    for way in ways() {
        println!("{way}");
        // One pair, and three pairs that share their connection inside the process.
        for size in [2, 6] {
            let all = group(way, size, &Options::default());
            for length in [0, 1_000, 40_000, LONG] {
                for is_known in [true, false] {
                    ping_pong(&all, length, is_known);
                    ping_ping(&all, length, is_known);
                }
            }
        }
    }
}

#[test]
fn tags_come_in_the_order_of_the_receives() {
    for way in ways() {
        println!("{way}");
        let all = group(way, 4, &Options::default());
        for count in [1, 30] {
            let in_order: Vec<_> = (0..count).collect();
            let in_reverse: Vec<_> = (0..count).rev().collect();
            for order in [in_order, in_reverse, shuffled(count)] {
                for is_posted_first in [false, true] {
                    tags(&all, 100, &order, true, is_posted_first);
                    tags(&all, 100, &order, false, is_posted_first);
                }
            }
        }
        for length in [20_000, LONG] {
            tags(&all, length, &shuffled(5), true, false);
            tags(&all, length, &shuffled(5), false, true);
        }
    }
}

#[test]
fn many_tags_wait_at_once() {
    for way in ways() {
        println!("{way}");
        let mut options = Options::default();
        (options.bounds.messages, options.bounds.bytes) = (2_000, 4 << 20);
        let all = group(way, 2, &options);
        for is_posted_first in [false, true] {
            tags(&all, 0, &shuffled(1_000), true, is_posted_first);
        }
    }
}

#[test]
fn threads_of_two_ranks_use_tags_of_their_own() {
    const THREADS: u64 = 4;
    for way in ways() {
        println!("{way}");
        let all = group(way, 2, &Options::default());
        thread::scope(|threads| {
            for tag in 0..THREADS {
                for rank in &all {
                    threads.spawn(move || {
                        let (me, other) = (rank.rank(), 1 - rank.rank());
                        let mut memory = vec![0u8; 45_000];
                        for turn in 0..12 {
                            let length = LENGTHS[turn % LENGTHS.len()];
                            let number = |rank: u32| turn * 8 + tag as usize * 2 + rank as usize;
                            let sent = message(length, number(me));
                            let from = source(other, turn % 3 > 0);
                            let sending = rank.buffers().isend(other, tag, filled(&sent));
                            let status = rank.recv(from, tag, &mut memory).unwrap();
                            let expected = message(length, number(other));
                            assert!(memory[..status.len::<u8>()] == expected);
                            sending.wait().unwrap();
                        }
                    });
                }
            }
        });
    }
}
