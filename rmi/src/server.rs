//! Serving objects: exports, connections, and the dispatch of calls.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use jstream::{Filled, Limits, ReadError, Reader, Received, Transportable, WriteError, Writer};
use jstream_transport::{Address, Endpoint, Message, Options, RecvError, SendError};

use crate::error::{BindError, ServeError};
use crate::exports::{Exported, Exports};
use crate::frame::{Code, Frame};
use crate::interface::Remotable;
use crate::registry::{Names, Registry};

mod serving;

pub use serving::Serving;

/// What a server accepts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The transport's limits and time-outs, and the pool that arguments are received into.
    pub transport: Options,
    /// What is accepted as arguments (default: as [`Limits`]). Answers the
    /// threat of graphs so deep that a method which recurses over them overflows its stack.
    pub limits: Limits,
    /// Connections at once (default 256); further ones are closed as they come. Answers the threat
    /// of peers who open more than we have memory and threads for.
    pub max_connections: usize,
    /// How long a connection may be open before its first call (default 30 s). Answers the threat
    /// of peers who open connections and leave them. A client looks something up at once, and may
    /// then be idle for as long as it likes.
    pub first_call_timeout: Duration,
    /// The longest name in bytes (default 256).
    pub max_name: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            transport: Options::default(),
            limits: Limits::default(),
            max_connections: 256,
            first_call_timeout: Duration::from_secs(30),
            max_name: 256,
        }
    }
}

/// Exports objects under names. Cheap to clone; clones export the same objects.
#[derive(Debug, Clone)]
pub struct Server {
    exports: Arc<Exports>,
    options: ServerOptions,
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
        let exports = Arc::new_cyclic(|exports| {
            let registry: Arc<dyn Registry> = Arc::new(Names {
                exports: exports.clone(),
            });
            Exports::new(registry)
        });
        Self { exports, options }
    }

    /// Binds an object to a name under which clients find it.
    ///
    /// # Errors
    ///
    /// [`BindError`] when the name is taken or too long.
    pub fn bind<T: Remotable + ?Sized>(&self, name: &str, object: Arc<T>) -> Result<(), BindError> {
        self.check_name(name)?;
        self.exports.bind(name, Exported::new(object), false)
    }

    /// Binds an object to a name, in the place of what was bound to it.
    ///
    /// # Errors
    ///
    /// [`BindError`] when the name is too long.
    pub fn rebind<T: Remotable + ?Sized>(
        &self,
        name: &str,
        object: Arc<T>,
    ) -> Result<(), BindError> {
        self.check_name(name)?;
        self.exports.bind(name, Exported::new(object), true)
    }

    /// Frees a name; says whether something was bound to it. Calls to the object fail from then
    /// on, but for those that run.
    #[must_use = "says whether something was bound to the name"]
    pub fn unbind(&self, name: &str) -> bool {
        self.exports.unbind(name)
    }

    /// Accepts connections at `address` until the returned handle is dropped or told to stop.
    ///
    /// # Errors
    ///
    /// [`ServeError`] when the address can't be listened on.
    pub fn listen(&self, address: &Address) -> Result<Serving, ServeError> {
        Serving::start(self.exports.clone(), address, &self.options)
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

/// A call whose arguments have arrived.
#[derive(Debug)]
pub struct Incoming<'c> {
    payload: Filled,
    number: u64,
    context: &'c mut Context,
    endpoint: &'c Endpoint,
}

/// What a connection keeps from call to call.
#[derive(Debug)]
pub(crate) struct Context {
    reader: Reader,
    writer: Writer,
}

/// Where the reply to a call goes.
#[derive(Debug)]
pub struct Answer<'c> {
    number: u64,
    writer: &'c mut Writer,
    endpoint: &'c Endpoint,
}

/// Why a call was not replied to.
#[derive(Debug)]
pub enum Failed {
    /// The object's interface has no such method.
    UnknownMethod,
    /// The arguments are damaged, or of other types.
    Arguments(ReadError),
    /// The result could not be written.
    Result(WriteError),
    /// The result could not be sent.
    Send(SendError),
}

impl<'c> Incoming<'c> {
    /// Reads the arguments where they are.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] when they are not an `A`.
    pub fn arguments<A>(self) -> Result<(Received<A>, Answer<'c>), Failed>
    where
        A: Transportable + 'static,
    {
        let Context { reader, writer } = self.context;
        let arguments = reader
            .read::<A>(self.payload)
            .map_err(|failure| Failed::Arguments(failure.error))?;
        let answer = Answer {
            number: self.number,
            writer,
            endpoint: self.endpoint,
        };
        Ok((arguments, answer))
    }
}

impl Answer<'_> {
    /// Sends the result.
    ///
    /// # Errors
    ///
    /// [`Failed`] when it can't be written or sent.
    pub fn reply<R: Transportable>(self, result: &R) -> Result<(), Failed> {
        let header = Frame::Reply {
            number: self.number,
        }
        .header();
        self.writer
            .gather(result, |segments| {
                self.endpoint.send_message(header, segments)
            })
            .map_err(Failed::Result)?
            .map_err(Failed::Send)
    }
}

