//! Each operation gives all ranks what a sequential program computes, over all kinds of
//! connections, by all algorithms, for short and long messages.

use jstream_transport::rank::operation::{Max, MaxLocation, Min, Operation, Ordered, Sum};
use jstream_transport::rank::{Algorithm, Collective, Options, Rank};
use testing::transport::ranks::{each, group, ways};

/// Numbers of elements: none, fewer than ranks, and beyond the thresholds of eager messages.
const COUNTS: [usize; 4] = [0, 2, 700, 70_000];

/// Runs a case for groups of all sizes over all kinds of connections.
fn for_groups(work: impl Fn(&Rank) + Sync) {
    for size in [1, 2, 3, 8] {
        each(&group("threads", size, &Options::default()), &work);
    }
    for way in ways().skip(1) {
        println!("{way}");
        each(&group(way, 3, &Options::default()), &work);
    }
}

/// Calls `work` for each algorithm of an operation, and for the one that is chosen by default.
fn by_all(rank: &Rank, collective: Collective, work: impl Fn(&Rank)) {
    work(rank);
    for algorithm in collective.algorithms() {
        work(&rank.with_algorithm(*algorithm));
    }
}

/// Returns different numbers for each rank and index.
fn numbers(rank: u32, count: usize) -> Vec<u64> {
    let first = u64::from(rank) * 1_000_003;
    (first..).step_by(7).take(count).collect()
}

fn combined(ranks: u32, count: usize, combine: impl Fn(&u64, &u64) -> u64) -> Vec<u64> {
    let mut all = numbers(0, count);
    for rank in 1..ranks {
        for (sum, number) in all.iter_mut().zip(numbers(rank, count)) {
            *sum = combine(sum, &number);
        }
    }
    all
}

/// An associative operation that is not commutative: the composition of two linear functions modulo
/// 2^32, whose coefficients are the halves of a number.
fn compose(first: &u64, second: &u64) -> u64 {
    let halves = |number: u64| (number >> 32, number & 0xffff_ffff);
    let ((a, b), (c, d)) = (halves(*first), halves(*second));
    let product = a.wrapping_mul(c) & 0xffff_ffff;
    let sum = a.wrapping_mul(d).wrapping_add(b) & 0xffff_ffff;
    product << 32 | sum
}

#[test]
fn elements_of_the_root_reach_all_ranks() {
    for_groups(|rank| {
        for count in COUNTS {
            for root in 0..rank.size() {
                by_all(rank, Collective::Broadcast, |rank| {
                    let mut elements = match rank.rank() == root {
                        true => numbers(root, count),
                        false => vec![0; count],
                    };
                    rank.broadcast(root, &mut elements).unwrap();
                    assert!(elements == numbers(root, count));
                });
            }
        }
    });
}

#[test]
fn blocks_are_scattered_and_gathered() {
    for_groups(|rank| {
        let size = rank.size() as usize;
        let own = rank.rank() as usize;
        for count in COUNTS {
            for root in 0..rank.size() {
                let whole = numbers(root, count * size);
                by_all(rank, Collective::Scatter, |rank| {
                    let is_root = rank.rank() == root;
                    let sent = if is_root { &whole[..] } else { &[] };
                    let mut block = vec![0; count];
                    rank.scatter(root, sent, &mut block).unwrap();
                    assert!(block == whole[own * count..][..count]);
                    let mut gathered = vec![0; if is_root { whole.len() } else { 0 }];
                    rank.gather(root, &block, &mut gathered).unwrap();
                    assert!(!is_root || gathered == whole);
                });
                let counts: Vec<_> = (0..size).map(|rank| (rank * 3 + count) % 900).collect();
                let start: usize = counts[..own].iter().sum();
                let whole = numbers(root, counts.iter().sum());
                let is_root = rank.rank() == root;
                let (sent, known) = if is_root {
                    (&whole[..], &counts[..])
                } else {
                    Default::default()
                };
                let mut block = vec![0; counts[own]];
                rank.scatter_v(root, sent, known, &mut block).unwrap();
                assert!(block == whole[start..][..counts[own]]);
                let mut gathered = vec![0; if is_root { whole.len() } else { 0 }];
                rank.gather_v(root, &block, known, &mut gathered).unwrap();
                assert!(!is_root || gathered == whole);
            }
        }
    });
}

