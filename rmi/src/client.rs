//! A connection to a server, and the objects called over it.

use std::fmt;
use std::sync::Arc;

use jstream::{Limits, Transportable};
use jstream_transport::{Address, ConnectError, Options};

use crate::call::{Call, Sent};
use crate::connection::Connection;
use crate::error::{CallError, LookupError, shown};
use crate::frame::Frame;
use crate::interface::{Interface, Remotable, Stub};
use crate::registry::{Found, REGISTRY, RegistryStub};

/// What a client accepts.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The transport's limits and time-outs, and the pool that results are received into.
    pub transport: Options,
    /// What is accepted as a result (default: as [`Limits`]).
    pub limits: Limits,
}

/// A connection to a server. Cheap to clone; the connection ends with the last clone, stub and
/// call. Calls that were sent and not waited for may then not run.
///
/// The server runs the calls of one connection one after another: a method that calls back over
/// the connection that it is called by waits for itself.
#[derive(Clone)]
pub struct Client {
    connection: Arc<Connection>,
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
        let endpoint = jstream_transport::connect(address, &options.transport)?;
        Ok(Self {
            connection: Arc::new(Connection::new(endpoint, options.limits)),
        })
    }

    /// The object that the server has bound to a name.
    ///
    /// # Errors
    ///
    /// [`LookupError`] when there is none, when it has another interface, or when the server can't
    /// be asked.
    pub fn lookup<T: Remotable + ?Sized>(&self, name: &str) -> Result<T::Stub, LookupError> {
        let interface = T::interface();
        let found = self.registry().lookup(name, interface.id()).wait()?;
        match *found.get() {
            Found::Object(id) => Ok(T::Stub::new(self.object(id))),
            Found::Unknown => Err(LookupError::Unknown {
                name: name.to_owned(),
            }),
            Found::Other(found) => Err(LookupError::OtherInterface {
                name: name.to_owned(),
                expected: interface.name(),
                found: shown(found),
            }),
        }
    }

    /// The server's registry.
    #[must_use]
    pub fn registry(&self) -> RegistryStub {
        RegistryStub::new(self.object(REGISTRY))
    }

    fn object(&self, id: u64) -> Object {
        Object {
            connection: self.connection.clone(),
            id,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// An object of a server, as stubs hold it.
#[derive(Clone)]
pub struct Object {
    connection: Arc<Connection>,
    id: u64,
}

impl Object {
    /// Calls the method at `index` of `interface`.
    #[doc(hidden)]
    pub fn call<A, R>(&self, interface: &'static Interface, index: usize, arguments: &A) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let Some(method) = interface.method(index) else {
            unreachable!("a stub calls the methods of its own interface")
        };
        let name = method.name();
        let not_sent = |source| CallError::NotSent {
            method: name,
            source,
        };
        let number = match self.connection.begin() {
            Ok(number) => number,
            Err(source) => return Call::new(Err(not_sent(source))),
        };
        let sent = Sent {
            connection: self.connection.clone(),
            number,
            method,
        };
        let frame = Frame::Call {
            number,
            object: self.id,
            method: method.id(),
        };
        let result = match self.connection.send(frame, arguments) {
            Ok(Ok(())) => Ok(sent),
            Ok(Err(source)) => Err(not_sent(source)),
            Err(source) => Err(CallError::Arguments {
                method: name,
                source,
            }),
        };
        Call::new(result)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("id", &self.id).finish()
    }
}
