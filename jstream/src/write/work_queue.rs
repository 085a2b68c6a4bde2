//! The work queue of a walk that restores a message in place: targets that were claimed and are
//! still native.

use std::mem;
use std::ptr;

use super::error::Full;
use crate::keep::clear_after;

/// Function that converts values to wire form. Calling it is sound only for a work item that was
/// pushed with it. `D` is the type of the draft.
pub(super) type WriteBackFn<D> = unsafe fn(&mut D, WorkItem<D>) -> Result<(), Full>;

/// Adjacent values of one type in a message, and the function that converts them to wire form.
#[derive(Debug)]
pub(super) struct WorkItem<D> {
    pub(super) back: WriteBackFn<D>,
    pub(super) start: *mut u8,
    pub(super) end: *mut u8,
}

impl<D> Clone for WorkItem<D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for WorkItem<D> {}

/// A FIFO queue of work items. The last work item is stored separately and remains extensible after
/// it has been popped, so that adjacent values are added to it, as in the queue of a pass.
#[derive(Debug)]
pub(super) struct WorkQueue<D> {
    closed: Vec<WorkItem<D>>,
    /// Number of work items in `closed` that have been popped.
    head: usize,
    /// The work item after all of `closed`; empty if its start equals its end.
    open: WorkItem<D>,
    /// Peak length of `closed`.
    peak_len: usize,
}

/// Number of popped work items that may accumulate at the front of the list before it is compacted.
const COMPACT: usize = 1024;
/// Capacity, in work items, that a list keeps between messages. Unneeded capacity beyond it is
/// released.
const KEEP: usize = 1 << 16;

/// Function of the empty work item.
unsafe fn nothing<D>(_: &mut D, _: WorkItem<D>) -> Result<(), Full> {
    Ok(())
}

impl<D> WorkItem<D> {
    /// An empty work item. No target is ever claimed at address 0.
    const NOTHING: Self = Self {
        back: nothing,
        start: ptr::null_mut(),
        end: ptr::null_mut(),
    };
}

impl<D> WorkQueue<D> {
    pub(super) const fn new() -> Self {
        Self {
            closed: Vec::new(),
            head: 0,
            open: WorkItem::NOTHING,
            peak_len: 0,
        }
    }

    /// Adds a work item at the end. Equal function pointers refer to the same code, so adjacent
    /// work items with equal functions can be merged whatever types they were pushed for.
    #[inline(always)]
    pub(super) fn push(&mut self, item: WorkItem<D>) {
        let open = &mut self.open;
        if open.end == item.start && ptr::fn_addr_eq(open.back, item.back) {
            open.end = item.end;
            return;
        }
        let closed = mem::replace(open, item);
        if closed.start != closed.end {
            self.close(closed);
        }
    }

    /// Kept out of line because `push` is inlined into the walk over every pointer.
    #[inline(never)]
    fn close(&mut self, item: WorkItem<D>) {
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.closed.len() {
            self.closed.drain(..self.head);
            self.head = 0;
        }
        self.closed.push(item);
        self.peak_len = self.peak_len.max(self.closed.len());
    }

