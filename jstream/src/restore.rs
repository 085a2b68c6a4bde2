//! From what was received back to a type that owns its parts.

use std::any::{Any, TypeId};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::Transportable;
use crate::shared::Shared;

/// How many pointers [`restore`] follows from the root on, one after another.
///
/// Making a graph of owners recurses, and so does dropping it.
const DEPTH: u32 = 128;

/// A type that can be made again from its form, by copying all parts to the heap.
///
/// Derived with [`Transportable`] for types that borrow nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be restored from its form: it does not implement `Restore`",
    note = "add `#[transportable(no_to_owned)]` to the type that contains it, or implement \
            `jstream::Restore` for it"
)]
pub trait Restore: Transportable + Sized {
    /// Makes the value that `form` is the form of.
    ///
    /// # Errors
    ///
    /// [`RestoreError::Depth`] when the graph is deeper than `restoring` allows,
    /// [`RestoreError::Adapter`] when an adapter refuses a part.
    fn restore<'b>(
        form: &Self::InPlace<'b>,
        restoring: &mut Restoring,
    ) -> Result<Self, RestoreError>
    where
        Self: 'b;
}

/// Makes the value that `form` is the form of, with the same sharing among its parts.
///
/// # Errors
///
/// [`RestoreError::Depth`] when the graph is deeper than 128 pointers by any way,
/// [`RestoreError::Adapter`] when an adapter refuses a part.
pub fn restore<'b, T: Restore + 'b>(form: &T::InPlace<'b>) -> Result<T, RestoreError> {
    T::restore(form, &mut Restoring::new(DEPTH))
}

/// Why a value was not made again from its form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// More pointers than this lead from one object to the next.
    Depth(u32),
    /// An adapter refuses what it is to make a field of.
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

/// What is kept while a graph is made again: its depth, and the shared objects made so far.
#[derive(Debug)]
pub struct Restoring {
    left: u32,
    most: u32,
    /// The least that was left since the shared object that is being made was begun.
    least: u32,
    shared: FxHashMap<(usize, TypeId), Made>,
}

/// A shared object that was made.
#[derive(Debug)]
struct Made {
    pointer: Box<dyn Any>,
    /// How many pointers lead from the pointer on, itself included.
    height: u32,
}

impl Restoring {
    /// For graphs of at most `depth` pointers one after another.
    #[must_use]
    pub fn new(depth: u32) -> Self {
        Self {
            left: depth,
            most: depth,
            least: depth,
            shared: FxHashMap::default(),
        }
    }

    /// Goes one pointer deeper for as long as `of` runs.
    ///
    /// # Errors
    ///
    /// [`RestoreError::Depth`] where that is too deep; what `of` returns.
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

    /// The pointer that was made for the shared object at `target` before, or a new one.
    fn shared<P: Clone + 'static, T: ?Sized>(
        &mut self,
        target: &T,
        make: impl FnOnce(&mut Self) -> Result<P, RestoreError>,
    ) -> Result<P, RestoreError> {
        // What has no size may stand where something else does, and has no identity to keep.
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

/// Types that are their own form, and nothing but a value.
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
