//! A connection to a server, and the objects called over it.

use std::fmt;
use std::io::{self, IoSlice};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jstream::{Filled, Limits, Transportable, WriteError};
use jstream_transport::active::{RequestError, Serving, Settings};
use jstream_transport::{Address, Options};

use crate::again::{Again, Retries};
use crate::auth::Secret;
use crate::call::{Call, Sent, unsent};
use crate::context;
use crate::error::{CallError, ConnectError, LookupError, Outcome, shown};
use crate::frame::Word;
use crate::intercept::{CallInfo, Denied, Interceptors, Side, Watched};
use crate::interface::{Interface, Method, Remotable, Stub};
use crate::reflection::{Described, REFLECTION, ReflectionStub};
use crate::registry::{Found, REGISTRY, RegistryStub};
use crate::server::{Server, written};
use crate::session::{Connection, Terms};
use crate::stream::{Carried, Pumps, Stream, StreamError, Taken, Window};

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
    /// What sees the calls that this side makes, and those of objects that it [exports](Client::export) (default: none).
    pub interceptors: Interceptors,
    /// What the server asks for, and has to know itself (default: nothing), see
    /// [`ServerOptions::secret`](crate::ServerOptions::secret).
    pub secret: Option<Secret>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            transport: Options::default(),
            messages: Settings::default(),
            limits: Limits::default(),
            call_timeout: Duration::from_secs(60),
            max_waiting: 1024,
            max_backlog: 64 << 20,
            max_streams: 256,
            stream_items: 4096,
            stream_bytes: 1 << 20,
            interceptors: Interceptors::default(),
            secret: None,
        }
    }
}

