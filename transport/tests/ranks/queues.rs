//! Ranks of one process, which exchange short messages through queues while the receiver polls. In
//! every mixture with other messages and with sleeping receivers, messages keep their order, arrive
//! once, and wake the receiver.

use std::thread;
use std::time::Duration;

use jstream::buffer::{MessageBuffer, Pool};
use jstream_transport::rank::{self, Error, Options, Rank, Source, Tag};
use testing::LONG;
use testing::patterns::bytes;
use testing::tasks::block_on;
use testing::transport::checksum;
use testing::transport::ranks::group;

/// Lengths in bytes of messages that fit into a slot of a queue, into a jbuf in the queue, and into
/// neither.
const LENGTHS: [usize; 7] = [0, 3, 48, 90, 3_000, 4_100, 20_000];
const HEAD: usize = 16;
const LONGEST: usize = 20_000 + HEAD;

/// A simple random number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn message(number: u64, dice: &mut Dice) -> Vec<u8> {
    // Most messages are short.
    let length = LENGTHS[dice.roll(7).min(dice.roll(7)) as usize];
    let body = bytes(length, number + 1);
    let mut message = number.to_le_bytes().to_vec();
    message.extend(checksum(&body).to_le_bytes());
    message.extend(body);
    message
}

/// Checks a message, and returns its number.
fn check(message: &[u8]) -> u64 {
    let word = |at: usize| u64::from_le_bytes(message[at..][..8].try_into().unwrap());
    assert_eq!(checksum(&message[HEAD..]), word(8));
    word(0)
}

fn jbuf(pool: &Pool, bytes: &[u8]) -> MessageBuffer {
    pool.take(bytes.len()).unwrap().copy_from(bytes).unwrap()
}

/// Sends a message by a random method that keeps the order.
fn send(rank: &Rank, to: u32, tag: u64, message: &[u8], pool: &Pool, dice: &mut Dice) {
    match dice.roll(8) {
        0 => rank.ssend(to, tag, message).unwrap(),
        1 => drop(rank.buffers().isend(to, tag, jbuf(pool, message))),
        2 => rank.buffers().send(to, tag, jbuf(pool, message)).unwrap(),
        3 => rank
            .scope(|scope| scope.isend(to, tag, message).wait())
            .unwrap(),
        _ => rank.send(to, tag, message).unwrap(),
    }
    if dice.roll(40) == 0 {
        // Long enough for the receiver to fall asleep.
        thread::sleep(Duration::from_micros(dice.roll(300)));
    }
}

/// Receives the next message by a random method.
fn receive(rank: &Rank, source: Source, tag: Tag, dice: &mut Dice) -> Vec<u8> {
    let mut memory = vec![0xee; LONGEST];
    let status = match dice.roll(8) {
        0 => {
            let message = rank.buffers().recv(source, tag).unwrap();
            return message.payload.as_bytes().to_vec();
        }
        1 => {
            let message = rank.buffers().irecv(source, tag).wait().unwrap();
            return message.payload.as_bytes().to_vec();
        }
        2 => {
            let message = block_on(rank.buffers().irecv(source, tag)).unwrap();
            return message.payload.as_bytes().to_vec();
        }
        3 => {
            let found = rank.probe_timeout(source, tag, LONG).unwrap();
            found.recv(&mut memory).unwrap()
        }
        4 => rank
            .scope(|scope| {
                let receiving = scope.irecv(source, tag, &mut memory);
                while dice.roll(3) > 0 && !receiving.is_done() {}
                receiving.wait()
            })
            .unwrap(),
        5 => rank.recv_timeout(source, tag, &mut memory, LONG).unwrap(),
        _ => rank.recv(source, tag, &mut memory).unwrap(),
    };
    memory[..status.len::<u8>()].to_vec()
}

/// Returns options of ranks that sleep at once, soon, or hardly ever. Some bounds leave little
/// space besides the queues.
fn kinds() -> impl Iterator<Item = Options> {
    let spins = [
        Duration::ZERO,
        Options::default().spin,
        Duration::from_millis(5),
    ];
    spins.into_iter().flat_map(|spin| {
        [(4_096, 16 << 20), (130, 600 << 10), (9, 16 << 20)].map(|(messages, bytes)| {
            let mut options = Options::new(Pool::default());
            options.spin = spin;
            (options.bounds.messages, options.bounds.bytes) = (messages, bytes);
            options
        })
    })
}

