//! The types of the language and of `std` that can travel.

mod compound;
#[cfg(feature = "indexmap")]
mod indexmap;
mod map;
pub(crate) mod option;
mod owned;
mod reference;
mod result;
mod scalar;
