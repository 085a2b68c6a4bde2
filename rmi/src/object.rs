//! Objects as stubs hold them: how their methods are called.

use std::fmt;
use std::io::IoSlice;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jstream::{Filled, Transportable, WriteError};
use jstream_transport::active::{RequestError, Ticket};

use crate::again::{Again, Retries};
use crate::call::{Call, Kept, RemoteCall, Sent, unsent};
use crate::clock::Clock;
use crate::context;
use crate::error::{CallError, Outcome};
use crate::exports::Node;
use crate::frame::{PROMISES, Word};
use crate::here;
use crate::intercept::{CallInfo, Denied, Side, Watched};
use crate::interface::{Interface, Method};
use crate::message::written;
use crate::promise::{Ahead, Made};
use crate::reference::{As, Between, Giving, Import, Passed};
use crate::reflection::REFLECTION;
use crate::registry::REGISTRY;
use crate::session::Connection;
use crate::stream::{Carried, Nowhere, Pumps, Stream, StreamError, Taken};

/// An object of a server, as stubs hold it.
#[derive(Clone)]
pub struct Object {
    place: Place,
    /// How long a call waits.
    time: Duration,
    /// How it is made again.
    retries: Option<Retries>,
}

/// Where an object is.
#[derive(Clone)]
pub(crate) enum Place {
    /// What every peer has, by this number: its registry, or what it says of itself.
    Own(Connection, u32),
    /// At a peer.
    Import(Arc<Import>),
    /// In this program.
    Here(Arc<Node>),
    /// A call on its way will give it.
    Ahead(Arc<Ahead>),
}

impl Object {
    pub(crate) fn new(place: Place, time: Duration) -> Self {
        Self {
            place,
            time,
            retries: None,
        }
    }

    /// An object of this program.
    pub(crate) fn here(node: Arc<Node>) -> Self {
        Self::new(Place::Here(node), Duration::MAX)
    }

    /// An object that has come from a peer.
    pub(crate) fn imported(import: Arc<Import>) -> Self {
        let time = import.connection().session().terms.time;
        Self::new(Place::Import(import), time)
    }

    /// What the call gives that is on its way.
    pub(crate) fn ahead(ahead: Arc<Ahead>) -> Self {
        let time = ahead
            .way()
            .map_or(Duration::MAX, |(at, _)| at.session().terms.time);
        Self::new(Place::Ahead(ahead), time)
    }

    pub(crate) fn place(&self) -> &Place {
        match &self.place {
            Place::Ahead(ahead) => ahead.object().map_or(&self.place, Self::place),
            place => place,
        }
    }

