//! Growing and shrinking of a pool, under the lock of its book.
//!
//! Decisions 018 and 022 have the reasons.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering as StdOrdering;

use super::book::{Book, SlabEntry};
use super::error::PoolError;
use super::list::{Links as _, NONE};
use super::sizes::{CLASSES, slab_len, slot_size};
use super::slab::Slab;
use super::state::{Chains, PoolState};
use jstream_sync::Ordering;

impl PoolState {
    /// Takes a free slot, or a slot of a slab that is mapped for this purpose.
    #[cold]
    pub(super) fn take_or_grow(&self, class: usize, wanted: usize) -> Result<u32, PoolError> {
        let slots = slab_len(class, &self.options.region) >> slot_size(class).trailing_zeros();
        let mut book = self.book();
        loop {
            if let Some((slot, _)) = self.take_any(class) {
                return Ok(slot);
            }
            // A slot that another thread is moving between shards is free. Carving a new slot in
            // each such case would increase the number of slots without limit.
            if !self.none_free(class) {
                continue;
            }
            let kept = self.kept_of(class);
            if let Some(slot) = book.carve(class, slots, self.table.bits, kept) {
                self.count_out(class);
                return Ok(slot);
            }
            let Err(low) = self.map_slab(&mut book, class, slots, wanted) else {
                continue;
            };
            // Idle memory of other classes, or slots in the caches of threads, may take up the
            // limit. A slot that was returned to this class meanwhile is sufficient as well.
            let _recall = self.recall();
            if self.shrink(&mut book, false) == 0 && self.none_free(class) {
                return Err(low);
            }
        }
    }

    /// Maps a slab of a class, within the limit.
    fn map_slab(
        &self,
        book: &mut Book,
        class: usize,
        slots: usize,
        wanted: usize,
    ) -> Result<(), PoolError> {
        let len = slab_len(class, &self.options.region);
        let max_mapped = self.options.max_mapped;
        let all = book.mapped.checked_add(len);
        let all = all
            .filter(|all| *all <= max_mapped)
            .ok_or(PoolError::Exhausted {
                wanted,
                mapped: book.mapped,
                max_mapped,
            })?;
        let system = |source| PoolError::System { wanted, source };
        let region = self.options.region.map(len).map_err(system)?;
        let vacant = |entry: &SlabEntry| entry.class == class && entry.region.is_none();
        let number = match book.slabs.iter().position(vacant) {
            Some(number) => number,
            None => self.add_slab(book, class, slots).map_err(system)?,
        };
        // SAFETY: the slab is in the table, and the thread that added it had locked the book before
        // this thread.
        let slab = unsafe { self.table.slab(number) };
        // SAFETY: slabs live as long as the table.
        let base = &unsafe { slab.as_ref() }.base;
        // Relaxed: a thread gets a slot of the slab from the book, or from a stack on which it was
        // put later.
        base.store(region.base().as_ptr(), StdOrdering::Relaxed);
        book.entry(number).region = Some(Arc::new(region));
        book.mapped = all;
        let class = book.class(class);
        class.open = Some(number);
        class.mapped = class.mapped.saturating_add(len);
        Ok(())
    }

    /// Adds a slab without mapped memory.
    fn add_slab(&self, book: &mut Book, class: usize, slots: usize) -> io::Result<usize> {
        let number = book.slabs.len();
        // The numbers of its slots must be valid.
        if number >= (NONE >> self.table.bits) as usize {
            return Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                "the pool has reached its maximum number of slots",
            ));
        }
        book.slabs.try_reserve(1)?;
        let slab = Slab::new(self.at, class, slots)?;
        self.table.insert(number, slab)?;
        book.slabs.push(SlabEntry {
            class,
            region: None,
            carved: 0,
            free: 0,
        });
        Ok(number)
    }

    /// Unmaps the slabs that have no slot in use and to whose region no other reference exists. If
    /// `pages` is true, also discards the pages of the free slots of other slabs. Returns the
    /// number of bytes returned to the system.
    pub(super) fn shrink(&self, book: &mut Book, pages: bool) -> usize {
        (0..CLASSES)
            .filter(|class| slot_size(*class) <= self.options.max_mapped)
            .map(|class| self.shrink_class(book, class, pages))
            .fold(0, usize::saturating_add)
    }

    fn shrink_class(&self, book: &mut Book, class: usize, pages: bool) -> usize {
        if book.class(class).mapped == 0 {
            return 0;
        }
        let chains = self.take_chains(class);
        self.each(&chains, |slot, _| {
            let (number, _) = self.table.split(slot);
            let entry = book.entry(number);
            entry.free = entry.free.saturating_add(1);
        });
        let len = slab_len(class, &self.options.region);
        let mut back = 0usize;
        for number in 0..book.slabs.len() {
            let entry = book.entry(number);
            if entry.class != class {
                continue;
            }
            let idle = entry.free == entry.carved;
            entry.free = 0;
            // The region may be unmapped only if no other `Arc` of it exists, and no `Weak` that
            // could be upgraded.
            if !idle
                || entry
                    .region
                    .as_mut()
                    .is_none_or(|region| Arc::get_mut(region).is_none())
            {
                continue;
            }
            entry.region = None;
            let carved = std::mem::take(&mut entry.carved);
            book.mapped = book.mapped.saturating_sub(len);
            let class = book.class(class);
            class.carved = class.carved.saturating_sub(carved);
            class.mapped = class.mapped.saturating_sub(len);
            class.open = class.open.filter(|open| *open != number);
            back = back.saturating_add(len);
        }
        let size = slot_size(class);
        self.each(&chains, |slot, shard| {
            let (number, i) = self.table.split(slot);
            let Some(region) = &mut book.entry(number).region else {
                return;
            };
            if pages {
                // A device that has registered the region relies on its pages.
                if let Some(region) = Arc::get_mut(region) {
                    let offset = i.wrapping_mul(size);
                    // SAFETY: this thread owns the slot, whose bytes have no meaning.
                    if unsafe { region.forget(offset, size) } {
                        back = back.saturating_add(size);
                    }
                }
            }
            if let Some(stack) = self.stacks(class).nth(shard) {
                let Ok(()) = stack.push(self.table.link(slot), slot, 0) else {
                    unreachable!("no flag is heeded")
                };
            }
        });
        back
    }

    /// Calls `visit` for each slot of the chains, with the index of its shard. `visit` may put the
    /// slot on a stack.
    fn each(&self, chains: &Chains, mut visit: impl FnMut(u32, usize)) {
        for (shard, first) in chains.iter().enumerate() {
            let mut slot = *first;
            while slot != NONE {
                let next = self.table.link(slot).load(Ordering::Relaxed);
                visit(slot, shard);
                slot = next;
            }
        }
    }
}
