//! The benchmarked service, and the arguments of its calls.

use std::future;
use std::hint::black_box;
use std::mem;
use std::task::Poll;

use jstream::Transportable;
use jstream_rmi::remote;
use rustix::time::{ClockId, clock_gettime};

use super::case::{Case, What};
use crate::Failure;

/// A struct with text and numbers.
#[derive(Transportable, Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) id: u64,
    /// A name of 12 bytes.
    pub(super) name: &'a str,
    pub(super) scores: [f32; 8],
}

/// Number of structs, and the sum over all their fields.
#[derive(Transportable, Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) sum: f64,
}

impl Tally {
    pub(super) fn add(&mut self, id: u64, name: &[u8], scores: impl Iterator<Item = f32>) {
        self.count += 1;
        self.sum += id as f64 + name.len() as f64 + f64::from(scores.sum::<f32>());
    }
}

/// The service that every subject implements.
#[remote]
pub(super) trait Service {
    fn null(&self);

    fn sum(&self, numbers: &[f64]) -> f64;

    /// Deserializes the numbers, which postcard has written, and returns their sum. Returns NaN if
    /// the bytes are no numbers.
    fn sum_copied(&self, numbers: &[u8]) -> f64;

    fn structs(&self, items: &[Item<'_>]) -> Tally;

    /// Asynchronous method that completes without waiting.
    async fn ready(&self);

    /// Asynchronous method that is suspended once and woken immediately.
    async fn waits(&self);

    /// Ignores the numbers, and returns the processor time that the server has used, in
    /// nanoseconds.
    fn untouched(&self, numbers: &[f64]) -> u64;

    /// Does the same as `null`. Callers of another version lack the argument.
    fn null_added(&self, #[remote(default = 1)] more: u64);

    /// Does the same as `structs`. Callers of another version lack the second argument.
    fn structs_added(&self, items: &[Item<'_>], #[remote(default = 1)] more: u64) -> Tally;
}

pub(super) struct Plain {
    /// Clock for the server's processor time: the clock of the process, since its threads take
    /// turns, or of this thread if client and server share a process.
    pub(super) clock: ClockId,
}

#[remote]
impl Service for Plain {
    fn null(&self) {}

    fn sum(&self, numbers: &[f64]) -> f64 {
        sum(numbers)
    }

    fn sum_copied(&self, numbers: &[u8]) -> f64 {
        postcard::from_bytes(numbers).map_or(f64::NAN, |numbers: Vec<f64>| sum(&numbers))
    }

    fn structs(&self, items: &[Item<'_>]) -> Tally {
        tally(items)
    }

    async fn ready(&self) {}

    async fn waits(&self) {
        let mut waited = false;
        future::poll_fn(|context| {
            if mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    fn untouched(&self, numbers: &[f64]) -> u64 {
        black_box(numbers);
        computed(self.clock)
    }

    fn null_added(&self, more: u64) {
        black_box(more);
    }

    fn structs_added(&self, items: &[Item<'_>], more: u64) -> Tally {
        black_box(more);
        tally(items)
    }
}

/// Returns the number of structs and the sum of their fields.
fn tally(items: &[Item<'_>]) -> Tally {
    let mut tally = Tally::default();
    for item in items {
        tally.add(item.id, item.name.as_bytes(), item.scores.into_iter());
    }
    tally
}

/// Returns the processor time of a thread or process in nanoseconds, by its clock.
pub(super) fn computed(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Number of sums that are computed in parallel, since the additions of one floating-point sum
/// cannot be reordered.
const LANES: usize = 16;

/// Returns the sum of the numbers.
pub(super) fn sum(numbers: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = numbers.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane += number;
        }
    }
    rest + lanes.iter().sum::<f64>()
}

/// Returns the [`sum`] of numbers that are given as bytes.
pub(super) fn sum_of_bytes(bytes: &[u8]) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = bytes.chunks_exact(LANES * 8);
    let rest: f64 = chunks.remainder().chunks_exact(8).map(number).sum();
    for chunk in chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk.chunks_exact(8)) {
            *lane += number(word);
        }
    }
    rest + lanes.iter().sum::<f64>()
}

fn number(word: &[u8]) -> f64 {
    // Each word has 8 bytes.
    word.try_into().map_or(0.0, f64::from_le_bytes)
}

/// Size of a packed struct in bytes: id, name and scores.
const PACKED: usize = 8 + 12 + 32;

/// Returns the [`Tally`] of packed structs.
pub(super) fn tally_of_bytes(bytes: &[u8]) -> Tally {
    let mut tally = Tally::default();
    for item in bytes.chunks_exact(PACKED) {
        let (id, rest) = item.split_at(8);
        let (name, scores) = rest.split_at(12);
        let score = |word: &[u8]| word.try_into().map_or(0.0, f32::from_le_bytes);
        let id = id.try_into().map_or(0, u64::from_le_bytes);
        tally.add(id, name, scores.chunks_exact(4).map(score));
    }
    tally
}

/// Arguments of a case.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) numbers: Vec<f64>,
    pub(super) items: Vec<Item<'static>>,
}

impl Arguments {
    pub(super) fn of(case: &Case) -> Self {
        let mut arguments = Self::default();
        match case.what {
            What::Null | What::Flood | What::Waits | What::Objects(_) | What::Stream => {}
            What::Sum(count) | What::Untouched(count) => {
                arguments.numbers = (0..count).map(|i| i as f64).collect();
            }
            What::Structs(count) => arguments.items = (0..count).map(item).collect(),
        }
        arguments
    }

    /// Returns the arguments as bytes, without type information.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in &self.numbers {
            bytes.extend(number.to_le_bytes());
        }
        for item in &self.items {
            bytes.extend(item.id.to_le_bytes());
            bytes.extend(item.name.as_bytes());
            bytes.extend(item.scores.iter().flat_map(|score| score.to_le_bytes()));
        }
        bytes
    }
}

fn item(i: usize) -> Item<'static> {
    const NAMES: [&str; 4] = [
        "a first name",
        "a second one",
        "one of three",
        "and the last",
    ];
    Item {
        id: i as u64,
        name: NAMES.get(i % NAMES.len()).copied().unwrap_or_default(),
        scores: [i as f32; 8],
    }
}

/// Result of a call, expected or actual.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given {
    Nothing,
    Sum(f64),
    Tally(Tally),
    /// Processor time that the server has used, in nanoseconds.
    Computed(u64),
}

/// Expected result of the calls of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected(Given);

impl Expected {
    pub(super) fn of(case: &Case, arguments: &Arguments) -> Self {
        Self(match case.what {
            What::Null | What::Flood | What::Waits | What::Objects(_) | What::Stream => {
                Given::Nothing
            }
            What::Sum(_) => Given::Sum(sum(&arguments.numbers)),
            What::Structs(_) => Given::Tally(tally(&arguments.items)),
            What::Untouched(_) => Given::Computed(0),
        })
    }

    /// Returns an error if the call returned another result.
    pub(super) fn check(&self, given: Given) -> Result<(), Failure> {
        let same = match (self.0, given) {
            (Given::Nothing, Given::Nothing) | (Given::Computed(_), Given::Computed(_)) => true,
            (Given::Sum(expected), Given::Sum(given)) => expected.to_bits() == given.to_bits(),
            (Given::Tally(expected), Given::Tally(given)) => expected == given,
            _ => false,
        };
        if same {
            return Ok(());
        }
        Err("a call returned a wrong result".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_give_what_objects_give() {
        for name in ["tcp/one-cpu/sum-1024", "tcp/one-cpu/structs-1000"] {
            let case = Case::named(name).unwrap();
            let arguments = Arguments::of(&case);
            let bytes = arguments.bytes();
            let given = match case.what {
                What::Structs(_) => Given::Tally(tally_of_bytes(&bytes)),
                _ => Given::Sum(sum_of_bytes(&bytes)),
            };
            let expected = Expected::of(&case, &arguments);
            expected.check(given).unwrap();
            assert!(expected.check(Given::Sum(1.0)).is_err());
        }
        assert_eq!(
            sum(&[1.5; 37]).to_bits(),
            sum_of_bytes(&1.5f64.to_le_bytes().repeat(37)).to_bits()
        );
    }
}
