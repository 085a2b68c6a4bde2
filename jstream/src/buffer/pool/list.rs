//! Lock-free stacks of free slots.
//!
//! A slot is identified by a number. The number of the next slot on the stack is the *link* of the
//! slot. It is stored in a separate table, so that the memory of the slot is not accessed.
//!
//! Invariant: a number is on at most one stack, at most once, and no thread owns its slot while it
//! is there. `pop` and `take_all` make their caller the owner, and `push` and `put_chain` end the
//! ownership.
//!
//! A head consists of the number on top, two flags, and a tag that counts the slots that were put
//! on the stack. The tag prevents the ABA problem. After a thread has read a slot's link, and
//! before it replaces the head, other threads may take the slot and return it with a different
//! link. The link that the thread has read is then invalid, and the changed tag shows this. Taking
//! a slot does not need to change the tag, because a slot that is on top again has been put there
//! again. The tag fails only if a thread is suspended at this point while exactly a multiple of
//! 2^32 slots are put on the stack, the last of which is the same slot.
//!
//! Decision 020 has the reasons.

use jstream_sync::{AtomicIsize, AtomicU32, AtomicU64, Ordering};

/// Maximum number of slots. Also the number that stands for no slot.
pub(super) const NONE: u32 = (1 << 30) - 1;
/// Flag: a thread waits for a slot, and a thread that returns a slot must announce it.
pub(super) const WANTED: u64 = 1 << 30;
/// Flag: the pool is closed, and no thread takes slots any more.
pub(super) const CLOSED: u64 = 1 << 31;
const FLAGS: u64 = WANTED | CLOSED;
const TAG: u64 = 1 << 32;

/// The table of links.
pub(super) trait Links {
    /// Returns the link of a slot that has been on a stack.
    fn link(&self, slot: u32) -> &AtomicU32;
}

/// Returns the number on top of `head`.
#[inline]
fn top(head: u64) -> u32 {
    #[allow(clippy::cast_possible_truncation, reason = "NONE has 30 bits")]
    let top = (head & u64::from(NONE)) as u32;
    top
}

/// Returns `head` after slots were taken, with `top` as the number on top.
#[inline]
fn taken_to(head: u64, top: u32) -> u64 {
    (head & !u64::from(NONE)) | u64::from(top)
}

/// Returns `head` after `top` was put on the stack, with the next tag.
#[inline]
fn given(head: u64, top: u32) -> u64 {
    taken_to(head.wrapping_add(TAG), top)
}

/// The free slots of one size class in one shard.
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

    /// Takes the slot that was returned last.
    #[inline]
    pub(super) fn pop(&self, links: &impl Links) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let slot = top(head);
            if slot == NONE {
                return None;
            }
            let next = links.link(slot).load(Ordering::Relaxed);
            // Acquire: this thread sees what the slot's last owner did to its memory.
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

    /// Returns a slot to the stack. If a flag of `heed` is set, changes nothing and returns the
    /// flags that are set.
    ///
    /// Once the slot is on the stack, this function accesses neither the stack nor the link. Both
    /// may have been freed, because the last slot that is returned ends the pool.
    #[inline]
    pub(super) fn push(&self, link: &AtomicU32, slot: u32, heed: u64) -> Result<(), u64> {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head & heed != 0 {
                return Err(head & FLAGS);
            }
            // A slot usually returns to the place from which it was taken, and then its link is
            // already correct. Links of several threads' slots may share a cache line, and skipping
            // the store keeps the line in the caches of all of them.
            let next = top(head);
            if link.load(Ordering::Relaxed) != next {
                link.store(next, Ordering::Relaxed);
            }
            // Release: the next owner sees the link, and what this owner did to the slot's memory.
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

    /// Takes all slots. Returns the first one, from which the links lead to the others.
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

    /// Puts a chain of linked slots on this stack: as a whole if the stack is empty, otherwise one
    /// by one.
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

    /// Returns the head. If two such heads are equal and have no slot, the stack was empty all the
    /// time between them.
    pub(super) fn peek(&self) -> u64 {
        self.head.load(Ordering::SeqCst)
    }

    /// Returns true if a head that `look` returned has no slot.
    pub(super) fn was_empty(look: u64) -> bool {
        top(look) == NONE
    }

    /// Sets or clears [`WANTED`].
    pub(super) fn want(&self, wanted: bool) {
        if wanted {
            self.head.fetch_or(WANTED, Ordering::AcqRel);
        } else {
            self.head.fetch_and(!WANTED, Ordering::AcqRel);
        }
    }

    /// Sets [`CLOSED`] and returns the number of slots on the stack. No thread may take slots
    /// during this call or after it.
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

/// The number of slots in use when the pool is closed, counted from both sides.
///
/// A thread that returns a slot to a closed stack decrements the count. The thread that closes the
/// pool adds the number of slots that were in use. The result of these operations is zero only
/// once, when both sides are done: before the closing thread adds its number, each result is
/// negative, and afterwards it is positive until the last slot is returned.
pub(super) struct Outstanding {
    slots: AtomicIsize,
}

impl Outstanding {
    pub(super) fn new() -> Self {
        Self {
            slots: AtomicIsize::new(0),
        }
    }

    /// Counts a returned slot. Returns true if it was the last one.
    pub(super) fn came_back(&self) -> bool {
        self.slots.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Counts `out` slots as in use. Returns true if all of them have been returned meanwhile.
    pub(super) fn closed_with(&self, out: usize) -> bool {
        let out = isize::try_from(out).unwrap_or(isize::MAX);
        self.slots
            .fetch_add(out, Ordering::AcqRel)
            .wrapping_add(out)
            == 0
    }
}
