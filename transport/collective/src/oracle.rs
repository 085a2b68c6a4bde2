//! Execution of schedules in memory, compared with sequential results.

use std::collections::{HashMap, VecDeque};

use crate::algorithms::check_algorithm;
use crate::schedule::{Area, Order, Span, Step};
use crate::{Algorithm, Blocks, Collective, Position, Schedule, ScheduleError};

/// A function `x -> a x + b` over 32-bit numbers. Composition is associative, but not commutative.
type Map = (u32, u32);

type Combine = fn(Map, Map) -> Map;

fn compose(first: Map, second: Map) -> Map {
    let (a, b) = first;
    let (c, d) = second;
    (a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b))
}

fn add(first: Map, second: Map) -> Map {
    (
        first.0.wrapping_add(second.0),
        first.1.wrapping_add(second.1),
    )
}

/// The contents of memory that no step has written.
const UNWRITTEN: Map = (0xdead, 0xbeef);

/// Draws of a fixed sequence of numbers.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }
}

/// The memory and the progress of one rank.
struct Executor<'a> {
    schedule: &'a Schedule,
    areas: [Vec<Map>; 3],
    next: usize,
    /// Receives that have begun.
    receives: VecDeque<(usize, Span)>,
}

type Messages = HashMap<(usize, usize), VecDeque<Vec<Map>>>;

impl Executor<'_> {
    fn span(&mut self, span: Span) -> &mut [Map] {
        let area = match span.area {
            Area::Input => 0,
            Area::Output => 1,
            Area::Scratch => 2,
        };
        &mut self.areas[area][span.start..span.end()]
    }

    /// Executes one step. Returns false if there is none, or if it has to wait.
    fn execute_step(&mut self, messages: &mut Messages, combine: Combine) -> bool {
        let Some(step) = self.schedule.steps().get(self.next) else {
            return false;
        };
        let rank = self.schedule.position().rank;
        match *step {
            Step::Send { to, span } => {
                let message = self.span(span).to_vec();
                messages.entry((rank, to)).or_default().push_back(message);
            }
            Step::Receive { from, span } => self.receives.push_back((from, span)),
            Step::Wait => {
                while let Some((from, span)) = self.receives.front().copied() {
                    let message = messages
                        .get_mut(&(from, rank))
                        .and_then(VecDeque::pop_front);
                    let Some(message) = message else {
                        return false;
                    };
                    self.span(span).copy_from_slice(&message);
                    self.receives.pop_front();
                }
            }
            Step::Copy { from, into } => {
                let copied = self.span(from).to_vec();
                self.span(into).copy_from_slice(&copied);
            }
            Step::Combine { with, into, order } => {
                let with = self.span(with).to_vec();
                for (into, with) in self.span(into).iter_mut().zip(with) {
                    *into = match order {
                        Order::WithFirst => combine(with, *into),
                        Order::IntoFirst => combine(*into, with),
                    };
                }
            }
        }
        self.next += 1;
        true
    }
}

/// Executes the schedules of all ranks, in an order that is drawn. Returns the outputs.
fn execute(
    inputs: &[Vec<Map>],
    outputs: &[Vec<Map>],
    schedule: impl Fn(Position) -> Schedule,
    combine: Combine,
) -> Vec<Vec<Map>> {
    let size = inputs.len();
    let schedules: Vec<_> = (0..size)
        .map(|rank| schedule(Position { rank, size }))
        .collect();
    let mut ranks = Vec::new();
    for ((schedule, input), output) in schedules.iter().zip(inputs).zip(outputs) {
        assert_eq!(input.len(), schedule.len_of(Area::Input));
        assert_eq!(output.len(), schedule.len_of(Area::Output));
        let scratch = vec![UNWRITTEN; schedule.len_of(Area::Scratch)];
        ranks.push(Executor {
            schedule,
            areas: [input.clone(), output.clone(), scratch],
            next: 0,
            receives: VecDeque::new(),
        });
    }
    let mut messages = Messages::new();
    let mut draws = Draws(size as u64);
    let mut running: Vec<usize> = (0..size).collect();
    let mut idle = 0;
    while !running.is_empty() {
        let index = draws.below(running.len());
        let rank = &mut ranks[running[index]];
        let mut has_moved = false;
        while draws.below(4) > 0 && rank.execute_step(&mut messages, combine) {
            has_moved = true;
        }
        if rank.next == rank.schedule.steps().len() {
            running.swap_remove(index);
            has_moved = true;
        }
        idle = if has_moved { 0 } else { idle + 1 };
        assert!(
            idle < 1000 * size,
            "the ranks {running:?} wait for one another"
        );
    }
    assert!(
        messages.values().all(VecDeque::is_empty),
        "a message was not received"
    );
    let outputs = ranks.into_iter().map(|rank| {
        let [_, output, _] = rank.areas;
        output
    });
    outputs.collect()
}

