//! Destination of plain text.

use std::mem::MaybeUninit;

use socket2::MaybeUninitSlice;

/// Slices that are filled one after the other.
///
/// Invariant: the first `filled` bytes of the slices are initialised. The safety of the `Wire`
/// implementation relies on it.
pub(super) struct FilledSlices<'r, 's> {
    slices: &'r mut [MaybeUninitSlice<'s>],
    /// The slice that is being filled, and the number of bytes filled in it.
    at: (usize, usize),
    filled: usize,
}

impl<'r, 's> FilledSlices<'r, 's> {
    pub(super) fn new(slices: &'r mut [MaybeUninitSlice<'s>]) -> Self {
        Self {
            slices,
            at: (0, 0),
            filled: 0,
        }
    }

    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    pub(super) fn is_full(&self) -> bool {
        let rest = self.slices.get(self.at.0..).unwrap_or_default();
        rest.iter().map(|slice| slice.len()).sum::<usize>() <= self.at.1
    }

    /// Copies as many of `bytes` as fit, and returns their number.
    pub(super) fn put(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while let Some(slice) = self.slices.get_mut(self.at.0) {
            let free = slice.get_mut(self.at.1..).unwrap_or_default();
            let most = free.len().min(rest.len());
            let (now, later) = rest.split_at(most);
            for (to, from) in free.iter_mut().zip(now) {
                *to = MaybeUninit::new(*from);
            }
            self.filled = self.filled.saturating_add(most);
            rest = later;
            if rest.is_empty() {
                self.at.1 = self.at.1.saturating_add(most);
                break;
            }
            self.at = (self.at.0.saturating_add(1), 0);
        }
        bytes.len().saturating_sub(rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_filled_one_after_the_other() {
        let mut memory = [MaybeUninit::uninit(); 12];
        let (a, rest) = memory.split_at_mut(3);
        let (b, c) = rest.split_at_mut(0);
        let slices = &mut [a, b, c].map(MaybeUninitSlice::new);
        let mut room = FilledSlices::new(slices);
        assert!(!room.is_full());
        assert_eq!(room.put(b"12"), 2);
        assert_eq!(room.put(b""), 0);
        assert_eq!(room.put(b"34567"), 5);
        assert_eq!((room.filled(), room.is_full()), (7, false));
        assert_eq!(room.put(b"890abcdef"), 5);
        assert_eq!((room.filled(), room.is_full()), (12, true));
        assert_eq!(room.put(b"g"), 0);
        // SAFETY: all twelve bytes were filled.
        let written = memory.map(|byte| unsafe { byte.assume_init() });
        assert_eq!(&written, b"1234567890ab");
        assert!(FilledSlices::new(&mut []).is_full());
    }
}
