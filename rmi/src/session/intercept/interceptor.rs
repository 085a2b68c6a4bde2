//! Interceptors, and the calls that they watch.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jstream_sync::callbacks;
use jstream_sync::panics::catch_panic;

use crate::frame::Metadata;
use crate::session::intercept::stop_switch::StopSwitch;
use crate::session::peer_info::PeerInfo;
use crate::support::{MetadataError, Outcome, lock};

/// The side of a call on which an interceptor runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side that makes the call.
    Caller,
    /// The side of the called object.
    Callee,
}

/// A call, as interceptors see it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallInfo {
    /// The side on which the interceptor runs.
    pub side: Side,
    /// The number of the object, as assigned by its side.
    pub object: u64,
    /// The name of the object's trait. Empty at the caller of a call [by
    /// description](crate::Described).
    pub interface: &'static str,
    /// The name of the method.
    pub method: &'static str,
    /// The deadline of the call, if it has one.
    pub deadline: Option<Instant>,
    /// The other side of the connection.
    pub peer: PeerInfo,
    /// Length of the arguments' message in bytes. 0 if there are no arguments, and at the caller
    /// before they were written: [`Interceptor::before`] may get 0, [`Watch::after`] the length.
    pub bytes: u64,
    /// The metadata of the call. At the caller, interceptors see what earlier ones have
    /// [added](Watch::add_metadata).
    pub metadata: Metadata,
}

/// The end of a call, as far as this side knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEnd {
    /// `Ok` if there is a result; otherwise, whether the method ran. A method that returns an `Err`
    /// of its own has a result. A one-way call has a result at the caller once it is sent, and at
    /// the callee once the method has returned.
    pub result: Result<(), Outcome>,
    /// Duration of the call.
    pub time: Duration,
    /// Length of the result's message in bytes, 0 if there is none.
    pub bytes: u64,
}

/// Reason for which an interceptor denies a call. The caller sees the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied(pub String);

impl From<MetadataError> for Denied {
    fn from(error: MetadataError) -> Self {
        Self(error.to_string())
    }
}

/// An observer of the calls of a connection, which may deny them. Set it with
/// [`ServerOptions::interceptors`](crate::ServerOptions::interceptors) or
/// [`ClientOptions::interceptors`](crate::ClientOptions::interceptors). Calls of the registry are
/// intercepted, too.
///
/// ```
/// use jstream_rmi::{CallInfo, Client, Denied, Interceptor, Interceptors, Server, ServerOptions,
/// Watch, remote}; use std::sync::Arc;
///
/// #[remote]
/// trait Door {
///     fn open(&self) -> bool;
/// }
///
/// struct Plain;
///
/// impl Door for Plain {
///     fn open(&self) -> bool {
///         true
///     }
/// }
///
/// struct Closed;
///
/// impl Interceptor for Closed {
///     fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
///         match call.method {
///             "open" => Err(Denied(format!("not for {}", call.peer))),
///             _ => Ok(Box::new(())),
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut options = ServerOptions::default();
/// options.interceptors = Interceptors::default().and(Closed);
/// let server = Server::new(options);
/// server.bind::<dyn Door>("door", Arc::new(Plain))?;
/// let serving = server.listen(&"inproc://doc-interceptors".parse()?)?;
/// let door = Client::connect(serving.address()).wait()?.lookup::<dyn Door>("door").wait()?;
/// let denied = door.open().wait().unwrap_err();
/// assert!(denied.to_string().contains("not for inproc"));
/// # Ok(())
/// # }
/// ```
pub trait Interceptor: Send + Sync + 'static {
    /// Called before a call is sent, or before its method runs. The returned value watches the
    /// call. If a later interceptor denies the call, the value is notified of the end, too.
    ///
    /// # Errors
    ///
    /// [`Denied`] if the call must not run. Its caller gets
    /// [`CallError::Denied`](crate::CallError::Denied).
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied>;
}

/// An observer of one call.
pub trait Watch: Send + Sync {
    /// Changes the metadata of a call that is about to be sent, on the side of the caller. A
    /// tracing library adds the trace context of the span that the call has got.
    ///
    /// # Errors
    ///
    /// [`Denied`] if the call must not be sent, such as for a
    /// [`MetadataError`](crate::MetadataError).
    fn add_metadata(&self, metadata: &mut Metadata) -> Result<(), Denied> {
        let _ = metadata;
        Ok(())
    }

    /// Runs a part of the method, on the side of the object: a plain method as a whole, an async
    /// method each time that it is polled. Override it to set up the environment of the method,
    /// such as thread-local values.
    fn run(&self, work: &mut dyn FnMut()) {
        work();
    }

    /// Called when the call has ended. A panic is reported by the panic hook, and has no other
    /// effect.
    fn after(&self, call: &CallInfo, end: &CallEnd) {
        let _ = (call, end);
    }
}

/// Does not observe anything.
impl Watch for () {}

