//! Ranks: members of a group that send messages to each other by number and tag, as in MPI.
//!
//! A [`Rank`] sends to any other member, over a connection or, between threads of one process,
//! directly to the inbox of the receiver. It can also send to itself. A message carries its sender,
//! its context and a tag. A receive states which of these it accepts, and gets the first message
//! that matches, by the rules of [`matching`](jstream_matching).
//!
//! [`threads`] creates ranks within one process, and [`Mesh`] connects ranks in any other way.
//! [`world`] lets the processes of a group find each other.
//!
//! The operations of a rank come in families. Their methods have the same names:
//!
//! | family | memory | |
//! |---|---|---|
//! | [`Rank`] | borrowed elements | [`send`](Rank::send), [`recv`](Rank::recv), [`recv_vec`](Rank::recv_vec), [`sendrecv`](Rank::sendrecv); of one value [`send_value`](Rank::send_value), [`recv_value`](Rank::recv_value) |
//! | [`Scope`], by [`scope`](Rank::scope) | borrowed elements | posted: [`isend`](Scope::isend), [`irecv`](Scope::irecv) |
//! | [`Buffers`], by [`buffers`](Rank::buffers) | jbufs | [`send`](Buffers::send), [`recv`](Buffers::recv); posted, or async: [`isend`](Buffers::isend), [`irecv`](Buffers::irecv) |
//! | [`Objects`], by [`objects`](Rank::objects) | objects | [`send`](Objects::send), [`recv`](Objects::recv); posted, or async: [`isend`](Objects::isend), [`irecv`](Objects::irecv) |
//! | [`Layouts`], by [`layouts`](Rank::layouts) | selected elements | [`send`](Layouts::send), [`recv`](Layouts::recv); several messages at once [`exchange`](Layouts::exchange) |
//!
//! All members of a communicator take part in [collective
//! operations](Rank#collective-operations), such as [`broadcast`](Rank::broadcast) and
//! [`all_reduce`](Rank::all_reduce). They block, or are [posted in a
//! scope](Scope#posted-collective-operations). [`Objects`](Objects#collective-operations-on-objects)
//! and [`Layouts`] have some, too. [`split`](Rank::split) and [`Group`] make communicators of some
//! of the ranks, and [`Cartesian`] arranges ranks in a grid.
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
//! - A receive that gives its own memory takes every message that fits. If the library allocates
//!   the memory, the `bytes` of [`Options::object_limits`] are the limit, between threads and over
//!   connections. A longer message is an error of the receive and of the send, and no memory is
//!   allocated for it.
//! - A message that does not fit its receive, or has another element type, fails only that receive.
//! - If a rank ends or its connection breaks, only the requests that depend on this rank alone
//!   fail. Messages that it sent before are still received. A message that waits for room at
//!   another rank is given up if there is none within the [send
//!   timeout](jstream_base::Options::send_timeout).
//! - The survivors of a failure can [revoke](Recovery::revoke) a communicator,
//!   [agree](Recovery::agree) on who has failed, and [shrink](Recovery::shrink) it.

