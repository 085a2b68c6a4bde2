//! Endpoints: connections as programs use them.
//!
//! An [`Endpoint`] adds to a connection of a device: any number of threads and tasks that use it at
//! once, posted operations, queues of completions, puts and gets, and objects.
//!
//! | module | contents |
//! |---|---|
//! | `endpoint`, `connecting`, `listener` | connections as programs use them, and making them |
//! | [`shared`] | state that the handles of a connection share |
//! | [`sending`], [`receiving`] | states of the two directions |
//! | `direction_lock` | lock of a direction, which decides the thread that drives it and those that sleep |
//! | [`ops`], `ticket`, [`queue`] | posted operations, their handles, and queues of their completions |
//! | [`gate`] | credit of the peer, by which the layers above limit messages |
//! | [`remote`] | puts and gets |
//! | `carrier`, `progress` | threads that drive posted operations |
//! | `reactor`, `alarm`, [`timer`], `timers` | thread that wakes tasks |
//! | [`spin`], [`parker`] | waiting of threads |
//! | `connection_info` | properties of a connection that do not change |
//!
//! The crate is an implementation detail of `jstream-transport`, which exports its public types.
//! Its own interface may change in any release.

mod alarm;
mod carrier;
mod closer;
pub mod codec_cache;
mod connecting;
mod connection_info;
mod counters;
mod direction_lock;
mod endpoint;
pub mod gate;
mod listener;
mod message;
pub mod object;
pub mod ops;
mod outcome;
pub mod parker;
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
mod timers;
mod typed;
mod unmoved;

pub use self::closer::Closer;
pub use self::connecting::{connect, connect_cheapest};
pub use self::counters::{Counters, device_counters};
pub use self::endpoint::Endpoint;
pub use self::listener::{Cutter, Incoming, Listener, listen, listen_all};
pub use self::message::Message;
pub use self::object::{ObjectTicket, RecvObjectError, Remains, SendObjectError, UnsentObject};
pub use self::progress::Progress;
pub use self::queue::{Completion, CompletionQueue, Next, Outcome};
pub use self::remote::{Exposure, GetTicket, PutTicket, RemoteError, RemoteKey, Rights, Window};
pub use self::scope::{Scope, ScopedTicket};
pub use self::ticket::{RecvTicket, SendTicket};
pub use self::timer::Reminder;
pub use self::unmoved::{Unreceived, Unsent};
pub use jstream_device::connection::Limits;
