//! Types that have the layout and the values of another type.

use crate::shared::Shared;

/// Marks types that may be used as an `M`, and vice versa: references as [`Shared`] ones. `How`
/// distinguishes the implementations.
///
/// # Safety
///
/// Both types must have the same layout and the same valid values.
#[diagnostic::on_unimplemented(
    message = "the references in `{Self}` can't be shared",
    note = "`shared` is for a reference, an `Option` of one, and arrays of and references to them; \
            inside other types write `jstream::Shared<'b, T>`"
)]
pub unsafe trait Like<M: ?Sized, How> {}

/// Marks the relation of a type to itself.
#[derive(Debug)]
pub enum Identical {}
/// Marks the relation of a reference to a [`Shared`] pointer, given the relation of their targets.
#[derive(Debug)]
pub struct ViaReference<How>(std::marker::PhantomData<How>);

// SAFETY: a type has the same layout and values as itself.
unsafe impl<T: ?Sized> Like<T, Identical> for T {}
// SAFETY: a `Shared` is a reference, by `repr(transparent)`, and the targets are related.
unsafe impl<'b, T, U, How> Like<Shared<'b, U>, ViaReference<How>> for &'b T
where
    T: Like<U, How> + ?Sized,
    U: ?Sized,
{
}
// SAFETY: `std` guarantees that an optional reference has the layout of the reference, and so does
// an optional transparent type around a reference.
unsafe impl<'b, T, U, How> Like<Option<Shared<'b, U>>, ViaReference<How>> for Option<&'b T>
where
    T: Like<U, How> + ?Sized,
    U: ?Sized,
{
}
// SAFETY: arrays of related types have the same layout and values.
unsafe impl<'b, T, U, How, const N: usize> Like<[Shared<'b, U>; N], ViaReference<How>>
    for [&'b T; N]
where
    T: Like<U, How> + ?Sized,
    U: ?Sized,
{
}
// SAFETY: slices of related types have the same layout and values.
unsafe impl<'b, T, U, How> Like<[Shared<'b, U>], ViaReference<How>> for [&'b T]
where
    T: Like<U, How> + ?Sized,
    U: ?Sized,
{
}
// SAFETY: as above.
unsafe impl<'b, T, U, How> Like<[Option<Shared<'b, U>>], ViaReference<How>> for [Option<&'b T>]
where
    T: Like<U, How> + ?Sized,
    U: ?Sized,
{
}
