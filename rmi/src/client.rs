//! A connection to a server.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jstream::Limits;
use jstream_transport::active::{Serving, Settings, WeakPeer};
use jstream_transport::{Address, Options};

use crate::auth::Secret;
use crate::capture::Capture;
use crate::clock::Clock;
use crate::error::{ConnectError, LookupError, shown};
use crate::intercept::Interceptors;
use crate::interface::{Remotable, Stub};
use crate::object::{Object, Place};
use crate::reference::Import;
use crate::reflection::{Described, REFLECTION, ReflectionStub};
use crate::registry::{Found, REGISTRY, RegistryStub};
use crate::server::Server;
use crate::session::{Connection, Terms, max_result_streams};
use crate::stream::Window;

/// What a client accepts, and how long it waits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The transport's limits and time-outs, and the pool that results are received into.
    pub transport: Options,
    /// How much the server may ask of this side before it is done with that, and what else there is to say about the
    /// messages of both.
    pub messages: Settings,
    /// What is accepted as a result (default: as [`Limits`]).
    pub limits: Limits,
    /// How long each call waits for its result, from its sending on (default 60 s); a stub may have a
    /// time of its own, see [`Stub::within`]. `Duration::MAX` is for ever. Answers the threat of servers
    /// that don't.
    pub call_timeout: Duration,
    /// As [`ServerOptions::max_waiting`](crate::ServerOptions::max_waiting), for objects that the client
    /// [exports](Client::export).
    pub max_waiting: usize,
    /// As [`ServerOptions::max_backlog`](crate::ServerOptions::max_backlog), for the same.
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
    /// As [`ServerOptions::lease`](crate::ServerOptions::lease), for objects that the client passes to the server
    /// (default 60 s, at least 1 s and at most 24 h).
    pub lease: Duration,
    /// As [`ServerOptions::max_references`](crate::ServerOptions::max_references) (default 65,536).
    pub max_references: usize,
    /// Whether the client connects to the owners of objects that the server passes on (default true). Answers the threat
    /// of peers who have it connect to places of their choice.
    pub third_parties: bool,
    /// What time it is for leases and deadlines.
    pub clock: Clock,
    /// What sees the calls that this side makes, and those of objects that it [exports](Client::export) (default: none).
    pub interceptors: Interceptors,
    /// What the server asks for, and has to know itself (default: nothing), see
    /// [`ServerOptions::secret`](crate::ServerOptions::secret).
    pub secret: Option<Secret>,
    /// Where what its connections carry is written to, for who looks for what is wrong (default: nowhere). Secrets are
    /// proved before, and are not in it.
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

