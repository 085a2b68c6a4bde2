//! Pools and regions.

mod exhaustion;
#[cfg(feature = "metrics")]
mod metrics;
mod pools;
