//! Functions that generated code names first: [`crate::entry_points`] has the reason.

use std::ptr;

use crate::entry_points::Address;
pub use crate::entry_points::EntryPoints;
use crate::model::{InPlace, Transportable};

/// Returns the functions that write a type.
#[must_use]
pub const fn writing<T: Transportable>() -> EntryPoints<2> {
    EntryPoints(Some([T::write as Address, T::write_back as Address]))
}

/// Returns the functions that read, verify, trace and describe a form.
#[must_use]
pub const fn reading<F: InPlace>() -> EntryPoints<4> {
    EntryPoints(Some([
        F::read as Address,
        F::verify as Address,
        F::trace as Address,
        F::describe as Address,
    ]))
}

/// Returns the function with the number `function` of each of the `M` types.
#[must_use]
pub const fn entries<const N: usize, const M: usize>(
    of: &[EntryPoints<N>],
    function: usize,
) -> [Address; M] {
    let mut all = [ptr::null(); M];
    let mut places: &mut [Address] = &mut all;
    let mut types = of;
    while let ([place, other_places @ ..], [entry_points, other_types @ ..]) = (places, types) {
        if let Some(functions) = &entry_points.0 {
            if let (_, [address, ..]) = functions.split_at(function) {
                *place = *address;
            }
        }
        places = other_places;
        types = other_types;
    }
    all
}

/// Names functions, so that the compiler meets them here. Nothing is left of it in optimised code,
/// since the address of a constant is not null.
#[inline(always)]
pub fn meet<const M: usize>(functions: &'static [Address; M]) {
    if functions.as_ptr().addr() == 0 {
        std::process::abort();
    }
}

/// A function that projects a value to a field, if the value has it.
pub type OfVariant<S, F> = for<'s> fn(&'s S) -> Option<&'s F>;

/// Returns the functions that write a field.
#[must_use]
pub const fn written<S, F: Transportable>(_: OfVariant<S, F>) -> EntryPoints<2> {
    <F as Transportable>::ENTRY_POINTS
}

/// Returns the functions that read a field that arrives as itself.
#[must_use]
pub const fn read_in_place<'b, S, F>(_: OfVariant<S, F>) -> EntryPoints<4>
where
    F: Transportable + 'b,
{
    <F::InPlace<'b> as InPlace>::ENTRY_POINTS
}
