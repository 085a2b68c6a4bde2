//! Messages that are longer than the limit of the connection, which is 64 MiB by default. If the
//! receive has memory, this bounds them. Otherwise, `object_limits.bytes` of the receiver does.

use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jstream::buffer::{MessageBuffer, Pool, PoolOptions};
use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::{Collective, Error, Layout, Mesh, Options, Rank, SendRequest};
use testing::transport::ranks::{each, group_of, two, ways};
use testing::transport::{SCHEMES, filled, pair, patient};
use testing::{LONG, SHORT, until};

/// 80 MiB of doubles.
const MANY: usize = 10 << 20;

/// The limit of the short connections, and of what rank 1 allocates, in bytes and in elements.
const LIMIT: u64 = 1 << 20;
const FIT: usize = 1 << 17;

/// The kinds of connections between ranks, of which processes use all but the first two.
const WAYS: [&str; 5] = ["threads", "inproc", "shm", "uds", "tcp"];

/// The devices that copy payloads.
const COPYING: [&str; 4] = ["shm", "uds", "tcp", "uring"];

/// Returns the options of ranks of which all but rank 0 allocate at most `bytes` for a message.
fn allocating(rank: u32, bytes: u64) -> Options {
    let mut options = Options::default();
    if rank > 0 {
        options.object_limits.bytes = bytes as usize;
    }
    options
}

/// Connects two ranks. Rank 1 allocates at most [`LIMIT`] for a message, which is also the limit of
/// the connection, if there is one.
fn limited(way: &str) -> [Rank; 2] {
    if way == "threads" {
        let ranks = group_of(way, 2, |rank| allocating(rank, LIMIT));
        return ranks.try_into().unwrap();
    }
    let mut options = patient();
    options.max_message = LIMIT;
    let (zero, one) = pair(way, &options, &options);
    [(0, zero), (1, one)].map(|(number, end)| {
        let mesh = Mesh::new(number, 2, &allocating(number, LIMIT));
        mesh.endpoint(1 - number, end).unwrap().build()
    })
}

/// Returns true if all elements have the value. Cheaper in tests than a comparison of vectors.
fn are_all(elements: &[f64], value: f64) -> bool {
    elements
        .iter()
        .all(|element| element.to_bits() == value.to_bits())
}

#[test]
fn arrays_beyond_the_default_limit_arrive_in_the_memory_of_the_receiver() {
    for way in WAYS {
        let (zero, one) = two(way);
        each(&[zero, one], |rank| {
            let own = vec![f64::from(rank.rank() + 1); MANY];
            let mut received = vec![0.0; MANY];
            match rank.rank() {
                0 => rank.send(1, 7, &own).unwrap(),
                _ => {
                    let status = rank.recv(0, 7, &mut received).unwrap();
                    assert_eq!(status.len::<f64>(), MANY, "{way}");
                    assert!(are_all(&received, 1.0), "{way}");
                }
            }
            rank.all_reduce(&own, &mut received, &Sum).unwrap();
            assert!(are_all(&received, 3.0), "{way}");
            received.copy_from_slice(&own);
            rank.broadcast(1, &mut received).unwrap();
            assert!(are_all(&received, 2.0), "{way}");
            drop(received);
            let mut all = vec![0.0; 2 * MANY];
            rank.all_gather(&own, &mut all).unwrap();
            let (of_zero, of_one) = all.split_at(MANY);
            assert!(are_all(of_zero, 1.0) && are_all(of_one, 2.0), "{way}");
        });
    }
}

/// A message that nobody has asked for stays with its sender, whatever its length.
#[test]
fn unexpected_arrays_and_objects_beyond_the_limit_of_a_connection_arrive() {
    for way in WAYS {
        let (zero, one) = two(way);
        let long = vec![1u8; 80 << 20];
        thread::scope(|scope| {
            scope.spawn(|| {
                zero.send(1, 1, &long).unwrap();
                zero.send(1, 2, &long).unwrap();
                zero.objects().send(1, 3, &long).unwrap();
            });
            drop(one.probe(0, 1).unwrap());
            let (received, _) = one.recv_vec::<u8>(0, 1).unwrap();
            assert!(received == long, "{way}");
            drop(received);
            drop(one.probe(0, 2).unwrap());
            let mut received = vec![0; long.len()];
            one.recv(0, 2, &mut received).unwrap();
            assert!(received == long, "{way}");
            drop(received);
            drop(one.probe(0, 3).unwrap());
            let (received, _) = one.objects().recv::<Vec<u8>>(0, 3).unwrap();
            assert!(**received.get() == *long, "{way}");
        });
    }
}

