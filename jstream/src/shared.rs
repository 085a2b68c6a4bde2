//! References that keep the identity of what they lead to.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::ptr;

/// A reference to an object in a buffer that others may refer to as well.
///
/// What `Rc` and `Arc` arrive as. A graph in which several lead to one object arrives with the same
/// sharing: two of these are equal by [`ptr_eq`](Self::ptr_eq) where the originals were. Else it is
/// a plain reference, and compares, hashes and prints as what it refers to.
///
/// It is `Send` and `Sync` if `T` is `Sync`, as a reference is; what an `Rc` arrives as may go where the
/// `Rc` may not.
#[repr(transparent)]
pub struct Shared<'b, T: ?Sized>(pub(crate) &'b T);

impl<'b, T: ?Sized> Shared<'b, T> {
    /// Makes a shared reference of a plain one.
    #[must_use]
    pub const fn new(target: &'b T) -> Self {
        Self(target)
    }

    /// The plain reference.
    #[must_use]
    pub const fn get(self) -> &'b T {
        self.0
    }

    /// Whether both lead to one object.
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
