//! Tests of what stands behind features.

#[cfg(all(feature = "tokio", feature = "tower"))]
mod layers;
#[cfg(feature = "metrics")]
mod metered;
#[cfg(feature = "tokio")]
mod runtimes;
#[cfg(feature = "tls")]
mod tls;
