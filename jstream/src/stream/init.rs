//! Values and slices of zeroes in a jbuf, for a producer to look at and change before they are completed.
//!
//! Invariant: what an [`InitValue`] or an [`InitSlice`] stands for is initialised.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice;

use super::uninit::{UninitSlice, UninitValue};
use crate::model::Transportable;

/// A value in a jbuf, not completed yet. Changes go where it is sent from.
#[must_use = "the stream has the value once it is completed"]
pub struct InitValue<'s, T>(pub(super) UninitValue<'s, T>);

impl<T: Transportable> InitValue<'_, T> {
    /// Completes it.
    pub fn complete(self) {
        // SAFETY: it was made with a value in it, which may have been replaced by others.
        unsafe { self.0.assume_init() };
    }
}

impl<T: Transportable> Deref for InitValue<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: it was made with a value in it, aligned, which is lent as `self` is.
        unsafe { &*self.0.root().cast() }
    }
}

impl<T: Transportable> DerefMut for InitValue<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, exclusively.
        unsafe { &mut *self.0.root().cast() }
    }
}

/// A slice in a jbuf, not completed yet. Changes go where it is sent from.
#[must_use = "the stream has the slice once it is completed"]
pub struct InitSlice<'s, T>(pub(super) UninitSlice<'s, T>);

impl<T: Transportable> InitSlice<'_, T> {
    /// Leaves only the first `len` values, if there are more.
    pub fn truncate(&mut self, len: usize) {
        self.0.len = self.0.len.min(len);
    }

    /// Completes it.
    pub fn complete(self) {
        let len = self.0.len;
        // SAFETY: it was made with at least so many values in it, which may have been replaced by others.
        unsafe { self.0.assume_init(len) };
    }
}

impl<T: Transportable> Deref for InitSlice<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: it was made with so many values in it, aligned, which are lent as `self` is.
        unsafe { slice::from_raw_parts(self.0.first(), self.0.len) }
    }
}

impl<T: Transportable> DerefMut for InitSlice<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, exclusively.
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
