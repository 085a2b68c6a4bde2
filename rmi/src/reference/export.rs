//! Objects that are exported without a name.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Remote;
use crate::exports::{Counts, Node, Owned};
use crate::interface::Remotable;
use crate::object::Object;

/// An object that is exported as long as this is there: calls of those who have references to it fail from then on,
/// but for those that run.
#[must_use = "the object is exported as long as this is there"]
pub struct Export<T: ?Sized> {
    owned: Owned,
    of: PhantomData<fn() -> Box<T>>,
}

impl<T: Remotable + ?Sized> Export<T> {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self {
            owned: Owned::new(node),
            of: PhantomData,
        }
    }

    /// A reference to the object, to be passed to others.
    #[must_use]
    pub fn remote(&self) -> Remote<T> {
        Remote::of(Object::here(self.owned.node().clone()))
    }

    /// A reference to the object, which from now on lives as long as there are references to it, here and elsewhere.
    #[must_use]
    pub fn into_remote(self) -> Remote<T> {
        Remote::of(Object::here(self.owned.let_go()))
    }

    /// How many connections have references to the object.
    #[must_use]
    pub fn references(&self) -> usize {
        self.owned.node().leases()
    }

    /// Has `notice` called each time that the last connection has no reference to the object any more: it has dropped it,
    /// has ended, or its lease is over. It is called by whoever finds that out, and should not take long.
    pub fn when_unreferenced(&self, notice: impl Fn() + Send + Sync + 'static) {
        self.owned.node().when_unreferenced(Arc::new(notice));
    }
}

impl<T: ?Sized> fmt::Debug for Export<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Export").field(self.owned.node()).finish()
    }
}

/// How many there are of what may leak, of one [`Server`](crate::Server).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReferenceCounts {
    /// Objects that can be called: with names, with an [`Export`], or because somebody has a reference.
    pub exports: usize,
    /// References of others, one for each object and connection.
    pub leases: usize,
    /// References in calls on their way.
    pub pins: usize,
}

impl ReferenceCounts {
    pub(crate) fn of(counts: &Counts) -> Self {
        Self {
            exports: counts.exports.load(Ordering::Relaxed),
            leases: counts.leases.load(Ordering::Relaxed),
            pins: counts.pins.load(Ordering::Relaxed),
        }
    }
}
