//! Posted collective operations give the results of the blocking ones, however they are waited for,
//! and several may be under way at once.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use jstream_transport::rank::operation::{Commutative, Max, Operation, Ordered, Sum};
use jstream_transport::rank::{
    self, Algorithm, Collective, Error, Options, Rank, ScopedCollective,
};
use testing::LONG;
use testing::tasks::{Task, block_on, poll_once};
use testing::transport::ranks::{each, group, ways};

/// Ways to complete all operations of a scope.
#[derive(Debug, Clone, Copy)]
enum Completion {
    InOrder,
    InReverse,
    /// In the order of the ranks at one rank, and in reverse at the next.
    Mixed,
    Tests,
    Any,
    All,
    Futures,
    /// All futures of a task at once.
    Joined,
    /// None is waited for.
    Dropped,
}

const COMPLETIONS: [Completion; 9] = [
    Completion::InOrder,
    Completion::InReverse,
    Completion::Mixed,
    Completion::Tests,
    Completion::Any,
    Completion::All,
    Completion::Futures,
    Completion::Joined,
    Completion::Dropped,
];

/// Completes operations, which must succeed.
fn complete(rank: &Rank, mut posted: Vec<ScopedCollective<'_>>, completion: Completion) {
    let is_odd = rank.rank() % 2 == 1;
    match completion {
        Completion::Mixed if is_odd => complete(rank, posted, Completion::InReverse),
        Completion::InOrder | Completion::Mixed => {
            posted.into_iter().for_each(|one| one.wait().unwrap());
        }
        Completion::InReverse => posted.into_iter().rev().for_each(|one| one.wait().unwrap()),
        Completion::Tests => {
            while !posted.is_empty() {
                posted.retain_mut(|one| one.test().map(Result::unwrap).is_none());
                std::thread::yield_now();
            }
        }
        Completion::Any => {
            let all = posted.len();
            let mut ended = 0;
            while let Some((_, result)) = rank::wait_any(&mut posted) {
                result.unwrap();
                ended += 1;
            }
            assert_eq!(ended, all);
        }
        Completion::All => {
            let all = posted.len();
            let results = rank::wait_all(&mut posted);
            assert_eq!(results.len(), all);
            results.into_iter().for_each(Result::unwrap);
            assert!(posted.iter().all(ScopedCollective::is_done));
        }
        Completion::Futures => {
            for one in posted {
                block_on(one).unwrap();
            }
        }
        Completion::Joined => block_on(std::future::poll_fn(|context| {
            posted.retain_mut(|one| match Pin::new(one).poll(context) {
                Poll::Ready(result) => {
                    result.unwrap();
                    false
                }
                Poll::Pending => true,
            });
            if posted.is_empty() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })),
        Completion::Dropped => {}
    }
}

/// Returns different numbers for each rank and index.
fn numbers(rank: u32, count: usize) -> Vec<u64> {
    let first = u64::from(rank) * 1_000_003;
    (first..).step_by(7).take(count).collect()
}

/// An operation that is not commutative.
fn compose(first: &u64, second: &u64) -> u64 {
    let halves = |number: u64| (number >> 32, number & 0xffff_ffff);
    let ((a, b), (c, d)) = (halves(*first), halves(*second));
    let product = a.wrapping_mul(c) & 0xffff_ffff;
    let sum = a.wrapping_mul(d).wrapping_add(b) & 0xffff_ffff;
    product << 32 | sum
}

/// The memory that one rank receives into by each operation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Results {
    broadcast: Vec<u64>,
    scattered: [Vec<u64>; 2],
    gathered: [Vec<u64>; 2],
    all_gathered: [Vec<u64>; 2],
    reduced: Vec<u64>,
    all_reduced: [Vec<u64>; 2],
    scanned: [Vec<u64>; 2],
    reduce_scattered: [Vec<u64>; 2],
    exchanged: [Vec<u64>; 2],
}

