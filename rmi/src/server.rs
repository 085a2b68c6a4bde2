//! Serving objects: exports, connections, and the dispatch of calls.

use std::fmt;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use jstream::Limits;
use jstream::buffer::{Pool, PoolOptions};
use jstream_transport::active::{PollGroup, Settings};
use jstream_transport::{Address, Options};

use crate::auth::Secret;
use crate::capture::Capture;
use crate::clock::Clock;
use crate::error::{BindError, ServeError};
use crate::exports::{Exports, Home};
use crate::intercept::Interceptors;
use crate::interface::{Remotable, Serves};
use crate::reference::{Export, ReferenceCounts};
use crate::reflection::Health;
use crate::reflection::{Mirror, Reflection};
use crate::registry::{Names, Registry};
use crate::workers::Workers;

mod called;
mod callee;
mod connect_throttle;
mod greeters;
mod incoming;
mod load;
mod places;
mod serving;
mod shutdown;
mod weak;

pub(crate) use called::{called, fail};
pub(crate) use callee::{Callee, callee};
pub(crate) use incoming::refuse;
pub use incoming::{Answer, Failed, Incoming};
pub(crate) use load::Load;
pub(crate) use serving::Listening;
pub use serving::Serving;
pub use shutdown::Ended;
pub use weak::WeakServer;

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
    /// Limits for reading arguments (default: those of [`Limits`]). Protects against graphs so deep
    /// that a recursive method overflows its stack.
    pub limits: Limits,
    /// Maximum number of open connections over all listeners (default 256); further ones are closed
    /// on arrival. Protects against peers that open more connections than memory and threads allow.
    pub max_connections: usize,
    /// Maximum number of connections over all listeners that are in the handshake (default 64).
    /// [`Options::handshake_timeout`] and [`Settings::handshake_timeout`] limit its duration. If
    /// there are more, or if [`max_connections`](Self::max_connections) is reached, the oldest one
    /// of the source that has most of them is closed as soon as it has had 100 ms. Connections over
    /// `inproc` and `sim` cannot be closed in this way: there, the new connection is closed.
    /// Protects against peers that open connections and stay silent, each of which occupies a
    /// thread until the timeout.
    pub max_greeting: usize,
    /// Maximum number of connections in the handshake per source (default 32). A source is an IPv4
    /// address, including loopback addresses; the /64 network of an IPv6 address; all peers over
    /// `uds`; or all peers over `shm`. If there are more, the oldest of that source is closed.
    /// Protects against one host that occupies the places of all others.
    pub max_greeting_per_source: usize,
    /// Maximum rate of failed connections per second and listener (default 500, with a burst of
    /// 128). A connection fails if its peer does not complete the handshake, or if it ends without
    /// a call. If the limit is reached, further connections are accepted at this rate. Protects
    /// against peers that connect repeatedly, which costs more than calls do.
    pub max_failed_connections_per_second: u32,
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
    /// fetched. Protects against peers that call without reading the answers.
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
    /// deeply.
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
            max_greeting: 64,
            max_greeting_per_source: 32,
            max_failed_connections_per_second: 500,
            first_call_timeout: Duration::from_secs(30),
            max_waiting: 1024,
            max_waiting_in_all: 16 << 10,
            max_backlog: 16 << 20,
            max_streams: 256,
            stream_items: 4096,
            stream_bytes: 1 << 20,
            threads: threads(),
            workers: Workers::threads(threads()),
            call_timeout: Duration::from_secs(60),
            max_name: 256,
            reflects: true,
            lease: Duration::from_secs(60),
            max_references: 65_536,
            third_parties: false,
            clock: Clock::system(),
            interceptors: Interceptors::default(),
            secret: None,
            capture: None,
        }
    }
}

/// A server, which exports objects under names. Cheap to clone; clones export the same objects. An
/// object that is bound to a server and needs access to it should hold a [`WeakServer`].
#[derive(Clone)]
pub struct Server {
    exports: Arc<Exports>,
    options: ServerOptions,
    load: Arc<Load>,
}

impl Default for Server {
    fn default() -> Self {
        Self::new(ServerOptions::default())
    }
}

