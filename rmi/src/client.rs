//! A connection to a server, and the objects called over it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream::{Limits, Transportable, WriteError};
use jstream_transport::{Address, ConnectError, Options, SendError};

use crate::call::{Call, Sent};
use crate::connection::Connection;
use crate::context;
use crate::error::{CallError, LookupError, Outcome, shown};
use crate::frame::Frame;
use crate::interface::{Interface, Method, Remotable, Stub};
use crate::registry::{Found, REGISTRY, RegistryStub};
use crate::stream::{Carried, Pumps, Stream, StreamError, Taken, Window};

/// What a client accepts, and how long it waits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The transport's limits and time-outs, and the pool that results are received into.
    pub transport: Options,
    /// What is accepted as a result (default: as [`Limits`]).
    pub limits: Limits,
    /// How long each call waits for its result, from its sending on (default 60 s); a stub may have a
    /// time of its own, see [`Stub::within`]. `Duration::MAX` is for ever. Answers the threat of servers
    /// that don't.
    pub call_timeout: Duration,
    /// How many items of a stream that is a result may be on their way or wait to be taken (default 4,096, at most
    /// 8,191). Answers the threat of servers that send faster than the items are taken.
    pub stream_items: usize,
    /// How many bytes such items may have (default 1 MiB, at most 64 MiB); one frame alone may exceed it. Answers the
    /// same threat with large items.
    pub stream_bytes: u64,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            transport: Options::default(),
            limits: Limits::default(),
            call_timeout: Duration::from_secs(60),
            stream_items: 4096,
            stream_bytes: 1 << 20,
        }
    }
}

/// A connection to a server. Cheap to clone; the connection ends with the last clone, stub and
/// call. Calls that were sent and not waited for may then not run.
///
/// The server runs the calls of one connection one after another, but for async methods: while these
/// wait, others run. A plain method that calls back over the connection that it is called by waits for
/// itself.
#[derive(Clone)]
pub struct Client {
    connection: Arc<Connection>,
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
        let endpoint = jstream_transport::connect(address, &options.transport)?;
        let window = Window::of(options.stream_items, options.stream_bytes);
        Ok(Self {
            connection: Arc::new(Connection::new(endpoint, options.limits, window)),
            time: options.call_timeout,
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
                expected: interface.differs_from(found),
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
            time: self.time,
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
    /// How long a call waits.
    time: Duration,
}

impl Object {
    pub(crate) fn within(&self, time: Duration) -> Self {
        Self {
            time,
            ..self.clone()
        }
    }

    /// Calls the method at `index` of `interface`.
    #[doc(hidden)]
    pub fn call<A, R>(&self, interface: &'static Interface, index: usize, arguments: &A) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        Call::new(self.begin(method, arguments), Pumps::default())
    }

    /// The streams of a call that is about to be made.
    #[doc(hidden)]
    #[must_use]
    pub fn streams(&self) -> Carried {
        Carried::new(self.connection.line())
    }

    /// As [`call`](Self::call), with streams among the arguments.
    #[doc(hidden)]
    pub fn call_with<A, R>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        streams: Carried,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        Call::new(self.begin(method, arguments), streams.into_pumps())
    }

    /// As [`call_with`](Self::call_with), with a stream as the result.
    #[doc(hidden)]
    pub fn stream<A, T>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        streams: Carried,
        taken: Taken<T>,
    ) -> Stream<T>
    where
        A: Transportable,
        T: Transportable + 'static,
    {
        match self.begin(interface.method(index), arguments) {
            Ok(sent) => {
                let deadline = sent.deadline;
                let call = Call::<u64>::new(Ok(sent), streams.into_pumps());
                let ending = Box::pin(async move { Ok(*call.await?.get()) });
                taken.stream(ending, deadline)
            }
            Err(error) => Stream::failed(StreamError::Call(error)),
        }
    }

    fn begin<A: Transportable>(
        &self,
        method: &'static Method,
        arguments: &A,
    ) -> Result<Sent, CallError> {
        let (deadline, time) = self.time_of(method)?;
        let not_sent = |source| CallError::NotSent {
            method: method.name(),
            source,
        };
        let number = self.connection.begin().map_err(not_sent)?;
        let sent = Sent {
            connection: self.connection.clone(),
            number,
            method,
            deadline,
        };
        let frame = Frame::Call {
            number: Some(number),
            time,
            object: self.id,
            method: method.id(),
        };
        match self.connection.send(frame, arguments) {
            Ok(Ok(())) => Ok(sent),
            failed => {
                sent.connection.forget(number);
                Err(unsent(method, failed))
            }
        }
    }

    /// Sends what the method at `index` of `interface` takes, and waits for nothing.
    ///
    /// # Errors
    ///
    /// What prevented sending it.
    #[doc(hidden)]
    pub fn send<A: Transportable>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
    ) -> Result<(), CallError> {
        let method = interface.method(index);
        let (_, time) = self.time_of(method)?;
        let frame = Frame::Call {
            number: None,
            time,
            object: self.id,
            method: method.id(),
        };
        match self.connection.send(frame, arguments) {
            Ok(Ok(())) => Ok(()),
            failed => Err(unsent(method, failed)),
        }
    }

    /// Until when, and for how long, a call that is made now waits: no longer than the call that it is
    /// made for, if it is made by a method.
    fn time_of(
        &self,
        method: &'static Method,
    ) -> Result<(Option<Instant>, Option<Duration>), CallError> {
        let now = Instant::now();
        let own = now.checked_add(self.time);
        let inherited = context::deadline();
        let deadline = match (own, inherited) {
            (Some(own), Some(inherited)) => Some(own.min(inherited)),
            (one, other) => one.or(other),
        };
        let time = deadline.map(|then| then.saturating_duration_since(now));
        if time == Some(Duration::ZERO) {
            return Err(CallError::Deadline {
                method: method.name(),
                outcome: Outcome::DidNotRun,
                idempotent: method.is_idempotent(),
            });
        }
        Ok((deadline, time))
    }
}

/// Why a message of a call was not sent.
fn unsent(method: &'static Method, failed: Result<Result<(), SendError>, WriteError>) -> CallError {
    let name = method.name();
    match failed {
        Err(source) => CallError::Arguments {
            method: name,
            source,
        },
        Ok(Err(source)) => CallError::NotSent {
            method: name,
            source,
        },
        Ok(Ok(())) => unreachable!("it was sent"),
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("id", &self.id).finish()
    }
}
