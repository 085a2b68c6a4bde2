//! Functions of the program that verify values after they were read.
//!
//! They run once the whole graph is final, so user code never sees memory that is still in wire
//! form.

use super::limits::KEEP;
use super::refusal::Refusal;
use crate::keep::clear;

/// Function that verifies a number of adjacent values. Calling it is sound only for values that
/// were pushed with it.
pub(super) type VerifyAll = unsafe fn(*const u8, usize) -> Result<(), Refusal>;

/// Adjacent values of one type that are to be verified.
#[derive(Debug, Clone, Copy)]
struct Check {
    verify: VerifyAll,
    start: *const u8,
    count: usize,
    /// The end of the values.
    end: *const u8,
}

/// The values to be verified at the end of a pass.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    list: Vec<Check>,
    most: usize,
    /// The error message of an adapter of the program that rejected a value.
    pub(super) adapter_error: Option<String>,
}

// SAFETY: during a pass the pointers lead into the buffer that the pass borrows. After the pass
// they are not used any more, because every pass begins by emptying the list.
unsafe impl Send for Checks {}
// SAFETY: as above, and shared access does not give out the pointers.
unsafe impl Sync for Checks {}

impl Checks {
    /// Adds `count` values that were claimed from `start` to `end`. Returns false if the list is
    /// full.
    #[inline]
    #[must_use]
    pub(super) fn push(
        &mut self,
        verify: VerifyAll,
        start: *const u8,
        end: *const u8,
        count: usize,
    ) -> bool {
        if let Some(last) = self.list.last_mut() {
            // Equal function pointers refer to the same code, which verifies any of the values
            // whatever type it was instantiated for.
            if last.end == start && std::ptr::fn_addr_eq(last.verify, verify) {
                last.end = end;
                last.count = last.count.wrapping_add(count);
                return true;
            }
        }
        if self.list.len() >= self.most {
            return false;
        }
        self.list.push(Check {
            verify,
            start,
            count,
            end,
        });
        true
    }

    /// Verifies all values in the order in which they were claimed.
    ///
    /// # Safety
    ///
    /// The pass must have ended without a fault, and nothing may have touched the buffer since.
    #[inline]
    pub(super) unsafe fn run(&self) -> Result<(), Refusal> {
        for check in &self.list {
            // SAFETY: by the caller's promise these values, and all that they refer to, are final.
            unsafe { (check.verify)(check.start, check.count)? };
        }
        Ok(())
    }

    /// Clears the list and sets its maximum length to `most`.
    #[inline(always)]
    pub(super) fn reset(&mut self, most: usize) {
        clear(&mut self.list, KEEP);
        self.most = most;
        if self.adapter_error.is_some() {
            self.adapter_error = None;
        }
    }
}
