//! Numbers, `bool`, `char`: types whose wire form equals their representation in memory.

use std::marker::PhantomData;
use std::mem::size_of;
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Implements a leaf type. `$check` returns true if the slot's bits, read as `$bits`, are a value.
/// `option: true` says that any bits are a value of an `Option` of the type.
macro_rules! leaf {
    (
        $($type:ty, plain: $plain:literal, $bits:ty, |$value:ident| $check:expr
            $(, option: $option:literal)?;)*
    ) => {$(
        // SAFETY: the form is the type itself. `write` stores the whole value, which has no
        // padding, so `WIRE_IS_MEMORY` holds. The language guarantees that an `Option` of a
        // `NonZero` type has the layout of the number, and that 0 is `None`.
        unsafe impl Transportable for $type {
            type InPlace<'b> = Self;
            const WIRE_IS_MEMORY: bool = true;
            $(const OPTION_IS_MEMORY: bool = $option;)?

            #[inline(always)]
            unsafe fn write<'b>(&'b self, slot: *mut Self, _: &mut Draft<'b>) {
                // SAFETY: the caller's slot is aligned and writable.
                unsafe { slot.write(*self) };
            }
        }

        // SAFETY: `read` accepts exactly the bit patterns that are values. If the type is plain,
        // all bit patterns are values, and so they are of an `Option` of a `NonZero` type.
        unsafe impl InPlace for $type {
            const SHAPE: Shape = Shape::leaf(size_of::<Self>(), $plain);
            $(const OPTION_SHAPE: Shape = Shape::leaf(size_of::<Self>(), $option);)?

            #[inline(always)]
            unsafe fn read(slot: *mut Self, _: &mut Pass<'_>) -> Result<(), Fault> {
                if $plain {
                    return Ok(());
                }
                // SAFETY: the caller's slot is aligned and initialised, and `$bits` has the size
                // and alignment of the type.
                let $value = unsafe { slot.cast::<$bits>().read() };
                if $check { Ok(()) } else { Err(Fault::new(slot, FaultKind::Invalid)) }
            }

            #[inline]
            unsafe fn read_all(
                first: *mut Self,
                count: usize,
                _: &mut Pass<'_>,
            ) -> Result<(), Fault> {
                if $plain {
                    return Ok(());
                }
                // SAFETY: by the caller's promise there are `count` initialised slots, of the size
                // and alignment of `$bits`. They are only read.
                let all = unsafe { std::slice::from_raw_parts(first.cast::<$bits>(), count) };
                // No early exit, so that the loop is vectorised.
                if all.iter().fold(true, |valid, &$value| valid & $check) {
                    return Ok(());
                }
                let bad = all.iter().position(|&$value| !$check).unwrap_or(0);
                Err(Fault::new(first.wrapping_add(bad), FaultKind::Invalid))
            }

            unsafe fn trace(slot: *const Self, trace: &mut Trace) {
                let _ = trace.hit(slot);
            }

            fn describe(schema: &mut Schema) -> TypeIndex {
                schema.define(Schema::key_of::<Self>(), stringify!($type), &mut |_| Kind::Leaf)
            }
        }

        // SAFETY: a form without a lifetime is trivially covariant.
        unsafe impl Covariant for $type {}

        const _: () = assert!(
            size_of::<$type>() == size_of::<$bits>()
                && align_of::<$type>() == align_of::<$bits>()
                $(&& $option && size_of::<Option<$type>>() == size_of::<$bits>())?
        );
    )*};
}

