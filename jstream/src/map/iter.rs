//! The iterator over the entries of a map.

use std::fmt;
use std::iter::{FusedIterator, Zip};
use std::slice;

/// An iterator over the entries of a map, in the order of the map.
pub struct Iter<'b, K, V>(Zip<slice::Iter<'b, K>, slice::Iter<'b, V>>);

impl<'b, K, V> Iter<'b, K, V> {
    pub(super) fn new((keys, values): (&'b [K], &'b [V])) -> Self {
        Self(keys.iter().zip(values))
    }
}

impl<'b, K, V> Iterator for Iter<'b, K, V> {
    type Item = (&'b K, &'b V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.0.nth(n)
    }

    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, first: B, f: F) -> B {
        self.0.fold(first, f)
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back()
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}
impl<K, V> FusedIterator for Iter<'_, K, V> {}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Iter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
