//! The atomics of the free lists: those of `std`, or of loom, which tries all interleavings.

#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicIsize, AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub(super) use std::sync::atomic::{AtomicIsize, AtomicU32, AtomicU64, Ordering};
