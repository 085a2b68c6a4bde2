//! Zeroed values and slices in a stream's buffer, which a producer can read and change before
//! completing them.
//!
//! Invariant: the memory of an [`InitValue`] or [`InitSlice`] is initialised.

use std::fmt;
use std::mem::size_of;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::slice;

use zerocopy::FromZeros;

use super::uninit::{UninitSlice, UninitValue};
use crate::model::Transportable;

impl<'s, T: Transportable> UninitValue<'s, T> {
    /// Fills the memory with zeroes, so that the value can be read and changed before it is
    /// completed.
    pub fn zeroed(self) -> InitValue<'s, T>
    where
        T: FromZeros,
    {
        // SAFETY: the memory has space for the value, and is borrowed exclusively.
        unsafe { ptr::write_bytes(self.root(), 0, size_of::<T>()) };
        InitValue(self)
    }
}

impl<'s, T: Transportable> UninitSlice<'s, T> {
    /// Fills the memory with zeroes, so that the values can be read and changed before they are
    /// completed.
    pub fn zeroed(self) -> InitSlice<'s, T>
    where
        T: FromZeros,
    {
        // SAFETY: there is space for `len` values, borrowed exclusively.
        unsafe { ptr::write_bytes(self.first(), 0, self.len) };
        InitSlice(self)
    }
}

/// A value in the buffer of a stream that is not completed yet. Changes are made in place.
#[must_use = "the stream has the value once it is completed"]
pub struct InitValue<'s, T>(pub(super) UninitValue<'s, T>);

impl<T: Transportable> InitValue<'_, T> {
    /// Completes the value.
    pub fn complete(self) {
        // SAFETY: it was created with a valid value, and safe code can only have replaced it by
        // other values.
        unsafe { self.0.assume_init() };
    }
}

impl<T: Transportable> Deref for InitValue<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: it was created with a valid value, which is aligned and borrowed as `self` is.
        unsafe { &*self.0.root().cast() }
    }
}

impl<T: Transportable> DerefMut for InitValue<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { &mut *self.0.root().cast() }
    }
}

/// A slice in the buffer of a stream that is not completed yet. Changes are made in place.
#[must_use = "the stream has the slice once it is completed"]
pub struct InitSlice<'s, T>(pub(super) UninitSlice<'s, T>);

impl<T: Transportable> InitSlice<'_, T> {
    /// Shortens the slice to its first `len` values.
    pub fn truncate(&mut self, len: usize) {
        self.0.len = self.0.len.min(len);
    }

    /// Completes the slice.
    pub fn complete(self) {
        let len = self.0.len;
        // SAFETY: it was created with at least `len` valid values, and safe code can only have
        // replaced them by other values.
        unsafe { self.0.assume_init(len) };
    }
}

impl<T: Transportable> Deref for InitSlice<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: it was created with this number of valid values, which are aligned and borrowed
        // as `self` is.
        unsafe { slice::from_raw_parts(self.0.first(), self.0.len) }
    }
}

impl<T: Transportable> DerefMut for InitSlice<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.0.first(), self.0.len) }
    }
}

impl<T: Transportable + fmt::Debug> fmt::Debug for InitValue<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Transportable + fmt::Debug> fmt::Debug for InitSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
