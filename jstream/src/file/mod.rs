//! Files of objects: appended one after another, and read in sequence or by number.
//!
//! | type | purpose |
//! |---|---|
//! | [`FileWriter`] | creates a file or appends to one; objects become visible with a commit |
//! | [`FileReader`] | reads each object into a buffer of its own |
//! | [`FileMap`] | reads objects in place, in a private map or in a copy of the file |
//!
//! The page `files` of the [`guide`](crate::guide) has examples. A [`FileError`] states the fault,
//! its position and the remedy.
//!
//! # The format
//!
//! Integers are little-endian. Places are byte offsets from the start of the file. Checksums are
//! XXH3-64 without a seed.
//!
//! ```text
//! 0        header, 512 bytes: `jstfile`, the version (1), zeroes
//! 512      commit, 512 bytes
//! 1024     commit, 512 bytes
//! 1536..   blocks, each at a multiple of 128; zeroes between them
//! ```
//!
//! A *commit* describes the contents of the file:
//!
//! ```text
//! 0    generation: u64
//! 8    end: u64         end of the last block; at least 1536, at most the file's length
//! 16   index: u64       place of the newest chunk of the index, 0 for none
//! 24   schemas: u64     place of the schema directory, 0 for none
//! 32   count: u64       number of objects; 0 if and only if `index` is 0
//! 40   sum: u64         checksum of the 40 bytes before
//! 48   zeroes
//! ```
//!
//! A commit with a wrong checksum or nonzero padding is ignored. Of two valid commits, the one with
//! the higher generation is current. A new file has one commit, with generation 1, in the first
//! sector. An append writes its blocks from `end` on and syncs them. It then writes the next
//! generation into the sector of the commit that is not current, and syncs again. After a crash, at
//! least one commit is therefore intact, and everything that it refers to is on the device. Bytes
//! behind `end` are ignored.
//!
//! A *block* is one of the following, and never changes:
//!
//! - An object: a message as it is sent, with its header. The places of objects ascend with their
//!   numbers.
//! - A schema: the encoding of a type's structure ([`Schema::to_bytes`]), whose checksum is the
//!   descriptor. The file has the schemas of the types of roots and of the classes of trait
//!   objects, each once. The schemas of an object that was stored without being read may be
//!   missing.
//! - A schema directory:
//!
//! ```text
//! 0    `jss`, 1: 4 bytes; 0: u32
//! 8    count: u64, at most 65,536
//! 16   for each schema its descriptor, place and length in bytes: 3 x u64
//! ..   sum: u64         checksum of everything before; schemas lie before their directory
//! ```
//!
//! - A chunk of the index, which has the entries of objects with consecutive numbers:
//!
//! ```text
//! 0    `jsx`, 1: 4 bytes; 0: u32
//! 8    previous: u64    place of the previous chunk, which is lower, or 0 for none
//! 16   first: u64       number of the chunk's first object: `first` plus `count` of the previous
//!                       chunk, or 0 if there is none
//! 24   count: u64       number of entries, at least 1
//! 32   sum: u64         checksum of the 32 bytes before
//! 40   the entries, 40 bytes each
//! ```
//!
//! ```text
//! 0    place: u64       of the object, which lies before this chunk
//! 8    length: u64      in bytes
//! 16   descriptor: u64  of the root's type
//! 24   sum: u64         checksum of the object's bytes
//! 32   check: u64       checksum of the object's number, as u64, and the 32 bytes before
//! ```
//!
//! An object can therefore be found and checked without the rest of the index. The previous chunk
//! has at least twice as many entries: a new chunk absorbs the previous ones, newest first, as long
//! as the next has less than twice as many entries as the new chunk has by then. The number of
//! chunks, and of times that an entry is copied, is thus logarithmic in the number of objects.
//!
//! [`Schema::to_bytes`]: crate::schema::Schema::to_bytes

mod commit;
mod contents;
mod error;
mod format;
mod map;
mod output;
mod reader;
mod source;
mod summary;
mod target;
mod verify;
mod writer;

pub use contents::Entry;
pub use error::FileError;
pub use map::FileMap;
pub use reader::{FileReader, Objects, ReadOptions};
pub use summary::{ChunkInfo, CommitInfo, Slot, Summary};
pub use writer::{FileWriter, WriteOptions};
