//! Simulation of schedules in a model of latency and bandwidth, for groups of thousands of ranks.

use std::collections::{HashMap, VecDeque};

use crate::schedule::{Schedule, Step};

/// The costs of messages and of local work, in any unit of time.
///
/// A rank sends one message at a time, and receives one at a time. It can do both at the same time.
/// A message of `m` elements occupies its sender, and then its receiver, for `gap + m · element`.
/// The message arrives `latency` after the sender has begun, plus the time for its elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Time from the begin of a send until the first element arrives, `α`.
    pub latency: f64,
    /// Time to send one element, `β`.
    pub element: f64,
    /// Time between two messages of one rank. In the published formulas this is the latency.
    pub gap: f64,
    /// Time to combine one element with another, `γ`.
    pub combine: f64,
    /// Time to copy one element.
    pub copy: f64,
}

/// The costs of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Number of messages of all ranks.
    pub messages: usize,
    /// Number of elements in these messages.
    pub elements: usize,
    /// Time at which the last rank has finished: the length of the critical path.
    pub time: f64,
}

/// The schedules do not fit together: some ranks wait for messages that no rank sends.
#[derive(jstream_derive::ErrorDebug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank} waits for a message of rank {from} that is never sent")]
pub struct Stuck {
    /// The first rank that waits.
    pub rank: usize,
    /// The rank that should have sent a message.
    pub from: usize,
}

/// The progress of one rank.
#[derive(Clone, Default)]
struct Progress {
    /// Index of the next step.
    next: usize,
    now: f64,
    /// Times at which the rank can send and receive the next message.
    send_at: f64,
    receive_at: f64,
    /// Sources and lengths of receives that have begun.
    receives: VecDeque<(usize, usize)>,
}

/// Executes the schedules of all ranks of a group, in the order of the ranks, without elements.
///
/// # Errors
///
/// [`Stuck`] if the schedules do not fit together.
pub fn run(schedules: &[Schedule], model: &Model) -> Result<Cost, Stuck> {
    let mut cost = Cost::default();
    let mut ranks = vec![Progress::default(); schedules.len()];
    // Times at which the messages arrive, by sender and receiver.
    let mut arrivals: HashMap<(usize, usize), VecDeque<f64>> = HashMap::new();
    loop {
        let (mut has_moved, mut stuck) = (false, None);
        for ((rank, progress), schedule) in ranks.iter_mut().enumerate().zip(schedules) {
            while let Some(step) = schedule.steps().get(progress.next) {
                match *step {
                    Step::Send { to, span } => {
                        let begun = progress.now.max(progress.send_at);
                        let length = span.len as f64 * model.element;
                        progress.send_at = begun + model.gap + length;
                        let arrival = begun + model.latency + length;
                        arrivals.entry((rank, to)).or_default().push_back(arrival);
                        cost.messages += 1;
                        cost.elements += span.len;
                    }
                    Step::Receive { from, span } => progress.receives.push_back((from, span.len)),
                    Step::Wait => {
                        if let Err(from) = progress.wait(rank, &mut arrivals, model) {
                            stuck = stuck.or(Some(Stuck { rank, from }));
                            break;
                        }
                    }
                    Step::Copy { into, .. } => progress.now += into.len as f64 * model.copy,
                    Step::Combine { into, .. } => progress.now += into.len as f64 * model.combine,
                }
                progress.next += 1;
                has_moved = true;
            }
        }
        if let (false, Some(stuck)) = (has_moved, stuck) {
            return Err(stuck);
        }
        if stuck.is_none() {
            cost.time = ranks.iter().map(|rank| rank.now).fold(0.0, f64::max);
            return Ok(cost);
        }
    }
}

impl Progress {
    /// Completes what has begun. Returns the rank whose message is missing, if any.
    fn wait(
        &mut self,
        rank: usize,
        arrivals: &mut HashMap<(usize, usize), VecDeque<f64>>,
        model: &Model,
    ) -> Result<(), usize> {
        let mut at = self.now.max(self.send_at - model.gap).max(self.receive_at);
        while let Some((from, length)) = self.receives.front().copied() {
            let arrival = arrivals
                .get_mut(&(from, rank))
                .and_then(VecDeque::pop_front);
            let arrival = arrival.ok_or(from)?;
            let length = length as f64 * model.element;
            let end = arrival.max(self.receive_at + length);
            self.receive_at = end;
            at = at.max(end);
            self.receives.pop_front();
        }
        self.now = at;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, Blocks, Position, ScheduleError};

    /// The costs of the published formulas, in which a rank begins no message within the latency of
    /// the one before.
    const PUBLISHED: Model = Model {
        latency: 1000.0,
        element: 2.0,
        gap: 1000.0,
        combine: 0.5,
        copy: 0.0,
    };

    fn cost(size: usize, schedule: impl Fn(Position) -> Result<Schedule, ScheduleError>) -> Cost {
        let all = (0..size).map(|rank| schedule(Position { rank, size }).unwrap());
        run(&all.collect::<Vec<_>>(), &PUBLISHED).unwrap()
    }

    /// Asserts a time of so many latencies, elements sent and elements combined.
    #[track_caller]
    fn takes(cost: Cost, latencies: usize, elements: usize, combined: usize) {
        let model = PUBLISHED;
        let time = latencies as f64 * model.latency
            + elements as f64 * model.element
            + combined as f64 * model.combine;
        assert!(
            (cost.time - time).abs() < 0.001 * time,
            "{cost:?}, but expected {time}"
        );
    }

    fn log(size: usize) -> usize {
        size.next_power_of_two().trailing_zeros() as usize
    }

