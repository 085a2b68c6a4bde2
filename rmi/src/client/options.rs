//! Options of clients.

use std::time::Duration;

use jstream::Limits;
use jstream_active::Settings;
use jstream_base::Options;

use crate::client::reconnect::Reconnect;
use crate::session::{Capture, Clock, Interceptors, Secret};

/// Limits and timeouts of a client.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Limits and timeouts of the transport, and the pool into which results are received.
    pub transport: Options,
    /// Settings of the message layer, such as the flow-control window: the amount that the server
    /// may send before this side has processed it.
    pub messages: Settings,
    /// Limits for reading results, and for writing arguments (default: those of [`Limits`]).
    pub limits: Limits,
    /// Time that each call waits for its result, counted from its sending (default 60 s). A stub
    /// may have a timeout of its own, see [`Stub::within`](crate::Stub::within). `Duration::MAX`
    /// means no timeout. Protects against servers that do not answer.
    pub call_timeout: Duration,
    /// Like [`ServerOptions::max_waiting`](crate::ServerOptions::max_waiting), for objects that the
    /// client [exports](crate::Client::export) (default 1,024).
    pub max_waiting: usize,
    /// Like [`ServerOptions::max_backlog`](crate::ServerOptions::max_backlog), for objects that the
    /// client exports (default 16 MiB).
    pub max_backlog: u64,
    /// Maximum number of argument streams that the server may have open on one connection (default
    /// 256). Further calls with argument streams are refused until some have ended. Protects
    /// against peers that open more streams than memory allows.
    pub max_streams: usize,
    /// Maximum number of items of an incoming stream that are in flight or wait to be consumed
    /// (default 4,096, at most 8,191). Protects against peers that send faster than the items are
    /// consumed.
    pub stream_items: usize,
    /// Maximum number of bytes of such items (default 1 MiB, at most 64 MiB); a single frame may
    /// exceed it. Protects against large items.
    pub stream_bytes: u64,
    /// Like [`ServerOptions::lease`](crate::ServerOptions::lease), for objects that the client
    /// passes to the server (default 60 s, at least 1 s and at most 24 h).
    pub lease: Duration,
    /// Like [`ServerOptions::max_references`](crate::ServerOptions::max_references) (default
    /// 65,536).
    pub max_references: usize,
    /// If true, the client connects to the owners of objects that the server passes on (default
    /// true). Protects, if false, against peers that make the client connect to addresses of their
    /// choice.
    pub third_parties: bool,
    /// Clock for leases and deadlines.
    pub clock: Clock,
    /// Interceptors of the calls that this side makes, and of calls to objects that it
    /// [exports](crate::Client::export) (default: none).
    pub interceptors: Interceptors,
    /// Secret that is shared with the server (default: none), see
    /// [`ServerOptions::secret`](crate::ServerOptions::secret).
    pub secret: Option<Secret>,
    /// Reconnecting after a lost connection (default: those of [`Reconnect`]). `None`: calls fail
    /// once the connection is lost.
    pub reconnect: Option<Reconnect>,
    /// Capture to which the traffic of its connections is written, for debugging (default: none).
    /// Authentication takes place before the capture starts, so the capture contains no secrets.
    pub capture: Option<Capture>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            transport: Options::default(),
            messages: Settings::default(),
            limits: Limits::default(),
            call_timeout: Duration::from_secs(60),
            max_waiting: 1024,
            max_backlog: 16 << 20,
            max_streams: 256,
            stream_items: 4096,
            stream_bytes: 1 << 20,
            lease: Duration::from_secs(60),
            max_references: 65_536,
            third_parties: true,
            clock: Clock::system(),
            interceptors: Interceptors::default(),
            secret: None,
            reconnect: Some(Reconnect::default()),
            capture: None,
        }
    }
}
