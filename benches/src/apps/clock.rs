//! The measured part of a run.

use std::cell::Cell;
use std::time::Instant;

use crate::Failure;

/// Clock of one node. All nodes enter the measured part together, and the part ends when the last
/// node ends.
pub(super) struct Clock<'a> {
    barrier: &'a dyn Fn() -> Result<(), Failure>,
    nanos: Cell<Option<f64>>,
    work: Cell<u64>,
}

impl Clock<'static> {
    /// Creates the clock of a version that has no other nodes.
    pub(super) fn alone() -> Self {
        Self::new(&|| Ok(()))
    }
}

impl<'a> Clock<'a> {
    /// Creates the clock of a node. `barrier` returns when all nodes have called it.
    pub(super) fn new(barrier: &'a dyn Fn() -> Result<(), Failure>) -> Self {
        Self {
            barrier,
            nanos: Cell::new(None),
            work: Cell::new(0),
        }
    }

    /// Runs the measured part. Preparations and the collection of results are outside of it.
    pub(super) fn measure<R>(
        &self,
        work: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        (self.barrier)()?;
        let start = Instant::now();
        let result = work()?;
        (self.barrier)()?;
        self.nanos.set(Some(start.elapsed().as_secs_f64() * 1e9));
        Ok(result)
    }

    /// Returns the length of the measured part in nanoseconds.
    pub(super) fn nanos(&self) -> Result<f64, Failure> {
        self.nanos
            .get()
            .ok_or_else(|| "the application measured nothing".into())
    }

    /// Records that this node did `units` of work in the measured part, for applications whose
    /// amount of work depends on the order of events.
    pub(super) fn worked(&self, units: u64) {
        self.work.set(self.work.get() + units);
    }

    /// Returns the units of work of this node.
    pub(super) fn work(&self) -> u64 {
        self.work.get()
    }
}
