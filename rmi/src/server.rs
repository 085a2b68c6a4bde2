//! Serving objects: exports, connections, and the dispatch of calls.

use std::fmt;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use jstream::Limits;
use jstream::buffer::{Pool, PoolOptions};
use jstream_transport::active::{Bundle, Settings};
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
mod greeters;
mod incoming;
mod load;
mod serving;
mod shutdown;
mod vain;
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

/// What a server accepts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The transport's limits and time-outs, and the pool that arguments are received into, here one of 1 GiB. That is the
    /// limit of the bytes that are received and not done with, over all connections: while the pool is used up nothing more
    /// is received. Answers the threat of many peers who each stay within their window, which
    /// [`messages`](Self::messages) says.
    pub transport: Options,
    /// How much a client may ask before its calls are done with, and what else there is to say about messages.
    pub messages: Settings,
    /// What is accepted as arguments (default: as [`Limits`]). Answers the
    /// threat of graphs so deep that a method which recurses over them overflows its stack.
    pub limits: Limits,
    /// Connections at once, of all listeners (default 256); further ones are closed as they come. Answers the threat
    /// of peers who open more than we have memory and threads for.
    pub max_connections: usize,
    /// Connections of all listeners that have not yet said who they are (default 64). They have
    /// [`Options::handshake_timeout`] and [`Settings::handshake_timeout`] for that; if there are more, or no place for
    /// another connection is left, the oldest of them is closed, once it has had 100 ms. Over `inproc` and `sim` none can
    /// be, and the one that comes is closed. Answers the threat of peers who open connections and are silent, each of which
    /// takes a thread for so long.
    pub max_greeting: usize,
    /// The same for each source (default 32): an IPv4 address, loopback too, the /64 network of an IPv6 address, and all
    /// peers by `uds`, or by `shm`. If there are more, the oldest of that source is closed. Answers the threat of one host
    /// that takes the places of all others.
    pub max_greeting_per_source: usize,
    /// Connections a second, of each listener, that come to nothing (default 500, and 128 at once): those who are no peers,
    /// or end without a call. While there are more, further connections are accepted at that rate. Answers the threat of
    /// peers who connect again and again, as that costs more than calls do.
    pub max_vain: u32,
    /// How long a connection may be open before its first call (default 30 s). Answers the threat
    /// of peers who open connections and leave them. A client looks something up at once, and may
    /// then be idle for as long as it likes.
    pub first_call_timeout: Duration,
    /// Async methods that wait at once for one connection (default 1,024); further calls are refused
    /// until some have ended. As many calls again may be held for objects that other calls are to give. Answers the threat
    /// of peers who have more wait than we have memory for.
    pub max_waiting: usize,
    /// The same for all connections together (default 16,384), of which each may always have one. Answers the threat of
    /// many peers who each stay within theirs.
    pub max_waiting_in_all: usize,
    /// How many bytes of answers a client may leave unread (default 16 MiB), and one answer more for each thread: until it
    /// has read some, further calls of it wait, in the order in which they came. They are as many as its window allows.
    /// Answers the threat of peers who call and don't read, so that we keep the answers.
    /// As much again of large results may wait to be fetched.
    pub max_backlog: u64,
    /// Streams at once that come as arguments, of one connection (default 256); further calls with such are refused
    /// until some have ended. Answers the threat of peers who open more than we have memory for.
    pub max_streams: usize,
    /// How many items of a stream that comes may be on their way or wait to be taken (default 4,096, at most 8,191).
    /// Answers the threat of peers that send faster than the items are taken.
    pub stream_items: usize,
    /// How many bytes such items may have (default 1 MiB, at most 64 MiB); one frame alone may exceed it. Answers the
    /// same threat with large items.
    pub stream_bytes: u64,
    /// How many threads receive and run methods (default: as many as there are processors, and two at least). While a
    /// method computes for long, the others go on; with one alone all connections wait for it. While methods keep all
    /// of them for long, up to 16 more are started.
    pub threads: usize,
    /// Where methods go on that have waited, and those run that can't be nested deeper.
    pub workers: Workers,
    /// How long calls wait that methods make of their [callers](crate::Context::caller) (default 60 s), as
    /// [`ClientOptions::call_timeout`](crate::ClientOptions::call_timeout).
    pub call_timeout: Duration,
    /// The longest name in bytes (default 256).
    pub max_name: usize,
    /// Whether clients may ask what is served, and how the server is (default yes): see
    /// [`Client::reflection`](crate::Client::reflection). The names and interfaces are no secret to who may call.
    pub reflects: bool,
    /// How long a client has references to objects without saying so (default 60 s): its connection says so at half
    /// time, for all of them at once. At least 1 s and at most 24 h: shorter and longer values count as these, also where a
    /// client says them of its own objects. Answers the threat of clients that are gone, and whose connections don't end,
    /// and of peers who would have leases renewed without a pause.
    pub lease: Duration,
    /// References to objects, and names that were looked up, of one connection (default 65,536), in each direction.
    /// Answers the threat of peers who have more than we have memory for.
    pub max_references: usize,
    /// Whether the server connects to the owners of objects that clients pass on (default false). Answers the threat of
    /// peers who have it connect to places of their choice.
    pub third_parties: bool,
    /// What time it is for leases, deadlines, and connections that are not used.
    pub clock: Clock,
    /// What sees each call before and after it (default: none).
    pub interceptors: Interceptors,
    /// What clients have to know before they may do anything (default: nothing), which they prove without saying it, and
    /// the server to them. Connections that have not count among those that are [greeted](Self::max_greeting), and
    /// have [`Settings::handshake_timeout`] for it. Answers the threat of those who may not call.
    pub secret: Option<Secret>,
    /// Where what its connections carry is written to, for who looks for what is wrong (default: nowhere). Secrets are
    /// proved before, and are not in it.
    pub capture: Option<Capture>,
}

