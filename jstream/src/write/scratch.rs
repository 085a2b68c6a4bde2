//! What a writer keeps from one message to the next.

use super::jobs::Jobs;
use super::kept::Kept;
use super::shared::Shared;
use super::turns::Turns;
use crate::keep::clear;

/// A plain array that is sent, or copied, from where it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) start: *const u8,
    pub(super) len: usize,
    /// How many bytes of `bulk` come before it.
    pub(super) after: usize,
}

/// What a writer keeps from one message to the next.
#[derive(Debug)]
pub(super) struct Scratch<'b> {
    pub(super) text: Vec<u8>,
    pub(super) bulk: Vec<u8>,
    pub(super) pieces: Vec<Piece>,
    pub(super) jobs: Jobs<'b>,
    pub(super) turns: Turns<'b>,
    /// Turns to compare with.
    pub(super) turns_before: Turns<'b>,
    pub(super) kept: Kept,
    pub(super) shared: Shared,
    /// Shared targets to compare with.
    pub(super) shared_before: Shared,
}

/// Scratch memory that a writer keeps between messages; more only if the last one needed it.
pub(super) const KEEP: usize = 4 << 20;

/// Noted arrays that a writer keeps room for between messages.
pub(super) const KEEP_PIECES: usize = 1 << 16;

impl Scratch<'_> {
    pub(super) fn new() -> Self {
        Self {
            text: Vec::new(),
            bulk: Vec::new(),
            pieces: Vec::new(),
            jobs: Jobs::new(),
            turns: Turns::new(),
            turns_before: Turns::new(),
            kept: Kept::new(),
            shared: Shared::new(),
            shared_before: Shared::new(),
        }
    }

    /// Forgets everything; keeps memory for the next message.
    #[inline]
    pub(super) fn clear(&mut self) {
        clear(&mut self.text, KEEP);
        clear(&mut self.bulk, KEEP);
        clear(&mut self.pieces, KEEP_PIECES);
        self.jobs.clear();
        self.shared.clear();
        // At last, as it drops values of the program's, which may panic.
        self.kept.clear();
    }
}