    #[test]
    fn barriers_and_scans_take_a_logarithmic_number_of_rounds() {
        for size in [2, 3, 64, 100, 1000, 4096] {
            let barrier = cost(size, |at| Ok(Schedule::barrier(at)));
            takes(barrier, log(size), 0, 0);
            assert_eq!(barrier.messages, size * log(size));
        }
        for size in [2, 64, 4096] {
            let scan = cost(size, |at| Schedule::scan(at, 10));
            takes(scan, log(size), 10 * log(size), 10 * log(size));
        }
    }

    #[test]
    fn broadcasts_take_the_published_time() {
        for size in [2, 16, 256, 4096] {
            let binomial = cost(size, |at| {
                Schedule::broadcast(at, 1, 100, Algorithm::Binomial)
            });
            takes(binomial, log(size), 100 * log(size), 0);
            assert_eq!(
                (binomial.messages, binomial.elements),
                (size - 1, 100 * (size - 1))
            );
        }
        for size in [4, 64, 512] {
            let count = size * 50;
            let long = cost(size, |at| {
                Schedule::broadcast(at, 1, count, Algorithm::ScatterRing)
            });
            takes(long, log(size) + size - 1, 2 * 50 * (size - 1), 0);
        }
        // A chain of 8 ranks, in 16 segments.
        let count = 16 << 10;
        let chain = cost(8, |at| Schedule::broadcast(at, 0, count, Algorithm::Chain));
        takes(chain, 7 + 15, (7 + 15) << 10, 0);
    }

    #[test]
    fn scatters_and_gathers_take_the_published_time() {
        for size in [2, 16, 256, 4096] {
            let blocks = Blocks::equal(size, 3).unwrap();
            let scatter = cost(size, |at| {
                Schedule::scatter(at, 0, &blocks, Algorithm::Binomial)
            });
            takes(scatter, log(size), 3 * (size - 1), 0);
            let gather = cost(size, |at| {
                Schedule::gather(at, 0, &blocks, Algorithm::Binomial)
            });
            assert_eq!(
                (gather.messages, gather.elements),
                (size - 1, scatter.elements)
            );
            takes(gather, log(size), 3 * (size - 1), 0);
        }
    }

    #[test]
    fn all_gathers_take_the_published_time() {
        for size in [2, 16, 100, 512] {
            let blocks = Blocks::equal(size, 3).unwrap();
            let all = |algorithm| cost(size, |at| Schedule::all_gather(at, &blocks, algorithm));
            takes(all(Algorithm::Ring), size - 1, 3 * (size - 1), 0);
            takes(all(Algorithm::Bruck), log(size), 3 * (size - 1), 0);
            takes(
                all(Algorithm::RecursiveDoubling),
                log(size),
                3 * (size - 1),
                0,
            );
        }
        let blocks = Blocks::equal(4096, 1).unwrap();
        let large = cost(4096, |at| {
            Schedule::all_gather(at, &blocks, Algorithm::Bruck)
        });
        takes(large, 12, 4095, 0);
    }

    #[test]
    fn reductions_take_the_published_time() {
        for size in [2, 16, 1024] {
            let (steps, count) = (log(size), size * 4);
            let moved = 4 * (size - 1);
            let all = |algorithm| cost(size, |at| Schedule::all_reduce(at, count, true, algorithm));
            takes(
                all(Algorithm::RecursiveDoubling),
                steps,
                steps * count,
                steps * count,
            );
            takes(all(Algorithm::Halving), 2 * steps, 2 * moved, moved);
            let one = |algorithm| cost(size, |at| Schedule::reduce(at, 0, count, true, algorithm));
            takes(
                one(Algorithm::Binomial),
                steps,
                steps * count,
                steps * count,
            );
            takes(one(Algorithm::Halving), 2 * steps, 2 * moved, moved);
            let blocks = Blocks::equal(size, 4).unwrap();
            let halving = cost(size, |at| {
                Schedule::reduce_scatter(at, &blocks, true, Algorithm::Halving)
            });
            takes(halving, steps, moved, moved);
        }
        for size in [2, 5, 64, 500] {
            let moved = 4 * (size - 1);
            let ring = cost(size, |at| {
                Schedule::all_reduce(at, size * 4, true, Algorithm::Ring)
            });
            takes(ring, 2 * (size - 1), 2 * moved, moved);
            let blocks = Blocks::equal(size, 4).unwrap();
            let pairwise = cost(size, |at| {
                Schedule::reduce_scatter(at, &blocks, true, Algorithm::Pairwise)
            });
            takes(pairwise, size - 1, moved, moved);
        }
    }

    #[test]
    fn exchanges_take_the_published_time() {
        for size in [2, 16, 128] {
            let blocks = Blocks::equal(size, 6).unwrap();
            let all = |algorithm| {
                cost(size, |at| {
                    Schedule::all_to_all(at, &blocks, &blocks, algorithm)
                })
            };
            takes(all(Algorithm::Pairwise), size - 1, 6 * (size - 1), 0);
            takes(
                all(Algorithm::Bruck),
                log(size),
                6 * size / 2 * log(size),
                0,
            );
        }
    }

    #[test]
    fn schedules_that_do_not_fit_are_found() {
        let first = Schedule::barrier(Position { rank: 0, size: 2 });
        let nothing = Schedule::scan(Position { rank: 0, size: 1 }, 1).unwrap();
        assert_eq!(
            run(&[first, nothing], &PUBLISHED),
            Err(Stuck { rank: 0, from: 1 })
        );
    }
}
