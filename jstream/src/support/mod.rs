//! Items used by generated code. Not a public interface: they may change with any release.

pub mod bare_path;
mod compare;
mod const_text;
mod entry_points;
mod evolution;
mod fields;
mod like;
mod shown;
mod type_checks;

pub use self::compare::*;
pub use self::entry_points::*;
pub use self::evolution::*;
pub use self::fields::*;
pub use self::like::*;
pub use self::shown::*;
pub use self::type_checks::*;
pub use crate::class::Class;
pub use crate::dynamic::{
    Castable, Dynamic, Implementation, Registered, Registry, class_of, describe_dynamic,
    write_dynamic,
};
pub use crate::model::{
    Covariant, CovariantTarget, InPlace, Pointee, Shape, Target, Transportable,
};
pub use crate::read::{Edge, Fault, FaultKind, Pass, Refusal, Trace, assert_form};
pub use crate::restore::{Restore, RestoreError, Restoring, restore};
pub use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, VariantInfo};
pub use crate::write::Draft;
pub use ::std::sync::OnceLock;
#[cfg(feature = "bstr")]
pub use bstr::BStr;
pub use core::include_bytes;
pub use inventory;

use ::std::mem::size_of;

/// The crate `core`, to whose name a program can give another meaning.
///
/// A module of its items, since a re-export of the crate itself from this hidden module would hide
/// all its types: the compiler's lists of types that implement a trait would leave them out.
pub mod core {
    pub use ::core::*;
}

/// The crate `std`, exported as [`core`] is.
pub mod std {
    pub use ::std::*;
}

/// A function that projects a value to a field, so that the field's type is inferred and not
/// spelled out.
type Field<S, F> = unsafe fn(*const S) -> *const F;

/// Returns the shape of a field.
#[must_use]
pub const fn shape_of<S, F: InPlace>(_: Field<S, F>) -> Shape {
    F::SHAPE
}

/// Returns the shape of an enum of `size` bytes without fields.
#[must_use]
pub const fn fieldless<const N: usize>(size: usize, tags: [i128; N]) -> Shape {
    match most_tag(size, tags) {
        Some(most) => Shape::up_to(most),
        None => Shape::leaf(size, false),
    }
}

/// Returns the shape of an enum of `size` bytes with the tags `tags`, of `tag_size` bytes each, at
/// its start. The shapes of all fields of its variants have been added up in `fields`.
#[must_use]
pub const fn with_fields<const N: usize>(
    fields: Shape,
    size: usize,
    tag_size: usize,
    tags: [i128; N],
) -> Shape {
    Shape {
        most_tag: if fields.flat && fields.plain {
            most_tag(tag_size, tags)
        } else {
            None
        },
        ..fields.tagged(size)
    }
}

/// Returns the largest of these tags of `size` bytes, if they are one byte each and all numbers up
/// to that one.
const fn most_tag<const N: usize>(size: usize, tags: [i128; N]) -> Option<u8> {
    let mut dense = size == 1 && N <= 256;
    let mut rest: &[i128] = &tags;
    while let [tag, others @ ..] = rest {
        // Tags are distinct, so if none is larger, they are all numbers below `N`.
        dense = dense && *tag >= 0 && *tag < N as i128;
        rest = others;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are 256 variants at most"
    )]
    if dense && N > 0 {
        Some(N.wrapping_sub(1) as u8)
    } else {
        None
    }
}

/// Describes the type of a field.
pub fn describe<S, F: InPlace>(schema: &mut Schema, _: Field<S, F>) -> TypeIndex {
    F::describe(schema)
}

/// A comparison of the memory representation of a type's parts with their wire form.
#[derive(Debug, Clone, Copy)]
pub struct MemoryLayout {
    is_wire: bool,
    bytes: usize,
}

impl MemoryLayout {
    /// The representation of no parts.
    pub const NOTHING: Self = Self {
        is_wire: true,
        bytes: 0,
    };

    /// The representation of a part that differs from its wire form.
    pub const OTHER: Self = Self {
        is_wire: false,
        bytes: 0,
    };

    /// Returns the representation of both parts.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            is_wire: self.is_wire && other.is_wire,
            bytes: self.bytes.wrapping_add(other.bytes),
        }
    }

    /// Returns true if the parts fill `size` bytes without padding and equal their wire form.
    #[must_use]
    pub const fn fills(self, size: usize) -> bool {
        self.is_wire && self.bytes == size
    }
}

/// Returns the representation of a field.
#[must_use]
pub const fn memory_of<S, F: Transportable>(_: Field<S, F>) -> MemoryLayout {
    MemoryLayout {
        is_wire: F::WIRE_IS_MEMORY,
        bytes: size_of::<F>(),
    }
}

/// Compiles only if the value and the field have the same type.
pub fn same_type<S, F>(_: &mut F, _: unsafe fn(*mut S) -> *mut F) {}

/// The type of a value, including its lifetimes.
#[derive(Debug)]
pub struct ExactType<F: ?Sized>(::std::marker::PhantomData<*mut F>);

/// Returns the type of a value. The result must be stored in a variable: where a type is expected,
/// the argument could be converted to another one.
pub fn exact_type<F: ?Sized>(_: &mut F) -> ExactType<F> {
    ExactType(::std::marker::PhantomData)
}

/// Compiles only if both types are the same.
pub fn same_exact_type<F: ?Sized>(_: ExactType<F>, _: ExactType<F>) {}

/// Returns the offset of a part in an object, in bytes.
///
/// # Safety
///
/// `part` must point to a part of the object at `whole`.
#[must_use]
pub const unsafe fn offset_in<S, F>(whole: *const S, part: *const F) -> usize {
    // SAFETY: by the caller's promise both pointers are in one object.
    unsafe {
        part.cast::<u8>()
            .offset_from(whole.cast::<u8>())
            .unsigned_abs()
    }
}

/// Hides constants of the program: generated code imports this function by the names of its
/// variables.
pub const fn shield() {}

/// Creates a `Vec` without relying on the prelude.
pub fn list<T, const N: usize>(of: [T; N]) -> Vec<T> {
    Vec::from(of)
}
