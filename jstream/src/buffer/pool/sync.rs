//! The atomics of the free lists: those of `std`, or those of loom, which explores interleavings.

#[cfg(loom)]
pub(super) use loom::sync::atomic::{
    AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
#[cfg(not(loom))]
pub(super) use std::sync::atomic::{
    AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
