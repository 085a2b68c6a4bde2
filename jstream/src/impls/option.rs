//! `Option` of a payload that is not a pointer.
//!
//! An option of a `NonZero` number is a number on the wire, and `None` is 0. If the wire form of
//! the payload is one byte up to a maximum, and the option is one byte too, the next larger byte is
//! `None`. The language guarantees the layout of the former. That of the latter is looked up in a
//! constant: where it is that of the wire, such options are written and read like numbers.
//!
//! For other payloads the language does not guarantee a layout. On the wire, the payload in its own
//! wire form is at the start of the slot. If the slot is larger than the payload, the byte after
//! the payload is the tag. Otherwise the tag is a byte of the text segment, before the payload's
//! own text.
//!
//! Decision 102 has the reasons.

use std::mem::{MaybeUninit, size_of};
use std::ptr;

use crate::entry_points::EntryPoint;
use crate::model::{Covariant, InPlace, Shape, Transportable, has_room_for_tag};
use crate::read::{Fault, FaultKind, Pass, Refusal, Trace, choose};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Maximum size of a payload in bytes. A payload is made native in a temporary on the stack, so it
/// must be small.
const LARGEST_PAYLOAD: usize = 1024;

impl Pass<'_> {
    /// Reads an `Option`.
    ///
    /// # Safety
    ///
    /// As for [`InPlace::read_option`].
    #[inline(always)]
    pub(crate) unsafe fn read_tagged<T: InPlace>(
        &mut self,
        slot: *mut Option<T>,
    ) -> Result<(), Fault> {
        if T::OPTION_SHAPE.plain {
            return Ok(());
        }
        let is_some = if let Some(none) = T::OPTION_SHAPE.most {
            // SAFETY: the caller's slot is one initialised byte.
            let byte = unsafe { slot.cast::<u8>().read() };
            if byte > none {
                return Err(Fault::new(slot, FaultKind::Invalid));
            }
            if !T::OPTION_SHAPE.is_converted {
                return Ok(());
            }
            byte < none
        } else if has_room_for_tag::<T>() {
            let tag = slot.cast::<u8>().wrapping_add(size_of::<T>());
            // SAFETY: the slot is larger than the payload, so this byte lies inside it, and the
            // caller's slot is initialised.
            let tag = unsafe { tag.read() };
            if tag > 1 {
                return Err(Fault::new(slot, FaultKind::Invalid));
            }
            tag == 1
        } else {
            self.tag(slot)?
        };
        if T::SHAPE.plain {
            // SAFETY: the slot begins with initialised bytes, and any bytes are a payload.
            unsafe { write_if(is_some, slot) };
            return Ok(());
        }
        if !is_some {
            // SAFETY: the caller's slot is aligned and writable.
            unsafe { slot.write(None) };
            return Ok(());
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { read_payload(slot, self, Some, payload_of) }
    }
}

impl Trace {
    /// Walks an `Option` that `read_tagged` has read.
    ///
    /// # Safety
    ///
    /// As for [`InPlace::trace_option`].
    pub(crate) unsafe fn trace_tagged<T: InPlace>(&mut self, slot: *const Option<T>) {
        if self.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so the slot holds a value. Only the address
        // of its payload is computed.
        if let Some(place) = unsafe { payload_of(slot.cast_mut()) } {
            // SAFETY: the payload was read as part of this slot.
            unsafe { T::trace(place, self) };
        }
    }
}

/// Copies the payload into a slot, or zeroes the slot for `None`. Branchless, because the variant
/// is unpredictable.
///
/// # Safety
///
/// `slot` must be writable and aligned. Any bytes must be a value of `T`, and all bytes of a `T`
/// must be initialised.
#[inline(always)]
pub(crate) unsafe fn copy_payload<T>(value: &Option<T>, slot: *mut T) {
    let zeroes = MaybeUninit::<T>::zeroed();
    // SAFETY: by the caller's promise zeroes are a value of the type.
    let some = Some(unsafe { MaybeUninit::<T>::zeroed().assume_init() });
    let start = ptr::from_ref(&some).addr();
    // The offset of the payload is the same in all values.
    let place = some
        .as_ref()
        .map_or(0, |some| ptr::from_ref(some).addr().wrapping_sub(start));
    let payload = ptr::from_ref(value).cast::<T>().wrapping_byte_add(place);
    let from = choose(
        value.is_some(),
        payload.cast_mut(),
        zeroes.as_ptr().cast_mut(),
    );
    // SAFETY: `from` points to an initialised payload or to the zeroes.
    unsafe { ptr::copy_nonoverlapping(from.cast_const(), slot, 1) };
}

