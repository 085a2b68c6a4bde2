//! The way of objects between threads: both sides of a channel are in this process, and mean the same type by `T`.
//!
//! No endpoint is in between, and nothing becomes bytes that need not: objects move, or are written into a jbuf of
//! the receiver's.
//!
//! | part | what |
//! |---|---|
//! | `ring` | a bounded queue among threads, without locks |
//! | `parcel` | what goes through it |
//! | `crowd` | who waits for something to come |
//! | `link` | one connection: a ring, what was posted behind it, and its ends |
//! | `names` | who has a channel open in this process |

mod crowd;
mod link;
#[cfg(all(test, loom))]
mod models;
mod names;
mod parcel;
mod ring;

pub(crate) use self::crowd::Crowd;
pub(crate) use self::link::{Link, Stop, Ticket};
pub(crate) use self::names::{Announced, announce, find};
pub(crate) use self::parcel::{Parcel, restored};
