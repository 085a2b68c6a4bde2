//! Optional state that is almost always absent.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// An optional boxed value that is almost always absent. If it is absent, dropping this is a single
/// null check.
pub(crate) struct RareBox<T>(ManuallyDrop<Option<Box<T>>>);

impl<T> RareBox<T> {
    #[inline]
    pub(crate) const fn none() -> Self {
        Self(ManuallyDrop::new(None))
    }
}

impl<T> From<Option<Box<T>>> for RareBox<T> {
    fn from(there: Option<Box<T>>) -> Self {
        Self(ManuallyDrop::new(there))
    }
}

impl<T> Deref for RareBox<T> {
    type Target = Option<Box<T>>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for RareBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T> Drop for RareBox<T> {
    #[inline]
    fn drop(&mut self) {
        // The check is inlined and the drop is not, because most values are empty.
        if self.is_some() {
            dropped(&mut self.0);
        }
    }
}

#[inline(never)]
fn dropped<T>(there: &mut Option<Box<T>>) {
    drop(there.take());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn contents_are_dropped_exactly_one_time() {
        let seen = Arc::new(());
        let mut some = RareBox::none();
        *some = Some(Box::new(seen.clone()));
        assert_eq!(Arc::strong_count(&seen), 2);
        *some = None;
        assert_eq!(Arc::strong_count(&seen), 1);
        drop(RareBox::from(Some(Box::new(seen.clone()))));
        assert_eq!(Arc::strong_count(&seen), 1);
    }
}
