//! Errors of functions of the program that verify values.

use std::any::TypeId;

/// An error returned by a function of the program that verifies a value.
#[derive(Debug)]
pub struct Refusal(pub(super) Box<RefusalDetails>);

#[derive(Debug)]
pub(super) struct RefusalDetails {
    /// The address of the value.
    pub(super) slot: usize,
    /// The type of the value, because a struct and its first field have the same address.
    pub(super) key: TypeId,
    pub(super) reason: String,
}

impl Refusal {
    #[cold]
    pub(crate) fn new<T>(slot: *const T, reason: String) -> Self {
        Self(Box::new(RefusalDetails {
            slot: slot.addr(),
            key: typeid::of::<T>(),
            reason,
        }))
    }

    /// Returns the reason given by the function.
    #[cold]
    pub(crate) fn into_reason(self) -> String {
        self.0.reason
    }
}
