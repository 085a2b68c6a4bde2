//! Implementations for the types of the language, of `std`, and of some other crates.

#[macro_use]
mod opaque;
#[macro_use]
mod owned;
#[macro_use]
mod scalar;

mod bound;
mod compound;
mod cow;
mod exclusive;
mod map;
mod net;
mod option;
mod range;
mod reference;
mod restore;
mod result;
mod shared;
mod time;
mod wrapping;

#[cfg(feature = "arrayvec")]
mod arrayvec;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "indexmap")]
mod indexmap;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "ndarray")]
pub(crate) mod ndarray;
#[cfg(feature = "rkyv")]
pub(crate) mod rkyv;
#[cfg(feature = "smallvec")]
mod smallvec;
#[cfg(feature = "uuid")]
mod uuid;
