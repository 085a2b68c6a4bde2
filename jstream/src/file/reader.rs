//! Reading objects into buffers.

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::path::Path;

use super::contents::{Contents, Entry};
use super::error::FileError;
use super::source::{Ahead, Source};
use super::summary::Summary;
use super::verify::assert_header;
#[cfg(feature = "evolve")]
use crate::buffer::ALIGNMENT;
use crate::buffer::{EmptyBuffer, MessageBuffer, Pool};
#[cfg(feature = "evolve")]
use crate::model::InPlace;
use crate::model::Transportable;
use crate::read::{Limits, Reader};
use crate::received::Received;
use crate::schema::{Schema, TypeIndex};
use crate::wire::{HEADER_LEN, Header, in_memory};
use xxhash_rust::xxh3::xxh3_64;

/// Options of reading a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Verify each object's checksum before reading the object (default true). Without it, every
    /// message that fits the type is accepted, as from a network; the structure is validated in any
    /// case, so this does not affect memory safety. The checksums of the index are always verified.
    pub checksums: bool,
    /// Limits on each object.
    pub limits: Limits,
    /// Maximum total length in bytes of the objects of other versions that a
    /// [`FileMap`](super::FileMap) holds, because it lends them as long as it lives (default
    /// 256 MiB).
    pub converted: usize,
    /// Pool for the objects' buffers (default: the heap).
    pub pool: Option<Pool>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            checksums: true,
            limits: Limits::default(),
            converted: 256 << 20,
            pool: None,
        }
    }
}

/// For objects of at least this many bytes, the message header is checked before memory is
/// allocated.
const LOOKED_AT: u64 = 64 << 10;

/// Reads the objects of a file, each into a buffer of its own. Concurrent changes of the file
/// cannot affect objects that were read.
///
/// The reader sees the objects that were committed when the file was opened. Later commits do not
/// affect it until [`reload`](Self::reload) is called.
#[derive(Debug)]
pub struct FileReader {
    contents: Contents,
    options: ReadOptions,
    reader: Reader,
    next: u64,
    /// The number after that of the object read last.
    following: u64,
    ahead: Ahead,
}