#[test]
fn blocks_of_all_ranks_reach_all_ranks() {
    for_groups(|rank| {
        let size = rank.size();
        for count in COUNTS {
            by_all(rank, Collective::AllGather, |rank| {
                let mut all = vec![0; count * size as usize];
                rank.all_gather(&numbers(rank.rank(), count), &mut all)
                    .unwrap();
                let expected: Vec<_> = (0..size).flat_map(|rank| numbers(rank, count)).collect();
                assert!(all == expected);
                let length = |rank: u32| (rank as usize * 5 + count) % 300;
                let counts: Vec<_> = (0..size).map(length).collect();
                let mut all = vec![0; counts.iter().sum()];
                let own = numbers(rank.rank(), length(rank.rank()));
                rank.all_gather_v(&own, &counts, &mut all).unwrap();
                let expected = (0..size).flat_map(|rank| numbers(rank, length(rank)));
                assert!(all == expected.collect::<Vec<_>>());
            });
        }
    });
}

#[test]
fn elements_of_all_ranks_are_combined() {
    for_groups(|rank| {
        for count in COUNTS {
            let sums = combined(rank.size(), count, |a, b| a.wrapping_add(*b));
            let maxima = combined(rank.size(), count, |a, b| *a.max(b));
            let own = numbers(rank.rank(), count);
            for root in 0..rank.size() {
                by_all(rank, Collective::Reduce, |rank| {
                    let mut all = vec![0; if rank.rank() == root { count } else { 0 }];
                    rank.reduce(root, &own, &mut all, &Sum).unwrap();
                    assert!(rank.rank() != root || all == sums);
                });
            }
            by_all(rank, Collective::AllReduce, |rank| {
                let mut all = vec![0; count];
                rank.all_reduce(&own, &mut all, &Sum).unwrap();
                assert!(all == sums);
                rank.all_reduce(&own, &mut all, &Max).unwrap();
                assert!(all == maxima);
            });
            by_all(rank, Collective::ReduceScatter, |rank| {
                let length = count / rank.size() as usize;
                let start = length * rank.rank() as usize;
                let mut block = vec![0; length];
                let sent = &own[..length * rank.size() as usize];
                rank.reduce_scatter(sent, &mut block, &Sum).unwrap();
                assert!(block == sums[start..][..length]);
            });
        }
    });
}

#[test]
fn operands_keep_their_order() {
    for_groups(|rank| {
        let operation = Ordered(compose);
        for count in COUNTS {
            let expected = combined(rank.size(), count, compose);
            let own = numbers(rank.rank(), count);
            let mut all = vec![0; count];
            rank.all_reduce(&own, &mut all, &operation).unwrap();
            assert!(all == expected);
            for root in 0..rank.size() {
                let mut all = vec![0; count];
                rank.reduce(root, &own, &mut all, &operation).unwrap();
                assert!(rank.rank() != root || all == expected);
            }
            let mut counts = vec![0; rank.size() as usize];
            counts[rank.size() as usize - 1] = count;
            let mut block = vec![0; counts[rank.rank() as usize]];
            rank.reduce_scatter_v(&own, &counts, &mut block, &operation)
                .unwrap();
            assert!(block.is_empty() || block == expected);
            let before = combined(rank.rank() + 1, count, compose);
            rank.scan(&own, &mut all, &operation).unwrap();
            assert!(all == before);
            let mut exclusive = vec![3; count];
            rank.exclusive_scan(&own, &mut exclusive, &operation)
                .unwrap();
            assert!(
                exclusive
                    == match rank.rank() {
                        0 => vec![3; count],
                        own => combined(own, count, compose),
                    }
            );
        }
    });
}

