//! Functions that generated code names first: [`crate::entry_points`] has the reason.

use std::marker::PhantomData;

use crate::entry_points::Address;
pub use crate::entry_points::EntryPoint;
use crate::model::{InPlace, Transportable};

/// The functions of a type that the others of it name.
#[derive(Debug)]
pub struct Chain<T>(PhantomData<T>);

impl<T: Transportable> Chain<T> {
    /// The first function of the chain that writes.
    pub const WRITE: EntryPoint = EntryPoint(Some(T::write as Address));
    /// The function after `write` if the type has it, for [`meet`].
    pub const WRITE_BACK: &'static [EntryPoint] = &[EntryPoint(Some(T::write_back as Address))];
    /// The last function of the chain that writes.
    pub const NAME_PARTS: &'static [EntryPoint] = &[EntryPoint(Some(T::name_parts as Address))];
}

impl<F: InPlace> Chain<F> {
    /// The first function of the chain that reads.
    pub const READ: EntryPoint = EntryPoint(Some(F::read as Address));
    /// The function after `read`.
    pub const VERIFY: &'static [EntryPoint] = &[EntryPoint(Some(F::verify as Address))];
    /// The function after `verify`.
    pub const TRACE: &'static [EntryPoint] = &[EntryPoint(Some(F::trace as Address))];
    /// The last function of the chain that reads.
    pub const DESCRIBE: &'static [EntryPoint] = &[EntryPoint(Some(F::describe as Address))];
}

/// Names functions, so that the compiler meets them here. Nothing is left of it in optimised code,
/// since the address of a constant is not null.
#[inline(always)]
pub fn link(functions: &'static [EntryPoint]) {
    if functions.as_ptr().addr() == 0 {
        std::process::abort();
    }
}

/// A function that projects a value to a field, if the value has it.
pub type OfVariant<S, F> = for<'s> fn(&'s S) -> Option<&'s F>;

/// Returns the entry point of a field that is written.
#[must_use]
pub const fn written<S, F: Transportable>(_: OfVariant<S, F>) -> EntryPoint {
    <F as Transportable>::ENTRY_POINT
}

/// Returns the entry point of a field that arrives as itself.
#[must_use]
pub const fn read_in_place<'b, S, F>(_: OfVariant<S, F>) -> EntryPoint
where
    F: Transportable + 'b,
{
    <F::InPlace<'b> as InPlace>::ENTRY_POINT
}
