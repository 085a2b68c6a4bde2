//! Taking slots over from one stack to another, and finding out that none is free meanwhile.
//!
//! Slots that are being moved are on no stack for a moment, though nobody has them. Who moves some counts
//! that before it takes them, and after it has put them: who finds all stacks empty knows by these
//! counts whether slots were on their way.

use super::list::{Links, NONE, Stack};
use super::sync::{AtomicU64, Ordering};

/// How often somebody began to move slots, and was done with it.
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

    /// Says that somebody moves slots, as long as what is returned is there.
    pub(super) fn begin(&self) -> Moving<'_> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Moving { moves: self }
    }

    /// Moves all slots but the first, which it returns.
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

/// That somebody moves slots.
pub(super) struct Moving<'m> {
    moves: &'m Moves,
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.moves.done.fetch_add(1, Ordering::SeqCst);
    }
}

/// Whether no stack has a slot, all at once, at a moment during this call; `None` if that can't be said.
///
/// `seen` has room for as many heads as there are stacks.
pub(super) fn none_at_once<'s>(
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
        *seen = stack.look();
        if !Stack::was_empty(*seen) {
            return Some(false);
        }
    }
    // All are empty; at the same time, if none has changed since, and nobody was moving slots.
    let same = stacks.zip(seen).all(|(stack, seen)| stack.look() == *seen);
    (same && sum(|moves| &moves.begun) == done).then_some(true)
}
