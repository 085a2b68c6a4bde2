//! What was claimed by a walk back and is not turned back yet, in the order of the claims.

use std::mem;
use std::ptr;

use super::draft::{Draft, Full};
use crate::keep::clear_after;

/// Turns values back. Calling it is sound only for a turn that was pushed with it.
pub(super) type TurnBack<'b> = unsafe fn(&mut Draft<'b>, Turn<'b>) -> Result<(), Full>;

/// Values of one type, side by side in a message, and what turns them back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn<'b> {
    pub(super) back: TurnBack<'b>,
    pub(super) start: *mut u8,
    pub(super) end: *mut u8,
}

/// Turns, first in, first out. The last one is kept apart, and stays when it has been taken, so that
/// neighbours are added to it, as in the queue of a pass.
#[derive(Debug)]
pub(super) struct Turns<'b> {
    closed: Vec<Turn<'b>>,
    /// How many of `closed` have been taken.
    head: usize,
    /// Behind all of `closed`; empty when its start has come to its end.
    open: Turn<'b>,
    /// How many `closed` had at most.
    had: usize,
}

/// Taken turns are kept at the front of the list until this many have gathered.
const COMPACT: usize = 1024;
/// A list keeps room for this many turns between messages; more is given back.
const KEEP: usize = 1 << 16;

/// What is done where there is nothing to turn back.
unsafe fn nothing<'b>(_: &mut Draft<'b>, _: Turn<'b>) -> Result<(), Full> {
    Ok(())
}

impl Turn<'_> {
    /// No turn: nothing is ever claimed at 0.
    const NOTHING: Self = Self {
        back: nothing,
        start: ptr::null_mut(),
        end: ptr::null_mut(),
    };
}

impl<'b> Turns<'b> {
    pub(super) const fn new() -> Self {
        Self {
            closed: Vec::new(),
            head: 0,
            open: Turn::NOTHING,
            had: 0,
        }
    }

    /// Adds a turn behind all others. A neighbour with an equal function is turned back the same
    /// whatever type it was pushed for, as equal function pointers are the same code.
    #[inline(always)]
    pub(super) fn push(&mut self, turn: Turn<'b>) {
        let open = &mut self.open;
        if open.end == turn.start && ptr::fn_addr_eq(open.back, turn.back) {
            open.end = turn.end;
            return;
        }
        let closed = mem::replace(open, turn);
        if closed.start != closed.end {
            self.close(closed);
        }
    }

    /// Kept out of line: what pushes is part of the walk over every pointer.
    #[inline(never)]
    fn close(&mut self, turn: Turn<'b>) {
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.closed.len() {
            self.closed.drain(..self.head);
            self.head = 0;
        }
        self.closed.push(turn);
        self.had = self.had.max(self.closed.len());
    }

    /// Takes the turn that was pushed first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Turn<'b>> {
        if let Some(turn) = self.closed.get(self.head) {
            self.head = self.head.wrapping_add(1);
            return Some(*turn);
        }
        self.closed.clear();
        self.head = 0;
        self.take_open()
    }

    #[inline(always)]
    fn take_open(&mut self) -> Option<Turn<'b>> {
        let turn = self.open;
        self.open.start = turn.end;
        (turn.start != turn.end).then_some(turn)
    }

    /// Takes the turn that was pushed first if it has the same code.
    #[inline(always)]
    pub(super) fn pop_same(&mut self, back: TurnBack<'b>) -> Option<Turn<'b>> {
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

    /// Takes all turns off both queues; says whether they were the same, in the same order.
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

    /// Forgets everything; keeps memory for the next message.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.open = Turn::NOTHING;
        self.head = 0;
        clear_after(&mut self.closed, KEEP, mem::take(&mut self.had));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe fn other<'b>(draft: &mut Draft<'b>, _: Turn<'b>) -> Result<(), Full> {
        draft.written = 77;
        Ok(())
    }

    fn turn(back: TurnBack<'static>, start: usize, end: usize) -> Turn<'static> {
        Turn {
            back,
            start: ptr::without_provenance_mut(start),
            end: ptr::without_provenance_mut(end),
        }
    }

    fn spans(turns: &mut Turns<'static>) -> Vec<(usize, usize)> {
        std::iter::from_fn(|| turns.pop())
            .map(|turn| (turn.start.addr(), turn.end.addr()))
            .collect()
    }

    #[test]
    fn neighbours_merge_and_order_is_kept() {
        let mut turns = Turns::new();
        turns.push(turn(nothing, 8, 16));
        turns.push(turn(nothing, 16, 24));
        turns.push(turn(other, 24, 32));
        turns.push(turn(nothing, 32, 40));
        turns.push(turn(nothing, 48, 56));
        let expected = [(8, 24), (24, 32), (32, 40), (48, 56)];
        assert_eq!(spans(&mut turns), expected);
        // What continues a turn that was taken is a turn of its own.
        turns.push(turn(nothing, 56, 64));
        assert_eq!(spans(&mut turns), [(56, 64)]);
    }

    #[test]
    fn only_the_same_code_continues_a_turn() {
        let mut turns = Turns::new();
        turns.push(turn(nothing, 8, 16));
        assert!(turns.pop_same(other).is_none());
        assert!(turns.pop_same(nothing).is_some());
        assert!(turns.pop_same(nothing).is_none());
        turns.push(turn(other, 16, 24));
        turns.push(turn(nothing, 24, 32));
        assert!(turns.pop_same(nothing).is_none());
        assert!(turns.pop_same(other).is_some());
        assert_eq!(spans(&mut turns), [(24, 32)]);
    }

    #[test]
    fn taken_turns_do_not_pile_up() {
        let mut turns = Turns::new();
        for i in 1..100_000usize {
            turns.push(turn(if i % 2 == 0 { other } else { nothing }, i, i + 1));
            if i > 10 {
                assert_eq!(turns.pop().unwrap().start.addr(), i - 10);
            }
        }
        assert!(turns.closed.capacity() < 8 * COMPACT);
    }

    #[test]
    fn queues_are_compared_turn_by_turn() {
        let same = |pushed: [Turn<'static>; 2]| {
            let (mut one, mut two) = (Turns::new(), Turns::new());
            one.push(turn(nothing, 8, 16));
            one.push(turn(other, 16, 24));
            pushed.into_iter().for_each(|turn| two.push(turn));
            one.are_the_same(&mut two)
        };
        assert!(same([turn(nothing, 8, 16), turn(other, 16, 24)]));
        assert!(!same([turn(nothing, 8, 16), turn(other, 16, 32)]));
        assert!(!same([turn(nothing, 8, 16), turn(nothing, 16, 24)]));
        assert!(!same([turn(other, 16, 24), turn(nothing, 8, 16)]));
    }
}
