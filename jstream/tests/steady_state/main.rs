//! Allocations in steady state, counted on the thread that writes or reads.

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
