//! Tests that count allocations in the steady state, on the thread that writes or reads.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

#[cfg(feature = "rkyv")]
#[path = "../common/archives.rs"]
mod archives;
#[path = "../common/counting.rs"]
mod counting;
mod forward;
mod maps;
#[cfg(all(feature = "bytes", feature = "rkyv", feature = "testing"))]
mod rkyv;
mod writes;