leaf! {
    u8, plain: true, u8, |_value| true;
    u16, plain: true, u16, |_value| true;
    u32, plain: true, u32, |_value| true;
    u64, plain: true, u64, |_value| true;
    u128, plain: true, u128, |_value| true;
    usize, plain: true, usize, |_value| true;
    i8, plain: true, i8, |_value| true;
    i16, plain: true, i16, |_value| true;
    i32, plain: true, i32, |_value| true;
    i64, plain: true, i64, |_value| true;
    i128, plain: true, i128, |_value| true;
    isize, plain: true, isize, |_value| true;
    f32, plain: true, f32, |_value| true;
    f64, plain: true, f64, |_value| true;
    char, plain: false, u32, |value| char::from_u32(value).is_some();
    NonZeroU8, plain: false, u8, |value| value != 0, option: true;
    NonZeroU16, plain: false, u16, |value| value != 0, option: true;
    NonZeroU32, plain: false, u32, |value| value != 0, option: true;
    NonZeroU64, plain: false, u64, |value| value != 0, option: true;
    NonZeroU128, plain: false, u128, |value| value != 0, option: true;
    NonZeroUsize, plain: false, usize, |value| value != 0, option: true;
    NonZeroI8, plain: false, i8, |value| value != 0, option: true;
    NonZeroI16, plain: false, i16, |value| value != 0, option: true;
    NonZeroI32, plain: false, i32, |value| value != 0, option: true;
    NonZeroI64, plain: false, i64, |value| value != 0, option: true;
    NonZeroI128, plain: false, i128, |value| value != 0, option: true;
    NonZeroIsize, plain: false, isize, |value| value != 0, option: true;
}

// SAFETY: as for the leaves above. `OPTION_SHAPE` looks at the layout of an `Option`.
unsafe impl Transportable for bool {
    type InPlace<'b> = Self;
    const WIRE_IS_MEMORY: bool = true;
    const OPTION_IS_MEMORY: bool = Self::OPTION_SHAPE.most_as_is().is_some();

    #[inline(always)]
    unsafe fn write<'b>(&'b self, slot: *mut Self, _: &mut Draft<'b>) {
        // SAFETY: the caller's slot is aligned and writable.
        unsafe { slot.write(*self) };
    }
}

// SAFETY: `read` accepts 0 and 1, the only values of `bool`.
unsafe impl InPlace for bool {
    const SHAPE: Shape = Shape::up_to(1);

    #[inline(always)]
    unsafe fn read(slot: *mut Self, _: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is initialised.
        if unsafe { slot.cast::<u8>().read() } < 2 {
            Ok(())
        } else {
            Err(Fault::new(slot, FaultKind::Invalid))
        }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        let _ = trace.hit(slot);
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "bool", &mut |_| Kind::Leaf)
    }
}

// SAFETY: a form without a lifetime is trivially covariant.
unsafe impl Covariant for bool {}

/// Implements zero-sized types, which have nothing to write or to check.
macro_rules! nothing {
    ($([$($generics:tt)*] $type:ty, $name:literal;)*) => {$(
        // SAFETY: the type has no bytes.
        unsafe impl<$($generics)*> Transportable for $type {
            type InPlace<'b> = Self where Self: 'b;
            const WIRE_IS_MEMORY: bool = true;

            #[inline(always)]
            unsafe fn write<'b>(&'b self, _: *mut Self, _: &mut Draft<'b>) {}
        }

        // SAFETY: a zero-sized type without fields has one value.
        unsafe impl<$($generics)*> InPlace for $type {
            const SHAPE: Shape = Shape::NOTHING;

            #[inline(always)]
            unsafe fn read(_: *mut Self, _: &mut Pass<'_>) -> Result<(), Fault> {
                Ok(())
            }

            unsafe fn trace(_: *const Self, _: &mut Trace) {}

            fn describe(schema: &mut Schema) -> TypeIndex {
                schema.define(Schema::key_of::<Self>(), $name, &mut |_| Kind::Leaf)
            }
        }
    )*};
}

nothing! {
    [] (), "()";
    [T: ?Sized] PhantomData<T>, "PhantomData";
}

// SAFETY: a form without a lifetime is trivially covariant.
unsafe impl Covariant for () {}
// SAFETY: a `'static` form does not depend on the buffer's lifetime.
unsafe impl<T: ?Sized + 'static> Covariant for PhantomData<T> {}
