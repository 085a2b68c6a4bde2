//! Ranges.

use std::mem::{MaybeUninit, offset_of, size_of};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::ptr;

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, Pass, Refusal, Trace};
use crate::restore::{Restore, RestoreError, Restoring, restore_values};
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex};
use crate::write::Draft;

macro_rules! range {
    ($range:ident, $name:literal, $($field:ident: $bound:ident),+) => {
        // The pattern fails to compile if a bound is missing.
        const _: fn(&$range<()>) = |$range { $($field: _),+ }| ();

        // SAFETY: the bounds of a range are written and read in the same order, each at its own
        // offset.
        unsafe impl<T: Transportable> Transportable for $range<T> {
            type InPlace<'b>
                = $range<T::InPlace<'b>>
            where
                Self: 'b;
            // A range and its form may be laid out differently.
            const WIRE_IS_MEMORY: bool = false;

            #[inline]
            unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
                $({
                    // SAFETY: the bound lies inside the caller's slot.
                    let bound = unsafe { &raw mut (*slot).$field };
                    // SAFETY: the bound is aligned and writable, and it is zeroed if the range is.
                    unsafe { self.$field.write(bound, draft) };
                })+
            }
        }

        // SAFETY: a range is valid if its bounds are.
        unsafe impl<T: InPlace> InPlace for $range<T> {
            const SHAPE: Shape =
                Shape::NOTHING$(.and($bound::SHAPE))+.within(size_of::<Self>());

            #[inline]
            unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
                $({
                    // SAFETY: the bound lies inside the caller's slot.
                    let bound = unsafe { &raw mut (*slot).$field };
                    // SAFETY: the bound is aligned, valid and initialised because the range is.
                    unsafe { $bound::read(bound, pass)? };
                })+
                Ok(())
            }

            unsafe fn verify(slot: *const Self) -> Result<(), Refusal> {
                $({
                    // SAFETY: the bound lies inside the caller's slot.
                    let bound = unsafe { &raw const (*slot).$field };
                    // SAFETY: the bound is a value because the range is.
                    unsafe { $bound::verify(bound)? };
                })+
                Ok(())
            }

            unsafe fn trace(slot: *const Self, trace: &mut Trace) {
                $({
                    // SAFETY: the bound lies inside the caller's slot.
                    let bound = unsafe { &raw const (*slot).$field };
                    trace.enter(stringify!($field));
                    // SAFETY: the bounds before it did not hold the fault.
                    unsafe { $bound::trace(bound, trace) };
                    if trace.leave() {
                        return;
                    }
                })+
            }

            fn describe(schema: &mut Schema) -> TypeIndex {
                schema.define(Schema::key_of::<Self>(), $name, &mut |schema| {
                    Kind::Struct(vec![$(FieldInfo::new(
                        stringify!($field),
                        offset_of!(Self, $field),
                        $bound::describe(schema),
                    )),+])
                })
            }
        }

        // SAFETY: ranges are covariant, and so is the form of the bounds.
        unsafe impl<T: Covariant> Covariant for $range<T> {}

        impl<T: Restore> Restore for $range<T> {
            fn restore<'b>(
                form: &Self::InPlace<'b>,
                restoring: &mut Restoring,
            ) -> Result<Self, RestoreError>
            where
                Self: 'b,
            {
                Ok($range { $($field: T::restore(&form.$field, restoring)?),+ })
            }
        }
    };
}

range!(Range, "Range", start: T, end: T);
range!(RangeFrom, "RangeFrom", start: T);
range!(RangeTo, "RangeTo", end: T);
range!(RangeToInclusive, "RangeToInclusive", end: T);

nothing! {
    [] RangeFull, "RangeFull";
}

// SAFETY: a form without a lifetime is trivially covariant.
unsafe impl Covariant for RangeFull {}

restore_values!(RangeFull);

/// Maximum size in bytes of an inclusive range, because its bounds are made native in a temporary
/// on the stack.
const LARGEST: usize = 1024;

/// Returns true if both bounds fit into the slot, as in an array of two.
const fn has_both<T>() -> bool {
    size_of::<RangeInclusive<T>>() >= size_of::<[T; 2]>()
        && align_of::<RangeInclusive<T>>() >= align_of::<T>()
}

// SAFETY: both bounds are written at the slot's start, where `read` below loads them. The state of
// a range that was iterated to its end is lost: it arrives as a new range with the same bounds.
unsafe impl<T: Transportable> Transportable for RangeInclusive<T> {
    type InPlace<'b>
        = RangeInclusive<T::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        const { assert!(has_both::<T::InPlace<'b>>()) };
        let bounds = slot.cast::<T::InPlace<'b>>();
        // SAFETY: the slot is zeroed, and at least as large and as aligned as two bounds, as
        // asserted above.
        unsafe { self.start().write(bounds, draft) };
        // SAFETY: as above.
        unsafe { self.end().write(bounds.wrapping_add(1), draft) };
    }
}

// SAFETY: the slot becomes a range of bounds that were read, or stays unchanged.
unsafe impl<T: InPlace> InPlace for RangeInclusive<T> {
    const SHAPE: Shape = {
        assert!(
            T::SHAPE.flat,
            "the bounds of a RangeInclusive can't hold pointers or text; use a Range or a tuple"
        );
        T::SHAPE.tagged(size_of::<Self>())
    };

    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        const {
            assert!(Self::SHAPE.flat && has_both::<T>());
            assert!(
                size_of::<Self>() <= LARGEST,
                "a RangeInclusive may have at most 1,024 bytes; put its bounds behind references"
            );
        }
        let mut bounds = MaybeUninit::<[T; 2]>::uninit();
        let wire = slot.cast::<[T; 2]>().cast_const();
        // SAFETY: the slot is at least as large and as aligned as two bounds, as asserted above.
        // The temporary does not overlap it.
        unsafe { ptr::copy_nonoverlapping(wire, bounds.as_mut_ptr(), 1) };
        // SAFETY: the temporary is aligned and holds the bounds' wire bytes.
        unsafe { T::read_all(bounds.as_mut_ptr().cast::<T>(), 2, pass) }
            .map_err(|fault| Fault::new(slot, fault.kind))?;
        // SAFETY: `read_all` made both bounds values. They are flat, so they refer to nothing.
        let [start, end] = unsafe { bounds.assume_init() };
        // SAFETY: the caller's slot is aligned and writable.
        unsafe { slot.write(RangeInclusive::new(start, end)) };
        Ok(())
    }

    unsafe fn verify(slot: *const Self) -> Result<(), Refusal> {
        // SAFETY: the caller's slot holds a value.
        let range = unsafe { &*slot };
        // SAFETY: the bounds are part of the value.
        unsafe { T::verify(range.start())? };
        // SAFETY: as above.
        unsafe { T::verify(range.end()) }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        // The bounds are flat, and their faults are attributed to the slot.
        let _ = trace.hit(slot);
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "RangeInclusive", &mut |schema| {
            let bound = T::describe(schema);
            Kind::Struct(vec![
                FieldInfo::new("start", 0, bound),
                FieldInfo::new("end", size_of::<T>(), bound),
            ])
        })
    }
}

// SAFETY: ranges are covariant, and so is the form of the bounds.
unsafe impl<T: Covariant> Covariant for RangeInclusive<T> {}

impl<T: Restore> Restore for RangeInclusive<T> {
    fn restore<'b>(
        form: &Self::InPlace<'b>,
        restoring: &mut Restoring,
    ) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        let start = T::restore(form.start(), restoring)?;
        Ok(Self::new(start, T::restore(form.end(), restoring)?))
    }
}
