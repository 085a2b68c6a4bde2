//! Objects in place: in a map of a file, or in memory that holds all of it.
//!
//! Invariants of a [`FileMap`]:
//! 1. The `len` bytes from `base` on are initialised, aligned to [`ALIGNMENT`] and reached through this
//!    map alone, as long as it lives.
//! 2. Nothing but a pass writes to them, and no two passes get bytes in common: what a pass gets is
//!    entered in `taken` before it begins, and entries are disjoint and never removed.
//! 3. An entry's root is a valid object of the type of its key, inside the entry's bytes.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use memmap2::{MmapOptions, MmapRaw};
use xxhash_rust::xxh3::xxh3_64;

use super::contents::{Contents, Entry};
use super::error::FileError;
use super::reader::{ReadOptions, assert_len, assert_type};
use super::source::Source;
#[cfg(doc)]
use crate::buffer::ALIGNMENT;
use crate::buffer::Filled;
use crate::model::{Covariant, Transportable};
use crate::read::Reader;
use crate::schema::{Schema, TypeIndex};
use crate::wire::in_memory;

/// The objects of a file where they lie, each made native when it is first asked for.
///
/// Objects are read in place on memory that nobody else sees changed: a private map, of which only
/// the pages that hold pointers are copied, or a copy of the whole file.
///
/// Only forms that are `Send` and `Sync` are handed out, as a map may be shared by threads, and only
/// covariant ones. For others there is [`FileReader`](super::FileReader).
///
/// One object is checked at a time. A function of the program that takes part in that can't ask the same
/// map for another object ([`FileError::Checking`]), and should not wait for a thread that does.
pub struct FileMap {
    memory: Memory,
    /// How many bytes there are.
    len: usize,
    /// How many objects there are.
    count: u64,
    state: Mutex<State>,
    /// The thread that has the lock: see [`here`]. 0 is none.
    holder: AtomicUsize,
}

enum Memory {
    Map(MmapRaw),
    Copy(Filled),
}

struct State {
    contents: Contents,
    options: ReadOptions,
    reader: Reader,
    /// The bytes that belong to objects, by where they start.
    taken: BTreeMap<usize, Taken>,
}

/// The type of the file system that memory files of huge pages are in.
#[cfg(target_os = "linux")]
const HUGE: rustix::fs::FsWord = 0x9584_58f6;

/// Bytes that a pass got.
struct Taken {
    end: usize,
    /// The form, and where it stands; `None` where the pass failed, or is under way.
    root: Option<(TypeId, usize)>,
}

impl FileMap {
    /// Maps a file privately. Opening it, and reading an object, takes time and memory for what is
    /// looked at, however large the file is. [`ReadOptions::pool`] is not used.
    ///
    /// # Errors
    ///
    /// As for [`FileReader::open`](super::FileReader::open).
    ///
    /// # Safety
    ///
    /// As long as the map lives, nobody may cut off or change a byte of what was committed when it was
    /// opened, in whatever way. [`FileWriter`](super::FileWriter) does neither: what is appended, and a
    /// new file that replaces this one, may be. (What it wrote without a commit, it does cut off.)
    pub unsafe fn open(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FileError> {
        let contents = Contents::of(Source::open(path.as_ref())?)?;
        // SAFETY: the caller promises that nobody changes or cuts off what was committed.
        unsafe { Self::of_file(contents, options) }
    }

    /// # Safety
    ///
    /// Nobody may change or cut off what is committed in the file, as long as the map lives.
    unsafe fn of_file(contents: Contents, options: ReadOptions) -> Result<Self, FileError> {
        let len = in_memory(contents.commit.end);
        let Some(file) = contents.source.file() else {
            unreachable!("opened as a file");
        };
        let mut how = MmapOptions::new();
        // Few pages are ever written to: the system need not set memory aside for all of them.
        how.len(len).no_reserve_swap();
        // SAFETY: the map is private, so that others see none of its changes, and the caller promises
        // that others don't change what it shows.
        let map = unsafe { how.map_copy(file) };
        let map = map.map_err(FileError::system("mapping", contents.source.path()))?;
        Ok(Self::new(Memory::Map(map.into()), len, contents, options))
    }

    /// Maps a memory file that nobody can change or shorten any more: it has the seals `WRITE` and
    /// `SHRINK`, which can't be taken away. Otherwise as [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// [`FileError::NotSealed`] where one of the seals is missing, [`FileError::HugePages`]; else as for [`open`](Self::open).
    #[cfg(target_os = "linux")]
    pub fn sealed(file: File, options: ReadOptions) -> Result<Self, FileError> {
        use rustix::fs::{SealFlags, fcntl_get_seals};

        // Of what is no memory file, there are none.
        let seals = fcntl_get_seals(&file).unwrap_or(SealFlags::empty());
        for (seal, missing) in [
            (SealFlags::WRITE, "the seal WRITE"),
            (SealFlags::SHRINK, "the seal SHRINK"),
        ] {
            if !seals.contains(seal) {
                return Err(FileError::NotSealed { missing });
            }
        }
        // The system ends a program that writes to its private map of these when none is left.
        let system = rustix::fs::fstatfs(&file);
        let system = system.map_err(|error| FileError::system("looking at", "")(error.into()))?;
        if system.f_type == HUGE {
            return Err(FileError::HugePages);
        }
        let contents = Contents::of(Source::of_file(file, Path::new(""))?)?;
        // SAFETY: the seals were seen above: no byte of the file changes, and it does not get shorter.
        unsafe { Self::of_file(contents, options) }
    }

    /// Reads all of a file into memory, at most [`Limits::bytes`](crate::Limits::bytes).
    ///
    /// # Errors
    ///
    /// [`FileError::TooLong`] when the file is longer, with the number of objects for that of an object;
    /// [`FileError::Pool`], or [`FileError::System`] when the heap has no room; else as for [`FileReader::open`](super::FileReader::open).
    pub fn copied(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FileError> {
        Self::copy(Contents::of(Source::open(path.as_ref())?)?, options)
    }

    /// As [`copied`](Self::copied), of the bytes of a file.
    ///
    /// # Errors
    ///
    /// As for [`copied`](Self::copied).
    pub fn from_bytes(bytes: Vec<u8>, options: ReadOptions) -> Result<Self, FileError> {
        Self::copy(Contents::of(Source::of_bytes(bytes))?, options)
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
        let (filled, _) = contents.source.fill(into.filling(), len, 0, false)?;
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
            }),
        }
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
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
    /// As for [`FileReader::entry`](super::FileReader::entry).
    pub fn entry(&self, number: u64) -> Result<Entry, FileError> {
        self.lock()?.state.contents.entry(number)
    }

