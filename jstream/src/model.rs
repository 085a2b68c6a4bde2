//! The traits that connect a type, its wire form and its in-place form.
//!
//! [`Transportable`] is the trait that users derive and name in bounds: a type that can be written,
//! with the family of in-place forms that it arrives as. [`InPlace`] is implemented by a form, and
//! converts the form's wire bytes into a value in place. [`Target`] and [`Pointee`] are the
//! counterparts of these two for the target of a reference, which may be unsized.
//!
//! Invariant, upheld by every implementation and relied upon by `read` and `write`:
//! `Transportable::write` writes into a slot what `InPlace::read` of its form expects there, and
//! `InPlace::read` returns `Ok` only if the slot then holds a valid value whose references all
//! point to memory that this pass claimed.

use std::mem::{ManuallyDrop, size_of, transmute_copy};

use crate::entry_points::EntryPoint;
use crate::read::{Edge, Fault, Pass, Refusal, Trace};
use crate::read::{bytes_at_most, has_many_tags, tags_at_most};
use crate::schema::{Schema, TypeIndex};
use crate::write::Draft;

/// Properties of a form's wire bytes. The derive computes them; they are never declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// True if nothing outside the slot belongs to the form: no target and no text. Targets of such
    /// a form lie in the bulk segment, and are final as soon as they are claimed.
    pub flat: bool,
    /// True if no target belongs to the form, except text. Writing such a value queues no others,
    /// and adds nothing to the bulk segment.
    pub text_only: bool,
    /// True if every bit pattern is a valid value, so nothing needs to be read.
    pub plain: bool,
    /// True if writing the form writes every byte of the slot.
    pub dense: bool,
    /// True if a function of the program must accept the value, or one of its parts, after
    /// everything has been read.
    pub verified: bool,
    /// Number of bytes that the form and its parts occupy, without padding.
    pub bytes: usize,
    /// The largest valid wire byte, if the form is one byte whose valid wire bytes are 0 up to this
    /// one.
    pub most: Option<u8>,
    /// True if the form is such a byte, and reading converts it, because the compiler lays an
    /// `Option` out in another way.
    pub is_converted: bool,
    /// The largest tag, if the form is valid exactly if its first byte is a tag from 0 to this one.
    pub most_tag: Option<u8>,
}

impl Shape {
    /// Returns the shape of a leaf of `bytes` bytes, all of which are written.
    #[must_use]
    pub const fn leaf(bytes: usize, plain: bool) -> Self {
        Self {
            flat: true,
            text_only: true,
            plain,
            dense: true,
            verified: false,
            bytes,
            most: None,
            is_converted: false,
            most_tag: None,
        }
    }

    /// Returns the shape of a leaf of one byte whose valid values are 0 to `most`.
    #[must_use]
    pub const fn up_to(most: u8) -> Self {
        Self {
            most: Some(most),
            ..Self::leaf(1, false)
        }
    }

    /// Returns the shape of a pointer that occupies `bytes` bytes.
    #[must_use]
    pub const fn edge(bytes: usize) -> Self {
        Self {
            flat: false,
            text_only: false,
            plain: false,
            dense: true,
            verified: false,
            bytes,
            most: None,
            is_converted: false,
            most_tag: None,
        }
    }

    /// Returns [`most`](Self::most), if the valid wire bytes are values as they are.
    #[must_use]
    pub const fn most_as_is(self) -> Option<u8> {
        if self.is_converted { None } else { self.most }
    }

    /// The shape of zero bytes: the initial value when the parts of a struct are added up.
    pub const NOTHING: Self = Self::leaf(0, true);

