//! The handle of a connection to a server.

use std::sync::{Arc, Weak};
use std::time::Duration;
use std::{fmt, io};

use jstream_active::{Serving, WeakPeer};
use jstream_base::Address;

use crate::call::{Described, Found, ReflectionStub, RegistryStub};
use crate::client::connect::connect;
use crate::client::options::ClientOptions;
use crate::client::reconnect::{
    ConnectionState, FindObject, NamedObject, Reconnection, StateChanges, when_open,
};
use crate::frame::{REFLECTION, REGISTRY};
use crate::interface::Interface;
use crate::reference::{FoundObject, Object, ObjectPlace, Remotable, Stub};
use crate::session::{Connection, Context, Exports, Import, PeerInfo};
use crate::support::{CallError, ConnectError, LookupError, Operation, StepEnd, may_block};

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
/// Both sides may call: a client [exports](Self::export) objects, and passes references to them. If
/// it [exports a server](Self::export_server), a method also finds the objects by their names,
/// through the [caller](crate::Context::caller) of its context. While a thread waits for a call, it serves
/// calls from the other side, so methods may call each other back.
/// [`Settings::nesting`](crate::Settings::nesting) limits the depth.
///
/// If the connection is lost, because the server was restarted, the next call connects again, and
/// stubs that were [looked up](Self::lookup) find the object of the same name there. Calls in flight
/// end with their true outcome. A call that did not run is repeated, and waits for the connection
/// within its timeout and [`Reconnect::patience`](crate::Reconnect::patience); one that may have
/// run is repeated only if its method is `#[remote(idempotent)]`. Streams go on if their method
/// says [how](crate::guide::restarts), and references are acquired again [by a
/// recipe](crate::Remote::acquired_by). Other calls with streams or references among their
/// arguments, and one-way calls, fail while there is no connection. See the page
/// [`restarts`](crate::guide::restarts) of the guide.
#[derive(Clone)]
pub struct Client {
    link: ClientLink,
    time: Duration,
}

/// The connection of a client.
#[derive(Clone)]
enum ClientLink {
    /// One that is not replaced.
    Single(Connection),
    Reconnecting(Arc<Reconnection>),
}

impl Client {
    /// Connects with default options. Begins when it is waited for or first polled. As a future, it
    /// has a thread of its own until it is connected, since the handshake may block; if it is
    /// dropped before that, the thread closes the connection.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] if no server listens at the address, or if it does not speak this protocol.
    pub fn connect(address: &Address) -> Operation<Result<Self, ConnectError>> {
        Self::connect_with(address, &ClientOptions::default())
    }

