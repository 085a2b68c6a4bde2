//! Tests that count allocations in the steady state, on the thread that writes or reads.

mod forward;
mod maps;
#[cfg(all(feature = "bytes", feature = "rkyv", feature = "testing"))]
mod rkyv;
mod writes;
