//! Requests of ranks: probes, several at once, persistent requests, borrowed memory, objects, and
//! futures.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use jstream::EmptyBuffer;
use jstream_transport::rank::{self, Error, Options, Rank, Source, Tag};
use testing::tasks::block_on;
use testing::transport::ranks::{group, two, ways};
use testing::{LONG, SHORT};

const SIZES: [usize; 5] = [0, 8, 5_000, 40_000, 1_000_000];

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

fn filled(bytes: &[u8]) -> jstream::MessageBuffer {
    EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap()
}

#[test]
fn jbufs_of_all_lengths_arrive_in_order_and_are_not_overtaken() {
    const LENGTHS: [usize; 7] = [0, 1, 255, 256, 257, 8, 5_000];
    let contents = |tag: u64, len: usize| vec![tag as u8 ^ len as u8; len];
    with_two(
        |rank| {
            for round in 0..20 {
                for len in LENGTHS {
                    if round % 4 > 1 {
                        rank.send(1, 2, &contents(2, len)).unwrap();
                    }
                    rank.buffers()
                        .send(1, 1, filled(&contents(1, len)))
                        .unwrap();
                    // The receiver waits for some of the messages, and finds the others.
                    if round % 2 == 0 {
                        rank.recv(1, 3, &mut [0u8; 0]).unwrap();
                    }
                }
            }
        },
        |rank| {
            for round in 0..20 {
                for len in LENGTHS {
                    let received = |tag, from: Source, wanted: Tag| {
                        let message = rank.buffers().recv(from, wanted).unwrap();
                        let status = message.status;
                        assert_eq!((status.source, status.tag), (0, tag));
                        assert_eq!(status.bytes, len as u64);
                        assert_eq!(message.payload.as_bytes(), contents(tag, len));
                    };
                    received(1, 0.into(), 1.into());
                    if round % 4 > 1 {
                        received(2, 0.into(), Tag::Any);
                    }
                    if round % 2 == 0 {
                        rank.send(0, 3, &[0u8; 0]).unwrap();
                    }
                }
            }
        },
    );
}

#[test]
fn a_probe_tells_the_length_and_has_the_message_alone() {
    with_two(
        |rank| {
            for size in SIZES {
                rank.send(1, 1, &vec![3u8; size]).unwrap();
            }
            rank.recv(1, 2, &mut [0u8; 0]).unwrap();
        },
        |rank| {
            for (i, size) in SIZES.into_iter().enumerate() {
                let found = rank.probe(Source::Any, 1).unwrap();
                assert_eq!(found.status().bytes, size as u64);
                if i % 2 == 0 {
                    // The dropped message goes back to the queue, and is found again.
                    drop(found);
                    let found = rank.probe_timeout(0, Tag::Any, LONG).unwrap();
                    let mut memory = vec![0u8; size];
                    found.recv(&mut memory).unwrap();
                    assert!(memory.iter().all(|byte| *byte == 3));
                } else {
                    assert_eq!(found.recv_buffer().unwrap().payload.len(), size);
                }
            }
            assert!(rank.iprobe(0, 1).unwrap().is_none());
            let error = rank.probe_timeout(0, 1, SHORT / 20).unwrap_err();
            assert!(matches!(error, Error::TimedOut { .. }), "{error}");
            rank.send(0, 2, &[0u8; 0]).unwrap();
        },
    );
}

#[test]
fn threads_that_probe_get_different_messages() {
    const MESSAGES: u64 = 200;
    with_two(
        |rank| {
            for number in 0..MESSAGES {
                let length = if number % 20 == 0 { 100_000 } else { 1 };
                rank.send(1, 1, &vec![number; length]).unwrap();
            }
            rank.recv(1, 2, &mut [0u8; 0]).unwrap();
        },
        |rank| {
            let numbers: Vec<u64> = thread::scope(|scope| {
                let probing = [(); 4].map(|()| {
                    scope.spawn(|| {
                        let mine = (0..MESSAGES / 4).map(|_| {
                            let found = rank.probe(0, 1).unwrap();
                            let mut memory = vec![0; found.status().len::<u64>()];
                            found.recv(&mut memory).unwrap();
                            memory[0]
                        });
                        mine.collect::<Vec<_>>()
                    })
                });
                let all = probing
                    .into_iter()
                    .flat_map(|thread| thread.join().unwrap());
                all.collect()
            });
            let distinct: HashSet<_> = numbers.iter().collect();
            assert_eq!(distinct.len() as u64, MESSAGES);
            rank.send(0, 2, &[0u8; 0]).unwrap();
        },
    );
}