/// The memory that one rank sends.
struct Sent {
    root: u32,
    block: Vec<u64>,
    whole: Vec<u64>,
    /// Lengths of blocks that differ between ranks.
    counts: Vec<usize>,
    unequal_block: Vec<u64>,
    unequal_whole: Vec<u64>,
    /// Lengths of blocks to and from each rank.
    exchanged_counts: [Vec<usize>; 2],
    exchanged: Vec<u64>,
}

impl Sent {
    fn new(rank: &Rank, root: u32, count: usize) -> Self {
        let (own, size) = (rank.rank(), rank.size());
        let counts: Vec<_> = (0..size as usize)
            .map(|of| (of * 3 + count) % 900)
            .collect();
        let length = |from: u32, to: u32| (from * 3 + to * 5) as usize % 4 * count;
        let exchanged_counts: [Vec<_>; 2] = [
            (0..size).map(|to| length(own, to)).collect(),
            (0..size).map(|from| length(from, own)).collect(),
        ];
        Self {
            root,
            block: numbers(own, count),
            whole: numbers(own + 100, count * size as usize),
            unequal_block: numbers(own + 200, counts[own as usize]),
            unequal_whole: numbers(own + 300, counts.iter().sum()),
            counts,
            exchanged: numbers(own + 400, exchanged_counts[0].iter().sum()),
            exchanged_counts,
        }
    }

    /// Returns memory for the results, in which nothing was received.
    fn empty(&self, rank: &Rank) -> Results {
        let is_root = rank.rank() == self.root;
        let broadcast = if is_root {
            self.block.clone()
        } else {
            vec![7; self.block.len()]
        };
        let blocks = [self.block.len(), self.unequal_block.len()].map(|count| vec![7; count]);
        let wholes = [self.whole.len(), self.unequal_whole.len()].map(|count| vec![7; count]);
        let exchanged = [self.whole.len(), self.exchanged_counts[1].iter().sum()];
        let two = [vec![7; self.block.len()], vec![7; self.block.len()]];
        Results {
            broadcast,
            scattered: blocks.clone(),
            gathered: wholes.clone(),
            all_gathered: wholes,
            reduced: vec![7; self.block.len()],
            all_reduced: two.clone(),
            scanned: two,
            reduce_scattered: blocks,
            exchanged: exchanged.map(|count| vec![7; count]),
        }
    }

    /// Returns what the blocking operations give.
    fn results(&self, rank: &Rank) -> Results {
        let mut to = self.empty(rank);
        let (root, block, whole) = (self.root, &self.block[..], &self.whole[..]);
        let counts = &self.counts[..];
        let (ublock, uwhole) = (&self.unequal_block[..], &self.unequal_whole[..]);
        rank.broadcast(root, &mut to.broadcast).unwrap();
        let [equal, unequal] = &mut to.scattered;
        rank.scatter(root, whole, equal).unwrap();
        rank.scatter_v(root, uwhole, counts, unequal).unwrap();
        let [equal, unequal] = &mut to.gathered;
        rank.gather(root, block, equal).unwrap();
        rank.gather_v(root, ublock, counts, unequal).unwrap();
        let [equal, unequal] = &mut to.all_gathered;
        rank.all_gather(block, equal).unwrap();
        rank.all_gather_v(ublock, counts, unequal).unwrap();
        rank.reduce(root, block, &mut to.reduced, &Max).unwrap();
        let [sum, composed] = &mut to.all_reduced;
        rank.all_reduce(block, sum, &Sum).unwrap();
        rank.all_reduce(block, composed, &Ordered(compose)).unwrap();
        let [scanned, before] = &mut to.scanned;
        rank.scan(block, scanned, &Sum).unwrap();
        rank.exclusive_scan(block, before, &Ordered(compose))
            .unwrap();
        let [equal, unequal] = &mut to.reduce_scattered;
        rank.reduce_scatter(whole, equal, &Sum).unwrap();
        rank.reduce_scatter_v(uwhole, counts, unequal, &Sum)
            .unwrap();
        let [equal, unequal] = &mut to.exchanged;
        let [sent_counts, counts] = &self.exchanged_counts;
        rank.all_to_all(whole, equal).unwrap();
        rank.all_to_all_v(&self.exchanged, sent_counts, unequal, counts)
            .unwrap();
        to
    }

