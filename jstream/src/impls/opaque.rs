//! Types without pointers and without a guaranteed layout, which are converted when written and
//! read.
//!
//! On the wire, a plain type of this crate is at the start of the slot; `write` and `read` convert
//! to and from it. Every value has exactly one wire form, so equal values have equal bytes.

use std::cmp::Ordering;
use std::mem::size_of;

use zerocopy::{FromBytes, IntoBytes};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Returns true if the wire form `W` fits into the slot of a `T`.
const fn fits<W, T>() -> bool {
    size_of::<W>() <= size_of::<T>() && align_of::<W>() <= align_of::<T>()
}

/// Writes a wire form without padding to the start of the slot of a `T`.
///
/// # Safety
///
/// `slot` must be aligned and valid for writes.
#[inline(always)]
pub(super) unsafe fn put<W: IntoBytes, T>(slot: *mut T, wire: W) {
    const { assert!(fits::<W, T>(), "the slot is too small for its wire form") };
    // SAFETY: the caller's slot is writable, and at least as large and as aligned as the wire form.
    unsafe { slot.cast::<W>().write(wire) };
}

/// Loads a wire form, for which any bytes are a value, from the start of the slot of a `T`.
///
/// # Safety
///
/// `slot` must be aligned, valid for reads, and initialised.
#[inline(always)]
pub(super) unsafe fn load<W: FromBytes, T>(slot: *const T) -> W {
    const { assert!(fits::<W, T>(), "the slot is too small for its wire form") };
    // SAFETY: the caller's slot is initialised, and at least as large and as aligned as the wire
    // form.
    unsafe { slot.cast::<W>().read() }
}

/// Returns the shape of a `T` whose wire form is a `W`.
pub(super) const fn shape<W, T>() -> Shape {
    Shape {
        dense: size_of::<W>() == size_of::<T>(),
        ..Shape::leaf(size_of::<T>(), false)
    }
}

/// Implements an opaque leaf. `$to` converts the reference `$value` to the wire form `$wire`.
/// `$from` converts the wire form `$bits` to `Some` value, or to `None` if it is invalid. The leaf
/// has the name of its type in schemas, or `$name`.
macro_rules! opaque {
    ($($type:ident: $wire:ty, |$value:ident| $to:expr, |$bits:pat_param| $from:expr;)*) => {
        opaque! {$(
            @ $type, stringify!($type), |_| Kind::Leaf, $wire, |$value| $to, |$bits| $from;
        )*}
    };
    ($(
        $type:ty as $name:literal: $wire:ty, |$value:ident| $to:expr, |$bits:pat_param| $from:expr;
    )*) => {
        opaque! {$(@ $type, $name, |_| Kind::Leaf, $wire, |$value| $to, |$bits| $from;)*}
    };
    ($(
        @ $type:ty, $name:expr, $kind:expr, $wire:ty,
        |$value:ident| $to:expr, |$bits:pat_param| $from:expr;
    )*) => {$(
        // SAFETY: `put` writes the whole wire form, and `read` loads it from the same place. It
        // fills the slot if the shape is dense.
        unsafe impl Transportable for $type {
            type InPlace<'b> = Self;
            const WIRE_IS_MEMORY: bool = false;

            #[inline]
            unsafe fn write<'b>(&'b self, slot: *mut Self, _: &mut Draft<'b>) {
                let $value = self;
                let wire: $wire = $to;
                // SAFETY: the caller's slot is aligned and writable.
                unsafe { crate::impls::opaque::put(slot, wire) };
            }
        }

        // SAFETY: the slot becomes a value that safe code created, or stays unchanged.
        unsafe impl InPlace for $type {
            const SHAPE: Shape = crate::impls::opaque::shape::<$wire, Self>();

            #[inline]
            unsafe fn read(slot: *mut Self, _: &mut Pass<'_>) -> Result<(), Fault> {
                // SAFETY: the caller's slot is aligned and initialised.
                let $bits = unsafe { crate::impls::opaque::load::<$wire, Self>(slot) };
                let value: Option<Self> = $from;
                match value {
                    // SAFETY: the caller's slot is aligned and writable.
                    Some(value) => unsafe { slot.write(value) },
                    None => return Err(Fault::new(slot, FaultKind::Invalid)),
                }
                Ok(())
            }

            unsafe fn trace(slot: *const Self, trace: &mut Trace) {
                let _ = trace.hit(slot);
            }

            fn describe(schema: &mut Schema) -> TypeIndex {
                schema.define(Schema::key_of::<Self>(), $name, &mut $kind)
            }
        }

        // SAFETY: a form without a lifetime is trivially covariant.
        unsafe impl Covariant for $type {}

        crate::restore::restore_values!($type);
    )*};
}

opaque! {
    Ordering: i8, |order| *order as i8, |order| match order {
        -1 => Some(Self::Less),
        0 => Some(Self::Equal),
        1 => Some(Self::Greater),
        _ => None,
    };
}
