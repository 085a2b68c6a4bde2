//! Ranks: members of a group that send messages to each other by number and tag, as in MPI.
//!
//! A [`Rank`] sends to any other, whichever way leads there: over a connection, or, between threads of one
//! process, straight to where the other receives. A message says its sender, its context and a tag; a receive
//! says which ones it wants, and gets the first that matches, as [`matching`](crate::matching) tells.
//!
//! [`threads`] makes ranks of one process, [`Mesh`] any others. [`world`] is how they find each other.
//!
//! | | borrowed elements | jbufs |
//! |---|---|---|
//! | waits | [`send`](Rank::send), [`ssend`](Rank::ssend), [`recv`](Rank::recv), [`sendrecv`](Rank::sendrecv) | [`send_filled`](Rank::send_filled), [`recv_filled`](Rank::recv_filled) |
//! | posted, or async | in a [`scope`](Rank::scope) | [`isend`](Rank::isend), [`issend`](Rank::issend), [`irecv`](Rank::irecv), [`irecv_into`](Rank::irecv_into) |
//!
//! # What is promised
//!
//! - Messages from one rank to another are matched in the order in which they were sent, as far as a receive
//!   matches both. Among threads of one rank that send, or receive, at once there is no order.
//! - A message that no receive waits for waits itself, up to the [bounds](crate::matching::Bounds) of the
//!   receiver. A rank that exceeds them waits when it sends; others don't notice, and answers pass.
//! - A short message travels at once; a long one is announced, and comes when a receive has it, straight to
//!   the receive's memory. See [`Rank::eager`].
//! - A message that does not fit its receive, or is of another type, is an error of that receive alone.
//! - A rank that ends, or whose connection breaks, ends what waits for it alone: what it has sent before is
//!   still received. What had to wait for room with another one is given up when none comes in the
//!   [time of sending](crate::Options::send_timeout).

mod attention;
mod bell;
mod credit;
mod element;
mod error;
mod inbox;
mod lent;
mod letter;
mod line;
mod local;
mod meet;
mod member;
mod mesh;
#[cfg(all(test, loom))]
mod models;
mod names;
mod node;
mod object;
mod options;
mod past;
mod persistent;
mod probe;
mod queue;
mod request;
mod requests;
mod scope;
mod sending;
mod soon;
mod state;
mod table;
mod taker;
mod todo;
mod waiting;
mod wants;
mod wire;
mod withdrawal;
pub mod world;

pub use self::element::Element;
pub use self::error::{ElementName, Error, Unreceived, Unsent};
pub use self::member::Rank;
pub use self::mesh::{Mesh, MeshNode, threads};
pub use self::names::{Destination, Source, Status, Tag};
pub use self::options::Options;
pub use self::persistent::{PersistentRecv, PersistentSend};
pub use self::probe::Probed;
pub use self::requests::{RankMessage, RecvRequest, Request, SendRequest};
pub use self::scope::{Scope, ScopedRecv, ScopedSend};
pub use self::waiting::{
    test_all, test_any, test_some, wait_all, wait_any, wait_any_timeout, wait_some,
};