    /// Returns what the posted operations give, all of which are under way at once.
    fn posted_results(&self, rank: &Rank, completion: Completion) -> Results {
        let mut to = self.empty(rank);
        let (root, block, whole) = (self.root, &self.block[..], &self.whole[..]);
        let counts = &self.counts[..];
        let (ublock, uwhole) = (&self.unequal_block[..], &self.unequal_whole[..]);
        let [sent_counts, received_counts] = &self.exchanged_counts;
        rank.scope(|scope| {
            let [scattered, scattered_v] = &mut to.scattered;
            let [gathered, gathered_v] = &mut to.gathered;
            let [all, all_v] = &mut to.all_gathered;
            let [sum, composed] = &mut to.all_reduced;
            let [scanned, before] = &mut to.scanned;
            let [reduced, reduced_v] = &mut to.reduce_scattered;
            let [exchanged, exchanged_v] = &mut to.exchanged;
            let posted = vec![
                scope.ibarrier(),
                scope.ibroadcast(root, &mut to.broadcast),
                scope.iscatter(root, whole, scattered),
                scope.iscatter_v(root, uwhole, counts, scattered_v),
                scope.igather(root, block, gathered),
                scope.igather_v(root, ublock, counts, gathered_v),
                scope.iall_gather(block, all),
                scope.iall_gather_v(ublock, counts, all_v),
                scope.ireduce(root, block, &mut to.reduced, &Max),
                scope.iall_reduce(block, sum, &Sum),
                scope.iall_reduce(block, composed, &Ordered(compose)),
                scope.iscan(block, scanned, &Sum),
                scope.iexclusive_scan(block, before, &Ordered(compose)),
                scope.ireduce_scatter(whole, reduced, &Sum),
                scope.ireduce_scatter_v(uwhole, counts, reduced_v, &Sum),
                scope.iall_to_all(whole, exchanged),
                scope.iall_to_all_v(&self.exchanged, sent_counts, exchanged_v, received_counts),
            ];
            complete(rank, posted, completion);
        });
        to
    }
}

#[test]
fn posted_operations_give_the_results_of_blocking_ones() {
    let check = |rank: &Rank, count: usize, completion: Completion| {
        let root = count as u32 % rank.size();
        let sent = Sent::new(rank, root, count);
        let posted = sent.posted_results(rank, completion);
        assert!(posted == sent.results(rank), "{count} {completion:?}");
    };
    for size in 1..=5 {
        each(&group("threads", size, &Options::default()), |rank| {
            for count in [0, 2, 700] {
                for completion in COMPLETIONS {
                    check(rank, count, completion);
                }
            }
            check(rank, 30_000, Completion::Mixed);
        });
    }
    for way in ways().skip(1) {
        println!("{way}");
        each(&group(way, 3, &Options::default()), |rank| {
            for completion in COMPLETIONS {
                check(rank, 5, completion);
            }
            for completion in [Completion::Mixed, Completion::Joined, Completion::Dropped] {
                check(rank, 12_000, completion);
            }
        });
    }
}

#[test]
fn all_algorithms_are_posted() {
    each(&group("threads", 5, &Options::default()), |rank| {
        for count in [3, 4_000] {
            let own = numbers(rank.rank(), count);
            for algorithm in Collective::AllReduce.algorithms() {
                let rank = rank.with_algorithm(*algorithm);
                let (mut posted, mut expected) = (vec![0; count], vec![0; count]);
                rank.scope(|scope| scope.iall_reduce(&own, &mut posted, &Sum).wait())
                    .unwrap();
                rank.all_reduce(&own, &mut expected, &Sum).unwrap();
                assert!(posted == expected);
            }
            for algorithm in Collective::Broadcast.algorithms() {
                let rank = rank.with_algorithm(*algorithm);
                let mut elements = if rank.rank() == 2 {
                    own.clone()
                } else {
                    vec![0; count]
                };
                rank.scope(|scope| scope.ibroadcast(2, &mut elements).wait())
                    .unwrap();
                assert!(elements == numbers(2, count));
            }
        }
    });
}

