//! Stacks of free slots without locks.
//!
//! A slot is a number. What follows it on its stack stands in a table beside, its *link*, so that a
//! slot's own memory is not touched.
//!
//! Invariant: a number is on at most one stack, once, and then nobody owns its slot. `pop` and
//! `take_all` make their caller the owner, `push` and `put_chain` end that.
//!
//! A head has the number on top, two flags, and a tag that counts what came to the stack.
//! Between reading a slot's link and replacing the head, others may take the slot and give it back
//! where the link is another, and the link that was read is then of no use; the tag tells. Taking
//! needs no other tag: a slot that is on top again was put there again. A thread would have to be
//! stopped there while exactly a multiple of 2^32 slots come to its stack, and the last of them is the
//! same slot, to be misled.

use super::sync::{AtomicIsize, AtomicU32, AtomicU64, Ordering};

/// How many slots there can be; also the number that is none.
pub(super) const NONE: u32 = (1 << 30) - 1;
/// Somebody waits for a slot: who gives one back is to say so.
pub(super) const WANTED: u64 = 1 << 30;
/// Nobody takes slots any more.
pub(super) const CLOSED: u64 = 1 << 31;
const FLAGS: u64 = WANTED | CLOSED;
const TAG: u64 = 1 << 32;

/// Where the links stand.
pub(super) trait Links {
    /// The link of a slot that has been on a stack.
    fn link(&self, slot: u32) -> &AtomicU32;
}

/// The number on top of `head`.
#[inline]
fn top(head: u64) -> u32 {
    #[allow(clippy::cast_possible_truncation, reason = "NONE has 30 bits")]
    let top = (head & u64::from(NONE)) as u32;
    top
}

/// `head` with the number on top that slots were taken down to.
#[inline]
fn taken_to(head: u64, top: u32) -> u64 {
    (head & !u64::from(NONE)) | u64::from(top)
}

/// `head` with the number on top that was put there, and another tag.
#[inline]
fn given(head: u64, top: u32) -> u64 {
    taken_to(head.wrapping_add(TAG), top)
}

/// The free slots of one size, of the threads of one shard.
pub(super) struct Stack {
    head: AtomicU64,
}

impl Stack {
    pub(super) fn new() -> Self {
        Self {
            head: AtomicU64::new(u64::from(NONE)),
        }
    }

    #[cfg(all(test, loom))]
    pub(super) fn head(&self) -> &AtomicU64 {
        &self.head
    }

    /// Takes the slot that was given back last.
    #[inline]
    pub(super) fn pop(&self, links: &impl Links) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let slot = top(head);
            if slot == NONE {
                return None;
            }
            let next = links.link(slot).load(Ordering::Relaxed);
            // Acquire: what the slot's last owner did to its memory was before.
            match self.head.compare_exchange_weak(
                head,
                taken_to(head, next),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(slot),
                Err(now) => head = now,
            }
        }
    }

    /// Gives back a slot, unless a flag of `heed` is set: then says which flags are, and does nothing.
    ///
    /// Once the slot is back this touches neither the stack nor the link, which may be gone: the last
    /// slot that comes back ends the pool.
    #[inline]
    pub(super) fn push(&self, link: &AtomicU32, slot: u32, heed: u64) -> Result<(), u64> {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head & heed != 0 {
                return Err(head & FLAGS);
            }
            // Most often a slot comes back to where it was taken. Links of several threads' slots may
            // share a cache line, which they then share in peace.
            let next = top(head);
            if link.load(Ordering::Relaxed) != next {
                link.store(next, Ordering::Relaxed);
            }
            // Release: the link, and what the owner did to the slot's memory, are before what the next
            // owner does.
            match self.head.compare_exchange_weak(
                head,
                given(head, slot),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(now) => head = now,
            }
        }
    }

    /// Takes all slots: the first one, from which the links lead to the others.
    pub(super) fn take_all(&self) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let slot = top(head);
            if slot == NONE {
                return None;
            }
            match self.head.compare_exchange_weak(
                head,
                taken_to(head, NONE),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(slot),
                Err(now) => head = now,
            }
        }
    }

    /// Puts a chain of slots, as the links have it, on an empty stack, or else one by one on this one.
    pub(super) fn put_chain(&self, links: &impl Links, mut first: u32) {
        while first != NONE {
            let head = self.head.load(Ordering::Relaxed);
            if top(head) == NONE {
                let new = given(head, first);
                let put =
                    self.head
                        .compare_exchange(head, new, Ordering::AcqRel, Ordering::Relaxed);
                if put.is_ok() {
                    return;
                }
                continue;
            }
            let link = links.link(first);
            let next = link.load(Ordering::Relaxed);
            let Ok(()) = self.push(link, first, 0) else {
                unreachable!("no flag is heeded")
            };
            first = next;
        }
    }

    /// The head. If two have no slot and are the same, none was there meanwhile.
    pub(super) fn look(&self) -> u64 {
        self.head.load(Ordering::SeqCst)
    }

    /// Whether a head that `look` returned had no slot.
    pub(super) fn was_empty(look: u64) -> bool {
        top(look) == NONE
    }

    /// Sets or ends [`WANTED`].
    pub(super) fn want(&self, wanted: bool) {
        if wanted {
            self.head.fetch_or(WANTED, Ordering::AcqRel);
        } else {
            self.head.fetch_and(!WANTED, Ordering::AcqRel);
        }
    }

    /// Sets [`CLOSED`] and counts the slots that are back. Nobody takes slots meanwhile or later.
    pub(super) fn close(&self, links: &impl Links) -> usize {
        let mut slot = top(self.head.fetch_or(CLOSED, Ordering::AcqRel));
        let mut count = 0usize;
        while slot != NONE {
            count = count.saturating_add(1);
            slot = links.link(slot).load(Ordering::Relaxed);
        }
        count
    }
}

/// How many slots are out when the pool is closed, counted from both sides.
///
/// Who gives a slot back to a closed stack counts it down, and who closes counts up by those that
/// were out. Zero is reached once, when both are done: before it closes the count is below zero, and
/// afterwards above, until the last slot comes back.
pub(super) struct Outstanding {
    slots: AtomicIsize,
}

impl Outstanding {
    pub(super) fn new() -> Self {
        Self {
            slots: AtomicIsize::new(0),
        }
    }

    /// Counts a slot that came back; says whether it was the last.
    pub(super) fn came_back(&self) -> bool {
        self.slots.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Counts `out` slots as out; says whether all of them have come back meanwhile.
    pub(super) fn closed_with(&self, out: usize) -> bool {
        let out = isize::try_from(out).unwrap_or(isize::MAX);
        self.slots
            .fetch_add(out, Ordering::AcqRel)
            .wrapping_add(out)
            == 0
    }
}
