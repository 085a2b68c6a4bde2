//! Endpoints: connections as programs use them.
//!
//! An [`Endpoint`] adds to a connection of a device: any number of threads and tasks that use it at
//! once, posted operations, queues of completions, puts and gets, and objects.
//!
//! | task | methods of [`Endpoint`] |
//! |---|---|
//! | send an object | [`send`], [`send_tagged`], [`try_send`], [`post_send_object`] |
//! | receive an object | [`recv`], [`recv_tagged`], [`recv_within`], [`post_recv_object`] |
//! | forward a received object | [`send_received`] |
//! | send bytes of the program | [`send_message`], [`try_send_message`], [`scope`] |
//! | send a buffer | [`take`] (to fill it), [`send_buffer`], [`post_send`] |
//! | receive a message in a buffer | [`recv_message`], [`recv_message_within`], [`post_recv`] |
//! | receive into memory of the program | [`recv_into`], [`recv_into_within`] |
//! | put and get | [`remote`](Endpoint::remote), which returns a [`Remote`] |
//! | wait in the program's own poll loop | [`as_fd`], [`arm`] |
//! | end the connection | [`finish`], [`close`], [`closer`] |
//! | inspect the connection | [`peer`], [`info`], which returns an [`EndpointInfo`] |
//!
//! The `post_` methods return an operation that can be waited for, polled, or awaited. The
//! `_within` methods take a timeout; if it is zero, they do not wait.
//!
//! [`send`]: Endpoint::send
//! [`send_tagged`]: Endpoint::send_tagged
//! [`try_send`]: Endpoint::try_send
//! [`post_send_object`]: Endpoint::post_send_object
//! [`recv`]: Endpoint::recv
//! [`recv_tagged`]: Endpoint::recv_tagged
//! [`recv_within`]: Endpoint::recv_within
//! [`post_recv_object`]: Endpoint::post_recv_object
//! [`send_received`]: Endpoint::send_received
//! [`send_message`]: Endpoint::send_message
//! [`try_send_message`]: Endpoint::try_send_message
//! [`scope`]: Endpoint::scope
//! [`take`]: Endpoint::take
//! [`send_buffer`]: Endpoint::send_buffer
//! [`post_send`]: Endpoint::post_send
//! [`recv_message`]: Endpoint::recv_message
//! [`recv_message_within`]: Endpoint::recv_message_within
//! [`post_recv`]: Endpoint::post_recv
//! [`recv_into`]: Endpoint::recv_into
//! [`recv_into_within`]: Endpoint::recv_into_within
//! [`as_fd`]: Endpoint::as_fd
//! [`arm`]: Endpoint::arm
//! [`finish`]: Endpoint::finish
//! [`close`]: Endpoint::close
//! [`closer`]: Endpoint::closer
//! [`peer`]: Endpoint::peer
//! [`info`]: Endpoint::info
//!
//! | module | contents |
//! |---|---|
//! | `endpoint`, `connecting`, `listener` | connections as programs use them, and making them |
//! | [`acceptor`] | accepting connections of strangers, for the layers above |
//! | [`shared`] | state that the handles of a connection share |
//! | [`sending`], [`receiving`] | states of the two directions |
//! | `direction_lock` | lock of a direction, which decides the thread that drives it and those that sleep |
//! | [`ops`], `ticket`, [`queue`] | posted operations, their handles, and queues of their completions |
//! | [`gate`] | credit of the peer, by which the layers above limit messages |
//! | [`remote`] | puts and gets |
//! | `carrier`, `progress` | threads that drive posted operations |
//! | `reactor`, `alarm`, [`timer`], `trimmer` | thread that wakes tasks, and trims pools |
//! | [`spin`] | waiting of threads before they sleep |
//! | `connection_info`, `endpoint_info` | properties of a connection: of the implementation, and as programs see them |
//!
//! The crate is an implementation detail of `jstream-transport`, which exports its public types.
//! Its own interface may change in any release.

pub mod acceptor;
mod alarm;
mod carrier;
mod closer;
pub mod codec_cache;
mod connecting;
mod connection_info;
mod counters;
pub mod described;
mod direction_lock;
mod endpoint;
mod endpoint_info;
mod exit;
pub mod gate;
mod listener;
mod message;
pub mod object;
pub mod ops;
mod outcome;
mod progress;
pub mod queue;
mod reactor;
pub mod receiving;
pub mod remote;
mod scope;
pub mod sending;
pub mod shared;
pub mod spin;
mod ticket;
pub mod timer;
mod trimmer;
mod typed;
mod unmoved;

pub use self::closer::Closer;
pub use self::connecting::{connect, connect_cheapest};
pub use self::counters::{Counters, device_counters};
pub use self::endpoint::Endpoint;
pub use self::endpoint_info::EndpointInfo;
pub use self::listener::{Incoming, Listener, listen, listen_activated, listen_all};
pub use self::message::Message;
pub use self::object::{ObjectTicket, RecvObjectError, Remains, SendObjectError, UnsentObject};
pub use self::progress::Progress;
pub use self::queue::{Completion, CompletionQueue, Next, Outcome};
pub use self::remote::{
    Exposure, GetTicket, PutTicket, Remote, RemoteError, RemoteKey, Rights, Window,
};
pub use self::scope::{Scope, ScopedTicket};
pub use self::ticket::{RecvTicket, SendTicket};
pub use self::timer::Reminder;
pub use self::unmoved::{Unreceived, Unsent};
pub use jstream_device::connection::Limits;