/// An intercepted call. If it is dropped before its end is known, the method may have run.
pub(crate) struct Watched {
    call: CallInfo,
    observers: Vec<Box<dyn Watch>>,
    since: Instant,
    ended: Mutex<bool>,
    /// Length in bytes of the arguments that were written after the beginning, or 0.
    written: AtomicU64,
    /// Ends the method before its time, if layers surround the call.
    stop_switch: Option<Arc<StopSwitch>>,
}

impl Watched {
    /// Returns the call with another observer inside the others, and with the switch that ends its
    /// method. `watched` is not shared.
    pub(crate) fn surrounded(
        watched: Option<Arc<Self>>,
        call: impl FnOnce() -> CallInfo,
        observer: Box<dyn Watch>,
        stop_switch: Arc<StopSwitch>,
    ) -> Arc<Self> {
        let mut watched = watched.unwrap_or_else(|| Arc::new(Self::new(call(), 1)));
        if let Some(watched) = Arc::get_mut(&mut watched) {
            watched.observers.push(observer);
            watched.stop_switch = Some(stop_switch);
        }
        watched
    }

    /// Returns the switch that ends the method, if layers surround the call.
    pub(crate) fn stop_switch(&self) -> Option<&Arc<StopSwitch>> {
        self.stop_switch.as_ref()
    }

    fn new(call: CallInfo, count: usize) -> Self {
        Self {
            call,
            observers: Vec::with_capacity(count),
            since: Instant::now(),
            ended: Mutex::new(false),
            written: AtomicU64::new(0),
            stop_switch: None,
        }
    }

    /// Notifies the interceptors of a new call.
    pub(super) fn begin(all: &[Arc<dyn Interceptor>], call: CallInfo) -> Result<Arc<Self>, Denied> {
        let mut watched = Self::new(call, all.len());
        for interceptor in all {
            // The watches so far are told that the call did not run. The panic then goes on in the
            // thread that makes or serves the call.
            let added = catch_unwind(AssertUnwindSafe(|| watched.add(interceptor.as_ref())));
            match added {
                Ok(Ok(())) => {}
                Ok(Err(denied)) => {
                    watched.end(Err(Outcome::DidNotRun), 0);
                    return Err(denied);
                }
                Err(panic) => {
                    watched.end(Err(Outcome::DidNotRun), 0);
                    resume_unwind(panic);
                }
            }
        }
        Ok(Arc::new(watched))
    }

    fn add(&mut self, interceptor: &dyn Interceptor) -> Result<(), Denied> {
        let observer = interceptor.before(&self.call)?;
        // It is notified of the end, whatever it does next.
        self.observers.push(observer);
        match (self.call.side, self.observers.last()) {
            // At the callee the metadata has arrived, and is what the caller has sent.
            (Side::Caller, Some(observer)) => observer.add_metadata(&mut self.call.metadata),
            _ => Ok(()),
        }
    }

    /// Returns the metadata of the call, with that of the interceptors.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.call.metadata
    }

    /// Records the length of the arguments, which have been written.
    pub(crate) fn record_arguments(&self, bytes: u64) {
        self.written.store(bytes, Ordering::Relaxed);
    }

    /// Runs a part of the method inside all interceptors.
    pub(crate) fn run(&self, work: &mut dyn FnMut()) {
        fn inside(observers: &[Box<dyn Watch>], work: &mut dyn FnMut()) {
            match observers.split_first() {
                Some((first, rest)) => first.run(&mut || inside(rest, work)),
                None => work(),
            }
        }
        inside(&self.observers, work);
    }

    /// Notifies the interceptors of the end of the call. Only the first notification has an effect.
    /// Panics are caught, because the outcome of the call does not depend on its observers.
    pub(crate) fn end(&self, result: Result<(), Outcome>, bytes: u64) {
        // A call may end in two threads at once: its answer arrives while its caller drops it. The
        // first end counts.
        if std::mem::replace(&mut *lock(&self.ended), true) {
            return;
        }
        let end = CallEnd {
            result,
            time: self.since.elapsed(),
            bytes,
        };
        // The call is copied only if it has changed, which it has at the caller of an intercepted
        // call with arguments.
        let mut call = Cow::Borrowed(&self.call);
        let written = self.written.load(Ordering::Relaxed);
        if written > 0 {
            call.to_mut().bytes = written;
        }
        // Interceptors that were begun first enclose the later ones, as with `run`.
        for observer in self.observers.iter().rev() {
            catch_panic(|| observer.after(&call, &end));
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // A thread that drops the call without an end does not know whether the method ran.
        self.end(Err(Outcome::MayHaveRun), 0);
        for observer in std::mem::take(&mut self.observers) {
            // An observer is code of the program, and a panic in its drop must not keep the others
            // from being dropped.
            callbacks::run(move || drop(observer));
        }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watched").field(&self.call).finish()
    }
}
