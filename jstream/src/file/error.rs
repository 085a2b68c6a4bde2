//! Why a file was not written or read.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::buffer::PoolError;
use crate::read::ReadError;
use crate::schema::SchemaError;
use crate::write::WriteError;

/// What prevented work on a file. Places are bytes from the file's start.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused something.
    System {
        /// What was being done.
        doing: &'static str,
        /// The file or folder; empty for one without a name.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else than a file with content of its own: a folder, a pipe, a device.
    Irregular {
        /// Its path; empty without a name.
        path: PathBuf,
    },
    /// Another program, or another writer of this one, is writing to the file.
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Does not begin as a file of objects does.
    Foreign {
        /// Its first eight bytes, zeroes where it is shorter.
        found: [u8; 8],
    },
    /// Written in another version of the format.
    Version {
        /// The version.
        found: u8,
    },
    /// Neither commit is whole.
    NoCommit,
    /// Shorter than its commit says.
    Truncated {
        /// The file's length.
        len: u64,
        /// What the length should be at least.
        end: u64,
    },
    /// What holds the file together is not as it was written.
    Damaged {
        /// What is wrong.
        what: &'static str,
        /// Where.
        at: u64,
    },
    /// An object is not as it was written.
    Checksum {
        /// The object's number.
        number: u64,
        /// Its place.
        at: u64,
    },
    /// An object with a number that the file does not have.
    NoObject {
        /// The number.
        number: u64,
        /// How many objects there are.
        count: u64,
    },
    /// An object is longer than [`Limits::bytes`](crate::Limits::bytes).
    TooLong {
        /// The object's number.
        number: u64,
        /// Its length in bytes.
        len: u64,
        /// The limit.
        limit: usize,
    },
    /// An object is not what it was to be read as.
    Object {
        /// The object's number.
        number: u64,
        /// Its place; offsets in the error count from there.
        at: u64,
        /// What is wrong with it.
        error: ReadError,
    },
    /// An object in place that was read as something else before, or could not be read.
    Taken {
        /// The object's number.
        number: u64,
        /// Its place.
        at: u64,
    },
    /// A schema is none.
    Schema {
        /// The descriptor that it should have.
        descriptor: u64,
        /// Its place.
        at: u64,
        /// What is wrong with it.
        error: SchemaError,
    },
    /// The pool has no jbuf for an object.
    Pool(PoolError),
    /// An object was not written.
    Write(WriteError),
    /// Bytes that were to be stored as a message are none.
    NoMessage {
        /// Their number.
        len: usize,
    },
    /// Memory that others could still change is not read in place.
    NotSealed {
        /// The seals that are missing.
        missing: &'static str,
    },
    /// A memory file of huge pages is not read in place: when a page of it is to be copied and the system has
    /// none left, it ends the program.
    HugePages,
    /// A file that was opened in a way in which objects can't be written into it.
    Mode {
        /// How.
        what: &'static str,
    },
    /// A function of the program that checks an object asked the map for another one.
    Checking,
    /// A writer that could not complete a commit does not know what the file holds.
    Abandoned,
}

impl FileError {
    /// What the system refused, while something was being done with a file.
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

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System {
                doing,
                path,
                source,
            } => {
                write!(f, "the system refused {doing}")?;
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
                "`{}` is being written to by somebody else; wait for them to end",
                path.display()
            ),
            Self::Foreign { found } => write!(
                f,
                "not a file of objects: it begins with {found:02x?}; was another one meant?"
            ),
            Self::Version { found } => write!(
                f,
                "a file of version {found} of the format, where 1 is understood; read it with the \
                 release that wrote it"
            ),
            Self::NoCommit => f.write_str(
                "the file has no whole commit (at 0x200 and 0x400): it was damaged after it was \
                 written; take a copy of it",
            ),
            Self::Truncated { len, end } => write!(
                f,
                "the file was cut off: it has {len} bytes of {end}; take a whole copy of it"
            ),
            Self::Damaged { what, at } => {
                write!(
                    f,
                    "the file is damaged: {what} (at {at:#x}); take a copy of it"
                )
            }
            Self::Checksum { number, at } => write!(
                f,
                "object {number} is not as it was written (at {at:#x}): its checksum differs; take \
                 a copy of the file"
            ),
            Self::NoObject { number, count } => {
                write!(f, "no object {number}: the file has {count}")
            }
            Self::TooLong { number, len, limit } => write!(
                f,
                "object {number} of {len} bytes is longer than Limits::bytes allows ({limit})"
            ),
            Self::Object { number, at, error } => {
                write!(f, "object {number} (at {at:#x}): ")?;
                fmt::Display::fmt(error, f)
            }
            Self::Taken { number, at } => write!(
                f,
                "object {number} (at {at:#x}) can't be read in place: its bytes belong to what was \
                 read before; open the file once more"
            ),
            Self::Schema {
                descriptor,
                at,
                error,
            } => write!(f, "the schema of {descriptor:#018x} (at {at:#x}): {error}"),
            Self::Pool(_) => f.write_str("no jbuf for an object"),
            Self::Write(error) => error.fmt(f),
            Self::NoMessage { len } => write!(f, "{len} bytes are no message, and are not stored"),
            Self::NotSealed { missing } => write!(
                f,
                "the memory may still be changed by others: it lacks {missing}; seal it, or read \
                 the file into memory"
            ),
            Self::HugePages => f.write_str(
                "memory of huge pages is not read in place, as one may be missing when it is needed; \
                 read the file into memory",
            ),
            Self::Mode { what } => write!(
                f,
                "the file was opened {what}; open it both to read and to write"
            ),
            Self::Checking => f.write_str(
                "a function that checks an object of the map can't ask the map for another one; \
                 compare them when both were read",
            ),
            Self::Abandoned => f.write_str(
                "a commit failed half-way, and what the file holds is not known; open it again",
            ),
        }
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            Self::Object { error, .. } => Some(error),
            Self::Schema { error, .. } => Some(error),
            Self::Pool(error) => Some(error),
            Self::Write(error) => error.source(),
            _ => None,
        }
    }
}

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
