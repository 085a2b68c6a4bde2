//! `Wrapping` and `Saturating`, which are sent as their content.

use std::mem::{offset_of, size_of};
use std::num::{Saturating, Wrapping};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, Pass, Refusal, Trace};
use crate::restore::{Restore, RestoreError, Restoring};
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex};
use crate::write::Draft;

macro_rules! wrapper {
    ($wrapper:ident, $name:literal) => {
        // SAFETY: the wrapper has the layout of its content, and only the content is written and
        // read.
        unsafe impl<T: Transportable> Transportable for $wrapper<T> {
            type InPlace<'b>
                = $wrapper<T::InPlace<'b>>
            where
                Self: 'b;
            const WIRE_IS_MEMORY: bool = T::WIRE_IS_MEMORY && is_transparent::<T, Self>();

            #[inline]
            unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
                // SAFETY: the value lies inside the caller's slot.
                let value = unsafe { &raw mut (*slot).0 };
                // SAFETY: the value is aligned and writable, and it is zeroed if the wrapper is.
                unsafe { self.0.write(value, draft) };
            }
        }

        // SAFETY: a wrapper is valid if its content is. It has no other bytes, which is asserted by
        // `SHAPE`, so it may be plain.
        unsafe impl<T: InPlace> InPlace for $wrapper<T> {
            const SHAPE: Shape = {
                assert!(is_transparent::<T, Self>() && offset_of!(Self, 0) == 0);
                T::SHAPE
            };

            #[inline]
            unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
                // SAFETY: the caller's slot is also a slot of the content, with the same size and
                // alignment.
                unsafe { T::read(slot.cast::<T>(), pass) }
            }

            #[inline]
            unsafe fn read_all(
                first: *mut Self,
                count: usize,
                pass: &mut Pass<'_>,
            ) -> Result<(), Fault> {
                // SAFETY: as above, for each slot.
                unsafe { T::read_all(first.cast::<T>(), count, pass) }
            }

            unsafe fn verify(slot: *const Self) -> Result<(), Refusal> {
                // SAFETY: the caller's slot is also a slot of the content.
                unsafe { T::verify(slot.cast::<T>()) }
            }

            unsafe fn trace(slot: *const Self, trace: &mut Trace) {
                trace.enter("0");
                // SAFETY: the content was read as this slot.
                unsafe { T::trace(slot.cast::<T>(), trace) };
                let _ = trace.leave();
            }

            fn describe(schema: &mut Schema) -> TypeIndex {
                schema.define(Schema::key_of::<Self>(), $name, &mut |schema| {
                    Kind::Struct(vec![FieldInfo::new("0", 0, T::describe(schema))])
                })
            }
        }

        // SAFETY: the wrapper is covariant, and so is the form of its content.
        unsafe impl<T: Covariant> Covariant for $wrapper<T> {}

        impl<T: Restore> Restore for $wrapper<T> {
            fn restore<'b>(
                form: &Self::InPlace<'b>,
                restoring: &mut Restoring,
            ) -> Result<Self, RestoreError>
            where
                Self: 'b,
            {
                Ok(Self(T::restore(&form.0, restoring)?))
            }
        }
    };
}

/// Returns true if a wrapper has the size and alignment of its content.
const fn is_transparent<T, W>() -> bool {
    size_of::<W>() == size_of::<T>() && align_of::<W>() == align_of::<T>()
}

wrapper!(Wrapping, "Wrapping");
wrapper!(Saturating, "Saturating");