impl FileReader {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Fails with a [`FileError`] if a system call fails, or the file is not a complete file of
    /// objects.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::open_with(path, ReadOptions::default())
    }

    /// Opens a file with the given options.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FileError> {
        Self::from_source(Source::open(path.as_ref())?, options)
    }

    /// Like [`open`](Self::open), for a file that is already open for reading, which may be a
    /// memory file.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn from_file(file: File, options: ReadOptions) -> Result<Self, FileError> {
        Self::from_source(Source::of_file(file, Path::new(""))?, options)
    }

    /// Like [`open`](Self::open), for a file whose bytes are in memory.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>, options: ReadOptions) -> Result<Self, FileError> {
        Self::from_source(Source::of_bytes(bytes), options)
    }

    fn from_source(source: Source, options: ReadOptions) -> Result<Self, FileError> {
        Ok(Self {
            contents: Contents::read(source)?,
            reader: Reader::new(options.limits),
            options,
            next: 0,
            following: u64::MAX,
            ahead: Ahead::default(),
        })
    }

    /// Switches to the newest commit, and returns true if objects were committed since the file was
    /// opened or last reloaded. New objects follow the old ones; [`position`](Self::position) does
    /// not change.
    ///
    /// If another file has replaced this one under its name, the other file is not considered.
    ///
    /// # Errors
    ///
    /// [`FileError::Damaged`] if the new commit does not extend the old contents; otherwise as for
    /// [`open`](Self::open). After an error the reader keeps its previous state.
    pub fn reload(&mut self) -> Result<bool, FileError> {
        let is_newer = self.contents.reload()?;
        if is_newer {
            self.ahead = Ahead::default();
        }
        Ok(is_newer)
    }

    /// Returns the file's commits and the chunks of its index, as of when the file was opened or
    /// [reloaded](Self::reload).
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.contents.summary()
    }

    /// Returns the number of objects.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.contents.commit.count
    }

    /// Returns true if the file has no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the place, length and descriptor of an object without reading the object.
    ///
    /// # Errors
    ///
    /// [`FileError::NoObject`] if there is no such object, [`FileError::Damaged`] if the index is
    /// wrong.
    pub fn entry(&mut self, number: u64) -> Result<Entry, FileError> {
        self.contents.entry(number)
    }

    /// Returns the stored structure of the type with this descriptor, or `None` if the file does
    /// not have it.
    ///
    /// # Errors
    ///
    /// [`FileError::Damaged`] or [`FileError::Schema`] if the directory or the schema is not valid.
    pub fn schema(&self, descriptor: u64) -> Result<Option<(Schema, TypeIndex)>, FileError> {
        self.contents.schema(descriptor)
    }

    /// Returns the descriptors of the types whose schemas are in the file, in ascending order.
    ///
    /// # Errors
    ///
    /// [`FileError::Damaged`] if the schema directory is not valid.
    pub fn descriptors(&self) -> Result<Vec<u64>, FileError> {
        Ok(self.contents.directory()?.into_keys().collect())
    }

    /// Returns the number of the object that [`next`](Self::next) reads.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Sets the number of the object that [`next`](Self::next) reads.
    pub fn seek(&mut self, number: u64) {
        self.next = number;
    }

    /// Reads the next object; returns `None` after the last one. If an object cannot be read, the
    /// next call continues with the object after it.
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

    /// Returns an iterator over the objects from [`position`](Self::position) on, which must all be
    /// of one type. Each object is read when the iterator reaches it.
    pub fn iter<T: Transportable + 'static>(&mut self) -> Objects<'_, T> {
        Objects {
            reader: self,
            of: PhantomData,
        }
    }

    /// Reads an object. If it is of another version of the type, it is converted: see
    /// [`versions`](crate::guide::versions) in the guide.
    ///
    /// # Errors
    ///
    /// - [`FileError::Object`] if the object is of another type, or of a version that can't be
    ///   converted (the error lists the differences), or is not valid
    /// - [`FileError::Checksum`] if its bytes do not match the checksum
    /// - [`FileError::TooLong`] if it exceeds [`Limits::bytes`]
    /// - [`FileError::Pool`] if the pool has no buffer, [`FileError::System`] if the heap has no
    ///   memory
    /// - otherwise as for [`entry`](Self::entry)
    pub fn read<T>(&mut self, number: u64) -> Result<Received<T>, FileError>
    where
        T: Transportable + 'static,
    {
        let entry = self.entry_of::<T>(number)?;
        let into = self.jbuf_for(&entry)?;
        self.read_entry(&entry, into)
    }

    /// Like [`read`](Self::read), into a buffer of the caller, or into a larger one if it is too
    /// small.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read); the buffer is dropped.
    pub fn read_into<T>(&mut self, number: u64, into: EmptyBuffer) -> Result<Received<T>, FileError>
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

    /// Returns the message of an object as it is stored, without reading it: to forward it, or to
    /// store it in another file ([`FileWriter::push_message`](super::FileWriter::push_message)).
    ///
    /// # Errors
    ///
    /// - [`FileError::Checksum`] if its bytes do not match the checksum
    /// - [`FileError::Damaged`] if they are not a message of the type in the index
    /// - [`FileError::TooLong`], [`FileError::Pool`], and as for [`entry`](Self::entry)
    pub fn message(&mut self, number: u64) -> Result<MessageBuffer, FileError> {
        let entry = self.contents.entry(number)?;
        assert_len(&self.contents, &entry, &self.options.limits)?;
        let into = self.jbuf_for(&entry)?;
        let filled = self.fill(&entry, into)?;
        // `Contents::entry` rejects entries that are shorter than a header.
        let header = Header::at_start_of(filled.as_bytes());
        let header = header.unwrap_or(Header::of_bytes([0; HEADER_LEN]));
        assert_header(&header, &entry)?;
        Ok(filled)
    }

    fn jbuf_for(&self, entry: &Entry) -> Result<EmptyBuffer, FileError> {
        let (source, pool) = (&self.contents.source, self.options.pool.as_ref());
        source.room(in_memory(entry.len), pool)
    }

    /// Returns the entry of an object, after checking its type and length.
    fn entry_of<T>(&mut self, number: u64) -> Result<Entry, FileError>
    where
        T: Transportable + 'static,
    {
        let entry = self.contents.entry(number)?;
        assert_type::<T>(&mut self.contents, &mut self.reader, &entry)?;
        assert_len(&self.contents, &entry, &self.options.limits)?;
        Ok(entry)
    }

    fn read_entry<T>(&mut self, entry: &Entry, into: EmptyBuffer) -> Result<Received<T>, FileError>
    where
        T: Transportable + 'static,
    {
        let filled = self.fill(entry, into)?;
        let refused = |error| FileError::Object {
            number: entry.number,
            at: entry.place,
            error,
        };
        #[cfg(feature = "evolve")]
        if is_other_version::<T>(
            &mut self.contents,
            &mut self.reader,
            entry,
            filled.as_bytes(),
        )? {
            let bytes = filled.as_bytes();
            let converted = convert_object::<T>(&self.contents, &mut self.reader, entry, bytes)?;
            let read = self.reader.read_own(converted);
            let read = read.map(Received::mark_converted);
            return read.map_err(|failure| refused(failure.error));
        }
        let read = self.reader.read(filled);
        read.map_err(|failure| refused(failure.error))
    }

    /// Fills `into`, which has enough capacity, with an object's message, and verifies the
    /// checksum.
    fn fill(&mut self, entry: &Entry, into: EmptyBuffer) -> Result<MessageBuffer, FileError> {
        let (number, at) = (entry.number, entry.place);
        let len = in_memory(entry.len);
        let (source, wanted) = (&self.contents.source, self.options.checksums);
        let mut part = None;
        if number == self.following {
            let end = self.contents.commit.end;
            part = self.ahead.part(source, at, entry.len, end)?;
        }
        self.following = number.wrapping_add(1);
        let mut filling = into.writer();
        let (filled, sum) = match part {
            Some(part) => {
                if !filling.extend(part) {
                    unreachable!("the buffer was taken for this length");
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

    /// Verifies all checksums: of the index, the schemas and all objects. Memory does not depend on
    /// the file's size. The contents of the objects are not validated, as that requires their
    /// types.
    ///
    /// # Errors
    ///
    /// The first [`FileError`] in the order of the objects.
    pub fn verify(&mut self) -> Result<(), FileError> {
        super::verify::verify(&mut self.contents)
    }
}

/// Returns true if an object is of another version, or if its trait objects have classes of other
/// versions.
#[cfg(feature = "evolve")]
pub(super) fn is_other_version<T>(
    contents: &mut Contents,
    reader: &mut Reader,
    entry: &Entry,
    message: &[u8],
) -> Result<bool, FileError>
where
    T: Transportable + 'static,
{
    if reader.descriptor_of::<T::InPlace<'static>>() != entry.descriptor {
        return Ok(true);
    }
    if <T::InPlace<'static> as InPlace>::SHAPE.text_only {
        return Ok(false);
    }
    let key = typeid::of::<T::InPlace<'static>>();
    if !contents.has_other_class(key, &reader.own_classes::<T>()) {
        return Ok(false);
    }
    let mut classes = |class| contents.schema(class).ok().flatten();
    Ok(reader.has_other_class::<T>(message, ALIGNMENT, &mut classes))
}

/// Converts an object of another version, whose schema the reader has learnt. The schemas of its
/// classes are in the file.
#[cfg(feature = "evolve")]
pub(super) fn convert_object<T>(
    contents: &Contents,
    reader: &mut Reader,
    entry: &Entry,
    message: &[u8],
) -> Result<MessageBuffer, FileError>
where
    T: Transportable + 'static,
{
    let header = Header::at_start_of(message);
    assert_header(&header.unwrap_or(Header::of_bytes([0; HEADER_LEN])), entry)?;
    let mut failed = None;
    let mut classes = |class| match contents.schema(class) {
        Ok(found) => found,
        Err(error) => {
            failed = Some(error);
            None
        }
    };
    let converted = reader.convert::<T>(message, ALIGNMENT, entry.descriptor, &mut classes);
    match (converted, failed) {
        (Ok(converted), _) => Ok(converted),
        // The schema of a class could not be read, so the class is not known.
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(FileError::Object {
            number: entry.number,
            at: entry.place,
            error,
        }),
    }
}

/// Checks by the descriptor that an object is a `T`, or is of a version that can be converted to
/// it. The schema in the file is learnt for that, or for the error.
pub(super) fn assert_type<T>(
    contents: &mut Contents,
    reader: &mut Reader,
    entry: &Entry,
) -> Result<(), FileError>
where
    T: Transportable + 'static,
{
    // Most objects are of the type, or of a version that was learnt with an earlier object.
    // Learning takes time in proportion to the schema.
    if reader.takes::<T>(entry.descriptor) {
        return Ok(());
    }
    if let Ok(Some((schema, root))) = contents.schema(entry.descriptor) {
        // If the cache of schemas is full, the error is less detailed.
        let _ = reader.learn(&schema, root);
    }
    if reader.takes::<T>(entry.descriptor) {
        return Ok(());
    }
    reader
        .expect::<T>(entry.descriptor)
        .map_err(|error| FileError::Object {
            number: entry.number,
            at: entry.place,
            error,
        })
}

/// Checks that memory may be allocated for an object.
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
        // A sparse file can claim a long object at no cost, so the header is checked before
        // allocation.
        let mut bytes = [0; HEADER_LEN];
        contents.source.read(&mut bytes, entry.place)?;
        let header = Header::of_bytes(bytes);
        if header.message_len() != Some(len) {
            return Err(FileError::Damaged {
                details: "an object is not a valid message",
                at: entry.place,
            });
        }
    }
    Ok(())
}

/// Iterator over the objects of a file: see [`FileReader::iter`].
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
