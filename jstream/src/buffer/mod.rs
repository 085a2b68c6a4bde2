//! Registered buffers: a [`Region`] is one mapping, a [`Pool`] cuts regions into slots, and a
//! slot is owned by exactly one handle, whose type says what its bytes are.
//!
//! | handle | its bytes |
//! |---|---|
//! | [`Spent`] | uninitialised as far as the program knows: to be written or received into |
//! | [`Filling`] | the first part received, the rest not yet |
//! | [`Filled`] | a message in wire form: to be sent, forwarded or read |
//! | [`Received`](crate::Received) | native Rust objects |
//!
//! Invariant: a slot's memory is reached through its one handle alone. No reference ever spans
//! two slots, and none is kept by this module beyond the call that made it.

mod jbuf;
mod keeper;
mod pool;
mod region;
mod slot;
mod view;

pub use jbuf::{Filled, Filling, Overfull, Spent};
pub use keeper::Keeper;
pub use pool::{Callback, ClassStats, Leak, Pool, PoolError, PoolOptions, PoolStats, WhenLow};
pub use region::{Backing, Pages, Region, RegionOptions, Registration};
pub use slot::Place;
pub(crate) use slot::Slot;
pub use view::ViewError;

/// Every slot starts at a multiple of this many bytes, and no in-place form may ask for more.
pub const ALIGNMENT: usize = 128;

/// Every message of a stream starts at a multiple of this many bytes.
pub(crate) const LEAST_ALIGNMENT: usize = 16;
