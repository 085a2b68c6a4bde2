//! Tests of buffer pools and memory regions.

mod exhaustion;
#[cfg(feature = "metrics")]
mod metrics;
mod pools;
