//! Objects in place: in a private map of a file, or in a copy of it in memory.
//!
//! Invariants of a [`FileMap`]:
//! 1. The `len` bytes from `base` on are initialised, aligned to [`ALIGNMENT`] and reached only
//!    through this map, as long as it lives.
//! 2. Only passes write to these bytes, and no two passes get bytes in common: the bytes of a pass
//!    are entered in `taken` before it begins, and entries are disjoint and never removed.
//! 3. The root of an entry is a valid object of the type of its key, inside the entry's bytes.
//! 4. An object of another version is converted, and lies in a buffer of its own. The buffers are
//!    never removed while the map lives.
//!
//! Decision 057 has the reasons.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt;
#[cfg(target_os = "linux")]
use std::fs::File;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use memmap2::{MmapOptions, MmapRaw};
use xxhash_rust::xxh3::xxh3_64;

use super::contents::{Contents, Entry};
use super::error::FileError;
use super::reader::{ReadOptions, assert_len, assert_type};
#[cfg(feature = "evolve")]
use super::reader::{convert_object, is_other_version};
use super::source::Source;
#[cfg(doc)]
use crate::buffer::ALIGNMENT;
#[cfg(feature = "evolve")]
use crate::buffer::EmptyBuffer;
use crate::buffer::MessageBuffer;
use crate::model::{Covariant, Transportable};
use crate::read::Reader;
use crate::schema::{Schema, TypeIndex};
use crate::wire::{in_memory, root_offset};

/// The objects of a file, read in place. Each object is validated and made native on first access.
///
/// The memory is either a private map or a copy of the whole file. Of a private map, the system
/// copies the pages that hold pointers of objects that were read: few for large arrays and long
/// text, but all for small records with pointers. Other processes do not see the changes.
///
/// Because threads may share a map, it returns only forms that are `Send`, `Sync` and covariant.
/// [`FileReader`](super::FileReader) supports all forms.
///
/// The map validates one object at a time, under a lock. A function of the program that is called
/// during validation cannot request another object of the same map ([`FileError::Checking`]), and
/// should not wait for a thread that does.
pub struct FileMap {
    memory: Memory,
    /// Length in bytes.
    len: usize,
    /// Number of objects.
    count: u64,
    state: Mutex<State>,
    /// Identifier of the thread that holds the lock (see [`thread_number`]), or 0.
    holder: AtomicUsize,
}

enum Memory {
    Map(MmapRaw),
    Copy(MessageBuffer),
}

struct State {
    contents: Contents,
    options: ReadOptions,
    reader: Reader,
    /// The byte ranges that belong to objects, by start.
    taken: BTreeMap<usize, Taken>,
    /// The converted objects, by the number of the object and the type of the form.
    #[cfg(feature = "evolve")]
    converted: BTreeMap<(u64, TypeId), ConvertedObject>,
    /// Total length of the converted objects in bytes.
    #[cfg(feature = "evolve")]
    converted_bytes: usize,
}

/// An object of another version, in a buffer of its own. The buffer is only kept.
#[cfg(feature = "evolve")]
struct ConvertedObject {
    _buffer: EmptyBuffer,
    root: NonNull<()>,
}

// SAFETY: the buffer is owned memory, into which `root` leads. The object is lent only as a form
// that is `Send` and `Sync`, by `FileMap::get`.
#[cfg(feature = "evolve")]
unsafe impl Send for ConvertedObject {}

/// Type of the file system of huge-page memory files (`HUGETLBFS_MAGIC`).
#[cfg(target_os = "linux")]
const HUGE: rustix::fs::FsWord = 0x9584_58f6;

/// A byte range that was given to a pass.
struct Taken {
    end: usize,
    /// The form's type and the root's offset; `None` if the pass failed or is in progress.
    root: Option<(TypeId, usize)>,
}

