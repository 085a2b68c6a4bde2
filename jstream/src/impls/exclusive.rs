//! Mutable slices of plain data, which can be changed in the receive buffer.

use std::mem::size_of;

use crate::entry_points::EntryPoint;
use crate::impls::reference::{write_optional_edge, write_words};
use crate::model::{Covariant, InPlace, Shape, Target, Transportable};
use crate::read::{Fault, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

// SAFETY: a mutable slice is written and read as a shared slice.
unsafe impl<T: Transportable> Transportable for &mut [T] {
    type InPlace<'b>
        = &'b mut [T::InPlace<'b>]
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;
    const ENTRY_POINT: EntryPoint = <T as Transportable>::ENTRY_POINT;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        draft.exclusive();
        let slice: &'b [T] = self;
        let words = slice.write_target(draft);
        // SAFETY: the caller's promise is passed on; both kinds of references have the same layout.
        unsafe { write_words::<[T::InPlace<'b>]>(slot.cast(), words) };
    }

    unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
    where
        Self: 'b,
    {
        // SAFETY: by the caller's promise there is a value. It is read as a raw pointer, because a
        // second reference would alias memory that the first one borrows exclusively.
        let slice = unsafe { place.cast::<*const [T]>().read() };
        let words = [
            draft.claim_exclusive(slice.cast::<T>(), slice.len()),
            slice.len() as u64,
        ];
        if draft.commits() {
            // SAFETY: the place is that of a reference to a slice.
            unsafe { write_words::<[T]>(place.cast(), words) };
        }
    }

    unsafe fn write_option<'b>(
        value: &'b Option<Self>,
        slot: *mut Option<Self::InPlace<'b>>,
        draft: &mut Draft<'b>,
    ) {
        if value.is_some() {
            draft.exclusive();
        }
        // SAFETY: as above.
        unsafe { write_optional_edge::<[T]>(value.as_deref(), slot.cast(), draft) };
    }
}

/// Asserts that `T` is flat. A flat target is claimed for a single pointer and refers to nothing
/// else, so an exclusive reference to it gives exclusive access to everything that it reaches.
const fn assert_flat<T: InPlace>() {
    assert!(
        T::SHAPE.flat,
        "an exclusive slice can only be of plain data: values without references and text"
    );
}

// SAFETY: claimed memory has no other pointer to it, and the elements are flat, so the pointer that
// `read` stores is exclusive. It is derived from the buffer's base, which allows writes.
unsafe impl<T: InPlace> InPlace for &mut [T] {
    const SHAPE: Shape = {
        assert_flat::<T>();
        Shape::edge(size_of::<Self>())
    };
    const OPTION_SHAPE: Shape = Self::SHAPE;
    const ENTRY_POINT: EntryPoint = <T as InPlace>::ENTRY_POINT;

    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        const { assert_flat::<T>() };
        // SAFETY: the caller's promise is passed on; both kinds of references have the same layout,
        // and `claim` derived the pointer from one that allows writes.
        unsafe { <&[T]>::read(slot.cast(), pass) }
    }

    unsafe fn read_option(slot: *mut Option<Self>, pass: &mut Pass<'_>) -> Result<(), Fault> {
        const { assert_flat::<T>() };
        // SAFETY: as above, for optional references.
        unsafe { <&[T]>::read_option(slot.cast(), pass) }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        // SAFETY: as above.
        unsafe { <&[T]>::trace(slot.cast(), trace) }
    }

    unsafe fn trace_option(slot: *const Option<Self>, trace: &mut Trace) {
        // SAFETY: as above.
        unsafe { <&[T]>::trace_option(slot.cast(), trace) }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "&mut", &mut |schema| {
            Kind::Slice(T::describe(schema))
        })
    }
}

// SAFETY: a flat form refers to nothing, but its type may have a lifetime. The impl is limited to
// elements that are their own form and have no lifetime, which are covariant even behind an
// exclusive reference.
unsafe impl<T> Covariant for &mut [T] where T: for<'b> Transportable<InPlace<'b> = T> + 'static {}