#[test]
fn every_operation_on_slices_takes_more_than_the_limit() {
    for scheme in ways() {
        let ranks = limited(scheme);
        each(&ranks, |rank| {
            let count = 2 * FIT;
            let long = vec![1.0; count];
            let twice = vec![1.0; 2 * count];
            let mut received = vec![0.0; count];
            let mut all = vec![0.0; 2 * count];
            for algorithm in Collective::AllReduce.algorithms() {
                let rank = rank.with_algorithm(*algorithm);
                rank.all_reduce(&twice, &mut all, &Sum).unwrap();
                assert!(are_all(&all, 2.0), "{scheme}, {algorithm:?}");
            }
            rank.scatter(0, &twice, &mut received).unwrap();
            rank.gather(0, &long, &mut all).unwrap();
            rank.all_to_all(&twice, &mut all).unwrap();
            rank.reduce_scatter(&twice, &mut received, &Sum).unwrap();
            rank.scan(&long, &mut received, &Sum).unwrap();
            rank.scope(|scope| {
                scope.iall_reduce(&twice, &mut all, &Sum).wait().unwrap();
                scope.ibroadcast(1, &mut received).wait().unwrap();
            });
            assert!(are_all(&all, 2.0), "{scheme}");
            // Receives that were posted before and after the announcement, and with a layout.
            let other = 1 - rank.rank();
            rank.sendrecv(other, 1, &long, other, 1, &mut received)
                .unwrap();
            let every_other = Layout::strided(count, 1, 2).unwrap();
            rank.scope(|scope| {
                let send = scope.isend(other, 2, &long);
                until(|| rank.iprobe(other, 2).unwrap().is_some());
                let status = rank
                    .layouts()
                    .recv(other, 2, &mut all, &every_other)
                    .unwrap();
                assert_eq!(status.len::<f64>(), count);
                send.wait().unwrap();
            });
            assert!(are_all(&received, 1.0), "{scheme}");
            assert_eq!(all[..4], [1.0, 2.0, 1.0, 2.0], "{scheme}");
        });
    }
}

/// Checks the errors of both sides of a message that is too long to allocate memory for it.
fn check_both(sent: &Error, received: &Error, scheme: &str) {
    for (error, option) in [
        (sent, "rank::Options::object_limits of rank 1"),
        (received, "rank::Options::object_limits"),
    ] {
        let text = error.to_string();
        let has_all = text.contains(&LIMIT.to_string()) && text.contains(option);
        assert!(has_all, "{scheme}: {text}");
    }
    let sent = match sent {
        Error::Collective { source, .. } => source,
        error => error,
    };
    let received = match received {
        Error::Collective { source, .. } => source,
        error => error,
    };
    let (
        Error::TooLong {
            length, rank: 1, ..
        },
        Error::OverLimit {
            length: announced,
            rank: 0,
            ..
        },
    ) = (sent, received)
    else {
        panic!("{scheme}: {sent}, {received}")
    };
    assert!(length == announced && *length > LIMIT);
    assert!(sent.to_string().contains("is too long for rank 1"));
    assert!(received.to_string().contains(&length.to_string()));
}

