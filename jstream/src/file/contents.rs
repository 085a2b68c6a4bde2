//! The metadata of a file: commit, index and schemas.
//!
//! Every place and length is checked against the committed end before it is used. The index is read
//! in pieces, so that memory does not depend on numbers in the file.

#[cfg(feature = "evolve")]
use std::any::TypeId;
use std::collections::BTreeMap;
#[cfg(feature = "evolve")]
use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::error::FileError;
use super::format::{
    ALIGN, BLOCKS, COMMITS, ChunkHeader, Commit, DIRECTORY, DirectoryHeader, FRONT, MAGIC,
    MOST_SCHEMAS, RawEntry, SchemaEntry, newest,
};
use super::source::Source;
use super::summary::{ChunkInfo, Slot, Summary, slots};
#[cfg(feature = "evolve")]
use crate::evolve::OwnClasses;
use crate::schema::{Schema, TypeIndex};
use crate::wire::{HEADER_LEN, in_memory};

/// A chunk of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) place: u64,
    pub(super) first: u64,
    pub(super) count: u64,
}

/// The position and type of an object, from the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The object's number; the first object has number 0.
    pub number: u64,
    /// Start of the object's message, in bytes from the start of the file.
    pub place: u64,
    /// Length of the message in bytes.
    pub len: u64,
    /// Descriptor of the root's type.
    pub descriptor: u64,
    /// Checksum of the message.
    pub(super) hash: u64,
}

/// Maximum number of entries that are read at once by a sequential scan.
const AHEAD: usize = 256;

#[derive(Debug)]
pub(super) struct Contents {
    pub(super) source: Source,
    pub(super) commit: Commit,
    /// Index of the current commit: 0 or 1.
    pub(super) which: usize,
    /// Contents of both commit sectors.
    pub(super) slots: [Slot; 2],
    /// The chunks of the index, the newest first.
    pub(super) chunks: Vec<Chunk>,
    /// Entries that were read ahead, and the number of the first.
    ahead: Vec<RawEntry>,
    ahead_from: u64,
    /// The number after that of the entry requested last.
    following: u64,
    /// Results of looking for schemas of other versions of the classes that the trait objects in a
    /// form may have.
    #[cfg(feature = "evolve")]
    other_classes: HashMap<TypeId, OtherClasses>,
}

/// The result of looking for schemas of other versions of the classes of a form.
#[cfg(feature = "evolve")]
#[derive(Debug, Default)]
struct OtherClasses {
    /// Place of the directory that was looked at last.
    directory: u64,
    /// Descriptors of the schemas that were looked at.
    compared: HashSet<u64>,
    has_any: bool,
}

impl Contents {
    pub(super) fn read(source: Source) -> Result<Self, FileError> {
        let (commit, which, slots) = commits(&source)?;
        let chunks = read_chunks(&source, &commit)?;
        Ok(Self {
            source,
            commit,
            which,
            slots,
            chunks,
            ahead: Vec::new(),
            ahead_from: 0,
            following: u64::MAX,
            #[cfg(feature = "evolve")]
            other_classes: HashMap::new(),
        })
    }

    /// Switches to a newer commit, and returns true if there is one. An error leaves `self`
    /// unchanged.
    pub(super) fn reload(&mut self) -> Result<bool, FileError> {
        let (commit, which, slots) = commits(&self.source)?;
        if commit == self.commit {
            self.slots = slots;
            return Ok(false);
        }
        let before = &self.commit;
        let follows = commit.generation > before.generation
            && commit.count >= before.count
            && commit.end >= before.end;
        if !follows {
            return Err(FileError::Damaged {
                details: "the newest commit does not follow the one that was read before",
                at: COMMITS.get(which).copied().unwrap_or_default(),
            });
        }
        self.chunks = read_chunks(&self.source, &commit)?;
        (self.commit, self.which, self.slots) = (commit, which, slots);
        self.ahead.clear();
        Ok(true)
    }

    /// Returns true if the file has the schema of another version of one of `own`, the classes that
    /// the trait objects in the form `key` may have. Schemas that can't be read do not count: an
    /// object that needs one can't be read either.
    #[cfg(feature = "evolve")]
    pub(super) fn has_other_class(&mut self, key: TypeId, own: &OwnClasses) -> bool {
        let mut known = self.other_classes.remove(&key).unwrap_or_default();
        if !own.is_empty() && !known.has_any && known.directory != self.commit.schemas {
            known.directory = self.commit.schemas;
            let directory = self.directory().unwrap_or_default();
            // Schemas do not overlap, so reading all of them takes no longer than reading the file.
            let lengths = directory.values().map(|(_, len)| *len);
            let bytes = lengths.fold(0, u64::saturating_add);
            if bytes <= self.commit.end {
                known.has_any = directory.iter().any(|(descriptor, (place, len))| {
                    known.compared.insert(*descriptor)
                        && self
                            .schema_at(*descriptor, *place, *len)
                            .is_ok_and(|(schema, root)| own.have_version(&schema, root))
                });
            }
        }
        let has_any = known.has_any;
        self.other_classes.insert(key, known);
        has_any
    }

