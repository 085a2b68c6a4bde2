//! Exported objects, and the counts of the references to them.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use jstream_active::{Executor, Tasks};
use jstream_sync::callbacks;
use rustc_hash::FxHashMap;

use crate::interface::Interface;
use crate::session::objects::callee::Callee;
use crate::session::objects::recent::changed;
use crate::support::lock;

/// State that all objects of a server share.
pub struct Home {
    executor: Arc<dyn Executor>,
    /// Slots for the futures of async methods, by future type. Objects of one type share them.
    tasks: Mutex<FxHashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    pub(crate) counts: Counts,
}

/// Counters of resources that could leak.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) exports: AtomicUsize,
    pub(crate) leases: AtomicUsize,
    pub(crate) pins: AtomicUsize,
}

impl Home {
    pub(crate) fn new(executor: Arc<dyn Executor>) -> Self {
        Self {
            executor,
            tasks: Mutex::default(),
            counts: Counts::default(),
        }
    }

    /// Returns the slots for futures of this type.
    pub(crate) fn tasks<F>(&self) -> Arc<Tasks<F>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        // Two objects of one type that are exported at the same time must get the same slots, so
        // the lock is held until they are entered.
        let mut all = lock(&self.tasks);
        let kind = TypeId::of::<F>();
        let known = all.get(&kind).cloned();
        let known = known.and_then(|known| known.downcast::<Tasks<F>>().ok());
        known.unwrap_or_else(|| {
            let tasks = Arc::new(Tasks::new(self.executor.clone()));
            all.insert(kind, tasks.clone());
            tasks
        })
    }
}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Home").field(&self.counts).finish()
    }
}

/// An object that can be called until its owner ends the export.
pub struct Node {
    interface: &'static Interface,
    home: Arc<Home>,
    /// The object itself, if this is what callers of another version call, whose arguments are
    /// converted.
    original: Option<Arc<Node>>,
    /// Number of connections that hold references to the object.
    leases: AtomicUsize,
    state: Mutex<ExportState>,
}

struct ExportState {
    /// `None` once the export has ended.
    callee: Option<Arc<dyn Callee>>,
    /// Callback for when no connection holds a reference any more.
    notice: Option<Notice>,
}

pub(crate) type Notice = Arc<dyn Fn() + Send + Sync>;

impl Node {
    pub(crate) fn new(
        interface: &'static Interface,
        callee: Arc<dyn Callee>,
        home: &Arc<Home>,
    ) -> Arc<Self> {
        // Statistics of resources: no other memory depends on it.
        home.counts.exports.fetch_add(1, Ordering::Relaxed);
        Self::with_original(interface, callee, home, None)
    }

    /// Creates a node for callers of another version, which calls an object with converted
    /// arguments. It is not counted as an export, and references to it are references to the
    /// object.
    pub(super) fn converting(original: Arc<Self>, callee: Arc<dyn Callee>) -> Arc<Self> {
        let (interface, home) = (original.interface, original.home.clone());
        Self::with_original(interface, callee, &home, Some(original))
    }

    fn with_original(
        interface: &'static Interface,
        callee: Arc<dyn Callee>,
        home: &Arc<Home>,
        original: Option<Arc<Self>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            interface,
            home: home.clone(),
            original,
            leases: AtomicUsize::new(0),
            state: Mutex::new(ExportState {
                callee: Some(callee),
                notice: None,
            }),
        })
    }

    /// Returns the object itself, which may be called without conversion.
    pub(crate) fn original(self: Arc<Self>) -> Arc<Self> {
        self.original.clone().unwrap_or(self)
    }

    /// Returns true if this is what callers of another version call instead of the object.
    pub(crate) fn converts(&self, object: &Arc<Self>) -> bool {
        let original = self.original.as_ref();
        original.is_some_and(|original| Arc::ptr_eq(original, object))
    }

    pub(crate) fn interface(&self) -> &'static Interface {
        self.interface
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.home.counts
    }

    /// Returns the object. The lock is not held while it is called.
    pub(crate) fn callee(&self) -> Option<Arc<dyn Callee>> {
        lock(&self.state).callee.clone()
    }

    /// Returns the number of connections that hold references to the object.
    pub(crate) fn leases(&self) -> usize {
        if let Some(original) = &self.original {
            return original.leases();
        }
        self.leases.load(Ordering::Acquire)
    }

    /// Counts one more connection that holds a reference.
    pub(crate) fn lease(&self) {
        if let Some(original) = &self.original {
            return original.lease();
        }
        self.leases.fetch_add(1, Ordering::AcqRel);
        self.counts().leases.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one connection less. The caller must not hold a lock, because this may run a callback
    /// of the program.
    pub(crate) fn release(&self) {
        if let Some(original) = &self.original {
            return original.release();
        }
        self.counts().leases.fetch_sub(1, Ordering::Relaxed);
        if self.leases.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The callback is cloned out: it is code of the program, which may export, unexport, or
            // set another callback.
            let notice = lock(&self.state).notice.clone();
            if let Some(notice) = notice {
                callbacks::run(move || notice());
            }
        }
    }

    pub(crate) fn when_unreferenced(&self, notice: Notice) {
        // The replaced callback may own objects of the program, so it is dropped without the lock.
        let before = lock(&self.state).notice.replace(notice);
        callbacks::run(move || drop(before));
    }

    /// Ends the export: the object can no longer be called.
    fn end(&self) {
        let mut state = lock(&self.state);
        let (callee, notice) = (state.callee.take(), state.notice.take());
        drop(state);
        // The owner and the drop of the last reference both end an export. It counts once.
        if callee.is_some() {
            // After the callee was removed: a thread that reads the new number can't find the
            // object any more. A cached handle, which has an older number, is refused.
            changed();
            // A converting node is no export of its own and was not counted.
            if self.original.is_none() {
                self.counts().exports.fetch_sub(1, Ordering::Relaxed);
            }
        }
        // The object may be dropped with this, and its `Drop` may panic or call the server.
        callbacks::run(move || drop(callee));
        callbacks::run(move || drop(notice));
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.interface.name()).finish()
    }
}

/// Owner of an export. Dropping it ends the export, even if peers hold references.
#[derive(Debug)]
pub(crate) struct Owned(Option<Arc<Node>>);

impl Owned {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self(Some(node))
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        match &self.0 {
            Some(node) => node,
            None => unreachable!("the node is present until the owner is dropped"),
        }
    }

    /// Gives up ownership: the object is then exported as long as it is referenced.
    pub(crate) fn let_go(mut self) -> Arc<Node> {
        // Taken out, so that the drop of this owner does not end the export.
        match self.0.take() {
            Some(node) => node,
            None => unreachable!("the node is present until the owner is dropped"),
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(node) = &self.0 {
            node.end();
        }
    }
}