/// Turns a slot into `Some` of the payload at its start, or into `None`. Branchless, because the
/// variant is unpredictable.
///
/// # Safety
///
/// `slot` must be aligned and writable, and begin with a value of `T`.
#[inline(always)]
unsafe fn write_if<T: InPlace>(tag: bool, slot: *mut Option<T>) {
    // SAFETY: the caller's slot begins with a value.
    let payload = unsafe { slot.cast::<T>().read() };
    // SAFETY: the caller's slot is writable.
    unsafe { slot.write(Some(payload)) };
    let mut staged = MaybeUninit::uninit();
    let none = choose(tag, staged.as_mut_ptr(), slot);
    // SAFETY: both pointers are aligned and writable.
    unsafe { none.write(None) };
}

/// Makes the payload at the start of a slot native, and the slot the value that contains it.
///
/// A fault inside the payload is attributed to the slot, which then is still in wire form.
///
/// # Safety
///
/// `slot` must be as for [`InPlace::read`], with the wire form of a `P` at its start, and
/// `payload_of` must return the address of the payload in `wrap(P)`.
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
            "an Option's payload may have at most 1,024 bytes; put it behind a reference or a Box"
        );
        assert!(size_of::<W>() >= size_of::<P>() && align_of::<W>() >= align_of::<P>());
    }
    let mut payload = MaybeUninit::<P>::uninit();
    // SAFETY: the slot is at least as large and as aligned as a payload, asserted above. The
    // temporary does not overlap it.
    unsafe { ptr::copy_nonoverlapping(slot.cast::<P>().cast_const(), payload.as_mut_ptr(), 1) };
    // SAFETY: the temporary is aligned and holds the payload's wire bytes.
    unsafe { P::read(payload.as_mut_ptr(), pass) }.map_err(|fault| Fault::new(slot, fault.kind))?;
    // SAFETY: `read` made the temporary a value: its references are aligned and lead to memory that
    // was claimed for their targets. The targets may still be in wire form. A reference may lead to
    // such memory as long as it is not accessed through the reference. Nothing writes to the
    // targets before this value is in its slot.
    let value = unsafe { payload.as_ptr().read() };
    // SAFETY: the caller's slot is aligned and writable.
    unsafe { slot.write(wrap(value)) };
    // Moving the value gave its references a new provenance, which later writes to their targets
    // would invalidate. The bytes in the temporary have the provenance of the buffer, so they are
    // copied over the moved payload.
    // SAFETY: the slot was just written, and only the address of its payload is computed.
    if let Some(place) = unsafe { payload_of(slot) } {
        // SAFETY: `place` is the address of the payload in the slot. The temporary does not overlap
        // it.
        unsafe { ptr::copy_nonoverlapping(payload.as_ptr(), place, 1) };
    }
    Ok(())
}

/// Returns the address of the payload in an `Option`.
///
/// # Safety
///
/// `slot` must hold a value of its type.
#[inline(always)]
unsafe fn payload_of<T>(slot: *mut Option<T>) -> Option<*mut T> {
    // SAFETY: the caller's slot holds a value. The borrow ends once the address is taken.
    unsafe { (*slot).as_mut() }.map(ptr::from_mut)
}

// SAFETY: the payload type selects how an `Option` is written and how it is read, consistently on
// both sides.
unsafe impl<T: Transportable> Transportable for Option<T> {
    type InPlace<'b>
        = Option<T::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = T::OPTION_IS_MEMORY;
    const ENTRY_POINT: EntryPoint = <T as Transportable>::ENTRY_POINT;

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
    const ENTRY_POINT: EntryPoint = <T as InPlace>::ENTRY_POINT;

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
        schema.define(Schema::key_of::<Self>(), "Option", &mut |schema| {
            Kind::Optional(T::describe(schema))
        })
    }
}

// SAFETY: `Option` is covariant, and so is the payload's form.
unsafe impl<T: Covariant> Covariant for Option<T> {}
