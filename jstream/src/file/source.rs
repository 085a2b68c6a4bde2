//! Source of a file's bytes: an open file, which is read by copying, or bytes in memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::error::FileError;
use super::target;
use crate::buffer::{BufferWriter, EmptyBuffer, MessageBuffer, Pool};
use crate::wire::in_memory;

/// Number of bytes that are read before they are checksummed: few enough to be still in the cache.
const PIECE: usize = 256 << 10;

/// During sequential reads, objects of at most this many bytes are read ahead together.
const SMALL: u64 = 8 << 10;

/// Read-ahead buffer for small objects.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    at: u64,
    bytes: Vec<u8>,
}

impl Ahead {
    /// Number of bytes that are read at once.
    const LEN: usize = 64 << 10;

    /// Returns the `len` bytes at `at`, or `None` if they are too many for read-ahead. Nothing
    /// beyond `end` is read.
    pub(super) fn part(
        &mut self,
        source: &Source,
        at: u64,
        len: u64,
        end: u64,
    ) -> Result<Option<&[u8]>, FileError> {
        if len > SMALL {
            return Ok(None);
        }
        let behind = at.checked_sub(self.at);
        let is_buffered = behind
            .and_then(|behind| behind.checked_add(len))
            .is_some_and(|needed| needed <= self.bytes.len() as u64);
        if !is_buffered {
            let rest = usize::try_from(end.saturating_sub(at)).unwrap_or(Self::LEN);
            self.bytes.resize(rest.min(Self::LEN), 0);
            self.at = at;
            if let Err(error) = source.read(&mut self.bytes, at) {
                self.bytes.clear();
                return Err(error);
            }
        }
        let from = in_memory(at.wrapping_sub(self.at));
        let part = self.bytes.get(from..);
        Ok(part.and_then(|part| part.get(..in_memory(len))))
    }
}

#[derive(Debug)]
pub(super) struct Source {
    data: Data,
    path: PathBuf,
}

#[derive(Debug)]
enum Data {
    File(File),
    Bytes(Vec<u8>),
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let file = target::open(path).map_err(FileError::system("opening", path))?;
        Self::of_file(file, path)
    }

    /// Returns a source for a file that is open for reading. `path` is used in errors only.
    pub(super) fn of_file(file: File, path: &Path) -> Result<Self, FileError> {
        let path = path.to_owned();
        let about = file.metadata();
        match about {
            Ok(about) if about.is_file() => Ok(Self {
                data: Data::File(file),
                path,
            }),
            Ok(_) => Err(FileError::Irregular { path }),
            Err(error) => Err(FileError::system("getting the length of", path)(error)),
        }
    }

    pub(super) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self {
            data: Data::Bytes(bytes),
            path: PathBuf::new(),
        }
    }

    pub(super) fn file(&self) -> Option<&File> {
        match &self.data {
            Data::File(file) => Some(file),
            Data::Bytes(_) => None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length in bytes.
    pub(super) fn len(&self) -> Result<u64, FileError> {
        match &self.data {
            Data::File(file) => match file.metadata() {
                Ok(about) => Ok(about.len()),
                Err(error) => Err(self.refused("getting the length of")(error)),
            },
            Data::Bytes(bytes) => Ok(bytes.len() as u64),
        }
    }

    fn refused(&self, doing: &'static str) -> impl FnOnce(io::Error) -> FileError {
        FileError::system(doing, &self.path)
    }

    /// Fills `into` from offset `at`. If the file has fewer bytes by now, the error is
    /// [`FileError::Truncated`].
    pub(super) fn read(&self, into: &mut [u8], at: u64) -> Result<(), FileError> {
        match &self.data {
            Data::File(file) => {
                let result = file.read_exact_at(into, at);
                result.map_err(|error| self.failed(error, into.len(), at))
            }
            Data::Bytes(_) => {
                into.copy_from_slice(self.part(into.len(), at)?);
                Ok(())
            }
        }
    }

    /// Like [`read`](Self::read), but stops at the end of the file; returns the number of bytes
    /// read.
    pub(super) fn read_some(&self, into: &mut [u8], at: u64) -> Result<usize, FileError> {
        let len = self.len()?.saturating_sub(at);
        let len = into.len().min(usize::try_from(len).unwrap_or(usize::MAX));
        if let Some(into) = into.get_mut(..len) {
            self.read(into, at)?;
        }
        Ok(len)
    }

    /// Takes a buffer of `len` bytes, a length from the file, from the pool or the heap.
    pub(super) fn room(&self, len: usize, pool: Option<&Pool>) -> Result<EmptyBuffer, FileError> {
        match pool {
            Some(pool) => Ok(pool.take(len)?),
            None => EmptyBuffer::try_heap(len).ok_or_else(|| {
                let none = io::ErrorKind::OutOfMemory.into();
                self.refused("allocating memory for data of")(none)
            }),
        }
    }

    /// Fills a buffer that has capacity for `len` bytes from offset `at`. Also returns their
    /// checksum if it is `wanted`.
    pub(super) fn fill(
        &self,
        mut filling: BufferWriter,
        len: usize,
        at: u64,
        wanted: bool,
    ) -> Result<(MessageBuffer, Option<u64>), FileError> {
        let file = match &self.data {
            Data::File(file) => file,
            Data::Bytes(_) => {
                let part = self.part(len, at)?;
                if !filling.extend(part) {
                    unreachable!("the buffer was taken for this length");
                }
                return Ok((filling.finish(), wanted.then(|| xxh3_64(part))));
            }
        };
        let mut sum = (wanted && len > PIECE).then(Xxh3::new);
        while filling.len() < len {
            let done = filling.len();
            let piece = len.saturating_sub(done).min(PIECE);
            let from = at.saturating_add(done as u64);
            let into = filling.rest_mut().get_mut(..piece).unwrap_or_default();
            let read = match rustix::io::pread(file, into, from) {
                Ok((read, _)) => read.len(),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(self.refused("reading")(error.into())),
            };
            if read == 0 {
                return Err(self.failed(io::ErrorKind::UnexpectedEof.into(), len, at));
            }
            // SAFETY: `pread` has just initialised this many bytes at the start of the rest.
            unsafe { filling.advance(read) };
            if let Some(sum) = &mut sum {
                sum.update(filling.as_bytes().get(done..).unwrap_or_default());
            }
        }
        let filled = filling.finish();
        let sum = match sum {
            Some(sum) => Some(sum.digest()),
            None => wanted.then(|| xxh3_64(filled.as_bytes())),
        };
        Ok((filled, sum))
    }

    fn part(&self, len: usize, at: u64) -> Result<&[u8], FileError> {
        let Data::Bytes(bytes) = &self.data else {
            unreachable!("asked of bytes only");
        };
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        let part = bytes.get(start..).and_then(|rest| rest.get(..len));
        part.ok_or_else(|| self.failed(io::ErrorKind::UnexpectedEof.into(), len, at))
    }

    /// Converts an error of a read: an unexpected end means that the file was truncated.
    #[cold]
    fn failed(&self, error: io::Error, wanted: usize, at: u64) -> FileError {
        match self.len() {
            Ok(len) if error.kind() == io::ErrorKind::UnexpectedEof => FileError::Truncated {
                len,
                end: at.saturating_add(wanted as u64),
            },
            _ => self.refused("reading")(error),
        }
    }
}
