//! Cost of finding the receive for a message, and the message for a receive.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use jstream_transport::matching::{Arrival, Bounds, Envelope, Heading, Matcher, Pattern, Post};

use super::SUITE;
use crate::Failure;
use crate::measure::{self, since};
use crate::suites::Bench;

/// Names of the cases, in the order in which they are run.
pub(super) const NAMES: [&str; 5] = [
    "matching/failed-compare",
    "matching/exact/1",
    "matching/exact/100",
    "matching/exact/10000",
    "matching/exact/100000",
];

/// Number of waiting messages that a failing search compares.
const WAITING: usize = 1_000;
/// Operations per round, enough that reading the clock does not matter.
const OPERATIONS: usize = 1_024;
const SOURCES: u32 = 16;
const CONTEXT: u32 = 1;

/// An implementation that a case measures: runs one round and returns nanoseconds per operation.
struct Subject<'a> {
    name: &'static str,
    round: Box<dyn FnMut() -> Result<f64, Failure> + 'a>,
}

impl<'a> Subject<'a> {
    fn new(name: &'static str, round: impl FnMut() -> Result<f64, Failure> + 'a) -> Box<Self> {
        let round = Box::new(round);
        Box::new(Self { name, round })
    }
}

/// Runs the case `case`.
pub(super) fn run(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    match case.rsplit('/').next().map(str::parse) {
        Some(Ok(posted)) => exact(bench, case, posted),
        _ => failed_compare(bench, case),
    }
}

impl Bench<'_> {
    /// Measures all subjects in turn, and records the median round of each as `metric`.
    fn match_all(
        &mut self,
        case: &str,
        metric: &str,
        mut subjects: Vec<Box<Subject<'_>>>,
    ) -> Result<(), Failure> {
        self.progress.step(&format!("{SUITE} / {case}: {metric}"));
        let times = measure::interleave(&mut subjects, &self.effort, |subject| (subject.round)())?;
        for (subject, times) in subjects.iter().zip(times) {
            self.timed(case, subject.name, metric, times.median, "ns", &times);
        }
        Ok(())
    }
}

fn envelope(n: usize) -> Envelope {
    let tag = n as u64;
    Envelope {
        context: CONTEXT,
        source: u32::try_from(tag % u64::from(SOURCES)).unwrap_or(0),
        tag,
    }
}

fn matcher<R, M>() -> Matcher<R, M> {
    let mut bounds = Bounds::default();
    bounds.messages = usize::MAX;
    let mut matcher = Matcher::new(bounds);
    for _ in 0..SOURCES {
        matcher.add_source();
    }
    matcher
}

/// Returns a matcher with waiting messages, each with the value `message`.
fn waiting<M: Copy>(messages: usize, message: M) -> Result<Matcher<usize, M>, Failure> {
    let mut matcher = matcher();
    for n in 0..messages {
        let heading = Heading::new(envelope(n), 0);
        if !matches!(matcher.arrive(heading, message), Ok(Arrival::Waits(_))) {
            return Err("a message was matched before any receive was posted".into());
        }
    }
    Ok(matcher)
}

/// Measures searches with a wildcard for an absent message, per message compared, and receives by
/// tags in reverse order, as in section 4.1.3 of the thesis on McMPI.
fn failed_compare(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    let absent = Pattern::any(CONTEXT).tagged(u64::MAX);
    let small = waiting(WAITING, 0u64)?;
    let large = waiting(WAITING, [0u8; 1024])?;
    let list: Vec<(Envelope, u64)> = (0..WAITING).map(|n| (envelope(n), 0)).collect();
    let large_list: Vec<(Envelope, [u8; 1024])> =
        (0..WAITING).map(|n| (envelope(n), [0; 1024])).collect();
    let subjects = vec![
        Subject::new("jstream", || {
            Ok(searches(|| small.probe(black_box(&absent)).is_some()))
        }),
        Subject::new("jstream-1K", || {
            Ok(searches(|| large.probe(black_box(&absent)).is_some()))
        }),
        Subject::new("list", || Ok(searches(|| is_in(&list, black_box(&absent))))),
        Subject::new("list-1K", || {
            Ok(searches(|| is_in(&large_list, black_box(&absent))))
        }),
    ];
    bench.match_all(case, "failed_compare", subjects)?;

    let mut matcher = waiting(0, 0u64)?;
    let reverse = Subject::new("jstream", move || {
        let in_order = batch(&mut matcher, |n| n)?;
        let reverse = batch(&mut matcher, |n| WAITING - 1 - n)?;
        Ok((reverse - in_order).max(0.0) / (WAITING * (WAITING - 1) / 2) as f64)
    });
    bench.match_all(case, "reverse_tags", vec![reverse])?;
    let text = format!(
        "{WAITING} messages wait, with 8 bytes or 1 KiB each; a search by tag, from any source; \
         list is a Vec of envelopes and messages"
    );
    bench.note(case, text);
    Ok(())
}