impl FileMap {
    /// Maps a file privately. Opening the file and reading an object take time and memory in
    /// proportion to the data that is accessed, not to the size of the file. [`ReadOptions::pool`]
    /// is not used.
    ///
    /// # Errors
    ///
    /// As for [`FileReader::open`](super::FileReader::open).
    ///
    /// # Safety
    ///
    /// As long as the map lives, no process may truncate the file or change a byte that was
    /// committed when the map was opened. [`FileWriter`](super::FileWriter) does neither: it only
    /// appends, or replaces the file by a new one. (It truncates data that was not committed.)
    pub unsafe fn open(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FileError> {
        let contents = Contents::read(Source::open(path.as_ref())?)?;
        // SAFETY: the caller promises that committed bytes are neither changed nor truncated.
        unsafe { Self::of_file(contents, options) }
    }

    /// # Safety
    ///
    /// As long as the map lives, no process may change or truncate the committed bytes of the file.
    unsafe fn of_file(contents: Contents, options: ReadOptions) -> Result<Self, FileError> {
        let len = in_memory(contents.commit.end);
        let Some(file) = contents.source.file() else {
            unreachable!("opened as a file");
        };
        let mut mapping = MmapOptions::new();
        // Few pages are ever written, so the system need not reserve memory for all of them.
        mapping.len(len).no_reserve_swap();
        // SAFETY: the map is private, so that other processes see none of its changes, and the
        // caller promises that other processes do not change the mapped bytes.
        let map = unsafe { mapping.map_copy(file) };
        let map = map.map_err(FileError::system("mapping", contents.source.path()))?;
        Ok(Self::new(Memory::Map(map.into()), len, contents, options))
    }

    /// Maps a memory file that can no longer be changed or truncated: it must have the seals
    /// `WRITE` and `SHRINK`, which cannot be removed. Otherwise as [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// [`FileError::NotSealed`] if one of the seals is missing, [`FileError::HugePages`] for a
    /// memory file of huge pages; otherwise as for [`open`](Self::open).
    #[cfg(target_os = "linux")]
    pub fn sealed(file: File, options: ReadOptions) -> Result<Self, FileError> {
        use rustix::fs::{SealFlags, fcntl_get_seals};

        // A file that is not a memory file has no seals.
        let seals = fcntl_get_seals(&file).unwrap_or(SealFlags::empty());
        for (seal, missing) in [
            (SealFlags::WRITE, "the seal WRITE"),
            (SealFlags::SHRINK, "the seal SHRINK"),
        ] {
            if !seals.contains(seal) {
                return Err(FileError::NotSealed { missing });
            }
        }
        // If no huge page is left for a private copy, the system kills the program.
        let system = rustix::fs::fstatfs(&file);
        let system = system.map_err(|error| FileError::system("examining", "")(error.into()))?;
        if system.f_type == HUGE {
            return Err(FileError::HugePages);
        }
        let contents = Contents::read(Source::of_file(file, Path::new(""))?)?;
        // SAFETY: the seals were checked above: no byte of the file changes, and the file does not
        // get shorter.
        unsafe { Self::of_file(contents, options) }
    }

    /// Reads the whole file into memory, at most [`Limits::bytes`](crate::Limits::bytes).
    ///
    /// # Errors
    ///
    /// - [`FileError::TooLong`] if the file is longer than the limit; its `number` is the number of
    ///   objects
    /// - [`FileError::Pool`] if the pool has no buffer, [`FileError::System`] if the heap has no
    ///   memory
    /// - otherwise as for [`FileReader::open`](super::FileReader::open)
    pub fn copied(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FileError> {
        Self::copy(Contents::read(Source::open(path.as_ref())?)?, options)
    }

    /// Like [`copied`](Self::copied), for a file whose bytes are in memory.
    ///
    /// # Errors
    ///
    /// As for [`copied`](Self::copied).
    pub fn from_bytes(bytes: Vec<u8>, options: ReadOptions) -> Result<Self, FileError> {
        Self::copy(Contents::read(Source::of_bytes(bytes))?, options)
    }

    fn copy(contents: Contents, options: ReadOptions) -> Result<Self, FileError> {
        let len = in_memory(contents.commit.end);
        if len > options.limits.bytes {
            return Err(FileError::TooLong {
                number: contents.commit.count,
                len: contents.commit.end,
                limit: options.limits.bytes,
            });
        }
        let into = contents.source.room(len, options.pool.as_ref())?;
        let (filled, _) = contents.source.fill(into.writer(), len, 0, false)?;
        Ok(Self::new(Memory::Copy(filled), len, contents, options))
    }

    fn new(memory: Memory, len: usize, contents: Contents, options: ReadOptions) -> Self {
        Self {
            memory,
            len,
            count: contents.commit.count,
            holder: AtomicUsize::new(0),
            state: Mutex::new(State {
                contents,
                reader: Reader::new(options.limits),
                options,
                taken: BTreeMap::new(),
                #[cfg(feature = "evolve")]
                converted: BTreeMap::new(),
                #[cfg(feature = "evolve")]
                converted_bytes: 0,
            }),
        }
    }

    /// Returns the number of objects.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
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
    /// As for [`FileReader::entry`](super::FileReader::entry).
    pub fn entry(&self, number: u64) -> Result<Entry, FileError> {
        self.lock()?.state.contents.entry(number)
    }

    /// Returns the stored structure of the type with this descriptor, or `None` if the file does
    /// not have it.
    ///
    /// # Errors
    ///
    /// As for [`FileReader::schema`](super::FileReader::schema).
    pub fn schema(&self, descriptor: u64) -> Result<Option<(Schema, TypeIndex)>, FileError> {
        self.lock()?.state.contents.schema(descriptor)
    }

    /// Returns an object. The first access validates it and makes it native; later ones return the
    /// same reference. An object of another version of the type is converted into a buffer that the
    /// map holds, up to [`ReadOptions::converted`] in total.
    ///
    /// # Errors
    ///
    /// As for [`FileReader::read`](super::FileReader::read), and:
    ///
    /// - [`FileError::Taken`] if an earlier read of the object failed, if it was read as another
    ///   type, or if it shares bytes with another object that was read
    /// - [`FileError::Checking`] if the calling thread is validating an object of this map
    /// - [`FileError::ConvertedFull`] if the object is of another version, and the map holds too
    ///   many converted objects
    pub fn get<'m, T>(&'m self, number: u64) -> Result<&'m T::InPlace<'m>, FileError>
    where
        T: Transportable + Covariant + 'static,
        for<'x> T::InPlace<'x>: Send + Sync,
    {
        let root = self.lock()?.state.root::<T>(self.base(), number)?;
        let root = root.cast::<T::InPlace<'m>>();
        // SAFETY: it is a valid object of this form (invariant 3), to which nothing writes any more
        // (invariants 2 and 4), as long as the map lives, which is at least `'m`. No shorter-lived
        // reference can be stored in it, since its form is covariant. The form is `Sync`, so that
        // threads may share it.
        Ok(unsafe { root.as_ref() })
    }

    /// Returns an iterator over all objects, which must be of one type. Each object is read when
    /// the iterator reaches it.
    pub fn iter<'m, T>(
        &'m self,
    ) -> impl Iterator<Item = Result<&'m T::InPlace<'m>, FileError>> + use<'m, T>
    where
        T: Transportable + Covariant + 'static,
        for<'x> T::InPlace<'x>: Send + Sync,
    {
        (0..self.len()).map(|number| self.get::<T>(number))
    }

