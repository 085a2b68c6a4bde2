//! Synchronisation primitives that the layers of jstream share.
//!
//! | module | contents |
//! |---|---|
//! | `primitives` | atomics, locks and cells of `std`, or of loom in models; locks that ignore poisoning |
//! | [`barrier`] | barrier between changing a state and checking for a sleeper, with `membarrier` |
//! | [`flag`] | flag by which a thread asks to be notified before it sleeps (Dekker-style) |
//! | [`wakers`] | threads and tasks that wait for an event, as wakers |
//! | [`publishing_lock`] | lock that publishes a summary of its state, and notifies, at each release |
//! | [`parker`] | parking of threads through the waker interface |
//! | [`callbacks`] | calls into the program, deferred until the thread holds no lock |
//! | [`timers`] | timers that wake tasks |
//! | [`threads`] | start of named threads |
//! | [`panics`] | panics of the program that must not reach the calling thread |
//! | [`ring`] | bounded queue with one producer and one consumer |
//! | [`mpmc`] | bounded queue with multiple producers and consumers |
//! | `event_fd` | descriptors that are readable after a signal (eventfd), on Linux (feature `readiness`) |
//! | `watcher` | wake-ups for readiness of descriptors (epoll), on Linux (feature `readiness`) |
//!
//! # Sleeping and waking
//!
//! All layers sleep and wake by these four mechanisms, or by a condition variable of `std` for a
//! state under its own lock. A state that threads also look at without its lock has a
//! [`publishing_lock`].
//!
//! - A [`flag`] tells a notifying thread whether anyone sleeps, so that a notification costs
//!   nothing while all are awake. The `shm` device has the flag in shared memory.
//! - [Wakers](wakers) are what is woken: tasks, [parked](parker) threads, and
//!   descriptors that are polled (`event_fd`). A `WaitQueue` is a list of wakers behind a flag.
//! - A `watcher` sleeps until the system finds a descriptor ready, and calls wakers.
//! - [Timers](timers) call wakers at a given time.
//!
//! The crate is an implementation detail of `jstream` and `jstream-transport`. Its interface may
//! change in any release.

pub mod barrier;
pub mod callbacks;
#[cfg(all(target_os = "linux", feature = "readiness"))]
pub mod event_fd;
pub mod flag;
#[cfg(all(test, loom))]
mod models;
pub mod mpmc;
pub mod panics;
pub mod parker;
mod primitives;
pub mod publishing_lock;
pub mod ring;
pub mod threads;
pub mod timers;
pub mod wakers;
#[cfg(all(target_os = "linux", feature = "readiness"))]
pub mod watcher;

pub use self::primitives::*;
