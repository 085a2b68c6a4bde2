//! Tests of what stands behind features.

#[cfg(all(feature = "cli", not(address_sanitizer)))]
mod jperf;
