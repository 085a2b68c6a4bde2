//! Which process this is: behind a `fork` another one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::MmapMut;
use zerocopy::FromBytes;

/// The process that something was made in.
///
/// Its number stands in a page that the system wipes for the child of a `fork`, so to ask costs a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    page: Option<&'static AtomicU32>,
    number: u32,
}

struct Page {
    /// The number of the process, or 0 in one that has not asked.
    word: &'static AtomicU32,
    /// Where the map stands, which is never given back: tools that look for leaks find it here.
    _map: usize,
}

impl Origin {
    /// This process. Where the system wipes no pages, its children are taken for the same one.
    pub(crate) fn here() -> Self {
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

    /// Whether this is another process by now, which has only a copy of what was made there.
    #[inline]
    pub(crate) fn is_elsewhere(self) -> bool {
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

/// Has the system give zeros to the child of a `fork` in the place of a map. False where it does not know how.
#[cfg(target_os = "linux")]
fn wiped_on_fork(map: &mut MmapMut) -> bool {
    use rustix::mm::{Advice, madvise};

    let (at, length) = (map.as_mut_ptr().cast(), map.len());
    // SAFETY: These are the pages of a private, anonymous map, which is lent to this function alone. The advice changes
    // nothing in this process. In a child they are zeros as after the map was made, and what is read there beside them
    // is one atomic word, of which zero is a value.
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