    /// Pops the oldest work item.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<WorkItem<D>> {
        if let Some(item) = self.closed.get(self.head) {
            self.head = self.head.wrapping_add(1);
            return Some(*item);
        }
        self.closed.clear();
        self.head = 0;
        self.take_open()
    }

    #[inline(always)]
    fn take_open(&mut self) -> Option<WorkItem<D>> {
        let item = self.open;
        self.open.start = item.end;
        (item.start != item.end).then_some(item)
    }

    /// Pops the oldest work item if it is executed by the same code.
    #[inline(always)]
    pub(super) fn pop_same(&mut self, back: WriteBackFn<D>) -> Option<WorkItem<D>> {
        if let Some(next) = self.closed.get(self.head) {
            if !ptr::fn_addr_eq(next.back, back) {
                return None;
            }
            self.pop()
        } else if ptr::fn_addr_eq(self.open.back, back) {
            self.take_open()
        } else {
            None
        }
    }

    /// Empties both queues. Returns true if they held the same work items in the same order.
    pub(super) fn are_the_same(&mut self, other: &mut Self) -> bool {
        loop {
            match (self.pop(), other.pop()) {
                (None, None) => return true,
                (Some(a), Some(b))
                    if ptr::fn_addr_eq(a.back, b.back) && a.start == b.start && a.end == b.end => {}
                _ => return false,
            }
        }
    }

    /// Clears the queue. Keeps memory for the next message.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.open = WorkItem::NOTHING;
        self.head = 0;
        clear_after(&mut self.closed, KEEP, mem::take(&mut self.peak_len));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe fn other(draft: &mut u32, _: WorkItem<u32>) -> Result<(), Full> {
        *draft = 77;
        Ok(())
    }

    fn item(back: WriteBackFn<u32>, start: usize, end: usize) -> WorkItem<u32> {
        WorkItem {
            back,
            start: ptr::without_provenance_mut(start),
            end: ptr::without_provenance_mut(end),
        }
    }

    fn spans(turns: &mut WorkQueue<u32>) -> Vec<(usize, usize)> {
        std::iter::from_fn(|| turns.pop())
            .map(|item| (item.start.addr(), item.end.addr()))
            .collect()
    }

    #[test]
    fn neighbours_merge_and_order_is_kept() {
        let mut turns = WorkQueue::new();
        turns.push(item(nothing, 8, 16));
        turns.push(item(nothing, 16, 24));
        turns.push(item(other, 24, 32));
        turns.push(item(nothing, 32, 40));
        turns.push(item(nothing, 48, 56));
        let expected = [(8, 24), (24, 32), (32, 40), (48, 56)];
        assert_eq!(spans(&mut turns), expected);
        // Values adjacent to a work item that was popped form a work item of their own.
        turns.push(item(nothing, 56, 64));
        assert_eq!(spans(&mut turns), [(56, 64)]);
    }

    #[test]
    fn only_the_same_code_continues_a_turn() {
        let mut turns = WorkQueue::new();
        turns.push(item(nothing, 8, 16));
        assert!(turns.pop_same(other).is_none());
        assert!(turns.pop_same(nothing).is_some());
        assert!(turns.pop_same(nothing).is_none());
        turns.push(item(other, 16, 24));
        turns.push(item(nothing, 24, 32));
        assert!(turns.pop_same(nothing).is_none());
        assert!(turns.pop_same(other).is_some());
        assert_eq!(spans(&mut turns), [(24, 32)]);
    }

    #[test]
    fn taken_turns_do_not_pile_up() {
        let mut turns = WorkQueue::new();
        for i in 1..100_000usize {
            turns.push(item(if i % 2 == 0 { other } else { nothing }, i, i + 1));
            if i > 10 {
                assert_eq!(turns.pop().unwrap().start.addr(), i - 10);
            }
        }
        assert!(turns.closed.capacity() < 8 * COMPACT);
    }

    #[test]
    fn queues_are_compared_turn_by_turn() {
        let same = |pushed: [WorkItem<u32>; 2]| {
            let (mut one, mut two) = (WorkQueue::new(), WorkQueue::new());
            one.push(item(nothing, 8, 16));
            one.push(item(other, 16, 24));
            pushed.into_iter().for_each(|item| two.push(item));
            one.are_the_same(&mut two)
        };
        assert!(same([item(nothing, 8, 16), item(other, 16, 24)]));
        assert!(!same([item(nothing, 8, 16), item(other, 16, 32)]));
        assert!(!same([item(nothing, 8, 16), item(nothing, 16, 24)]));
        assert!(!same([item(other, 16, 24), item(nothing, 8, 16)]));
    }
}