#[test]
fn memory_is_allocated_up_to_the_limit_and_no_further() {
    for scheme in ways() {
        let [zero, one] = limited(scheme);
        let (long, fit) = (vec![1.0; FIT + 1], vec![2.0; FIT]);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2 {
                    zero.send(1, 3, &fit).unwrap();
                }
            });
            assert!(are_all(&one.recv_vec(0, 3).unwrap().0, 2.0), "{scheme}");
            let message = one.buffers().irecv(0, 3).wait().unwrap();
            assert!(are_all(message.payload.view().unwrap(), 2.0), "{scheme}");
        });
        // The receive comes before or after the announcement.
        for is_first in [true, false] {
            for kind in [
                "vector",
                "jbuf",
                "probed jbuf",
                "object",
                "forwarded object",
            ] {
                let receive = || {
                    if !is_first {
                        drop(one.probe(0, 4).unwrap());
                    }
                    match kind {
                        "vector" => one.recv_vec::<f64>(0, 4).unwrap_err(),
                        "jbuf" => one.buffers().irecv(0, 4).wait().unwrap_err().error,
                        "probed jbuf" => one.probe(0, 4).unwrap().recv_buffer().unwrap_err(),
                        _ => one.objects().recv::<Vec<f64>>(0, 4).unwrap_err(),
                    }
                };
                let send = || match kind {
                    "object" => zero.objects().send(1, 4, &long).unwrap_err(),
                    "forwarded object" => {
                        let own = zero.objects().isend(0, 4, &long);
                        let (object, _) = zero.objects().recv::<Vec<f64>>(0, 4).unwrap();
                        own.wait().unwrap();
                        zero.objects().forward(1, 4, object).unwrap_err()
                    }
                    _ => zero.send(1, 4, &long).unwrap_err(),
                };
                let (sent, received) = thread::scope(|scope| {
                    let receiving = scope.spawn(receive);
                    let sent = send();
                    (sent, receiving.join().unwrap())
                });
                check_both(&sent, &received, &format!("{scheme}, {kind}"));
            }
        }
        // The next message arrives, and the refused one returns its buffer.
        let unsent = thread::scope(|scope| {
            scope.spawn(|| one.buffers().irecv(0, 5).wait().unwrap_err());
            zero.buffers()
                .isend(1, 5, filled(&[1; LIMIT as usize + 1]))
                .wait()
                .unwrap_err()
        });
        assert_eq!(unsent.filled.unwrap().len() as u64, LIMIT + 1);
        zero.send(1, 6, &[8u8]).unwrap();
        one.recv(0, 6, &mut [0u8]).unwrap();
    }
}

/// Threads refuse the messages that processes refuse, with the same errors. The limit is below the
/// length from which messages are announced otherwise.
#[test]
fn all_kinds_of_ranks_refuse_the_same_messages() {
    let outcomes = |way| {
        let mut options = Options::default();
        options.object_limits.bytes = 10_000;
        let ranks = group_of(way, 2, |_| options.clone());
        let (long, fit) = (vec![1u8; 10_001], vec![2u8; 10_000]);
        each(&ranks, |rank| {
            let mut outcomes = Vec::new();
            for kind in ["vector", "jbuf", "probed jbuf", "posted jbuf", "object"] {
                if rank.rank() == 0 {
                    outcomes.push(rank.send(1, 3, &long).unwrap_err().to_string());
                    let unsent = rank.buffers().isend(1, 3, filled(&long)).wait();
                    let unsent = unsent.unwrap_err();
                    assert_eq!(unsent.filled.unwrap().len(), long.len());
                    outcomes.push(unsent.error.to_string());
                    continue;
                }
                for _ in 0..2 {
                    let error = match kind {
                        "vector" => rank.recv_vec::<u8>(0, 3).unwrap_err(),
                        "jbuf" => rank.buffers().recv(0, 3).unwrap_err(),
                        "probed jbuf" => rank.probe(0, 3).unwrap().recv_buffer().unwrap_err(),
                        "posted jbuf" => rank.buffers().irecv(0, 3).wait().unwrap_err().error,
                        _ => rank.objects().recv::<Vec<u8>>(0, 3).unwrap_err(),
                    };
                    outcomes.push(error.to_string());
                }
            }
            let mut memory = vec![0u8; 10_001];
            match rank.rank() {
                0 => {
                    rank.send(1, 4, &long).unwrap();
                    rank.send(1, 4, &fit).unwrap();
                }
                _ => {
                    rank.recv(0, 4, &mut memory).unwrap();
                    assert!(memory == long && rank.recv_vec::<u8>(0, 4).unwrap().0 == fit);
                }
            }
            rank.barrier().unwrap();
            outcomes
        })
    };
    let as_threads = outcomes("threads");
    assert!(as_threads[0][0].contains("10001 bytes is too long for rank 1"));
    for way in SCHEMES {
        assert_eq!(outcomes(way), as_threads, "{way}");
    }
}

