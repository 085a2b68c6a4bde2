//! Structures of the file format: see [the module](super).
//!
//! Decision 055 has the reasons.

use xxhash_rust::xxh3::xxh3_64;
use zerocopy::IntoBytes;

use super::error::FileError;
use crate::buffer::ALIGNMENT;
use crate::plain_words::plain_words;

/// The first eight bytes of a file: `jstfile` and the version of the format.
pub(super) const MAGIC: [u8; 8] = *b"jstfile\x01";

/// Size of a sector in bytes. The header and each commit have a sector of their own, so that
/// writing one does not affect the others.
pub(super) const SECTOR: usize = 512;

/// Places of the two commits.
pub(super) const COMMITS: [u64; 2] = [SECTOR as u64, 2 * SECTOR as u64];

/// Length of the header and both commits in bytes.
pub(super) const FRONT: usize = 3 * SECTOR;

/// Place of the first block.
pub(super) const BLOCKS: u64 = FRONT as u64;

/// Alignment of blocks in bytes.
pub(super) const ALIGN: u64 = ALIGNMENT as u64;

const _: () = assert!(BLOCKS % ALIGN == 0);

/// The first eight bytes of a chunk of the index.
pub(super) const CHUNK: u64 = u64::from_le_bytes(*b"jsx\x01\0\0\0\0");

/// The first eight bytes of a schema directory.
pub(super) const DIRECTORY: u64 = u64::from_le_bytes(*b"jss\x01\0\0\0\0");

/// Maximum number of schemas in a file. It limits the memory that a hostile directory can claim.
pub(super) const MOST_SCHEMAS: u64 = 1 << 16;

plain_words! {
    /// A commit: the contents of the file as of one generation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(super) struct Commit: 6 words {
        pub(super) generation,
        /// End of the last block.
        pub(super) end,
        /// Place of the newest chunk of the index, 0 for none.
        pub(super) index,
        /// Place of the schema directory, 0 for none.
        pub(super) schemas,
        /// Number of objects.
        pub(super) count,
        pub(super) checksum,
    }
}

impl Commit {
    /// Length of the prefix that the checksum covers.
    const SUMMED: usize = Self::SIZE - size_of::<u64>();

    /// Returns the sector that holds the commit.
    pub(super) fn sector(mut self) -> [u8; SECTOR] {
        self.checksum = self.sum();
        let mut sector = [0; SECTOR];
        if let Some(start) = sector.get_mut(..Self::SIZE) {
            start.copy_from_slice(&self.to_bytes());
        }
        sector
    }

    fn sum(&self) -> u64 {
        xxh3_64(self.to_bytes().get(..Self::SUMMED).unwrap_or_default())
    }

    /// Returns the commit in a sector, if it is valid.
    pub(super) fn of_sector(sector: &[u8]) -> Option<Self> {
        let (bytes, rest) = sector.split_first_chunk()?;
        let commit = Self::of_bytes(*bytes);
        (commit.checksum == commit.sum() && rest.iter().all(|byte| *byte == 0)).then_some(commit)
    }
}

/// Returns the first three sectors of a file that has one commit.
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

/// Returns the newest commit of a file of `len` bytes that begins with `front`, and its index.
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
            details: "a reserved byte of the header is not zero",
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
            details: "a commit is inconsistent",
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

plain_words! {
    /// Header of a chunk of the index.
    #[derive(Debug, Clone, Copy, Default)]
    pub(super) struct ChunkHeader: 5 words {
        pub(super) magic,
        /// Place of the previous chunk, 0 for none.
        pub(super) previous,
        /// Number of the first object.
        pub(super) first,
        pub(super) count,
        pub(super) checksum,
    }
}

impl ChunkHeader {
    pub(super) const LEN: u64 = Self::SIZE as u64;
    const SUMMED: usize = Self::SIZE - size_of::<u64>();

    pub(super) fn new(previous: u64, first: u64, count: u64) -> Self {
        let mut header = Self {
            magic: CHUNK,
            previous,
            first,
            count,
            checksum: 0,
        };
        header.checksum = header.sum();
        header
    }

    fn sum(&self) -> u64 {
        xxh3_64(self.to_bytes().get(..Self::SUMMED).unwrap_or_default())
    }

    pub(super) fn is_sound(&self) -> bool {
        self.magic == CHUNK && self.checksum == self.sum() && self.count > 0
    }
}

plain_words! {
    /// The index entry of one object.
    #[derive(Debug, Clone, Copy, Default)]
    pub(super) struct RawEntry: 5 words {
        pub(super) place,
        pub(super) len,
        pub(super) descriptor,
        /// Checksum of the message.
        pub(super) hash,
        /// Checksum of the object's number and of the fields before.
        pub(super) check,
    }
}

impl RawEntry {
    pub(super) const LEN: u64 = Self::SIZE as u64;

    pub(super) fn new(number: u64, place: u64, len: u64, descriptor: u64, hash: u64) -> Self {
        Self {
            place,
            len,
            descriptor,
            hash,
            check: xxh3_64([number, place, len, descriptor, hash].as_bytes()),
        }
    }

    /// Returns true if this is the entry of the object with this number.
    pub(super) fn is_of(&self, number: u64) -> bool {
        let expected = Self::new(number, self.place, self.len, self.descriptor, self.hash);
        self.check == expected.check
    }
}

plain_words! {
    /// The directory entry of one schema.
    #[derive(Debug, Clone, Copy, Default)]
    pub(super) struct SchemaEntry: 3 words {
        pub(super) descriptor,
        pub(super) place,
        pub(super) len,
    }
}

plain_words! {
    /// Header of a schema directory.
    #[derive(Debug, Clone, Copy, Default)]
    pub(super) struct DirectoryHeader: 2 words {
        pub(super) magic,
        pub(super) count,
    }
}

impl DirectoryHeader {
    pub(super) const LEN: u64 = Self::SIZE as u64;
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
        let next = Commit {
            generation: 4,
            ..COMMIT
        };
        bytes[1024..].copy_from_slice(&next.sector());
        let (commit, which) = newest(&bytes, 4096).unwrap();
        assert_eq!((commit.generation, which), (4, 1));
        // The write of the newer commit is torn, so the older one is current.
        bytes[1030] ^= 1;
        assert_eq!(newest(&bytes, 4096).unwrap().0.generation, 3);
        bytes[520] ^= 1;
        assert!(matches!(newest(&bytes, 4096), Err(FileError::NoCommit)));
    }

    #[test]
    fn distinguishes_files_without_a_front() {
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
