//! Conversion of received objects back to types that own their parts.

use std::any::{Any, TypeId};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::Transportable;
use crate::shared::Shared;

/// Maximum number of consecutive pointers that [`restore`] follows from the root.
///
/// Building a graph of owners recurses, and so does dropping it.
const DEPTH: u32 = 128;

/// A type that can be restored from its in-place form by copying all parts to the heap.
///
/// Derived with [`Transportable`] for types that borrow nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be restored from its form: it does not implement `Restore`",
    note = "add `#[transportable(no_to_owned)]` to the type that contains it, or implement \
            `jstream::Restore` for it"
)]
pub trait Restore: Transportable + Sized {
    /// Builds the value from its form.
    ///
    /// # Errors
    ///
    /// Returns [`RestoreError::Depth`] if the graph is deeper than `restoring` allows, and
    /// [`RestoreError::Adapter`] if an adapter refuses a part.
    fn restore<'b>(
        form: &Self::InPlace<'b>,
        restoring: &mut Restoring,
    ) -> Result<Self, RestoreError>
    where
        Self: 'b;
}

/// Builds the value from its form, with the same sharing among its parts.
///
/// # Errors
///
/// Returns [`RestoreError::Depth`] if any path in the graph has more than 128 pointers, and
/// [`RestoreError::Adapter`] if an adapter refuses a part.
pub fn restore<'b, T: Restore + 'b>(form: &T::InPlace<'b>) -> Result<T, RestoreError> {
    T::restore(form, &mut Restoring::new(DEPTH))
}

/// The reason why a value could not be restored from its form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The graph has a path of more pointers than this limit.
    Depth(u32),
    /// An adapter refused the value of a field, with this message.
    Adapter(String),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth(most) => write!(
                f,
                "the graph is deeper than {most} pointers: making or dropping it could overflow the \
                 stack"
            ),
            Self::Adapter(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RestoreError {}

/// The state of a restoration: the remaining depth, and the shared objects built so far.
#[derive(Debug)]
pub struct Restoring {
    left: u32,
    most: u32,
    /// Lowest value of `left` since the current shared object was begun.
    least: u32,
    shared: FxHashMap<(usize, TypeId), Made>,
}

/// A shared object that has been built.
#[derive(Debug)]
struct Made {
    pointer: Box<dyn Any>,
    /// Length of the longest path of pointers that begins with the pointer to this object.
    height: u32,
}

impl Restoring {
    /// Returns the state for graphs of at most `depth` consecutive pointers.
    #[must_use]
    pub fn new(depth: u32) -> Self {
        Self {
            left: depth,
            most: depth,
            least: depth,
            shared: FxHashMap::default(),
        }
    }

    /// Runs `of` one pointer deeper.
    ///
    /// # Errors
    ///
    /// Returns [`RestoreError::Depth`] if that exceeds the limit. Returns the error of `of`
    /// otherwise.
    pub fn deeper<R>(
        &mut self,
        of: impl FnOnce(&mut Self) -> Result<R, RestoreError>,
    ) -> Result<R, RestoreError> {
        let Some(left) = self.left.checked_sub(1) else {
            return Err(RestoreError::Depth(self.most));
        };
        self.left = left;
        self.least = self.least.min(left);
        let result = of(self);
        self.left = left.wrapping_add(1);
        result
    }

    /// Returns the pointer that was built for the shared object at `target`, or builds one.
    fn shared<P: Clone + 'static, T: ?Sized>(
        &mut self,
        target: &T,
        make: impl FnOnce(&mut Self) -> Result<P, RestoreError>,
    ) -> Result<P, RestoreError> {
        // A target of size zero may have the address of another object, and has no identity to
        // preserve.
        if size_of_val(target) == 0 {
            return self.deeper(make);
        }
        let key = (std::ptr::from_ref(target).addr(), TypeId::of::<P>());
        let known = self.shared.get(&key);
        if let Some((known, height)) =
            known.and_then(|known| Some((known.pointer.downcast_ref::<P>()?, known.height)))
        {
            let Some(left) = self.left.checked_sub(height) else {
                return Err(RestoreError::Depth(self.most));
            };
            self.least = self.least.min(left);
            return Ok(known.clone());
        }
        let outer = std::mem::replace(&mut self.least, self.left);
        let made = self.deeper(make)?;
        let new = Made {
            pointer: Box::new(made.clone()),
            height: self.left.saturating_sub(self.least),
        };
        self.shared.insert(key, new);
        self.least = self.least.min(outer);
        Ok(made)
    }
}

/// Implements `Restore` for types that are their own form and are cloned.
macro_rules! restore_values {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::Restore for $type {
            #[inline]
            fn restore<'b>(
                form: &Self,
                _: &mut $crate::Restoring,
            ) -> Result<Self, $crate::RestoreError>
            where
                Self: 'b,
            {
                Ok(form.clone())
            }
        }
    )*};
}
pub(crate) use restore_values;

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        impl<T: Restore + 'static> Restore for $pointer<T> {
            fn restore<'b>(
                form: &Shared<'b, T::InPlace<'b>>,
                restoring: &mut Restoring,
            ) -> Result<Self, RestoreError>
            where
                Self: 'b,
            {
                let target = form.get();
                restoring.shared(target, |restoring| {
                    Ok($pointer::new(T::restore(target, restoring)?))
                })
            }
        }

        impl<T: Restore + 'static> Restore for $pointer<[T]> {
            fn restore<'b>(
                form: &Shared<'b, [T::InPlace<'b>]>,
                restoring: &mut Restoring,
            ) -> Result<Self, RestoreError>
            where
                Self: 'b,
            {
                let target = form.get();
                restoring.shared(target, |restoring| {
                    let all = target.iter().map(|one| T::restore(one, restoring));
                    all.collect()
                })
            }
        }

        impl Restore for $pointer<str> {
            fn restore<'b>(
                form: &Shared<'b, str>,
                restoring: &mut Restoring,
            ) -> Result<Self, RestoreError>
            where
                Self: 'b,
            {
                restoring.shared(form.get(), |_| Ok(form.get().into()))
            }
        }
    )*};
}

pointers!(Rc Arc);