    /// Returns the index entry of an object.
    pub(super) fn entry(&mut self, number: u64) -> Result<Entry, FileError> {
        let count = self.commit.count;
        let chunk = self.chunks.iter().find(|chunk| chunk.first <= number);
        let Some(chunk) = chunk.filter(|_| number < count).copied() else {
            return Err(FileError::NoObject { number, count });
        };
        let offset = number.wrapping_sub(chunk.first);
        let place = offset
            .wrapping_mul(RawEntry::LEN)
            .wrapping_add(chunk.place)
            .wrapping_add(ChunkHeader::LEN);
        let raw = self.raw_entry(number, place, chunk.count.wrapping_sub(offset))?;
        self.following = number.wrapping_add(1);
        if !raw.is_of(number) {
            return Err(FileError::Damaged {
                details: "an entry of the index does not match its checksum",
                at: place,
            });
        }
        let outside = "an object lies outside of the file";
        assert_block(raw.place, raw.len, chunk.place, outside)?;
        if raw.len < HEADER_LEN as u64 {
            return Err(FileError::Damaged {
                details: "an object is shorter than any message",
                at: raw.place,
            });
        }
        Ok(Entry {
            number,
            place: raw.place,
            len: raw.len,
            descriptor: raw.descriptor,
            hash: raw.hash,
        })
    }

    /// Returns the raw entry of `number`, which lies at `place`. `rest` entries of its chunk begin
    /// there.
    fn raw_entry(&mut self, number: u64, place: u64, rest: u64) -> Result<RawEntry, FileError> {
        let known = number.checked_sub(self.ahead_from);
        let known = known.and_then(|at| self.ahead.get(usize::try_from(at).ok()?));
        if let Some(known) = known {
            return Ok(*known);
        }
        if number != self.following {
            let mut bytes = [0; RawEntry::SIZE];
            self.source.read(&mut bytes, place)?;
            return Ok(RawEntry::of_bytes(bytes));
        }
        let count = usize::try_from(rest).unwrap_or(AHEAD).min(AHEAD);
        self.ahead.clear();
        self.ahead_from = number;
        let mut bytes = vec![[0; RawEntry::SIZE]; count];
        self.source.read(bytes.as_flattened_mut(), place)?;
        self.ahead.extend(bytes.into_iter().map(RawEntry::of_bytes));
        Ok(self.ahead.first().copied().unwrap_or_default())
    }

    /// Returns the place and length of each schema, by descriptor.
    pub(super) fn directory(&self) -> Result<BTreeMap<u64, (u64, u64)>, FileError> {
        const WHAT: &str = "the schema directory lies outside of the file";
        let place = self.commit.schemas;
        let limit = self.commit.end;
        let mut schemas = BTreeMap::new();
        if place == 0 {
            return Ok(schemas);
        }
        assert_block(place, DirectoryHeader::LEN, limit, WHAT)?;
        let mut bytes = [0; DirectoryHeader::SIZE];
        self.source.read(&mut bytes, place)?;
        let header = DirectoryHeader::of_bytes(bytes);
        let damaged = FileError::Damaged {
            details: "the schema directory is not valid",
            at: place,
        };
        if header.magic != DIRECTORY || header.count > MOST_SCHEMAS {
            return Err(damaged);
        }
        let entries = header.count.saturating_mul(SchemaEntry::SIZE as u64);
        let summed = entries.saturating_add(DirectoryHeader::LEN);
        assert_block(place, summed.saturating_add(8), limit, WHAT)?;
        let mut bytes = vec![0; in_memory(summed)];
        self.source.read(&mut bytes, place)?;
        let mut sum = [0; 8];
        self.source.read(&mut sum, place.saturating_add(summed))?;
        if xxh3_64(&bytes) != u64::from_le_bytes(sum) {
            return Err(damaged);
        }
        let entries = bytes
            .get(in_memory(DirectoryHeader::LEN)..)
            .unwrap_or_default();
        for entry in entries.chunks_exact(SchemaEntry::SIZE) {
            let Some(entry) = entry.first_chunk().copied().map(SchemaEntry::of_bytes) else {
                return Err(damaged);
            };
            assert_block(
                entry.place,
                entry.len,
                place,
                "a schema lies outside of the file",
            )?;
            schemas.insert(entry.descriptor, (entry.place, entry.len));
        }
        Ok(schemas)
    }