    /// Connects with custom options, like [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub fn connect_with(
        address: &Address,
        options: &ClientOptions,
    ) -> Operation<Result<Self, ConnectError>> {
        let (address, options) = (address.clone(), options.clone());
        Operation::blocking("jstream-connect", move || {
            // The first connection is made here and not in the background, so that a wrong address
            // is an error of this call.
            let connection = connect(&address, &options)?;
            let Some(reconnect) = options.reconnect else {
                return Ok(Self::from_connection(connection));
            };
            let time = connection.session().terms.time;
            let link = Reconnection::new(connection, address, options, reconnect);
            let link = ClientLink::Reconnecting(link);
            Ok(Self { link, time })
        })
    }

    /// Returns a client that does not connect again.
    pub(crate) fn from_connection(connection: Connection) -> Self {
        let time = connection.session().terms.time;
        let link = ClientLink::Single(connection);
        Self { link, time }
    }

    /// Returns the connection, or the last one if it was lost.
    pub(crate) fn connection(&self) -> Connection {
        match &self.link {
            ClientLink::Single(connection) => connection.clone(),
            ClientLink::Reconnecting(link) => link.connection().0,
        }
    }

    /// Returns the state of the connection.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        match &self.link {
            ClientLink::Single(connection) => match connection.peer().has_ended() {
                true => ConnectionState::Closed,
                false => ConnectionState::Open { reconnects: 0 },
            },
            ClientLink::Reconnecting(link) => link.state(),
        }
    }

    /// Returns the further changes of the state of the connection, or `None` if the client does not
    /// [reconnect](crate::ClientOptions::reconnect). The end of a connection is noticed by a call
    /// that is in flight or made then, and by a thread that [serves](Self::start).
    #[must_use]
    pub fn state_changes(&self) -> Option<StateChanges> {
        match &self.link {
            ClientLink::Single(_) => None,
            ClientLink::Reconnecting(link) => Some(StateChanges::new(link.clone())),
        }
    }

    /// Waits, as a task, until the connection is open, and connects again if it was lost. Returns
    /// false after [`Reconnect::patience`](crate::Reconnect::patience), or if the client was closed,
    /// or if it does not reconnect and has lost its connection.
    pub async fn connected(&self) -> bool {
        match &self.link {
            ClientLink::Single(connection) => !connection.peer().has_ended(),
            ClientLink::Reconnecting(link) => when_open(link.clone(), StepEnd::Done).await,
        }
    }

    /// Returns a stub of the object that the server has bound to a name. The request is sent
    /// immediately.
    ///
    /// If the server [allows reflection](crate::ServerOptions::reflects), the object may have
    /// another version of `T`: methods are found by their names, and arguments and results are
    /// converted. A method that the object lacks, or whose types can't be converted, fails when it
    /// is called. See the page [`versions`](crate::guide::versions) of the guide.
    ///
    /// # Errors
    ///
    /// [`LookupError`] if nothing is bound to the name, if no method of the object could be called,
    /// or if the call of the registry fails.
    pub fn lookup<T: Remotable + ?Sized>(
        &self,
        name: &str,
    ) -> Operation<Result<T::Stub, LookupError>> {
        // Without an open connection, the lookup waits for one, as a call of a stub does.
        if let Some(link) = self.lost() {
            let (client, name) = (self.clone(), name.to_owned());
            return when_open(link.clone(), move |is_open| match is_open {
                true => StepEnd::Next(client.lookup::<T>(&name)),
                false => StepEnd::Done(Err(LookupError::Call(CallError::Disconnected {
                    method: "lookup",
                    address: link.address().clone(),
                    reason: link.reason(),
                }))),
            });
        }
        let interface = T::interface();
        let (client, reconnection) = self.for_lookup();
        let named = name.to_owned();
        let stub = move |client: &Self, object: FoundObject| {
            let found = Object::found(object.clone(), client.time);
            T::Stub::new(match reconnection {
                Some((link, generation)) => {
                    let object = (object, generation);
                    let lookup = (interface, find_object as FindObject);
                    found.renewed_by(NamedObject::new(link, named, lookup, object))
                }
                None => found,
            })
        };
        client.find_as(name, interface, stub)
    }

    fn find_as<R: 'static>(
        &self,
        name: &str,
        interface: &'static Interface,
        stub: impl FnOnce(&Self, FoundObject) -> R + Send + 'static,
    ) -> Operation<Result<R, LookupError>> {
        self.find(
            name,
            interface.version(),
            move |client, name, found| match found {
                Ok(import) => {
                    let methods = None;
                    StepEnd::Done(Ok(stub(client, FoundObject { import, methods })))
                }
                Err(found) => StepEnd::Next(client.find_by_methods(name, interface, found, stub)),
            },
        )
    }

    /// Returns the source of a connection if there is none that is open.
    fn lost(&self) -> Option<Arc<Reconnection>> {
        match &self.link {
            ClientLink::Reconnecting(link) if link.open_generation().is_none() => {
                Some(link.clone())
            }
            _ => None,
        }
    }

    /// Returns the client of the present connection, which a lookup uses as a whole, and the source
    /// of later ones with the number of this one.
    fn for_lookup(&self) -> (Self, Option<(Arc<Reconnection>, u64)>) {
        match &self.link {
            ClientLink::Single(_) => (self.clone(), None),
            ClientLink::Reconnecting(link) => {
                // Both of one moment: the object belongs to that connection, and is looked up again
                // only if a later one is open.
                let (connection, generation) = link.connection();
                link.attend(&connection, generation);
                // A lookup may take several calls. They have to go over one connection, because the
                // numbers of objects belong to it.
                let client = Self {
                    link: ClientLink::Single(connection),
                    time: self.time,
                };
                (client, Some((link.clone(), generation)))
            }
        }
    }

    /// Looks up a name, and passes the object to `then`, or the description of its interface if
    /// that has another version.
    pub(super) fn find<R: 'static>(
        &self,
        name: &str,
        interface: u64,
        then: impl FnOnce(&Self, String, Result<Arc<Import>, String>) -> StepEnd<Result<R, LookupError>>
        + Send
        + 'static,
    ) -> Operation<Result<R, LookupError>> {
        let call = self.registry().lookup(name, interface);
        let (client, name) = (self.clone(), name.to_owned());
        call.then(move |found| {
            let found = match found {
                Ok(found) => found,
                Err(error) => return StepEnd::Done(Err(error.into())),
            };
            let found = match *found.get() {
                // A number beyond the limit of references is given back, and the name is reported
                // as unknown.
                Found::Object { number } => imported(&client, number).map(Ok),
                Found::Unknown => None,
                Found::Other(found) => Some(Err(found.to_owned())),
            };
            match found {
                Some(found) => then(&client, name, found),
                None => StepEnd::Done(Err(unknown(&name))),
            }
        })
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
    pub fn describe(&self, name: &str) -> Operation<Result<Described, LookupError>> {
        let call = self.reflection().describe(name);
        let (client, name) = (self.clone(), name.to_owned());
        call.then(move |description| {
            let description = match description {
                Ok(description) => description.into_received(),
                Err(error) => return StepEnd::Done(Err(error.into())),
            };
            let Some(version) = description.get().map(|described| described.version) else {
                return StepEnd::Done(Err(unknown(&name)));
            };
            StepEnd::Next(client.find(&name, version, |client, name, import| {
                // The object may have been replaced after it was described.
                let object = import.ok().map(|import| client.imported(import));
                let described = object.and_then(|object| Described::new(object, description));
                StepEnd::Done(described.ok_or_else(|| unknown(&name)))
            }))
        })
    }

    /// Serves calls from the other side until the connection ends.
    ///
    /// # Panics
    ///
    /// With the feature `tokio`, in debug builds, if the thread runs tasks of tokio: use
    /// [`start`](Self::start) there.
    #[track_caller]
    pub fn serve(&self) {
        may_block("Client::serve");
        self.connection().peer().serve(None);
    }

    /// Starts a thread that serves calls from the other side until its handle is dropped.
    ///
    /// The handle does not keep the connection open: keep the client, or a stub, beside it. The
    /// crate exports the type of the handle as `ServingThread`.
    ///
    /// The thread also handles references that the other side releases. Without it, they are
    /// handled by the next call.
    ///
    /// # Errors
    ///
    /// The error of the operating system if the thread cannot be started.
    pub fn start(&self) -> io::Result<Serving> {
        self.connection().peer().start()
    }

    /// Waits, as a task, until the other side accepts a call with `bytes` bytes of arguments at
    /// once, or the connection has ended. Calls need not wait for this, because they are
    /// [queued](crate::Call). [One-way](crate::remote) methods should, because they would block
    /// until then.
    pub async fn ready(&self, bytes: usize) {
        // If the connection has ended, the next call returns the error.
        let attendant = self.connection().peer().attendant();
        let _ = attendant.ready(bytes).await;
    }

    /// Ends the connection. Calls in flight fail on both sides.
    pub fn close(&self) {
        match &self.link {
            ClientLink::Single(connection) => connection.close(),
            ClientLink::Reconnecting(link) => link.close(),
        }
    }

    /// Returns the server's address and its identity, as far as it is known.
    #[must_use]
    pub fn peer(&self) -> PeerInfo {
        PeerInfo::from_peer(self.connection().peer())
    }

    /// Returns the number of objects of the server to which this side holds stubs or references.
    #[must_use]
    pub fn references(&self) -> usize {
        self.connection().references().imports.count().0
    }

    /// Exports objects to this connection, and to later ones. Returns false if there were some.
    pub(crate) fn export_all(&self, exports: Arc<Exports>) -> bool {
        match &self.link {
            ClientLink::Single(connection) => connection.export(exports),
            ClientLink::Reconnecting(link) => link.export(exports),
        }
    }

    /// Returns a weak handle, which does not keep the connection open.
    #[must_use]
    pub fn downgrade(&self) -> WeakClient {
        WeakClient {
            link: match &self.link {
                ClientLink::Single(connection) => {
                    WeakClientLink::Single(connection.peer().downgrade())
                }
                ClientLink::Reconnecting(link) => {
                    WeakClientLink::Reconnecting(Arc::downgrade(link))
                }
            },
            time: self.time,
        }
    }

    /// Returns the object with a fixed number that each server has.
    fn own(&self, number: u32) -> Object {
        self.object(ObjectPlace::Own(self.connection(), number))
    }

    /// Returns a looked-up object.
    fn imported(&self, import: Arc<Import>) -> Object {
        self.object(ObjectPlace::Import(import))
    }

    fn object(&self, place: ObjectPlace) -> Object {
        Object::new(place, self.time)
    }
}