/// A connection to a server. Cheap to clone; the connection ends with the last clone, stub and
/// call. Calls that were sent and not waited for may then not run.
///
/// Calls with many bytes of arguments (256 KiB) go by a second connection, which is made for the first of them, and
/// takes one of the server's [places](crate::ServerOptions::max_connections): so others need not wait for them, and
/// they may begin before or after what was sent at the same time. Where the server has no place they go with all others.
/// Large results come by it as well, once there was one beside other calls.
///
/// Both sides may call: a client [exports](Self::export) objects, and a method finds them through the
/// [caller](crate::Context::caller) of its context. Whoever waits for a call serves those of the other side meanwhile,
/// so methods may call each other back; how deep, [`Settings::nesting`] says.
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
    /// [`ConnectError`] when nobody answers there, or somebody who speaks otherwise.
    pub fn connect(address: &Address) -> Result<Self, ConnectError> {
        Self::connect_with(address, &ClientOptions::default())
    }

    /// Connects with options of one's own.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub fn connect_with(address: &Address, options: &ClientOptions) -> Result<Self, ConnectError> {
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
            third_parties: options.third_parties,
            clock: options.clock.clone(),
            interceptors: options.interceptors.clone(),
            secret: options.secret.clone(),
            capture: options.capture.as_ref().map(|to| to.connection(true)),
        };
        let (transport, messages) = (&options.transport, &options.messages);
        let connection = Connection::connect(address, transport, messages, terms)?;
        Ok(Self::of(connection))
    }

    pub(crate) fn of(connection: Connection) -> Self {
        let time = connection.session().terms.time;
        Self { connection, time }
    }

    /// The object that the server has bound to a name.
    ///
    /// # Errors
    ///
    /// [`LookupError`] when there is none, when it has another interface, or when the server can't
    /// be asked.
    pub fn lookup<T: Remotable + ?Sized>(&self, name: &str) -> Result<T::Stub, LookupError> {
        let interface = T::interface();
        match self.named(name, interface.id())? {
            Ok(import) => Ok(T::Stub::new(self.object(Place::Import(import)))),
            Err(found) => Err(LookupError::OtherInterface {
                name: name.to_owned(),
                expected: interface.differs_from(&found),
                found: shown(&found),
            }),
        }
    }

    /// What is bound to a name, if it has that interface; otherwise what it has.
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

    /// The server's registry.
    #[must_use]
    pub fn registry(&self) -> RegistryStub {
        RegistryStub::new(self.own(REGISTRY))
    }

    /// What the server says of itself: what is bound, with which methods, and how it is. Calls of it fail with
    /// [`CallError::UnknownObject`](crate::CallError::UnknownObject) where the server [tells nothing](crate::ServerOptions::reflects).
    #[must_use]
    pub fn reflection(&self) -> ReflectionStub {
        ReflectionStub::new(self.own(REFLECTION))
    }

    /// The object that the server has bound to a name, with its interface as the server describes it: for programs that
    /// don't have its trait.
    ///
    /// # Errors
    ///
    /// [`LookupError`] when there is none, or when the server can't be asked.
    pub fn describe(&self, name: &str) -> Result<Described, LookupError> {
        let unknown = || LookupError::Unknown {
            name: name.to_owned(),
        };
        let description = self.reflection().describe(name).wait()?.into_received();
        let id = description.get().map(|described| described.id);
        let import = self.named(name, id.ok_or_else(unknown)?)?;
        // It may have been replaced meanwhile.
        let import = import.map_err(|_| unknown())?;
        Described::new(self.object(Place::Import(import)), description).ok_or_else(unknown)
    }

    /// Exports the objects of a server to the other side of this connection, too. False when there are some already.
    ///
    /// Calls are served by who waits for a call of this connection; a program that waits for none [serves](Self::serve),
    /// or has [a thread](Self::start) that does.
    #[must_use = "says whether the objects are exported"]
    pub fn export(&self, objects: &Server) -> bool {
        self.connection.export(objects.exports().clone())
    }

    /// Serves the other side's calls until the connection has ended.
    pub fn serve(&self) {
        self.connection.peer().serve();
    }

    /// Starts a thread that serves the other side's calls until its handle is dropped.
    ///
    /// It hears too which references the other side gives back, as the next call does where there is none.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of threads.
    pub fn start(&self) -> io::Result<Serving> {
        self.connection.peer().start()
    }

    /// Waits, as a task, until the other side takes a call with so many bytes of arguments at once, or the connection has
    /// ended. Calls need not wait for that, as each goes at its [turn](crate::Call); methods that are
    /// [one way](crate::remote) do, which would block until then.
    pub async fn ready(&self, bytes: usize) {
        // What has ended says so to who calls.
        let _ = self.connection.peer().ready(bytes).await;
    }

    /// Ends the connection: calls that are on their way fail, here and at the other side.
    pub fn close(&self) {
        self.connection.close();
    }

    /// How many objects of the server this side has stubs of, or references to.
    #[must_use]
    pub fn references(&self) -> usize {
        self.connection.references().imports.count().0
    }

    /// The connection, without keeping it.
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

    /// An object that each server has, by this number.
    fn own(&self, number: u32) -> Object {
        self.object(Place::Own(self.connection.clone(), number))
    }

    fn object(&self, place: Place) -> Object {
        Object::new(place, self.time)
    }
}

/// A connection to a server, without keeping it: for objects that the client [exports](Client::export) over it, of which
/// each would keep the other one.
///
/// ```
/// use jstream_rmi::{Client, Server, WeakClient, remote};
/// use std::sync::Arc;
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
/// // The connection ends with that.
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
    /// The connection, while somebody has it.
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