/// Serves the calls of one connection, one after another, until it ends.
fn serve(exports: &Exports, options: &ServerOptions, endpoint: &Endpoint) {
    let mut context = Context {
        reader: Reader::new(options.limits),
        writer: Writer::new(),
    };
    let patience = options.transport.message_timeout;
    let mut next = receive(patience, || {
        endpoint.recv_message_timeout(options.first_call_timeout)
    });
    while let Some(message) = next {
        if answer(exports, message, &mut context, endpoint).is_err() {
            return;
        }
        next = receive(patience, || endpoint.recv_message());
    }
}

/// The next message. One that finds no room in the pool waits for others to leave it.
fn receive(
    patience: Duration,
    mut recv: impl FnMut() -> Result<Message, RecvError>,
) -> Option<Message> {
    const PAUSE: Duration = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        match recv() {
            Ok(message) => return Some(message),
            Err(RecvError::NoBuffer { .. }) if waited < patience => {
                thread::sleep(PAUSE);
                waited = waited.saturating_add(PAUSE);
            }
            Err(_) => return None,
        }
    }
}

/// The connection is of no use any more.
struct Ended;

/// Calls what a message asks for. Whatever goes wrong ends the call; what makes the connection
/// useless ends that.
fn answer(
    exports: &Exports,
    message: Message,
    context: &mut Context,
    endpoint: &Endpoint,
) -> Result<(), Ended> {
    let Some(Frame::Call {
        number,
        object,
        method,
    }) = Frame::parse(&message.header)
    else {
        return Err(Ended);
    };
    let Some((interface, dispatch)) = exports.object(object) else {
        return refuse(number, Code::UnknownObject, "", context, endpoint);
    };
    let known = || format!("it has {}", interface.description());
    let Some(method) = interface.find(method) else {
        return refuse(number, Code::UnknownMethod, &known(), context, endpoint);
    };
    let incoming = Incoming {
        payload: message.payload,
        number,
        context,
        endpoint,
    };
    // The object itself decides what a panic leaves behind: it is shared, so it guards its state
    // with locks, which are poisoned. Writer and reader begin anew with each message.
    // It may have been unbound meanwhile, and be dropped here.
    let result = catch_unwind(AssertUnwindSafe(move || dispatch(method, incoming)));
    match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Failed::UnknownMethod)) => {
            refuse(number, Code::UnknownMethod, &known(), context, endpoint)
        }
        Ok(Err(Failed::Arguments(error))) => {
            let reason = error.to_string();
            refuse(number, Code::Arguments, &reason, context, endpoint)
        }
        Ok(Err(Failed::Result(error))) => {
            refuse(number, Code::Result, &error.to_string(), context, endpoint)
        }
        Ok(Err(Failed::Send(
            error @ (SendError::TooLarge { .. } | SendError::NoBuffer { .. }),
        ))) => refuse(number, Code::Result, &error.to_string(), context, endpoint),
        Ok(Err(Failed::Send(_))) => Err(Ended),
        Err(panic) => {
            forget_panic(panic);
            refuse(number, Code::Panicked, "", context, endpoint)
        }
    }
}

/// Drops what a method panicked with, which may panic in turn.
fn forget_panic(mut panic: Box<dyn Any + Send>) {
    const PATIENCE: usize = 8;
    for _ in 0..PATIENCE {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(again) => panic = again,
        }
    }
    // Whoever panics out of `Drop` without end keeps its memory.
    std::mem::forget(panic);
}

/// The longest reason that is told to a peer, in bytes.
const LONGEST_REASON: usize = 1024;

/// Sends an error instead of a result.
fn refuse(
    number: u64,
    code: Code,
    reason: &str,
    context: &mut Context,
    endpoint: &Endpoint,
) -> Result<(), Ended> {
    let mut end = reason.len().min(LONGEST_REASON);
    while !reason.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let reason = reason.get(..end).unwrap_or_default();
    let header = Frame::Error { number, code }.header();
    let mut send = |reason: &str| {
        context
            .writer
            .gather(&reason, |segments| endpoint.send_message(header, segments))
    };
    match send(reason) {
        Ok(Ok(())) => Ok(()),
        // A peer that takes next to nothing may have the code alone.
        Ok(Err(SendError::TooLarge { .. })) if !reason.is_empty() => match send("") {
            Ok(Ok(())) => Ok(()),
            _ => Err(Ended),
        },
        Ok(Err(_)) | Err(_) => Err(Ended),
    }
}

/// Counts connections, and gives each its place back.
#[derive(Debug, Default)]
struct Places {
    taken: AtomicUsize,
}

impl Places {
    fn take(self: &Arc<Self>, most: usize) -> Option<Place> {
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                (taken < most).then(|| taken.wrapping_add(1))
            })
            .ok()
            .map(|_| Place(self.clone()))
    }
}

/// The place of one connection.
#[derive(Debug)]
struct Place(Arc<Places>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}
