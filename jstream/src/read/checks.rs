//! Functions of the program that have to approve of what was read.
//!
//! They run when the whole graph is final, so that no user code ever sees memory that is still wire
//! form.

use std::any::TypeId;
use std::mem::size_of;

use super::KEEP;
use crate::keep::clear;
use crate::model::InPlace;

/// What a function of the program does not like about a value.
#[derive(Debug)]
pub struct Refusal(pub(super) Box<Refused>);

#[derive(Debug)]
pub(super) struct Refused {
    /// Where the value stands.
    pub(super) slot: usize,
    /// Which type it has: a struct and its first field stand at one address.
    pub(super) key: TypeId,
    pub(super) why: String,
}

impl Refusal {
    #[cold]
    pub(crate) fn new<T: InPlace>(slot: *const T, why: String) -> Self {
        Self(Box::new(Refused {
            slot: slot.addr(),
            key: typeid::of::<T>(),
            why,
        }))
    }

    /// What the function said.
    #[cold]
    pub(crate) fn into_why(self) -> String {
        self.0.why
    }
}

/// Values of one type, side by side, that are to be approved of.
#[derive(Debug, Clone, Copy)]
struct Check {
    verify: unsafe fn(*const u8, usize) -> Result<(), Refusal>,
    start: *const u8,
    count: usize,
    /// Where the values end.
    end: *const u8,
}

/// What is to be approved of at the end of a pass.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    list: Vec<Check>,
    most: usize,
    /// What an adapter of the program said when it refused a value.
    pub(super) said: Option<String>,
}

// SAFETY: within a pass its pointers lead into the buffer that the pass borrows; what is left of them
// afterwards nobody looks at, as a pass begins with emptying the list.
unsafe impl Send for Checks {}
// SAFETY: as above, and shared access hands out nothing.
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
    /// Notes values that were claimed; false when there are too many.
    #[must_use]
    pub(super) fn push<T: InPlace>(&mut self, start: *mut T, count: usize) -> bool {
        let verify = verify_all::<T> as unsafe fn(*const u8, usize) -> Result<(), Refusal>;
        let start = start.cast_const().cast::<u8>();
        let end = start.wrapping_add(count.wrapping_mul(size_of::<T>()));
        if let Some(last) = self.list.last_mut() {
            // Equal function pointers are the same code, which verifies the same whatever type it
            // was made for.
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

    /// Asks for approval of everything, in the order in which it was claimed.
    ///
    /// # Safety
    ///
    /// The pass must have ended without a fault, in a buffer that nothing has touched since.
    #[inline]
    pub(super) unsafe fn run(&mut self) -> Result<(), Refusal> {
        for check in &self.list {
            // SAFETY: by the caller's promise these values, and all that they refer to, are final.
            unsafe { (check.verify)(check.start, check.count)? };
        }
        Ok(())
    }

    /// Forgets everything, and lets `most` be noted.
    #[inline(always)]
    pub(super) fn reset(&mut self, most: usize) {
        clear(&mut self.list, KEEP);
        self.most = most;
        if self.said.is_some() {
            self.said = None;
        }
    }
}
