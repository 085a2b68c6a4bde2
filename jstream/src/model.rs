//! The traits between a type, its wire form and its in-place form.
//!
//! [`Transportable`] is what users derive and name in bounds: a type that can be written, and the
//! family of in-place forms that it arrives as. [`InPlace`] is a form: it knows how to turn its
//! own wire bytes into itself where they lie. [`Target`] and [`Pointee`] are the same two for
//! what stands behind a reference, which may be unsized.
//!
//! Invariant, kept by every implementation and relied upon by `read` and `write`: what
//! `Transportable::write` puts into a slot is what `InPlace::read` of its form takes out, and
//! `InPlace::read` returns `Ok` only when the slot then holds a valid value whose references all
//! lead to memory that this pass claimed.

use crate::read::{Edge, Fault, Pass, Refusal, Trace};
use crate::schema::{Schema, TypeIndex};
use crate::write::Draft;

/// What a form's wire bytes are like. Computed, never declared, by the derive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Nothing outside the slot belongs to it: no target, no text. Targets of such a form stand
    /// in the bulk segment and are final as soon as they are claimed.
    pub flat: bool,
    /// Every bit pattern is a value, so there is nothing to read.
    pub plain: bool,
    /// Writing it writes each byte of the slot.
    pub dense: bool,
    /// A program's function has to approve of it, or of one of its parts, once all is read.
    pub verified: bool,
    /// The bytes that it and its parts occupy, padding excluded.
    pub bytes: usize,
    /// Its bits are one byte, and its values all bytes up to this one.
    pub most: Option<u8>,
}

impl Shape {
    /// A leaf of `bytes` bytes, all of them written.
    #[must_use]
    pub const fn leaf(bytes: usize, plain: bool) -> Self {
        Self {
            flat: true,
            plain,
            dense: true,
            verified: false,
            bytes,
            most: None,
        }
    }

    /// A leaf of one byte whose values are 0 up to `most`.
    #[must_use]
    pub const fn up_to(most: u8) -> Self {
        Self {
            most: Some(most),
            ..Self::leaf(1, false)
        }
    }

    /// A pointer that occupies `bytes` bytes.
    #[must_use]
    pub const fn edge(bytes: usize) -> Self {
        Self {
            flat: false,
            plain: false,
            dense: true,
            verified: false,
            bytes,
            most: None,
        }
    }

    /// Nothing at all: where adding up the parts of a struct starts.
    pub const NOTHING: Self = Self::leaf(0, true);

    /// Both parts side by side.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            flat: self.flat && other.flat,
            plain: self.plain && other.plain,
            dense: self.dense && other.dense,
            verified: self.verified || other.verified,
            bytes: self.bytes.wrapping_add(other.bytes),
            most: None,
        }
    }

    /// The parts added up so far, as a compound of `size` bytes: any byte more is padding.
    #[must_use]
    pub const fn within(self, size: usize) -> Self {
        Self {
            dense: self.dense && self.bytes == size,
            ..self
        }
    }

    /// The same, and a function of the program's approves of it.
    #[must_use]
    pub const fn verified(self) -> Self {
        Self {
            verified: true,
            ..self
        }
    }

    /// Nothing on the wire: a value that is made by reading.
    pub const MADE: Self = Self {
        plain: false,
        dense: false,
        ..Self::NOTHING
    };

    /// Either of several parts behind a tag, in `size` bytes.
    #[must_use]
    pub const fn tagged(self, size: usize) -> Self {
        Self {
            plain: false,
            dense: false,
            bytes: size,
            most: None,
            ..self
        }
    }
}

