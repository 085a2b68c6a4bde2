//! References that preserve the identity of their target.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::ptr;

/// A reference to an object in a buffer to which other references may exist.
///
/// `Rc` and `Arc` arrive as this type. A graph in which several pointers lead to one object arrives
/// with the same sharing: two `Shared` are equal by [`ptr_eq`](Self::ptr_eq) if the originals were.
/// In all other respects it is a plain reference: it compares, hashes and prints like its target.
///
/// `Shared` is `Send` and `Sync` if `T` is `Sync`, like a reference. The arrived form of an `Rc`
/// can therefore move to threads to which the `Rc` could not.
#[repr(transparent)]
pub struct Shared<'b, T: ?Sized>(pub(crate) &'b T);

impl<'b, T: ?Sized> Shared<'b, T> {
    /// Makes a shared reference from a plain one.
    #[must_use]
    pub const fn new(target: &'b T) -> Self {
        Self(target)
    }

    /// Returns the plain reference.
    #[must_use]
    pub const fn get(self) -> &'b T {
        self.0
    }

    /// Returns true if both lead to the same object.
    #[must_use]
    pub fn ptr_eq(self, other: Self) -> bool {
        ptr::addr_eq(self.0, other.0)
    }
}

impl<T: ?Sized> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Shared<'_, T> {}

impl<T: ?Sized> Deref for Shared<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: ?Sized> AsRef<T> for Shared<'_, T> {
    fn as_ref(&self) -> &T {
        self.0
    }
}

impl<T: ?Sized> Borrow<T> for Shared<'_, T> {
    fn borrow(&self) -> &T {
        self.0
    }
}

impl<'b, T: ?Sized> From<&'b T> for Shared<'b, T> {
    fn from(target: &'b T) -> Self {
        Self(target)
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for Shared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Display + ?Sized> fmt::Display for Shared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: PartialEq + ?Sized> PartialEq for Shared<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Eq + ?Sized> Eq for Shared<'_, T> {}

impl<T: PartialOrd + ?Sized> PartialOrd for Shared<'_, T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(other.0)
    }
}

impl<T: Ord + ?Sized> Ord for Shared<'_, T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(other.0)
    }
}

impl<T: std::hash::Hash + ?Sized> std::hash::Hash for Shared<'_, T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
