//! What all handles of a pool share, and its jbufs need.
//!
//! Threads have shards, by their number, and each shard a stack of free slots for each class. A thread
//! takes from its shard and gives back to it; where it is empty it takes over another's slots. So
//! threads that do both don't meet, and one that only takes gets what another gives back by the stack.
//! No cache line is written to by all. The thread whose number is the shard's own keeps a few slots besides,
//! which count as given back, and are recalled when the pool is at its limit, when somebody waits for a slot, and
//! when the pool is trimmed or closed.
//!
//! Invariant: a `Shared` exists until its handles are gone and all slots are back. While a handle
//! exists no stack is closed. When the last handle is dropped it closes the stacks one by one, and who
//! gives back to a closed stack counts; the last frees it (see `Outstanding`). So who gives a slot back
//! does not touch anything of the pool once the slot is on a stack. What threads keep is recalled before, for good:
//! that waits for a thread that is about to keep a slot, and to say that it is done.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use super::book::Book;
use super::kept::Kept;
use super::lease::Lease;
use super::list::{Links, NONE, Outstanding, Stack};
use super::moving::{Moves, none_at_once};
use super::options::{Leak, PoolOptions};
use super::slab::{Slab, Table};
use super::sync::{AtomicIsize, AtomicU32, Ordering};
use super::threads::{MOST_SHARDS, shard_count, thread_number};
use super::waiting::Waiting;
use super::{CLASSES, SMALLEST, slab_len, slot_size};
use crate::buffer::{Slot, Spent};

pub(in crate::buffer) struct Shared {
    /// Where it is, as who frees it must have it.
    pub(super) at: NonNull<Self>,
    pub(super) shards: Box<[Shard]>,
    /// One less than the number of shards, a power of two.
    mask: usize,
    pub(super) table: Table,
    pub(super) options: PoolOptions,
    pub(super) book: Mutex<Book>,
    /// Held by who collects what threads have kept.
    pub(super) recalling: Mutex<()>,
    pub(super) waiting: Waiting,
    pub(super) outstanding: Outstanding,
    /// The handles that can still take.
    pub(super) handle: Weak<Handle>,
    pub(super) counts: [Counts; CLASSES],
    pub(super) on_heap: Arc<AtomicUsize>,
}

/// Counts of rare events of one class.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) fallbacks: AtomicU64,
    pub(super) waits: AtomicU64,
}

/// A slot that was taken, and its slab.
pub(super) type Taken = (u32, NonNull<Slab>);

/// The links of the table, and the slab in which the last was found: that of the slot that `pop` takes
/// in the end.
struct Found<'t> {
    table: &'t Table,
    last: Cell<NonNull<Slab>>,
}

impl Links for Found<'_> {
    #[inline]
    fn link(&self, slot: u32) -> &AtomicU32 {
        let (slab, link) = self.table.find(slot);
        self.last.set(slab);
        link
    }
}

/// What the threads of one number have.
#[repr(align(128))]
pub(super) struct Shard {
    /// Of the thread with this very number.
    pub(super) kept: Kept<Slab>,
    cells: [ClassCell; CLASSES],
    /// What was taken over by this shard.
    pub(super) moves: Moves,
}

/// One class in one shard.
pub(super) struct ClassCell {
    pub(super) stack: Stack,
    /// Slots taken less slots given back by this shard. Those that are kept count as taken.
    pub(super) out: AtomicIsize,
}

impl Shared {
    pub(super) fn new(options: PoolOptions) -> (NonNull<Self>, Arc<Handle>) {
        let shards = shard_count();
        let shard = || Shard {
            kept: Kept::new(),
            cells: std::array::from_fn(|_| ClassCell {
                stack: Stack::new(),
                out: AtomicIsize::new(0),
            }),
            moves: Moves::new(),
        };
        let bits = (slab_len(0, &options) / SMALLEST).trailing_zeros();
        let mut shared = Box::new(Self {
            at: NonNull::dangling(),
            shards: std::iter::repeat_with(shard).take(shards).collect(),
            mask: shards.wrapping_sub(1),
            table: Table::new(bits),
            options,
            book: Mutex::default(),
            recalling: Mutex::default(),
            waiting: Waiting::default(),
            outstanding: Outstanding::new(),
            handle: Weak::new(),
            counts: std::array::from_fn(|_| Counts::default()),
            on_heap: Arc::default(),
        });
        let mut at = NonNull::dangling();
        let handle = Arc::new_cyclic(|weak| {
            shared.handle = weak.clone();
            at = NonNull::from(Box::leak(shared));
            // SAFETY: nobody else knows of it yet.
            unsafe { at.as_mut() }.at = at;
            Handle { shared: at }
        });
        (at, handle)
    }

