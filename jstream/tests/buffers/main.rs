//! Tests of buffer pools and memory regions.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod exhaustion;
#[cfg(feature = "metrics")]
mod metrics;
mod pools;
