//! A mapping of memory.

use std::fmt;
use std::fs::File;
use std::io;
use std::mem::size_of_val;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use memmap2::{MmapOptions, MmapRaw};

/// Size in bytes of a huge page. The length of a region with huge pages is rounded up to a multiple
/// of it.
pub(super) const HUGE_PAGE: usize = 2 << 20;
/// Base-2 logarithm of `HUGE_PAGE`.
const HUGE_PAGE_BITS: u8 = 21;

/// The kind of memory behind a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Backing {
    /// Private memory that no other process can reach.
    #[default]
    Anonymous,
    /// A memory file, which other processes can be allowed to read: [`Region::share`]. Linux 5.1
    /// or later only.
    ///
    /// The file is sealed when it is created, before the region is used: its length is fixed, and
    /// nothing but the mapping of the region can write to it. So the system can't take back the
    /// pages of single free slots either ([`Pool::trim`](crate::Pool::trim)), only whole regions.
    ///
    /// Between the creation of the file and its last seal, which is a few system calls later, a
    /// process of the same user could open it in `/proc` and map it for writing, and would keep
    /// that mapping. Such a process must be trusted, as one that can attach to this process as a
    /// debugger must be. A child of `fork` shares the mapping of its parent, and must not use it.
    Memfd,
}

/// Options for mapping a [`Region`].
///
/// Huge pages and locking are best effort. If the system refuses them, the region is mapped without
/// them and reports the refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RegionOptions {
    /// The kind of memory (default: anonymous).
    pub backing: Backing,
    /// Requests pages of 2 MiB (default: false). If true, lengths are rounded up to a multiple of 2
    /// MiB.
    pub huge_pages: bool,
    /// Locks the memory, so that it is never swapped out (default: false). Locked memory is
    /// committed when it is mapped.
    pub locked: bool,
}

impl RegionOptions {
    /// Maps at least `len` bytes of zeroed memory.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it cannot map that much memory, `InvalidInput` if `len` is 0,
    /// and `Unsupported` for a memory file on a system that has none, or that can't keep others
    /// from writing to it (Linux before 5.1).
    pub fn map(&self, len: usize) -> io::Result<Region> {
        if len == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a region needs at least one byte",
            ));
        }
        let mut region = if self.huge_pages {
            let len = len
                .checked_next_multiple_of(HUGE_PAGE)
                .ok_or(io::ErrorKind::OutOfMemory)?;
            self.map_huge(len)?
        } else {
            let (map, memfd) = self.map_pages(len, false)?;
            Region::new(map, memfd)
        };
        if self.locked {
            region.lock_refused = lock_pages(&region.map).err();
            region.locked = region.lock_refused.is_none();
        }
        Ok(region)
    }

    /// Maps with reserved huge pages. If there are none, falls back to transparent huge pages, and
    /// then to normal pages.
    fn map_huge(&self, len: usize) -> io::Result<Region> {
        let refused = match self.map_pages(len, true) {
            Ok((map, memfd)) => {
                let mut region = Region::new(map, memfd);
                region.pages = Pages::Huge;
                return Ok(region);
            }
            Err(refused) => refused,
        };
        let (map, memfd) = self.map_pages(len, false)?;
        let mut region = Region::new(map, memfd);
        region.pages = advise_huge(&region.map);
        region.huge_refused = Some(refused);
        Ok(region)
    }

    fn map_pages(&self, len: usize, huge: bool) -> io::Result<(MmapRaw, Option<File>)> {
        let mut options = MmapOptions::new();
        options.len(len);
        match self.backing {
            Backing::Anonymous => {
                if huge {
                    options.huge(Some(HUGE_PAGE_BITS));
                }
                Ok((options.map_anon()?.into(), None))
            }
            Backing::Memfd => {
                let file = memfd(len, huge)?;
                let map = options.map_raw(&file)?;
                seal_writes(&file, len)?;
                Ok((map, Some(file)))
            }
        }
    }
}

/// Locks the pages of a map in memory.
#[cfg(unix)]
fn lock_pages(map: &MmapRaw) -> io::Result<()> {
    map.lock()
}

/// Returns an error: `memmap2` locks pages on Unix only.
#[cfg(not(unix))]
fn lock_pages(_: &MmapRaw) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Unlocks pages that [`lock_pages`] has locked.
#[cfg(unix)]
fn unlock_pages(map: &MmapRaw) {
    // If it fails, the memory stays locked until it is unmapped.
    let _ = map.unlock();
}

#[cfg(not(unix))]
fn unlock_pages(_: &MmapRaw) {}

