//! Objects that are exported without a name.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::reference::object::Object;
use crate::reference::remote::Remote;
use crate::reference::stub::Remotable;
use crate::session::{Counts, Node, Owned};

/// An object that is exported as long as this handle exists. After that, calls by holders of
/// references fail; calls that are running are not affected.
#[must_use = "the object is exported as long as this handle exists"]
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

    /// Returns a reference to the object, which can be passed to peers.
    #[must_use]
    pub fn remote(&self) -> Remote<T> {
        Remote::from_object(Object::local(self.owned.node().clone()))
    }

    /// Returns a reference to the object, and ties the export to its references: the object lives
    /// as long as there are any, at this side or at peers.
    #[must_use]
    pub fn into_remote(self) -> Remote<T> {
        Remote::from_object(Object::local(self.owned.let_go()))
    }

    /// Returns the number of connections that have references to the object.
    #[must_use]
    pub fn references(&self) -> usize {
        self.owned.node().leases()
    }

    /// Calls `notice` each time the last connection has lost its references to the object: it has
    /// dropped them, has ended, or its lease has expired. The thread that detects this calls
    /// `notice`, which should return quickly.
    pub fn when_unreferenced(&self, notice: impl Fn() + Send + Sync + 'static) {
        self.owned.node().when_unreferenced(Arc::new(notice));
    }
}

impl<T: ?Sized> fmt::Debug for Export<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Export").field(self.owned.node()).finish()
    }
}

/// Counters of resources of a [`Server`](crate::Server) that could leak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReferenceCounts {
    /// Objects that can be called: with a name, with an [`Export`], or by a reference.
    pub exports: usize,
    /// References of peers, counted once per object and connection.
    pub leases: usize,
    /// References in calls that are in flight.
    pub pins: usize,
}

impl ReferenceCounts {
    pub(crate) fn from_counts(counts: &Counts) -> Self {
        Self {
            exports: counts.exports.load(Ordering::Relaxed),
            leases: counts.leases.load(Ordering::Relaxed),
            pins: counts.pins.load(Ordering::Relaxed),
        }
    }
}
