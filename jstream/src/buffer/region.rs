//! One mapping of memory.

use std::fmt;
use std::fs::File;
use std::io;
use std::mem::size_of_val;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::{MmapOptions, MmapRaw};

/// The size of a huge page, to which a region that asks for these is rounded up.
pub(super) const HUGE_PAGE: usize = 2 << 20;
/// Its power of two.
const HUGE_PAGE_BITS: u8 = 21;

/// What a region's memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Backing {
    /// Private memory that no other process can reach.
    #[default]
    Anonymous,
    /// A memory file, which other processes may be given to read: [`Region::share`]. Linux only.
    Memfd,
}

/// How a [`Region`] is mapped.
///
/// Huge pages and locking are wishes: a system that refuses gives memory without, and the region
/// says so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RegionOptions {
    /// What the memory is (default: anonymous).
    pub backing: Backing,
    /// Whether pages of 2 MiB are wanted (default: no). Lengths are then multiples of that.
    pub huge_pages: bool,
    /// Whether the memory is to stay in memory, never swapped out (default: no). It is then
    /// committed at once.
    pub locked: bool,
}

impl RegionOptions {
    /// Maps at least `len` bytes of zeroed memory.
    ///
    /// # Errors
    ///
    /// What the system says when it can't map that much; `InvalidInput` when `len` is 0, and
    /// `Unsupported` for a memory file where there are none.
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
            region.lock_refused = region.map.lock().err();
            region.locked = region.lock_refused.is_none();
        }
        Ok(region)
    }

    /// With reserved huge pages, else with those that the system makes as it can, else without.
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
                Ok((options.map_raw(&file)?, Some(file)))
            }
        }
    }
}

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

#[cfg(target_os = "linux")]
fn memfd(len: usize, huge: bool) -> io::Result<File> {
    use rustix::fs::MemfdFlags;

    let mut flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    if huge {
        flags |= MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    }
    let file = File::from(rustix::fs::memfd_create("jstream", flags)?);
    let len = u64::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // The system ends a process that makes a file longer than it may.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| len > limit) {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "a memory file would be longer than files of this process may be",
        ));
    }
    file.set_len(len)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn memfd(_: usize, _: bool) -> io::Result<File> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no memory files",
    ))
}

/// Which pages a region has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pages {
    /// Those of the system's usual size.
    Normal,
    /// The usual ones, which the system joins to huge ones where it can.
    Transparent,
    /// Huge pages that were reserved for it.
    Huge,
}

/// A page-aligned mapping of memory that this process alone writes to.
///
/// The system commits its pages as they are first touched, so a large region costs address
/// space until it is used.
pub struct Region {
    map: MmapRaw,
    /// The memory file behind it.
    memfd: Option<File>,
    pages: Pages,
    huge_refused: Option<io::Error>,
    /// Whether it is locked from its beginning.
    locked: bool,
    lock_refused: Option<io::Error>,
    pins: Mutex<Pins>,
}

/// Who has registered a region.
#[derive(Debug, Default)]
struct Pins {
    registered: usize,
    /// Whether the registrations have locked it.
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
    /// What the system says when it can't map that much; `InvalidInput` when `len` is 0.
    pub fn anonymous(len: usize) -> io::Result<Self> {
        RegionOptions::default().map(len)
    }

    /// Maps all of `file`, which must be open for reading and writing. What is written to the
    /// region is written to the file.
    ///
    /// # Errors
    ///
    /// What the system says when it can't map the file, an empty one among them.
    ///
    /// # Safety
    ///
    /// As long as the region and what is made of it exist, nobody else writes to the file, by
    /// whatever way, nor makes it shorter: neither this process nor another.
    pub unsafe fn file(file: &File) -> io::Result<Self> {
        Ok(Self::new(MmapOptions::new().map_raw(file)?, None))
    }

    /// Maps all of `file` as it is. What is written to the region stays in this process.
    ///
    /// # Errors
    ///
    /// As for [`file`](Self::file).
    ///
    /// # Safety
    ///
    /// As for [`file`](Self::file): pages that were not written to yet still show what others write.
    pub unsafe fn file_copy(file: &File) -> io::Result<Self> {
        // SAFETY: the caller promises that nobody else changes the file.
        let map = unsafe { MmapOptions::new().map_copy(file) }?;
        Ok(Self::new(map.into(), None))
    }

