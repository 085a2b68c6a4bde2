//! The state that is shared by all handles of a pool and by its buffers.
//!
//! Threads are assigned to shards by their number. Each shard has a stack of free slots for each
//! class. A thread takes slots from the stack of its shard and returns them to it. If the stack is
//! empty, the thread moves the slots of another shard's stack to it. Threads that both take and
//! return slots therefore do not contend, and a thread that only takes slots gets those that
//! another thread returns a whole stack at a time. No cache line is written by all threads. In
//! addition, the thread whose number is the index of the shard caches a few slots. Cached slots
//! count as returned. They are recalled when the pool is at its limit, when a thread waits for a
//! slot, and when the pool is trimmed or closed.
//!
//! Invariant: a `PoolState` exists until its handles are gone and all slots have been returned.
//! While a handle exists, no stack is closed. When the last handle is dropped, it closes the stacks
//! one by one. A thread that returns a slot to a closed stack counts the slot, and the last thread
//! to do so frees the `PoolState` (see `Outstanding`). A thread that returns a slot therefore
//! accesses nothing of the pool once the slot is on a stack. Before the stacks are closed, the
//! caches of all threads are recalled permanently. The recall waits until any thread that is about
//! to cache a slot has finished and cleared its busy flag.
//!
//! Decision 020 has the reasons.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread;

use super::book::Book;
use super::kept::Kept;
use super::lease::Lease;
use super::list::{Links, NONE, Outstanding, Stack};
use super::moving::{Moves, were_all_empty};
use super::options::PoolOptions;
use super::sizes::{CLASSES, SMALLEST, slab_len, slot_size};
use super::slab::{Slab, Table};
use super::stats::Leak;
use super::threads::{MOST_SHARDS, shard_count, thread_number};
use super::waiting::Waiting;
use crate::buffer::{EmptyBuffer, Slot};
use jstream_sync::{AtomicIsize, AtomicU32, Ordering, lock};

pub(in crate::buffer) struct PoolState {
    /// The address of this `PoolState`, which is needed to free it.
    pub(super) at: NonNull<Self>,
    pub(super) shards: Box<[Shard]>,
    /// Number of shards minus one. The number of shards is a power of two.
    mask: usize,
    pub(super) table: Table<PoolState>,
    pub(super) options: PoolOptions,
    pub(super) book: Mutex<Book>,
    /// Held while the caches of the threads are emptied.
    pub(super) recalling: Mutex<()>,
    pub(super) waiting: Waiting,
    pub(super) outstanding: Outstanding,
    /// The handle, as long as the pool is open.
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
pub(super) type Taken = (u32, NonNull<Slab<PoolState>>);

/// The links of the table. Records the slab that was found last, which is the slab of the slot that
/// `pop` finally takes.
struct Found<'t> {
    table: &'t Table<PoolState>,
    last: Cell<NonNull<Slab<PoolState>>>,
}

impl Links for Found<'_> {
    #[inline]
    fn link(&self, slot: u32) -> &AtomicU32 {
        let (slab, link) = self.table.find(slot);
        self.last.set(slab);
        link
    }
}

/// The state of the threads that are assigned to one shard.
#[repr(align(128))]
pub(super) struct Shard {
    /// The cache of the thread whose number is the index of this shard.
    pub(super) kept: Kept<Slab<PoolState>>,
    cells: [ClassCell; CLASSES],
    /// The moves of slots to this shard.
    pub(super) moves: Moves,
}

/// A size class of a shard.
pub(super) struct ClassCell {
    pub(super) stack: Stack,
    /// Number of slots taken minus number of slots returned by threads of this shard. Cached slots
    /// count as taken.
    pub(super) out: AtomicIsize,
}