/// A type that can be sent, and arrives as its in-place form.
///
/// Derive it. `InPlace<'b>` is the type that a receiver gets to see in its buffer: for a type made
/// of plain values and references it is the type itself with the buffer's lifetime, for `String`
/// it is `&'b str`, for `Vec<T>` a slice. The guide has [a table](crate::guide::what_travels) of all.
///
/// # Safety
///
/// `write` must initialise the slot with exactly what `<InPlace as InPlace>::read` expects (every
/// byte of it when `InPlace::SHAPE.dense`), leave no byte of it uninitialised that was not, and meet targets and text in the order in which
/// `read` meets them. `WIRE_IS_MEMORY` may be true only if the type's memory layout is that of
/// its form, none of its bytes is ever uninitialised or behind a cell, and these bytes are what
/// `write` would write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't travel: it does not implement `Transportable`",
    note = "derive `Transportable` for your own types; plain numbers, `bool`, `char`, `&str`, \
            slices, references, `Option`, `Result`, arrays, tuples, `String`, `Vec`, `Box`, `Rc`, \
            `Arc`, maps and sets have it already; a trait's objects need \
            `#[jstream::transportable]` on the trait; a field of another type can be left out with \
            `#[transportable(skip)]`, or leave as another value `with` an adapter"
)]
pub unsafe trait Transportable {
    /// The form in a buffer that lives for `'b`.
    type InPlace<'b>: InPlace
    where
        Self: 'b;

    /// Whether the bytes of a value in memory are its wire form, so that slices are copied whole.
    const WIRE_IS_MEMORY: bool;

    /// Writes the wire form into `slot`.
    ///
    /// # Safety
    ///
    /// `slot` must be aligned, valid for writes, and zeroed unless `InPlace::SHAPE.dense`.
    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>);

    /// Writes the wire form of an `Option` of it.
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
        unsafe { crate::impls::option::write_tagged(value, slot, draft) }
    }

    /// Turns a value in a message that was read back into wire form, where it lies.
    ///
    /// Bytes that belong to no part of it stay as they are: they are initialised, unless the program
    /// has had the value in its hands, or reading has moved it. Then the default is for it, which makes
    /// the whole anew.
    ///
    /// # Safety
    ///
    /// `place` must be that of a turn of a walk back, or of a part of such a value, and hold a value
    /// that is not wire form yet.
    #[inline(always)]
    unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
    where
        Self: Sized + 'b,
    {
        if !Self::WIRE_IS_MEMORY {
            // SAFETY: the caller's promise is passed on.
            unsafe { crate::write::rewrite(place, draft) }
        }
    }

    /// Turns an `Option` of it back into wire form.
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
        unsafe { crate::impls::option::tagged_back(place, draft) }
    }
}

/// A form: a type whose values stand in a receive buffer.
///
/// # Safety
///
/// `read` may return `Ok` only when the slot holds a valid value of `Self`, and must do all it
/// does through `slot` and `pass`. `SHAPE` must be true of it. `trace` must walk what `read` read
/// in the same order and touch nothing after [`Trace::hit`] said stop.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't stand in a buffer: it is not its own in-place form",
    note = "use plain values, `&'b str`, `&'b [T]`, `&'b T`, and types that derive `Transportable`"
)]
pub unsafe trait InPlace: Sized {
    /// What its wire bytes are like.
    const SHAPE: Shape;

    /// What the wire bytes of an `Option` of it are like.
    const OPTION_SHAPE: Shape = crate::impls::option::tagged_shape::<Self>();

    /// Checks the wire bytes in `slot` and makes them a value.
    ///
    /// # Errors
    ///
    /// A [`Fault`] says where the bytes are not what they should be.
    ///
    /// # Safety
    ///
    /// `slot` must be aligned and valid for reads and writes, and its bytes initialised. Its address
    /// must not be kept: what comes to stand there may move. What it is made to refer to comes
    /// from `pass`.
    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault>;

    /// Reads `count` values that stand side by side.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    ///
    /// # Safety
    ///
    /// As for [`read`](Self::read), for each of them.
    #[inline]
    unsafe fn read_all(first: *mut Self, count: usize, pass: &mut Pass<'_>) -> Result<(), Fault> {
        if Self::SHAPE.plain {
            return Ok(());
        }
        if let Some(most) = Self::SHAPE.most {
            // SAFETY: the caller's promise is passed on; the values are one byte each.
            return unsafe { crate::read::bytes_at_most(first.cast(), count, most) };
        }
        for i in 0..count {
            // SAFETY: the caller has `count` values there.
            let slot = unsafe { first.add(i) };
            // SAFETY: the caller's promise holds for each of them.
            unsafe { Self::read(slot, pass)? };
        }
        Ok(())
    }