/// A blocking call of a rank executes the steps of operations that other ranks wait for.
#[test]
fn a_rank_that_blocks_in_another_call_makes_progress() {
    for way in ways() {
        println!("{way}");
        let count = 3_000;
        each(&group(way, 4, &Options::default()), |rank| {
            let own = numbers(rank.rank(), count);
            for algorithm in Collective::AllReduce.algorithms() {
                for blocking in 0..4 {
                    let chosen = rank.with_algorithm(*algorithm);
                    let mut sums = vec![0; count];
                    chosen.scope(|scope| {
                        let sum = scope.iall_reduce(&own, &mut sums, &Sum);
                        if rank.rank() == 3 {
                            // Rank 0 sends after it has got the sum, for which it needs this rank.
                            let mut word = [0u8; 2];
                            match blocking {
                                0 => drop(rank.recv(0, 1, &mut word).unwrap()),
                                1 => drop(rank.buffers().recv(0, 1).unwrap()),
                                2 => drop(rank.buffers().irecv(0, 1).wait().unwrap()),
                                _ => drop(rank.probe(0, 1).unwrap().recv(&mut word).unwrap()),
                            }
                            sum.wait().unwrap();
                        } else {
                            sum.wait().unwrap();
                            if rank.rank() == 0 {
                                rank.send(3, 1, &[1u8, 2]).unwrap();
                            }
                        }
                    });
                    let expected = (0..4).map(|other| numbers(other, count)[1]).sum::<u64>();
                    assert_eq!(sums[1], expected);
                }
            }
        });
    }
}

#[test]
fn posted_and_blocking_operations_are_mixed() {
    for way in ways() {
        println!("{way}");
        each(&group(way, 3, &Options::default()), |rank| {
            let own = [u64::from(rank.rank())];
            let (mut first, mut second, mut third) = ([0], [0], own);
            let mut received = [0u64];
            rank.scope(|scope| {
                let one = scope.iall_reduce(&own, &mut first, &Sum);
                rank.barrier().unwrap();
                let mut sum = [0];
                rank.all_reduce(&own, &mut sum, &Sum).unwrap();
                assert_eq!(sum, [3]);
                let two = scope.iscan(&own, &mut second, &Sum);
                let next = (rank.rank() + 1) % 3;
                let receive = scope.irecv((rank.rank() + 2) % 3, 1, &mut received);
                rank.scope(|inner| {
                    // A scope within the scope, which waits for this at its end.
                    let _broadcast = inner.ibroadcast(1, &mut third);
                    scope.isend(next, 1, &own).wait().unwrap();
                    one.wait().unwrap();
                });
                receive.wait().unwrap();
                two.wait().unwrap();
            });
            assert_eq!((first, third), ([3], [1]));
            assert_eq!(second, [[0], [1], [3]][rank.rank() as usize]);
            assert_eq!(received, [u64::from((rank.rank() + 2) % 3)]);
        });
    }
}

