//! Moving slots from one stack to another, and detecting that no slot is free meanwhile.
//!
//! Slots that are being moved are on no stack for a moment, although no thread owns them. A thread
//! counts a move before it takes the slots off the stack, and again after it has put them on the
//! other. If all stacks are empty, these counts show whether slots were being moved.
//!
//! Decision 020 has the reasons.

use super::list::{Links, NONE, Stack};
use jstream_sync::{AtomicU64, Ordering};

/// Numbers of moves that were begun and completed.
pub(super) struct Moves {
    begun: AtomicU64,
    done: AtomicU64,
}

impl Moves {
    pub(super) fn new() -> Self {
        Self {
            begun: AtomicU64::new(0),
            done: AtomicU64::new(0),
        }
    }

    /// Begins a move, which lasts until the returned guard is dropped.
    pub(super) fn begin(&self) -> Moving<'_> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Moving { moves: self }
    }

    /// Moves all slots from one stack to another, except for the first slot, which it returns.
    pub(super) fn take_over(&self, from: &Stack, to: &Stack, links: &impl Links) -> Option<u32> {
        let _moving = self.begin();
        let first = from.take_all();
        if let Some(first) = first {
            let rest = links.link(first).load(Ordering::Relaxed);
            if rest != NONE {
                to.put_chain(links, rest);
            }
        }
        first
    }
}

/// Guard of a move in progress.
pub(super) struct Moving<'m> {
    moves: &'m Moves,
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.moves.done.fetch_add(1, Ordering::SeqCst);
    }
}

/// Returns `Some(true)` if all stacks were empty at the same moment during this call, `Some(false)`
/// if a slot was found, and `None` if neither is certain.
///
/// `seen` must have at least one entry for each stack.
pub(super) fn were_all_empty<'s>(
    stacks: impl Iterator<Item = &'s Stack> + Clone,
    moves: impl Iterator<Item = &'s Moves> + Clone,
    seen: &mut [u64],
) -> Option<bool> {
    let sum = |of: fn(&Moves) -> &AtomicU64| {
        let count = |moves| of(moves).load(Ordering::SeqCst);
        moves.clone().map(count).fold(0, u64::wrapping_add)
    };
    let done = sum(|moves| &moves.done);
    for (stack, seen) in stacks.clone().zip(&mut *seen) {
        *seen = stack.peek();
        if !Stack::was_empty(*seen) {
            return Some(false);
        }
    }
    // All stacks were empty. They were empty at the same moment if no head has changed since, and
    // if no thread was moving slots.
    let same = stacks.zip(seen).all(|(stack, seen)| stack.peek() == *seen);
    (same && sum(|moves| &moves.begun) == done).then_some(true)
}