// The modules, from the bottom up. An inbox (`inbox.rs`), its state (`state.rs`) and the messages
// in it (`arrivals.rs`, `transfer/letter.rs`) are types that refer to one another; the modules
// after them add operations.
//
// | module | contents |
// |---|---|
// | `error`, `names`, `element`, `options` | public data types |
// | `layout` | blocks of elements, and the copies between them and messages |
// | `wire`, `table`, `outbound` | frames of the protocol; numbers that a peer refers to |
// | `communicator`, `communicators` | contexts and members; numbers of the members in a subgroup |
// | `revocations`, `tombstones` | revoked communicators, and operations that have ended early |
// | `wanted_lines` | connections that receives wait for |
// | `credit`, `attention`, `bell` | flow control; the Dekker flag of the queues; wake-ups |
// | `outcome`, `summary` | outcomes of requests; state that is read without the lock |
// | `queue` | single-producer ring from one rank of the process to another |
// | `waiters`, `contexts` | threads that wait; communicators, their failures and revocations |
// | `transfer::offers`, `transfer::incoming` | messages at their sender; payloads that arrive |
// | `request`, `peers` | requests; other ranks |
// | `transfer::letter`, `arrivals` | messages at their receiver; those that no receive has |
// | `state`, `inbox` | the state under the lock; the lock |
// | `work_queue` | work that is recorded under the lock and done after it |
// | `completion` | ends of requests, messages and peers |
// | `matching`, `transfer::connection` | matching of receives; events of a connection |
// | `inbox::sleep` | sleep until there are news |
// | `message_sink`, `line` | receive sink and send side of a connection |
// | `progress` | the posted collective operations of a thread, which advance when it waits |
// | `local_values` | values of the variables of a rank |
// | `local`, `node` | path to a rank of the process; a rank with its paths to all others |
// | `lent_memory` | memory that a blocked thread lends to a request |
// | `sending`, `receiving` | blocking and posted sends; blocking receives |
// | `packing` | transfer of messages with layouts |
// | `member`, `requests`, `probe` | the handle of a rank; those of requests and probed messages |
// | `scope`, `waiting`, `mesh` | requests that borrow memory; waits for several; groups of ranks |
// | `buffers`, `persistent`, `object` | families of operations on jbufs and objects |
// | `point_to_point` | operations on borrowed elements, and the other families |
// | `exchange` | several messages from and to the elements of one slice |
// | `rank_local` | variables with a value for each rank |
// | `operation`, `collective` | combinations of elements; collective operations |
// | `unused_contexts`, `split` | contexts; communicators of some ranks |
// | `group`, `cartesian` | sets of ranks; grids |
// | `halos` | exchange of the borders of arrays on a grid |
// | `revocation`, `agreement` | failures: revoked communicators, and those of the survivors |
// | `world` | processes that find each other |
//
// A rank has no threads of its own: the threads that wait for its requests drive its connections
// (`Node::drive`) and drain its queues, and the receive sink of a connection runs in the thread
// that drives it. A thread that sends to a rank of its process puts a short message into the queue
// if a thread of that rank polls, and otherwise matches the message itself, under the lock of that
// rank's inbox. The lock of an inbox protects all of its `RankState`; it may be taken under the
// lock of a direction of an endpoint, and no other lock is taken under it.

mod agreement;
mod arrivals;
mod attention;
mod bell;
mod buffers;
mod cartesian;
mod collective;
mod communicator;
mod communicators;
mod completion;
mod contexts;
mod credit;
mod element;
mod error;
mod exchange;
mod failures;
mod group;
mod halos;
mod inbox;
mod layout;
mod lent_memory;
mod line;
mod local;
mod local_values;
mod matching;
mod member;
mod mesh;
mod message_sink;
#[cfg(all(test, loom))]
mod models;
mod names;
mod node;
mod object;
pub mod operation;
mod options;
mod outbound;
mod outcome;
mod packing;
mod peers;
mod persistent;
mod point_to_point;
mod probe;
mod progress;
mod queue;
mod rank_local;
mod receiving;
mod request;
mod requests;
mod revocation;
mod revocations;
mod scope;
mod sending;
mod split;
mod state;
mod summary;
mod table;
mod tombstones;
mod transfer;
mod unused_contexts;
mod waiters;
mod waiting;
mod wanted_lines;
mod wire;
mod work_queue;
pub mod world;

pub use self::agreement::Consensus;
pub use self::buffers::Buffers;
pub use self::cartesian::{Cartesian, Dimension};
pub use self::collective::ScopedCollective;
pub use self::collective::objects::ObjectParts;
pub use self::element::Element;
pub use self::error::{ElementName, Error, Unreceived, Unsent};
pub use self::exchange::{Exchange, PostedExchange};
pub use self::group::Group;
pub use self::halos::{Halos, Neighbours};
pub use self::layout::error::LayoutError;
pub use self::layout::transfer::Layouts;
pub use self::layout::{Field, FieldLayout, Layout, Packed, Record, Selection};
pub use self::member::Rank;
pub use self::mesh::{Mesh, MeshNode, threads};
pub use self::names::{Destination, Source, Status, Tag};
pub use self::object::Objects;
pub use self::options::Options;
pub use self::persistent::{PersistentRecv, PersistentSend};
pub use self::probe::Probed;
pub use self::rank_local::RankLocal;
pub use self::requests::{RankMessage, RecvObjectRequest, RecvRequest, Request, SendRequest};
pub use self::revocation::Recovery;
pub use self::scope::{Scope, ScopedRecv, ScopedSend};
pub use jstream_collective::{Algorithm, Collective, ScheduleError};

pub use self::waiting::{
    test_all, test_any, test_some, wait_all, wait_any, wait_any_timeout, wait_some,
};