#[test]
fn several_requests_are_waited_for_in_every_way() {
    with_two(
        |rank| {
            let mut sends: Vec<_> = (0..20u64)
                .map(|tag| {
                    rank.buffers()
                        .isend(1, tag, filled(&vec![tag as u8; SIZES[tag as usize % 5]]))
                })
                .collect();
            for sent in rank::wait_all(&mut sends) {
                sent.unwrap();
            }
            assert!(rank::wait_all(&mut sends).is_empty());
        },
        |rank| {
            let post = |tags: std::ops::Range<u64>| -> Vec<_> {
                tags.map(|tag| rank.buffers().irecv(0, tag)).collect()
            };
            let check = |tag: usize, message: rank::RankMessage| {
                assert_eq!(message.payload.as_bytes(), vec![tag as u8; SIZES[tag % 5]]);
            };
            let mut any = post(0..5);
            let mut places = HashSet::new();
            while let Some((place, message)) = rank::wait_any(&mut any) {
                check(place, message.unwrap());
                assert!(places.insert(place));
            }
            assert_eq!(places.len(), 5);
            let mut some = post(5..10);
            let mut count = 0;
            while count < 5 {
                for (place, message) in rank::wait_some(&mut some) {
                    check(place + 5, message.unwrap());
                    count += 1;
                }
            }
            assert!(rank::test_some(&mut some).is_empty());
            let mut all = post(10..15);
            for (place, message) in rank::wait_all(&mut all).into_iter().enumerate() {
                check(place + 10, message.unwrap());
            }
            let mut all = post(15..20);
            let messages = loop {
                if let Some(messages) = rank::test_all(&mut all) {
                    break messages;
                }
                thread::yield_now();
            };
            for (place, message) in messages.into_iter().enumerate() {
                check(place + 15, message.unwrap());
            }
        },
    );
}

#[test]
fn waiting_for_any_is_fair() {
    for way in ways() {
        let all = group(way, 3, &Options::default());
        for turn in 0..10u8 {
            for sender in &all[1..] {
                sender.send(0, 1, &[turn]).unwrap();
            }
        }
        let mut counts = [0; 2];
        let mut receives = [all[0].buffers().irecv(1, 1), all[0].buffers().irecv(2, 1)];
        for _ in 0..10 {
            // Both senders have messages waiting.
            let (place, message) = rank::wait_any(&mut receives).unwrap();
            message.unwrap();
            counts[place] += 1;
            receives[place] = all[0].buffers().irecv(place as u32 + 1, 1);
            thread::sleep(SHORT / 100);
        }
        assert_eq!(counts, [5, 5], "{way}");
    }
}

#[test]
fn persistent_requests_are_started_again() {
    with_two(
        |rank| {
            for size in SIZES {
                let mut sending = rank.buffers().send_init(1, 1, filled(&vec![0; size]));
                for turn in 0..5u8 {
                    sending.message_mut().as_bytes_mut().fill(turn);
                    sending.start().unwrap();
                    sending.wait().unwrap();
                }
            }
        },
        |rank| {
            for size in SIZES {
                let mut receiving = rank
                    .buffers()
                    .recv_init(0, Tag::Any, EmptyBuffer::heap(size));
                assert!(matches!(receiving.wait(), Err(Error::Cancelled)));
                for turn in 0..5u8 {
                    receiving.start();
                    assert_eq!(receiving.wait().unwrap().bytes, size as u64);
                    let message = receiving.message().unwrap();
                    assert_eq!(message.as_bytes(), vec![turn; size]);
                }
            }
        },
    );
}

