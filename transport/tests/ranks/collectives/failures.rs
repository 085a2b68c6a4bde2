//! Ranks that end, disagree or fail: the others get an error that names the rank, and later
//! operations of the survivors work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jstream_transport::rank::operation::{Commutative, Ordered, Sum};
use jstream_transport::rank::{
    Algorithm, Cartesian, Collective, Dimension, Error, Mesh, Options, Rank,
};
use testing::LONG;
use testing::transport::ranks::{each, group, group_of, ways};

/// Options with a timeout that ends a test which hangs.
fn brief() -> Options {
    let mut options = Options::default();
    options.collective_timeout = Duration::from_secs(60);
    options
}

/// Returns the rank that an error names, if it is that of another rank.
fn blamed(error: &Error) -> Option<u32> {
    match error {
        Error::FailedAt { rank, .. } | Error::Disagreement { rank, .. } => Some(*rank),
        Error::Collective { source, .. } => match &**source {
            Error::PeerGone { rank, .. } => Some(*rank),
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn a_rank_that_has_ended_is_named_by_all() {
    for way in ways() {
        println!("{way}");
        let mut ranks = group(way, 4, &brief());
        each(&ranks, |rank| rank.barrier().unwrap());
        ranks.remove(2);
        let errors = each(&ranks, |rank| {
            let mut sum = [0];
            rank.all_reduce(&[1], &mut sum, &Sum).unwrap_err()
        });
        // Those that wait for it directly, and those that wait for these.
        assert!(
            errors.iter().all(|error| blamed(error) == Some(2)),
            "{errors:?}"
        );
    }
}

#[test]
fn another_number_of_elements_is_a_disagreement() {
    for way in ways() {
        println!("{way}");
        for (count, algorithm) in [(1, None), (40_000, None), (90_000, Some(Algorithm::Ring))] {
            let ranks = group(way, 3, &brief());
            let results = each(&ranks, |rank| {
                let rank =
                    algorithm.map_or(rank.clone(), |algorithm| rank.with_algorithm(algorithm));
                let sent = vec![1u32; count + usize::from(rank.rank() == 1)];
                let mut sums = sent.clone();
                let result = rank.all_reduce(&sent, &mut sums, &Sum);
                // The next operation works.
                let mut sum = [0];
                rank.all_reduce(&[1], &mut sum, &Sum).unwrap();
                assert_eq!(sum, [3]);
                result
            });
            let errors: Vec<_> = results.into_iter().map(Result::unwrap_err).collect();
            let disagree = |error: &Error| matches!(error, Error::Disagreement { .. });
            assert!(errors.iter().any(disagree), "{errors:?}");
            assert!(
                errors.iter().all(|error| blamed(error).is_some()),
                "{errors:?}"
            );
        }
    }
}

#[test]
fn another_operation_or_type_is_a_disagreement() {
    let ranks = group("threads", 2, &brief());
    let errors = each(&ranks, |rank| {
        let mut sum = [0u64];
        let result = match rank.rank() {
            0 => rank.all_reduce(&[1], &mut sum, &Sum),
            _ => rank.scan(&[1], &mut sum, &Sum),
        };
        result.unwrap_err()
    });
    // Rank 1 sends nothing in a scan, but tells rank 0 that it disagrees.
    assert_eq!(
        errors[0].to_string(),
        "all_reduce has failed at rank 1, which is gone or whose error has the cause"
    );
    assert_eq!(
        errors[1].to_string(),
        "rank 0 disagrees about scan: it has called another collective operation, or with another \
         root, algorithm, element type or number of elements"
    );
    let ranks = group("threads", 2, &brief());
    let results = each(&ranks, |rank| match rank.rank() {
        0 => rank.broadcast(0, &mut [1u64]),
        _ => rank.broadcast(0, &mut [1i64]),
    });
    assert!(results[0].is_ok());
    assert_eq!(blamed(results[1].as_ref().unwrap_err()), Some(0));
}

#[test]
fn wrong_memory_fails_at_all_ranks() {
    for way in ways() {
        println!("{way}");
        let ranks = group(way, 3, &brief());
        let errors = each(&ranks, |rank| {
            let mut sums = vec![0; 5 + usize::from(rank.rank() == 2)];
            let error = rank.all_reduce(&[1; 5], &mut sums, &Sum).unwrap_err();
            rank.barrier().unwrap();
            error
        });
        assert_eq!(
            errors[2].to_string(),
            "`received` of all_reduce has 6 elements, but the number of ranks and the other \
             arguments require 5"
        );
        assert_eq!(blamed(&errors[0]), Some(2), "{errors:?}");
        assert!(blamed(&errors[1]).is_some(), "{errors:?}");
    }
}

#[test]
fn an_operation_that_panics_fails_at_the_ranks_that_depend_on_it() {
    for count in [3, 50_000] {
        let ranks = group("threads", 4, &brief());
        let results = each(&ranks, |rank| {
            let own = rank.rank();
            let operation = Commutative(|a: &u32, b: &u32| {
                assert_ne!(own, 1, "this rank can't add");
                a + b
            });
            let mut sums = vec![0; count];
            let sum = || rank.all_reduce(&vec![1; count], &mut sums, &operation);
            let result = catch_unwind(AssertUnwindSafe(sum));
            // The next operation works.
            rank.barrier().unwrap();
            result.ok()
        });
        assert!(results[1].is_none());
        // Rank 3 exchanges elements with rank 1 after the first combination.
        let error = results[3].as_ref().unwrap().as_ref().unwrap_err();
        assert_eq!(blamed(error), Some(1), "{error}");
    }
}

#[test]
fn roots_and_algorithms_that_do_not_exist_are_errors() {
    let ranks = group("threads", 2, &brief());
    let rank = &ranks[0];
    let error = rank.broadcast(2, &mut [0u8]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the arguments of broadcast are invalid: the root 2 is no rank of a group of 2 ranks"
    );
    let chosen = rank.with_algorithm(Algorithm::Bruck);
    let error = chosen.barrier().unwrap_err().to_string();
    assert_eq!(
        error,
        "the arguments of barrier are invalid: barrier has no algorithm `bruck`; it has \
         `dissemination`"
    );
    let error = chosen
        .all_reduce(&[0u8], &mut [0], &Sum)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the arguments of all_reduce are invalid: all_reduce has no algorithm `bruck`; it has \
         `recursive_doubling`, `halving`, `ring`"
    );
    let error = rank
        .all_gather_v(&[0u8], &[1], &mut [0])
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the arguments of all_gather are invalid: 1 counts were given for a group of 2 ranks: give \
         one for each rank"
    );
}

#[test]
fn a_rank_that_never_comes_is_a_timeout() {
    let mut options = brief();
    options.collective_timeout = Duration::from_millis(50);
    let ranks = group("threads", 2, &options);
    for count in [1, 100_000] {
        let mut sums = vec![0; count];
        match ranks[0]
            .all_reduce(&vec![1; count], &mut sums, &Sum)
            .unwrap_err()
        {
            Error::Collective { source, .. } => {
                assert!(matches!(*source, Error::TimedOut { .. }), "{source}");
            }
            error => panic!("{error}"),
        }
    }
}

#[test]
fn invalid_arguments_of_one_rank_fail_at_all() {
    for way in ways() {
        println!("{way}");
        let ranks = group(way, 3, &brief());
        each(&ranks, |rank| {
            let is_wrong = rank.rank() == 1;
            let check = |result: Result<(), Error>| match result.unwrap_err() {
                Error::Arguments { .. } | Error::TooFewRanks { .. } => assert!(is_wrong),
                error => assert_eq!(blamed(&error), Some(1), "{error}"),
            };
            let root = if is_wrong { 3 } else { 1 };
            let broadcast = rank.broadcast(root, &mut [0u8]);
            check(broadcast);
            let counts = [1, 1, if is_wrong { usize::MAX } else { 1 }];
            check(rank.all_gather_v(&[1u8], &counts, &mut [0; 3]));
            let size = if is_wrong { 4 } else { 3 };
            check(Cartesian::new(rank, &[Dimension::open(size)]).map(drop));
            // Later operations agree about their numbers.
            let mut sum = [0];
            rank.all_reduce(&[1], &mut sum, &Sum).unwrap();
            assert_eq!(sum, [3]);
        });
    }
}

#[test]
fn another_order_of_operands_is_a_disagreement() {
    let ranks = group("threads", 2, &brief());
    let results = each(&ranks, |rank| {
        let (sum, mut received) = (|a: &u32, b: &u32| a + b, [0]);
        match rank.rank() {
            0 => rank.reduce(1, &[1], &mut received, &Commutative(sum)),
            _ => rank.reduce(1, &[1], &mut received, &Ordered(sum)),
        }
    });
    assert_eq!(blamed(results[1].as_ref().unwrap_err()), Some(0));
}

#[test]
fn all_ranks_that_disagree_are_told() {
    for way in ways() {
        println!("{way}");
        let ranks = group(way, 3, &brief());
        let errors = each(&ranks, |rank| {
            let mut received = [0; 3];
            let result = match rank.rank() {
                0 => rank.gather_v(0, &[1], &[1; 3], &mut received),
                _ => rank.all_to_all(&[1; 3], &mut received),
            };
            result.unwrap_err()
        });
        let blamed: Vec<_> = errors.iter().map(blamed).collect();
        assert_eq!(blamed, [Some(1), Some(0), Some(0)], "{errors:?}");
    }
}

#[test]
fn a_rank_whose_queue_is_full_is_a_timeout() {
    for way in ways() {
        println!("{way}");
        let mut options = brief();
        options.collective_timeout = Duration::from_millis(50);
        (options.bounds.messages, options.bounds.bytes) = (4, 4096);
        let ranks = group(way, 2, &options);
        // Rank 1 takes part in none of them.
        let error = (0..10_000).find_map(|_| ranks[0].broadcast(0, &mut [1u8]).err());
        match error.unwrap() {
            Error::Collective { source, .. } => {
                assert!(matches!(*source, Error::TimedOut { .. }), "{source}");
            }
            error => panic!("{error}"),
        }
    }
}

#[test]
fn messages_that_exceed_the_room_of_a_queue_are_exchanged() {
    for way in ways() {
        println!("{way}");
        let mut options = brief();
        (options.bounds.messages, options.bounds.bytes) = (4, 4096);
        let ranks = group(way, 3, &options);
        each(&ranks, |rank| {
            for count in [1000, 5000, 20_000] {
                for algorithm in Collective::AllReduce.algorithms() {
                    let mut sums = vec![0u32; count];
                    let rank = rank.with_algorithm(*algorithm);
                    rank.all_reduce(&vec![1; count], &mut sums, &Sum).unwrap();
                    assert_eq!(sums, vec![3; count]);
                }
            }
        });
    }
}

/// A rank that sends a long message to one that takes part in nothing.
#[test]
fn a_long_message_to_an_idle_rank_is_a_timeout() {
    for way in ways() {
        println!("{way}");
        let mut options = brief();
        options.collective_timeout = Duration::from_millis(50);
        let mut ranks = group(way, 2, &options);
        let idle = ranks.pop().unwrap();
        let sender = ranks.pop().unwrap();
        let (done, errors) = mpsc::channel();
        thread::spawn(move || {
            let mut elements = vec![1u64; 1 << 18];
            done.send(sender.broadcast(0, &mut elements)).unwrap();
            // A rank that announces its message while this one waits for nothing.
            done.send(sender.broadcast(1, &mut elements)).unwrap();
            sender
        });
        for _ in 0..2 {
            match errors.recv_timeout(LONG).unwrap().unwrap_err() {
                Error::Collective { source, .. } => {
                    assert!(matches!(*source, Error::TimedOut { .. }), "{source}");
                }
                error => panic!("{error}"),
            }
        }
        drop(idle);
    }
}

/// A rank that waits for a long message of one that has announced it and then does nothing.
#[test]
fn a_long_message_of_an_idle_rank_is_a_timeout() {
    for way in ways() {
        println!("{way}");
        let mut options = brief();
        options.collective_timeout = Duration::from_millis(50);
        let mut ranks = group(way, 2, &options);
        let idle = ranks.pop().unwrap();
        let receiver = ranks.pop().unwrap();
        let (done, errors) = mpsc::channel();
        let mut elements = vec![1u64; 1 << 18];
        idle.scope(|scope| {
            let _broadcast = scope.ibroadcast(1, &mut elements);
            thread::spawn(move || {
                let mut elements = vec![1u64; 1 << 18];
                done.send(receiver.broadcast(1, &mut elements)).unwrap();
                receiver
            });
            let result = errors.recv_timeout(LONG).unwrap();
            if way != "threads" && way != "inproc" {
                let error = result.unwrap_err();
                assert!(
                    matches!(&error, Error::Collective { source, .. }
                        if matches!(**source, Error::TimedOut { .. })),
                    "{error}"
                );
            }
        });
    }
}

/// Messages of a collective operation that arrive after it has timed out take no room.
#[test]
fn late_messages_are_dropped() {
    for way in ways() {
        println!("{way}");
        let (mut hasty, mut calm) = (brief(), brief());
        hasty.collective_timeout = Duration::from_millis(5);
        (hasty.bounds.messages, hasty.bounds.bytes) = (4, 4096);
        calm.bounds = hasty.bounds;
        let options = [hasty, calm];
        let ranks = group_of(way, 2, |rank| options[rank as usize].clone());
        for round in 0..20 {
            let is_object = round % 2 == 1;
            let call = |rank: &Rank| match is_object {
                true => rank.objects().all_gather(&[7u64]).map(drop),
                false => rank.all_reduce(&[1], &mut [0], &Sum),
            };
            call(&ranks[0]).unwrap_err();
            // What the other rank sends is late.
            let _ = call(&ranks[1]);
        }
        thread::scope(|scope| {
            scope.spawn(|| (0..20).for_each(|n| ranks[1].send(0, n, &[n]).unwrap()));
            for n in 0..20 {
                let mut found = [0];
                ranks[0].recv_timeout(1, n, &mut found, LONG).unwrap();
                assert_eq!(found, [n]);
            }
        });
    }
}

/// An object that is longer than what a member allocates is an error at all members at once, which
/// has the lengths. None waits for a message that is never sent.
#[test]
fn objects_that_are_too_long_fail_at_all_ranks_at_once() {
    let ways = ["threads", "shm", "tcp", "uds"];
    // If both members have the limit, the sender can't write the object.
    for (scheme, is_equal) in ways.into_iter().flat_map(|way| [(way, false), (way, true)]) {
        let ranks = group_of(scheme, 2, |rank| {
            let mut options = brief();
            if is_equal || rank == 1 {
                options.object_limits.bytes = 1 << 20;
            }
            options
        });
        let results = each(&ranks, |rank| {
            let is_long = is_equal || rank.rank() == 0;
            let long = vec![1u64; if is_long { 1 << 18 } else { 1 }];
            let errors = vec![
                rank.objects().all_gather(slice::from_ref(&long)).map(drop),
                rank.objects()
                    .all_to_all(&[long.clone(), long.clone()])
                    .map(drop),
                match rank.rank() {
                    0 => rank.objects().broadcast(&long),
                    _ => rank.objects().recv_broadcast::<Vec<u64>>(0).map(drop),
                },
                match rank.rank() {
                    0 => rank.objects().scatter(&[long.clone(), long]).map(drop),
                    _ => rank.objects().recv_scattered::<Vec<u64>>(0).map(drop),
                },
            ];
            // The next operation works.
            let mut sum = [0];
            rank.all_reduce(&[1], &mut sum, &Sum).unwrap();
            assert_eq!(sum, [2]);
            errors
        });
        for error in results.iter().flatten() {
            let text = error.as_ref().unwrap_err().to_string();
            let option = match is_equal {
                true => "Limits::bytes",
                false => "rank::Options::object_limits",
            };
            let has_limit = text.contains("1048576") && text.contains(option);
            assert!(has_limit, "{scheme}: {text}");
        }
    }
}

/// Rank 0 has lost rank 1, which has stopped and is still connected to rank 2. Rank 2 waits for
/// rank 1, and is told by rank 0.
#[test]
fn a_rank_that_one_member_has_lost_is_named_by_all() {
    for scheme in ["shm", "tcp", "uds"] {
        let options = testing::transport::patient();
        let pair = || testing::transport::pair(scheme, &options, &options);
        let (one, other, third) = (pair(), pair(), pair());
        let mesh = |rank| Mesh::new(rank, 3, &brief());
        let lost = one.0.clone();
        let zero = mesh(0).endpoint(1, one.0).unwrap().endpoint(2, other.0);
        let stopped = mesh(1).endpoint(0, one.1).unwrap().endpoint(2, third.0);
        let two = mesh(2).endpoint(0, other.1).unwrap().endpoint(1, third.1);
        let ranks = [zero, two].map(|mesh| mesh.unwrap().build());
        let stopped = stopped.unwrap().build();
        lost.close();
        let errors = each(&ranks, |rank| {
            let mut errors = Vec::new();
            for count in [3, 60_000] {
                let own = vec![1u64; count];
                let mut sums = vec![0; count];
                let ring = rank.with_algorithm(Algorithm::Ring);
                errors.push(ring.all_reduce(&own, &mut sums, &Sum).unwrap_err());
                let posted = ring.scope(|scope| scope.iall_reduce(&own, &mut sums, &Sum).wait());
                errors.push(posted.unwrap_err());
            }
            errors.push(rank.objects().all_gather(&[1u8]).unwrap_err());
            errors
        });
        for error in errors.iter().flatten() {
            assert_eq!(blamed(error), Some(1), "{scheme}: {error}");
        }
        drop(stopped);
    }
}

/// A rank fails before it sends anything. The ranks that depend on it, also through others, get the
/// text of its error.
#[test]
fn the_cause_is_told_to_all_members_of_blocking_and_posted_operations() {
    for way in ways() {
        let ranks = group(way, 4, &brief());
        let results = each(&ranks, |rank| {
            let length = if rank.rank() == 2 { 5 } else { 4 };
            let mut all = vec![0u32; length];
            let blocking = rank.all_gather(&[1], &mut all).unwrap_err();
            let posted = rank.scope(|scope| scope.iall_gather(&[1], &mut all).wait());
            [blocking, posted.unwrap_err()]
        });
        for (number, errors) in results.iter().enumerate() {
            for error in errors {
                let text = error.to_string();
                assert!(
                    text.contains("has 5 elements"),
                    "{way}, rank {number}: {text}"
                );
                let is_told = matches!(
                    error,
                    Error::FailedAt {
                        rank: 2,
                        reason: Some(_),
                        ..
                    }
                );
                assert!(is_told != (number == 2), "{way}, rank {number}: {text}");
            }
        }
    }
}
