//! Functions that generated code names before it calls any other.
//!
//! The compiler collects the functions of a program depth first, from each function to those that
//! it calls. On each way it counts how often it has met one generic function with other arguments,
//! and `recursion_limit`, 128 by default, limits this number. The functions of a derived type are
//! not generic, but between those of two types are functions of this crate that are, such as the
//! one that writes a `Vec`. So a chain of types would end at the limit.
//!
//! The functions of derived types therefore form chains without a generic function in between.
//! Each function first names the next one of its type, and the last one names the first function of
//! each type that a field leads to, which is the entry point of that type:
//!
//! ```text
//! read ─ verify ─ trace ─ describe ─ read of the next types
//! write ─ write_back, if the type has one ─ name_parts ─ write of the next types
//! ```
//!
//! Wherever the compiler enters a chain, it meets the functions of all its types before it meets
//! the first generic one, from which no way then leads further. A type behind a pointer, an
//! `Option` or another type of `std` is found by a constant, because the compiler does not count
//! the evaluation of constants.
//!
//! A function that is inlined is compiled in each codegen unit in which a function names it.
//! `verify`, `trace`, `describe` and `name_parts` are not inlined. So a unit that has a function of
//! one type does not get those of all types behind it.

/// The address of a function. It is only compared with null.
pub(crate) type Address = *const ();

/// The first function of the derived type that a type leads to, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct EntryPoint(pub(crate) Option<Address>);

impl EntryPoint {
    /// No function.
    pub const NONE: Self = Self(None);

    /// Returns this function, or the other if there is none.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        if self.0.is_some() { self } else { other }
    }
}