/// Returns the time of a comparison in nanoseconds.
fn searches(search: impl Fn() -> bool) -> f64 {
    const SEARCHES: usize = 20;
    let start = Instant::now();
    for _ in 0..SEARCHES {
        black_box(search());
    }
    since(start, SEARCHES * WAITING)
}

fn is_in<M>(list: &[(Envelope, M)], pattern: &Pattern) -> bool {
    list.iter().any(|(envelope, _)| pattern.matches(envelope))
}

/// Returns the time in nanoseconds in which `WAITING` messages arrive and are then received, by
/// tags in the order of `tag`.
fn batch(matcher: &mut Matcher<usize, u64>, tag: fn(usize) -> usize) -> Result<f64, Failure> {
    let start = Instant::now();
    for n in 0..WAITING {
        black_box(matcher.arrive(Heading::new(envelope(n), 8), 0)?);
    }
    for n in 0..WAITING {
        let pattern = Pattern::any(CONTEXT).tagged(tag(n) as u64);
        let Some(received) = matcher.receive(&pattern) else {
            return Err("a message that has arrived was not found".into());
        };
        black_box(received);
    }
    Ok(since(start, 1))
}

/// Iteration over the indexes below `len` that visits all before it repeats one.
struct Turn {
    at: usize,
    step: usize,
    len: usize,
}

impl Turn {
    fn in_order(len: usize) -> Self {
        Self {
            at: 0,
            step: 1,
            len,
        }
    }

    /// Creates an iteration with large steps that have no common divisor with powers of ten.
    fn far(len: usize) -> Self {
        Self {
            at: 0,
            step: 61_803,
            len,
        }
    }

    fn next(&mut self) -> usize {
        self.at = (self.at + self.step) % self.len;
        self.at
    }
}

/// Measures a match when `posted` receives for one message each, or as many messages, are waiting.
/// Each matched one is replaced by another like it.
fn exact(bench: &mut Bench<'_>, case: &str, posted: usize) -> Result<(), Failure> {
    for (metric, turn) in [
        ("posted", Turn::in_order as fn(usize) -> Turn),
        ("posted_far_apart", Turn::far),
    ] {
        let mut matcher = matcher::<usize, u64>();
        for n in 0..posted {
            matcher.post(envelope(n).into(), None, n)?;
        }
        let mut next = turn(posted);
        let jstream = Subject::new("jstream", move || {
            let start = Instant::now();
            for _ in 0..OPERATIONS {
                let envelope = envelope(next.next());
                let Arrival::Matched(matched) = matcher.arrive(Heading::new(envelope, 8), 0)?
                else {
                    return Err("a message did not match the posted receive".into());
                };
                matcher.post(envelope.into(), None, matched.receive)?;
            }
            Ok(since(start, OPERATIONS))
        });
        bench.match_all(case, metric, vec![jstream, map(posted, turn(posted))])?;
    }
    for (metric, turn) in [
        ("waiting", Turn::in_order as fn(usize) -> Turn),
        ("waiting_far_apart", Turn::far),
    ] {
        let mut matcher = waiting(posted, 0u64)?;
        let mut next = turn(posted);
        let jstream = Subject::new("jstream", move || {
            let start = Instant::now();
            for _ in 0..OPERATIONS {
                let envelope = envelope(next.next());
                let Post::Matched(matched) = matcher.post(envelope.into(), None, 0)? else {
                    return Err("a receive did not match the waiting message".into());
                };
                black_box(matcher.arrive(matched.heading, matched.message)?);
            }
            Ok(since(start, OPERATIONS))
        });
        bench.match_all(case, metric, vec![jstream])?;
    }
    let text = format!(
        "{posted} receives with source and tag are posted, or as many messages wait; an operation is a \
         match, and another one in its place; map is a HashMap of the standard library, without order"
    );
    bench.note(case, text);
    Ok(())
}

fn map(posted: usize, mut next: Turn) -> Box<Subject<'static>> {
    let mut map: HashMap<(u32, u32, u64), usize> = HashMap::new();
    let key = |envelope: Envelope| (envelope.context, envelope.source, envelope.tag);
    for n in 0..posted {
        map.insert(key(envelope(n)), n);
    }
    Subject::new("map", move || {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            let key = key(envelope(next.next()));
            let Some(receive) = map.remove(&key) else {
                return Err("a message did not match the posted receive".into());
            };
            map.insert(key, receive);
        }
        Ok(since(start, OPERATIONS))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_come_before_one_comes_again() {
        for len in [1, 100, 10_000, 100_000] {
            let mut seen = vec![false; len];
            let mut turn = Turn::far(len);
            for _ in 0..len {
                assert!(!std::mem::replace(&mut seen[turn.next()], true));
            }
        }
    }
}
