//! Buffers in memory that is managed outside this crate.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// An external owner of memory that lends parts of its memory as buffers. When the last handle of a
/// part is dropped, the owner gets the number of the part back.
pub struct Keeper {
    give_back: Box<dyn Fn(u32) + Send + Sync>,
}

impl Keeper {
    /// Creates an owner. `give_back` is called with the number of each part whose buffer was
    /// dropped, on the thread that dropped it. The captures of the function live at least as long
    /// as the buffers.
    pub fn new(give_back: impl Fn(u32) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            give_back: Box::new(give_back),
        })
    }

    #[inline]
    pub(super) fn get_back(&self, number: u32) {
        (self.give_back)(number);
    }
}

// A panic cannot leave a `Keeper` in an inconsistent state, because it has no mutable state.
impl UnwindSafe for Keeper {}
impl RefUnwindSafe for Keeper {}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keeper(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;
    use std::sync::Mutex;

    use super::*;
    use crate::buffer::EmptyBuffer;

    #[repr(align(128))]
    struct Memory {
        _bytes: [u8; 256],
    }

    #[test]
    fn keeps_the_memory_of_a_part_until_it_is_returned() {
        static BACK: Mutex<Vec<u32>> = Mutex::new(Vec::new());
        let memory = Box::into_raw(Box::new(Memory { _bytes: [0; 256] }));
        let address = memory.expose_provenance();
        let keeper = Keeper::new(move |number| {
            assert!(address > 0);
            BACK.lock().unwrap().push(number);
        });
        let base = NonNull::new(memory.cast::<u8>()).unwrap();
        // SAFETY: the memory is aligned, has 256 bytes, and nothing else accesses it. It is freed
        // at the end.
        let lend = |number| unsafe { EmptyBuffer::kept(base, 256, keeper.clone(), number) };
        let filled = lend(7).copy_from(b"abc").unwrap();
        assert_eq!(filled.as_bytes().as_ptr(), memory.cast::<u8>().cast_const());
        assert_eq!((filled.capacity(), filled.place()), (256, None));
        assert!(BACK.lock().unwrap().is_empty());
        drop(filled.into_empty());
        assert_eq!(*BACK.lock().unwrap(), [7]);

        let filled = lend(8).copy_from(b"abc").unwrap();
        let other = Keeper::new(drop);
        let filled = filled.into_kept(&other).unwrap_err();
        assert_eq!(filled.as_bytes(), b"abc");
        assert_eq!(filled.into_kept(&keeper).unwrap(), 8);
        assert_eq!(*BACK.lock().unwrap(), [7]);
        // SAFETY: the memory was allocated as a box, and no buffer refers to it any more.
        drop(unsafe { Box::from_raw(memory) });
    }
}