/// Rank 1 begins only when rank 0 has computed something after its own beginning. So a blocking
/// operation would never end. The posted one ends while rank 0 computes.
#[test]
fn computation_and_communication_overlap() {
    for way in ways() {
        println!("{way}");
        let counted = each(&group(way, 2, &Options::default()), |rank| {
            let count = 50_000;
            let own = numbers(rank.rank(), count);
            let mut sums = vec![0; count];
            let mut computed = 1u64;
            let ended_at = rank.scope(|scope| {
                if rank.rank() == 1 {
                    rank.recv(0, 1, &mut [0u64]).unwrap();
                    scope.iall_reduce(&own, &mut sums, &Sum).wait().unwrap();
                    return 0;
                }
                let mut sum = scope.iall_reduce(&own, &mut sums, &Sum);
                for part in 1u64.. {
                    computed = (0..1000).fold(computed, |hash, n| (hash ^ n).wrapping_mul(31));
                    if part == 3 {
                        rank.send(1, 1, &[computed]).unwrap();
                    }
                    if let Some(result) = sum.test() {
                        result.unwrap();
                        return part;
                    }
                }
                unreachable!("the loop has no end")
            });
            let expected = numbers(0, count)[9] + numbers(1, count)[9];
            assert_eq!(sums[9], expected);
            ended_at
        });
        // Three parts were computed before the other rank even began.
        assert!(counted[0] >= 3, "{counted:?}");
    }
}

#[test]
fn a_task_is_woken_for_each_round() {
    for way in ways() {
        println!("{way}");
        each(&group(way, 4, &Options::default()), |rank| {
            for count in [1, 40_000] {
                let own = numbers(rank.rank(), count);
                let mut sums = vec![0; count];
                let polls = rank.scope(|scope| {
                    let task = Task::new();
                    let mut sum = scope.iall_reduce(&own, &mut sums, &Sum);
                    for poll in 1.. {
                        let before = task.woken();
                        match poll_once(Pin::new(&mut sum), &task) {
                            Poll::Ready(result) => {
                                result.unwrap();
                                return poll;
                            }
                            Poll::Pending => task.wait(before),
                        }
                    }
                    unreachable!("the loop has no end")
                });
                assert!(polls >= 1);
                let expected = (0..4).map(|other| numbers(other, count)[0]).sum::<u64>();
                assert_eq!(sums[0], expected);
            }
        });
    }
}

#[test]
fn many_operations_of_a_scope_use_its_memory_again() {
    each(&group("threads", 3, &Options::default()), |rank| {
        let own = [1u64];
        let mut sums = vec![[0u64]; 3_000];
        rank.scope(|scope| {
            for sum in &mut sums {
                scope.iall_reduce(&own, sum, &Sum).wait().unwrap();
            }
        });
        assert!(sums.iter().all(|sum| *sum == [3]));
    });
}

#[test]
fn messages_that_exceed_the_room_of_a_queue_are_exchanged() {
    for way in ways() {
        println!("{way}");
        let mut options = brief();
        (options.bounds.messages, options.bounds.bytes) = (4, 4096);
        each(&group(way, 3, &options), |rank| {
            for count in [10, 1_000, 9_000] {
                for algorithm in Collective::AllReduce.algorithms() {
                    let rank = rank.with_algorithm(*algorithm);
                    let own = vec![1u64; count];
                    let mut sums = vec![vec![0; count]; 8];
                    rank.scope(|scope| {
                        let posted = sums.iter_mut();
                        let posted = posted.map(|sum| scope.iall_reduce(&own, sum, &Sum));
                        complete(&rank, posted.collect(), Completion::Mixed);
                    });
                    assert!(sums.iter().flatten().all(|sum| *sum == 3));
                }
            }
        });
    }
}

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
fn a_panic_in_the_scope_fails_at_the_ranks_that_depend_on_it() {
    for way in ways() {
        println!("{way}");
        // With the ring, all ranks depend on each other.
        for count in [9, 60_000] {
            let results = each(&group(way, 3, &brief()), |rank| {
                let ring = rank.with_algorithm(Algorithm::Ring);
                let own = numbers(rank.rank(), count);
                let (mut sums, mut others) = (vec![0; count], vec![0; count]);
                let result = catch_unwind(AssertUnwindSafe(|| {
                    ring.scope(|scope| {
                        if rank.rank() != 1 {
                            // The other ranks begin when rank 1 has posted, so that it has got none
                            // of their messages when it panics.
                            rank.recv(1, 1, &mut [0u8]).unwrap();
                        }
                        let one = scope.iall_reduce(&own, &mut sums, &Sum);
                        let two = scope.iall_reduce(&own, &mut others, &Sum);
                        if rank.rank() == 1 {
                            rank.send(0, 1, &[0u8]).unwrap();
                            rank.send(2, 1, &[0u8]).unwrap();
                            panic!("this rank gives up");
                        }
                        (two.wait(), one.wait())
                    })
                }));
                // Later operations work.
                rank.barrier().unwrap();
                result.ok()
            });
            assert!(results[1].is_none());
            for result in [&results[0], &results[2]] {
                let (two, one) = result.as_ref().unwrap();
                for result in [two, one] {
                    let error = result.as_ref().unwrap_err();
                    assert_eq!(blamed(error), Some(1), "{error}");
                }
            }
        }
    }
}