/// One for each processor, and two at least.
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
            max_vain: 500,
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

/// Exports objects under names. Cheap to clone; clones export the same objects. An object that is bound to a server and needs
/// it has a [`WeakServer`].
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
    /// A server with limits of one's own.
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
            // They are not the program's.
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

    /// Binds an object to a name under which clients find it: an `Arc` of what implements the trait `T`
    /// names, or an [`Exclusive`](crate::Exclusive) where its methods take `&mut self`.
    ///
    /// # Errors
    ///
    /// [`BindError`] when the name is taken or too long.
    pub fn bind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.check_name(name)?;
        let object = object.exported(self.exports.home());
        self.exports.bind(name, object, false)
    }

    /// Binds an object to a name, in the place of what was bound to it.
    ///
    /// # Errors
    ///
    /// [`BindError`] when the name is too long.
    pub fn rebind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.check_name(name)?;
        let object = object.exported(self.exports.home());
        self.exports.bind(name, object, true)
    }

    /// Frees a name; says whether something was bound to it. Calls to the object fail from then
    /// on, but for those that run.
    #[must_use = "says whether something was bound to the name"]
    pub fn unbind(&self, name: &str) -> bool {
        self.exports.unbind(name)
    }

    /// Exports an object without a name: [references](crate::Remote) to it are passed to others by calls, over whatever
    /// connection, also by a program that serves nothing else.
    pub fn export<T: Remotable + ?Sized>(&self, object: impl Serves<T>) -> Export<T> {
        Export::new(object.exported(self.exports.home()))
    }

    /// How the server is, and how its calls ran, as its [reflection](crate::Reflection) says it to others.
    #[must_use]
    pub fn health(&self) -> Health {
        self.load.health(self.exports.names().len() as u64)
    }

    /// How many objects are exported, and what others have of them.
    #[must_use]
    pub fn references(&self) -> ReferenceCounts {
        ReferenceCounts::of(&self.exports.home().counts)
    }

    /// Accepts connections at `address` until the returned handle is dropped or told to stop.
    ///
    /// # Errors
    ///
    /// [`ServeError`] when the address can't be listened on.
    pub fn listen(&self, address: &Address) -> Result<Serving, ServeError> {
        self.listen_all(slice::from_ref(address))
    }

    /// The same at several addresses at once, so that each client can choose the cheapest that works for it. What the
    /// [options](ServerOptions) say of all connections counts for those of all addresses and listeners together.
    ///
    /// # Errors
    ///
    /// [`ServeError`] when one of the addresses can't be listened on; then it listens nowhere.
    pub fn listen_all(&self, addresses: &[Address]) -> Result<Serving, ServeError> {
        let bundle = Arc::new(Bundle::new(self.options.transport.spin));
        Serving::start(self, addresses, bundle, true)
    }

    /// The same, in a bundle that somebody serves.
    pub(crate) fn listen_in(
        &self,
        address: &Address,
        bundle: Arc<Bundle>,
    ) -> Result<Serving, ServeError> {
        Serving::start(self, slice::from_ref(address), bundle, false)
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