#[cfg(target_os = "linux")]
fn advise_huge(map: &MmapRaw) -> Pages {
    match map.advise(memmap2::Advice::HugePage) {
        Ok(()) => Pages::Transparent,
        Err(_) => Pages::Normal,
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge(_: &MmapRaw) -> Pages {
    Pages::Normal
}

/// Creates a memory file of `len` bytes whose length cannot change.
#[cfg(target_os = "linux")]
fn memfd(len: usize, huge: bool) -> io::Result<File> {
    use rustix::fs::MemfdFlags;

    let mut flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    if huge {
        flags |= MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    }
    let file = File::from(rustix::fs::memfd_create("jstream", flags)?);
    let len = u64::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // The system sends SIGXFSZ, which ends the process, if a file is made longer than this limit.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| len > limit) {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the memory file would exceed the file size limit of this process (RLIMIT_FSIZE)",
        ));
    }
    file.set_len(len)?;
    seal_length(&file, len)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn memfd(_: usize, _: bool) -> io::Result<File> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "memory files (memfd) are only available on Linux",
    ))
}

/// Fixes the length of a memory file, and checks that it is `len`: another process may have
/// shortened the file before.
#[cfg(target_os = "linux")]
fn seal_length(file: &File, len: u64) -> io::Result<()> {
    use rustix::fs::SealFlags;

    rustix::fs::fcntl_add_seals(file, SealFlags::SHRINK | SealFlags::GROW)?;
    let sealed = file.metadata()?.len();
    if sealed != len {
        return Err(io::Error::other(format!(
            "the memory file was changed to {sealed} bytes by another process, instead of {len}"
        )));
    }
    Ok(())
}

/// Prevents all writes to a memory file but those through mappings that exist, and all further
/// seals. Fails if the system does not enforce that for this file.
#[cfg(target_os = "linux")]
fn seal_writes(file: &File, len: usize) -> io::Result<()> {
    use rustix::fs::SealFlags;
    use rustix::io::Errno;

    let unsupported = || {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "the system can't keep other processes from writing to a memory file \
             (F_SEAL_FUTURE_WRITE, Linux 5.1); use Backing::Anonymous",
        )
    };
    let seals = SealFlags::FUTURE_WRITE | SealFlags::SEAL;
    match rustix::fs::fcntl_add_seals(file, seals) {
        Err(Errno::INVAL) => return Err(unsupported()),
        other => other?,
    }
    // Some kernels accept the seal for files of huge pages without enforcing it.
    match MmapOptions::new().len(len).map_raw(file) {
        Err(refused) if refused.raw_os_error() == Some(Errno::PERM.raw_os_error()) => Ok(()),
        Err(other) => Err(other),
        Ok(_) => Err(unsupported()),
    }
}

#[cfg(not(target_os = "linux"))]
fn seal_writes(_: &File, _: usize) -> io::Result<()> {
    Ok(())
}

/// The pages of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pages {
    /// Pages of the system's normal size.
    Normal,
    /// Normal pages, which the system merges into huge pages where it can (transparent huge pages).
    Transparent,
    /// Huge pages that are reserved for the region.
    Huge,
}

/// A page-aligned mapping of memory to which only this process writes.
///
/// The system commits the pages when they are first touched, so a large region takes only address
/// space until it is used.
pub struct Region {
    map: MmapRaw,
    /// The memory file behind the region, if there is one.
    memfd: Option<File>,
    pages: Pages,
    huge_refused: Option<io::Error>,
    /// True if the region was locked when it was mapped.
    locked: bool,
    lock_refused: Option<io::Error>,
    pins: Mutex<Pins>,
}

/// The registrations of a region.
#[derive(Debug, Default)]
struct Pins {
    registered: usize,
    /// True if a registration has locked the region.
    locked: bool,
}

impl Region {
    fn new(map: MmapRaw, memfd: Option<File>) -> Self {
        Self {
            map,
            memfd,
            pages: Pages::Normal,
            huge_refused: None,
            locked: false,
            lock_refused: None,
            pins: Mutex::default(),
        }
    }

    /// Maps `len` bytes of zeroed memory that no other process can reach.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it cannot map that much memory, and `InvalidInput` if `len` is
    /// 0.
    pub fn anonymous(len: usize) -> io::Result<Self> {
        RegionOptions::default().map(len)
    }

    /// Maps all of `file`, which must be open for reading and writing. Writes to the region are
    /// written to the file.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it cannot map the file, for example because the file is empty.
    ///
    /// # Safety
    ///
    /// As long as the region and anything made of it exist, nothing else may write to the file or
    /// shorten it, neither this process nor another.
    pub unsafe fn file(file: &File) -> io::Result<Self> {
        Ok(Self::new(MmapOptions::new().map_raw(file)?, None))
    }

    /// Maps all of `file` privately. Writes to the region stay in this process.
    ///
    /// # Errors
    ///
    /// As for [`file`](Self::file).
    ///
    /// # Safety
    ///
    /// As for [`file`](Self::file): until a page is first written to, it shows the writes of others
    /// to the file.
    pub unsafe fn file_copy(file: &File) -> io::Result<Self> {
        // SAFETY: the caller promises that nothing else changes the file.
        let map = unsafe { MmapOptions::new().map_copy(file) }?;
        Ok(Self::new(map.into(), None))
    }