#[test]
fn objects_beyond_the_limit_fail_at_both_members_with_the_lengths() {
    for scheme in ["threads", "shm", "uds", "tcp"] {
        let ranks = limited(scheme);
        let results = each(&ranks, |rank| {
            let long = vec![1.0; FIT + 1];
            let broadcast = match rank.rank() {
                0 => rank.objects().broadcast(&long),
                _ => rank.objects().recv_broadcast::<Vec<f64>>(0).map(drop),
            };
            let own = if rank.rank() == 0 { long } else { Vec::new() };
            let gathered = rank.objects().gather(1, slice::from_ref(&own));
            rank.barrier().unwrap();
            [broadcast.unwrap_err(), gathered.map(drop).unwrap_err()]
        });
        for (sent, received) in results[0].iter().zip(&results[1]) {
            check_both(sent, received, scheme);
        }
    }
}

/// The members that depend on a failed one through others get the text of its error.
#[test]
fn the_lengths_are_told_along_the_tree() {
    for scheme in ["threads", "shm", "tcp"] {
        let ranks = group_of(scheme, 4, |rank| allocating(rank, LIMIT));
        let long = vec![1.0; FIT + 1];
        let errors = each(&ranks, |rank| match rank.rank() {
            0 => rank.objects().broadcast(&long).unwrap_err(),
            // The message of the failed rank arrives before or after the receive is posted.
            3 => {
                thread::sleep(SHORT);
                rank.objects().recv_broadcast::<Vec<f64>>(0).unwrap_err()
            }
            _ => rank.objects().recv_broadcast::<Vec<f64>>(0).unwrap_err(),
        });
        for error in &errors {
            let text = error.to_string();
            let has_limit = text.contains("1048576") && text.contains("Options::object_limits");
            assert!(has_limit, "{scheme}: {text}");
        }
        let told = |error: &&Error| {
            matches!(
                error,
                Error::FailedAt {
                    reason: Some(_),
                    ..
                }
            )
        };
        assert_eq!(errors.iter().filter(told).count(), 1, "{errors:?}");
    }
}

/// A receive with long memory requests the payload, and gives up before it begins to arrive. The
/// next one gets it.
#[test]
fn long_messages_outlive_the_receives_that_give_up() {
    for scheme in SCHEMES {
        let [zero, one] = limited(scheme);
        let long = vec![3.0; 2 * FIT];
        let mut received = vec![0.0; 2 * FIT];
        thread::scope(|scope| {
            let sending = scope.spawn(|| zero.send(1, 4, &long));
            let brief = Duration::from_micros(200);
            let mut attempts = 0;
            loop {
                match one.recv_timeout(0, 4, &mut received, brief) {
                    Ok(_) => break,
                    Err(Error::TimedOut { .. }) => attempts += 1,
                    Err(error) => panic!("{scheme}, after {attempts} attempts: {error}"),
                }
            }
            sending.join().unwrap().unwrap();
        });
        assert!(are_all(&received, 3.0), "{scheme}");
    }
}

/// The sender is gone between its announcement and the payload.
#[test]
fn the_receive_of_a_long_message_ends_with_its_sender() {
    for scheme in SCHEMES {
        let [zero, one] = limited(scheme);
        let mut received = vec![0.0; 2 * FIT];
        thread::scope(|scope| {
            let sending = scope.spawn(|| {
                // The request is dropped with the rank, before the receiver asks for the payload.
                drop(zero.buffers().isend(1, 4, filled(&[1; 16 * FIT])));
                drop(zero);
            });
            drop(one.probe_timeout(0, 4, LONG));
            sending.join().unwrap();
            let error = one.recv_timeout(0, 4, &mut received, LONG).unwrap_err();
            assert!(
                matches!(error, Error::PeerGone { rank: 0, .. }),
                "{scheme}: {error}"
            );
        });
    }
}

/// Connects two ranks over a device that copies payloads. The pools of the connection have less
/// room than the message that this returns.
fn without_room(scheme: &str, of_one: &Options) -> ([Rank; 2], MessageBuffer) {
    let mut room = PoolOptions::default();
    room.max_mapped = 4 << 20;
    let mut options = patient();
    options.pool = Pool::new(room);
    options.max_message = LIMIT;
    let (zero, one) = pair(scheme, &options, &options);
    let zero = Mesh::new(0, 2, &Options::default()).endpoint(1, zero);
    let one = Mesh::new(1, 2, of_one).endpoint(0, one);
    let ranks = [zero, one].map(|mesh| mesh.unwrap().build());
    (ranks, filled(&[1; 8 << 20]))
}

