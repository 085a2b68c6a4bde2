//! What generated code uses. Not for others: it may change with any release.

mod asked;
mod fields;

pub use self::asked::*;
pub use self::fields::*;
pub use crate::class::{
    Castable, Class, Dynamic, Implementation, Registered, Registry, class_of, describe_dynamic,
    write_dynamic,
};
pub use crate::model::{
    Covariant, CovariantTarget, InPlace, Pointee, Shape, Target, Transportable,
};
pub use crate::read::{Edge, Fault, FaultKind, Pass, Refusal, Trace, assert_form};
pub use crate::restore::{Restore, RestoreError, Restoring, restore};
pub use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, VariantInfo};
pub use crate::write::Draft;
pub use inventory;
pub use std::sync::OnceLock;

use std::mem::size_of;

/// Finds a field inside a value, so that the field's type is inferred and not spelled.
type Field<S, F> = unsafe fn(*const S) -> *const F;

/// The shape of a field.
#[must_use]
pub const fn shape_of<S, F: InPlace>(_: Field<S, F>) -> Shape {
    F::SHAPE
}

/// The shape of an enum without fields, of `size` bytes.
#[must_use]
pub const fn fieldless<const N: usize>(size: usize, tags: [i128; N]) -> Shape {
    let mut dense = size == 1 && N <= 256;
    let mut rest: &[i128] = &tags;
    while let [tag, others @ ..] = rest {
        // Tags differ, so they are all numbers below `N` if none is larger.
        dense = dense && *tag >= 0 && *tag < N as i128;
        rest = others;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are 256 variants at most"
    )]
    if dense && N > 0 {
        Shape::up_to(N.wrapping_sub(1) as u8)
    } else {
        Shape::leaf(size, false)
    }
}

/// Describes the type of a field.
pub fn describe<S, F: InPlace>(schema: &mut Schema, _: Field<S, F>) -> TypeIndex {
    F::describe(schema)
}

/// Whether the parts of a type are in memory as they are on the wire.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    is_wire: bool,
    bytes: usize,
}

impl Memory {
    /// No part yet.
    pub const NOTHING: Self = Self {
        is_wire: true,
        bytes: 0,
    };

    /// A part that is in memory as it is not on the wire.
    pub const OTHER: Self = Self {
        is_wire: false,
        bytes: 0,
    };

    /// Both parts.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            is_wire: self.is_wire && other.is_wire,
            bytes: self.bytes.wrapping_add(other.bytes),
        }
    }

    /// Whether the parts leave no byte of a whole of `size` bytes to padding.
    #[must_use]
    pub const fn fills(self, size: usize) -> bool {
        self.is_wire && self.bytes == size
    }
}

/// How a field is in memory.
#[must_use]
pub const fn memory_of<S, F: Transportable>(_: Field<S, F>) -> Memory {
    Memory {
        is_wire: F::WIRE_IS_MEMORY,
        bytes: size_of::<F>(),
    }
}

/// Takes only a value and a field of one type.
pub fn same_type<S, F>(_: &mut F, _: unsafe fn(*mut S) -> *mut F) {}

/// Where a part lies in a whole, in bytes.
///
/// # Safety
///
/// `part` must be a part of what `whole` points to.
#[must_use]
pub const unsafe fn offset_in<S, F>(whole: *const S, part: *const F) -> usize {
    // SAFETY: the caller says that both are in one object.
    unsafe {
        part.cast::<u8>()
            .offset_from(whole.cast::<u8>())
            .unsigned_abs()
    }
}

/// A list, named without the prelude.
pub fn list<T, const N: usize>(of: [T; N]) -> Vec<T> {
    Vec::from(of)
}
