//! Ranks that exceed the bounds of their peers: excess messages wait, answers pass them, and no
//! message is lost.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use jstream_transport::rank::{self, Error, Options, Rank, wait_all};
use testing::patterns::bytes;
use testing::tasks::block_on;
use testing::transport::ranks::group;
use testing::transport::{SCHEMES, filled};
use testing::{LONG, SHORT};

/// A payload length in bytes that is announced instead of sent eagerly, on every device.
const ANNOUNCED: usize = 300_000;

/// Creates two connected ranks with the given bounds.
fn two(scheme: &str, messages: usize, bytes: u64) -> (Rank, Rank) {
    let mut options = Options::default();
    (options.bounds.messages, options.bounds.bytes) = (messages, bytes);
    let mut both = group(scheme, 2, &options);
    let one = both.pop().unwrap();
    (both.pop().unwrap(), one)
}

/// Runs `work`, and aborts the process instead of hanging.
fn in_time<R: Send>(what: &str, work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let (done, wait) = channel();
        scope.spawn(move || done.send(work()));
        match wait.recv_timeout(LONG / 6) {
            Ok(result) => result,
            Err(_) => {
                eprintln!("{what}: not finished in time");
                std::process::abort()
            }
        }
    })
}

/// Lets `rank` receive the messages that have arrived.
fn look(rank: &Rank) {
    for _ in 0..4 {
        assert!(rank.iprobe(1 - rank.rank(), 999).unwrap().is_none());
        thread::sleep(SHORT / 64);
    }
}

#[test]
fn ranks_that_flood_each_other_still_answer() {
    for scheme in SCHEMES {
        for length in [8, 200_000, ANNOUNCED] {
            println!("{scheme}, {length}");
            let (zero, one) = two(scheme, 4, 1 << 20);
            let flood = |rank: &Rank| -> Vec<_> {
                let to = 1 - rank.rank();
                (0..12)
                    .map(|n| rank.buffers().isend(to, 7, filled(&[n])))
                    .collect()
            };
            let (floods, message) = ((flood(&zero), flood(&one)), bytes(length, 3));
            let exchange = |rank: &Rank| {
                let other = 1 - rank.rank();
                // All messages for which this rank has space have arrived.
                look(rank);
                let receiving = rank.buffers().irecv(other, 7);
                assert_eq!(receiving.wait().unwrap().payload.as_bytes(), [0]);
                for n in 1..12 {
                    let received = rank.buffers().recv(other, 7).unwrap();
                    assert_eq!(received.payload.as_bytes(), [n]);
                }
            };
            in_time("a confirmed message", || {
                thread::scope(|threads| {
                    // The message is queued behind the flood in one direction, and its confirmation
                    // in the other.
                    for rank in [&zero, &one] {
                        threads.spawn(|| {
                            let other = 1 - rank.rank();
                            look(rank);
                            rank.scope(|scope| {
                                let sending = scope.issend(other, 1, &message);
                                exchange(rank);
                                let received = rank.buffers().recv(other, 1).unwrap();
                                assert!(received.payload.as_bytes() == message);
                                sending.wait().unwrap();
                            });
                        });
                    }
                });
            });
            drop(floods);
        }
    }
}

#[test]
fn long_messages_pass_a_rank_that_has_sent_too_much() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (zero, one) = two(scheme, 4, 1 << 20);
        let flood: Vec<_> = (0..8)
            .map(|n| one.buffers().isend(0, 7, filled(&[n])))
            .collect();
        look(&zero);
        for length in [8, 200_000, ANNOUNCED, 1 << 21] {
            let message = bytes(length, 5);
            in_time("a long message", || {
                thread::scope(|threads| {
                    threads.spawn(|| zero.ssend(1, 1, &message).unwrap());
                    let received = one.buffers().recv(0, 1).unwrap();
                    assert!(received.payload.as_bytes() == message);
                });
            });
        }
        let mut flood = flood;
        in_time("the flood", || {
            thread::scope(|threads| {
                threads.spawn(|| {
                    for ended in wait_all(&mut flood) {
                        ended.unwrap();
                    }
                });
                for n in 0..8 {
                    let received = zero.buffers().recv(1, 7).unwrap();
                    assert_eq!(received.payload.as_bytes(), [n]);
                }
            });
        });
    }
}

