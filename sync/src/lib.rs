//! Synchronisation primitives that the layers of jstream share.
//!
//! | module | contents |
//! |---|---|
//! | `primitives` | atomics, locks and cells of `std`, or of loom in models; locks that ignore poisoning |
//! | [`barrier`] | barrier between changing a state and checking for a sleeper, with `membarrier` |
//! | [`flag`] | flag by which a thread asks to be notified before it sleeps (Dekker-style) |
//! | [`ring`] | bounded queue with one producer and one consumer |
//! | [`mpmc`] | bounded queue with multiple producers and consumers |
//! | `watcher` | wake-ups for readiness of descriptors (epoll), on Linux |
//!
//! The crate is an implementation detail of `jstream` and `jstream-transport`. Its interface may
//! change in any release.

pub mod barrier;
pub mod flag;
#[cfg(all(test, loom))]
mod models;
pub mod mpmc;
mod primitives;
pub mod ring;
#[cfg(target_os = "linux")]
pub mod watcher;

pub use self::primitives::*;
