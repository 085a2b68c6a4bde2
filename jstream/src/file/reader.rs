//! Reading objects into jbufs.

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

use super::contents::{Contents, Entry};
use super::error::FileError;
use super::source::{Ahead, Source};
use super::summary::Summary;
use super::verify::assert_header;
use crate::buffer::{Filled, Pool, Spent};
use crate::model::Transportable;
use crate::read::{Limits, Reader};
use crate::received::Received;
use crate::schema::{Schema, TypeIndex};
use crate::wire::{Header, in_memory};

/// How a file is read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Whether each object's checksum is compared before it is read (default true). Without it,
    /// whatever fits the type is accepted, as from a network: safety rests on the check of
    /// structure in any case. The index is always checked.
    pub checksums: bool,
    /// What is accepted of an object.
    pub limits: Limits,
    /// Where jbufs for objects come from (default: the heap).
    pub pool: Option<Pool>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            checksums: true,
            limits: Limits::default(),
            pool: None,
        }
    }
}

/// Objects of at least this many bytes are looked at before there is memory for them.
const LOOKED_AT: u64 = 64 << 10;

/// Reads the objects of a file, each into a jbuf of its own: nothing that others do to the file
/// meanwhile can do harm.
///
/// It sees what was committed when it was opened. Objects that are appended later don't disturb it;
/// [`reload`](Self::reload) makes it see them.
#[derive(Debug)]
pub struct FileReader {
    contents: Contents,
    options: ReadOptions,
    reader: Reader,
    next: u64,
    /// The number that follows the object read last.
    following: u64,
    ahead: Ahead,
}

