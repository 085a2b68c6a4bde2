//! The work queue of the pass: targets are read in the order in which they were claimed.
//!
//! The pass therefore scans the objects segment from start to end (Cheney's order): it needs no
//! stack and touches memory strictly forward. Adjacent values of one type form one run, so a
//! homogeneous tree or list never has more than one run in the queue.
//!
//! Decisions 001 and 103 have the reasons.

use std::mem;

use super::fault::Fault;
use super::limits::{COMPACT, KEEP};
use super::pass::Pass;
use crate::keep::clear_after;

/// Function that reads the values of a run, from its start to its end. Calling it is sound only for
/// a run that was pushed with it.
///
/// The run is passed as words, since a run that was pushed just now was stored word by word: a wide
/// load that spans several recent stores would stall until all of them have reached the cache.
pub(super) type ReadRun = unsafe fn(&mut Pass<'_>, usize, usize) -> Result<(), Fault>;

/// Adjacent values of one type in the objects segment, claimed and not yet read.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingRun {
    pub(super) read: ReadRun,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Runs in the order in which they were claimed.
///
/// The last run is stored separately and remains extensible after it has been popped. In a linked
/// list, where each node claims the next, the whole list is thus a single run.
#[derive(Debug)]
pub(crate) struct Queue {
    closed: Vec<PendingRun>,
    /// Number of runs in `closed` that have been popped.
    head: usize,
    /// The run after all of `closed`; empty if its start equals its end.
    open: PendingRun,
    /// Maximum number of runs that may wait in `closed`.
    most: usize,
    /// Peak length of `closed`.
    peak_len: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            closed: Vec::new(),
            head: 0,
            open: EMPTY_RUN,
            most: 0,
            peak_len: 0,
        }
    }
}

/// An empty run. No target is ever claimed at offset 0.
const EMPTY_RUN: PendingRun = {
    unsafe fn nothing(_: &mut Pass<'_>, _: usize, _: usize) -> Result<(), Fault> {
        Ok(())
    }
    PendingRun {
        read: nothing,
        start: 0,
        end: 0,
    }
};

impl Queue {
    /// Adds a run at the end. Returns false if the queue is full.
    ///
    /// Equal function pointers refer to the same code, so adjacent runs with equal functions can be
    /// merged whatever types they were pushed for.
    #[inline(always)]
    #[must_use]
    pub(super) fn push(&mut self, run: PendingRun) -> bool {
        let open = &mut self.open;
        if open.end == run.start && std::ptr::fn_addr_eq(open.read, run.read) {
            open.end = run.end;
            return true;
        }
        if open.start != open.end && !self.close() {
            return false;
        }
        self.open = run;
        true
    }

    /// Closes the open run. Kept out of line because `push` is inlined into the read of every
    /// pointer.
    #[inline(never)]
    fn close(&mut self) -> bool {
        if self.closed.len().wrapping_sub(self.head) >= self.most {
            return false;
        }
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.closed.len() {
            self.closed.drain(..self.head);
            self.head = 0;
        }
        self.closed.push(self.open);
        self.peak_len = self.peak_len.max(self.closed.len());
        true
    }

    /// Pops the oldest run.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<PendingRun> {
        if self.closed.is_empty() {
            return self.take_open();
        }
        if let Some(run) = self.closed.get(self.head) {
            self.head = self.head.wrapping_add(1);
            return Some(*run);
        }
        self.closed.clear();
        self.head = 0;
        self.take_open()
    }

    #[inline(always)]
    fn take_open(&mut self) -> Option<PendingRun> {
        let run = self.open;
        self.open.start = run.end;
        (run.start < run.end).then_some(run)
    }

    /// Pops the oldest run if it is read by the same code. `end` is the end of the run before it.
    #[inline(always)]
    pub(super) fn pop_same(&mut self, read: ReadRun, end: usize) -> Option<PendingRun> {
        // Closed runs are not empty, lie at or beyond `end`, and end at or before the start of the
        // open run. So if the open run starts at `end`, no closed run is left.
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

    /// Returns true if the queue has held more than one run since it was cleared. Otherwise it is
    /// as good as cleared once all runs were popped: the empty run that is left can only be
    /// continued by a run that is adjacent to it and read by the same code.
    #[inline(always)]
    pub(super) fn has_grown(&self) -> bool {
        self.peak_len > 0
    }

    /// Clears the queue and sets the maximum number of waiting runs to `most`.
    #[inline(always)]
    pub(super) fn reset(&mut self, most: usize) {
        self.most = most;
        clear_after(&mut self.closed, KEEP, mem::take(&mut self.peak_len));
        self.head = 0;
        self.open = EMPTY_RUN;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe fn one(_: &mut Pass<'_>, _: usize, _: usize) -> Result<(), Fault> {
        Ok(())
    }

    unsafe fn other(pass: &mut Pass<'_>, _: usize, _: usize) -> Result<(), Fault> {
        pass.zero_sized = 77;
        Ok(())
    }

    fn run(read: ReadRun, start: usize, end: usize) -> PendingRun {
        PendingRun { read, start, end }
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
    fn a_queue_that_has_not_grown_needs_no_clearing() {
        let mut queue = Queue::default();
        queue.reset(usize::MAX);
        let spans = |queue: &mut Queue| -> Vec<_> {
            std::iter::from_fn(|| queue.pop())
                .map(|run| (run.start, run.end))
                .collect()
        };
        assert!(queue.push(run(one, 8, 16)));
        assert_eq!(spans(&mut queue), [(8, 16)]);
        assert!(!queue.has_grown());
        // The first run of the next message: adjacent to the one before, or elsewhere.
        assert!(queue.push(run(one, 16, 24)));
        assert_eq!(spans(&mut queue), [(16, 24)]);
        assert!(queue.push(run(other, 24, 40)));
        assert!(queue.pop_same(one, 24).is_none());
        assert_eq!(spans(&mut queue), [(24, 40)]);
        assert!(queue.push(run(one, 8, 16)));
        assert_eq!(spans(&mut queue), [(8, 16)]);
        assert!(!queue.has_grown());
        assert!(queue.push(run(one, 16, 24)) && queue.push(run(other, 24, 32)));
        assert!(queue.has_grown());
    }

    #[test]
    fn taken_runs_do_not_pile_up() {
        let mut queue = Queue::default();
        queue.reset(usize::MAX);
        // Runs of two types alternate and the queue is never empty, so no runs are merged.
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
        // The open run is popped if it starts at the end of the last one, but a run that was closed
        // before it comes first.
        assert!(queue.push(run(one, 8, 16)));
        assert_eq!(queue.pop_same(one, 8).map(|run| run.end), Some(16));
        assert!(queue.push(run(other, 16, 24)));
        assert!(queue.push(run(one, 24, 32)));
        assert!(queue.pop_same(one, 16).is_none());
        assert_eq!(queue.pop_same(other, 16).map(|run| run.end), Some(24));
        assert_eq!(queue.pop_same(one, 24).map(|run| run.end), Some(32));
    }
}
