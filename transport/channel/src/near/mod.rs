//! Channels whose sides are in one process and use the same type `T`.
//!
//! Such a channel uses no endpoint, and serializes an object only if necessary: objects move, or
//! are written to a buffer of the receiver's pool.
//!
//! | module | contents |
//! |---|---|
//! | `parcel` | objects in transit |
//! | `link` | one connection: a ring, the parcels posted behind it, and the state of its ends |
//! | `names` | registry of the channels that are open in this process |
//!
//! Decision 032 has the reasons.

mod link;
#[cfg(all(test, loom))]
mod models;
mod names;
mod parcel;

pub(crate) use self::link::{NearLink, ParcelTicket, Stop};
pub(crate) use self::names::{Announced, announce, find};
pub(crate) use self::parcel::{Parcel, restored};
