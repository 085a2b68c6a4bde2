//! Functions of the program that verify values after they were read.
//!
//! They run once the whole graph is final, so user code never sees memory that is still in wire
//! form.

use std::any::TypeId;
use std::mem::size_of;

use super::KEEP;
use crate::keep::clear;
use crate::model::InPlace;

/// An error returned by a function of the program that verifies a value.
#[derive(Debug)]
pub struct Refusal(pub(super) Box<RefusalDetails>);

#[derive(Debug)]
pub(super) struct RefusalDetails {
    /// The address of the value.
    pub(super) slot: usize,
    /// The type of the value, because a struct and its first field have the same address.
    pub(super) key: TypeId,
    pub(super) why: String,
}

impl Refusal {
    #[cold]
    pub(crate) fn new<T: InPlace>(slot: *const T, why: String) -> Self {
        Self(Box::new(RefusalDetails {
            slot: slot.addr(),
            key: typeid::of::<T>(),
            why,
        }))
    }

    /// Returns the reason given by the function.
    #[cold]
    pub(crate) fn into_why(self) -> String {
        self.0.why
    }
}

/// Adjacent values of one type that are to be verified.
#[derive(Debug, Clone, Copy)]
struct Check {
    verify: unsafe fn(*const u8, usize) -> Result<(), Refusal>,
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

/// # Safety
///
/// As for [`InPlace::verify`], for each of `count` values of `T`.
unsafe fn verify_all<T: InPlace>(start: *const u8, count: usize) -> Result<(), Refusal> {
    for i in 0..count {
        // SAFETY: the caller has `count` values there.
        unsafe { T::verify(start.cast::<T>().wrapping_add(i))? };
    }
    Ok(())
}

impl Checks {
    /// Adds values that were claimed. Returns false if the list is full.
    #[must_use]
    pub(super) fn push<T: InPlace>(&mut self, start: *mut T, count: usize) -> bool {
        let verify = verify_all::<T> as unsafe fn(*const u8, usize) -> Result<(), Refusal>;
        let start = start.cast_const().cast::<u8>();
        let end = start.wrapping_add(count.wrapping_mul(size_of::<T>()));
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
    pub(super) unsafe fn run(&mut self) -> Result<(), Refusal> {
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
