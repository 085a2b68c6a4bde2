//! The classes that a pointer to a trait object may refer to.

use std::any::TypeId;
use std::fmt;

use crate::read::{Edge, Fault, Pass, Trace};
use crate::schema::{Schema, TypeIndex};

/// One registered implementation of a trait: the functions that claim, read, walk and name its
/// type.
///
/// Invariant: all functions belong to the same form. Only `Class::of`, in `dynamic`, makes a class.
#[derive(Clone, Copy)]
pub struct Class {
    pub(crate) key: fn() -> TypeId,
    pub(crate) number: fn() -> u64,
    pub(crate) name: fn() -> String,
    pub(crate) schema: fn() -> (Schema, TypeIndex),
    pub(crate) claim: fn(Edge, &mut Pass<'_>) -> Result<*const u8, Fault>,
    pub(crate) read: unsafe fn(*const u8, &mut Pass<'_>) -> Result<(), Fault>,
    pub(crate) trace: unsafe fn(*const (), *const u8, &mut Trace),
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Class")
            .field("name", &(self.name)())
            .finish_non_exhaustive()
    }
}

/// The class of a trait object that a pass claimed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noted {
    pub(crate) class: &'static Class,
    address: usize,
}

impl Noted {
    /// Returns true if the class was recorded for the target at this address.
    pub(crate) fn is_of(self, target: *const u8) -> bool {
        self.address == target.addr()
    }
}

impl Class {
    /// Claims a target of this class. The returned pointer refers to a value of the class's form.
    ///
    /// # Errors
    ///
    /// As for [`Pointee::claim`](crate::model::Pointee::claim).
    #[inline]
    pub fn claim(&'static self, edge: Edge, pass: &mut Pass<'_>) -> Result<*const u8, Fault> {
        let target = (self.claim)(edge, pass)?;
        pass.lists.get_mut().classes.push(Noted {
            class: self,
            address: target.addr(),
        });
        Ok(target)
    }

    /// Reads a target that was not queued.
    ///
    /// # Errors
    ///
    /// As for [`Pointee::read_now`](crate::model::Pointee::read_now).
    ///
    /// # Safety
    ///
    /// [`claim`](Self::claim) of some class must have just returned `target`.
    pub unsafe fn read_now(target: *const u8, pass: &mut Pass<'_>) -> Result<(), Fault> {
        match pass.lists.get().classes.last() {
            // SAFETY: the last recorded class is that of the last claimed target.
            Some(noted) => unsafe { (noted.class.read)(target, pass) },
            None => Ok(()),
        }
    }

    /// Returns the structure of the class's form. The descriptor of that structure is the class's
    /// number.
    #[cfg(all(feature = "file", unix))]
    pub(crate) fn schema(&self) -> (Schema, TypeIndex) {
        (self.schema)()
    }

    /// Walks a target of this class.
    ///
    /// # Safety
    ///
    /// As for [`Pointee::trace_target`](crate::model::Pointee::trace_target).
    pub(crate) unsafe fn trace(&self, slot: *const (), target: *const u8, trace: &mut Trace) {
        // SAFETY: the caller's promise is passed on.
        unsafe { (self.trace)(slot, target, trace) };
    }
}