    /// The shard of the calling thread.
    #[inline]
    pub(super) fn own(&self) -> &Shard {
        match self.shards.get(thread_number() & self.mask) {
            Some(shard) => shard,
            None => unreachable!("there is one more than the mask says"),
        }
    }

    /// What the calling thread keeps, if a shard is its own.
    #[inline]
    pub(super) fn kept(&self) -> Option<&Kept<Slab>> {
        self.shards.get(thread_number()).map(|shard| &shard.kept)
    }

    /// All shards' stacks of one class.
    pub(super) fn stacks(&self, class: usize) -> impl Iterator<Item = &Stack> + Clone {
        self.shards
            .iter()
            .map(move |shard| &shard.cell(class).stack)
    }

    /// Takes a slot that the calling thread has kept; returns its slab, too.
    #[inline]
    pub(super) fn take_kept(&self, class: usize) -> Option<Taken> {
        let (slot, slab) = self.kept()?.take(class)?;
        Some((slot, NonNull::new(slab)?))
    }

    /// Takes a slot of the calling thread's shard; returns its slab, too.
    #[inline]
    pub(super) fn take_own(&self, class: usize) -> Option<Taken> {
        let cell = self.own().cell(class);
        let found = Found {
            table: &self.table,
            last: Cell::new(NonNull::dangling()),
        };
        let slot = cell.stack.pop(&found)?;
        cell.out.fetch_add(1, Ordering::Relaxed);
        Some((slot, found.last.get()))
    }

    /// Takes a slot of whatever shard has one.
    pub(super) fn take_any(&self, class: usize) -> Option<Taken> {
        self.take_own(class).or_else(|| {
            let slot = self.take_over(class)?;
            self.count_out(class);
            Some((slot, self.table.find(slot).0))
        })
    }

    /// Counts a slot as taken by this thread.
    pub(super) fn count_out(&self, class: usize) {
        let cell = self.own().cell(class);
        cell.out.fetch_add(1, Ordering::Relaxed);
    }

    /// Moves the slots of another shard to the own one, except the first, which it returns.
    fn take_over(&self, class: usize) -> Option<u32> {
        let own = self.own();
        let start = thread_number();
        for distance in 1..self.shards.len() {
            let other = self.shards.get(start.wrapping_add(distance) & self.mask)?;
            let stack = &other.cell(class).stack;
            if Stack::was_empty(stack.look()) {
                continue;
            }
            let to = &own.cell(class).stack;
            if let Some(first) = own.moves.take_over(stack, to, &self.table) {
                return Some(first);
            }
        }
        None
    }

    /// Whether there is a moment during this call at which no slot of a class is free. The book is
    /// locked by the caller, so that nobody else holds free slots but who takes some over.
    pub(super) fn none_free(&self, class: usize) -> bool {
        let mut seen = [0; MOST_SHARDS];
        let moves = self.shards.iter().map(|shard| &shard.moves);
        loop {
            if let Some(none) = none_at_once(self.stacks(class), moves.clone(), &mut seen) {
                return none;
            }
            thread::yield_now();
        }
    }

    /// Slots of a class that are out.
    pub(super) fn in_use(&self, class: usize) -> usize {
        let out = |shard: &Shard| shard.cell(class).out.load(Ordering::Relaxed);
        let out = self.shards.iter().map(out).fold(0, isize::wrapping_add);
        usize::try_from(out)
            .unwrap_or(0)
            .saturating_sub(self.kept_of(class))
    }

    /// Slots of a class that threads keep.
    pub(super) fn kept_of(&self, class: usize) -> usize {
        let kept = |shard: &Shard| shard.kept.count(class);
        self.shards.iter().map(kept).fold(0, usize::saturating_add)
    }

