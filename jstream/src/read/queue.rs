//! The order of the pass: first claimed, first read.
//!
//! Reading in the order of claims means scanning the objects segment from its start to its end
//! (Cheney's order): no stack, no depth, and memory is touched strictly forward. Neighbours of one
//! type are one run, so a homogeneous tree or list never holds more than one.

use std::mem;

use super::KEEP;
use super::pass::{Fault, Pass};
use crate::keep::clear_after;

/// Reads the values of a run. Calling it is sound only for a run that was pushed with it.
pub(super) type ReadRun = unsafe fn(&mut Pass<'_>, Run) -> Result<(), Fault>;

/// Values of one type, side by side in the objects segment, claimed and not yet read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) read: ReadRun,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Runs in the order in which they were claimed.
///
/// The last one is kept apart, and stays when it has been taken: neighbours are added to it, which
/// makes a list, whose every node claims the next, one run that is never done until it ends.
#[derive(Debug)]
pub(crate) struct Queue {
    closed: Vec<Run>,
    /// How many of `closed` have been taken.
    head: usize,
    /// Behind all of `closed`; empty when its start has come to its end.
    open: Run,
    /// How many runs may wait in `closed`.
    most: usize,
    /// How many it had at most.
    had: usize,
}

/// Taken runs are kept at the front of the list until this many have gathered.
pub(super) const COMPACT: usize = 1024;

impl Default for Queue {
    fn default() -> Self {
        Self {
            closed: Vec::new(),
            head: 0,
            open: NOTHING,
            most: 0,
            had: 0,
        }
    }
}

/// No run: no target is ever claimed at 0.
const NOTHING: Run = {
    unsafe fn nothing(_: &mut Pass<'_>, _: Run) -> Result<(), Fault> {
        Ok(())
    }
    Run {
        read: nothing,
        start: 0,
        end: 0,
    }
};

impl Queue {
    /// Adds a run behind all others; false when there are too many.
    ///
    /// Equal function pointers are the same code, so a neighbour with an equal one is read the
    /// same whatever type it was pushed for.
    #[inline(always)]
    #[must_use]
    pub(super) fn push(&mut self, run: Run) -> bool {
        let open = &mut self.open;
        if open.end == run.start && std::ptr::fn_addr_eq(open.read, run.read) {
            open.end = run.end;
            return true;
        }
        let closed = mem::replace(open, run);
        closed.start == closed.end || self.close(closed)
    }

    /// Kept out of line: what pushes is part of every pointer's read.
    #[inline(never)]
    fn close(&mut self, run: Run) -> bool {
        if self.closed.len().wrapping_sub(self.head) >= self.most {
            return false;
        }
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.closed.len() {
            self.closed.drain(..self.head);
            self.head = 0;
        }
        self.closed.push(run);
        self.had = self.had.max(self.closed.len());
        true
    }

    /// Takes the run that was claimed first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Run> {
        if let Some(run) = self.closed.get(self.head) {
            self.head = self.head.wrapping_add(1);
            return Some(*run);
        }
        self.closed.clear();
        self.head = 0;
        self.take_open()
    }

    #[inline(always)]
    fn take_open(&mut self) -> Option<Run> {
        let run = self.open;
        self.open.start = run.end;
        (run.start < run.end).then_some(run)
    }

    /// Takes the run that was claimed first if it is read by the same code. `end` is where the run
    /// before it ended.
    #[inline(always)]
    pub(super) fn pop_same(&mut self, read: ReadRun, end: usize) -> Option<Run> {
        // A closed run is not empty, lies at `end` or beyond, and ends where the open one starts or
        // before. So there is none if the open one starts at `end`.
        if self.open.start != end && self.head < self.closed.len() {
            let next = self.closed.get(self.head)?;
            if !std::ptr::fn_addr_eq(next.read, read) {
                return None;
            }
            self.pop()
        } else if std::ptr::fn_addr_eq(self.open.read, read) {
            self.take_open()
        } else {
            None
        }
    }

    /// Forgets everything, and lets `most` runs wait.
    #[inline(always)]
    pub(super) fn reset(&mut self, most: usize) {
        self.most = most;
        clear_after(&mut self.closed, KEEP, mem::take(&mut self.had));
        self.head = 0;
        self.open = NOTHING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe fn one(_: &mut Pass<'_>, _: Run) -> Result<(), Fault> {
        Ok(())
    }

    unsafe fn other(pass: &mut Pass<'_>, _: Run) -> Result<(), Fault> {
        pass.zero_sized = 77;
        Ok(())
    }

    fn run(read: ReadRun, start: usize, end: usize) -> Run {
        Run { read, start, end }
    }

    #[test]
    fn neighbours_merge_and_order_is_kept() {
        let mut queue = Queue::default();
        queue.reset(usize::MAX);
        assert!(queue.push(run(one, 0, 8)));
        assert!(queue.push(run(one, 8, 16)));
        assert!(queue.push(run(other, 16, 24)));
        assert!(queue.push(run(one, 24, 32)));
        assert!(queue.push(run(one, 40, 48)));
        let mut spans = Vec::new();
        while let Some(run) = queue.pop() {
            spans.push((run.start, run.end));
        }
        assert_eq!(spans, [(0, 16), (16, 24), (24, 32), (40, 48)]);
    }

    #[test]
    fn taken_runs_do_not_pile_up() {
        let mut queue = Queue::default();
        queue.reset(usize::MAX);
        // Two kinds in turn, and never empty: nothing merges.
        assert!(queue.push(run(one, 0, 1)));
        for i in 0..100_000usize {
            let read: ReadRun = if i % 2 == 0 { other } else { one };
            assert!(queue.push(run(read, 2 * i + 2, 2 * i + 3)));
            assert!(queue.push(run(one, 2 * i + 10, 2 * i + 11)));
            assert!(queue.pop().is_some());
            assert!(queue.pop().is_some());
        }
        assert!(queue.closed.capacity() < 8 * COMPACT);
    }

    #[test]
    fn no_more_than_so_many_wait() {
        let mut queue = Queue::default();
        queue.reset(2);
        assert!(queue.push(run(one, 0, 8)));
        assert!(queue.push(run(other, 8, 16)));
        assert!(queue.push(run(one, 16, 24)));
        assert!(!queue.push(run(other, 24, 32)));
    }

    #[test]
    fn only_the_same_code_continues_a_run() {
        let mut queue = Queue::default();
        queue.reset(usize::MAX);
        assert!(queue.push(run(one, 0, 8)));
        assert!(queue.pop_same(other, 0).is_none());
        assert!(queue.pop_same(one, 0).is_some());
        assert!(queue.pop_same(one, 8).is_none());
        // A run that starts where the last ended is taken; one that was closed before it is first.
        assert!(queue.push(run(one, 8, 16)));
        assert_eq!(queue.pop_same(one, 8).map(|run| run.end), Some(16));
        assert!(queue.push(run(other, 16, 24)));
        assert!(queue.push(run(one, 24, 32)));
        assert!(queue.pop_same(one, 16).is_none());
        assert_eq!(queue.pop_same(other, 16).map(|run| run.end), Some(24));
        assert_eq!(queue.pop_same(one, 24).map(|run| run.end), Some(32));
    }
}