    /// Returns the number of mapped bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Returns true if no bytes are mapped, which is never the case.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.len() == 0
    }

    /// Returns true if `value` lies entirely inside this region.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, value: &T) -> bool {
        let start = self.map.as_ptr().addr();
        let at = std::ptr::from_ref(value).cast::<u8>().addr();
        at.checked_sub(start)
            .and_then(|offset| offset.checked_add(size_of_val(value)))
            .is_some_and(|end| end <= self.map.len())
    }

    /// Returns the address of the first byte, for the registration of the region with a device.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        self.map.as_ptr()
    }

    /// Returns the kind of pages that the region has.
    #[must_use]
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Returns the error because of which the region has no reserved huge pages, if they were
    /// requested.
    #[must_use]
    pub fn huge_refused(&self) -> Option<&io::Error> {
        self.huge_refused.as_ref()
    }

    /// Returns true if the region is locked in memory: it was locked when it was mapped, or a
    /// registration has locked it.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.locked || self.pins().locked
    }

    /// Returns the error because of which the region is not locked, if [`RegionOptions::locked`]
    /// requested it.
    #[must_use]
    pub fn lock_refused(&self) -> Option<&io::Error> {
        self.lock_refused.as_ref()
    }

    /// Returns the number of registrations.
    #[must_use]
    pub fn registered(&self) -> usize {
        self.pins().registered
    }

    /// Registers the region for use by a device. Until the last registration is dropped, the region
    /// stays mapped and, if the system permits, locked in memory.
    pub fn register(self: &Arc<Self>) -> Registration {
        let mut pins = self.pins();
        let mut refused = None;
        if !self.locked && !pins.locked {
            refused = lock_pages(&self.map).err();
            pins.locked = refused.is_none();
        }
        // Each registration holds an `Arc`, and an `Arc` aborts before its count can overflow.
        pins.registered = pins.registered.saturating_add(1);
        drop(pins);
        Registration {
            region: self.clone(),
            refused,
        }
    }

    /// Locks the registrations. Poisoning is ignored, because a panic cannot leave them half
    /// changed.
    fn pins(&self) -> std::sync::MutexGuard<'_, Pins> {
        jstream_sync::lock(&self.pins)
    }

    /// Returns the memory file behind a region of [`Backing::Memfd`], to be given to other
    /// processes for reading. The file can only be written to through this region, and its length
    /// is fixed.
    ///
    /// # Errors
    ///
    /// Returns `Unsupported` if there is no memory file behind the region.
    #[cfg(target_os = "linux")]
    pub fn share(&self) -> io::Result<std::os::fd::BorrowedFd<'_>> {
        use std::os::fd::AsFd;

        let Some(file) = &self.memfd else {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the region has no memory file; map it with Backing::Memfd",
            ));
        };
        Ok(file.as_fd())
    }

    /// Returns the first byte, with provenance over the whole mapping.
    pub(super) fn base(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).expect("a mapping is not at address 0")
    }

    /// Returns the memory of `len` bytes from `offset` to the system. Returns true if that was
    /// done, and false if the range does not consist of whole pages.
    ///
    /// Pages of a memory file are never returned, because the seal that keeps others from writing
    /// prevents it. Neither are reserved huge pages. The process is killed if no huge page is
    /// available when the range is used again, and some systems (Linux 5.18 to 6.0) discard a whole
    /// huge page when asked for a part of it.
    ///
    /// # Safety
    ///
    /// The bytes must lie in the region, and no code may rely on their contents.
    #[cfg(target_os = "linux")]
    pub(super) unsafe fn forget(&self, offset: usize, len: usize) -> bool {
        use memmap2::UncheckedAdvice;

        // The system would discard the whole page if given a part of it, and the rest may belong to
        // other slots.
        let page = rustix::param::page_size();
        let whole = |bytes: usize| bytes.checked_rem(page) == Some(0);
        if self.memfd.is_some() || self.pages == Pages::Huge || !whole(offset) || !whole(len) {
            return false;
        }
        let advice = UncheckedAdvice::DontNeed;
        // SAFETY: the caller guarantees that nothing relies on these bytes, and their pages contain
        // no others.
        unsafe { self.map.unchecked_advise_range(advice, offset, len) }.is_ok()
    }

    /// Returns false, because the system call is only known for Linux.
    #[cfg(not(target_os = "linux"))]
    pub(super) unsafe fn forget(&self, _: usize, _: usize) -> bool {
        false
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region")
            .field("len", &self.len())
            .field("memfd", &self.memfd.is_some())
            .field("pages", &self.pages)
            .field("locked", &self.is_locked())
            .field("registered", &self.registered())
            .finish()
    }
}

/// A registration of a region for use by a device. The first registration of a region locks it, and
/// dropping the last one unlocks it.
#[derive(Debug)]
pub struct Registration {
    region: Arc<Region>,
    refused: Option<io::Error>,
}

impl Registration {
    /// Returns the region.
    #[must_use]
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Returns the error of the system if this registration tried to lock the region and was
    /// refused.
    #[must_use]
    pub fn refused(&self) -> Option<&io::Error> {
        self.refused.as_ref()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut pins = self.region.pins();
        pins.registered = pins.registered.saturating_sub(1);
        if pins.registered == 0 && pins.locked {
            unlock_pages(&self.region.map);
            pins.locked = false;
        }
    }
}

#[cfg(test)]
mod tests;
