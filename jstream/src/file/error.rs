//! Errors of reading and writing files.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::buffer::PoolError;
use crate::read::ReadError;
use crate::schema::SchemaError;
use crate::write::WriteError;

/// An error of work on a file. Places are byte offsets from the start of the file.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub enum FileError {
    /// A system call failed.
    System {
        /// The operation that failed.
        doing: &'static str,
        /// The file or folder; empty for a file without a name.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path names a folder, a pipe or a device instead of a regular file.
    Irregular {
        /// The path; empty for a file without a name.
        path: PathBuf,
    },
    /// Another program, or another writer of this program, is writing to the file.
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file does not begin with the magic number of files of objects.
    Foreign {
        /// The first eight bytes, padded with zeroes if the file is shorter.
        found: [u8; 8],
    },
    /// The file was written in another version of the format.
    Version {
        /// The version.
        found: u8,
    },
    /// Neither commit is valid.
    NoCommit,
    /// The file is shorter than its commit states.
    Truncated {
        /// The file's length.
        len: u64,
        /// The minimum length that the commit implies.
        end: u64,
    },
    /// The file's metadata (a commit, the index, a schema or a header) is damaged.
    Damaged {
        /// Description of the damage.
        details: &'static str,
        /// Place of the damage.
        at: u64,
    },
    /// An object's bytes do not match its checksum.
    Checksum {
        /// The object's number.
        number: u64,
        /// The object's place.
        at: u64,
    },
    /// The file has no object with the number that was requested.
    NoObject {
        /// The number.
        number: u64,
        /// The number of objects in the file.
        count: u64,
    },
    /// An object is longer than [`Limits::bytes`](crate::Limits::bytes).
    TooLong {
        /// The object's number.
        number: u64,
        /// The object's length in bytes.
        len: u64,
        /// The limit.
        limit: usize,
    },
    /// An object could not be read as the requested type.
    Object {
        /// The object's number.
        number: u64,
        /// The object's place; offsets in `error` are relative to it.
        at: u64,
        /// The error of the read.
        error: ReadError,
    },
    /// The bytes of an object in a map were already read as something else, or could not be read.
    Taken {
        /// The object's number.
        number: u64,
        /// The object's place.
        at: u64,
    },
    /// A map holds too many objects of other versions.
    #[cfg(feature = "evolve")]
    ConvertedFull {
        /// The object's number.
        number: u64,
        /// The limit in bytes, [`ReadOptions::converted`](super::ReadOptions::converted).
        limit: usize,
    },
    /// A schema could not be decoded.
    Schema {
        /// The descriptor of the schema's type.
        descriptor: u64,
        /// The schema's place.
        at: u64,
        /// The error of decoding it.
        error: SchemaError,
    },
    /// The pool has no buffer for an object.
    Pool(PoolError),
    /// An object could not be written.
    Write(WriteError),
    /// Bytes that were to be stored as a message are not a valid message.
    NoMessage {
        /// The number of bytes.
        len: usize,
    },
    /// Reading in place was refused because other processes could still change the memory.
    NotSealed {
        /// The seals that are missing.
        missing: &'static str,
    },
    /// Reading in place was refused because the memory file consists of huge pages. If the system
    /// has no huge page left when a page has to be copied, it kills the program.
    HugePages,
    /// The file was opened in a mode that does not allow objects to be written.
    Mode {
        /// The mode.
        details: &'static str,
    },
    /// A function of the program that validates an object of a map requested another object of that
    /// map.
    Checking,
    /// An earlier commit failed after it may have changed the file, so that the writer does not
    /// know the file's contents.
    Abandoned,
}

impl FileError {
    /// Returns a function that wraps an error of the system in a [`FileError::System`].
    pub(super) fn system(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::System {
            doing,
            path,
            source,
        }
    }
}

#[cfg(feature = "evolve")]
fn describe_full(f: &mut fmt::Formatter<'_>, number: u64, limit: usize) -> fmt::Result {
    write!(
        f,
        "object {number} is of another version, and with it the map would hold more than {limit} \
         bytes of converted objects (ReadOptions::converted); FileReader::read returns each in a \
         buffer of its own"
    )
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System {
                doing,
                path,
                source,
            } => {
                write!(f, "error {doing}")?;
                if !path.as_os_str().is_empty() {
                    write!(f, " {}", path.display())?;
                }
                write!(f, ": {source}")
            }
            Self::Irregular { path } => write!(
                f,
                "`{}` is a folder, a pipe or a device; name a file",
                path.display()
            ),
            Self::Locked { path } => write!(
                f,
                "`{}` is locked by another writer; wait until it is done",
                path.display()
            ),
            Self::Foreign { found } => write!(
                f,
                "not a file of objects: it begins with {found:02x?}; check the path"
            ),
            Self::Version { found } => write!(
                f,
                "the file has version {found} of the format, but only version 1 is supported; read it \
                 with the release that wrote it"
            ),
            Self::NoCommit => f.write_str(
                "the file has no valid commit (at 0x200 and 0x400): it was damaged after it was \
                 written; restore it from a copy",
            ),
            Self::Truncated { len, end } => write!(
                f,
                "the file is truncated: it has {len} of {end} bytes; restore it from a copy"
            ),
            Self::Damaged { details, at } => {
                write!(
                    f,
                    "the file is damaged: {details} (at {at:#x}); restore it from a copy"
                )
            }
            Self::Checksum { number, at } => write!(
                f,
                "object {number} (at {at:#x}) is damaged: its checksum does not match; restore the \
                 file from a copy"
            ),
            Self::NoObject { number, count } => {
                write!(f, "no object {number}: the file has {count} objects")
            }
            Self::TooLong { number, len, limit } => write!(
                f,
                "object {number} of {len} bytes exceeds the limit of {limit} bytes (Limits::bytes)"
            ),
            Self::Object { number, at, error } => {
                write!(f, "object {number} (at {at:#x}): ")?;
                fmt::Display::fmt(error, f)
            }
            Self::Taken { number, at } => write!(
                f,
                "object {number} (at {at:#x}) can't be read in place: its bytes were already read, \
                 as another object or type, or with an error; open the file again"
            ),
            #[cfg(feature = "evolve")]
            Self::ConvertedFull { number, limit } => describe_full(f, *number, *limit),
            Self::Schema {
                descriptor,
                at,
                error,
            } => write!(f, "the schema of {descriptor:#018x} (at {at:#x}): {error}"),
            Self::Pool(error) => write!(f, "an object can't be read: {error}"),
            Self::Write(error) => error.fmt(f),
            Self::NoMessage { len } => write!(f, "{len} bytes are not a valid message"),
            Self::NotSealed { missing } => write!(
                f,
                "other processes may still change the memory: it lacks {missing}; seal it, or read \
                 the file into memory"
            ),
            Self::HugePages => f.write_str(
                "a memory file of huge pages can't be read in place: the system may run out of huge \
                 pages; read the file into memory",
            ),
            Self::Mode { details } => write!(
                f,
                "the file was opened {details}; open it for reading and writing"
            ),
            Self::Checking => f.write_str(
                "a function that validates an object of the map can't request another one; compare \
                 them after both were read",
            ),
            Self::Abandoned => f.write_str(
                "an earlier commit failed, and the contents of the file are unknown; open it again",
            ),
        }
    }
}

impl Error for FileError {}

impl From<PoolError> for FileError {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

impl From<WriteError> for FileError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}