    /// Returns the shape of both parts side by side.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            flat: self.flat && other.flat,
            text_only: self.text_only && other.text_only,
            plain: self.plain && other.plain,
            dense: self.dense && other.dense,
            verified: self.verified || other.verified,
            bytes: self.bytes.wrapping_add(other.bytes),
            most: None,
            is_converted: false,
            most_tag: None,
        }
    }

    /// Returns the shape of a compound of `size` bytes whose parts have been added up in `self`.
    /// All remaining bytes are padding.
    #[must_use]
    pub const fn within(self, size: usize) -> Self {
        Self {
            dense: self.dense && self.bytes == size,
            ..self
        }
    }

    /// Returns the same shape, for a value that a function of the program must accept.
    #[must_use]
    pub const fn verified(self) -> Self {
        Self {
            verified: true,
            ..self
        }
    }

    /// The shape of a value that is not on the wire and is made by reading.
    pub const MADE: Self = Self {
        plain: false,
        dense: false,
        ..Self::NOTHING
    };

    /// Returns the shape of `size` bytes that hold a tag and one of several parts, which have been
    /// added up in `self`.
    #[must_use]
    pub const fn tagged(self, size: usize) -> Self {
        Self {
            plain: false,
            dense: false,
            bytes: size,
            most: None,
            is_converted: false,
            most_tag: None,
            ..self
        }
    }

    /// Returns the shape of an `Option`, given the shape of its payload `T`.
    ///
    /// If the wire form of the payload is one byte up to a maximum, and the option is one byte too,
    /// the next larger byte is `None`. Otherwise the option has a tag.
    pub(crate) const fn of_option<T>(self) -> Self {
        if let (Some(most), 1) = (self.most, size_of::<Option<T>>()) {
            if let Some(none) = most.checked_add(1) {
                let value = ManuallyDrop::new(None::<T>);
                // SAFETY: the value is one byte, which is initialised, because it distinguishes
                // `None` from the values of the payload.
                let byte: u8 = unsafe { transmute_copy(&value) };
                // The payload of an option of one byte is that byte. So the other valid bytes are
                // `Some`, if they are values of the payload as they are.
                return Self {
                    most: Some(none),
                    is_converted: self.is_converted || byte != none,
                    ..self
                };
            }
        }
        let shape = self.tagged(size_of::<Option<T>>());
        Self {
            flat: shape.flat && has_room_for_tag::<T>(),
            ..shape
        }
    }
}

/// Returns true if the slot of an `Option` with the payload `T` has room for the tag. Otherwise the
/// tag is in the text segment.
pub(crate) const fn has_room_for_tag<T>() -> bool {
    size_of::<Option<T>>() > size_of::<T>()
}

/// A type that can be sent, and arrives as its in-place form.
///
/// Use the derive to implement this trait. `InPlace<'b>` is the type that a receiver sees in its
/// buffer: a type made of plain values and references arrives as itself with the buffer's lifetime,
/// `String` as `&'b str`, and `Vec<T>` as a slice. The guide has [a
/// table](crate::guide::what_travels) of all types.
///
/// # Safety
///
/// `write` must initialise the slot with exactly what `<InPlace as InPlace>::read` expects: every
/// byte of the slot if `InPlace::SHAPE.dense`. It must not leave a byte of the slot uninitialised
/// that was initialised before. It must visit targets and text in the order in which `read` visits
/// them. `WIRE_IS_MEMORY` may be true only if the type's memory layout is that of its form, no byte
/// of a value is ever uninitialised or inside a cell, and these bytes are the bytes that `write`
/// would write. The same applies to `OPTION_IS_MEMORY` and an `Option` of the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't travel: it does not implement `Transportable`",
    note = "derive `Transportable` for your own types; for trait objects, put \
            `#[jstream::transportable]` on the trait",
    note = "a type of the crate `arrayvec`, `bstr`, `bytes`, `chrono`, `glam`, `half`, `indexmap`, \
            `jiff`, `ndarray`, `smallvec`, `time` or `uuid` needs the feature of that name of \
            `jstream`",
    note = "a field of another type can be left out with `#[transportable(skip)]`, or sent as \
            another value by an adapter, `#[transportable(with = Adapter)]`"
)]
pub unsafe trait Transportable {
    /// The form in a buffer that lives for `'b`.
    type InPlace<'b>: InPlace
    where
        Self: 'b;

    /// True if the bytes of a value in memory are its wire form, so that slices are copied as a
    /// whole.
    const WIRE_IS_MEMORY: bool;

    /// Like [`WIRE_IS_MEMORY`](Self::WIRE_IS_MEMORY), for an `Option` of this type.
    const OPTION_IS_MEMORY: bool = false;

    /// The entry point of the derived type that this type leads to.
    #[doc(hidden)]
    const ENTRY_POINT: EntryPoint = EntryPoint::NONE;

    /// Names the entry points of the fields of a derived type.
    #[doc(hidden)]
    fn name_parts()
    where
        Self: Sized,
    {
    }

