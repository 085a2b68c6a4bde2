//! `Bound`: the payload is at the start of the slot, as in an [`Option`](super::option), and the
//! tag is the byte after it.

use std::mem::size_of;
use std::ops::Bound;
use std::ptr;

use super::option::read_payload;
use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Refusal, Trace};
use crate::restore::{Restore, RestoreError, Restoring};
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, VariantInfo};
use crate::write::Draft;

/// Returns true if there is a byte after the payload. This holds for every type, because two
/// variants have a payload that may use all of its bytes, so their distinction needs another one.
const fn has_room<T>() -> bool {
    size_of::<Bound<T>>() > size_of::<T>() && align_of::<Bound<T>>() >= align_of::<T>()
}

// SAFETY: the tag and the payload are written where `read` below loads them, the tag first.
unsafe impl<T: Transportable> Transportable for Bound<T> {
    type InPlace<'b>
        = Bound<T::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        const { assert!(has_room::<T::InPlace<'b>>()) };
        let (tag, payload) = match self {
            Self::Unbounded => (0, None),
            Self::Included(payload) => (1, Some(payload)),
            Self::Excluded(payload) => (2, Some(payload)),
        };
        let place = slot.cast::<u8>().wrapping_add(size_of::<T::InPlace<'b>>());
        // SAFETY: the slot is larger than the payload, so this byte lies inside it.
        unsafe { place.write(tag) };
        if let Some(payload) = payload {
            // SAFETY: the slot is zeroed, and at least as large and as aligned as the payload.
            unsafe { payload.write(slot.cast(), draft) };
        }
    }
}

// SAFETY: the slot becomes a `Bound` of a payload that was read, or stays unchanged.
unsafe impl<T: InPlace> InPlace for Bound<T> {
    const SHAPE: Shape = T::SHAPE.tagged(size_of::<Self>());

    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        const { assert!(has_room::<T>()) };
        let place = slot.cast::<u8>().wrapping_add(size_of::<T>());
        // SAFETY: the slot is larger than the payload, so this byte lies inside it, and the
        // caller's slot is initialised.
        let tag = unsafe { place.read() };
        let wrap: fn(T) -> Self = match tag {
            0 => {
                // SAFETY: the caller's slot is aligned and writable.
                unsafe { slot.write(Self::Unbounded) };
                return Ok(());
            }
            1 => Self::Included,
            2 => Self::Excluded,
            _ => return Err(Fault::new(slot, FaultKind::Invalid)),
        };
        // SAFETY: the tag says that a `T` was written at the slot's start.
        unsafe { read_payload(slot, pass, wrap, payload_of) }
    }

    unsafe fn verify(slot: *const Self) -> Result<(), Refusal> {
        // SAFETY: the caller's slot holds a value.
        match unsafe { &*slot } {
            // SAFETY: the payload is part of the value.
            Self::Included(payload) | Self::Excluded(payload) => unsafe { T::verify(payload) },
            Self::Unbounded => Ok(()),
        }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so the slot holds a value. Only the address
        // of its payload is computed.
        if let Some(place) = unsafe { payload_of(slot.cast_mut()) } {
            // SAFETY: the payload was read as part of this slot.
            unsafe { T::trace(place, trace) };
        }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "Bound", &mut |schema| {
            let payload = vec![FieldInfo::new("0", 0, T::describe(schema))];
            Kind::Enum {
                tag: 1,
                variants: vec![
                    VariantInfo::new("Unbounded", 0, Vec::new()),
                    VariantInfo::new("Included", 1, payload.clone()),
                    VariantInfo::new("Excluded", 2, payload),
                ],
            }
        })
    }
}

/// Returns the address of the payload in a `Bound`.
///
/// # Safety
///
/// `slot` must hold a value of its type.
#[inline(always)]
unsafe fn payload_of<T>(slot: *mut Bound<T>) -> Option<*mut T> {
    // SAFETY: the caller's slot holds a value. The borrow ends once the address is taken.
    match unsafe { &mut *slot } {
        Bound::Included(payload) | Bound::Excluded(payload) => Some(ptr::from_mut(payload)),
        Bound::Unbounded => None,
    }
}

// SAFETY: `Bound` is covariant, and so is the payload's form.
unsafe impl<T: Covariant> Covariant for Bound<T> {}

impl<T: Restore> Restore for Bound<T> {
    fn restore<'b>(
        form: &Self::InPlace<'b>,
        restoring: &mut Restoring,
    ) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        Ok(match form {
            Bound::Included(payload) => Self::Included(T::restore(payload, restoring)?),
            Bound::Excluded(payload) => Self::Excluded(T::restore(payload, restoring)?),
            Bound::Unbounded => Self::Unbounded,
        })
    }
}
