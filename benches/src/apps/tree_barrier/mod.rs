//! Barriers in which a node calls its parent and its children only.
//!
//! The thesis on jstreams, section 4.3.1, ends each phase of its structured applications with such
//! a barrier. It gives no figures of the barrier itself. The metric `each` is the time of one
//! barrier. The sequential version is a barrier of one node, so the speed-up has no meaning.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod tree;

use std::sync::Barrier;
use std::thread;

pub(super) use self::tree::{Signals, TreeBarrier};
use super::app::{Answer, App, COPYING, IN_PLACE};
use super::clock::Clock;
use super::costs::{self, Cost};
use super::node::Node;
use super::objects::Objects;
use super::setup::Setup;
use super::size::Size;
use crate::Failure;

/// The application.
pub(super) struct Barriers;

/// Numbers of the result, which the nodes return in equal parts.
const NUMBERS: usize = 8;

fn barriers(size: Size) -> usize {
    size.pick(50, 20_000)
}

/// Returns the part of the result of one of this many nodes, each of which has passed `passed`
/// barriers.
fn answer(passed: usize, nodes: usize) -> Answer {
    vec![passed as f64; NUMBERS / nodes]
}

impl App for Barriers {
    fn name(&self) -> &'static str {
        "tree-barrier"
    }

    fn about(&self) -> &'static str {
        "Barriers in a tree of nodes"
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING]
    }

    fn setups(&self) -> &'static [Setup] {
        &Setup::WITH_EIGHT
    }

    fn operations(&self, size: Size) -> usize {
        barriers(size)
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        self.shared_memory(size, 1, clock)
    }

    fn shares_memory(&self) -> bool {
        true
    }

    fn shared_memory(
        &self,
        size: Size,
        threads: u32,
        clock: &Clock<'_>,
    ) -> Result<Answer, Failure> {
        let barrier = Barrier::new(threads as usize);
        clock.measure(|| {
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for _ in 0..barriers(size) {
                            barrier.wait();
                        }
                    });
                }
            });
            Ok(())
        })?;
        Ok(answer(barriers(size), 1))
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let mut signals = None;
        let objects = Objects::start(node, |server| {
            signals = Some(Signals::bind(server)?);
            Ok(())
        })?;
        let signals = signals.ok_or("the server was not started")?;
        let barrier = TreeBarrier::new(node, &objects, signals, node.subject == COPYING)?;
        let passed = node.clock.measure(|| {
            let mut passed = 0;
            for _ in 0..barriers(node.size) {
                passed += usize::from(barrier.wait()? == node.count() as u64);
            }
            Ok(passed)
        })?;
        Ok(answer(passed, node.count()))
    }

    fn serialization(&self, subject: &str, _: Size, _: usize) -> Result<Option<Cost>, Failure> {
        let signal = (0u64, 0u64, 0u64);
        match subject {
            COPYING => costs::copied(&signal).map(Some),
            _ => costs::in_place(&signal).map(Some),
        }
    }
}
