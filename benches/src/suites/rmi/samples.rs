//! Times of the calls in a round, measured by the caller.

use std::time::Instant;

use super::case::Work;
use super::service::Given;
use crate::measure::{Times, since};

/// Times of a round, in memory that is allocated once, and the processor time that the server used
/// for its calls.
#[derive(Debug)]
pub(super) struct Samples {
    work: Work,
    /// Number of samples of this round that were begun.
    begun: usize,
    /// Start and number of calls of the current sample.
    running: Option<(Instant, usize)>,
    /// Nanoseconds per call of each sample of this round.
    batches: Vec<f64>,
    /// Nanoseconds of each call that was timed individually, of all rounds.
    alone: Vec<f64>,
    /// Processor time of the server at the first and the last call of this round, and the number of
    /// calls between them, if the calls report it.
    computed: Option<Span>,
    /// Sum of the spans of all rounds.
    all_computed: Span,
}

/// Readings of a clock of the server in nanoseconds, and the number of calls between them.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    first: u64,
    last: u64,
    calls: usize,
}

impl Samples {
    /// Creates samples with capacity for `rounds` rounds.
    pub(super) fn new(work: Work, rounds: usize) -> Self {
        let each = if work.batch == 1 {
            work.batches
        } else {
            work.alone
        };
        Self {
            work,
            begun: 0,
            running: None,
            batches: Vec::with_capacity(work.batches + 1),
            alone: Vec::with_capacity(each * rounds),
            computed: None,
            all_computed: Span::default(),
        }
    }

    /// Records the result of a call.
    pub(super) fn given(&mut self, given: Given) {
        if let Given::Computed(now) = given {
            self.computed = Some(match self.computed {
                None => Span {
                    first: now,
                    last: now,
                    calls: 0,
                },
                Some(span) => Span {
                    last: now,
                    calls: span.calls + 1,
                    ..span
                },
            });
        }
    }

    /// Returns the number of calls to make before this function is called again, or `None` if the
    /// round is over.
    pub(super) fn next(&mut self) -> Option<usize> {
        let Work {
            batch,
            batches,
            alone,
        } = self.work;
        if let Some((start, calls)) = self.running.take() {
            self.push(since(start, calls));
        }
        let calls = match self.begun.checked_sub(batches + 1) {
            None => batch,
            Some(done) if done < alone => 1,
            Some(_) => return None,
        };
        self.begun += 1;
        self.running = Some((Instant::now(), calls));
        Some(calls)
    }

    fn push(&mut self, ns: f64) {
        let batches = self.work.batches + 1;
        if self.begun <= batches {
            self.batches.push(ns);
        }
        // The first sample is not counted, since both sides have only just woken up. If a sample
        // consists of several calls, only the calls that are timed individually are counted.
        let counts = self.begun > if self.work.batch == 1 { 1 } else { batches };
        // If the vector is full, the sample is dropped, since growing it would count as an
        // allocation.
        if counts && self.alone.len() < self.alone.capacity() {
            self.alone.push(ns);
        }
    }

    /// Returns the median of the samples of this round without the first, and begins the next
    /// round.
    pub(super) fn round(&mut self) -> f64 {
        let median = at(self.batches.get_mut(1..).unwrap_or_default(), 0.5);
        self.batches.clear();
        self.begun = 0;
        if let Some(span) = self.computed.take() {
            // The clock of a thread goes back if another thread, which has used less time, answers.
            if let Some(time) = span.last.checked_sub(span.first) {
                self.all_computed.last += time;
                self.all_computed.calls += span.calls;
            }
        }
        median
    }

    /// Discards the calls of all previous rounds.
    pub(super) fn forget(&mut self) {
        self.alone.clear();
        self.all_computed = Span::default();
    }

    /// Returns the processor time of the server per call in nanoseconds, if the calls report it.
    /// Time that the server uses between rounds is not counted.
    pub(super) fn computed(&self) -> Option<f64> {
        let Span { last, calls, .. } = self.all_computed;
        (calls > 0).then(|| last as f64 / calls as f64)
    }

    /// Returns the 99th percentile of the call times in nanoseconds.
    pub(super) fn p99(&mut self) -> f64 {
        at(&mut self.alone, 0.99)
    }

    /// Returns the times of the calls that were timed one by one.
    pub(super) fn calls(&self) -> Times {
        Times::of(self.alone.clone(), 1)
    }
}

/// Returns the quantile `part` of the samples.
fn at(samples: &mut [f64], part: f64) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    let place = (samples.len() as f64 * part) as usize;
    samples.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_calls_of_a_round_are_asked_for() {
        for (batch, batches, alone) in [(1, 5, 0), (16, 3, 7)] {
            let work = Work {
                batch,
                batches,
                alone,
            };
            let mut samples = Samples::new(work, 2);
            for _ in 0..2 {
                let mut calls = 0;
                while let Some(more) = samples.next() {
                    calls += more;
                }
                assert_eq!(calls, work.calls());
                assert!(samples.round() >= 0.0);
            }
            let each = if batch == 1 { batches } else { alone };
            assert_eq!(samples.alone.len(), 2 * each);
            assert!(samples.p99() >= 0.0);
        }
    }

    #[test]
    fn a_server_is_charged_for_its_rounds_alone() {
        let work = Work {
            batch: 1,
            batches: 2,
            alone: 0,
        };
        let mut samples = Samples::new(work, 4);
        assert_eq!(samples.computed(), None);
        let mut round = |clock: [u64; 3]| {
            clock
                .into_iter()
                .for_each(|now| samples.given(Given::Computed(now)));
            samples.round();
            samples.computed()
        };
        assert_eq!(round([100, 110, 120]), Some(10.0));
        assert_eq!(round([1000, 1010, 1060]), Some(20.0));
        // The clock of another thread.
        assert_eq!(round([1060, 0, 20]), Some(20.0));
        samples.forget();
        assert_eq!(samples.computed(), None);
    }

    #[test]
    fn places_are_found() {
        let mut samples: Vec<f64> = (0..200).rev().map(f64::from).collect();
        assert_eq!(at(&mut samples, 0.5).to_bits(), 100f64.to_bits());
        assert_eq!(at(&mut samples, 0.99).to_bits(), 198f64.to_bits());
        assert!(at(&mut [], 0.5).is_nan());
    }
}
