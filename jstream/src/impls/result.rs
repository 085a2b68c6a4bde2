//! `Result`: like [`Option`](super::option), with a payload in either variant.

use std::mem::size_of;
use std::ptr;

use super::option::read_payload;
use crate::entry_points::EntryPoint;
use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Refusal, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Returns the offset of the tag: after the larger payload, if the slot is larger than that
/// payload.
const fn tag_offset<T, E>() -> Option<usize> {
    let (ok, err) = (size_of::<T>(), size_of::<E>());
    let larger = if ok > err { ok } else { err };
    if size_of::<Result<T, E>>() > larger {
        Some(larger)
    } else {
        None
    }
}

// SAFETY: the tag and the payload are written where `read` below loads them, the tag first.
unsafe impl<T: Transportable, E: Transportable> Transportable for Result<T, E> {
    type InPlace<'b>
        = Result<T::InPlace<'b>, E::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;
    const ENTRY_POINT: EntryPoint =
        <T as Transportable>::ENTRY_POINT.or(<E as Transportable>::ENTRY_POINT);

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        match tag_offset::<T::InPlace<'b>, E::InPlace<'b>>() {
            Some(offset) => {
                let tag = slot.cast::<u8>().wrapping_add(offset);
                // SAFETY: the slot is larger than either payload, so this byte lies inside it.
                unsafe { tag.write(u8::from(self.is_err())) };
            }
            None => draft.tag(self.is_err()),
        }
        match self {
            // SAFETY: the slot is zeroed, and at least as large and as aligned as the payload.
            Ok(value) => unsafe { value.write(slot.cast(), draft) },
            // SAFETY: as above.
            Err(error) => unsafe { error.write(slot.cast(), draft) },
        }
    }
}

// SAFETY: the slot becomes a `Result` of a payload that was read, or stays unchanged.
unsafe impl<T: InPlace, E: InPlace> InPlace for Result<T, E> {
    const SHAPE: Shape = {
        let shape = T::SHAPE.and(E::SHAPE).tagged(size_of::<Self>());
        Shape {
            flat: shape.flat && tag_offset::<T, E>().is_some(),
            ..shape
        }
    };
    const ENTRY_POINT: EntryPoint = <T as InPlace>::ENTRY_POINT.or(<E as InPlace>::ENTRY_POINT);

    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        let is_err = match tag_offset::<T, E>() {
            Some(offset) => {
                let tag = slot.cast::<u8>().wrapping_add(offset);
                // SAFETY: the slot is larger than either payload, so this byte lies inside it, and
                // the caller's slot is initialised.
                match unsafe { tag.read() } {
                    0 => false,
                    1 => true,
                    _ => return Err(Fault::new(slot, FaultKind::Invalid)),
                }
            }
            None => pass.tag(slot)?,
        };
        if is_err {
            // SAFETY: the tag says that an `E` was written at the slot's start.
            unsafe { read_payload(slot, pass, Err, err_of) }
        } else {
            // SAFETY: the tag says that a `T` was written at the slot's start.
            unsafe { read_payload(slot, pass, Ok, ok_of) }
        }
    }

    unsafe fn verify(slot: *const Self) -> Result<(), Refusal> {
        // SAFETY: the caller's slot holds a value.
        match unsafe { &*slot } {
            // SAFETY: the payload is part of the value.
            Ok(value) => unsafe { T::verify(value) },
            // SAFETY: as above.
            Err(error) => unsafe { E::verify(error) },
        }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so the slot holds a value. Only the address
        // of its payload is computed.
        if let Some(place) = unsafe { ok_of(slot.cast_mut()) } {
            // SAFETY: the payload was read as part of this slot.
            unsafe { T::trace(place, trace) };
        }
        // SAFETY: as above.
        if let Some(place) = unsafe { err_of(slot.cast_mut()) } {
            // SAFETY: as above.
            unsafe { E::trace(place, trace) };
        }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "Result", &mut |schema| {
            let ok = T::describe(schema);
            Kind::Outcome(ok, E::describe(schema))
        })
    }
}

/// Returns the address of the payload of an `Ok`.
///
/// # Safety
///
/// `slot` must hold a value of its type.
#[inline(always)]
unsafe fn ok_of<T, E>(slot: *mut Result<T, E>) -> Option<*mut T> {
    // SAFETY: the caller's slot holds a value. The borrow ends once the address is taken.
    unsafe { (*slot).as_mut() }.ok().map(ptr::from_mut)
}

/// Returns the address of the payload of an `Err`.
///
/// # Safety
///
/// `slot` must hold a value of its type.
#[inline(always)]
unsafe fn err_of<T, E>(slot: *mut Result<T, E>) -> Option<*mut E> {
    // SAFETY: the caller's slot holds a value. The borrow ends once the address is taken.
    unsafe { (*slot).as_mut() }.err().map(ptr::from_mut)
}

// SAFETY: `Result` is covariant, and so are the payloads' forms.
unsafe impl<T: Covariant, E: Covariant> Covariant for Result<T, E> {}