    /// Writes the wire form into `slot`.
    ///
    /// # Safety
    ///
    /// `slot` must be aligned, valid for writes, and zeroed unless `InPlace::SHAPE.dense`.
    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>);

    /// Writes the wire form of an `Option` of this type.
    ///
    /// # Safety
    ///
    /// As for [`write`](Self::write), with the `Option`'s shape.
    #[inline]
    unsafe fn write_option<'b>(
        value: &'b Option<Self>,
        slot: *mut Option<Self::InPlace<'b>>,
        draft: &mut Draft<'b>,
    ) where
        Self: Sized,
    {
        // SAFETY: the caller's promise is passed on.
        unsafe { draft.write_tagged(value, slot) }
    }

    /// Converts a value of a received message back to wire form in place.
    ///
    /// Bytes that belong to no part of the value stay as they are. These bytes are initialised
    /// unless the program has had access to the value, or reading has moved it. The default
    /// implementation handles such values: it writes the whole value anew.
    ///
    /// # Safety
    ///
    /// `place` must be the address of a value of a work item of a write-back walk, or of a part of
    /// such a value. The value must not be in wire form yet.
    #[inline(always)]
    unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
    where
        Self: Sized + 'b,
    {
        if !Self::WIRE_IS_MEMORY {
            // SAFETY: the caller's promise is passed on.
            unsafe { draft.rewrite(place) }
        }
    }

    /// Converts an `Option` of this type back to wire form in place.
    ///
    /// # Safety
    ///
    /// As for [`write_back`](Self::write_back).
    #[inline(always)]
    unsafe fn write_option_back<'b>(place: *mut Option<Self>, draft: &mut Draft<'b>)
    where
        Self: Sized + 'b,
    {
        // SAFETY: the caller's promise is passed on.
        unsafe { draft.write_tagged_back(place) }
    }
}

/// An in-place form: a type whose values lie in a receive buffer.
///
/// # Safety
///
/// `read` may return `Ok` only if the slot holds a valid value of `Self`, and must have no effect
/// except through `slot` and `pass`. `SHAPE` must be correct for `Self`. `trace` must walk what
/// `read` read, in the same order, and must access nothing after [`Trace::hit`] has told it to
/// stop.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be stored in a receive buffer: it is not its own in-place form",
    note = "use plain values, `&'b str`, `&'b [T]`, `&'b T`, and types that derive `Transportable`"
)]
pub unsafe trait InPlace: Sized {
    /// The properties of the form's wire bytes.
    const SHAPE: Shape;

    /// The properties of the wire bytes of an `Option` of the form.
    const OPTION_SHAPE: Shape = Self::SHAPE.of_option::<Self>();

    /// The entry point of the derived type that this type leads to.
    #[doc(hidden)]
    const ENTRY_POINT: EntryPoint = EntryPoint::NONE;

    /// Checks the wire bytes in `slot` and converts them to a value in place.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`], which states where the bytes are invalid.
    ///
    /// # Safety
    ///
    /// `slot` must be aligned and valid for reads and writes, and its bytes initialised. The
    /// implementation must not keep the address of the slot, because the value may be moved later.
    /// Everything that the value refers to must come from `pass`.
    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault>;

    /// Reads `count` adjacent values.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    ///
    /// # Safety
    ///
    /// As for [`read`](Self::read), for each of the values.
    #[inline]
    unsafe fn read_all(first: *mut Self, count: usize, pass: &mut Pass<'_>) -> Result<(), Fault> {
        if Self::SHAPE.plain {
            return Ok(());
        }
        if let Some(most) = Self::SHAPE.most_as_is() {
            // SAFETY: the caller's promise is passed on; the values are one byte each.
            return unsafe { bytes_at_most(first.cast(), count, most) };
        }
        if let (Some(most), true) = (Self::SHAPE.most_tag, has_many_tags::<Self>(count)) {
            // SAFETY: the caller's promise is passed on; `has_many_tags` says that the values are
            // large enough.
            if unsafe { tags_at_most(first, count, most) } {
                return Ok(());
            }
            // The fault is located below.
        }
        for i in 0..count {
            // SAFETY: the caller guarantees that `count` values lie there.
            let slot = unsafe { first.add(i) };
            // SAFETY: the caller's promise holds for each of the values.
            unsafe { Self::read(slot, pass)? };
        }
        Ok(())
    }

    /// Reads an `Option` of the form.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    ///
    /// # Safety
    ///
    /// As for [`read`](Self::read).
    #[inline]
    unsafe fn read_option(slot: *mut Option<Self>, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's promise is passed on.
        unsafe { pass.read_tagged(slot) }
    }