    /// The number of bytes mapped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether no bytes are mapped; never true.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.len() == 0
    }

    /// Whether `value` lies wholly inside this region.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, value: &T) -> bool {
        let start = self.map.as_ptr().addr();
        let at = std::ptr::from_ref(value).cast::<u8>().addr();
        at.checked_sub(start)
            .and_then(|offset| offset.checked_add(size_of_val(value)))
            .is_some_and(|end| end <= self.map.len())
    }

    /// The address of its first byte, for a device that is told of the region.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        self.map.as_ptr()
    }

    /// Which pages it has.
    #[must_use]
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Why it has no reserved huge pages though they were asked for.
    #[must_use]
    pub fn huge_refused(&self) -> Option<&io::Error> {
        self.huge_refused.as_ref()
    }

    /// Whether it stays in memory: it was asked to from its beginning, or is registered, and the
    /// system did not refuse.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.locked || self.pins().locked
    }

    /// Why it is not locked though [`RegionOptions::locked`] asked for it.
    #[must_use]
    pub fn lock_refused(&self) -> Option<&io::Error> {
        self.lock_refused.as_ref()
    }

    /// How many registrations there are.
    #[must_use]
    pub fn registered(&self) -> usize {
        self.pins().registered
    }

    /// Notes that a device knows the region, which stays mapped, and in memory if the system lets
    /// it, until the last of its registrations is dropped.
    pub fn register(self: &Arc<Self>) -> Registration {
        let mut pins = self.pins();
        let mut refused = None;
        if !self.locked && !pins.locked {
            refused = self.map.lock().err();
            pins.locked = refused.is_none();
        }
        // A registration has an `Arc`, of which there are not that many.
        pins.registered = pins.registered.saturating_add(1);
        drop(pins);
        Registration {
            region: self.clone(),
            refused,
        }
    }

    /// A panic elsewhere can't leave it half changed.
    fn pins(&self) -> std::sync::MutexGuard<'_, Pins> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory file behind a region of [`Backing::Memfd`], for other processes to read. From
    /// then on the file can't be written to but through this region, and keeps its length.
    ///
    /// # Errors
    ///
    /// `Unsupported` when there is no memory file behind it, or the system can't seal it so (Linux
    /// before 5.1).
    #[cfg(target_os = "linux")]
    pub fn share(&self) -> io::Result<std::os::fd::BorrowedFd<'_>> {
        use std::os::fd::AsFd;

        use rustix::fs::SealFlags;

        let Some(file) = &self.memfd else {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "there is no memory file behind this region",
            ));
        };
        let seals = SealFlags::FUTURE_WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        if !rustix::fs::fcntl_get_seals(file)?.contains(seals) {
            rustix::fs::fcntl_add_seals(file, seals)?;
        }
        Ok(file.as_fd())
    }

    /// The first byte, with provenance over the whole mapping.
    pub(super) fn base(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).expect("a mapping is not at address 0")
    }

    /// Gives the memory of `len` bytes from `offset` on back to the system, if they are whole pages;
    /// says whether it did. Reserved huge pages stay: who gives one back may find none when it is
    /// used again, which ends the process, and some systems (Linux 5.18 to 6.0) take a whole one
    /// for a part.
    ///
    /// # Safety
    ///
    /// The bytes lie in the region, and nobody relies on what they are.
    #[cfg(target_os = "linux")]
    pub(super) unsafe fn forget(&self, offset: usize, len: usize) -> bool {
        use memmap2::UncheckedAdvice;

        // A part of a page would be taken for all of it, and other slots may be in the rest.
        let page = rustix::param::page_size();
        let whole = |bytes: usize| bytes.checked_rem(page) == Some(0);
        if self.pages == Pages::Huge || !whole(offset) || !whole(len) {
            return false;
        }
        let advice = match self.memfd {
            Some(_) => UncheckedAdvice::Remove,
            None => UncheckedAdvice::DontNeed,
        };
        // SAFETY: nobody relies on these bytes, says the caller, and there are no others in their pages.
        unsafe { self.map.unchecked_advise_range(advice, offset, len) }.is_ok()
    }

    /// As above, where it is not known how.
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

/// A device knows a region. The first registration pins it, the last that is dropped unpins it.
#[derive(Debug)]
pub struct Registration {
    region: Arc<Region>,
    refused: Option<io::Error>,
}

impl Registration {
    /// The region.
    #[must_use]
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Why the system did not let it stay in memory, if it was this registration that asked.
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
            // It was locked, so it can be unlocked; if not, it stays in memory until it is unmapped.
            let _ = self.region.map.unlock();
            pins.locked = false;
        }
    }
}

#[cfg(test)]
mod tests;
