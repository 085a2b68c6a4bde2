//! What sees each call before and after it, on either side.

#[cfg(feature = "metrics")]
mod metered;
mod traced;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jstream_transport::Address;

#[cfg(feature = "metrics")]
pub use self::metered::Metered;
pub use self::traced::Traced;
use crate::error::Outcome;
use crate::sync::lock;

/// Which side of a call is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one that makes it.
    Caller,
    /// The one whose object is called.
    Callee,
}

/// A call, as interceptors see it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallInfo {
    /// Whose interceptor it is.
    pub side: Side,
    /// The number of the object at its side.
    pub object: u64,
    /// The name of the object's trait; nothing for a call [by description](crate::Described) at its caller.
    pub interface: &'static str,
    /// The name of the method.
    pub method: &'static str,
    /// When the caller stops waiting, if it ever does.
    pub deadline: Option<Instant>,
    /// The other side of the connection.
    pub peer: Address,
    /// The bytes of the arguments' message, 0 where there are none; at the caller 0, where they have not been written
    /// yet.
    pub bytes: u64,
}

/// How a call has ended, as far as this side knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEnd {
    /// Whether there is a result, and if not, whether the method ran. A method that fails by its own `Result` has one; that
    /// of a call that nobody answers is that it was sent, or has returned.
    pub result: Result<(), Outcome>,
    /// How long it took.
    pub time: Duration,
    /// The bytes of the result's message, 0 where there is none.
    pub bytes: u64,
}

/// Why an interceptor does not let a call through, in words that its caller sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied(pub String);

/// Sees the calls of a connection: set by [`ServerOptions::interceptors`](crate::ServerOptions::interceptors) and
/// [`ClientOptions::interceptors`](crate::ClientOptions::interceptors). Calls of the registry are among them.
///
/// ```
/// use jstream_rmi::{CallInfo, Client, Denied, Interceptor, Interceptors, Server, ServerOptions, Watch, remote};
/// use std::sync::Arc;
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
/// let door = Client::connect(serving.address())?.lookup::<dyn Door>("door")?;
/// let denied = door.open().wait().unwrap_err();
/// assert!(denied.to_string().contains("not for inproc"));
/// # Ok(())
/// # }
/// ```
pub trait Interceptor: Send + Sync + 'static {
    /// A call is about to be made, or to run: what watches it from now on. Where a later interceptor does not let it
    /// through, that is told its end, too.
    ///
    /// # Errors
    ///
    /// [`Denied`] where the call is not to run. Its caller gets [`CallError::Denied`](crate::CallError::Denied).
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied>;
}

/// Watches one call.
pub trait Watch: Send + Sync {
    /// Runs a part of the method, at its side: the whole of a plain one, and an async one each time that it goes on. What
    /// is to be known to all that the method does is set here.
    fn run(&self, work: &mut dyn FnMut()) {
        work();
    }

    /// The call has ended.
    fn after(&self, call: &CallInfo, end: &CallEnd) {
        let _ = (call, end);
    }
}

/// Watches nothing.
impl Watch for () {}

/// What sees each call, in order. None by default, which costs nothing.
#[derive(Clone, Default)]
pub struct Interceptors(Option<Arc<[Arc<dyn Interceptor>]>>);

impl Interceptors {
    /// The same, and another one, inside the others.
    #[must_use]
    pub fn and(self, interceptor: impl Interceptor) -> Self {
        let mut all = self.0.map_or_else(Vec::new, |all| all.to_vec());
        all.push(Arc::new(interceptor));
        Self(Some(all.into()))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// A call begins: nothing where nobody sees it.
    #[inline]
    pub(crate) fn before(
        &self,
        call: impl FnOnce() -> CallInfo,
    ) -> Result<Option<Arc<Watched>>, Denied> {
        match &self.0 {
            None => Ok(None),
            Some(all) => Watched::begin(all, call()).map(Some),
        }
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.as_ref().map_or(0, |all| all.len());
        f.debug_tuple("Interceptors").field(&count).finish()
    }
}

/// A call that is seen. One that is dropped before its end is known may have run.
pub(crate) struct Watched {
    call: CallInfo,
    watches: Vec<Box<dyn Watch>>,
    since: Instant,
    ended: Mutex<bool>,
}

impl Watched {
    #[cold]
    fn begin(all: &[Arc<dyn Interceptor>], call: CallInfo) -> Result<Arc<Self>, Denied> {
        let mut watched = Self {
            call,
            watches: Vec::with_capacity(all.len()),
            since: Instant::now(),
            ended: Mutex::new(false),
        };
        for interceptor in all {
            match interceptor.before(&watched.call) {
                Ok(watch) => watched.watches.push(watch),
                Err(denied) => {
                    watched.end(Err(Outcome::DidNotRun), 0);
                    return Err(denied);
                }
            }
        }
        Ok(Arc::new(watched))
    }

    /// Runs a part of the method, inside all of them.
    pub(crate) fn run(&self, work: &mut dyn FnMut()) {
        fn inside(watches: &[Box<dyn Watch>], work: &mut dyn FnMut()) {
            match watches.split_first() {
                Some((first, rest)) => first.run(&mut || inside(rest, work)),
                None => work(),
            }
        }
        inside(&self.watches, work);
    }

    /// It has ended: the first that is said counts.
    pub(crate) fn end(&self, result: Result<(), Outcome>, bytes: u64) {
        if std::mem::replace(&mut *lock(&self.ended), true) {
            return;
        }
        let end = CallEnd {
            result,
            time: self.since.elapsed(),
            bytes,
        };
        for watch in self.watches.iter().rev() {
            watch.after(&self.call, &end);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.end(Err(Outcome::MayHaveRun), 0);
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watched").field(&self.call).finish()
    }
}