impl FileReader {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`FileError`] when the system refuses, or this is no whole file of objects.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::open_with(path, ReadOptions::default())
    }

    /// Opens a file with options of one's own.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FileError> {
        Self::of(Source::open(path.as_ref())?, options)
    }

    /// As [`open`](Self::open), of a file that is open to be read already, a memory file too.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn from_file(file: File, options: ReadOptions) -> Result<Self, FileError> {
        Self::of(Source::of_file(file, Path::new(""))?, options)
    }

    /// As [`open`](Self::open), of the bytes of a file.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>, options: ReadOptions) -> Result<Self, FileError> {
        Self::of(Source::of_bytes(bytes), options)
    }

    fn of(source: Source, options: ReadOptions) -> Result<Self, FileError> {
        Ok(Self {
            contents: Contents::of(source)?,
            reader: Reader::new(options.limits),
            options,
            next: 0,
            following: u64::MAX,
            ahead: Ahead::default(),
        })
    }

    /// Looks whether objects were committed since the file was opened, or this was last asked for: if so,
    /// they are there from now on, behind those that were. [`next`](Self::next) goes on where it was.
    ///
    /// What has got the file's name in the meantime is another file, and not looked at.
    ///
    /// # Errors
    ///
    /// [`FileError::Damaged`] when the file is no longer what it was, with more objects; else as for
    /// [`open`](Self::open). The reader sees what it saw before.
    pub fn reload(&mut self) -> Result<bool, FileError> {
        let is_newer = self.contents.reload()?;
        if is_newer {
            self.ahead = Ahead::default();
        }
        Ok(is_newer)
    }

    /// The file's commits, and the chunks of its index, as they were when it was opened or
    /// [reloaded](Self::reload).
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::of(&self.contents)
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.contents.commit.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Place, length and descriptor of an object, which is not read.
    ///
    /// # Errors
    ///
    /// [`FileError::NoObject`] where there is none, [`FileError::Damaged`] where the index is wrong.
    pub fn entry(&mut self, number: u64) -> Result<Entry, FileError> {
        self.contents.entry(number)
    }

    /// The structure of the type with this descriptor, as the file has it.
    ///
    /// # Errors
    ///
    /// [`FileError::Damaged`], [`FileError::Schema`].
    pub fn schema(&self, descriptor: u64) -> Result<Option<(Schema, TypeIndex)>, FileError> {
        self.contents.schema(descriptor)
    }

    /// The descriptors of the types that the file has schemas of, in ascending order.
    ///
    /// # Errors
    ///
    /// [`FileError::Damaged`].
    pub fn descriptors(&self) -> Result<Vec<u64>, FileError> {
        Ok(self.contents.directory()?.into_keys().collect())
    }

    /// The number of the object that [`next`](Self::next) reads.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Goes on with another object.
    pub fn seek(&mut self, number: u64) {
        self.next = number;
    }

    /// Reads the next object; `None` behind the last. One that can't be read is passed over by the
    /// next call.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    #[expect(
        clippy::should_implement_trait,
        reason = "each object may be of another type; `iter` is for those that are of one"
    )]
    pub fn next<T>(&mut self) -> Result<Option<Received<T>>, FileError>
    where
        T: Transportable + 'static,
    {
        if self.next >= self.len() {
            return Ok(None);
        }
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.read(number).map(Some)
    }

    /// Reads the objects from [`position`](Self::position) on, which all are of one type, each when
    /// it is asked for.
    pub fn iter<T: Transportable + 'static>(&mut self) -> Objects<'_, T> {
        Objects {
            reader: self,
            of: PhantomData,
        }
    }

    /// Reads an object.
    ///
    /// # Errors
    ///
    /// [`FileError::Object`] when it is of another type (the error says in what the types differ) or no
    /// valid object, [`FileError::Checksum`] when its bytes are not those that were written,
    /// [`FileError::TooLong`], [`FileError::Pool`], [`FileError::System`] when the heap has no room, and as for
    /// [`entry`](Self::entry).
    pub fn read<T>(&mut self, number: u64) -> Result<Received<T>, FileError>
    where
        T: Transportable + 'static,
    {
        let entry = self.entry_of::<T>(number)?;
        let into = self.jbuf_for(&entry)?;
        self.read_entry(&entry, into)
    }

    /// As [`read`](Self::read), into a jbuf of the program's, or a larger one if it is too small.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read); the jbuf is dropped then.
    pub fn read_into<T>(&mut self, number: u64, into: Spent) -> Result<Received<T>, FileError>
    where
        T: Transportable + 'static,
    {
        let entry = self.entry_of::<T>(number)?;
        let wanted = in_memory(entry.len);
        let into = if into.capacity() < wanted {
            self.contents.source.room(wanted, None)?
        } else {
            into
        };
        self.read_entry(&entry, into)
    }

    /// The message of an object as it stands in the file, unread: to be sent on, or stored elsewhere
    /// ([`FileWriter::push_message`](super::FileWriter::push_message)).
    ///
    /// # Errors
    ///
    /// [`FileError::Checksum`] when its bytes are not those that were written, [`FileError::Damaged`]
    /// when they are no message of the type that the index says, [`FileError::TooLong`],
    /// [`FileError::Pool`], and as for [`entry`](Self::entry).
    pub fn message(&mut self, number: u64) -> Result<Filled, FileError> {
        let entry = self.contents.entry(number)?;
        assert_len(&self.contents, &entry, &self.options.limits)?;
        let into = self.jbuf_for(&entry)?;
        let filled = self.fill(&entry, into)?;
        // No entry is of fewer bytes than a header has.
        let header = Header::read_from_prefix(filled.as_bytes());
        let header = header.map_or_else(|_| Header::new_zeroed(), |(header, _)| header);
        assert_header(&header, &entry)?;
        Ok(filled)
    }

    fn jbuf_for(&self, entry: &Entry) -> Result<Spent, FileError> {
        let (source, pool) = (&self.contents.source, self.options.pool.as_ref());
        source.room(in_memory(entry.len), pool)
    }

    /// The entry of an object that may be read as a `T`.
    fn entry_of<T>(&mut self, number: u64) -> Result<Entry, FileError>
    where
        T: Transportable + 'static,
    {
        let entry = self.contents.entry(number)?;
        assert_type::<T>(&mut self.contents, &mut self.reader, &entry)?;
        assert_len(&self.contents, &entry, &self.options.limits)?;
        Ok(entry)
    }

    fn read_entry<T>(&mut self, entry: &Entry, into: Spent) -> Result<Received<T>, FileError>
    where
        T: Transportable + 'static,
    {
        let filled = self.fill(entry, into)?;
        self.reader
            .read(filled)
            .map_err(|failure| FileError::Object {
                number: entry.number,
                at: entry.place,
                error: failure.error,
            })
    }

    /// Fills a jbuf, which has room for it, with an object's message, and compares its checksum.
    fn fill(&mut self, entry: &Entry, into: Spent) -> Result<Filled, FileError> {
        let (number, at) = (entry.number, entry.place);
        let len = in_memory(entry.len);
        let (source, wanted) = (&self.contents.source, self.options.checksums);
        let mut part = None;
        if number == self.following {
            let end = self.contents.commit.end;
            part = self.ahead.part(source, at, entry.len, end)?;
        }
        self.following = number.wrapping_add(1);
        let mut filling = into.filling();
        let (filled, sum) = match part {
            Some(part) => {
                if !filling.extend(part) {
                    unreachable!("the jbuf was taken for this length");
                }
                (filling.finish(), wanted.then(|| xxh3_64(part)))
            }
            None => source.fill(filling, len, at, wanted)?,
        };
        if sum.is_some_and(|sum| sum != entry.hash) {
            return Err(FileError::Checksum { number, at });
        }
        Ok(filled)
    }

    /// Compares everything with its checksum: the index, the schemas, and all objects. Memory does not
    /// depend on the file's size. What the objects mean is not looked at, as that takes their types.
    ///
    /// # Errors
    ///
    /// The first [`FileError`] in the order of the objects.
    pub fn verify(&mut self) -> Result<(), FileError> {
        super::verify::verify(&mut self.contents)
    }
}

