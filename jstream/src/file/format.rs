//! What stands in a file: see [the module](super).

use std::mem::size_of;

use xxhash_rust::xxh3::xxh3_64;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::error::FileError;
use crate::buffer::ALIGNMENT;

/// The first eight bytes of a file: `jstfile` and the version of the format.
pub(super) const MAGIC: [u8; 8] = *b"jstfile\x01";

/// The header, and each commit, has a sector of its own, so that writing one leaves the others.
pub(super) const SECTOR: usize = 512;

/// Where the two commits stand.
pub(super) const COMMITS: [u64; 2] = [SECTOR as u64, 2 * SECTOR as u64];

/// The header and both commits.
pub(super) const FRONT: usize = 3 * SECTOR;

/// Where the first block begins.
pub(super) const BLOCKS: u64 = FRONT as u64;

/// Blocks begin at multiples of this.
pub(super) const ALIGN: u64 = ALIGNMENT as u64;

const _: () = assert!(BLOCKS % ALIGN == 0);

/// The first four bytes of a chunk of the index.
pub(super) const CHUNK: u32 = u32::from_le_bytes(*b"jsx\x01");

/// The first four bytes of a schema directory.
pub(super) const DIRECTORY: u32 = u32::from_le_bytes(*b"jss\x01");

/// How many schemas a file has at most. Answers the threat of directories that fill memory.
pub(super) const MOST_SCHEMAS: u64 = 1 << 16;

/// What a file holds since the commit of this generation.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub(super) struct Commit {
    pub(super) generation: u64,
    /// Where the last block ends.
    pub(super) end: u64,
    /// The place of the newest chunk of the index, 0 for none.
    pub(super) index: u64,
    /// The place of the schema directory, 0 for none.
    pub(super) schemas: u64,
    /// How many objects there are.
    pub(super) count: u64,
    pub(super) checksum: u64,
}

impl Commit {
    /// The bytes that the checksum is of.
    const SUMMED: usize = size_of::<Self>() - size_of::<u64>();

    /// The sector that it stands in.
    pub(super) fn sector(mut self) -> [u8; SECTOR] {
        self.checksum = self.sum();
        let mut sector = [0; SECTOR];
        if let Some(start) = sector.get_mut(..size_of::<Self>()) {
            start.copy_from_slice(self.as_bytes());
        }
        sector
    }

    fn sum(&self) -> u64 {
        xxh3_64(self.as_bytes().get(..Self::SUMMED).unwrap_or_default())
    }

    /// The commit in a sector, if there is one.
    pub(super) fn of_sector(sector: &[u8]) -> Option<Self> {
        let (commit, rest) = Self::read_from_prefix(sector).ok()?;
        (commit.checksum == commit.sum() && rest.iter().all(|byte| *byte == 0)).then_some(commit)
    }
}

/// The first three sectors of a file that has one commit.
pub(super) fn front(commit: Commit) -> [u8; FRONT] {
    let mut front = [0; FRONT];
    let sectors = [(0, MAGIC.as_slice()), (SECTOR, &commit.sector())];
    for (at, bytes) in sectors {
        let into = front
            .get_mut(at..)
            .and_then(|from| from.get_mut(..bytes.len()));
        if let Some(into) = into {
            into.copy_from_slice(bytes);
        }
    }
    front
}

/// The newest commit of a file of `len` bytes that begins with `front`, and which of the two it is.
pub(super) fn newest(front: &[u8], len: u64) -> Result<(Commit, usize), FileError> {
    let mut found = [0; MAGIC.len()];
    for (into, from) in found.iter_mut().zip(front) {
        *into = *from;
    }
    let [name @ .., version] = found;
    let [magic @ .., known] = MAGIC;
    if front.len() < MAGIC.len() && !front.is_empty() && MAGIC.starts_with(front) {
        return Err(FileError::Truncated { len, end: BLOCKS });
    }
    if name != magic || front.len() < MAGIC.len() {
        return Err(FileError::Foreign { found });
    }
    if version != known {
        return Err(FileError::Version { found: version });
    }
    let mut sectors = front.chunks_exact(SECTOR);
    let header = sectors.next().unwrap_or_default();
    if front.len() != FRONT {
        return Err(FileError::Truncated { len, end: BLOCKS });
    }
    let mut reserved = header.iter().zip(0..).skip(MAGIC.len());
    if let Some((_, at)) = reserved.find(|(byte, _)| **byte != 0) {
        return Err(FileError::Damaged {
            what: "a reserved byte of the header is not zero",
            at,
        });
    }
    let commits = sectors.map(Commit::of_sector).zip(0..);
    let newest = commits
        .filter_map(|(commit, which)| Some((commit?, which)))
        .max_by_key(|(commit, _)| commit.generation);
    let Some((commit, which)) = newest else {
        return Err(FileError::NoCommit);
    };
    let is_sound = commit.end >= BLOCKS && (commit.count == 0) == (commit.index == 0);
    if !is_sound {
        return Err(FileError::Damaged {
            what: "a commit contradicts itself",
            at: COMMITS.get(which).copied().unwrap_or_default(),
        });
    }
    if commit.end > len {
        return Err(FileError::Truncated {
            len,
            end: commit.end,
        });
    }
    Ok((commit, which))
}

