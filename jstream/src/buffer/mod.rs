//! Buffers for messages. A [`Region`] is one mapping of memory, and a [`Pool`] divides regions into
//! slots. Each slot is owned by exactly one handle, whose type states what its bytes are.
//!
//! | handle | contents |
//! |---|---|
//! | [`EmptyBuffer`] | no meaning; treated as uninitialised memory to write or receive into |
//! | [`BufferWriter`] | the first part of a message, while the rest is being received or written |
//! | [`MessageBuffer`] | a message in wire form, to be sent, forwarded or read |
//! | [`Received`](crate::Received) | native Rust objects |
//!
//! Invariant: a slot's memory is reached only through its one handle. No reference ever spans two
//! slots, and this module keeps no reference beyond the call that created it.

mod jbuf;
mod keeper;
mod pool;
mod region;
mod slot;
mod view;

pub(crate) use jbuf::Space;
pub use jbuf::{BufferWriter, EmptyBuffer, MessageBuffer, Overfull};
pub use keeper::Keeper;
pub use pool::{Callback, ClassStats, Leak, Pool, PoolError, PoolOptions, PoolStats, WhenLow};
pub use region::{Backing, Pages, Region, RegionOptions, Registration};
pub use slot::Place;
pub(crate) use slot::Slot;
pub use view::ViewError;

/// Alignment of every slot in bytes. No in-place form may require a larger alignment.
pub const ALIGNMENT: usize = 128;

/// Alignment of every message of a stream in bytes.
pub(crate) const LEAST_ALIGNMENT: usize = 16;