    /// Reads an `Option` of it.
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
        unsafe { crate::impls::option::read_tagged(slot, pass) }
    }

    /// Has the program's functions approve of the value, and of the parts that stand in it.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] says what a function does not like.
    ///
    /// # Safety
    ///
    /// `slot` must hold a value, and so must all that it refers to, which nothing changes for as
    /// long as the call lasts.
    unsafe fn verify(_slot: *const Self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Walks a value that `read` has read, or begun to read, to say where a fault lies.
    ///
    /// # Safety
    ///
    /// `slot` must be what `read` was given in the pass that ended with the trace's fault, and
    /// not lie behind that fault in the order of the pass.
    unsafe fn trace(slot: *const Self, trace: &mut Trace);

    /// Walks an `Option` of it.
    ///
    /// # Safety
    ///
    /// As for [`trace`](Self::trace).
    unsafe fn trace_option(slot: *const Option<Self>, trace: &mut Trace) {
        // SAFETY: the caller's promise is passed on.
        unsafe { crate::impls::option::trace_tagged(slot, trace) }
    }

    /// Adds the structure of this type, and of all it reaches, to `schema`.
    fn describe(schema: &mut Schema) -> TypeIndex;
}

/// What can stand behind a reference, as it is written.
///
/// # Safety
///
/// As for [`Transportable`], between `write_target` and [`Pointee::claim`]. `meta` must be what
/// `write_target` returns beside the place.
#[diagnostic::on_unimplemented(
    message = "a pointer to `{Self}` can't travel",
    note = "derive `Transportable` for what it leads to; for a trait's objects say \
            `#[jstream::transportable]` on the trait"
)]
pub unsafe trait Target {
    /// The form behind the reference.
    type InPlace<'b>: Pointee + ?Sized
    where
        Self: 'b;

    /// Whether nothing is reached through it.
    const IS_LEAF: bool = false;

    /// Allots the target's place, sees to it that the target is written there, and returns the
    /// words of a pointer to it: the place, and for a wide pointer what else there is to say.
    fn write_target<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2];

    /// As [`write_target`](Self::write_target), of a target that is where it was read, if nothing has
    /// moved.
    #[inline]
    fn claim_back<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        self.write_target(draft)
    }

    /// The second word alone.
    fn meta(&self) -> u64;
}

/// What can stand behind a reference, as it is read.
///
/// # Safety
///
/// `claim` may return only a pointer to memory that it claimed from the pass for a value of
/// `Self`, which is queued to be read or that `read_now` reads. `trace_target` must walk what
/// `claim` returned.
pub unsafe trait Pointee {
    /// Claims the target of an edge.
    ///
    /// # Errors
    ///
    /// A [`Fault`] says where the bytes are not what they should be.
    fn claim(edge: Edge, pass: &mut Pass<'_>) -> Result<*const Self, Fault>;

    /// Reads a target that was not queued.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the target.
    ///
    /// # Safety
    ///
    /// `claim` must have just returned `target`, and the pointer's slot must hold it by now, so that
    /// a fault in the target can be traced.
    unsafe fn read_now(target: *const Self, pass: &mut Pass<'_>) -> Result<(), Fault>;

    /// Walks the target of the pointer in `slot`.
    ///
    /// # Safety
    ///
    /// `target` must be what `claim` returned, in the order of the pass.
    unsafe fn trace_target(slot: *const &Self, target: *const Self, trace: &mut Trace);

    /// Adds the structure of this type to `schema`.
    fn describe(schema: &mut Schema) -> TypeIndex;
}

/// A type whose form is covariant in the buffer's lifetime, so that
/// [`Received::get`](crate::Received::get) may hand it out with a shorter one.
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

/// What can stand behind a reference that is covariant in the buffer's lifetime.
///
/// # Safety
///
/// `T::InPlace<'long>` must be a subtype of `T::InPlace<'short>`.
pub unsafe trait CovariantTarget: Target {}
