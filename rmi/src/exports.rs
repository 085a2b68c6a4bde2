//! The objects of a server: each by itself, and those that have names.

mod recent;

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jstream_transport::active::{Executor, Tasks};
use rustc_hash::FxHashMap;

pub(crate) use self::recent::{Callable, changed, recent};
use crate::error::BindError;
use crate::interface::{Interface, Skeleton};
use crate::reference::{Lanes, Offers};
use crate::reflection::REFLECTION;
use crate::registry::REGISTRY;
use crate::server::{Callee, callee};
use crate::sync::lock;

/// What all objects of a server share.
pub struct Home {
    executor: Arc<dyn Executor>,
    /// The futures of async methods, by their type: objects of one type use the same slots.
    tasks: Mutex<FxHashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    pub(crate) counts: Counts,
}

/// How many there are of what may leak.
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

    /// Where futures of this type stand.
    pub(crate) fn tasks<F>(&self) -> Arc<Tasks<F>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
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

/// An object that can be called, as long as its owner has it.
pub struct Node {
    interface: &'static Interface,
    home: Arc<Home>,
    /// How many connections have references to it.
    leases: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    /// Not here any more when the object is exported no longer.
    callee: Option<Arc<dyn Callee>>,
    /// Who is told that no connection has a reference any more.
    notice: Option<Notice>,
}

pub(crate) type Notice = Arc<dyn Fn() + Send + Sync>;

impl Node {
    pub(crate) fn new<T, O>(holder: T::Holder, home: &Arc<Home>) -> Arc<Self>
    where
        T: Skeleton<O> + ?Sized,
        O: ?Sized + 'static,
    {
        home.counts.exports.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            interface: T::interface(),
            home: home.clone(),
            leases: AtomicUsize::new(0),
            state: Mutex::new(State {
                callee: Some(callee::<T, O>(holder, home)),
                notice: None,
            }),
        })
    }

    pub(crate) fn interface(&self) -> &'static Interface {
        self.interface
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.home.counts
    }

    /// The object, to be called without a lock.
    pub(crate) fn callee(&self) -> Option<Arc<dyn Callee>> {
        lock(&self.state).callee.clone()
    }

    /// How many connections have references to it.
    pub(crate) fn leases(&self) -> usize {
        self.leases.load(Ordering::Acquire)
    }

    /// One more connection has a reference.
    pub(crate) fn lease(&self) {
        self.leases.fetch_add(1, Ordering::AcqRel);
        self.counts().leases.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection has none any more. Without a lock held, as it may run the program's code.
    pub(crate) fn release(&self) {
        self.counts().leases.fetch_sub(1, Ordering::Relaxed);
        if self.leases.fetch_sub(1, Ordering::AcqRel) == 1 {
            let notice = lock(&self.state).notice.clone();
            if let Some(notice) = notice {
                notice();
            }
        }
    }

    pub(crate) fn when_unreferenced(&self, notice: Notice) {
        let before = lock(&self.state).notice.replace(notice);
        drop(before);
    }

    /// Nobody calls it from now on.
    fn end(&self) {
        let mut state = lock(&self.state);
        let (callee, notice) = (state.callee.take(), state.notice.take());
        drop(state);
        if callee.is_some() {
            changed();
            self.counts().exports.fetch_sub(1, Ordering::Relaxed);
        }
        // The object may be dropped with this, and its `Drop` may call the server.
        drop((callee, notice));
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

/// Owns an object's life: with this it ends, whoever has references.
#[derive(Debug)]
pub(crate) struct Owned(Option<Arc<Node>>);

impl Owned {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self(Some(node))
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        match &self.0 {
            Some(node) => node,
            None => unreachable!("it is here until this is gone"),
        }
    }

    /// From now on the object lives as long as something refers to it.
    pub(crate) fn let_go(mut self) -> Arc<Node> {
        match self.0.take() {
            Some(node) => node,
            None => unreachable!("it is here until this is gone"),
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

/// The registry of a server, the objects that have names there, and what is offered to others.
pub(crate) struct Exports {
    home: Arc<Home>,
    registry: Arc<Node>,
    /// What the server says of itself, if it does.
    reflection: Option<Arc<Node>>,
    names: RwLock<BTreeMap<String, Owned>>,
    pub(crate) offers: Offers,
    pub(crate) lanes: Lanes,
}

impl fmt::Debug for Exports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl Exports {
    pub(crate) fn new(home: Arc<Home>, registry: Arc<Node>, reflection: Option<Arc<Node>>) -> Self {
        Self {
            home,
            registry,
            reflection,
            names: RwLock::default(),
            offers: Offers::default(),
            lanes: Lanes::default(),
        }
    }

    pub(crate) fn home(&self) -> &Arc<Home> {
        &self.home
    }

    /// What each server has, by its number.
    pub(crate) fn own(&self, number: u32) -> Option<&Arc<Node>> {
        match number {
            REGISTRY => Some(&self.registry),
            REFLECTION => self.reflection.as_ref(),
            _ => None,
        }
    }

    /// The tables are consistent between statements, so a panic elsewhere ends nothing.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Owned>> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Owned>> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn bind(
        &self,
        name: &str,
        object: Arc<Node>,
        replace: bool,
    ) -> Result<(), BindError> {
        let mut names = self.write();
        if !replace && names.contains_key(name) {
            return Err(BindError::Taken {
                name: name.to_owned(),
            });
        }
        let replaced = names.insert(name.to_owned(), Owned::new(object));
        drop(names);
        drop(replaced);
        Ok(())
    }

    pub(crate) fn unbind(&self, name: &str) -> bool {
        let dropped = self.write().remove(name);
        dropped.is_some()
    }

    pub(crate) fn named(&self, name: &str) -> Option<Arc<Node>> {
        Some(self.read().get(name)?.node().clone())
    }

    /// The interface of what is bound to a name.
    pub(crate) fn interface(&self, name: &str) -> Option<&'static Interface> {
        Some(self.read().get(name)?.node().interface())
    }

    /// All names, in order, and the interfaces of what is bound to them.
    pub(crate) fn interfaces(&self) -> Vec<(String, &'static Interface)> {
        let names = self.read();
        let all = names.iter();
        all.map(|(name, owned)| (name.clone(), owned.node().interface()))
            .collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }
}