    /// Returns true if `value` lies entirely inside the map.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, value: &T) -> bool {
        let at = ptr::from_ref(value).cast::<u8>().addr();
        at.checked_sub(self.base().addr().get())
            .and_then(|offset| offset.checked_add(size_of_val(value)))
            .is_some_and(|end| end <= self.len)
    }

    fn base(&self) -> NonNull<u8> {
        match &self.memory {
            Memory::Map(map) => {
                NonNull::new(map.as_mut_ptr()).expect("a mapping is not at address 0")
            }
            Memory::Copy(filled) => filled.base(),
        }
    }

    /// Locks the state. A panic of the program during a pass does not poison the map: the bytes of
    /// that pass stay marked as taken.
    fn lock(&self) -> Result<Locked<'_>, FileError> {
        let thread_number = thread_number();
        // Relaxed is sufficient: a thread sees its own store, and the stores of other threads never
        // equal `thread_number`.
        if self.holder.load(Relaxed) == thread_number {
            return Err(FileError::Checking);
        }
        let state = jstream_sync::lock(&self.state);
        self.holder.store(thread_number, Relaxed);
        Ok(Locked {
            state,
            holder: &self.holder,
        })
    }
}

/// Guard of the state, which also clears `holder`.
struct Locked<'m> {
    state: MutexGuard<'m, State>,
    holder: &'m AtomicUsize,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Fields are dropped after this, so the mutex is still locked.
        self.holder.store(0, Relaxed);
    }
}

/// Returns a nonzero number that is unique among the threads that are alive.
fn thread_number() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| ptr::from_ref(place).addr())
}