#[test]
fn failures_of_one_rank_are_reported_by_all() {
    for way in ways() {
        println!("{way}");
        each(&group(way, 3, &brief()), |rank| {
            let is_wrong = rank.rank() == 1;
            let own = [1u64; 5];
            let mut sums = vec![0; if is_wrong { 6 } else { 5 }];
            let (mut bytes, mut sum) = ([0u8], [0]);
            let root = if is_wrong { 3 } else { 1 };
            rank.scope(|scope| {
                let total = scope.iall_reduce(&own, &mut sums, &Sum);
                let broadcast = scope.ibroadcast(root, &mut bytes);
                let good = scope.iall_reduce(&own[..1], &mut sum, &Sum);
                good.wait().unwrap();
                match broadcast.wait().unwrap_err() {
                    Error::Arguments { .. } => assert!(is_wrong),
                    error => assert_eq!(blamed(&error), Some(1), "{error}"),
                }
                match total.wait().unwrap_err() {
                    Error::WrongLength { .. } => assert!(is_wrong),
                    error => assert!(blamed(&error).is_some(), "{error}"),
                }
            });
            assert_eq!(sum, [3]);
        });
    }
}

#[test]
fn ranks_that_disagree_are_told() {
    let results = each(&group("threads", 2, &brief()), |rank| {
        let own = [1u64];
        let mut sum = [0];
        rank.scope(|scope| {
            let posted = match rank.rank() {
                0 => scope.iall_reduce(&own, &mut sum, &Sum),
                _ => scope.iscan(&own, &mut sum, &Sum),
            };
            let result = posted.wait();
            rank.barrier().unwrap();
            result
        })
    });
    let [first, second] = &results[..] else {
        panic!("there are two ranks")
    };
    let (first, second) = (first.as_ref().unwrap_err(), second.as_ref().unwrap_err());
    assert!(matches!(first, Error::FailedAt { rank: 1, .. }), "{first}");
    assert!(
        matches!(second, Error::Disagreement { rank: 0, .. }),
        "{second}"
    );
}

#[test]
fn a_rank_that_ends_is_named() {
    for way in ways() {
        println!("{way}");
        let mut ranks = group(way, 3, &brief());
        each(&ranks, |rank| rank.barrier().unwrap());
        ranks.remove(2);
        let errors = each(&ranks, |rank| {
            let mut sum = [0];
            rank.scope(|scope| scope.iall_reduce(&[1], &mut sum, &Sum).wait().unwrap_err())
        });
        let blamed: Vec<_> = errors.iter().map(blamed).collect();
        assert!(blamed.contains(&Some(2)), "{errors:?}");
        assert!(blamed.iter().all(Option::is_some), "{errors:?}");
    }
}

/// Adds numbers, and panics at one rank.
struct Fails(u32);

impl Operation<u64> for Fails {
    fn combine(&self, first: &u64, second: &u64) -> u64 {
        assert_ne!(self.0, 1, "this rank can't add");
        first + second
    }
}

