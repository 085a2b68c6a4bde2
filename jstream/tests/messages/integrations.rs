//! Types of other crates, each behind a feature.

#[cfg(feature = "uuid")]
mod of_uuid;

#[cfg(feature = "bytes")]
mod of_bytes;

#[cfg(feature = "smallvec")]
mod of_smallvec;

#[cfg(feature = "arrayvec")]
mod of_arrayvec;

#[cfg(feature = "jiff")]
mod of_jiff;

#[cfg(feature = "ndarray")]
mod of_ndarray;

#[cfg(all(
    feature = "arrayvec",
    feature = "bytes",
    feature = "smallvec",
    feature = "testing"
))]
mod hostile;

#[cfg(feature = "bstr")]
mod of_bstr;

#[cfg(feature = "half")]
mod of_half;

#[cfg(feature = "glam")]
mod of_glam;

#[cfg(feature = "chrono")]
mod of_chrono;

#[cfg(feature = "time")]
mod of_time;
