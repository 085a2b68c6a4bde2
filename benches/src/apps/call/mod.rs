//! Remote calls with one argument of the kinds that the thesis on jstreams serializes: arrays of
//! bytes, doubles and complex numbers, and a linked list of integers.
//!
//! The thesis, section 4.1.1, writes and reads arrays of about 100 and 500 bytes with three copying
//! serializers of Java (figures 4.2 and 4.3). Reading 500 bytes takes some 20 microseconds, 25
//! times as long as copying them. An array of 62 doubles takes nearly 50 % longer than one of 500
//! bytes, and an element of a list some 9 microseconds to read.
//!
//! The metrics `write` and `read` are the times of these figures for each driver, and `each` is the
//! time of the whole call. The times of `call-complex-100` and `call-list-100` are for 100
//! elements; the figures show those of one.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod over_rmi;

use std::hint::black_box;

use jstream::Transportable;
use serde::{Deserialize, Serialize};

use super::app::{Answer, App, COPYING, IN_PLACE};
use super::clock::Clock;
use super::costs::{self, Cost};
use super::exchange::Complex;
use super::node::Node;
use super::setup::Setup;
use super::size::Size;
use crate::Failure;

/// The application with an argument of a kind and a length.
pub(super) struct CallWith {
    pub(super) name: &'static str,
    pub(super) kind: ArgumentKind,
    pub(super) elements: usize,
}

/// A kind of argument.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArgumentKind {
    Bytes,
    Doubles,
    Complexes,
    List,
}

/// An argument, whose numbers are integers, so that their sum is exact.
#[derive(Debug, Serialize, Deserialize)]
enum Argument {
    Bytes(Vec<u8>),
    Doubles(Vec<f64>),
    Complexes(Vec<Complex>),
    List(Link),
}

/// An element of a linked list.
#[derive(Debug, Transportable, Serialize, Deserialize)]
struct Link {
    number: i32,
    next: Option<Box<Link>>,
}

impl Argument {
    /// Creates an argument of at least one element.
    fn new(kind: ArgumentKind, elements: usize) -> Self {
        let numbers = 0..elements;
        match kind {
            ArgumentKind::Bytes => Self::Bytes(numbers.map(|number| number as u8).collect()),
            ArgumentKind::Doubles => Self::Doubles(numbers.map(|number| number as f64).collect()),
            ArgumentKind::Complexes => {
                let number = |number: usize| Complex {
                    re: number as f64,
                    im: -1.0,
                };
                Self::Complexes(numbers.map(number).collect())
            }
            ArgumentKind::List => {
                let link = |number: usize, next| Link {
                    number: number as i32,
                    next,
                };
                let last = link(elements - 1, None);
                let before = (0..elements - 1).rev();
                Self::List(before.fold(last, |next, number| link(number, Some(Box::new(next)))))
            }
        }
    }

    /// Returns the sum of all numbers.
    fn sum(&self) -> f64 {
        match self {
            Self::Bytes(bytes) => sum_of_bytes(bytes),
            Self::Doubles(doubles) => doubles.iter().sum(),
            Self::Complexes(complexes) => sum_of_complexes(complexes),
            Self::List(list) => {
                let links = std::iter::successors(Some(list), |link| link.next.as_deref());
                links.map(|link| f64::from(link.number)).sum()
            }
        }
    }

    /// Returns the number of bytes of its elements.
    fn bytes(&self, elements: usize) -> usize {
        match self {
            Self::Bytes(bytes) => size_of_val(&bytes[..]),
            Self::Doubles(doubles) => size_of_val(&doubles[..]),
            Self::Complexes(complexes) => size_of_val(&complexes[..]),
            Self::List(_) => elements * size_of::<Link>(),
        }
    }
}

fn sum_of_bytes(bytes: &[u8]) -> f64 {
    bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>() as f64
}

fn sum_of_complexes(complexes: &[Complex]) -> f64 {
    complexes.iter().map(|number| number.re + number.im).sum()
}

fn sum_of_links(list: &LinkRef<'_>) -> f64 {
    let links = std::iter::successors(Some(list), |link| link.next);
    links.map(|link| f64::from(link.number)).sum()
}

impl CallWith {
    fn argument(&self) -> Argument {
        Argument::new(self.kind, self.elements)
    }
}

impl App for CallWith {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Remote calls with one argument, whose numbers are added up"
    }

    fn setups(&self) -> &'static [Setup] {
        &Setup::PAIRS
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING]
    }

    fn operations(&self, size: Size) -> usize {
        size.pick(20, 10_000)
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let argument = self.argument();
        let sum = clock.measure(|| {
            let sums = (0..self.operations(size)).map(|_| black_box(&argument).sum());
            Ok(sums.sum())
        })?;
        Ok(vec![sum])
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let argument = self.argument();
        let calls = self.operations(node.size);
        if node.index() == 0 {
            let bytes = argument.bytes(self.elements);
            (0..calls).for_each(|_| node.called(bytes));
        }
        over_rmi::run(node, &argument, calls, node.subject == COPYING)
    }

    fn serialization(&self, subject: &str, _: Size, _: usize) -> Result<Option<Cost>, Failure> {
        let argument = self.argument();
        let cost = match &argument {
            argument if subject == COPYING => costs::copied(argument),
            Argument::Bytes(bytes) => costs::in_place(bytes),
            Argument::Doubles(doubles) => costs::in_place(doubles),
            Argument::Complexes(complexes) => costs::in_place(complexes),
            Argument::List(list) => costs::in_place(list),
        };
        cost.map(Some)
    }

    fn calls_in_turn(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_their_elements() {
        for (kind, bytes, sum) in [
            (ArgumentKind::Bytes, 5, 10.0),
            (ArgumentKind::Doubles, 40, 10.0),
            (ArgumentKind::Complexes, 80, 5.0),
            (ArgumentKind::List, 80, 10.0),
        ] {
            let argument = Argument::new(kind, 5);
            assert_eq!(argument.bytes(5), bytes, "{kind:?}");
            assert_eq!(argument.sum(), sum, "{kind:?}");
        }
    }
}
