//! What a file says of itself, to be shown: its commits, and the chunks of its index.

use super::contents::Contents;
use super::format::{COMMITS, Commit, MAGIC, SECTOR};

/// What a file says of itself: see [`FileReader::summary`](super::FileReader::summary).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The version of the format.
    pub version: u8,
    /// The commit that counts.
    pub commit: CommitInfo,
    /// Which of the slots has it.
    pub slot: usize,
    /// Both slots for commits.
    pub slots: [Slot; 2],
    /// The chunks of the index, the newest first.
    pub chunks: Vec<ChunkInfo>,
}

/// A place for a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Slot {
    /// Where it is, in bytes from the file's start.
    pub place: u64,
    /// The commit that stands there whole.
    pub commit: Option<CommitInfo>,
    /// Whether it has zeroes alone, as where there was one commit only. A slot without a commit that has
    /// others was cut short by a crash, or damaged.
    pub is_blank: bool,
}

/// A commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitInfo {
    /// Its generation: 1 for the first, one more for each further.
    pub generation: u64,
    /// Where the last block ends, in bytes from the file's start. Bytes behind it mean nothing.
    pub end: u64,
    /// How many objects there are.
    pub objects: u64,
    /// The place of the newest chunk of the index.
    pub index: Option<u64>,
    /// The place of the schema directory.
    pub schemas: Option<u64>,
}

/// A chunk of the index, which has the entries of objects with consecutive numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkInfo {
    /// Where it is, in bytes from the file's start.
    pub place: u64,
    /// The number of its first object.
    pub first: u64,
    /// How many objects it has.
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

/// The slots of a file that begins with `front`.
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

impl Summary {
    pub(super) fn of(contents: &Contents) -> Self {
        let [.., version] = MAGIC;
        let chunks = contents.chunks.iter().map(|chunk| ChunkInfo {
            place: chunk.place,
            first: chunk.first,
            objects: chunk.count,
        });
        Self {
            version,
            commit: contents.commit.into(),
            slot: contents.which,
            slots: contents.slots,
            chunks: chunks.collect(),
        }
    }
}