#[test]
fn blocks_are_exchanged() {
    for_groups(|rank| {
        let (own, size) = (rank.rank(), rank.size());
        for count in [0, 1, 60, 9_000] {
            by_all(rank, Collective::AllToAll, |rank| {
                let sent = numbers(own, count * size as usize);
                let mut all = vec![0; sent.len()];
                rank.all_to_all(&sent, &mut all).unwrap();
                for other in 0..size {
                    let theirs = numbers(other, sent.len());
                    let block = &theirs[count * own as usize..][..count];
                    assert!(all[count * other as usize..][..count] == *block);
                }
            });
            // Rank `from` sends this many of its own number to rank `to`.
            let length = |from: u32, to: u32| (from * 3 + to * 5) as usize % 4 * count;
            let counts: [Vec<_>; 2] = [
                (0..size).map(|to| length(own, to)).collect(),
                (0..size).map(|from| length(from, own)).collect(),
            ];
            let sent = vec![own; counts[0].iter().sum()];
            let mut all = vec![u32::MAX; counts[1].iter().sum()];
            rank.all_to_all_v(&sent, &counts[0], &mut all, &counts[1])
                .unwrap();
            let expected = (0..size).flat_map(|from| vec![from; length(from, own)]);
            assert!(all == expected.collect::<Vec<_>>());
        }
    });
}

#[test]
fn nobody_passes_a_barrier_early() {
    use std::sync::atomic::{AtomicU32, Ordering};
    for way in ways() {
        let arrived = AtomicU32::new(0);
        let ranks = group(way, 3, &Options::default());
        each(&ranks, |rank| {
            for round in 1..50 {
                arrived.fetch_add(1, Ordering::Relaxed);
                rank.barrier().unwrap();
                assert!(arrived.load(Ordering::Relaxed) >= 3 * round);
            }
        });
    }
}

#[test]
fn floats_are_the_same_at_all_ranks_and_in_each_run() {
    let run = |algorithm: Algorithm| {
        let ranks = group("threads", 6, &Options::default());
        let sums = each(&ranks, |rank| {
            let own = (1..500).map(|n| 1.0 / f64::from(n * 7 + rank.rank()));
            let own: Vec<_> = own.collect();
            let mut sums = vec![0.0; own.len()];
            let rank = rank.with_algorithm(algorithm);
            rank.all_reduce(&own, &mut sums, &Sum).unwrap();
            sums.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        });
        assert!(sums.iter().all(|other| *other == sums[0]));
        sums
    };
    for algorithm in Collective::AllReduce.algorithms() {
        assert_eq!(run(*algorithm), run(*algorithm));
    }
}

#[test]
fn wildcards_get_no_message_of_an_operation() {
    use jstream_transport::rank::{Source, Tag};
    let ranks = group("threads", 2, &Options::default());
    each(&ranks, |rank| {
        let other = 1 - rank.rank();
        let receive = rank.buffers().irecv(Source::Any, Tag::Any);
        let mut sum = [0];
        rank.all_reduce(&[rank.rank()], &mut sum, &Sum).unwrap();
        assert_eq!(sum, [1]);
        rank.barrier().unwrap();
        rank.send(other, 5, &[other]).unwrap();
        let message = receive.wait().unwrap();
        assert_eq!(message.payload.view::<u32>().unwrap(), [rank.rank()]);
        rank.barrier().unwrap();
    });
}

#[test]
fn places_of_extremes_are_found() {
    let ranks = group("threads", 5, &Options::default());
    each(&ranks, |rank| {
        let own = i64::from(rank.rank());
        let mut largest = [[0; 2]];
        rank.all_reduce(&[[(own * 3) % 5, own]], &mut largest, &MaxLocation)
            .unwrap();
        assert_eq!(largest, [[4, 3]]);
        let mut smallest = [0];
        rank.all_reduce(&[own - 2], &mut smallest, &Min).unwrap();
        assert_eq!(smallest, [-2]);
    });
    assert_eq!(Min.combine(&1, &2), 1);
}