/// Records an object that was found by its name. Returns `None` if there are too many references.
pub(super) fn imported(client: &Client, number: u32) -> Option<Arc<Import>> {
    let connection = client.connection();
    connection.references().enter(&connection, number, None)
}

/// Looks up an object over a new connection. Blocks for `time` at most.
pub(crate) fn find_object(
    connection: &Connection,
    name: &str,
    interface: &'static Interface,
    time: Duration,
) -> Result<FoundObject, LookupError> {
    let link = ClientLink::Single(connection.clone());
    let client = Client { link, time };
    let found = client.find_as(name, interface, |_, object| object);
    found.wait()
}

/// Returns the error for a name to which no object is bound.
fn unknown(name: &str) -> LookupError {
    LookupError::Unknown {
        name: name.to_owned(),
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
/// let client = Client::connect(serving.address()).wait()?;
/// let listener = Arc::new(Plain(client.downgrade()));
/// let _export = client.export::<dyn Listener>(listener.clone());
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
    link: WeakClientLink,
    time: Duration,
}

#[derive(Clone)]
enum WeakClientLink {
    Single(WeakPeer),
    Reconnecting(Weak<Reconnection>),
}

impl WeakClient {
    /// Returns the connection if another handle still keeps it open.
    #[must_use]
    pub fn upgrade(&self) -> Option<Client> {
        let link = match &self.link {
            WeakClientLink::Single(peer) => {
                ClientLink::Single(Connection::from_peer(peer.upgrade()?))
            }
            WeakClientLink::Reconnecting(link) => ClientLink::Reconnecting(link.upgrade()?),
        };
        Some(Client {
            link,
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

/// The connection of the caller.
impl Context {
    /// Returns the other side of the connection, to call objects that it exports. The caller serves
    /// such calls while it waits for this one.
    #[must_use]
    pub fn caller(&self) -> Option<Client> {
        let call = self.call.as_ref()?;
        Some(Client::from_connection(Connection::from_peer(call.peer())))
    }
}
