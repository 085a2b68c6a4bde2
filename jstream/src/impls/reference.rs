//! References, and what can stand behind them: sized values, slices, `str`.

use std::any::TypeId;
use std::mem::{align_of, size_of};
use std::ptr;
use std::slice;

use crate::model::{Covariant, InPlace, Pointee, Shape, Target, Transportable};
use crate::read::{Fault, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Writes a thin pointer's slot.
///
/// # Safety
///
/// `slot` must be aligned and valid for writes.
#[inline(always)]
unsafe fn write_thin<S>(slot: *mut S, place: u64) {
    // SAFETY: the caller's slot holds a pointer, which has the size and alignment of a `u64`.
    unsafe { slot.cast::<u64>().write(place) };
}

/// Writes a wide pointer's slot.
///
/// # Safety
///
/// `slot` must be aligned and valid for writes.
#[inline(always)]
unsafe fn write_wide<S>(slot: *mut S, place: u64, len: usize) {
    // SAFETY: the caller's slot holds a wide pointer: two words, aligned as one.
    unsafe { slot.cast::<[u64; 2]>().write([place, len as u64]) };
}

/// # Safety
///
/// `slot` must be an initialised, aligned slot of a wide pointer in wire form.
#[inline(always)]
unsafe fn wide<S>(slot: *const S) -> [u64; 2] {
    // SAFETY: the caller's slot is two words, aligned as one.
    unsafe { slot.cast::<[u64; 2]>().read() }
}

const _: () = assert!(
    size_of::<&u8>() == size_of::<u64>()
        && align_of::<&u8>() == align_of::<u64>()
        && size_of::<&str>() == size_of::<[u64; 2]>()
        && size_of::<&[u8]>() == size_of::<[u64; 2]>()
);

// SAFETY: `write_edge` writes the place that `read_edge` claims, with the same shape.
unsafe impl<T: Transportable> Target for T {
    type InPlace<'b>
        = T::InPlace<'b>
    where
        Self: 'b;

    #[inline(always)]
    unsafe fn write_edge<'b>(&'b self, slot: *mut &'b Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let place = draft.target(slice::from_ref(self));
        // SAFETY: the caller's promise is passed on.
        unsafe { write_thin(slot, place) };
    }
}

// SAFETY: as for a single value.
unsafe impl<T: Transportable> Target for [T] {
    type InPlace<'b>
        = [T::InPlace<'b>]
    where
        Self: 'b;

    #[inline(always)]
    unsafe fn write_edge<'b>(&'b self, slot: *mut &'b Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let place = draft.target(self);
        // SAFETY: the caller's promise is passed on.
        unsafe { write_wide(slot, place, self.len()) };
    }
}

// SAFETY: the bytes of the string go to the text segment, where `read_edge` claims them.
unsafe impl Target for str {
    type InPlace<'b> = str;

    #[inline(always)]
    unsafe fn write_edge<'b>(&'b self, slot: *mut &'b str, draft: &mut Draft<'b>) {
        let place = draft.string(self);
        // SAFETY: the caller's promise is passed on.
        unsafe { write_wide(slot, place, self.len()) };
    }
}

// SAFETY: the slot gets a pointer to memory that was claimed for one value of `T`, aligned, and
// read at once or queued to be read.
unsafe impl<T: InPlace> Pointee for T {
    type Key = T::Key;

    #[inline(always)]
    unsafe fn read_edge(slot: *mut &Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is aligned and initialised, and a word wide.
        let place = unsafe { slot.cast::<u64>().read() };
        let target = pass.claim::<T, _>(slot, place, 1)?;
        // SAFETY: the slot is writable; a reference has the layout of a raw pointer.
        unsafe { slot.cast::<*const T>().write(target) };
        // SAFETY: `claim` just returned this target for one value.
        unsafe { pass.read_if_flat(target, 1) }
    }

    unsafe fn trace_edge(slot: *const &Self, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so `read_edge` made this slot a pointer.
        let target = unsafe { slot.cast::<*const T>().read() };
        trace.target(slot, target, 1, false);
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        <T as InPlace>::describe(schema)
    }
}

// SAFETY: as for a single value, with the length that was claimed.
unsafe impl<T: InPlace> Pointee for [T] {
    type Key = [T::Key];

    #[inline(always)]
    unsafe fn read_edge(slot: *mut &Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is an initialised wide pointer.
        let [place, count] = unsafe { wide(slot) };
        let target = pass.claim::<T, _>(slot, place, count)?;
        let count = crate::wire::in_memory(count);
        let all = ptr::slice_from_raw_parts(target.cast_const(), count);
        // SAFETY: the slot is writable; a reference has the layout of a raw pointer.
        unsafe { slot.cast::<*const [T]>().write(all) };
        // SAFETY: `claim` just returned this target for `count` values.
        unsafe { pass.read_if_flat(target, count) }
    }