#[test]
fn borrowed_memory_comes_back_also_from_a_panic() {
    with_two(
        |rank| {
            let data: Vec<_> = SIZES.iter().map(|size| vec![9u16; *size]).collect();
            rank.scope(|scope| {
                let sends: Vec<_> = data
                    .iter()
                    .zip(0..)
                    .map(|(data, tag)| match tag % 2 {
                        0 => scope.isend(1, tag, data),
                        _ => scope.issend(1, tag, data),
                    })
                    .collect();
                for send in sends {
                    send.wait().unwrap();
                }
            });
            rank.recv(1, 80, &mut [0u8; 0]).unwrap();
            rank.send(1, 99, &[1u8; 4]).unwrap();
        },
        |rank| {
            let mut memory: Vec<_> = SIZES.iter().map(|size| vec![0u16; *size]).collect();
            rank.scope(|scope| {
                let receives: Vec<_> = memory
                    .iter_mut()
                    .zip(0..)
                    .map(|(memory, tag)| scope.irecv(0, tag, memory))
                    .collect();
                // The scope completes the last receive.
                for receive in receives.into_iter().take(4) {
                    receive.wait().unwrap();
                }
            });
            for (memory, size) in memory.iter().zip(SIZES) {
                assert!(*memory == vec![9; size]);
            }
            let mut taken_back = [7u8; 4];
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                rank.scope(|scope| {
                    let receive = scope.irecv(0, 99, &mut taken_back);
                    assert!(receive.is_done(), "this panics");
                });
            }));
            assert!(panicked.is_err());
            rank.send(0, 80, &[0u8; 0]).unwrap();
            assert_eq!(taken_back, [7; 4]);
            rank.recv(0, 99, &mut taken_back).unwrap();
            assert_eq!(taken_back, [1; 4]);
        },
    );
}

/// Sizes below and above the length up to which messages are sent eagerly.
#[test]
fn scoped_requests_are_tested_and_waited_for_together() {
    with_two(
        |rank| {
            for size in SIZES {
                // The receives are posted first.
                rank.recv(1, 9, &mut [0u8; 0]).unwrap();
                for tag in [2, 0, 1] {
                    rank.send(1, tag, &vec![tag as u8; size]).unwrap();
                }
                let data = vec![7u8; size];
                rank.scope(|scope| {
                    let mut sends: Vec<_> = (3..6).map(|tag| scope.issend(1, tag, &data)).collect();
                    let mut ended = HashSet::new();
                    while let Some((place, sent)) = rank::wait_any(&mut sends) {
                        sent.unwrap();
                        assert!(ended.insert(place));
                        assert!(sends[place].test().is_none());
                    }
                    assert_eq!(ended.len(), 3);
                });
            }
        },
        |rank| {
            for size in SIZES {
                let mut memory = vec![vec![9u8; size]; 3];
                rank.scope(|scope| {
                    let mut receives: Vec<_> = (0u64..)
                        .zip(&mut memory)
                        .map(|(tag, memory)| scope.irecv(0, tag, memory))
                        .collect();
                    assert!(receives.iter_mut().all(|receive| receive.test().is_none()));
                    assert!(rank::test_any(&mut receives).is_none());
                    let late = receives[0].wait_timeout(SHORT / 20);
                    assert!(late.is_none());
                    rank.send(0, 9, &[0u8; 0]).unwrap();
                    let (place, first) = rank::wait_any(&mut receives).unwrap();
                    assert_eq!(first.unwrap().tag, place as u64);
                    let others = rank::wait_all(&mut receives);
                    assert_eq!(others.len(), 2);
                    for status in others {
                        assert_eq!(status.unwrap().bytes, size as u64);
                    }
                    assert!(rank::wait_any(&mut receives).is_none());
                    assert!(receives.iter().all(|receive| receive.is_done()));
                });
                for (tag, memory) in (0u8..).zip(memory) {
                    assert!(memory == vec![tag; size]);
                }
                for tag in 3..6u64 {
                    assert!(rank.recv_vec::<u8>(0, tag).unwrap().0 == vec![7; size]);
                }
            }
        },
    );
}

#[test]
fn scoped_requests_that_nobody_wants_are_cancelled() {
    for way in ways() {
        println!("{way}");
        let (zero, one) = two(way);
        one.send(0, 3, &[0u8]).unwrap();
        zero.recv(1, 3, &mut [0u8]).unwrap();
        for size in [8, 100_000] {
            let data = vec![1u8; size];
            thread::scope(|threads| {
                // Drives the connection of the receiver.
                let waiting = threads.spawn(|| one.recv_timeout(0, 2, &mut [0u8], LONG).unwrap());
                let mut memory = [0u8; 4];
                zero.scope(|scope| {
                    let cancelled = scope.issend(1, 1, &data).cancel().unwrap_err();
                    assert!(matches!(cancelled, Error::Cancelled), "{cancelled}");
                    let cancelled = scope.irecv(1, 5, &mut memory).cancel().unwrap_err();
                    assert!(matches!(cancelled, Error::Cancelled), "{cancelled}");
                });
                zero.send(1, 2, &[0u8]).unwrap();
                waiting.join().unwrap();
            });
            assert!(one.iprobe(0, 1).unwrap().is_none());
            // A message that has a receive is sent.
            thread::scope(|threads| {
                threads.spawn(|| one.recv_vec::<u8>(0, 4).unwrap());
                let sent = zero.scope(|scope| {
                    let mut send = scope.issend(1, 4, &data);
                    while send.test().is_none() {}
                    assert!(send.is_done());
                    scope.isend(1, 4, &data[..1]).wait()
                });
                sent.unwrap();
            });
            assert_eq!(one.recv_value::<u8>(0, 4).unwrap().0, 1);
        }
    }
}

