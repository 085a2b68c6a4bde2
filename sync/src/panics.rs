//! Panics of code of the program that must not reach the calling thread.
//!
//! Decision 115 has the reasons.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of payloads that are dropped, each of which may panic with the next.
const MOST: usize = 8;

/// Calls a function of the program and catches its panic, which must not end the calling thread.
pub fn catch_panic(call: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        forget_panic(panic);
    }
}

/// Drops the payload of a panic, which may panic in turn.
pub fn forget_panic(mut panic: Box<dyn Any + Send>) {
    for _ in 0..MOST {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(again) => panic = again,
        }
    }
    // A payload that panics repeatedly when dropped is leaked.
    mem::forget(panic);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::panic_any;

    use super::*;

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic_any(Self);
        }
    }

    #[test]
    fn payloads_that_panic_are_forgotten() {
        assert!(catch_unwind(|| catch_panic(|| panic_any(PanicsWhenDropped))).is_ok());
    }
}