    /// The structure of the type with this descriptor, as the file has it.
    ///
    /// # Errors
    ///
    /// As for [`FileReader::schema`](super::FileReader::schema).
    pub fn schema(&self, descriptor: u64) -> Result<Option<(Schema, TypeIndex)>, FileError> {
        self.lock()?.state.contents.schema(descriptor)
    }

    /// An object. It is checked when it is asked for the first time; afterwards it is what it was.
    ///
    /// # Errors
    ///
    /// As for [`FileReader::read`](super::FileReader::read), and [`FileError::Taken`] where the object
    /// could not be read before, was read as another type, or has bytes in common with another one;
    /// [`FileError::Checking`].
    pub fn get<'m, T>(&'m self, number: u64) -> Result<&'m T::InPlace<'m>, FileError>
    where
        T: Transportable + Covariant + 'static,
        for<'x> T::InPlace<'x>: Send + Sync,
    {
        let root = self.lock()?.state.root::<T>(self.base(), number)?;
        // SAFETY: the root lies inside the memory.
        let root = unsafe { self.base().add(root) }.cast::<T::InPlace<'m>>();
        // SAFETY: it is a valid object of this form (invariant 3), which nothing writes to any more
        // (2), for as long as the map lives, which is longer than `'m`. Nobody can store a
        // shorter-lived reference in it, since its form is covariant; and it may be shared by threads.
        Ok(unsafe { root.as_ref() })
    }

    /// All objects in turn, which are of one type, each read when it is asked for.
    pub fn iter<'m, T>(
        &'m self,
    ) -> impl Iterator<Item = Result<&'m T::InPlace<'m>, FileError>> + use<'m, T>
    where
        T: Transportable + Covariant + 'static,
        for<'x> T::InPlace<'x>: Send + Sync,
    {
        (0..self.len()).map(|number| self.get::<T>(number))
    }

    /// Whether `value` lies wholly inside the map.
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

    /// A panic of the program's in a pass leaves what it got as taken.
    fn lock(&self) -> Result<Locked<'_>, FileError> {
        let here = here();
        // What this thread wrote, it sees; what others write is never its own.
        if self.holder.load(Relaxed) == here {
            return Err(FileError::Checking);
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.holder.store(here, Relaxed);
        Ok(Locked {
            state,
            holder: &self.holder,
        })
    }
}

/// The state, for one thread.
struct Locked<'m> {
    state: MutexGuard<'m, State>,
    holder: &'m AtomicUsize,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // The lock is still there.
        self.holder.store(0, Relaxed);
    }
}

/// A number that no other thread has as long as this one is there, and that is not 0.
fn here() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| ptr::from_ref(place).addr())
}

impl State {
    /// Where the root of an object stands, which is read unless it was before. `base` is the map's.
    fn root<T>(&mut self, base: NonNull<u8>, number: u64) -> Result<usize, FileError>
    where
        T: Transportable + 'static,
    {
        let entry = self.contents.entry(number)?;
        let (start, at) = (in_memory(entry.place), entry.place);
        let len = in_memory(entry.len);
        // No entry of the index is of nothing, so that two objects which begin alike overlap.
        let end = start.wrapping_add(len.max(1));
        let key = TypeId::of::<T::InPlace<'static>>();
        if let Some((from, before)) = self.taken.range(..end).next_back() {
            match before.root {
                Some((of, root)) if (*from, before.end, of) == (start, end, key) => {
                    return Ok(root);
                }
                _ if before.end > start => return Err(FileError::Taken { number, at }),
                _ => {}
            }
        }
        assert_type::<T>(&mut self.contents, &mut self.reader, &entry)?;
        assert_len(&self.contents, &entry, &self.options.limits)?;
        // SAFETY: the index was checked: the object lies before the committed end, up to which the
        // memory goes.
        let message = unsafe { base.add(start) };
        if self.options.checksums {
            // SAFETY: the bytes are initialised, and no pass has got any of them.
            let bytes = unsafe { slice::from_raw_parts(message.as_ptr().cast_const(), len) };
            if xxh3_64(bytes) != entry.hash {
                return Err(FileError::Checksum { number, at });
            }
        }
        self.taken.insert(start, Taken { end, root: None });
        // SAFETY: the map's base is aligned to a page or a jbuf's alignment, and blocks begin at
        // multiples of 128; provenance is that of the map. No pass has got any of these bytes before,
        // and none will: they have just been entered, and the map is locked.
        let root = unsafe { self.reader.read_in_place::<T>(message, len) };
        let root = root.map_err(|error| FileError::Object { number, at, error })?;
        let root = root.addr().get().wrapping_sub(base.addr().get());
        if let Some(taken) = self.taken.get_mut(&start) {
            taken.root = Some((key, root));
        }
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
