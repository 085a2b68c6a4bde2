//! An object in the jbuf that it was received in.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::buffer::{Slot, Spent};
use crate::model::{Covariant, Transportable};

/// Owns a jbuf and the objects in it, which are ordinary Rust objects of type `T::InPlace`.
///
/// Dropping it gives the jbuf back; the objects never need dropping.
///
/// Invariant: `root` is a valid `T::InPlace<'_>` inside the slot, for as long as the slot lives and
/// whatever is done through the references handed out.
pub struct Received<T: Transportable + 'static> {
    slot: Slot,
    root: NonNull<T::InPlace<'static>>,
    /// Neither `Send` nor `Sync` by itself; see below.
    of: PhantomData<*const T>,
}

// SAFETY: the slot is owned memory. The object in it may go to another thread when its form may,
// whatever the lifetime it is later handed out with.
unsafe impl<T> Send for Received<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: Send,
{
}

// SAFETY: a shared `Received` hands out shared references to the form only.
unsafe impl<T> Sync for Received<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: Sync,
{
}

impl<T: Transportable + 'static> Received<T> {
    /// # Safety
    ///
    /// `root` must be a valid object inside `slot` whose references all lead into the slot.
    #[inline]
    pub(crate) unsafe fn new(slot: Slot, root: NonNull<T::InPlace<'static>>) -> Self {
        Self {
            slot,
            root,
            of: PhantomData,
        }
    }

    /// The object.
    #[inline]
    #[must_use]
    pub fn get<'s>(&'s self) -> &'s T::InPlace<'s>
    where
        T: Covariant,
    {
        let root = self.root.as_ptr().cast_const().cast::<T::InPlace<'s>>();
        // SAFETY: the root is valid while the slot lives, which is longer than `'s`. Nobody can
        // store a shorter-lived reference in it, since its form is covariant.
        unsafe { &*root }
    }

    /// Visits the object with a lifetime that nothing else can name, as forms need that are not
    /// covariant.
    #[inline]
    pub fn with<R>(&self, visit: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> R) -> R {
        // SAFETY: the root is valid while the slot lives, which is longer than this call. That the
        // visitor is called with a lifetime without end it can't observe: it is generic in that
        // lifetime, and `R` does not mention it, so it can neither keep a reference nor store one.
        visit(unsafe { self.root.as_ref() })
    }

    /// The length of the jbuf in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Gives the jbuf back for another use.
    #[must_use]
    pub fn into_spent(self) -> Spent {
        Spent::from_slot(self.slot)
    }
}

impl<T> fmt::Debug for Received<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|object| f.debug_tuple("Received").field(object).finish())
    }
}