    /// Asks to be told when slots come back, or no more.
    pub(super) fn want(&self, wanted: bool) {
        for class in 0..CLASSES {
            self.stacks(class).for_each(|stack| stack.want(wanted));
        }
        if wanted {
            self.begin_recall();
        } else {
            self.end_recall();
        }
    }

    /// A panic elsewhere can't leave the book half changed: its invariants hold between statements.
    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot's memory and its lease.
    ///
    /// # Safety
    ///
    /// The caller owns the slot, which is of `class`.
    #[inline]
    pub(super) unsafe fn lend(&self, slot: u32, class: usize) -> Spent {
        let (number, _) = self.table.split(slot);
        // SAFETY: the slot came off a stack, or out of the book, to which its slab was added before.
        let slab = unsafe { self.table.slab(number) };
        // SAFETY: the caller's promise is passed on.
        unsafe { self.lend_of(slab, slot, class) }
    }

    /// As above.
    ///
    /// # Safety
    ///
    /// The caller owns the slot, which is of `class`, and of `slab`.
    #[inline]
    pub(super) unsafe fn lend_of(&self, slab: NonNull<Slab>, slot: u32, class: usize) -> Spent {
        let (_, i) = self.table.split(slot);
        let lease = Lease::new(slab, slot);
        let size = slot_size(class);
        // SAFETY: slabs live as long as the table.
        let base = unsafe { slab.as_ref() }.base.load(Ordering::Relaxed);
        // SAFETY: a slab whose slots are out is mapped, for all of its slots.
        let base = unsafe { base.add(i.wrapping_mul(size)) };
        // SAFETY: mappings are not at address 0.
        let base = unsafe { NonNull::new_unchecked(base) };
        // SAFETY: these are the slot's, which the caller owned.
        let slot = unsafe { Slot::pooled(base, size, lease) };
        Spent::from_slot(slot)
    }

    /// Ends a pool whose last slot is back.
    ///
    /// # Safety
    ///
    /// `Outstanding` has said so, to the caller.
    #[cold]
    pub(super) unsafe fn end(shared: NonNull<Self>) {
        // SAFETY: `new` made it of a box. No handle exists, and nobody is giving a slot back.
        drop(unsafe { Box::from_raw(shared.as_ptr()) });
    }
}

impl Shard {
    #[inline]
    pub(super) fn cell(&self, class: usize) -> &ClassCell {
        match self.cells.get(class) {
            Some(cell) => cell,
            None => unreachable!("classes are below CLASSES"),
        }
    }
}

/// The handles of a pool that can take; when the last is gone the pool is closed.
pub(super) struct Handle {
    shared: NonNull<Shared>,
}

// SAFETY: `Shared` is used by shared references from whatever thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it exists until `closed_with` below.
        let shared = unsafe { self.shared.as_ref() };
        // For good.
        shared.begin_recall();
        let mut leak = Leak { jbufs: 0, bytes: 0 };
        for class in 0..CLASSES {
            let close = |stack: &Stack| stack.close(&shared.table);
            let back = shared
                .stacks(class)
                .map(close)
                .fold(0, usize::saturating_add);
            let out = shared.book().carved(class).saturating_sub(back);
            leak.jbufs = leak.jbufs.saturating_add(out);
            let bytes = out.saturating_mul(slot_size(class));
            leak.bytes = leak.bytes.saturating_add(bytes);
        }
        if leak.jbufs > 0 {
            #[cfg(feature = "metrics")]
            super::metrics::leaked(&shared.options.name, leak);
            if let Some(leaked) = &shared.options.leaked {
                leaked.call(leak);
            }
        }
        if shared.outstanding.closed_with(leak.jbufs) {
            // SAFETY: all have come back, and this was the last handle.
            unsafe { Shared::end(self.shared) };
        }
    }
}

/// The chains that were on all shards' stacks of a class, taken by who has locked the book.
pub(super) type Chains = [u32; MOST_SHARDS];

impl Shared {
    /// Takes all free slots of a class.
    pub(super) fn take_chains(&self, class: usize) -> Chains {
        let mut chains = [NONE; MOST_SHARDS];
        for (stack, chain) in self.stacks(class).zip(&mut chains) {
            *chain = stack.take_all().unwrap_or(NONE);
        }
        chains
    }
}
