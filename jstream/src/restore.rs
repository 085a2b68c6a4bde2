//! Conversion of received objects back to types that own their parts.

use std::any::{Any, TypeId};
use std::fmt;
use std::mem::{MaybeUninit, needs_drop};
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
/// Derived with [`Transportable`] for types that borrow nothing, except by a `Cow<'static, T>`, and
/// that have no trait objects.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be restored from its form: it does not implement `Restore`",
    note = "types that borrow, as by a `&'static str`, and those with a trait object can't be \
            restored: use a type that owns its parts, such as `String`, or give the type that \
            contains it a lifetime, which is that of the receive buffer",
    note = "if values need not be restored, add `#[transportable(no_to_owned)]` to the type that \
            contains it; otherwise implement `jstream::Restore` for it"
)]
pub trait Restore: Transportable + Sized {
    /// True if [`restore`](Self::restore) returns a copy of the form, unchanged. A slice of such
    /// values is then copied as a whole, without a call for each, if they are plain data.
    const IS_COPY: bool = false;

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

    /// Builds the values of a slice from their forms.
    ///
    /// # Errors
    ///
    /// As for [`restore`](Self::restore), for the first value that can't be built.
    #[inline]
    fn restore_all<'b>(
        forms: &[Self::InPlace<'b>],
        restoring: &mut Restoring,
    ) -> Result<Vec<Self>, RestoreError>
    where
        Self: 'b,
    {
        if let Some(values) = copied::<Self>(forms) {
            return Ok(values);
        }
        let mut values = Vec::with_capacity(forms.len());
        build_all(forms, values.spare_capacity_mut(), restoring)?;
        // SAFETY: the capacity is at least the number of forms, so a value of each was written.
        unsafe { values.set_len(forms.len()) };
        Ok(values)
    }
}

/// Returns a copy of all values, or `None` if they are not plain data or not to be copied.
#[inline(always)]
fn copied<'b, T: Restore + 'b>(forms: &[T::InPlace<'b>]) -> Option<Vec<T>> {
    let is_plain = const { T::IS_COPY && T::WIRE_IS_MEMORY && !needs_drop::<T>() };
    if !is_plain || typeid::of::<T>() != typeid::of::<T::InPlace<'b>>() {
        return None;
    }
    let count = forms.len();
    let mut values: Vec<T> = Vec::with_capacity(count);
    let first = forms.as_ptr().cast::<T>();
    // SAFETY: the form of `T` is `T`, except for lifetimes, and the vector has room for `count` of
    // them.
    unsafe { first.copy_to_nonoverlapping(values.as_mut_ptr(), count) };
    // SAFETY: a type whose wire form is its memory has no pointers, so lifetimes and ownership have
    // no part in its values, and none of them needs to be dropped: copies of their bytes are
    // values.
    unsafe { values.set_len(count) };
    Some(values)
}

/// Writes the value of each form to the place of the same index. If it returns `Ok`, as many values
/// were written as there are forms, or places if those are fewer. Otherwise none are left.
#[inline(always)]
pub(crate) fn build_all<'b, T: Restore + 'b>(
    forms: &[T::InPlace<'b>],
    places: &mut [MaybeUninit<T>],
    restoring: &mut Restoring,
) -> Result<(), RestoreError> {
    /// Values that are dropped if a later one can't be built.
    struct Built<'v, T> {
        places: &'v mut [MaybeUninit<T>],
        len: usize,
    }

    impl<T> Drop for Built<'_, T> {
        fn drop(&mut self) {
            if let Some(built) = self.places.get_mut(..self.len) {
                let built = std::ptr::from_mut(built) as *mut [T];
                // As a whole, so that the others are dropped if one of them panics.
                // SAFETY: the first `len` places were written, and nothing else drops them.
                unsafe { std::ptr::drop_in_place(built) };
            }
        }
    }

    let mut built = Built { places, len: 0 };
    for (place, form) in built.places.iter_mut().zip(forms) {
        place.write(T::restore(form, restoring)?);
        built.len = built.len.wrapping_add(1);
    }
    std::mem::forget(built);
    Ok(())
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
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
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
    ///
    /// # Errors
    ///
    /// Returns [`RestoreError::Depth`] if the limit is exceeded. Returns the error of `make`
    /// otherwise.
    pub(crate) fn shared<P: Clone + 'static, T: ?Sized>(
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
            const IS_COPY: bool = true;

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
