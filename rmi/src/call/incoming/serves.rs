//! Handles of objects that a server can serve.

use std::sync::Arc;

use crate::call::incoming::callee::callee;
use crate::call::incoming::skeleton::Skeleton;
use crate::interface::Exclusive;
use crate::session::{Home, Node};

/// A handle of an object that a server can serve as a `T`: an [`Arc`], or an [`Exclusive`] if the
/// trait has methods on `&mut self`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be served as `{T}`",
    note = "pass an `Arc` of an object that implements the trait, or an `Exclusive` if methods take \
            `&mut self`"
)]
pub trait Serves<T: ?Sized>: sealed::Sealed {
    #[doc(hidden)]
    fn exported(self, home: &Arc<Home>) -> Arc<Node>;
}

/// Creates the node of an object.
fn exported<T, O>(holder: T::Holder, home: &Arc<Home>) -> Arc<Node>
where
    T: Skeleton<O> + ?Sized,
    O: ?Sized + 'static,
{
    Node::new(T::interface(), callee::<T, O>(holder, home), home)
}

impl<T, O> Serves<T> for Arc<O>
where
    T: Skeleton<O, Holder = Self> + ?Sized,
    O: ?Sized + 'static,
{
    fn exported(self, home: &Arc<Home>) -> Arc<Node> {
        exported::<T, O>(self, home)
    }
}

impl<T, O> Serves<T> for Exclusive<O>
where
    T: Skeleton<O, Holder = Self> + ?Sized,
    O: ?Sized + 'static,
{
    fn exported(self, home: &Arc<Home>) -> Arc<Node> {
        exported::<T, O>(self, home)
    }
}

mod sealed {
    pub trait Sealed {}

    impl<O: ?Sized> Sealed for std::sync::Arc<O> {}
    impl<O: ?Sized> Sealed for super::Exclusive<O> {}
}
