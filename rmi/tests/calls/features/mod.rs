//! Tests of what stands behind features.

#[cfg(all(feature = "metrics", not(address_sanitizer)))]
mod metered;
#[cfg(all(feature = "tls", not(address_sanitizer)))]
mod tls;