    /// Calls the program's verification functions for the value and for the parts stored in it.
    ///
    /// # Errors
    ///
    /// Returns a [`Refusal`], which states why a function rejected the value.
    ///
    /// # Safety
    ///
    /// `slot` must hold a value, and so must everything that the value refers to. None of it may
    /// change during the call.
    unsafe fn verify(_slot: *const Self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Walks a value that `read` has read, completely or in part, to locate a fault.
    ///
    /// # Safety
    ///
    /// `slot` must be the slot that `read` was given in the pass that ended with the trace's fault.
    /// It must not lie behind that fault in the order of the pass.
    unsafe fn trace(slot: *const Self, trace: &mut Trace);

    /// Walks an `Option` of the form.
    ///
    /// # Safety
    ///
    /// As for [`trace`](Self::trace).
    unsafe fn trace_option(slot: *const Option<Self>, trace: &mut Trace) {
        // SAFETY: the caller's promise is passed on.
        unsafe { trace.trace_tagged(slot) }
    }

    /// Adds the structure of this type, and of all types that it reaches, to `schema`.
    fn describe(schema: &mut Schema) -> TypeIndex;
}

/// The target of a reference, on the writing side.
///
/// # Safety
///
/// As for [`Transportable`], between `write_target` and [`Pointee::claim`]. `meta` must return the
/// second word that `write_target` returns.
#[diagnostic::on_unimplemented(
    message = "a pointer to `{Self}` can't travel",
    note = "derive `Transportable` for its target; for trait objects, put \
            `#[jstream::transportable]` on the trait",
    note = "a type of the crate `arrayvec`, `bstr`, `bytes`, `chrono`, `glam`, `half`, `indexmap`, \
            `jiff`, `ndarray`, `smallvec`, `time` or `uuid` needs the feature of that name of \
            `jstream`"
)]
pub unsafe trait Target {
    /// The form of the target.
    type InPlace<'b>: Pointee + ?Sized
    where
        Self: 'b;

    /// True if the target refers to nothing else.
    const IS_LEAF: bool = false;

    /// The entry point of the derived type that this type leads to.
    #[doc(hidden)]
    const ENTRY_POINT: EntryPoint = EntryPoint::NONE;

    /// Reserves the target's place, ensures that the target is written there, and returns the words
    /// of a pointer to it: the place and, for a wide pointer, the metadata.
    fn write_target<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2];

    /// Like [`write_target`](Self::write_target), for a target in a received message: claims the
    /// target where it lies, if nothing has moved.
    #[inline]
    fn claim_back<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        self.write_target(draft)
    }

    /// Returns the second word of a pointer to the target.
    fn meta(&self) -> u64;
}

/// The target of a reference, on the reading side.
///
/// # Safety
///
/// `claim` may return only a pointer to memory that it claimed from the pass for a value of `Self`.
/// The value must be queued to be read, or `read_now` must read it. `trace_target` must walk what
/// `claim` returned. `IS_TEXT` may be true only if the target lies in the text segment.
pub unsafe trait Pointee {
    /// True if the target is text.
    const IS_TEXT: bool = false;

    /// The entry point of the derived type that this type leads to.
    #[doc(hidden)]
    const ENTRY_POINT: EntryPoint = EntryPoint::NONE;

    /// Claims the target of an edge.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`], which states where the bytes are invalid.
    fn claim(edge: Edge, pass: &mut Pass<'_>) -> Result<*const Self, Fault>;

    /// Reads a target that was not queued.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] of the target.
    ///
    /// # Safety
    ///
    /// `claim` must have just returned `target`, and the pointer's slot must already hold it, so
    /// that a fault in the target can be traced.
    unsafe fn read_now(target: *const Self, pass: &mut Pass<'_>) -> Result<(), Fault>;

    /// Walks the target of the pointer in `slot`.
    ///
    /// # Safety
    ///
    /// `target` must be what `claim` returned. Targets must be walked in the order of the pass.
    unsafe fn trace_target(slot: *const &Self, target: *const Self, trace: &mut Trace);

    /// Adds the structure of this type to `schema`.
    fn describe(schema: &mut Schema) -> TypeIndex;
}

/// A type whose form is covariant in the buffer's lifetime, so that
/// [`Received::get`](crate::Received::get) may return the form with a shorter lifetime.
///
/// # Safety
///
/// `T::InPlace<'long>` must be a subtype of `T::InPlace<'short>`.
#[diagnostic::on_unimplemented(
    message = "the form of `{Self}` is not known to be covariant in the buffer's lifetime",
    note = "a form with cells, or of a type with bounds on its parameters, is visited by \
            `Received::with`; it can't be changed in place"
)]
pub unsafe trait Covariant: Transportable {}

/// The target of a reference, if its form is covariant in the buffer's lifetime.
///
/// # Safety
///
/// `T::InPlace<'long>` must be a subtype of `T::InPlace<'short>`.
pub unsafe trait CovariantTarget: Target {}