#[test]
#[should_panic(expected = "the outcome was taken before")]
fn an_outcome_of_a_scope_is_taken_once() {
    let (zero, _one) = two("threads");
    zero.scope(|scope| {
        let mut send = scope.isend(1, 1, &[1u8]);
        assert!(send.test().is_some());
        let _ = send.wait();
    });
}

#[test]
fn a_send_that_nobody_wants_is_cancelled() {
    for way in ways().filter(|way| *way != "threads") {
        println!("{way}");
        let (zero, one) = two(way);
        // After this exchange the ranks are connected. A send that waits for the connection could
        // be cancelled as well.
        one.send(0, 3, &[0u8]).unwrap();
        zero.recv(1, 3, &mut [0u8]).unwrap();
        let sending = zero.buffers().issend(1, 1, filled(&[1; 100_000]));
        let unsent = thread::scope(|scope| {
            let waiting = scope.spawn(|| one.recv_timeout(0, 2, &mut [0u8], LONG).unwrap());
            let unsent = sending.cancel().unwrap_err();
            zero.send(1, 2, &[0u8]).unwrap();
            waiting.join().unwrap();
            unsent
        });
        assert!(matches!(unsent.error, Error::Cancelled), "{unsent}");
        assert!(one.iprobe(0, 1).unwrap().is_none());
        // A message that was already received can't be cancelled.
        let sending = zero.buffers().issend(1, 1, filled(&[1; 100_000]));
        let receiving = one.buffers().irecv(0, 1);
        thread::scope(|scope| {
            scope.spawn(|| receiving.wait().unwrap());
            drop(sending.cancel());
        });
    }
}

#[test]
fn objects_arrive_and_move() {
    with_two(
        |rank| {
            for length in [1, 100, 20_000] {
                let words: Vec<String> = (0..length).map(|n| format!("word {n}")).collect();
                rank.objects().send(1, 1, &words).unwrap();
            }
            let (words, _) = rank.objects().recv::<Vec<String>>(1, 2).unwrap();
            assert_eq!(words.get()[0], "word 0");
        },
        |rank| {
            for length in [1usize, 100] {
                let (words, status) = rank.objects().recv::<Vec<String>>(0, 1).unwrap();
                assert_eq!((words.get().len(), status.source), (length, 0));
                if length == 100 {
                    rank.objects().forward(0, 2, words).unwrap();
                }
            }
            let error = rank.objects().recv::<u64>(0, 1).unwrap_err();
            assert!(matches!(error, Error::Read { .. }), "{error}");
        },
    );
}

#[test]
fn requests_are_futures() {
    with_two(
        |rank| {
            for size in SIZES {
                block_on(async {
                    rank.buffers()
                        .isend(1, 1, filled(&vec![4; size]))
                        .await
                        .unwrap();
                    let back = rank.buffers().irecv(1, 1).await.unwrap();
                    assert_eq!(back.payload.as_bytes(), vec![4; size]);
                });
            }
        },
        |rank| {
            for _ in SIZES {
                block_on(async {
                    let message = rank.buffers().irecv(0, 1).await.unwrap();
                    rank.buffers().isend(0, 1, message.payload).await.unwrap();
                });
            }
        },
    );
}

#[test]
fn who_finishes_has_sent_everything() {
    for way in ways() {
        println!("{way}");
        let all = group(way, 3, &Options::default());
        thread::scope(|scope| {
            for rank in all {
                scope.spawn(move || {
                    for to in 0..3 {
                        rank.send(to, 1, &[rank.rank(); 1000]).unwrap();
                    }
                    rank.finish(LONG).unwrap();
                    for from in 0..3 {
                        let mut memory = [9u32; 1000];
                        rank.recv(from, 1, &mut memory).unwrap();
                        assert_eq!(memory, [from; 1000]);
                    }
                });
            }
        });
    }
}