#[test]
fn one_thread_sends_in_all_ways_and_one_receives_in_all_ways() {
    for (seed, options) in (1..).zip(kinds()) {
        let ranks = rank::threads(2, &options);
        thread::scope(|threads| {
            threads.spawn(|| {
                let (mut dice, pool) = (Dice(seed), Pool::default());
                for number in 0..150 {
                    let tag = dice.roll(2);
                    let message = message(number, &mut dice);
                    send(&ranks[1], 0, tag, &message, &pool, &mut dice);
                }
                // Keeps the pool until all messages have been received.
                ranks[1].recv(0, 9, &mut [0u8; 0]).unwrap();
            });
            let mut dice = Dice(seed + 100);
            for number in 0..150 {
                // Another waiting receive must not interfere.
                let beside = (dice.roll(4) == 0).then(|| ranks[0].buffers().irecv(1, 1_000));
                let source = [Source::Any, Source::Rank(1)][dice.roll(2) as usize];
                assert_eq!(
                    check(&receive(&ranks[0], source, Tag::Any, &mut dice)),
                    number
                );
                drop(beside);
            }
            ranks[0].send(1, 9, &[0u8; 0]).unwrap();
        });
    }
}

#[test]
fn several_threads_of_each_rank_send_and_receive() {
    for (seed, options) in (1..).zip(kinds()) {
        let ranks = rank::threads(3, &options);
        thread::scope(|threads| {
            for (source, tag) in [(1, 1), (1, 2), (2, 1), (2, 2), (0, 1)] {
                let ranks = &ranks;
                threads.spawn(move || {
                    let mut dice = Dice(seed * 100 + u64::from(source) * 10 + tag);
                    let pool = Pool::default();
                    for number in 0..50 {
                        let message = message(number, &mut dice);
                        let rank = &ranks[source as usize];
                        // The receiving rank sends to itself, and must not wait for itself.
                        if source == 0 {
                            drop(
                                rank.buffers()
                                    .isend(0, tag, jbuf(&Pool::default(), &message)),
                            );
                        } else {
                            send(rank, 0, tag, &message, &pool, &mut dice);
                        }
                    }
                    ranks[source as usize]
                        .recv(0, 9 + tag, &mut [0u8; 0])
                        .unwrap();
                });
                threads.spawn(move || {
                    let mut dice = Dice(seed * 200 + u64::from(source) * 10 + tag);
                    for number in 0..50 {
                        let got = receive(&ranks[0], source.into(), tag.into(), &mut dice);
                        assert_eq!(check(&got), number);
                    }
                    ranks[0].send(source, 9 + tag, &[0u8; 0]).unwrap();
                });
            }
        });
    }
}

#[test]
fn who_sleeps_now_and_then_misses_nothing() {
    let mut options = Options::default();
    options.spin = Duration::from_micros(3);
    let ranks = rank::threads(2, &options);
    thread::scope(|threads| {
        let play = |me: usize| {
            let (rank, other) = (&ranks[me], 1 - me as u32);
            let mut dice = Dice(me as u64 + 1);
            for round in 0..1_000u64 {
                if me == 0 {
                    rank.send(other, 1, &[round]).unwrap();
                }
                let mut got = [0u64];
                match dice.roll(4) {
                    0 => {
                        let message = block_on(rank.buffers().irecv(other, 1)).unwrap();
                        got = [u64::from_le_bytes(
                            message.payload.as_bytes().try_into().unwrap(),
                        )];
                    }
                    1 => drop(
                        rank.recv_timeout(Source::Any, Tag::Any, &mut got, LONG)
                            .unwrap(),
                    ),
                    _ => drop(rank.recv_timeout(other, 1, &mut got, LONG).unwrap()),
                }
                assert_eq!(got, [round]);
                for _ in 0..dice.roll(2_000) {
                    std::hint::spin_loop();
                }
                if me == 1 {
                    rank.send(other, 1, &[round]).unwrap();
                }
            }
        };
        threads.spawn(move || play(1));
        play(0);
    });
}

/// Creates two ranks, the first of which polls for messages.
fn attentive(options: &Options) -> (Rank, Rank) {
    let mut ranks = rank::threads(2, options);
    let (one, zero) = (ranks.pop().unwrap(), ranks.pop().unwrap());
    for round in 0..100u64 {
        one.send(0, 1, &[round]).unwrap();
        let mut got = [0];
        zero.recv(1, 1, &mut got).unwrap();
        assert_eq!(got, [round]);
    }
    (zero, one)
}