#[test]
fn a_panic_of_an_operation_reaches_its_request_or_the_scope() {
    for is_dropped in [false, true] {
        let results = each(&group("threads", 4, &brief()), |rank| {
            let operation = Fails(rank.rank());
            let own = numbers(rank.rank(), 3);
            let mut sums = vec![0; 3];
            let result = catch_unwind(AssertUnwindSafe(|| {
                rank.scope(|scope| {
                    let sum = scope.iall_reduce(&own, &mut sums, &operation);
                    // The steps may be executed by this call, which is not affected.
                    rank.barrier().unwrap();
                    if is_dropped { Ok(()) } else { sum.wait() }
                })
            }));
            rank.barrier().unwrap();
            result.ok()
        });
        assert!(results[1].is_none());
        assert!(results[0].is_some() && results[2].is_some());
        // Rank 3 exchanges elements with rank 1 after the first combination.
        let result = results[3].as_ref().unwrap();
        match result {
            Ok(()) => assert!(is_dropped),
            Err(error) => assert_eq!(blamed(error), Some(1), "{error}"),
        }
    }
}

#[test]
fn an_operation_may_use_the_rank_itself() {
    let called = AtomicU32::new(0);
    each(&group("threads", 2, &brief()), |rank| {
        let sum = Commutative(|a: &u64, b: &u64| {
            // Waits, and so finds the operation that calls this.
            assert!(rank.iprobe(0, 1).unwrap().is_none());
            let error = rank.recv_timeout(0, 1, &mut [0u8], Duration::from_millis(1));
            assert!(error.is_err());
            called.fetch_add(1, Ordering::Relaxed);
            a + b
        });
        let mut sums = [[0]; 2];
        let [one, two] = &mut sums;
        rank.scope(|scope| {
            let one = scope.iall_reduce(&[1], one, &sum);
            let two = scope.iall_reduce(&[2], two, &sum);
            two.wait().unwrap();
            one.wait().unwrap();
        });
        assert_eq!(sums, [[2], [4]]);
    });
    assert_eq!(called.load(Ordering::Relaxed), 4);
}

#[test]
fn a_rank_that_never_comes_is_a_timeout() {
    let mut options = brief();
    options.collective_timeout = Duration::from_millis(50);
    for way in ways() {
        println!("{way}");
        let ranks = group(way, 2, &options);
        // Long messages between processes can be cancelled only with the help of the other rank.
        let counts = if way == "threads" {
            &[1, 100_000][..]
        } else {
            &[1]
        };
        for &count in counts {
            let own = vec![1; count];
            let (mut one, mut two) = (vec![0; count], vec![0; count]);
            let error = ranks[0].scope(|scope| {
                let mut one = scope.iall_reduce(&own, &mut one, &Sum);
                assert!(one.test().is_none() && !one.is_done());
                assert!(one.wait_timeout(Duration::from_millis(1)).is_none());
                // The scope gives up this one at its end.
                let mut others = [scope.iall_reduce(&own, &mut two, &Sum)];
                assert!(rank::test_any(&mut others).is_none());
                one.wait().unwrap_err()
            });
            match error {
                Error::Collective { source, .. } => {
                    assert!(matches!(*source, Error::TimedOut { .. }), "{source}");
                }
                error => panic!("{error}"),
            }
        }
    }
}

#[test]
fn a_receive_that_spins_without_limit_advances_posted_operations() {
    let mut options = brief();
    options.spin = Duration::MAX;
    let ranks = group("threads", 4, &options);
    each(&ranks, |rank| {
        let mut sum = [0];
        rank.scope(|scope| {
            let total = scope.iall_reduce(&[1], &mut sum, &Sum);
            // Rank 2 gets its sum in the second round, which rank 0 has to begin.
            if rank.rank() == 0 {
                rank.recv_timeout(2, 7, &mut [0u8], LONG).unwrap();
            }
            total.wait().unwrap();
            if rank.rank() == 2 {
                rank.send(0, 7, &[0u8]).unwrap();
            }
        });
        assert_eq!(sum, [4]);
    });
}
