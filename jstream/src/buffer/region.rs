//! One mapping of anonymous memory.

use std::io;
use std::mem::size_of_val;
use std::ptr::NonNull;

use memmap2::{MmapMut, MmapRaw};

/// A page-aligned mapping of anonymous, private memory.
///
/// The system commits its pages as they are first touched, so a large region costs address
/// space until it is used.
#[derive(Debug)]
pub struct Region {
    map: MmapRaw,
}

impl Region {
    /// Maps `len` bytes of zeroed memory that no other process can reach.
    ///
    /// # Errors
    ///
    /// What the system says when it can't map that much; `InvalidInput` when `len` is 0.
    pub fn anonymous(len: usize) -> io::Result<Self> {
        if len == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a region needs at least one byte",
            ));
        }
        let map = MmapMut::map_anon(len)?;
        Ok(Self { map: map.into() })
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

    /// The first byte, with provenance over the whole mapping.
    pub(super) fn base(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).expect("a mapping is not at address 0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_knows_its_edges() {
        let region = Region::anonymous(4096).unwrap();
        assert_eq!(region.base().addr().get() % 4096, 0);
        let outside = 7u64;
        assert!(!region.contains(&outside));
        // SAFETY: the mapping is 4,096 zeroed bytes that nothing else refers to.
        let all = unsafe { std::slice::from_raw_parts(region.base().as_ptr(), region.len()) };
        assert!(region.contains(all));
        assert!(region.contains(&all[4095]));
        assert!(!region.is_empty());
    }

    #[test]
    fn an_empty_region_is_refused() {
        let error = Region::anonymous(0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
