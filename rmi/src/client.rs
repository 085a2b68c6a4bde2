//! A connection to a server.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jstream::Limits;
use jstream_transport::active::{Handlers, Serving, Settings, ThreadPool, WeakPeer};
use jstream_transport::{Address, Options};

use crate::auth::Secret;
use crate::capture::Capture;
use crate::client_lane::connect_lane;
use crate::clock::Clock;
use crate::error::{ConnectError, LookupError, shown};
use crate::intercept::Interceptors;
use crate::interface::{Remotable, Stub};
use crate::object::{Object, ObjectPlace};
use crate::reference::Import;
use crate::reference::claim;
use crate::reflection::{Described, REFLECTION, ReflectionStub};
use crate::registry::{Found, REGISTRY, RegistryStub};
use crate::server::Server;
use crate::session::{Claim, Connection, Terms, handlers, max_result_streams};
use crate::stream::Window;
use crate::workers::MOST_WAITING;

/// Limits and timeouts of a client.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Limits and timeouts of the transport, and the pool into which results are received.
    pub transport: Options,
    /// Settings of the message layer, such as the flow-control window: the amount that the server
    /// may send before this side has processed it.
    pub messages: Settings,
    /// Limits for reading results (default: those of [`Limits`]).
    pub limits: Limits,
    /// Time that each call waits for its result, counted from its sending (default 60 s). A stub
    /// may have a timeout of its own, see [`Stub::within`]. `Duration::MAX` means no timeout.
    /// Protects against servers that do not answer.
    pub call_timeout: Duration,
    /// Like [`ServerOptions::max_waiting`](crate::ServerOptions::max_waiting), for objects that the
    /// client [exports](Client::export) (default 1,024).
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
    /// [exports](Client::export) (default: none).
    pub interceptors: Interceptors,
    /// Secret that is shared with the server (default: none), see
    /// [`ServerOptions::secret`](crate::ServerOptions::secret).
    pub secret: Option<Secret>,
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
            capture: None,
        }
    }
}

/// Returns the handlers of all clients of this process.
fn of_clients() -> &'static Handlers {
    static HANDLERS: OnceLock<Handlers> = OnceLock::new();
    HANDLERS.get_or_init(|| handlers(Arc::new(ThreadPool::new(MOST_WAITING))))
}

/// Connects to a server.
pub(crate) fn connect(
    address: &Address,
    options: &ClientOptions,
) -> Result<Connection, ConnectError> {
    let terms = Terms {
        limits: options.limits,
        time: options.call_timeout,
        max_waiting: options.max_waiting,
        max_waiting_in_all: usize::MAX,
        max_backlog: options.max_backlog,
        window: Window::of(options.stream_items, options.stream_bytes),
        max_streams: options.max_streams,
        max_result_streams: max_result_streams(&options.messages),
        lease: options.lease,
        max_references: options.max_references,
        third_parties: options.third_parties.then_some(claim as Claim),
        clock: options.clock.clone(),
        interceptors: options.interceptors.clone(),
        secret: options.secret.clone(),
        capture: options.capture.as_ref().map(|to| to.connection(true)),
    };
    let route = (address, &options.transport, &options.messages);
    Connection::connect(route, terms, of_clients(), |lane, main| {
        connect_lane(lane, main, of_clients())
    })
}

/// A connection to a server. Cheap to clone. The connection ends with the last clone, stub and
/// call; calls that were sent but not awaited may then not run.
///
/// Calls with 256 KiB of arguments or more use a second connection, so that other calls need not
/// wait for them. It is opened for the first such call and counts towards the server's
/// [limit](crate::ServerOptions::max_connections). These calls may start before or after calls that
/// were sent at the same time. If the server has no room for a second connection, they share the
/// first one. Large results use the second connection, too, once a large result has arrived while
/// other calls were in flight.
///
/// Both sides may call: a client [exports](Self::export) objects, and a method reaches them through
/// the [caller](crate::Context::caller) of its context. While a thread waits for a call, it serves
/// calls from the other side, so methods may call each other back. [`Settings::nesting`] limits the
/// depth.
#[derive(Clone)]
pub struct Client {
    connection: Connection,
    time: Duration,
}

impl Client {
    /// Connects with default options.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] if no server listens at the address, or if it does not speak this protocol.
    pub fn connect(address: &Address) -> Result<Self, ConnectError> {
        Self::connect_with(address, &ClientOptions::default())
    }

