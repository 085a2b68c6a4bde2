//! Ranks over all kinds of connections: each message is received by the right receive, or an error
//! states why not.

use std::thread;

use jstream_transport::RecvError;
use jstream_transport::rank::{Destination, Error, Mesh, Options, Rank, Source, Status, Tag};
use testing::patterns::bytes;
use testing::transport::ranks::{each, group, two, ways};
use testing::{LONG, SHORT};

/// Message lengths in bytes: short, around the thresholds, and long.
const SIZES: [usize; 9] = [
    0,
    1,
    8,
    64,
    4096,
    16 << 10,
    (16 << 10) + 1,
    300_000,
    3_000_000,
];

/// Runs a case over all kinds of connections, with `zero` on this thread and `one` on another.
fn with_two(zero: impl Fn(&Rank), one: impl Fn(&Rank) + Sync) {
    for way in ways() {
        println!("{way}");
        let (here, there) = two(way);
        thread::scope(|scope| {
            let one = &one;
            let other = scope.spawn(move || one(&there));
            zero(&here);
            other.join().unwrap();
        });
    }
}

#[test]
fn every_size_arrives_whether_it_is_expected_or_not() {
    with_two(
        |rank| {
            for (tag, size) in (0..).zip(SIZES) {
                rank.send(1, tag, &bytes(size, tag)).unwrap();
            }
            // Rank 1 receives the following messages before they are sent.
            rank.recv(1, 99, &mut [0u8; 0]).unwrap();
            thread::sleep(SHORT / 4);
            for (tag, size) in (0..).zip(SIZES) {
                rank.send(1, tag, &bytes(size, tag + 1)).unwrap();
            }
        },
        |rank| {
            let mut memory = vec![0u8; 4_000_000];
            thread::sleep(SHORT / 4);
            for (tag, size) in (0..).zip(SIZES) {
                let status = rank.recv(0, tag, &mut memory).unwrap();
                assert_eq!((status.source, status.tag), (0, tag));
                assert_eq!(status.len::<u8>(), size);
                assert!(memory[..size] == bytes(size, tag));
            }
            rank.send(0, 99, &[0u8; 0]).unwrap();
            for (tag, size) in (0..).zip(SIZES) {
                rank.recv(0, tag, &mut memory).unwrap();
                assert!(memory[..size] == bytes(size, tag + 1));
            }
        },
    );
}

#[test]
fn tags_sources_and_contexts_choose() {
    for way in ways() {
        println!("{way}");
        let all = group(way, 3, &Options::default());
        let others = each(&all, |rank| rank.duplicate().unwrap());
        thread::scope(|scope| {
            for (rank, other) in all.iter().zip(&others).skip(1) {
                scope.spawn(move || {
                    let me = u64::from(rank.rank());
                    other.send(0, 1, &[100 + me]).unwrap();
                    rank.send(0, 1, &[10 + me]).unwrap();
                    rank.send(0, 2, &[20 + me]).unwrap();
                    rank.recv(0, 3, &mut [0u64]).unwrap();
                });
            }
            let mut number = [0u64];
            let mut get = |rank: &Rank, source: Source, tag: Tag| {
                let status = rank.recv(source, tag, &mut number).unwrap();
                (number[0], status.source, status.tag)
            };
            assert_eq!(get(&all[0], 2.into(), 2.into()), (22, 2, 2));
            let (number, source, tag) = get(&all[0], Source::Any, 2.into());
            assert_eq!((number, source, tag), (21, 1, 2));
            assert_eq!(get(&all[0], 1.into(), Tag::Any), (11, 1, 1));
            assert_eq!(get(&all[0], Source::Any, Tag::Any), (12, 2, 1));
            let mut contexts: Vec<_> = (0..2)
                .map(|_| get(&others[0], Source::Any, Tag::Any))
                .collect();
            contexts.sort_unstable();
            assert_eq!(contexts, [(101, 1, 1), (102, 2, 1)]);
            for to in 1..3 {
                all[0].send(to, 3, &[0u64]).unwrap();
            }
        });
    }
}

