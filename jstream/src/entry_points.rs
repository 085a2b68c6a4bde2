//! Functions that generated code names before it calls any other.
//!
//! The compiler collects the functions of a program depth first, from each function to those that
//! it calls. On each way it counts how often it has met one generic function with other arguments,
//! and `recursion_limit`, 128 by default, limits this number. The functions of a derived type are
//! not generic, but between those of two types are functions of this crate that are, such as the
//! one that writes a `Vec`. So a chain of types would end at the limit.
//!
//! Each function of a derived type therefore first names the same function of each type that a
//! field leads to, without a generic function in between. The compiler meets these functions for
//! all types of the chain before it meets the first generic one, from which no way then leads
//! further. A type behind a pointer, an `Option` or another type of `std` is found by a constant,
//! because the compiler does not count the evaluation of constants.

/// The address of a function. It is only compared with null.
pub(crate) type Address = *const ();

/// Functions of the derived type that a type leads to, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct EntryPoints<const N: usize>(pub(crate) Option<[Address; N]>);

impl<const N: usize> EntryPoints<N> {
    /// No functions.
    pub const NONE: Self = Self(None);

    /// Returns these functions, or the others if there are none.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        if self.0.is_some() { self } else { other }
    }
}