/// Returns different elements for each rank and index.
fn elements(rank: usize, len: usize) -> Vec<Map> {
    let element = |index: usize| {
        let number = u32::try_from(rank * 1009 + index * 31 + 7).unwrap();
        (number.wrapping_mul(2_654_435_761) | 1, number)
    };
    (0..len).map(element).collect()
}

fn unwritten(lengths: impl IntoIterator<Item = usize>) -> Vec<Vec<Map>> {
    lengths
        .into_iter()
        .map(|len| vec![UNWRITTEN; len])
        .collect()
}

/// Returns the combination of the elements of some ranks, in their order.
fn combined(inputs: &[Vec<Map>], combine: Combine) -> Vec<Map> {
    let (first, others) = inputs.split_first().unwrap();
    let mut sum = first.clone();
    for other in others {
        for (sum, other) in sum.iter_mut().zip(other) {
            *sum = combine(*sum, *other);
        }
    }
    sum
}

/// Calls `test` for all numbers of ranks, and for several numbers of elements.
fn for_sizes(test: impl Fn(usize, usize)) {
    for size in 1..=64 {
        for count in [usize::from(size % 3 > 0), 2 * size + 3] {
            test(size, count);
        }
    }
    for size in [2, 3, 8] {
        test(size, 5_000);
    }
}

fn roots(size: usize) -> impl Iterator<Item = usize> {
    let most = if size <= 9 { size } else { 1 };
    (0..most).map(move |root| (root + size / 3) % size)
}

/// Returns blocks of equal length, and of different lengths, some of them empty.
fn partitions(size: usize, count: usize) -> [Blocks; 2] {
    let unequal = (0..size).map(|rank| {
        if count == 0 {
            0
        } else {
            (rank * 7 + count) % 5
        }
    });
    [
        Blocks::equal(size, count % 7).unwrap(),
        Blocks::of(unequal).unwrap(),
    ]
}

fn lengths(blocks: &Blocks) -> Vec<usize> {
    (0..blocks.size()).map(|block| blocks.len(block)).collect()
}

fn part<'a>(blocks: &Blocks, all: &'a [Map], block: usize) -> &'a [Map] {
    &all[blocks.start(block)..blocks.start(block + 1)]
}

/// Returns the algorithms of a reduction with an operation that suits each.
fn reductions(collective: Collective) -> Vec<(Algorithm, bool, Combine)> {
    let mut all = Vec::new();
    for algorithm in collective.algorithms() {
        all.push((*algorithm, true, add as Combine));
        if check_algorithm(collective, *algorithm, false).is_ok() {
            all.push((*algorithm, false, compose));
        }
    }
    all
}

#[test]
fn barriers_end_after_all_ranks_have_arrived() {
    for size in 1..=64 {
        let schedules = (0..size).map(|rank| Schedule::barrier(Position { rank, size }));
        let schedules: Vec<_> = schedules.collect();
        for late in 0..size {
            // All ranks but one run as far as they can.
            let mut messages = Messages::new();
            let mut ranks: Vec<_> = schedules
                .iter()
                .map(|schedule| Executor {
                    schedule,
                    areas: Default::default(),
                    next: 0,
                    receives: VecDeque::new(),
                })
                .collect();
            let mut has_moved = true;
            while std::mem::take(&mut has_moved) {
                for (_, rank) in ranks
                    .iter_mut()
                    .enumerate()
                    .filter(|(rank, _)| *rank != late)
                {
                    while rank.execute_step(&mut messages, add) {
                        has_moved = true;
                    }
                }
            }
            for (_, rank) in ranks.iter().enumerate().filter(|(rank, _)| *rank != late) {
                assert!(rank.next < rank.schedule.steps().len(), "{late} of {size}");
            }
        }
        let nothing = vec![Vec::new(); size];
        execute(&nothing, &nothing, Schedule::barrier, add);
    }
}

#[test]
fn broadcasts_reach_all_ranks() {
    for_sizes(|size, count| {
        for (root, algorithm) in with_roots(Collective::Broadcast, size) {
            let expected = elements(root, count);
            let mut outputs = unwritten(vec![count; size]);
            outputs[root].clone_from(&expected);
            let schedule = |at| Schedule::broadcast(at, root, count, algorithm).unwrap();
            let outputs = execute(&vec![Vec::new(); size], &outputs, schedule, add);
            assert!(
                outputs.iter().all(|output| *output == expected),
                "{algorithm} {size} {root}"
            );
        }
    });
}