/// That an object is a `T` by its descriptor; the error has the file's own schema.
pub(super) fn assert_type<T>(
    contents: &mut Contents,
    reader: &mut Reader,
    entry: &Entry,
) -> Result<(), FileError>
where
    T: Transportable + 'static,
{
    if reader.expect::<T>(entry.descriptor).is_ok() {
        return Ok(());
    }
    if let Ok(Some((schema, root))) = contents.schema(entry.descriptor) {
        // Without room for it the error says less.
        let _ = reader.learn(&schema, root);
    }
    reader
        .expect::<T>(entry.descriptor)
        .map_err(|error| FileError::Object {
            number: entry.number,
            at: entry.place,
            error,
        })
}

/// That there may be memory for an object.
pub(super) fn assert_len(
    contents: &Contents,
    entry: &Entry,
    limits: &Limits,
) -> Result<(), FileError> {
    let (number, len) = (entry.number, entry.len);
    if len > limits.bytes as u64 {
        return Err(FileError::TooLong {
            number,
            len,
            limit: limits.bytes,
        });
    }
    if len >= LOOKED_AT {
        // A hole in a file costs nothing, memory for it does.
        let mut header = Header::new_zeroed();
        contents.source.read(header.as_mut_bytes(), entry.place)?;
        if header.message_len() != Some(len) {
            return Err(FileError::Damaged {
                what: "no message stands where an object should",
                at: entry.place,
            });
        }
    }
    Ok(())
}

/// The objects of a file, one after another: see [`FileReader::iter`].
pub struct Objects<'r, T> {
    reader: &'r mut FileReader,
    of: PhantomData<fn() -> T>,
}

impl<T: Transportable + 'static> Iterator for Objects<'_, T> {
    type Item = Result<Received<T>, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reader.next().transpose()
    }
}

impl<T> fmt::Debug for Objects<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects")
            .field("next", &self.reader.next)
            .finish_non_exhaustive()
    }
}