/// A connection to a server. Cheap to clone; the connection ends with the last clone, stub and
/// call. Calls that were sent and not waited for may then not run.
///
/// Calls with many bytes of arguments (256 KiB) go by a second connection, which is made for the first of them, and
/// takes one of the server's [places](crate::ServerOptions::max_connections): so others need not wait for them, and
/// they may begin before or after what was sent at the same time. Where the server has no place they go with all others.
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
            interceptors: options.interceptors.clone(),
            secret: options.secret.clone(),
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
        let unknown = || LookupError::Unknown {
            name: name.to_owned(),
        };
        let found = self.registry().lookup(name, interface.id()).wait()?;
        match *found.get() {
            Found::Object(id) => {
                let id = u32::try_from(id).map_err(|_| unknown())?;
                Ok(T::Stub::new(self.object(id)))
            }
            Found::Unknown => Err(unknown()),
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

    /// What the server says of itself: what is bound, with which methods, and how it is. Calls of it fail with
    /// [`CallError::UnknownObject`] where the server [tells nothing](crate::ServerOptions::reflects).
    #[must_use]
    pub fn reflection(&self) -> ReflectionStub {
        ReflectionStub::new(self.object(REFLECTION))
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
        let found = self
            .registry()
            .lookup(name, id.ok_or_else(unknown)?)
            .wait()?;
        let Found::Object(number) = *found.get() else {
            // It has gone, or has been replaced, meanwhile.
            return Err(unknown());
        };
        let number = u32::try_from(number).map_err(|_| unknown())?;
        Described::new(self.object(number), description).ok_or_else(unknown)
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
    /// # Errors
    ///
    /// What the system says when it is out of threads.
    pub fn start(&self) -> io::Result<Serving> {
        self.connection.peer().start()
    }

    /// Ends the connection: calls that are on their way fail, here and at the other side.
    pub fn close(&self) {
        self.connection.close();
    }

    fn object(&self, id: u32) -> Object {
        Object {
            connection: self.connection.clone(),
            id,
            time: self.time,
            retries: None,
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
    connection: Connection,
    id: u32,
    /// How long a call waits.
    time: Duration,
    /// How it is made again.
    retries: Option<Retries>,
}

impl Object {
    pub(crate) fn within(&self, time: Duration) -> Self {
        Self {
            time,
            ..self.clone()
        }
    }

    pub(crate) fn retrying(&self, retries: Retries) -> Self {
        Self {
            retries: Some(retries),
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
        match self.retries {
            Some(retries) if method.is_idempotent() => {
                self.begin_again(method, index, arguments, retries)
            }
            _ => Call::new(
                self.begin(interface, index, arguments, false),
                None,
                Pumps::default(),
            ),
        }
    }

    /// Makes a call, and keeps what is needed to make it again.
    #[cold]
    fn begin_again<A, R>(
        &self,
        method: &'static Method,
        index: usize,
        arguments: &A,
        retries: Retries,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let kept = self.word(method, index).and_then(|(deadline, _)| {
            let message = written(arguments, |segments| {
                let bytes = segments.iter().flat_map(|segment| segment.iter().copied());
                bytes.collect::<Vec<u8>>()
            });
            match message {
                Ok(message) => Ok((deadline, message)),
                Err(source) => Err(CallError::Arguments {
                    method: method.name(),
                    source,
                }),
            }
        });
        let (deadline, message) = match kept {
            Ok(kept) => kept,
            Err(error) => return Call::new(Err(error), None, Pumps::default()),
        };
        let again = Again::new(self.clone(), method, index, message, deadline, retries);
        Call::new(again.send(), Some(Box::new(again)), Pumps::default())
    }

    /// Makes a call whose arguments have been written, which ends then at the latest.
    pub(crate) fn send_message(
        &self,
        method: &'static Method,
        index: usize,
        message: &[u8],
        deadline: Option<Instant>,
    ) -> Result<Sent, CallError> {
        let word = self.word_until(method, index, deadline)?;
        let watched = self.watched("", method, deadline, message.len() as u64)?;
        let segments = [IoSlice::new(message)];
        match self.connection.call(word, &segments, deadline) {
            Ok(ticket) => Ok(Sent {
                ticket,
                method,
                deadline,
                watched,
            }),
            Err(error) => Err(ended(watched.as_ref(), unsent(method, error))),
        }
    }

    /// Calls the method at `index`, whatever its interface, with a message of its arguments: the message of its result.
    pub(crate) fn call_described(
        &self,
        index: usize,
        message: &[u8],
        one_way: bool,
    ) -> Result<Filled, CallError> {
        static METHOD: OnceLock<Method> = OnceLock::new();
        let method = METHOD.get_or_init(|| Method::new::<(), ()>("the method", "its description"));
        let (deadline, word) = self.word(method, index)?;
        let segments = [IoSlice::new(message)];
        if one_way {
            let watched = self.watched("", method, deadline, message.len() as u64)?;
            return match self.connection.call_one_way(word, &segments, deadline) {
                Ok(()) => {
                    sent_one_way(watched.as_ref());
                    Ok(Filled::nothing())
                }
                Err(error) => Err(ended(watched.as_ref(), unsent(method, error))),
            };
        }
        self.send_message(method, index, message, deadline)?
            .wait_for_message()
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The streams of a call that is about to be made.
    #[doc(hidden)]
    #[must_use]
    pub fn streams(&self) -> Carried {
        Carried::new(Arc::new(self.connection.clone()))
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
        Call::new(
            self.begin(interface, index, arguments, true),
            None,
            streams.into_pumps(),
        )
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
        match self.begin(interface, index, arguments, true) {
            Ok(sent) => {
                let deadline = sent.deadline;
                let call = Call::<u64>::new(Ok(sent), None, streams.into_pumps());
                let ending = Box::pin(async move { Ok(*call.await?.get()) });
                taken.stream(ending, deadline)
            }
            Err(error) => Stream::failed(StreamError::Call(error)),
        }
    }

    fn begin<A: Transportable>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        has_streams: bool,
    ) -> Result<Sent, CallError> {
        let method = interface.method(index);
        let (deadline, word) = self.word(method, index)?;
        let watched = self.watched(interface.name(), method, deadline, 0)?;
        let sent = written(arguments, |segments| {
            if has_streams {
                return self.connection.call_here(word, segments, deadline);
            }
            self.connection.call(word, segments, deadline)
        });
        match sent {
            Ok(Ok(ticket)) => Ok(Sent {
                ticket,
                method,
                deadline,
                watched,
            }),
            failed => Err(ended(watched.as_ref(), not_sent(method, failed))),
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
        let (deadline, word) = self.word(method, index)?;
        let watched = self.watched(interface.name(), method, deadline, 0)?;
        let sent = written(arguments, |segments| {
            self.connection.call_one_way(word, segments, deadline)
        });
        match sent {
            Ok(Ok(())) => {
                sent_one_way(watched.as_ref());
                Ok(())
            }
            failed => Err(ended(watched.as_ref(), not_sent(method, failed))),
        }
    }

    /// A call is about to be made. Nothing where nobody sees it.
    #[inline]
    fn watched(
        &self,
        interface: &'static str,
        method: &'static Method,
        deadline: Option<Instant>,
        bytes: u64,
    ) -> Result<Option<Arc<Watched>>, CallError> {
        let interceptors = &self.connection.session().terms.interceptors;
        let watched = interceptors.before(|| CallInfo {
            side: Side::Caller,
            object: self.id.into(),
            interface,
            method: method.name(),
            deadline,
            peer: self.connection.peer().endpoint().peer().clone(),
            bytes,
        });
        watched.map_err(|Denied(reason)| CallError::Denied {
            method: method.name(),
            reason,
        })
    }

    /// Until when a call that is made now waits, and what is said of it: no longer than the call that it is made for,
    /// if it is made by a method.
    fn word(
        &self,
        method: &'static Method,
        index: usize,
    ) -> Result<(Option<Instant>, u64), CallError> {
        let now = Instant::now();
        let own = now.checked_add(self.time);
        let inherited = context::deadline();
        let deadline = match (own, inherited) {
            (Some(own), Some(inherited)) => Some(own.min(inherited)),
            (one, other) => one.or(other),
        };
        let word = self.word_at(now, method, index, deadline)?;
        Ok((deadline, word))
    }

    fn word_until(
        &self,
        method: &'static Method,
        index: usize,
        deadline: Option<Instant>,
    ) -> Result<u64, CallError> {
        self.word_at(Instant::now(), method, index, deadline)
    }

    fn word_at(
        &self,
        now: Instant,
        method: &'static Method,
        index: usize,
        deadline: Option<Instant>,
    ) -> Result<u64, CallError> {
        let time = deadline.map(|then| then.saturating_duration_since(now));
        if time == Some(Duration::ZERO) {
            return Err(CallError::Deadline {
                method: method.name(),
                outcome: Outcome::DidNotRun,
                idempotent: method.is_idempotent(),
            });
        }
        let word = Word {
            object: self.id,
            method: u16::try_from(index).unwrap_or(u16::MAX),
            time,
        };
        Ok(word.to_wire())
    }
}

/// A call has ended before it was under way.
fn ended(watched: Option<&Arc<Watched>>, error: CallError) -> CallError {
    if let Some(watched) = watched {
        watched.end(Err(error.outcome()), 0);
    }
    error
}

/// There is nothing more to be known of a call.
fn sent_one_way(watched: Option<&Arc<Watched>>) {
    if let Some(watched) = watched {
        watched.end(Ok(()), 0);
    }
}

/// Why a message of a call was not sent.
fn not_sent<T>(
    method: &'static Method,
    failed: Result<Result<T, RequestError>, WriteError>,
) -> CallError {
    match failed {
        Err(source) => CallError::Arguments {
            method: method.name(),
            source,
        },
        Ok(Err(error)) => unsent(method, error),
        Ok(Ok(_)) => unreachable!("it was sent"),
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("id", &self.id).finish()
    }
}