#[test]
fn messages_of_a_pair_keep_their_order() {
    with_two(
        |rank| {
            for number in 0..2_000u64 {
                // Short and long messages, of which some are posted.
                let length = if number % 7 == 0 { 40_000 } else { 2 };
                let message = vec![number; length];
                if number % 3 == 0 {
                    let filled = jstream::EmptyBuffer::heap(length * 8)
                        .copied_from(&message)
                        .unwrap();
                    drop(rank.buffers().isend(1, 5, filled));
                } else {
                    rank.send(1, 5, &message).unwrap();
                }
            }
            rank.recv(1, 6, &mut [0u8; 0]).unwrap();
        },
        |rank| {
            let mut memory = vec![0u64; 40_000];
            for number in 0..2_000u64 {
                let tag = if number % 2 == 0 { Tag::Any } else { 5.into() };
                let source = if number % 5 == 0 {
                    Source::Any
                } else {
                    0.into()
                };
                let status = rank.recv(source, tag, &mut memory).unwrap();
                let length = if number % 7 == 0 { 40_000 } else { 2 };
                assert_eq!((memory[0], status.len::<u64>()), (number, length));
                assert_eq!(memory[length - 1], number);
            }
            rank.send(0, 6, &[0u8; 0]).unwrap();
        },
    );
}

#[test]
fn what_does_not_fit_is_an_error_and_the_next_one_arrives() {
    with_two(
        |rank| {
            for size in SIZES.into_iter().filter(|size| *size > 8) {
                rank.send(1, 1, &bytes(size, 1)).unwrap();
                rank.send(1, 1, &[7u8; 8]).unwrap();
            }
            rank.send(1, 2, &[1u32; 3]).unwrap();
            rank.send(1, 2, &[2.0f32; 3]).unwrap();
            rank.recv(1, 3, &mut [0u8; 0]).unwrap();
        },
        |rank| {
            let mut memory = [0u8; 8];
            for (i, size) in SIZES.into_iter().filter(|size| *size > 8).enumerate() {
                if i % 2 == 0 {
                    thread::sleep(SHORT / 10);
                }
                memory.fill(1);
                let error = rank.recv(0, 1, &mut memory).unwrap_err();
                let Error::Truncated {
                    length, capacity, ..
                } = error
                else {
                    panic!("{error}")
                };
                assert_eq!((length, capacity), (size as u64, 8));
                assert_eq!(memory, [1; 8]);
                rank.recv(0, 1, &mut memory).unwrap();
                assert_eq!(memory, [7; 8]);
            }
            let error = rank.recv(0, 2, &mut [0f32; 8]).unwrap_err();
            let Error::WrongElements { expected, sent, .. } = error else {
                panic!("{error}")
            };
            assert_eq!((expected.name(), sent.name()), (Some("f32"), Some("u32")));
            let mut numbers = [0f32; 8];
            assert_eq!(rank.recv(0, 2, &mut numbers).unwrap().len::<f32>(), 3);
            assert_eq!(numbers[..4], [2.0, 2.0, 2.0, 0.0]);
            rank.send(0, 3, &[0u8; 0]).unwrap();
        },
    );
}

#[test]
fn messages_are_received_as_vectors_and_as_values() {
    with_two(
        |rank| {
            for size in SIZES {
                rank.send(1, 1, &bytes(size, 4)).unwrap();
                rank.send(1, 1, &vec![size as u64; size]).unwrap();
            }
            rank.send(1, 1, &[1u32]).unwrap();
            rank.send(1, 1, &bytes(7, 4)).unwrap();
            rank.send_value(1, 2, [1.0, -2.5]).unwrap();
            for count in [0, 2, 1] {
                rank.send(1, 2, &[5u32, 6][..count]).unwrap();
            }
            rank.recv(1, 3, &mut [0u8; 0]).unwrap();
        },
        |rank| {
            for (i, size) in SIZES.into_iter().enumerate() {
                if i % 2 == 0 {
                    thread::sleep(SHORT / 10);
                }
                let (received, status) = rank.recv_vec::<u8>(Source::Any, 1).unwrap();
                assert!(received == bytes(size, 4));
                assert_eq!((status.source, status.bytes), (0, size as u64));
                let (numbers, _) = rank.recv_vec::<u64>(0, 1).unwrap();
                assert!(numbers == vec![size as u64; size]);
            }
            let error = rank.recv_vec::<f32>(0, 1).unwrap_err();
            assert!(matches!(error, Error::WrongElements { .. }), "{error}");
            // Bytes agree with every type, but not a part of an element.
            let error = rank.recv_vec::<u32>(0, 1).unwrap_err();
            let of_seven = |error| match error {
                Error::Truncated {
                    length, capacity, ..
                } => (length, capacity),
                error => panic!("{error}"),
            };
            assert_eq!(of_seven(error), (7, 4));

            let (pair, status) = rank.recv_value::<[f64; 2]>(0, 2).unwrap();
            assert_eq!((pair, status.bytes), ([1.0, -2.5], 16));
            let error = rank.recv_value::<u32>(0, 2).unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::TooShort {
                        length: 0,
                        size: 4,
                        ..
                    }
                ),
                "{error}"
            );
            let error = rank.recv_value::<u32>(0, 2).unwrap_err();
            assert!(
                matches!(error, Error::Truncated { length: 8, .. }),
                "{error}"
            );
            assert_eq!(rank.recv_value::<u32>(0, 2).unwrap().0, 5);

            let error = rank.recv_value::<u32>(Source::Null, 2).unwrap_err();
            assert!(matches!(error, Error::PeerGone { .. }), "{error}");
            let (nothing, status) = rank.recv_vec::<u32>(Source::Null, 2).unwrap();
            assert!(nothing.is_empty() && status.source == Status::NOBODY);
            rank.send(0, 3, &[0u8; 0]).unwrap();
        },
    );
}

