//! Summary of a file's metadata for display: its commits, and the chunks of its index.

use super::format::{COMMITS, Commit, SECTOR};

/// Metadata of a file: see [`FileReader::summary`](super::FileReader::summary).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The version of the format.
    pub version: u8,
    /// The current commit.
    pub commit: CommitInfo,
    /// Index of the slot that holds the current commit.
    pub slot: usize,
    /// Both commit slots.
    pub slots: [Slot; 2],
    /// The chunks of the index, the newest first.
    pub chunks: Vec<ChunkInfo>,
}

/// A sector that can hold a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Slot {
    /// Offset in bytes from the start of the file.
    pub place: u64,
    /// The commit in the slot, if it is valid.
    pub commit: Option<CommitInfo>,
    /// True if the slot has only zeroes, as the second slot has before the second commit. A slot
    /// that is neither blank nor valid was torn by a crash, or damaged.
    pub is_blank: bool,
}

/// A commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitInfo {
    /// Generation: 1 for the first commit, incremented with each further commit.
    pub generation: u64,
    /// End of the last block, in bytes from the start of the file. Bytes behind it are ignored.
    pub end: u64,
    /// Number of objects.
    pub objects: u64,
    /// Place of the newest chunk of the index.
    pub index: Option<u64>,
    /// Place of the schema directory.
    pub schemas: Option<u64>,
}

/// A chunk of the index, which has the entries of objects with consecutive numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkInfo {
    /// Offset in bytes from the start of the file.
    pub place: u64,
    /// Number of the first object.
    pub first: u64,
    /// Number of objects.
    pub objects: u64,
}

impl From<Commit> for CommitInfo {
    fn from(commit: Commit) -> Self {
        let place = |place| Some(place).filter(|place| *place != 0);
        Self {
            generation: commit.generation,
            end: commit.end,
            objects: commit.count,
            index: place(commit.index),
            schemas: place(commit.schemas),
        }
    }
}

/// Returns the slots of a file that begins with `front`.
pub(super) fn slots(front: &[u8]) -> [Slot; 2] {
    let mut slots = COMMITS.map(|place| Slot {
        place,
        ..Slot::default()
    });
    let sectors = front.chunks_exact(SECTOR).skip(1);
    for (slot, sector) in slots.iter_mut().zip(sectors) {
        slot.commit = Commit::of_sector(sector).map(CommitInfo::from);
        slot.is_blank = sector.iter().all(|byte| *byte == 0);
    }
    slots
}