#[test]
fn what_was_sent_is_received_from_a_rank_that_has_ended() {
    for count in [1, 63, 64, 65, 200] {
        let (zero, one) = attentive(&Options::default());
        for number in 0..count {
            one.send(0, number % 3, &[number]).unwrap();
        }
        drop(one);
        let mut got = [0];
        for number in 0..count {
            zero.recv(1, Tag::Any, &mut got).unwrap();
            assert_eq!(got, [number]);
        }
        let error = zero.recv(1, Tag::Any, &mut got).unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
    }
}

#[test]
fn what_nobody_receives_is_freed() {
    let options = Options::new(Pool::default());
    let pool = Pool::default();
    let (zero, one) = attentive(&options);
    for length in LENGTHS {
        // A longer message would wait for its receive.
        one.send(0, 1, &bytes(length.min(10_000), 5)).unwrap();
        one.buffers()
            .send(0, 1, jbuf(&pool, &bytes(length, 5)))
            .unwrap();
    }
    drop(zero);
    // No message enters a queue whose other end has gone.
    let error = one.send(0, 1, &[1u8]).unwrap_err();
    assert!(matches!(error, Error::PeerGone { rank: 0, .. }), "{error}");
    assert_eq!((options.pool.stats().in_use, pool.stats().in_use), (0, 0));
}

#[test]
fn bounds_hold_for_messages_in_queues() {
    let (zero, one) = {
        let mut options = Options::default();
        options.bounds.messages = 200;
        attentive(&options)
    };
    let pool = Pool::default();
    let mut sent: Vec<_> = (0..210u64)
        .map(|number| {
            one.buffers()
                .isend(0, 1, jbuf(&pool, &number.to_le_bytes()))
        })
        .collect();
    let done = sent.iter_mut().filter_map(|request| request.test());
    assert_eq!(done.filter(|result| result.is_ok()).count(), 200);
    for number in 0..210u64 {
        let message = zero.buffers().recv(1, 1).unwrap();
        assert_eq!(message.payload.as_bytes(), number.to_le_bytes());
    }
}

#[test]
fn what_has_no_room_is_received_by_who_never_sleeps() {
    let mut options = Options::default();
    options.spin = Duration::MAX;
    options.bounds.bytes = 1_000;
    for way in ["threads", "shm"] {
        let ranks = group(way, 2, &options);
        for late in [false, true] {
            thread::scope(|threads| {
                threads.spawn(|| {
                    let pool = Pool::default();
                    for number in 0..3 {
                        if late {
                            thread::sleep(Duration::from_millis(20));
                        }
                        let sending =
                            ranks[1]
                                .buffers()
                                .isend(0, 1, jbuf(&pool, &bytes(2_000, number)));
                        drop(sending.wait().unwrap());
                    }
                });
                let mut memory = [0u8; 2_000];
                for number in 0..3 {
                    if number == 1 {
                        ranks[0].recv(Source::Any, Tag::Any, &mut memory).unwrap();
                    } else {
                        let message = ranks[0].buffers().recv(1, 1).unwrap();
                        memory.copy_from_slice(message.payload.as_bytes());
                    }
                    assert_eq!(memory[..], bytes(2_000, number)[..]);
                }
            });
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error_of_its_receive_alone() {
    let (zero, one) = attentive(&Options::default());
    one.send(0, 1, &[1u64, 2]).unwrap();
    one.send(0, 1, &[3u64]).unwrap();
    one.send(0, 1, &[4u64]).unwrap();
    let mut one_number = [0u64];
    let error = zero.recv(1, 1, &mut one_number).unwrap_err();
    let truncated = |error: &Error| {
        matches!(
            error,
            Error::Truncated {
                length: 16,
                capacity: 8,
                ..
            }
        )
    };
    assert!(truncated(&error), "{error}");
    let error = zero.recv(1, 1, &mut [0f64]).unwrap_err();
    assert!(matches!(error, Error::WrongElements { .. }), "{error}");
    assert_eq!(zero.recv(1, 1, &mut one_number).unwrap().len::<u64>(), 1);
    assert_eq!(one_number, [4]);
}
