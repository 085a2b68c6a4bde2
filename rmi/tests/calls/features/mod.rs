//! Tests of what stands behind features.

#[cfg(feature = "metrics")]
mod metered;
#[cfg(feature = "tokio")]
mod runtimes;
#[cfg(feature = "tls")]
mod tls;
