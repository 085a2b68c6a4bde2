//! A linked list that goes to another node and back as an object.
//!
//! The paper on Motor, section 9.1.2, sends lists (figure 11) whose elements have arrays with
//! 4,096 integers together, as 1 to 4,096 elements. Figure 12: serialization of Motor takes 65 %
//! less time than that of .NET on average over all lengths; that of Java ends with a stack overflow
//! for more than 1,024 elements. The copying version has a stack that is large enough.
//!
//! The receiver adds up all integers, which is all that the sequential version does. The ping-pong
//! with an indexed datatype of the paper on MPJ Express, section 6.2, are the cases `indexed` of
//! the suite `group`, which has both MPI libraries to compare with.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

use std::thread;

use jstream::Transportable;
use jstream_transport::rank::Rank;
use serde::{Deserialize, Serialize};

use super::app::{Answer, App, COPYING, IN_PLACE};
use super::clock::Clock;
use super::costs::{self, Cost};
use super::node::Node;
use super::setup::Setup;
use super::size::Size;
use crate::Failure;

/// The application with a list of this many elements.
pub(super) struct ListPingPong {
    pub(super) name: &'static str,
    pub(super) elements: usize,
}

/// Integers of all elements together.
const INTEGERS: usize = 4096;

/// Size in bytes of the stack on which lists are copied and dropped, by recursion.
const STACK: usize = 64 << 20;

/// An element of the list.
#[derive(Debug, Transportable, Serialize, Deserialize)]
struct Element {
    integers: Vec<i32>,
    next: Option<Box<Element>>,
}

impl Element {
    /// Creates a list of at least one element, whose integers begin with `start`.
    fn list(elements: usize, start: i32) -> Self {
        let each = INTEGERS / elements;
        let element = |index: usize, next| {
            let first = start + (index * each) as i32;
            let integers = (first..first + each as i32).collect();
            Self { integers, next }
        };
        let mut list = element(elements - 1, None);
        for index in (0..elements - 1).rev() {
            list = element(index, Some(Box::new(list)));
        }
        list
    }

    fn sum(&self) -> i64 {
        let (mut sum, mut at) = (0, Some(self));
        while let Some(element) = at {
            sum += add(&element.integers);
            at = element.next.as_deref();
        }
        sum
    }
}

impl ElementRef<'_> {
    fn sum(&self) -> i64 {
        let (mut sum, mut at) = (0, Some(self));
        while let Some(element) = at {
            sum += add(element.integers);
            at = element.next;
        }
        sum
    }
}

fn add(integers: &[i32]) -> i64 {
    integers.iter().map(|integer| i64::from(*integer)).sum()
}

fn rounds(size: Size) -> usize {
    size.pick(4, 400)
}

/// Returns the first integer of the list that a node sends.
fn start_of(node: usize) -> i32 {
    1 + node as i32
}

impl App for ListPingPong {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Ping-pong with a linked list of arrays, as an object"
    }

    fn setups(&self) -> &'static [Setup] {
        &Setup::PAIRS
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING]
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let lists = [0, 1].map(|node| Element::list(self.elements, start_of(node)));
        clock.measure(|| {
            let sums = lists.iter().rev().map(|list| {
                let sums = (0..rounds(size)).map(|_| std::hint::black_box(list).sum());
                sums.sum::<i64>() as f64
            });
            Ok(sums.collect())
        })
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let list = Element::list(self.elements, start_of(node.index()));
        let rounds = rounds(node.size);
        let copying = node.subject == COPYING;
        let sum = node.clock.measure(|| {
            let rank: &Rank = node.world;
            on_large_stack(|| bounce(rank, &list, rounds, copying))
        })?;
        on_large_stack(|| {
            drop(list);
            Ok(())
        })?;
        for _ in 0..rounds {
            node.called(INTEGERS * size_of::<i32>());
        }
        Ok(vec![sum as f64])
    }

    fn serialization(&self, subject: &str, _: Size, _: usize) -> Result<Option<Cost>, Failure> {
        let list = Element::list(self.elements, 0);
        match subject {
            IN_PLACE => costs::in_place(&list).map(Some),
            _ => costs::copied(&list).map(Some),
        }
    }

    fn calls_in_turn(&self) -> bool {
        true
    }
}

/// Sends the list and receives that of the other node. Returns the sum of all integers received.
fn bounce(rank: &Rank, list: &Element, rounds: usize, copying: bool) -> Result<i64, Failure> {
    let other = 1 - rank.rank();
    let send = || -> Result<(), Failure> {
        if copying {
            rank.send(other, 0, &postcard::to_allocvec(list)?)?;
        } else {
            rank.objects().send(other, 0, list)?;
        }
        Ok(())
    };
    let mut sum = 0;
    for _ in 0..rounds {
        if rank.rank() == 0 {
            send()?;
        }
        sum += if copying {
            let (message, _) = rank.recv_vec::<u8>(other, 0)?;
            let list: Element = postcard::from_bytes(&message)?;
            list.sum()
        } else {
            let (list, _) = rank.objects().recv::<Element>(other, 0)?;
            list.get().sum()
        };
        if rank.rank() == 1 {
            send()?;
        }
    }
    Ok(sum)
}

/// Runs `work` on a thread, with a stack for recursion over all elements.
fn on_large_stack<R: Send>(work: impl FnOnce() -> Result<R, Failure> + Send) -> Result<R, Failure> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn_scoped(scope, work)?;
        let ended = thread.join();
        ended.unwrap_or_else(|_| Err("the thread of a node panicked".into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_lengths_have_the_same_integers() {
        for elements in [1, 64, 1024] {
            let list = Element::list(elements, 3);
            assert_eq!(list.sum(), (3..3 + INTEGERS as i64).sum::<i64>());
        }
    }
}
