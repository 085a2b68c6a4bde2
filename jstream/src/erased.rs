//! An object in place whose type is known only to those who ask for it.

use std::any::TypeId;
use std::fmt;
use std::ptr::NonNull;

use crate::buffer::Slot;
use crate::model::Transportable;
use crate::received::{Received, Wire};

/// A [`Received`] that has forgotten its type, to be handed to somebody who knows it: O(1) both ways.
pub struct Erased {
    slot: Slot,
    root: NonNull<()>,
    wire: Wire,
    /// Of the `T` of the `Received<T>` that it was.
    type_id: TypeId,
    type_name: &'static str,
}

// SAFETY: it is made of a `Received` that is `Send`, and gives nothing but that back.
unsafe impl Send for Erased {}

impl Erased {
    /// Forgets the type of a received object.
    #[must_use]
    pub fn new<T>(received: Received<T>) -> Self
    where
        T: Transportable + 'static,
        Received<T>: Send,
    {
        let (slot, root, wire) = received.into_parts();
        Self {
            slot,
            root: root.cast(),
            wire,
            type_id: TypeId::of::<T>(),
            type_name: std::any::type_name::<T>(),
        }
    }

    /// The object again, if it is of the type that it was.
    ///
    /// # Errors
    ///
    /// Itself, when its type is another.
    pub fn downcast<T: Transportable + 'static>(self) -> Result<Received<T>, Self> {
        if self.type_id != TypeId::of::<T>() {
            return Err(self);
        }
        // SAFETY: these are the parts of a `Received<T>`.
        Ok(unsafe { Received::from_parts(self.slot, self.root.cast(), self.wire) })
    }

    /// Whether it is a `T`.
    #[must_use]
    pub fn is<T: Transportable + 'static>(&self) -> bool {
        self.type_id == TypeId::of::<T>()
    }

    /// The name of its type, for people.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }
}

impl fmt::Debug for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Erased").field(&self.type_name).finish()
    }
}
