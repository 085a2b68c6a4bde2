//! The types of the language and of `std` that can travel.

mod compound;
mod exclusive;
pub(crate) mod option;
mod owned;
mod reference;
mod restore;
mod result;
mod scalar;
mod shared;
