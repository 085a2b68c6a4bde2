//! Limits and settings of a server.

use std::thread;
use std::time::Duration;

use jstream::Limits;
use jstream::buffer::{Pool, PoolOptions};
use jstream_active::Settings;
use jstream_base::Options;

use crate::server::workers::Workers;
use crate::session::{AdmissionOptions, Capture, Clock, Interceptors, Secret};

/// Limits and settings of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Limits and timeouts of the transport, and the pool into which arguments are received, here
    /// with a limit of 1 GiB. The pool limits the number of bytes of unprocessed messages over all
    /// connections: while it is used up, nothing more is received. Protects against many peers that
    /// each stay within their flow-control window ([`messages`](Self::messages)).
    pub transport: Options,
    /// Settings of the message layer, such as the flow-control window: the amount that a client may
    /// send before the server has processed it.
    pub messages: Settings,
    /// Limits for reading arguments, and for writing results (default: those of [`Limits`]).
    /// Protects against graphs so deep that a recursive method overflows its stack.
    pub limits: Limits,
    /// Maximum number of open connections over all listeners (default 256). A source may have up to
    /// eight times as many connections as there are free places, so one source may have nearly all
    /// of the places, but not the last ones. If there is no place for a connection, an old one is
    /// closed that holds no reference, exported object, stream or call; if there is none, the new
    /// connection is refused: its client gets a [`ConnectError`](crate::ConnectError) that states
    /// the limit. A source is an IPv4 address, including loopback addresses; the /64 network
    /// of an IPv6 address; all peers over `uds`; or all peers over `shm`. Protects against peers
    /// that open more connections than memory and threads allow.
    pub max_connections: usize,
    /// Maximum number of connections per source, over all listeners (default: no limit besides
    /// [`max_connections`](Self::max_connections), which defines sources). A client has up to two
    /// connections. Further connections are refused: their clients get a
    /// [`ConnectError`](crate::ConnectError) that states the limit. Protects against one host that
    /// occupies the places of all others.
    pub max_connections_per_source: usize,
    /// Maximum number of connections per listener that are in the handshake (default 256), which
    /// are not among the open ones. All listeners of a process together have at most a quarter of
    /// its file descriptors for them. If there are more, the oldest one is closed at once of the
    /// source that has most of them. Connections that have sent a complete greeting are not closed
    /// for others that are silent, unless they are the majority. Protects against peers that open
    /// connections and stay silent: they have the time for a handshake only until others come.
    pub max_greeting: usize,
    /// Time within which a new connection must make its first call (default 30 s). Afterwards, it
    /// may be idle for any time. A client makes a lookup at once. Protects against peers that open
    /// connections and do not use them.
    pub first_call_timeout: Duration,
    /// Maximum number of suspended async methods per connection (default 1,024). Further calls are
    /// refused until some have ended. The same number of calls may additionally be held because
    /// their objects are the results of other calls. Protects against peers that keep more methods
    /// suspended than memory allows.
    pub max_waiting: usize,
    /// Maximum number of suspended async methods over all connections (default 16,384). Each
    /// connection may always have one. Protects against many peers that each stay within their own
    /// limit.
    pub max_waiting_in_all: usize,
    /// Maximum number of bytes of answers that a client may leave unread (default 16 MiB), plus one
    /// answer per thread. If the limit is reached, further calls of the client are deferred, in
    /// order of arrival, until it has read some answers. The flow-control window limits the number
    /// of these calls. The same number of bytes of large results may additionally wait to be
    /// fetched. [`Settings::max_backlog_in_all`] is the limit for all clients together. Protects
    /// against peers that call without reading the answers.
    pub max_backlog: u64,
    /// Maximum number of open argument streams per connection (default 256). Further calls with
    /// argument streams are refused until some have ended. Protects against peers that open more
    /// streams than memory allows.
    pub max_streams: usize,
    /// Maximum number of items of an incoming stream that are in flight or wait to be consumed
    /// (default 4,096, at most 8,191). Protects against peers that send faster than the items are
    /// consumed.
    pub stream_items: usize,
    /// Maximum number of bytes of such items (default 1 MiB, at most 64 MiB); a single frame may
    /// exceed it. Protects against large items.
    pub stream_bytes: u64,
    /// Number of threads that receive calls and run methods (default: the number of processors, at
    /// least 2). While a method computes for long, the other threads take over; with a single
    /// thread, all connections wait. While methods occupy all threads for long, up to 16 more are
    /// started.
    pub threads: usize,
    /// Executor on which suspended methods resume, and on which calls run that are nested too
    /// deeply (default: the runtime of tokio in which the server starts listening, with the feature
    /// `tokio`, or else a pool).
    pub workers: Workers,
    /// Timeout of calls that methods make to their [callers](crate::Context::caller) (default 60
    /// s), see [`ClientOptions::call_timeout`](crate::ClientOptions::call_timeout).
    pub call_timeout: Duration,
    /// Maximum length of a name in bytes (default 256).
    pub max_name: usize,
    /// If true, clients may ask for the interfaces and the health of the server (default true), see
    /// [`Client::reflection`](crate::Client::reflection). This reveals the names and interfaces to
    /// everyone who may call.
    pub reflects: bool,
    /// Time for which a client may hold references to objects without renewing them (default 60 s,
    /// at least 1 s and at most 24 h). The client's connection renews all of them together at half
    /// of this time. Values out of range are clamped, also those that a client states for its own
    /// objects. Protects against clients that have vanished without closing their connections, and
    /// against peers that demand renewals continually.
    pub lease: Duration,
    /// Maximum number of references to objects per connection, including looked-up names, in each
    /// direction (default 65,536). Protects against peers that hold more references than memory
    /// allows.
    pub max_references: usize,
    /// If true, the server connects to the owners of objects that clients pass on (default false).
    /// Protects, if false, against peers that make the server connect to addresses of their choice.
    pub third_parties: bool,
    /// Limits of the calls that run at once and wait, and quotas of the callers (default: none).
    pub admission: AdmissionOptions,
    /// Clock for leases, deadlines and idle connections.
    pub clock: Clock,
    /// Interceptors of calls (default: none).
    pub interceptors: Interceptors,
    /// Secret that clients must know (default: none). Client and server prove to each other that
    /// they know it, without sending it. Until then, a connection counts as [in the
    /// handshake](Self::max_greeting), and [`Settings::handshake_timeout`] limits each step.
    /// Protects against unauthorized callers.
    pub secret: Option<Secret>,
    /// Capture to which the traffic of its connections is written, for debugging (default: none).
    /// Authentication takes place before the capture starts, so the capture contains no secrets.
    pub capture: Option<Capture>,
}

/// Returns the default number of threads: one per processor, at least two.
fn threads() -> usize {
    thread::available_parallelism().map_or(2, |count| count.get().max(2))
}

impl Default for ServerOptions {
    fn default() -> Self {
        let mut pool = PoolOptions::default();
        pool.max_mapped = 1 << 30;
        Self {
            transport: Options::new(Pool::new(pool)),
            messages: Settings::default(),
            limits: Limits::default(),
            max_connections: 256,
            max_connections_per_source: usize::MAX,
            max_greeting: 256,
            first_call_timeout: Duration::from_secs(30),
            max_waiting: 1024,
            max_waiting_in_all: 16 << 10,
            max_backlog: 16 << 20,
            max_streams: 256,
            stream_items: 4096,
            stream_bytes: 1 << 20,
            threads: threads(),
            workers: Workers::default(),
            call_timeout: Duration::from_secs(60),
            max_name: 256,
            reflects: true,
            lease: Duration::from_secs(60),
            max_references: 65_536,
            third_parties: false,
            admission: AdmissionOptions::default(),
            clock: Clock::system(),
            interceptors: Interceptors::default(),
            secret: None,
            capture: None,
        }
    }
}
