//! Tests of what stands behind features.

#[cfg(feature = "cli")]
mod jcall;
#[cfg(feature = "cli")]
mod jregistry;