/// Waits for the send of rank 0, while `one` receives, and then makes progress in other calls.
fn finish<R>(send: SendRequest, one: &Rank, receive: impl FnOnce() -> R) -> R {
    thread::scope(|scope| {
        let sending = scope.spawn(|| send.wait().map(drop));
        let received = receive();
        until(|| one.iprobe(0, 99).unwrap().is_some() || sending.is_finished());
        sending.join().unwrap().unwrap();
        received
    })
}

/// A message whose receive has given up goes to the pool. If that has no room, the connection goes
/// on, and the next receive gets to know.
#[test]
fn payloads_without_room_are_discarded_and_reported() {
    for scheme in COPYING {
        let ([zero, one], long) = without_room(scheme, &Options::default());
        let mut received = vec![0u8; 8 << 20];
        let send = zero.buffers().isend(1, 4, long);
        // Rank 0 does not see the request before it waits.
        let error = one.recv_timeout(0, 4, &mut received, SHORT).unwrap_err();
        assert!(matches!(error, Error::TimedOut { .. }), "{scheme}: {error}");
        finish(send, &one, || ());
        let error = one.recv_timeout(0, 4, &mut received, LONG).unwrap_err();
        let Error::NoBuffer { length, .. } = error else {
            panic!("{scheme}: {error}")
        };
        assert_eq!(length, 8 << 20);
        // A receive with a layout needs a buffer as long as the message.
        let halves = Layout::strided(2, (4 << 20) - 1, 4 << 20).unwrap();
        let send = zero.buffers().isend(1, 5, filled(&[1; (8 << 20) - 2]));
        let received_halves = || one.layouts().recv(0, 5, &mut received, &halves);
        let error = finish(send, &one, received_halves).unwrap_err();
        assert!(matches!(error, Error::NoBuffer { .. }), "{scheme}: {error}");
        let send = zero.buffers().isend(1, 6, filled(&[2; 8 << 20]));
        finish(send, &one, || one.recv(0, 6, &mut received).unwrap());
        assert!(received.iter().all(|byte| *byte == 2), "{scheme}");
    }
}

/// Over inproc, the sender copies a borrowed payload into the pool of the receiver. If that has no
/// room, the receive does not wait for the payload.
#[test]
fn a_requested_payload_that_cannot_be_sent_ends_the_connection() {
    let ([zero, one], long) = without_room("inproc", &Options::default());
    let mut received = vec![0u8; 8 << 20];
    thread::scope(|scope| {
        let sending = scope.spawn(|| zero.send(1, 4, long.as_bytes()).unwrap_err());
        let error = one.recv_timeout(0, 4, &mut received, LONG).unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 0, .. }), "{error}");
        let error = sending.join().unwrap();
        assert!(matches!(error, Error::NotSent { rank: 1, .. }), "{error}");
    });
}

/// An operation ends between the request for a payload and its arrival.
#[test]
fn unwanted_payloads_are_discarded() {
    for scheme in COPYING {
        let mut brief = Options::default();
        brief.collective_timeout = SHORT;
        let ([zero, one], _) = without_room(scheme, &brief);
        let mut long = vec![1u8; 8 << 20];
        let mut received = vec![0u8; 8 << 20];
        zero.scope(|scope| {
            // Rank 0 does not see the request before it waits.
            let posted = scope.ibroadcast(0, &mut long);
            let error = one.broadcast(0, &mut received).unwrap_err();
            assert!(error.to_string().contains("within"), "{scheme}: {error}");
            let is_sent = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    until(|| one.iprobe(0, 99).is_err() || is_sent.load(Ordering::Relaxed));
                });
                let _ = posted.wait();
                is_sent.store(true, Ordering::Relaxed);
            });
        });
        zero.send(1, 6, &[8u8]).unwrap();
        one.recv_timeout(0, 6, &mut [0u8], LONG).unwrap();
    }
}