/// What a chunk of the index begins with.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct ChunkHeader {
    pub(super) magic: u32,
    pub(super) zero: u32,
    /// The place of the chunk before, 0 for none.
    pub(super) previous: u64,
    /// The number of the first object.
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) checksum: u64,
}

impl ChunkHeader {
    pub(super) const LEN: u64 = size_of::<Self>() as u64;
    const SUMMED: usize = size_of::<Self>() - size_of::<u64>();

    pub(super) fn new(previous: u64, first: u64, count: u64) -> Self {
        let mut header = Self {
            magic: CHUNK,
            zero: 0,
            previous,
            first,
            count,
            checksum: 0,
        };
        header.checksum = header.sum();
        header
    }

    fn sum(&self) -> u64 {
        xxh3_64(self.as_bytes().get(..Self::SUMMED).unwrap_or_default())
    }

    pub(super) fn is_sound(&self) -> bool {
        self.magic == CHUNK && self.zero == 0 && self.checksum == self.sum() && self.count > 0
    }
}

/// What the index says of one object.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct RawEntry {
    pub(super) place: u64,
    pub(super) len: u64,
    pub(super) descriptor: u64,
    /// The checksum of the message.
    pub(super) hash: u64,
    /// The checksum of the object's number and of the words before.
    pub(super) check: u64,
}

impl RawEntry {
    pub(super) const LEN: u64 = size_of::<Self>() as u64;

    pub(super) fn new(number: u64, place: u64, len: u64, descriptor: u64, hash: u64) -> Self {
        Self {
            place,
            len,
            descriptor,
            hash,
            check: xxh3_64([number, place, len, descriptor, hash].as_bytes()),
        }
    }

    /// Whether it is the entry of the object with this number.
    pub(super) fn is_of(&self, number: u64) -> bool {
        let again = Self::new(number, self.place, self.len, self.descriptor, self.hash);
        self.check == again.check
    }
}

/// What the schema directory says of one schema.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct SchemaEntry {
    pub(super) descriptor: u64,
    pub(super) place: u64,
    pub(super) len: u64,
}

/// What a schema directory begins with.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct DirectoryHeader {
    pub(super) magic: u32,
    pub(super) zero: u32,
    pub(super) count: u64,
}

impl DirectoryHeader {
    pub(super) const LEN: u64 = size_of::<Self>() as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: Commit = Commit {
        generation: 3,
        end: 4096,
        index: 0,
        schemas: 0,
        count: 0,
        checksum: 0,
    };

    #[test]
    fn the_commit_of_the_higher_generation_counts() {
        let mut bytes = front(COMMIT);
        let (commit, which) = newest(&bytes, 4096).unwrap();
        assert_eq!((commit.generation, which), (3, 0));
        let later = Commit {
            generation: 4,
            ..COMMIT
        };
        bytes[1024..].copy_from_slice(&later.sector());
        let (commit, which) = newest(&bytes, 4096).unwrap();
        assert_eq!((commit.generation, which), (4, 1));
        // Torn: the one before counts.
        bytes[1030] ^= 1;
        assert_eq!(newest(&bytes, 4096).unwrap().0.generation, 3);
        bytes[520] ^= 1;
        assert!(matches!(newest(&bytes, 4096), Err(FileError::NoCommit)));
    }

    #[test]
    fn what_is_no_front_is_told_apart() {
        let sound = front(COMMIT);
        let with = |at: usize, byte: u8| {
            let mut bytes = sound;
            bytes[at] = byte;
            newest(&bytes, 4096).unwrap_err()
        };
        assert!(matches!(with(0, 0), FileError::Foreign { .. }));
        assert!(matches!(with(7, 2), FileError::Version { found: 2 }));
        assert!(matches!(with(511, 1), FileError::Damaged { at: 511, .. }));
        assert!(matches!(with(1023, 1), FileError::NoCommit));
        let short = newest(&sound, 4095).unwrap_err();
        assert!(matches!(
            short,
            FileError::Truncated {
                len: 4095,
                end: 4096
            }
        ));
        assert!(matches!(newest(b"", 0), Err(FileError::Foreign { .. })));
        assert!(matches!(
            newest(&sound[..600], 600),
            Err(FileError::Truncated { .. })
        ));
    }

    #[test]
    fn an_entry_is_of_one_number() {
        let entry = RawEntry::new(7, 1536, 44, 1, 2);
        assert!(entry.is_of(7) && !entry.is_of(8));
        assert!(!RawEntry { len: 45, ..entry }.is_of(7));
    }
}