    /// Returns the stored schema with this descriptor, if the file has it.
    pub(super) fn schema(&self, descriptor: u64) -> Result<Option<(Schema, TypeIndex)>, FileError> {
        match self.directory()?.get(&descriptor) {
            Some((place, len)) => self.schema_at(descriptor, *place, *len).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn schema_at(
        &self,
        descriptor: u64,
        place: u64,
        len: u64,
    ) -> Result<(Schema, TypeIndex), FileError> {
        if len > Schema::MAX_BYTES as u64 {
            return Err(FileError::Damaged {
                details: "a schema exceeds the maximum length",
                at: place,
            });
        }
        let mut bytes = vec![0; in_memory(len)];
        self.source.read(&mut bytes, place)?;
        if xxh3_64(&bytes) != descriptor {
            // A record may follow the schema.
            return match Schema::from_snapshot(&bytes) {
                Ok((schema, root)) if schema.descriptor(root) == descriptor => Ok((schema, root)),
                _ => Err(FileError::Damaged {
                    details: "a schema does not match its descriptor",
                    at: place,
                }),
            };
        }
        Schema::from_bytes(&bytes).map_err(|error| FileError::Schema {
            descriptor,
            at: place,
            error,
        })
    }

    /// Returns the metadata for display.
    pub(super) fn summary(&self) -> Summary {
        let [.., version] = MAGIC;
        let chunks = self.chunks.iter().map(|chunk| ChunkInfo {
            place: chunk.place,
            first: chunk.first,
            objects: chunk.count,
        });
        Summary {
            version,
            commit: self.commit.into(),
            slot: self.which,
            slots: self.slots,
            chunks: chunks.collect(),
        }
    }
}

/// Returns the current commit, its index, and the contents of both sectors.
fn commits(source: &Source) -> Result<(Commit, usize, [Slot; 2]), FileError> {
    let mut tries = 0..3;
    loop {
        let mut front = [0; FRONT];
        let read = source.read_some(&mut front, 0)?;
        let front = front.get(..read).unwrap_or_default();
        // The length is read after the commits: the bytes of a commit were in the file before the
        // commit itself.
        match newest(front, source.len()?) {
            // A concurrent writer may have written both sectors, one after the other, during the
            // read.
            Err(FileError::NoCommit) if tries.next().is_some() => {}
            result => {
                let (commit, which) = result?;
                return Ok((commit, which, slots(front)));
            }
        }
    }
}

/// Reads the headers of all chunks. Each chunk has at least twice as many objects as the one after
/// it, so there are few.
fn read_chunks(source: &Source, commit: &Commit) -> Result<Vec<Chunk>, FileError> {
    const OUTSIDE: &str = "a chunk of the index lies outside of the file";
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut place = commit.index;
    let mut limit = commit.end;
    let mut objects = commit.count;
    while place != 0 {
        let damaged = |details| FileError::Damaged { details, at: place };
        assert_block(place, ChunkHeader::LEN, limit, OUTSIDE)?;
        let mut bytes = [0; ChunkHeader::SIZE];
        source.read(&mut bytes, place)?;
        let header = ChunkHeader::of_bytes(bytes);
        if !header.is_sound() {
            return Err(damaged("a chunk of the index is not valid"));
        }
        let len = header.count.checked_mul(RawEntry::LEN);
        let len = len.and_then(|len| len.checked_add(ChunkHeader::LEN));
        assert_block(place, len.unwrap_or(u64::MAX), limit, OUTSIDE)?;
        let follows = header.first.checked_add(header.count) == Some(objects);
        let least = chunks
            .last()
            .map_or(0, |newer| newer.count.saturating_mul(2));
        if !follows || header.count < least {
            return Err(damaged("chunks of the index are inconsistent"));
        }
        chunks.push(Chunk {
            place,
            first: header.first,
            count: header.count,
        });
        limit = place;
        objects = header.first;
        place = header.previous;
    }
    if objects != 0 {
        return Err(FileError::Damaged {
            details: "the index does not have all objects",
            at: limit,
        });
    }
    Ok(chunks)
}

/// Checks that a block of `len` bytes at `place` is aligned and ends before `limit`; `outside` is
/// the error text.
fn assert_block(place: u64, len: u64, limit: u64, outside: &'static str) -> Result<(), FileError> {
    let end = place.checked_add(len);
    if place >= BLOCKS && place % ALIGN == 0 && end.is_some_and(|end| end <= limit) {
        return Ok(());
    }
    Err(FileError::Damaged {
        details: outside,
        at: place,
    })
}
