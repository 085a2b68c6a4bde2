//! The handle of a connection to a server.

use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use jstream_active::{Serving, WeakPeer};
use jstream_base::Address;

use crate::call::{Described, Found, ReflectionStub, RegistryStub};
use crate::client::connect::connect;
use crate::client::options::ClientOptions;
use crate::frame::{REFLECTION, REGISTRY};
use crate::reference::{Object, ObjectPlace, Remotable, Stub};
use crate::session::{Connection, Context, Import, PeerInfo};
use crate::support::{ConnectError, LookupError, Operation, StepEnd, may_block};

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
#[derive(Clone)]
pub struct Client {
    pub(crate) connection: Connection,
    time: Duration,
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
            connect(&address, &options).map(Self::of)
        })
    }

    pub(crate) fn of(connection: Connection) -> Self {
        let time = connection.session().terms.time;
        Self { connection, time }
    }

    /// Returns a stub of the object that the server has bound to a name. The object may have
    /// further methods behind those of `T`, if the server
    /// [allows reflection](crate::ServerOptions::reflects) and the methods of `T` have no streams or
    /// references. The request is sent immediately.
    ///
    /// # Errors
    ///
    /// [`LookupError`] if nothing is bound to the name, if the object has another interface, or if
    /// the call of the registry fails.
    pub fn lookup<T: Remotable + ?Sized>(
        &self,
        name: &str,
    ) -> Operation<Result<T::Stub, LookupError>> {
        let interface = T::interface();
        self.find(name, interface.id(), move |client, name, found| {
            let stub = |client: &Self, import| T::Stub::new(client.imported(import));
            match found {
                Ok(import) => StepEnd::Done(Ok(stub(client, import))),
                Err(found) => StepEnd::Next(client.find_by_methods(name, interface, found, stub)),
            }
        })
    }

    /// Looks up a name, and passes the object to `then`, or the description of its interface if
    /// that is another one.
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
                Found::Object { number } => {
                    let references = client.connection.references();
                    let import = references.enter(&client.connection, number, None);
                    import.map(Ok)
                }
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
            let Some(id) = description.get().map(|described| described.id) else {
                return StepEnd::Done(Err(unknown(&name)));
            };
            StepEnd::Next(client.find(&name, id, |client, name, import| {
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
        self.connection.peer().serve(None);
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
        self.connection.peer().start()
    }

    /// Waits, as a task, until the other side accepts a call with `bytes` bytes of arguments at
    /// once, or the connection has ended. Calls need not wait for this, because they are
    /// [queued](crate::Call). [One-way](crate::remote) methods should, because they would block
    /// until then.
    pub async fn ready(&self, bytes: usize) {
        // If the connection has ended, the next call returns the error.
        let attendant = self.connection.peer().attendant();
        let _ = attendant.ready(bytes).await;
    }

    /// Ends the connection. Calls in flight fail on both sides.
    pub fn close(&self) {
        self.connection.close();
    }

    /// Returns the server's address and its identity, as far as it is known.
    #[must_use]
    pub fn peer(&self) -> PeerInfo {
        PeerInfo::of(self.connection.peer())
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

    #[cfg(feature = "directory")]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the object with a fixed number that each server has.
    fn own(&self, number: u32) -> Object {
        self.object(ObjectPlace::Own(self.connection.clone(), number))
    }

    /// Returns a looked-up object.
    fn imported(&self, import: Arc<Import>) -> Object {
        self.object(ObjectPlace::Import(import))
    }

    fn object(&self, place: ObjectPlace) -> Object {
        Object::new(place, self.time)
    }
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

/// The connection of the caller.
impl Context {
    /// Returns the other side of the connection, to call objects that it exports. The caller serves
    /// such calls while it waits for this one.
    #[must_use]
    pub fn caller(&self) -> Option<Client> {
        let call = self.call.as_ref()?;
        Some(Client::of(Connection::of(call.peer())))
    }
}
