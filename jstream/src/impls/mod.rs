//! Implementations for the types of the language, of `std`, and of some other crates.

#[cfg(any(unix, feature = "bstr"))]
#[macro_use]
mod byte_string;
#[macro_use]
mod opaque;
#[macro_use]
mod owned;
#[cfg(any(feature = "glam", feature = "half"))]
#[macro_use]
mod plain_leaf;
#[macro_use]
mod scalar;

mod bound;
mod compound;
mod cow;
mod exclusive;
mod map;
mod net;
pub(crate) mod option;
#[cfg(unix)]
mod os_str;
mod range;
mod reference;
mod restore;
mod result;
mod shared;
mod time;
mod wrapping;

#[cfg(feature = "arrayvec")]
mod arrayvec;
#[cfg(feature = "bstr")]
mod bstr;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "bytecheck")]
pub(crate) mod checked;
#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "half")]
mod half;
#[cfg(feature = "indexmap")]
mod indexmap;
#[cfg(feature = "jiff")]
pub(crate) mod jiff;
#[cfg(any(feature = "bytecheck", feature = "rkyv"))]
mod limited_text;
#[cfg(feature = "ndarray")]
pub(crate) mod ndarray;
#[cfg(feature = "rkyv")]
pub(crate) mod rkyv;
#[cfg(feature = "smallvec")]
mod smallvec;
#[cfg(feature = "time")]
mod time_crate;
#[cfg(feature = "uuid")]
mod uuid;
