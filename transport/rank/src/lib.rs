//! Ranks: members of a group that send messages to each other by number and tag, as in MPI.
//!
//! A [`Rank`] sends to any other member, over a connection or, between threads of one process,
//! directly to the inbox of the receiver. A message carries its sender, its context and a tag. A
//! receive states which of these it accepts, and gets the first message that matches, by the rules
//! of [`matching`](jstream_matching).
//!
//! [`threads`] creates ranks within one process, and [`Mesh`] connects ranks in any other way.
//! [`world`] lets the processes of a group find each other.
//!
//! | | borrowed elements | jbufs |
//! |---|---|---|
//! | blocking | [`send`](Rank::send), [`ssend`](Rank::ssend), [`recv`](Rank::recv), [`sendrecv`](Rank::sendrecv) | [`send_filled`](Rank::send_filled), [`recv_filled`](Rank::recv_filled) |
//! | posted, or async | in a [`scope`](Rank::scope) | [`isend`](Rank::isend), [`issend`](Rank::issend), [`irecv`](Rank::irecv), [`irecv_into`](Rank::irecv_into) |
//!
//! # Guarantees
//!
//! - Messages from one rank to another that match the same receive are matched in the order in
//!   which they were sent. There is no order between threads of one rank that send or receive
//!   concurrently.
//! - Unexpected messages, which no receive has been posted for, are queued up to the
//!   [bounds](jstream_matching::Bounds) of the receiver. A sender that exceeds them blocks. Other
//!   senders are not affected, and protocol replies still pass.
//! - A short message is sent eagerly. A long one is announced, and its payload is transferred
//!   directly to the memory of the receive once one matches. See [`Rank::eager`].
//! - A message that does not fit its receive, or has another element type, fails only that receive.
//! - If a rank ends or its connection breaks, only the requests that depend on this rank alone
//!   fail. Messages that it sent before are still received. A message that waits for room at
//!   another rank is given up if there is none within the [send
//!   timeout](jstream_base::Options::send_timeout).

mod attention;
mod bell;
mod borrowed_send;
mod credit;
mod element;
mod error;
mod inbox;
mod letter;
mod line;
mod local;
mod match_bypass;
mod member;
mod mesh;
mod message_sink;
#[cfg(all(test, loom))]
mod models;
mod names;
mod node;
mod object;
mod options;
mod persistent;
mod probe;
mod queue;
mod receive_fast_path;
mod receive_wait;
mod rendezvous;
mod request;
mod requests;
mod scope;
mod sending;
mod state;
mod table;
mod waiting;
mod wire;
mod withdrawal;
mod work_queue;
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