impl Server {
    /// Creates a server with custom options.
    #[must_use]
    pub fn new(options: ServerOptions) -> Self {
        let load = Arc::new(Load::default());
        let home = Arc::new(Home::new(options.workers.tasks().clone()));
        let exports = Arc::new_cyclic(|exports| {
            let names = Arc::new(Names {
                exports: exports.clone(),
            });
            let registry = Serves::<dyn Registry>::exported(names, &home);
            let reflection = options.reflects.then(|| {
                let mirror = Arc::new(Mirror {
                    exports: exports.clone(),
                    load: load.clone(),
                });
                Serves::<dyn Reflection>::exported(mirror, &home)
            });
            // The registry and the reflection are not objects of the program.
            home.counts.exports.store(0, Ordering::Relaxed);
            Exports::new(home.clone(), registry, reflection)
        });
        Self {
            exports,
            options,
            load,
        }
    }

    pub(crate) fn exports(&self) -> &Arc<Exports> {
        &self.exports
    }

    /// Binds an object to a name under which clients find it. The object is an `Arc` of a type that
    /// implements the trait `T`, or an [`Exclusive`](crate::Exclusive) if its methods take `&mut
    /// self`.
    ///
    /// # Errors
    ///
    /// [`BindError`] if the name is taken or too long.
    pub fn bind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.check_name(name)?;
        let object = object.exported(self.exports.home());
        self.exports.bind(name, object, false)
    }

    /// Binds an object to a name, and replaces the object that was bound to it, if any.
    ///
    /// # Errors
    ///
    /// [`BindError`] if the name is too long.
    pub fn rebind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.check_name(name)?;
        let object = object.exported(self.exports.home());
        self.exports.bind(name, object, true)
    }

    /// Unbinds a name, and returns true if an object was bound to it. Running calls of the object
    /// complete; further calls fail.
    #[must_use = "returns false if nothing was bound to the name"]
    pub fn unbind(&self, name: &str) -> bool {
        self.exports.unbind(name)
    }

    /// Exports an object without a name. Calls pass [references](crate::Remote) to it over any
    /// connection, even if the program does not listen.
    pub fn export<T: Remotable + ?Sized>(&self, object: impl Serves<T>) -> Export<T> {
        Export::new(object.exported(self.exports.home()))
    }

    /// Returns the state and the counters of the server, as its [reflection](crate::Reflection)
    /// reports them.
    #[must_use]
    pub fn health(&self) -> Health {
        self.load.health(self.exports.names().len() as u64)
    }

    /// Returns the numbers of exported objects and of references to them.
    #[must_use]
    pub fn references(&self) -> ReferenceCounts {
        ReferenceCounts::of(&self.exports.home().counts)
    }

    /// Accepts connections at `address` until the returned handle is dropped or stopped.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if listening at the address fails.
    pub fn listen(&self, address: &Address) -> Result<Serving, ServeError> {
        self.listen_all(slice::from_ref(address))
    }

    /// Accepts connections at several addresses at once, so that each client can choose the
    /// cheapest one that works for it. Limits of [`ServerOptions`] over all connections apply to
    /// all addresses and listeners together.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if listening at one of the addresses fails. In this case, the server listens
    /// at none of them.
    pub fn listen_all(&self, addresses: &[Address]) -> Result<Serving, ServeError> {
        let group = Arc::new(PollGroup::new(self.options.transport.spin));
        self.start(addresses, group, true)
    }

    /// Accepts connections into a poll group that the caller serves.
    pub(crate) fn listen_in(
        &self,
        address: &Address,
        group: Arc<PollGroup>,
    ) -> Result<Serving, ServeError> {
        self.start(slice::from_ref(address), group, false)
    }

    fn start(
        &self,
        addresses: &[Address],
        group: Arc<PollGroup>,
        has_threads: bool,
    ) -> Result<Serving, ServeError> {
        let server = (self.exports.clone(), self.load.clone());
        Serving::start(server, &self.options, addresses, group, has_threads)
    }

    fn check_name(&self, name: &str) -> Result<(), BindError> {
        let max = self.options.max_name;
        if name.len() > max {
            return Err(BindError::TooLong {
                len: name.len(),
                max,
            });
        }
        Ok(())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("exports", &self.exports)
            .finish_non_exhaustive()
    }
}