#[test]
fn nobody_and_oneself() {
    for way in ways() {
        let (zero, _one) = two(way);
        zero.send(Destination::Null, 1, &[1u8]).unwrap();
        let mut memory = [5u8; 2];
        let status = zero.recv(Source::Null, 1, &mut memory).unwrap();
        assert_eq!((status.source, status.bytes), (Status::NOBODY, 0));
        assert_eq!(memory, [5; 2]);
        for size in SIZES {
            let receiving = zero.buffers().irecv(0, 9);
            zero.send(0, 9, &bytes(size, 3)).unwrap();
            let message = receiving.wait().unwrap();
            assert!(message.payload.as_bytes() == bytes(size, 3));
        }
        zero.send(0, 4, b"later").unwrap();
        assert_eq!(zero.recv(Source::Any, 4, &mut [0u8; 9]).unwrap().bytes, 5);
        let error = zero.send(2, 1, &[0u8]).unwrap_err();
        assert!(
            matches!(error, Error::NoRank { rank: 2, size: 2 }),
            "{error}"
        );
        let error = zero.recv(7, 1, &mut [0u8]).unwrap_err();
        assert!(
            matches!(error, Error::NoRank { rank: 7, size: 2 }),
            "{error}"
        );
    }
}

#[test]
fn both_send_to_each_other_at_once() {
    let exchange = |rank: &Rank| {
        let other = 1 - rank.rank();
        for size in SIZES {
            let mine = bytes(size, u64::from(rank.rank()));
            let mut theirs = vec![0; size];
            let status = rank
                .sendrecv(other, 1, &mine, other, 1, &mut theirs)
                .unwrap();
            assert_eq!(status.len::<u8>(), size);
            assert!(theirs == bytes(size, u64::from(other)));
        }
    };
    with_two(exchange, exchange);
}

#[test]
fn a_confirmed_send_waits_for_its_receive() {
    with_two(
        |rank| {
            for (tag, size) in (0..).zip(SIZES) {
                rank.ssend(1, tag, &bytes(size, tag)).unwrap();
                // Rank 1 sends this before it receives the synchronous message, so it has arrived.
                let mut flag = [0u8];
                rank.recv_timeout(1, 50 + tag, &mut flag, LONG).unwrap();
            }
        },
        |rank| {
            for (tag, size) in (0..).zip(SIZES) {
                let mut memory = vec![0; size];
                rank.send(0, 50 + tag, &[1u8]).unwrap();
                if tag % 2 == 0 {
                    thread::sleep(SHORT / 20);
                }
                rank.recv(0, tag, &mut memory).unwrap();
                assert!(memory == bytes(size, tag));
            }
        },
    );
}

#[test]
fn who_sends_too_much_waits_and_nobody_else() {
    let mut options = Options::default();
    options.bounds.messages = 10;
    for way in ways() {
        println!("{way}");
        let all = group(way, 3, &options);
        thread::scope(|scope| {
            let (one, two) = (&all[1], &all[2]);
            scope.spawn(move || {
                for number in 0..5_000u64 {
                    one.send(0, 1, &[number; 20]).unwrap();
                }
            });
            scope.spawn(move || {
                for number in 0..8u64 {
                    two.send(0, 2, &[number]).unwrap();
                }
                two.recv(0, 3, &mut [0u8; 0]).unwrap();
            });
            let mut memory = [0u64; 20];
            for number in 0..8 {
                all[0].recv(2, 2, &mut memory).unwrap();
                assert_eq!(memory[0], number);
            }
            all[0].send(2, 3, &[0u8; 0]).unwrap();
            for number in 0..5_000 {
                all[0].recv(Source::Any, 1, &mut memory).unwrap();
                assert_eq!(memory, [number; 20]);
            }
        });
    }
}

