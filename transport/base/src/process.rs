//! Detection of a `fork`: identifies the process that created a value.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::MmapMut;
use zerocopy::FromBytes;

/// The process in which a value was created.
///
/// The number of the process is in a page that the system zeroes in the child of a `fork`, so a
/// check costs a single load.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    page: Option<&'static AtomicU32>,
    number: u32,
}

struct Page {
    /// The number of the process, or 0 if the process has no number yet.
    word: &'static AtomicU32,
    /// Address of the mapping, which is never unmapped. The pointer lets leak detectors find it.
    _map: usize,
}

impl Origin {
    /// Returns the current process. If the system cannot zero pages on `fork`, a child is not
    /// distinguished from its parent.
    pub fn here() -> Self {
        static PAGE: OnceLock<Option<Page>> = OnceLock::new();
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let page = PAGE.get_or_init(Page::new).as_ref().map(|page| page.word);
        let number = page.map_or(0, |page| match page.load(Ordering::Relaxed) {
            0 => {
                let own = NEXT.fetch_add(1, Ordering::Relaxed);
                let set = page.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
                set.map_or_else(|other| other, |_| own)
            }
            number => number,
        });
        Self { page, number }
    }

    /// Returns true if the current process is a forked child, which has only a copy of the value.
    #[inline]
    pub fn is_elsewhere(self) -> bool {
        self.page
            .is_some_and(|page| page.load(Ordering::Relaxed) != self.number)
    }
}

impl Page {
    fn new() -> Option<Self> {
        let mut map = MmapMut::map_anon(rustix::param::page_size()).ok()?;
        if !wiped_on_fork(&mut map) {
            return None;
        }
        let map = Box::leak(Box::new(map));
        let address = std::ptr::from_mut(map).addr();
        let word = map.get_mut(..size_of::<AtomicU32>())?;
        Some(Self {
            word: AtomicU32::mut_from_bytes(word).ok()?,
            _map: address,
        })
    }
}

/// Asks the system to zero a mapping in the child of a `fork`. Returns false if the system does not
/// support this.
#[cfg(target_os = "linux")]
fn wiped_on_fork(map: &mut MmapMut) -> bool {
    use rustix::mm::{Advice, madvise};

    let (at, length) = (map.as_mut_ptr().cast(), map.len());
    // SAFETY: The range is the pages of a private, anonymous mapping, which is borrowed exclusively
    // for this call. The advice changes nothing in this process. In a child, the pages contain
    // zeros, as after the mapping was created. The only value that a child reads there is one
    // atomic word, for which zero is a valid value.
    unsafe { madvise(at, length, Advice::LinuxWipeOnFork) }.is_ok()
}

#[cfg(not(target_os = "linux"))]
fn wiped_on_fork(_: &mut MmapMut) -> bool {
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_itself() {
        let (one, two) = (Origin::here(), Origin::here());
        assert!(one.page.is_some(), "this system wipes pages");
        assert_eq!((one.number, one.is_elsewhere()), (two.number, false));
    }
}
