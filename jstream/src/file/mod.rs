//! Files of objects: written one after another, appended to, and read in turn or by number.
//!
//! | type | does |
//! |---|---|
//! | [`FileWriter`] | makes a file, or adds to one; nothing counts before it is committed |
//! | [`FileReader`] | reads each object into a jbuf of its own |
//! | [`FileMap`] | reads objects where they lie: in a private map, or in a copy of the file |
//!
//! The page `files` of the [`guide`](crate::guide) shows how they are used. A [`FileError`] says what is
//! wrong, where, and what to do.
//!
//! # The format
//!
//! Integers are little-endian. Places count in bytes from the file's start. Sums are XXH3-64 without a
//! seed.
//!
//! ```text
//! 0        header, 512 bytes: `jstfile`, the version (1), zeroes
//! 512      commit, 512 bytes
//! 1024     commit, 512 bytes
//! 1536..   blocks, each at a multiple of 128; zeroes between them
//! ```
//!
//! A *commit* says what the file holds:
//!
//! ```text
//! 0    generation: u64
//! 8    end: u64         where the last block ends; at least 1536, at most the file's length
//! 16   index: u64       the place of the newest chunk of the index, 0 for none
//! 24   schemas: u64     the place of the schema directory, 0 for none
//! 32   count: u64       how many objects there are; 0 if and only if `index` is
//! 40   sum: u64         of the 40 bytes before
//! 48   zeroes
//! ```
//!
//! A commit whose sum or zeroes are wrong is none. Of two, the one with the higher generation counts.
//! A new file has one, with generation 1, in the first sector. What is appended is written from `end`
//! on, and synced; then the sector of the commit that does not count is written with the next
//! generation, and synced. So whatever is missing after a crash, one commit is whole, and what it
//! speaks of is there. Bytes behind `end` mean nothing.
//!
//! A *block* is one of these, and is never changed:
//!
//! - An object: a message as it is sent, with its header. The places of objects ascend with their
//!   numbers.
//! - A schema: the encoding of a type's structure ([`Schema::to_bytes`]), whose sum is the descriptor. Those
//!   of the types of roots and of the classes of trait objects are there, each once. An object that was
//!   stored unread may lack them.
//! - A schema directory:
//!
//! ```text
//! 0    `jss`, 1: 4 bytes; 0: u32
//! 8    count: u64, at most 65,536
//! 16   for each schema its descriptor, place and length in bytes: 3 x u64
//! ..   sum: u64         of all before; schemas lie before their directory
//! ```
//!
//! - A chunk of the index, which has the entries of objects with consecutive numbers:
//!
//! ```text
//! 0    `jsx`, 1: 4 bytes; 0: u32
//! 8    previous: u64    the place of the chunk before, which is lower, or 0 for none
//! 16   first: u64       the number of its first object: `first` and `count` of the chunk before
//!                       together, or 0 if there is none
//! 24   count: u64       how many entries it has, at least 1
//! 32   sum: u64         of the 32 bytes before
//! 40   the entries, 40 bytes each
//! ```
//!
//! ```text
//! 0    place: u64       of the object, which lies before this chunk
//! 8    length: u64      in bytes
//! 16   descriptor: u64  of its root's type
//! 24   sum: u64         of the object's bytes
//! 32   check: u64       the sum of the object's number, as u64, and the 32 bytes before
//! ```
//!
//! An object is thereby found and checked without the rest of the index. The chunk before has at least
//! twice as many entries: a new one takes in the entries of those before it that have less than twice as
//! many as it has itself by then. So there are few chunks, and an entry is copied a few times at most.
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