impl PoolState {
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
        let bits = (slab_len(0, &options.region) / SMALLEST).trailing_zeros();
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
            // SAFETY: no other reference to the `PoolState` exists yet.
            unsafe { at.as_mut() }.at = at;
            Handle { shared: at }
        });
        (at, handle)
    }

    /// Returns the shard of the calling thread.
    #[inline]
    pub(super) fn own(&self) -> &Shard {
        match self.shards.get(thread_number() & self.mask) {
            Some(shard) => shard,
            None => unreachable!("there is one more than the mask says"),
        }
    }

    /// Returns the cache of the calling thread, if it has one.
    #[inline]
    pub(super) fn kept(&self) -> Option<&Kept<Slab<PoolState>>> {
        self.shards.get(thread_number()).map(|shard| &shard.kept)
    }

    /// Returns the stacks of one class, of all shards.
    pub(super) fn stacks(&self, class: usize) -> impl Iterator<Item = &Stack> + Clone {
        self.shards
            .iter()
            .map(move |shard| &shard.cell(class).stack)
    }

    /// Takes a slot from the calling thread's cache. Also returns its slab.
    #[inline]
    pub(super) fn take_kept(&self, class: usize) -> Option<Taken> {
        let (slot, slab) = self.kept()?.pop(class)?;
        Some((slot, NonNull::new(slab)?))
    }

    /// Takes a slot from the calling thread's shard. Also returns its slab.
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

    /// Takes a slot from any shard that has one.
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

    /// Moves the slots of another shard to this thread's shard, except for the first slot, which it
    /// returns.
    fn take_over(&self, class: usize) -> Option<u32> {
        let own = self.own();
        let start = thread_number();
        for distance in 1..self.shards.len() {
            let other = self.shards.get(start.wrapping_add(distance) & self.mask)?;
            let stack = &other.cell(class).stack;
            if Stack::was_empty(stack.peek()) {
                continue;
            }
            let to = &own.cell(class).stack;
            if let Some(first) = own.moves.take_over(stack, to, &self.table) {
                return Some(first);
            }
        }
        None
    }

    /// Returns true if there was a moment during this call at which no slot of a class was free.
    /// The caller must hold the lock of the book, so that a free slot can be missing from the
    /// stacks only while a thread moves it to another shard.
    pub(super) fn none_free(&self, class: usize) -> bool {
        let mut seen = [0; MOST_SHARDS];
        let moves = self.shards.iter().map(|shard| &shard.moves);
        loop {
            if let Some(none) = were_all_empty(self.stacks(class), moves.clone(), &mut seen) {
                return none;
            }
            thread::yield_now();
        }
    }

    /// Returns the number of slots of a class that are in use.
    pub(super) fn in_use(&self, class: usize) -> usize {
        let out = |shard: &Shard| shard.cell(class).out.load(Ordering::Relaxed);
        let out = self.shards.iter().map(out).fold(0, isize::wrapping_add);
        usize::try_from(out)
            .unwrap_or(0)
            .saturating_sub(self.kept_of(class))
    }

    /// Returns the number of slots of a class in the caches of threads.
    pub(super) fn kept_of(&self, class: usize) -> usize {
        let kept = |shard: &Shard| shard.kept.count(class);
        self.shards.iter().map(kept).fold(0, usize::saturating_add)
    }

    /// Begins or ends the announcement of returned slots to waiting threads. Meanwhile no thread
    /// caches slots.
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

    /// Locks the book, whose invariants hold between statements.
    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        lock(&self.book)
    }

    /// Converts a slot to a buffer.
    ///
    /// # Safety
    ///
    /// The caller must own the slot, which must be of `class`.
    #[inline]
    pub(super) unsafe fn lend(&self, slot: u32, class: usize) -> EmptyBuffer {
        let (number, _) = self.table.split(slot);
        // SAFETY: the slot comes from a stack or from the book. Its slab was added to the table
        // before.
        let slab = unsafe { self.table.slab(number) };
        // SAFETY: the caller's promise is passed on.
        unsafe { self.lend_of(slab, slot, class) }
    }

    /// Like [`lend`](Self::lend), for a slot whose slab is known.
    ///
    /// # Safety
    ///
    /// The caller must own the slot, which must be of `class` and of `slab`.
    #[inline]
    pub(super) unsafe fn lend_of(
        &self,
        slab: NonNull<Slab<PoolState>>,
        slot: u32,
        class: usize,
    ) -> EmptyBuffer {
        let (_, i) = self.table.split(slot);
        let lease = Lease::new(slab);
        let size = slot_size(class);
        // SAFETY: slabs live as long as the table.
        let base = unsafe { slab.as_ref() }.base.load(Ordering::Relaxed);
        // SAFETY: a slab with slots in use is mapped for all of its slots.
        let base = unsafe { base.add(i.wrapping_mul(size)) };
        // SAFETY: mappings are not at address 0.
        let base = unsafe { NonNull::new_unchecked(base) };
        // SAFETY: the address, size and lease are those of the slot, which the caller owned.
        let slot = unsafe { Slot::pooled(base, size, lease, slot) };
        EmptyBuffer::from_slot(slot)
    }

    /// Frees a pool whose last slot has been returned.
    ///
    /// # Safety
    ///
    /// `Outstanding` must have reported to the caller that this slot was the last.
    #[cold]
    pub(super) unsafe fn end(shared: NonNull<Self>) {
        // SAFETY: `new` made the `PoolState` from a box. No handle exists, and no thread is
        // returning a slot.
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

/// The handle that all clones of a pool share. Dropping it closes the pool.
pub(super) struct Handle {
    shared: NonNull<PoolState>,
}

// SAFETY: all threads access `PoolState` through shared references.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the `PoolState` exists at least until `closed_with` below.
        let shared = unsafe { self.shared.as_ref() };
        // This recall never ends.
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
            // SAFETY: all slots have been returned, and this was the last handle.
            unsafe { PoolState::end(self.shared) };
        }
    }
}

/// The chains of slots of a class from the stacks of all shards, held by the thread that has locked
/// the book.
pub(super) type Chains = [u32; MOST_SHARDS];

impl PoolState {
    /// Takes all free slots of a class off the stacks.
    pub(super) fn take_chains(&self, class: usize) -> Chains {
        let mut chains = [NONE; MOST_SHARDS];
        for (stack, chain) in self.stacks(class).zip(&mut chains) {
            *chain = stack.take_all().unwrap_or(NONE);
        }
        chains
    }
}