    /// Connects with custom options.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub fn connect_with(address: &Address, options: &ClientOptions) -> Result<Self, ConnectError> {
        connect(address, options).map(Self::of)
    }

    pub(crate) fn of(connection: Connection) -> Self {
        let time = connection.session().terms.time;
        Self { connection, time }
    }

    /// Returns a stub of the object that the server has bound to a name.
    ///
    /// # Errors
    ///
    /// [`LookupError`] if nothing is bound to the name, if the object has another interface, or if
    /// the call of the registry fails.
    pub fn lookup<T: Remotable + ?Sized>(&self, name: &str) -> Result<T::Stub, LookupError> {
        let interface = T::interface();
        match self.named(name, interface.id())? {
            Ok(import) => Ok(T::Stub::new(self.object(ObjectPlace::Import(import)))),
            Err(found) => Err(LookupError::OtherInterface {
                name: name.to_owned(),
                expected: interface.differs_from(&found),
                found: shown(&found),
            }),
        }
    }

    /// Looks up a name. If the object has another interface, returns the description of that
    /// interface.
    fn named(
        &self,
        name: &str,
        interface: u64,
    ) -> Result<Result<Arc<Import>, String>, LookupError> {
        let unknown = || LookupError::Unknown {
            name: name.to_owned(),
        };
        let found = self.registry().lookup(name, interface).wait()?;
        match *found.get() {
            Found::Object { number } => {
                let references = self.connection.references();
                let import = references.enter(&self.connection, number, None);
                Ok(Ok(import.ok_or_else(unknown)?))
            }
            Found::Unknown => Err(unknown()),
            Found::Other(found) => Ok(Err(found.to_owned())),
        }
    }

    /// Returns the server's registry.
    #[must_use]
    pub fn registry(&self) -> RegistryStub {
        RegistryStub::new(self.own(REGISTRY))
    }

    /// Returns the reflection of the server: the bound names, their methods, and the health of the
    /// server. If the server [does not allow reflection](crate::ServerOptions::reflects), its calls
    /// fail with [`CallError::UnknownObject`](crate::CallError::UnknownObject).
    #[must_use]
    pub fn reflection(&self) -> ReflectionStub {
        ReflectionStub::new(self.own(REFLECTION))
    }

    /// Returns the object that the server has bound to a name, with its interface as described by
    /// the server. Meant for programs that do not have the trait.
    ///
    /// # Errors
    ///
    /// [`LookupError`] if nothing is bound to the name, or if a call to the server fails.
    pub fn describe(&self, name: &str) -> Result<Described, LookupError> {
        let unknown = || LookupError::Unknown {
            name: name.to_owned(),
        };
        let description = self.reflection().describe(name).wait()?.into_received();
        let id = description.get().map(|described| described.id);
        let import = self.named(name, id.ok_or_else(unknown)?)?;
        // The object may have been replaced after it was described.
        let import = import.map_err(|_| unknown())?;
        Described::new(self.object(ObjectPlace::Import(import)), description).ok_or_else(unknown)
    }

    /// Serves calls from the other side until the connection ends.
    pub fn serve(&self) {
        self.connection.peer().serve();
    }

    /// Starts a thread that serves calls from the other side until its handle is dropped.
    ///
    /// The thread also handles references that the other side releases. Without it, they are
    /// handled by the next call.
    ///
    /// # Errors
    ///
    /// The error of the operating system if the thread cannot be started.
    pub fn start(&self) -> io::Result<Serving> {
        self.connection.peer().start()
    }

    /// Waits, as a task, until the other side accepts a call with `bytes` bytes of arguments at
    /// once, or the connection has ended. Calls need not wait for this, because they are
    /// [queued](crate::Call). [One-way](crate::remote) methods should, because they would block
    /// until then.
    pub async fn ready(&self, bytes: usize) {
        // If the connection has ended, the next call returns the error.
        let _ = self.connection.peer().ready(bytes).await;
    }

    /// Ends the connection. Calls in flight fail on both sides.
    pub fn close(&self) {
        self.connection.close();
    }

    /// Returns the number of objects of the server to which this side holds stubs or references.
    #[must_use]
    pub fn references(&self) -> usize {
        self.connection.references().imports.count().0
    }

    /// Returns a weak handle, which does not keep the connection open.
    #[must_use]
    pub fn downgrade(&self) -> WeakClient {
        WeakClient {
            peer: self.connection.peer().downgrade(),
            time: self.time,
        }
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the object with a fixed number that each server has.
    fn own(&self, number: u32) -> Object {
        self.object(ObjectPlace::Own(self.connection.clone(), number))
    }

    fn object(&self, place: ObjectPlace) -> Object {
        Object::new(place, self.time)
    }
}

/// A weak handle of a connection to a server. Objects that a client [exports](Client::export) use
/// it to refer to the connection without forming a reference cycle.
///
/// ```
/// use jstream_rmi::{Client, Server, WeakClient, remote};
/// use std::sync::{Arc, OnceLock};
///
/// #[remote]
/// trait Listener {
///     fn heard(&self, what: &str);
/// }
///
/// struct Plain(WeakClient);
///
/// impl Listener for Plain {
///     fn heard(&self, _: &str) {}
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::default();
/// let serving = server.listen(&"inproc://doc-weak-client".parse()?)?;
/// let client = Client::connect(serving.address())?;
/// let listener = Arc::new(Plain(client.downgrade()));
/// let own = Server::default();
/// own.bind::<dyn Listener>("listener", listener.clone())?;
/// assert!(client.export(&own));
/// assert!(listener.0.upgrade().is_some());
/// // This drops the last handle, so the connection ends.
/// drop(client);
/// # while listener.0.upgrade().is_some() {}
/// assert!(listener.0.upgrade().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WeakClient {
    peer: WeakPeer,
    time: Duration,
}

impl WeakClient {
    /// Returns the connection if another handle still keeps it open.
    #[must_use]
    pub fn upgrade(&self) -> Option<Client> {
        let connection = Connection::of(self.peer.upgrade()?);
        Some(Client {
            connection,
            time: self.time,
        })
    }
}

impl fmt::Debug for WeakClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakClient").finish_non_exhaustive()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Objects that the server of the connection may call.
impl Client {
    /// Exports the objects of a server to the other side of this connection, too. Returns false if
    /// objects were exported before.
    ///
    /// Threads that wait for a call of this connection serve incoming calls. A program that does
    /// not wait for calls must call [`serve`](Self::serve) or [`start`](Self::start).
    #[must_use = "returns false if the objects were not exported"]
    pub fn export(&self, objects: &Server) -> bool {
        self.connection.export(objects.exports().clone())
    }
}
