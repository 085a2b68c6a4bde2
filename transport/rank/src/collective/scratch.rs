//! Elements of which no destructor runs.

use std::iter;
use std::mem;
use std::ops::{Deref, DerefMut};

use crate::element::Element;

/// A vector of elements that are copies of the bytes of others.
///
/// A type of elements may have a destructor, which is code of the program: it may panic, or call
/// the rank in the middle of an operation. It never runs for these elements, because the elements
/// that they were copied from are dropped by their owner.
pub(super) struct Scratch<E>(Vec<E>);

impl<E: Element> Scratch<E> {
    /// Returns `count` elements whose bytes are 0.
    pub(super) fn zeroed(count: usize) -> Self {
        Self(iter::repeat_with(E::new_zeroed).take(count).collect())
    }
}

impl<E> Scratch<E> {
    /// Returns no elements.
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Leaks the memory.
    pub(super) fn leak(self) {
        mem::forget(self);
    }
}

impl<E> Deref for Scratch<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        &self.0
    }
}

impl<E> DerefMut for Scratch<E> {
    fn deref_mut(&mut self) -> &mut [E] {
        &mut self.0
    }
}

impl<E> Drop for Scratch<E> {
    fn drop(&mut self) {
        let elements = mem::take(&mut self.0);
        elements.into_iter().for_each(mem::forget);
    }
}

/// Replaces an element without running the destructor of the old one.
pub(super) fn overwrite<E>(element: &mut E, value: E) {
    mem::forget(mem::replace(element, value));
}
