//! Tests of what stands behind features.

#[cfg(all(feature = "metrics", not(address_sanitizer)))]
mod metered;
#[cfg(feature = "tokio")]
mod runtimes;
#[cfg(all(feature = "tls", not(address_sanitizer)))]
mod tls;