fn with_roots(collective: Collective, size: usize) -> Vec<(usize, Algorithm)> {
    let algorithms = collective.algorithms().iter();
    algorithms
        .flat_map(|algorithm| roots(size).map(|root| (root, *algorithm)))
        .collect()
}

#[test]
fn scatters_and_gathers_are_inverse() {
    for_sizes(|size, count| {
        for blocks in partitions(size, count) {
            for (root, algorithm) in with_roots(Collective::Scatter, size) {
                let all = elements(root, blocks.total());
                let mut whole = vec![Vec::new(); size];
                whole[root].clone_from(&all);
                let parts = unwritten(lengths(&blocks));
                let schedule = |at| Schedule::scatter(at, root, &blocks, algorithm).unwrap();
                let parts = execute(&whole, &parts, schedule, add);
                for (rank, output) in parts.iter().enumerate() {
                    assert_eq!(
                        output,
                        part(&blocks, &all, rank),
                        "{algorithm} {size} {root}"
                    );
                }
                let mut gathered = vec![Vec::new(); size];
                gathered[root] = vec![UNWRITTEN; all.len()];
                let schedule = |at| Schedule::gather(at, root, &blocks, algorithm).unwrap();
                let gathered = execute(&parts, &gathered, schedule, add);
                assert_eq!(gathered, whole, "{algorithm} {size} {root}");
            }
        }
    });
}

#[test]
fn all_gathers_give_all_blocks_to_all_ranks() {
    for_sizes(|size, count| {
        for blocks in partitions(size, count) {
            let inputs: Vec<_> = (0..size)
                .map(|rank| elements(rank, blocks.len(rank)))
                .collect();
            for algorithm in Collective::AllGather.algorithms() {
                let outputs = unwritten(vec![blocks.total(); size]);
                let schedule = |at| Schedule::all_gather(at, &blocks, *algorithm).unwrap();
                let outputs = execute(&inputs, &outputs, schedule, add);
                let expected = inputs.concat();
                assert!(
                    outputs.iter().all(|output| *output == expected),
                    "{algorithm} {size}"
                );
            }
        }
    });
}

#[test]
fn reductions_combine_in_order() {
    for_sizes(|size, count| {
        let inputs: Vec<_> = (0..size).map(|rank| elements(rank, count)).collect();
        for (algorithm, is_commutative, combine) in reductions(Collective::Reduce) {
            let expected = combined(&inputs, combine);
            for root in roots(size) {
                let mut outputs = vec![Vec::new(); size];
                outputs[root] = vec![UNWRITTEN; count];
                let schedule =
                    |at| Schedule::reduce(at, root, count, is_commutative, algorithm).unwrap();
                let outputs = execute(&inputs, &outputs, schedule, combine);
                assert_eq!(outputs[root], expected, "{algorithm} {size} {root}");
            }
        }
        for (algorithm, is_commutative, combine) in reductions(Collective::AllReduce) {
            let expected = combined(&inputs, combine);
            let schedule = |at| Schedule::all_reduce(at, count, is_commutative, algorithm).unwrap();
            let outputs = execute(&inputs, &unwritten(vec![count; size]), schedule, combine);
            assert!(
                outputs.iter().all(|output| *output == expected),
                "{algorithm} {size}"
            );
        }
    });
}

#[test]
fn scans_combine_the_ranks_before() {
    for_sizes(|size, count| {
        let inputs: Vec<_> = (0..size).map(|rank| elements(rank, count)).collect();
        let outputs = unwritten(vec![count; size]);
        let schedule = |at| Schedule::scan(at, count).unwrap();
        let inclusive = execute(&inputs, &outputs, schedule, compose);
        let schedule = |at| Schedule::exclusive_scan(at, count).unwrap();
        let exclusive = execute(&inputs, &outputs, schedule, compose);
        for rank in 0..size {
            assert_eq!(inclusive[rank], combined(&inputs[..=rank], compose));
            match rank {
                0 => assert_eq!(exclusive[0], outputs[0]),
                _ => assert_eq!(exclusive[rank], inclusive[rank - 1]),
            }
        }
    });
}