    /// Whether it is there, or is going to be.
    fn is_there(&self, method: &'static Method) -> Result<(), CallError> {
        let failure = match self.place() {
            Place::Ahead(ahead) => ahead.failure(),
            _ => None,
        };
        match failure {
            Some(reason) => Err(CallError::NotGiven {
                method: method.name(),
                reason: reason.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// The object itself, where it is one of this program.
    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        match self.place() {
            Place::Here(node) => Some(node),
            Place::Own(..) | Place::Import(_) | Place::Ahead(_) => None,
        }
    }

    /// The same for objects that are the same. Objects of a peer are here once.
    pub(crate) fn identity(&self) -> usize {
        match self.place() {
            Place::Here(node) => Arc::as_ptr(node) as usize,
            Place::Import(import) => Arc::as_ptr(import) as usize,
            Place::Ahead(ahead) => Arc::as_ptr(ahead) as usize,
            Place::Own(peer, number) => {
                let peer = Arc::as_ptr(peer.references()) as usize;
                peer.wrapping_add(usize::from(*number != REGISTRY))
            }
        }
    }

    /// The connection by which it is reached. None in this program.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        Some(self.way()?.0)
    }

    /// The same, and by what number.
    fn way(&self) -> Option<(&Connection, u32)> {
        if let Place::Ahead(ahead) = &self.place {
            if let Some(way) = ahead.way_behind_others() {
                return Some(way);
            }
        }
        match self.place() {
            Place::Own(connection, number) => Some((connection, *number)),
            Place::Import(import) => Some((import.connection(), import.number())),
            Place::Ahead(ahead) => ahead.way(),
            Place::Here(_) => None,
        }
    }

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
        if let Place::Here(node) = self.place() {
            return self.begin_here(node, (index, method), arguments, Giving::none());
        }
        match self.retries {
            Some(retries) if method.is_idempotent() => {
                self.note(interface, index);
                self.begin_again(method, index, arguments, retries)
            }
            _ => Call::new(
                self.begin(interface, index, arguments, None),
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
        // What it leads to may have become known since.
        let Some((connection, number)) = self.way() else {
            return Err(CallError::Here {
                method: method.name(),
            });
        };
        let word = Word::aimed(word, number);
        match connection.call(word, &segments, deadline) {
            Ok(ticket) => Ok(self.sent(ticket, method, deadline, watched)),
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
            let Some((connection, number)) = self.way() else {
                return Err(CallError::Here {
                    method: method.name(),
                });
            };
            let word = Word::aimed(word, number);
            let watched = self.watched("", method, deadline, message.len() as u64)?;
            return match connection.call_one_way(word, &segments, deadline) {
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

    fn sent(
        &self,
        ticket: Ticket,
        method: &'static Method,
        deadline: Option<Instant>,
        watched: Option<Arc<Watched>>,
    ) -> Sent {
        Sent {
            ticket,
            method,
            deadline,
            _import: match self.place() {
                Place::Import(import) => Some(import.clone()),
                Place::Own(..) | Place::Here(_) | Place::Ahead(_) => None,
            },
            _ahead: match &self.place {
                Place::Ahead(ahead) => Some(ahead.called()),
                _ => None,
            },
            kept: None,
            watched,
            fetching: None,
        }
    }

    /// Calls a method of an object of this program.
    #[cold]
    fn begin_here<A, R>(
        &self,
        node: &Node,
        (index, method): (usize, &'static Method),
        arguments: &A,
        giving: Giving,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let begun = self.deadline(method).and_then(|deadline| {
            let payload = written(arguments, here::copied);
            let payload = payload.map_err(|source| CallError::Arguments {
                method: method.name(),
                source,
            })?;
            here::begin(node, (index, method), payload, giving.passing(), deadline)
        });
        match begun {
            Ok(running) => Call::here(running),
            Err(error) => Call::new(Err(error), None, Pumps::default()),
        }
    }

    /// The streams and references of a call that is about to be made.
    #[doc(hidden)]
    #[must_use]
    pub fn carried(&self) -> Carried {
        let argument = |between| Giving::new(between, As::Argument);
        match self.way() {
            Some((connection, _)) => Carried::new(
                Arc::new(connection.clone()),
                argument(Between::Peers(connection.clone())),
            ),
            None => Carried::new(
                Arc::new(Nowhere::default()),
                argument(Between::Here(Arc::default())),
            ),
        }
    }

    /// As [`call`](Self::call), with streams or references among the arguments.
    #[doc(hidden)]
    pub fn call_with<A, R>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Carried,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        self.call_carrying(interface, index, arguments, carried, None)
    }

    fn call_carrying<A, R>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Carried,
        fetch: Option<Fetching>,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        let (pumps, mut giving, has_streams) = carried.into_parts();
        let failed = |error| Call::new(Err(error), None, Pumps::default());
        if let Some(reason) = giving.take_failure() {
            let method = method.name();
            return failed(CallError::Reference { method, reason });
        }
        if let Place::Here(node) = self.place() {
            if has_streams {
                let method = method.name();
                return failed(CallError::Here { method });
            }
            return self.begin_here(node, (index, method), arguments, giving);
        }
        let result = fetch.as_ref().map(|fetch| fetch.drop_result);
        let made = fetch.and_then(|fetch| fetch.made);
        let kept = (result.is_some() || !giving.is_empty()).then(|| Kept { giving, result });
        let begun = self.begin(interface, index, arguments, Some((kept, made)));
        Call::new(begun, None, pumps)
    }

    /// As [`call_with`](Self::call_with), with references as the result.
    #[doc(hidden)]
    pub fn fetch<A, P>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Carried,
    ) -> RemoteCall<P>
    where
        A: Transportable,
        P: Passed,
    {
        let method = interface.method(index);
        let between = carried.between().clone();
        let drop_result = crate::call::drop_result::<P>;
        let made = match (self.way(), P::interface()) {
            (Some((connection, number)), Some(leads_to)) if number != REFLECTION => {
                Some(connection.session().promises.make(leads_to))
            }
            _ => None,
        };
        let fetch = Fetching { drop_result, made };
        let call = self.call_carrying(interface, index, arguments, carried, Some(fetch));
        RemoteCall::new(call, between, method, made)
    }

    /// As [`call_with`](Self::call_with), with a stream as the result.
    #[doc(hidden)]
    pub fn stream<A, T>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Carried,
        taken: Taken<T>,
    ) -> Stream<T>
    where
        A: Transportable,
        T: Transportable + 'static,
    {
        let method = interface.method(index);
        let deadline = match self.deadline(method) {
            Ok(deadline) => deadline,
            Err(error) => return Stream::failed(StreamError::Call(error)),
        };
        let call: Call<u64> = self.call_carrying(interface, index, arguments, carried, None);
        match call.into_failure() {
            Ok(call) => {
                let ending = Box::pin(async move { Ok(*call.await?.get()) });
                taken.stream(ending, deadline, self.clock())
            }
            Err(error) => Stream::failed(StreamError::Call(error)),
        }
    }

    /// Makes a call over the object's connection; with `carried`, over no other one.
    fn begin<A: Transportable>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Option<(Option<Kept>, Option<Made>)>,
    ) -> Result<Sent, CallError> {
        let method = interface.method(index);
        self.note(interface, index);
        let (deadline, word) = self.word(method, index)?;
        let made = carried.as_ref().and_then(|(_, made)| *made);
        let watched = self.watched(interface.name(), method, deadline, 0)?;
        // What it leads to may have become known since.
        let Some((connection, number)) = self.way() else {
            return Err(CallError::Here {
                method: method.name(),
            });
        };
        let word = Word::aimed(word, number);
        let sent = written(arguments, |segments| {
            if let Some(made) = made {
                let made = made.to_wire();
                let segments = segments.iter().copied().chain([IoSlice::new(&made)]);
                let segments: Vec<_> = segments.collect();
                let word = word | u64::from(PROMISES);
                return connection.call_here(word, &segments, deadline);
            }
            if carried.is_some() {
                return connection.call_here(word, segments, deadline);
            }
            connection.call(word, segments, deadline)
        });
        match sent {
            Ok(Ok(ticket)) => {
                let mut sent = self.sent(ticket, method, deadline, watched);
                sent.kept = carried.and_then(|(kept, _)| kept).map(Box::new);
                Ok(sent)
            }
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
        if let Place::Here(node) = self.place() {
            let call = self.begin_here::<A, ()>(node, (index, method), arguments, Giving::none());
            return call.end_here(method);
        }
        self.note(interface, index);
        let (deadline, word) = self.word(method, index)?;
        let watched = self.watched(interface.name(), method, deadline, 0)?;
        let Some((connection, number)) = self.way() else {
            let here = CallError::Here {
                method: method.name(),
            };
            return Err(ended(watched.as_ref(), here));
        };
        let word = Word::aimed(word, number);
        let sent = written(arguments, |segments| {
            connection.call_one_way(word, segments, deadline)
        });
        match sent {
            Ok(Ok(())) => {
                if let Place::Ahead(ahead) = &self.place {
                    ahead.called_one_way();
                }
                sent_one_way(watched.as_ref());
                Ok(())
            }
            failed => Err(ended(watched.as_ref(), not_sent(method, failed))),
        }
    }

    /// Keeps what a number stands for with a connection that is captured.
    #[inline]
    fn note(&self, interface: &'static Interface, index: usize) {
        if let Some((connection, number)) = self.way() {
            if let Some(capture) = &connection.session().terms.capture {
                capture.note(number, index, interface);
            }
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
        let Some((connection, number)) = self.way() else {
            return Ok(None);
        };
        let interceptors = &connection.session().terms.interceptors;
        let watched = interceptors.before(|| CallInfo {
            side: Side::Caller,
            object: number.into(),
            interface,
            method: method.name(),
            deadline,
            peer: connection.peer().endpoint().peer().clone(),
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
        let clock = self.clock();
        // What is left of an inherited time is to be known exactly.
        let now = clock.begin((!context::has_deadline()).then_some(self.time));
        let deadline = self.until(clock, now);
        let word = self.word_at(now, method, index, deadline)?;
        Ok((deadline, word))
    }

    /// What the deadlines of its calls go by.
    pub(crate) fn clock(&self) -> &Clock {
        self.connection().map_or(&Clock::SYSTEM, Connection::clock)
    }

    fn until(&self, clock: &Clock, now: Instant) -> Option<Instant> {
        let own = now.checked_add(self.time);
        let inherited = context::deadline(clock, now);
        match (own, inherited) {
            (Some(own), Some(inherited)) => Some(own.min(inherited)),
            (one, other) => one.or(other),
        }
    }

    /// The same, unless it has passed.
    fn deadline(&self, method: &'static Method) -> Result<Option<Instant>, CallError> {
        let clock = self.clock();
        let now = clock.now();
        let deadline = self.until(clock, now);
        if deadline.is_some_and(|then| then <= now) {
            return Err(too_late(method));
        }
        Ok(deadline)
    }

    fn word_until(
        &self,
        method: &'static Method,
        index: usize,
        deadline: Option<Instant>,
    ) -> Result<u64, CallError> {
        self.word_at(self.clock().now(), method, index, deadline)
    }

    fn word_at(
        &self,
        now: Instant,
        method: &'static Method,
        index: usize,
        deadline: Option<Instant>,
    ) -> Result<u64, CallError> {
        self.is_there(method)?;
        let time = deadline.map(|then| then.saturating_duration_since(now));
        if time == Some(Duration::ZERO) {
            return Err(too_late(method));
        }
        let word = Word {
            object: self.way().map_or(REGISTRY, |(_, number)| number),
            method: u16::try_from(index).unwrap_or(u16::MAX),
            time,
        };
        Ok(word.to_wire())
    }
}

/// A call whose result is references.
struct Fetching {
    drop_result: DropResult,
    /// Others may name it.
    made: Option<Made>,
}

/// Drops a result with references, so that their owner knows.
pub(crate) type DropResult = fn(&Connection, Filled);

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

fn too_late(method: &'static Method) -> CallError {
    CallError::Deadline {
        method: method.name(),
        outcome: Outcome::DidNotRun,
        idempotent: method.is_idempotent(),
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
        let mut object = f.debug_struct("Object");
        match self.place() {
            Place::Here(node) => object.field("here", node),
            Place::Own(..) | Place::Import(_) | Place::Ahead(_) => {
                object.field("number", &self.way().map(|(_, number)| number))
            }
        };
        object.finish()
    }
}