#[test]
fn what_lacks_room_for_its_bytes_is_announced_in_its_place() {
    for scheme in SCHEMES {
        for room in [0, 5_000, 8_000] {
            println!("{scheme}, {room}");
            let (zero, one) = two(scheme, 100, room);
            let lengths = [3_000, 0, 2_001, 1_002, 10, 5_000, 4_003, 20_000];
            let sent: Vec<_> = lengths
                .iter()
                .zip(0..)
                .map(|(length, tag)| match tag % 2 {
                    0 => one.buffers().isend(0, tag, filled(&bytes(*length, tag))),
                    _ => one.buffers().issend(0, tag, filled(&bytes(*length, tag))),
                })
                .collect();
            // Later messages can be received first.
            in_time("messages", || {
                for tag in [5, 7, 0, 1, 6, 2, 3, 4] {
                    let status = zero.probe(1, tag).unwrap().status();
                    assert_eq!(status.bytes, lengths[tag as usize] as u64);
                    let mut receiving = zero.buffers().irecv(1, tag);
                    let received = loop {
                        if let Some(received) = receiving.wait_timeout(SHORT / 64) {
                            break received.unwrap();
                        }
                        look(&one);
                    };
                    assert!(received.payload.as_bytes() == bytes(lengths[tag as usize], tag));
                }
            });
            let mut sent = sent;
            for ended in wait_all(&mut sent) {
                ended.unwrap();
            }
        }
    }
}

#[test]
fn messages_of_one_tag_keep_their_order_however_they_travel() {
    for scheme in SCHEMES {
        for (messages, room) in [(1, 0), (3, 4_000), (9, 100_000)] {
            println!("{scheme}, {messages}, {room}");
            let (zero, one) = two(scheme, messages, room);
            let length = |turn: usize| (turn * 7_919) % 9_000;
            in_time("a stream", || {
                thread::scope(|threads| {
                    threads.spawn(|| {
                        let mut sent = Vec::new();
                        for turn in 0..120 {
                            let message = bytes(length(turn), turn as u64);
                            match turn % 4 {
                                0 => one.send(0, 1, &message).unwrap(),
                                1 => sent.push(one.buffers().isend(0, 1, filled(&message))),
                                2 => sent.push(one.buffers().issend(0, 1, filled(&message))),
                                _ => block_on(one.buffers().isend(0, 1, filled(&message)))
                                    .map(drop)
                                    .unwrap(),
                            }
                        }
                        for ended in wait_all(&mut sent) {
                            ended.unwrap();
                        }
                    });
                    let mut memory = vec![0; 9_000];
                    for turn in 0..120 {
                        let status = zero.recv(1, 1, &mut memory).unwrap();
                        let expected = bytes(length(turn), turn as u64);
                        assert!(memory[..status.bytes as usize] == expected, "{turn}");
                    }
                });
            });
        }
    }
}

#[test]
fn what_waits_for_room_can_be_taken_back() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (zero, one) = two(scheme, 4, 1 << 20);
        (0..4).for_each(|_| one.send(0, 1, b"first").unwrap());
        let mut waiting: Vec<_> = (2..6u64)
            .map(|tag| match tag {
                2 => one.buffers().isend(0, tag, filled(&bytes(100, tag))),
                3 => one.buffers().issend(0, tag, filled(&bytes(100, tag))),
                4 => one.buffers().isend(0, tag, filled(&bytes(ANNOUNCED, tag))),
                _ => one.buffers().isend(0, tag, filled(b"last")),
            })
            .collect();
        look(&one);
        let mut last = waiting.pop().unwrap();
        assert!(last.wait_timeout(SHORT / 16).is_none());
        for (request, tag) in waiting.into_iter().zip(2..) {
            let unsent = in_time("cancelling", || request.cancel()).unwrap_err();
            assert!(matches!(unsent.error, Error::Cancelled), "{}", unsent.error);
            let length = if tag == 4 { ANNOUNCED } else { 100 };
            assert!(unsent.filled.unwrap().as_bytes() == bytes(length, tag));
        }
        zero.buffers().recv(1, 1).unwrap();
        in_time("the last", || {
            thread::scope(|threads| {
                threads.spawn(|| last.wait().unwrap());
                let received = zero.buffers().recv(1, 5).unwrap();
                assert_eq!(received.payload.as_bytes(), b"last");
            });
        });
        for tag in 2..5 {
            assert!(zero.iprobe(1, tag).unwrap().is_none());
        }
    }
}

#[test]
fn what_waits_for_room_ends_with_who_was_to_receive_it() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (zero, one) = two(scheme, 4, 1 << 20);
        let mut sent: Vec<_> = (0..9)
            .map(|n| one.buffers().isend(0, 1, filled(&bytes(500, n))))
            .collect();
        look(&one);
        drop(zero);
        let blocked = in_time("a send", || {
            loop {
                if let Err(error) = one.send(0, 1, &[1u8; 10]) {
                    break error;
                }
            }
        });
        assert!(
            matches!(blocked, Error::PeerGone { rank: 0, .. }),
            "{blocked}"
        );
        let mut back = 0;
        for (ended, n) in in_time("requests", || wait_all(&mut sent))
            .into_iter()
            .zip(0..)
        {
            let Err(unsent) = ended else { continue };
            let error = unsent.error;
            assert!(matches!(error, Error::PeerGone { rank: 0, .. }), "{error}");
            if let Some(filled) = unsent.filled {
                assert!(filled.as_bytes() == bytes(500, n));
                back += 1;
            }
        }
        assert!(back >= 5, "{back}");
    }
}