    unsafe fn trace_edge(slot: *const &Self, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so `read_edge` made this slot a pointer.
        let target = unsafe { slot.cast::<*const [T]>().read() };
        trace.target(slot, target.cast::<T>(), target.len(), true);
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        <T as InPlace>::describe(schema)
    }
}

// SAFETY: the slot gets a pointer to text that was claimed, is UTF-8 as a whole, and is cut at
// character boundaries.
unsafe impl Pointee for str {
    type Key = str;

    #[inline(always)]
    unsafe fn read_edge(slot: *mut &Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is an initialised wide pointer.
        let [place, len] = unsafe { wide(slot) };
        let text = pass.string(slot, place, len)?;
        // SAFETY: the slot is writable; a reference has the layout of a raw pointer.
        unsafe { slot.cast::<*const str>().write(text) };
        Ok(())
    }

    unsafe fn trace_edge(slot: *const &Self, trace: &mut Trace) {
        let _ = trace.hit(slot);
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define_as(TypeId::of::<str>(), 1, 1, "str", |_| Kind::Text)
    }
}

// SAFETY: a reference is written and read as an edge to its target; `None` is a zero word, which
// no edge begins with.
unsafe impl<T: Target + ?Sized> Transportable for &T {
    type InPlace<'b>
        = &'b T::InPlace<'b>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    #[inline(always)]
    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: the caller's promise is passed on.
        unsafe { T::write_edge(self, slot, draft) }
    }

    #[inline(always)]
    unsafe fn write_option<'b>(
        value: &'b Option<Self>,
        slot: *mut Option<Self::InPlace<'b>>,
        draft: &mut Draft<'b>,
    ) {
        // SAFETY: the caller's promise is passed on.
        unsafe { write_optional_edge(value.as_deref(), slot, draft) }
    }
}

/// Writes an edge, or as many zero bytes for `None`.
///
/// # Safety
///
/// `slot` must be aligned and valid for writes.
#[inline(always)]
pub(super) unsafe fn write_optional_edge<'b, T: Target + ?Sized>(
    value: Option<&'b T>,
    slot: *mut Option<&'b T::InPlace<'b>>,
    draft: &mut Draft<'b>,
) {
    match value {
        // SAFETY: the caller's promise; an optional reference has the layout of a reference.
        Some(target) => unsafe { target.write_edge(slot.cast(), draft) },
        // SAFETY: the caller's promise.
        None => unsafe { ptr::write_bytes(slot, 0, 1) },
    }
}

// SAFETY: `read_edge` leaves a valid reference in the slot, `read_option` one or `None`.
unsafe impl<T: Pointee + ?Sized> InPlace for &T {
    type Key = &'static T::Key;
    const SHAPE: Shape = Shape::edge(size_of::<Self>());
    const OPTION_SHAPE: Shape = Self::SHAPE;

    #[inline(always)]
    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's promise is passed on.
        unsafe { T::read_edge(slot, pass) }
    }

    #[inline(always)]
    unsafe fn read_option(slot: *mut Option<Self>, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is initialised and a word wide at least.
        let place = unsafe { slot.cast::<u64>().read() };
        if place == 0 {
            // SAFETY: the caller's slot is writable.
            unsafe { slot.write(None) };
            return Ok(());
        }
        // SAFETY: the caller's promise; an optional reference has the layout of a reference.
        unsafe { T::read_edge(slot.cast::<Self>(), pass) }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        // SAFETY: the caller's promise is passed on.
        unsafe { T::trace_edge(slot, trace) }
    }

    unsafe fn trace_option(slot: *const Option<Self>, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so `read_option` made this slot a value; what
        // it refers to is not looked at.
        if unsafe { (*slot).is_some() } {
            // SAFETY: the slot holds a reference.
            unsafe { T::trace_edge(slot.cast::<Self>(), trace) }
        }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        let wide = size_of::<Self>() > size_of::<u64>();
        schema.define::<Self>("&", |schema| {
            let target = T::describe(schema);
            if wide {
                Kind::Slice(target)
            } else {
                Kind::Reference(target)
            }
        })
    }
}

// SAFETY: a shared reference is covariant in its lifetime and its target, whose form is
// covariant.
unsafe impl<T: Covariant> Covariant for &T {}
// SAFETY: as above.
unsafe impl<T: Covariant> Covariant for &[T] {}
// SAFETY: as above.
unsafe impl Covariant for &str {}
