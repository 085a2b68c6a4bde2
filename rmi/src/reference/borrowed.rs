//! Arguments with references that a method borrows: `&P`, `&[P]`, `&[&[P]]` and deeper.
//!
//! The caller lends its references, and the call passes copies of them. The method borrows the
//! references that have arrived, which are dropped when it ends.

use crate::interface::Method;
use crate::reference::passing::Passed;

/// A type with references that can be borrowed by a method.
#[diagnostic::on_unimplemented(
    message = "a method can't borrow `{Self}`",
    note = "the call passes copies of the references that a method borrows: derive `Clone` for the \
            type, or take it by value; it must be a type that can be passed by reference"
)]
pub trait Lendable: Passed + Clone {}

#[diagnostic::do_not_recommend]
impl<P: Passed + Clone> Lendable for P {}

/// Borrowed references among the arguments.
impl Method {
    /// Checks at compile time that a method can borrow `P`.
    pub fn lends<P: Lendable>() {}
}

/// Returns the references that a call passes for an argument `&P`.
#[must_use]
pub fn lend<P: Lendable>(one: &P) -> P {
    one.clone()
}

/// Returns the references that a call passes for an argument `&[P]`.
#[must_use]
pub fn lend_slice<P: Lendable>(all: &[P]) -> Vec<P> {
    all.to_vec()
}

/// Returns the result of a function for each element, such as the references that a call passes for
/// each slice of an argument `&[&[P]]`.
#[must_use]
pub fn each<'a, T, O>(all: &'a [T], of: impl Fn(&'a T) -> O) -> Vec<O> {
    all.iter().map(of).collect()
}

/// Returns the slices that a method borrows as `&[&[P]]`.
#[must_use]
pub fn slices<T>(all: &[Vec<T>]) -> Vec<&[T]> {
    all.iter().map(Vec::as_slice).collect()
}