#[test]
fn reductions_are_scattered() {
    for_sizes(|size, count| {
        for blocks in partitions(size, count) {
            let inputs: Vec<_> = (0..size)
                .map(|rank| elements(rank, blocks.total()))
                .collect();
            for (algorithm, is_commutative, combine) in reductions(Collective::ReduceScatter) {
                let expected = combined(&inputs, combine);
                let schedule =
                    |at| Schedule::reduce_scatter(at, &blocks, is_commutative, algorithm).unwrap();
                let outputs = unwritten(lengths(&blocks));
                let outputs = execute(&inputs, &outputs, schedule, combine);
                for (rank, output) in outputs.iter().enumerate() {
                    assert_eq!(output, part(&blocks, &expected, rank), "{algorithm} {size}");
                }
            }
        }
    });
}

#[test]
fn blocks_are_exchanged() {
    for size in 1..=64 {
        // The number of elements that one rank sends to another.
        let unequal = |from: usize, to: usize| (from * 3 + to * 5) % 4;
        exchange(size, Collective::AllToAll.algorithms(), |_, _| size % 5);
        exchange(size, &[Algorithm::Pairwise, Algorithm::Direct], unequal);
    }
}

fn exchange(size: usize, algorithms: &[Algorithm], count: impl Fn(usize, usize) -> usize) {
    let sent = |rank| Blocks::of((0..size).map(|to| count(rank, to))).unwrap();
    let received = |rank| Blocks::of((0..size).map(|from| count(from, rank))).unwrap();
    let inputs: Vec<_> = (0..size)
        .map(|rank| elements(rank, sent(rank).total()))
        .collect();
    for algorithm in algorithms {
        let schedule = |at: Position| {
            let (sent, received) = (sent(at.rank), received(at.rank));
            Schedule::all_to_all(at, &sent, &received, *algorithm).unwrap()
        };
        let outputs = unwritten((0..size).map(|rank| received(rank).total()));
        let outputs = execute(&inputs, &outputs, schedule, add);
        for (rank, output) in outputs.iter().enumerate() {
            for (from, input) in inputs.iter().enumerate() {
                let expected = part(&sent(from), input, rank);
                assert_eq!(
                    part(&received(rank), output, from),
                    expected,
                    "{algorithm} {size}"
                );
            }
        }
    }
}

#[test]
fn every_choice_is_possible() {
    for collective in Collective::ALL {
        for size in 1..=70 {
            for bytes in [0, 1, 5_000, 50_000, 10_000_000] {
                for is_commutative in [true, false] {
                    let algorithm = collective.choose(size, bytes, is_commutative);
                    assert_eq!(
                        check_algorithm(*collective, algorithm, is_commutative),
                        Ok(())
                    );
                }
            }
        }
    }
}

#[test]
fn wrong_arguments_have_no_schedule() {
    let at = Position { rank: 0, size: 3 };
    let error = |result: Result<Schedule, ScheduleError>| result.unwrap_err().to_string();
    let blocks = Blocks::equal(2, 5).unwrap();
    let three = Blocks::of([1, 2, 3]).unwrap();
    let huge = usize::MAX / 2;
    assert_eq!(
        error(Schedule::broadcast(at, 3, 1, Algorithm::Binomial)),
        "the root 3 is no rank of a group of 3 ranks"
    );
    assert_eq!(
        error(Schedule::broadcast(at, 0, 1, Algorithm::Bruck)),
        "broadcast has no algorithm `bruck`; it has `binomial`, `scatter_ring`, `chain`"
    );
    assert_eq!(
        error(Schedule::all_gather(at, &blocks, Algorithm::Ring)),
        "2 counts were given for a group of 3 ranks: give one for each rank"
    );
    assert_eq!(
        error(Schedule::all_reduce(at, 4, false, Algorithm::Ring)),
        "`ring` of all_reduce needs a commutative operation; choose `recursive_doubling`"
    );
    assert_eq!(
        error(Schedule::all_to_all(at, &three, &three, Algorithm::Bruck)),
        "`bruck` of all_to_all needs equal counts at all ranks; choose `direct`"
    );
    assert_eq!(Schedule::scan(at, huge), Err(ScheduleError::TooLong));
    assert_eq!(Blocks::equal(2, huge), Err(ScheduleError::TooLong));
    assert_eq!(Blocks::of([huge, huge]), Err(ScheduleError::TooLong));
}

#[test]
fn names_are_read_back() {
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.to_string().parse(), Ok(*algorithm));
    }
    for collective in Collective::ALL {
        assert_eq!(collective.to_string().parse(), Ok(*collective));
        assert!(!collective.algorithms().is_empty());
    }
    let unknown = "tree".parse::<Algorithm>().unwrap_err().to_string();
    assert!(unknown.starts_with("there is no algorithm `tree`; there are binomial, direct, "));
}