impl State {
    /// Returns an object's root, and reads the object if it was not read before. `base` is the
    /// map's.
    fn root<T>(&mut self, base: NonNull<u8>, number: u64) -> Result<NonNull<()>, FileError>
    where
        T: Transportable + 'static,
    {
        let entry = self.contents.entry(number)?;
        let (start, at) = (in_memory(entry.place), entry.place);
        let len = in_memory(entry.len);
        // Every range has at least one byte, so that two objects with the same start overlap.
        let end = start.wrapping_add(len.max(1));
        let key = TypeId::of::<T::InPlace<'static>>();
        #[cfg(feature = "evolve")]
        if let Some(converted) = self.converted.get(&(number, key)) {
            return Ok(converted.root);
        }
        if let Some((from, before)) = self.taken.range(..end).next_back() {
            match before.root {
                Some((of, root)) if (*from, before.end, of) == (start, end, key) => {
                    // SAFETY: the root lies inside the memory.
                    return Ok(unsafe { base.add(root) }.cast());
                }
                _ if before.end > start => return Err(FileError::Taken { number, at }),
                _ => {}
            }
        }
        assert_type::<T>(&mut self.contents, &mut self.reader, &entry)?;
        assert_len(&self.contents, &entry, &self.options.limits)?;
        // SAFETY: the index was checked: the object lies before the committed end, where the memory
        // ends.
        let message = unsafe { base.add(start) };
        if self.options.checksums {
            // SAFETY: the bytes are initialised, and no pass has got any of them.
            let bytes = unsafe { slice::from_raw_parts(message.as_ptr().cast_const(), len) };
            if xxh3_64(bytes) != entry.hash {
                return Err(FileError::Checksum { number, at });
            }
        }
        #[cfg(feature = "evolve")]
        {
            // SAFETY: as above. Nothing writes to them before the pass below.
            let bytes = unsafe { slice::from_raw_parts(message.as_ptr().cast_const(), len) };
            if is_other_version::<T>(&mut self.contents, &mut self.reader, &entry, bytes)? {
                return self.convert::<T>(&entry, bytes);
            }
        }
        self.taken.insert(start, Taken { end, root: None });
        // SAFETY: the map's base is aligned to a page or to the alignment of buffers, and blocks
        // begin at multiples of 128. The pointer has the provenance of the map. No pass has got any
        // of these bytes before, and none will: their range has just been entered, and the map is
        // locked.
        let read = unsafe { self.reader.read_in_place::<T>(message, len) };
        read.map_err(|error| FileError::Object { number, at, error })?;
        let root = start.wrapping_add(root_offset::<T::InPlace<'static>>());
        if let Some(taken) = self.taken.get_mut(&start) {
            taken.root = Some((key, root));
        }
        // SAFETY: the root lies inside the object.
        Ok(unsafe { base.add(root) }.cast())
    }

    /// Converts an object of another version, and returns its root.
    #[cfg(feature = "evolve")]
    #[cold]
    fn convert<T>(&mut self, entry: &Entry, bytes: &[u8]) -> Result<NonNull<()>, FileError>
    where
        T: Transportable + 'static,
    {
        let converted = convert_object::<T>(&self.contents, &mut self.reader, entry, bytes)?;
        let limit = self.options.converted;
        let total = self.converted_bytes.saturating_add(converted.len());
        if total > limit {
            let number = entry.number;
            return Err(FileError::ConvertedFull { number, limit });
        }
        let (base, len) = (converted.base(), converted.len());
        // Nothing reads the bytes from here on.
        let buffer = converted.into_empty();
        // SAFETY: a buffer is aligned to 128. Its first `len` bytes are initialised and reached
        // only through it, and it is only kept from here on: for as long as the map lives if the
        // pass succeeds, and else until it is dropped below.
        let read = unsafe { self.reader.read_in_place::<T>(base, len) };
        read.map_err(|error| FileError::Object {
            number: entry.number,
            at: entry.place,
            error,
        })?;
        // SAFETY: the root lies inside the message.
        let root = unsafe { base.add(root_offset::<T::InPlace<'static>>()) }.cast();
        let object = ConvertedObject {
            _buffer: buffer,
            root,
        };
        let key = TypeId::of::<T::InPlace<'static>>();
        self.converted.insert((entry.number, key), object);
        self.converted_bytes = total;
        Ok(root)
    }
}

impl fmt::Debug for FileMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileMap")
            .field("bytes", &self.len)
            .field("objects", &self.len())
            .finish_non_exhaustive()
    }
}