#[test]
fn what_nobody_asks_for_any_more_is_sent_when_there_is_room() {
    for scheme in SCHEMES {
        for drops in [false, true] {
            println!("{scheme}, {drops}");
            let (zero, one) = two(scheme, 4, 1 << 20);
            for n in 0..20 {
                drop(one.buffers().isend(0, 1, filled(&bytes(300, n))));
            }
            let receive = || {
                for n in 0..20 {
                    let received = zero.buffers().recv(1, 1).unwrap();
                    assert!(received.payload.as_bytes() == bytes(300, n), "{n}");
                }
            };
            if drops {
                drop(one);
                in_time("what was left", receive);
                let error = zero.recv(1, 1, &mut [0u8]).unwrap_err();
                assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
            } else {
                in_time("the end", || {
                    thread::scope(|threads| {
                        threads.spawn(|| {
                            let error = one.finish(Duration::from_millis(1)).unwrap_err();
                            assert!(matches!(error, Error::TimedOut { .. }), "{error}");
                            one.finish(LONG).unwrap();
                        });
                        thread::sleep(SHORT / 8);
                        receive();
                        zero.finish(LONG).unwrap();
                    });
                });
            }
        }
    }
}

#[test]
fn bounds_of_nothing_let_messages_through_one_by_one() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (zero, one) = two(scheme, 0, 0);
        in_time("a conversation", || {
            thread::scope(|threads| {
                threads.spawn(|| {
                    for turn in 0..50u64 {
                        one.send(0, 1, &[turn]).unwrap();
                        let mut answer = [0u64];
                        one.recv(0, 2, &mut answer).unwrap();
                        assert_eq!(answer, [turn + 1]);
                    }
                });
                for _ in 0..50 {
                    let mut number = [0u64];
                    zero.recv(1, 1, &mut number).unwrap();
                    zero.send(1, 2, &[number[0] + 1]).unwrap();
                }
            });
        });
    }
}

#[test]
fn many_threads_exceed_the_room_at_once() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (zero, one) = two(scheme, 3, 2_000);
        in_time("threads", || {
            thread::scope(|threads| {
                for tag in 0..4u64 {
                    let (zero, one) = (&zero, &one);
                    threads.spawn(move || {
                        for turn in 0..40u64 {
                            one.send(0, tag, &[turn; 64]).unwrap();
                        }
                    });
                    threads.spawn(move || {
                        for _ in 0..40 {
                            let mut memory = [0u64; 64];
                            let status = zero.recv(1, rank::Tag::Any, &mut memory).unwrap();
                            assert_eq!(status.bytes, 512);
                        }
                    });
                }
            });
        });
    }
}

/// Receives without a request and jbufs that are sent at once use credit like all others.
#[test]
fn much_more_than_a_window_comes_whatever_the_call() {
    const COUNT: u64 = 3_000;
    for scheme in SCHEMES {
        let (zero, one) = two(scheme, 64, 1 << 16);
        in_time(scheme, || {
            thread::scope(|scope| {
                scope.spawn(|| {
                    for n in 0..COUNT {
                        let jbuf = filled(&n.to_ne_bytes());
                        match n % 3 {
                            0 => drop(zero.buffers().isend(1, 1, jbuf).wait().unwrap()),
                            1 => zero.send(1, 1, &[n]).unwrap(),
                            _ => drop(zero.buffers().issend(1, 1, jbuf)),
                        }
                    }
                    zero.recv(1, 2, &mut [0_u8]).unwrap();
                });
                for n in 0..COUNT {
                    let mut here = [0];
                    match n % 4 {
                        0 => _ = one.recv(0, 1, &mut here).unwrap(),
                        1 => _ = one.recv(rank::Source::Any, 1, &mut here).unwrap(),
                        _ => {
                            let received = one.buffers().recv(0, 1).unwrap();
                            here = [u64::from_ne_bytes(
                                received.payload.as_bytes().try_into().unwrap(),
                            )];
                        }
                    }
                    assert_eq!(here, [n], "{scheme}");
                }
                one.send(0, 2, &[0_u8]).unwrap();
            });
        });
    }
}
