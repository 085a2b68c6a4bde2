//! `Option` of anything, where the language says nothing of its layout.
//!
//! On the wire the payload stands at the start of the slot, as its own wire form. The tag is the
//! byte behind it where the slot is larger than the payload, else a byte of the text segment that
//! is taken before the payload's own text.

use std::mem::{MaybeUninit, size_of};
use std::ptr;

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Refusal, Trace, choose};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::{Draft, rewrite};

/// Payloads are made native beside their slot, so they must be small.
const LARGEST_PAYLOAD: usize = 1024;

/// Whether the tag stands in the slot.
const fn has_room<T>() -> bool {
    size_of::<Option<T>>() > size_of::<T>()
}

pub(crate) const fn tagged_shape<T: InPlace>() -> Shape {
    let shape = T::SHAPE.tagged(size_of::<Option<T>>());
    Shape {
        flat: shape.flat && has_room::<T>(),
        ..shape
    }
}

/// Writes an `Option` with its tag.
///
/// # Safety
///
/// `slot` must be aligned, valid for writes, and zeroed.
#[inline(always)]
pub(crate) unsafe fn write_tagged<'b, T: Transportable>(
    value: &'b Option<T>,
    slot: *mut Option<T::InPlace<'b>>,
    draft: &mut Draft<'b>,
) {
    if has_room::<T::InPlace<'b>>() {
        let tag = slot.cast::<u8>().wrapping_add(size_of::<T::InPlace<'b>>());
        // SAFETY: the slot is larger than the payload, so this byte lies inside it.
        unsafe { tag.write(u8::from(value.is_some())) };
    } else {
        draft.tag(value.is_some());
    }
    if <T::InPlace<'b> as InPlace>::SHAPE.plain
        && T::WIRE_IS_MEMORY
        && size_of::<T>() <= size_of::<[u64; 2]>()
    {
        // SAFETY: the caller's promise is passed on; any bytes are a value of the form, which has the
        // type's layout, and so of the type.
        unsafe { copy_payload(value, slot.cast()) };
        return;
    }
    if <T::InPlace<'b> as InPlace>::SHAPE.most.is_some()
        && T::WIRE_IS_MEMORY
        && size_of::<Option<T>>() == 1
    {
        // SAFETY: the only byte says which variant there is, so it is initialised.
        let byte = unsafe { ptr::from_ref(value).cast::<u8>().read() };
        let mask = 0u8.wrapping_sub(u8::from(value.is_some()));
        // SAFETY: the caller's slot is writable.
        unsafe { slot.cast::<u8>().write(byte & mask) };
        return;
    }
    if let Some(value) = value {
        // SAFETY: the slot is as large and as aligned as the payload at least, and zeroed.
        unsafe { value.write(slot.cast::<T::InPlace<'b>>(), draft) };
    }
}

/// Turns an `Option` that was read with its tag back into wire form.
///
/// # Safety
///
/// As for [`Transportable::write_back`].
#[inline(always)]
pub(crate) unsafe fn tagged_back<'b, T: Transportable + 'b>(
    place: *mut Option<T>,
    draft: &mut Draft<'b>,
) {
    if <T::InPlace<'b> as InPlace>::SHAPE.most.is_some()
        && T::WIRE_IS_MEMORY
        && size_of::<Option<T>>() == 1
    {
        // SAFETY: the only byte says which variant there is, so it is initialised.
        let byte = unsafe { place.cast::<u8>().read() };
        // SAFETY: the caller has a value there.
        let tag = unsafe { (*place).is_some() };
        draft.tag_back(tag);
        if draft.commits() {
            let mask = 0u8.wrapping_sub(u8::from(tag));
            // SAFETY: the caller's place is writable.
            unsafe { place.cast::<u8>().write(byte & mask) };
        }
        return;
    }
    let small = T::WIRE_IS_MEMORY && size_of::<T>() <= size_of::<[u64; 2]>();
    let same = size_of::<Option<T>>() == size_of::<Option<T::InPlace<'b>>>();
    if !(<T::InPlace<'b> as InPlace>::SHAPE.plain && small && same) {
        // SAFETY: the caller's promise is passed on.
        unsafe { rewrite(place, draft) };
        return;
    }
    // Part by part: one load of what several stores have made would wait for all of them.
    let mut payload = MaybeUninit::<T>::uninit();
    // SAFETY: the caller has a value there; the borrow is over before it is overwritten.
    let value = unsafe { &*place };
    let tag = value.is_some();
    // SAFETY: the temporary is writable and aligned, and any bytes are a value of the type.
    unsafe { copy_payload(value, payload.as_mut_ptr()) };
    if !has_room::<T>() {
        draft.tag_back(tag);
    }
    if !draft.commits() {
        return;
    }
    // SAFETY: the caller's place is writable.
    unsafe { ptr::write_bytes(place, 0, 1) };
    if has_room::<T>() {
        let at = place.cast::<u8>().wrapping_add(size_of::<T>());
        // SAFETY: an `Option` that has room is larger than its payload.
        unsafe { at.write(u8::from(tag)) };
    }
    // SAFETY: the place is as large and as aligned as the payload at least.
    unsafe { ptr::copy_nonoverlapping(payload.as_ptr(), place.cast::<T>(), 1) };
}

/// Copies the payload into a slot, or zeroes for `None`; which can't be foreseen, so there is no branch.
///
/// # Safety
///
/// `slot` must be writable and aligned, and any bytes a value of `T`, which must all be initialised.
#[inline(always)]
unsafe fn copy_payload<T>(value: &Option<T>, slot: *mut T) {
    let zeroes = MaybeUninit::<T>::zeroed();
    // SAFETY: zeroes are a value of the type.
    let some = Some(unsafe { MaybeUninit::<T>::zeroed().assume_init() });
    let start = ptr::from_ref(&some).addr();
    // Where a payload stands is the same in all of them.
    let place = some
        .as_ref()
        .map_or(0, |some| ptr::from_ref(some).addr().wrapping_sub(start));
    let payload = ptr::from_ref(value).cast::<T>().wrapping_byte_add(place);
    let from = choose(
        value.is_some(),
        payload.cast_mut(),
        zeroes.as_ptr().cast_mut(),
    );
    // SAFETY: `from` is an initialised payload, or the zeroes.
    unsafe { ptr::copy_nonoverlapping(from.cast_const(), slot, 1) };
}

/// Reads an `Option` with its tag.
///
/// # Safety
///
/// As for [`InPlace::read_option`].
#[inline(always)]
pub(crate) unsafe fn read_tagged<T: InPlace>(
    slot: *mut Option<T>,
    pass: &mut Pass<'_>,
) -> Result<(), Fault> {
    let tag = if has_room::<T>() {
        let tag = slot.cast::<u8>().wrapping_add(size_of::<T>());
        // SAFETY: the slot is larger than the payload, so this byte lies inside it, and the
        // caller's slot is initialised.
        let tag = unsafe { tag.read() };
        if tag > 1 {
            return Err(Fault::new(slot, FaultKind::Invalid));
        }
        tag == 1
    } else {
        pass.tag(slot)?
    };
    if T::SHAPE.plain {
        // SAFETY: the slot begins with initialised bytes, any of which are a payload.
        unsafe { write_if(tag, slot) };
        return Ok(());
    }
    if let Some(most) = T::SHAPE.most {
        // The payload of `None` is zero.
        let most = most & 0u8.wrapping_sub(u8::from(tag));
        // SAFETY: the slot begins with an initialised byte.
        if unsafe { slot.cast::<u8>().read() } > most {
            return Err(Fault::new(slot, FaultKind::Invalid));
        }
        // SAFETY: the slot begins with a payload, as was just found.
        unsafe { write_if(tag, slot) };
        return Ok(());
    }
    if !tag {
        // SAFETY: the caller's slot is aligned and writable.
        unsafe { slot.write(None) };
        return Ok(());
    }
    // SAFETY: the caller's promise is passed on.
    unsafe { read_payload(slot, pass, Some, payload_of) }
}

/// Makes a slot the payload at its start, or `None`; which of them can't be foreseen, so there is no
/// branch.
///
/// # Safety
///
/// `slot` must be aligned, writable, and begin with a value.
#[inline(always)]
unsafe fn write_if<T: InPlace>(tag: bool, slot: *mut Option<T>) {
    // SAFETY: the caller's slot begins with a value.
    let payload = unsafe { slot.cast::<T>().read() };
    // SAFETY: the caller's slot is writable.
    unsafe { slot.write(Some(payload)) };
    let mut aside = MaybeUninit::uninit();
    let none = choose(tag, aside.as_mut_ptr(), slot);
    // SAFETY: both are aligned and writable.
    unsafe { none.write(None) };
}

/// Makes the payload at the start of a slot native, and the slot the value that has it.
///
/// A fault inside the payload is blamed on the slot, which stays wire form until then.
///
/// # Safety
///
/// `slot` must be as for [`InPlace::read`], with the wire form of a `P` at its start, and
/// `payload_of` must say where in `wrap(P)` the payload lies.
#[inline(always)]
pub(super) unsafe fn read_payload<P: InPlace, W>(
    slot: *mut W,
    pass: &mut Pass<'_>,
    wrap: impl FnOnce(P) -> W,
    payload_of: unsafe fn(*mut W) -> Option<*mut P>,
) -> Result<(), Fault> {
    const {
        assert!(
            size_of::<P>() <= LARGEST_PAYLOAD,
            "an Option's payload may have 1,024 bytes at most; put it behind a reference or a Box"
        );
        assert!(size_of::<W>() >= size_of::<P>() && align_of::<W>() >= align_of::<P>());
    }
    let mut payload = MaybeUninit::<P>::uninit();
    // SAFETY: the slot is as large and as aligned as a payload, asserted above, and the temporary
    // is elsewhere.
    unsafe { ptr::copy_nonoverlapping(slot.cast::<P>().cast_const(), payload.as_mut_ptr(), 1) };
    // SAFETY: the temporary is aligned and holds the payload's wire bytes.
    unsafe { P::read(payload.as_mut_ptr(), pass) }.map_err(|fault| Fault::new(slot, fault.kind))?;
    // SAFETY: `read` made the temporary a value: its references are aligned and lead to memory that
    // was claimed for their targets. The targets may still be wire form, which a reference may
    // lead to as long as nobody looks; nothing writes to them before this value is in its slot.
    let value = unsafe { payload.as_ptr().read() };
    // SAFETY: the caller's slot is aligned and writable.
    unsafe { slot.write(wrap(value)) };
    // Moving the value gave its references a provenance of their own, which later writes to their
    // targets would end. Its bytes as they were read have that of the buffer.
    // SAFETY: the slot was just written and only its payload's place is asked for.
    if let Some(place) = unsafe { payload_of(slot) } {
        // SAFETY: `place` is where the payload lies in the slot; the temporary is elsewhere.
        unsafe { ptr::copy_nonoverlapping(payload.as_ptr(), place, 1) };
    }
    Ok(())
}

/// Where the payload lies in an `Option`.
///
/// # Safety
///
/// `slot` must hold a value of its type.
#[inline(always)]
unsafe fn payload_of<T>(slot: *mut Option<T>) -> Option<*mut T> {
    // SAFETY: the caller's slot holds a value; the borrow ends with the address taken.
    unsafe { (*slot).as_mut() }.map(ptr::from_mut)
}

/// Walks an `Option` that was read with its tag.
///
/// # Safety
///
/// As for [`InPlace::trace_option`].
pub(crate) unsafe fn trace_tagged<T: InPlace>(slot: *const Option<T>, trace: &mut Trace) {
    if trace.hit(slot) {
        return;
    }
    // SAFETY: the walk has not reached the fault, so the slot holds a value; where its payload
    // lies is all that is asked.
    if let Some(place) = unsafe { payload_of(slot.cast_mut()) } {
        // SAFETY: the payload was read as part of this slot.
        unsafe { T::trace(place, trace) };
    }
}

// SAFETY: how an `Option` is written and read is chosen by its payload, on both sides alike.
unsafe impl<T: Transportable> Transportable for Option<T> {
    type InPlace<'b>
        = Option<T::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    #[inline(always)]
    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: the caller's promise is passed on.
        unsafe { T::write_option(self, slot, draft) }
    }

    #[inline(always)]
    unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
    where
        Self: 'b,
    {
        // SAFETY: the caller's promise is passed on.
        unsafe { T::write_option_back(place, draft) }
    }
}

// SAFETY: as above.
unsafe impl<T: InPlace> InPlace for Option<T> {
    const SHAPE: Shape = T::OPTION_SHAPE;

    #[inline(always)]
    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's promise is passed on.
        unsafe { T::read_option(slot, pass) }
    }

    unsafe fn verify(slot: *const Self) -> Result<(), Refusal> {
        // SAFETY: the caller's slot holds a value.
        match unsafe { &*slot } {
            // SAFETY: the payload is part of the value.
            Some(value) if T::SHAPE.verified => unsafe { T::verify(value) },
            _ => Ok(()),
        }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        // SAFETY: the caller's promise is passed on.
        unsafe { T::trace_option(slot, trace) }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define::<Self>("Option", |schema| Kind::Optional(T::describe(schema)))
    }
}

// SAFETY: `Option` is covariant, and so is the payload's form.
unsafe impl<T: Covariant> Covariant for Option<T> {}