#[test]
fn who_ends_ends_what_waits_for_it_alone() {
    for way in ways() {
        println!("{way}");
        let mut all = group(way, 3, &Options::default());
        let (two, one, zero) = (all.pop().unwrap(), all.pop().unwrap(), all.pop().unwrap());
        let waiting = zero.buffers().irecv(1, 1);
        let others = zero.buffers().irecv(2, 1);
        let any = zero.buffers().irecv(Source::Any, 5);
        one.send(0, 2, b"before").unwrap();
        if way != "threads" {
            // This message is received before the end.
            zero.recv(1, 2, &mut [0u8; 6]).unwrap();
        }
        drop(one);
        let error = waiting.wait().unwrap_err().error;
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        if way == "threads" {
            zero.recv(1, 2, &mut [0u8; 6]).unwrap();
        }
        let error = zero.recv(1, 2, &mut [0u8; 6]).unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        for size in SIZES {
            let error = zero.send(1, 1, &bytes(size, 0)).unwrap_err();
            assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        }
        two.send(0, 1, b"still here").unwrap();
        assert_eq!(others.wait().unwrap().payload.as_bytes(), b"still here");
        drop(two);
        let error = any.wait().unwrap_err().error;
        assert!(matches!(error, Error::NobodyLeft), "{error}");
        let error = zero.recv(Source::Any, 1, &mut [0u8]).unwrap_err();
        assert!(matches!(error, Error::NobodyLeft), "{error}");
    }
}

#[test]
fn receives_end_in_time_and_are_taken_back() {
    with_two(
        |rank| {
            let mut memory = [0u8; 8];
            let error = rank
                .recv_timeout(1, 1, &mut memory, SHORT / 10)
                .unwrap_err();
            assert!(matches!(error, Error::TimedOut { .. }), "{error}");
            let receiving = rank.buffers().irecv(1, 1);
            let error = receiving.cancel().unwrap_err().error;
            assert!(matches!(error, Error::Cancelled), "{error}");
            let mut forgotten = rank.buffers().irecv(1, 1);
            assert!(forgotten.test().is_none());
            drop(forgotten);
            rank.send(1, 2, &[0u8]).unwrap();
            // None of the ended receives has taken this message.
            rank.recv(1, 1, &mut memory).unwrap();
            assert_eq!(memory, [3; 8]);
        },
        |rank| {
            rank.recv(0, 2, &mut [0u8]).unwrap();
            rank.send(0, 1, &[3u8; 8]).unwrap();
        },
    );
}

#[test]
fn many_threads_use_one_rank() {
    with_two(
        |rank| {
            thread::scope(|scope| {
                for tag in 0..4u64 {
                    scope.spawn(move || {
                        for number in 0..200u64 {
                            let length = if number % 10 == 0 { 50_000 } else { 1 };
                            rank.send(1, tag, &vec![number; length]).unwrap();
                            let mut back = [0u64];
                            rank.recv(1, tag, &mut back).unwrap();
                            assert_eq!(back, [number + 1]);
                        }
                    });
                }
            });
        },
        |rank| {
            thread::scope(|scope| {
                for tag in 0..4u64 {
                    scope.spawn(move || {
                        let mut memory = vec![0u64; 50_000];
                        for number in 0..200u64 {
                            rank.recv(0, tag, &mut memory).unwrap();
                            assert_eq!(memory[0], number);
                            rank.send(0, tag, &[number + 1]).unwrap();
                        }
                    });
                }
            });
        },
    );
}

#[test]
fn an_endpoint_that_belongs_to_a_rank_gives_messages_to_nobody_else() {
    let (one, zero) = testing::transport::default_pair("shm");
    let (clone, other) = (zero.clone(), zero.clone());
    let mesh = |rank, peer, endpoint| {
        let mesh = Mesh::new(rank, 2, &Options::default());
        mesh.endpoint(peer, endpoint).unwrap().build()
    };
    let (zero, one) = (mesh(0, 1, zero), mesh(1, 0, one));
    one.send(0, 1, &[6u8; 4]).unwrap();
    let mut memory = [0u8; 4];
    let taken = [
        clone.recv_message().unwrap_err(),
        clone.recv_into(&mut memory).unwrap_err(),
        clone.post_recv(None).wait().unwrap_err().error,
    ];
    for error in taken {
        assert!(matches!(error, RecvError::Taken { .. }), "{error}");
    }
    // A second rank on the same endpoint gets no message either.
    let error = mesh(0, 1, other).recv(1, 1, &mut memory).unwrap_err();
    assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
    zero.recv(1, 1, &mut memory).unwrap();
    assert_eq!(memory, [6; 4]);
}
