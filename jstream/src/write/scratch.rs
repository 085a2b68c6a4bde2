//! Memory that a writer reuses from one message to the next.
//!
//! Decision 049 has the reasons.

use super::arena::ValueArena;
use super::jobs::Jobs;
use super::shared::SharedTargets;
use super::text_buffer::TextBuffer;
use super::work_queue::WorkQueue;
use crate::keep::clear;

/// A plain array or text that is sent, or copied, from where it is in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) start: *const u8,
    pub(super) len: usize,
    /// Number of gathered bytes of its segment that precede it.
    pub(super) after: usize,
}

/// Work lists and vectors that a writer reuses from one message to the next. `D` is the type of the
/// draft.
#[derive(Debug)]
pub(super) struct Scratch<D> {
    pub(super) text: TextBuffer,
    pub(super) bulk: Vec<u8>,
    /// The arrays that are recorded.
    pub(super) pieces: Vec<Piece>,
    /// The text that is recorded.
    pub(super) text_pieces: Vec<Piece>,
    pub(super) jobs: Jobs<D>,
    pub(super) work_queue: WorkQueue<D>,
    /// The queue of work items to compare with.
    pub(super) previous_work_queue: WorkQueue<D>,
    pub(super) arena: ValueArena,
    pub(super) shared: SharedTargets,
    /// The shared targets to compare with.
    pub(super) previous_shared: SharedTargets,
}

/// Capacity in bytes of scratch memory that a writer keeps between messages. It keeps more only if
/// the last message needed it.
pub(super) const KEEP: usize = 4 << 20;

/// Capacity of each list of recorded arrays and text that a writer keeps between messages.
pub(super) const KEEP_PIECES: usize = 1 << 16;

impl<D> Scratch<D> {
    pub(super) fn new() -> Self {
        Self {
            text: TextBuffer::new(),
            bulk: Vec::new(),
            pieces: Vec::new(),
            text_pieces: Vec::new(),
            jobs: Jobs::new(),
            work_queue: WorkQueue::new(),
            previous_work_queue: WorkQueue::new(),
            arena: ValueArena::new(),
            shared: SharedTargets::new(),
            previous_shared: SharedTargets::new(),
        }
    }

    /// Clears everything. Keeps memory for the next message.
    #[inline]
    pub(super) fn clear(&mut self) {
        // The limits are powers of two, so the union of two capacities below a limit is below it.
        if self.bulk.capacity() > KEEP
            || self.pieces.capacity() | self.text_pieces.capacity() > KEEP_PIECES
        {
            self.release();
        }
        self.text.clear(KEEP);
        self.bulk.clear();
        self.pieces.clear();
        self.text_pieces.clear();
        self.jobs.clear();
        self.shared.clear();
        // Last, because it drops values of the program, whose destructors may panic.
        self.arena.clear();
    }

    /// Returns true if there is memory that is released unless the next message needs it.
    pub(super) fn is_large(&self) -> bool {
        self.text.own_capacity().max(self.bulk.capacity()) > KEEP
            || self.pieces.capacity().max(self.text_pieces.capacity()) > KEEP_PIECES
            || self.jobs.is_large()
            || self.shared.is_large()
            || self.arena.is_large()
    }

    /// Clears the vectors, and releases the memory that the last message did not need.
    #[cold]
    fn release(&mut self) {
        clear(&mut self.bulk, KEEP);
        clear(&mut self.pieces, KEEP_PIECES);
        clear(&mut self.text_pieces, KEEP_PIECES);
    }
}
