//! The objects of a server, by number and by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jstream_transport::active::Executor;
use rustc_hash::FxHashMap;

use crate::error::BindError;
use crate::interface::{Interface, Skeleton};
use crate::reflection::REFLECTION;
use crate::registry::{Entry, REGISTRY};
use crate::server::{Callee, callee};

/// An object whatever its interface.
pub struct Exported {
    interface: &'static Interface,
    callee: Arc<dyn Callee>,
}

impl Exported {
    pub(crate) fn new<T, O>(holder: T::Holder, executor: &Arc<dyn Executor>) -> Self
    where
        T: Skeleton<O> + ?Sized,
        O: ?Sized + 'static,
    {
        Self {
            interface: T::interface(),
            callee: callee::<T, O>(holder, executor.clone()),
        }
    }
}

/// The objects of a server by number, and their names.
pub(crate) struct Exports {
    tables: RwLock<Tables>,
}

struct Tables {
    objects: FxHashMap<u32, Exported>,
    names: BTreeMap<String, u32>,
    /// The number of the next object, unless one has it still.
    next: u32,
}

impl fmt::Debug for Exports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl Exports {
    pub(crate) fn new(registry: Exported, reflection: Option<Exported>) -> Self {
        let own = std::iter::once((REGISTRY, registry));
        let reflection = reflection.map(|reflection| (REFLECTION, reflection));
        Self {
            tables: RwLock::new(Tables {
                objects: own.chain(reflection).collect(),
                names: BTreeMap::new(),
                next: REGISTRY.wrapping_add(1),
            }),
        }
    }

    /// The tables are consistent between statements, so a panic elsewhere ends nothing.
    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn bind(
        &self,
        name: &str,
        object: Exported,
        replace: bool,
    ) -> Result<(), BindError> {
        let mut tables = self.write();
        if !replace && tables.names.contains_key(name) {
            return Err(BindError::Taken {
                name: name.to_owned(),
            });
        }
        let mut number = tables.next;
        // Numbers begin anew after some billions of objects.
        while tables.objects.contains_key(&number) {
            number = number.wrapping_add(1);
        }
        tables.next = number.wrapping_add(1);
        tables.objects.insert(number, object);
        let replaced = tables.names.insert(name.to_owned(), number);
        let dropped = replaced.and_then(|old| tables.objects.remove(&old));
        // The old object may be dropped with this, and its `Drop` may call the server.
        drop(tables);
        drop(dropped);
        Ok(())
    }

    pub(crate) fn unbind(&self, name: &str) -> bool {
        let mut tables = self.write();
        let number = tables.names.remove(name);
        let dropped = number.and_then(|number| tables.objects.remove(&number));
        drop(tables);
        dropped.is_some()
    }

    pub(crate) fn entry(&self, name: &str) -> Option<Entry> {
        let tables = self.read();
        let number = *tables.names.get(name)?;
        let interface = tables.objects.get(&number)?.interface;
        Some(Entry {
            object: number.into(),
            interface: interface.id(),
            description: interface.description(),
        })
    }

    /// The interface of what is bound to a name.
    pub(crate) fn interface(&self, name: &str) -> Option<&'static Interface> {
        let tables = self.read();
        let number = tables.names.get(name)?;
        Some(tables.objects.get(number)?.interface)
    }

    /// All names, in order, and the interfaces of what is bound to them.
    pub(crate) fn interfaces(&self) -> Vec<(String, &'static Interface)> {
        let tables = self.read();
        let all = tables.names.iter().filter_map(|(name, number)| {
            let object = tables.objects.get(number)?;
            Some((name.clone(), object.interface))
        });
        all.collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.read().names.keys().cloned().collect()
    }

    /// The object of this number, to be called without holding the tables.
    pub(crate) fn object(&self, number: u32) -> Option<(&'static Interface, Arc<dyn Callee>)> {
        let tables = self.read();
        let object = tables.objects.get(&number)?;
        Some((object.interface, object.callee.clone()))
    }
}
