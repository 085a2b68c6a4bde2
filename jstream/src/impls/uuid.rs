//! `Uuid`, whose wire form equals its representation in memory.

use std::mem::size_of;

use uuid::{Bytes, Uuid};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

const _: () = assert!(size_of::<Uuid>() == size_of::<Bytes>() && align_of::<Uuid>() == 1);

// SAFETY: the form is the type itself, which is documented to consist of its 16 bytes.
unsafe impl Transportable for Uuid {
    type InPlace<'b> = Self;
    const WIRE_IS_MEMORY: bool = true;

    #[inline(always)]
    unsafe fn write<'b>(&'b self, slot: *mut Self, _: &mut Draft<'b>) {
        // SAFETY: the caller's slot is writable.
        unsafe { slot.write(*self) };
    }
}

// SAFETY: any 16 bytes are a `Uuid`, as `Uuid::from_bytes` shows.
unsafe impl InPlace for Uuid {
    const SHAPE: Shape = Shape::leaf(size_of::<Self>(), true);

    #[inline(always)]
    unsafe fn read(_: *mut Self, _: &mut Pass<'_>) -> Result<(), Fault> {
        Ok(())
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        let _ = trace.hit(slot);
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "Uuid", &mut |_| Kind::Leaf)
    }
}

// SAFETY: a form without a lifetime is trivially covariant.
unsafe impl Covariant for Uuid {}

crate::restore::restore_values!(Uuid);
