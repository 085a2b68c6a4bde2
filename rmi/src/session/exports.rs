//! The exported objects of a server, with and without names.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::frame::{REFLECTION, REGISTRY};
use crate::interface::Interface;
use crate::session::objects::{Home, Node, Owned};
use crate::session::references::{Lanes, Offers};
use crate::support::BindError;

/// The registry of a server, its named objects, and the objects that are offered to other
/// connections.
pub(crate) struct Exports {
    home: Arc<Home>,
    registry: Arc<Node>,
    /// The reflection object, if the server has one.
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

    /// Returns the object with a fixed number that each server has.
    pub(crate) fn own(&self, number: u32) -> Option<&Arc<Node>> {
        match number {
            REGISTRY => Some(&self.registry),
            REFLECTION => self.reflection.as_ref(),
            _ => None,
        }
    }

    /// Locks the names for reading. The table is consistent between statements, so a poisoned lock
    /// is safe to use.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Owned>> {
        jstream_sync::unpoisoned(self.names.read())
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Owned>> {
        jstream_sync::unpoisoned(self.names.write())
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
        // The name owns the export, so a replaced object can't be called any longer, even by peers
        // that have looked it up.
        let replaced = names.insert(name.to_owned(), Owned::new(object));
        // An object that is replaced may be dropped here. Its `Drop` is code of the program, which
        // may bind and look up names.
        drop(names);
        drop(replaced);
        Ok(())
    }

    pub(crate) fn unbind(&self, name: &str) -> bool {
        // The guard of the lock is a temporary of this statement, so the object is dropped after
        // it, at the end of the function.
        let dropped = self.write().remove(name);
        dropped.is_some()
    }

    pub(crate) fn named(&self, name: &str) -> Option<Arc<Node>> {
        Some(self.read().get(name)?.node().clone())
    }

    /// Returns the interface of the object that is bound to a name.
    pub(crate) fn interface(&self, name: &str) -> Option<&'static Interface> {
        Some(self.read().get(name)?.node().interface())
    }

    /// Returns all names in order, with the interfaces of their objects.
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
