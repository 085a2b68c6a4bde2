//! Tests of what stands behind features.

#[cfg(all(feature = "tls", not(address_sanitizer)))]
mod tls;
