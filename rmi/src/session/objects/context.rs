//! The call for which a method runs, as seen by the method.
//!
//! Decision 010 has the reasons.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream_active::{Mark, Replier, WeakMark};

use crate::frame::{Deadline, Metadata};
use crate::session::clock::Clock;
use crate::session::intercept::Watched;
use crate::session::peer_info::PeerInfo;

thread_local! {
    static CURRENT: Current = const {
        Current {
            runs: Cell::new(false),
            context: RefCell::new(None),
            deadline: Cell::new(Deadline::Never),
            call: RefCell::new(WeakMark::none()),
        }
    };
}

/// The call for which a method runs. Outside of methods, it is empty: it has no deadline and is
/// never cancelled.
///
/// ```
/// use jstream_rmi::{Client, Server, Stub, remote};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// #[remote]
/// trait Search {
///     fn steps(&self, most: u64) -> u64;
/// }
///
/// struct Patient;
///
/// impl Search for Patient {
///     fn steps(&self, most: u64) -> u64 {
///         let call = jstream_rmi::context();
///         assert!(call.time_left().is_some());
///         (0..most).take_while(|_| !call.is_over()).count() as u64
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::default();
/// server.bind::<dyn Search>("search", Arc::new(Patient))?;
/// let serving = server.listen(&"inproc://doc-context".parse()?)?;
/// let search = Client::connect(serving.address()).wait()?.lookup::<dyn Search>("search").wait()?;
/// let search = search.within(Duration::from_secs(5));
/// assert_eq!(*search.steps(10).wait()?.get(), 10);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Context {
    pub(crate) deadline: Option<Instant>,
    pub(crate) call: Option<Mark>,
    /// Interceptors of the call.
    pub(crate) watched: Option<Arc<Watched>>,
    pub(crate) metadata: Metadata,
}

/// The call for which a thread runs a method.
struct Current {
    /// True while the thread runs a method.
    runs: Cell<bool>,
    /// Context of the running method, lent by [`entered`]. If it is `None` while the thread runs a
    /// method, that is a plain method which is not nested in another, described by the other
    /// fields.
    context: RefCell<Option<Context>>,
    /// Deadline of the plain method, by the system clock.
    deadline: Cell<Deadline>,
    /// Call of the plain method. This handle is weak: once the call is answered and its connection
    /// is gone, it no longer resolves. It stays allocated for the next call, which usually comes
    /// from the same connection.
    call: RefCell<WeakMark>,
}

impl Current {
    fn context(&self) -> Option<Context> {
        if !self.runs.get() {
            return None;
        }
        let plain = || Context {
            deadline: self.deadline.get().moment(),
            call: self.call.borrow().upgrade(),
            // A plain method has no interceptors: the answer of a call that has some is not plain.
            watched: None,
            // A call with metadata lends a context.
            metadata: Metadata::default(),
        };
        // A clone, because the context may outlive the method, which takes its own back.
        Some(self.context.borrow().clone().unwrap_or_else(plain))
    }

    #[inline]
    fn has_deadline(&self) -> bool {
        self.runs.get() && self.inherits()
    }

    /// Returns true if the running method has a deadline.
    fn inherits(&self) -> bool {
        match &*self.context.borrow() {
            Some(context) => context.deadline.is_some(),
            None => self.deadline.get().is_some(),
        }
    }

    /// Returns true if calls that the running method makes inherit something.
    #[inline]
    fn passes_on(&self) -> bool {
        self.runs.get() && (self.inherits() || self.has_metadata())
    }

    fn has_metadata(&self) -> bool {
        let context = self.context.borrow();
        context
            .as_ref()
            .is_some_and(|context| !context.metadata.is_empty())
    }

    /// Returns the metadata of the running method.
    fn metadata(&self) -> Metadata {
        let context = self.context.borrow();
        let context = context.as_ref().filter(|_| self.runs.get());
        context
            .map(|context| context.metadata.clone())
            .unwrap_or_default()
    }

    /// Returns the deadline of the running method, converted to `clock`, whose current time is
    /// `now`.
    fn deadline(&self, clock: &Clock, now: Instant) -> Option<Instant> {
        if !self.runs.get() {
            return None;
        }
        let context = self.context.borrow();
        let (deadline, own) = match &*context {
            Some(context) => (context.deadline?, context.clock()),
            None => (self.deadline.get().moment()?, &Clock::SYSTEM),
        };
        if own.is(clock) {
            return Some(deadline);
        }
        // The clocks of two connections may run at different speeds, so the time that is left is
        // carried over, not the moment.
        now.checked_add(deadline.saturating_duration_since(own.now()))
    }
}

/// Returns the call for which this thread is running a method.
///
/// In an async method, this is the method's call between any two `.await`s. A thread or task that
/// the method starts has no call: use [`Context::enter`] to pass it on.
#[must_use = "returns the call without side effects"]
pub fn context() -> Context {
    CURRENT.with(Current::context).unwrap_or_default()
}

/// Returns true if this thread runs a method that a peer has called.
pub(crate) fn is_called() -> bool {
    CURRENT.with(|current| {
        let context = current.context.borrow();
        let is_called = |context: &Context| context.call.is_some();
        // Without a context, the method is a plain one, which only peers call: local calls always
        // lend a context.
        current.runs.get() && context.as_ref().is_none_or(is_called)
    })
}

/// Returns true if this thread runs a method whose call has a deadline.
#[inline]
pub(crate) fn has_deadline() -> bool {
    CURRENT.with(Current::has_deadline)
}

/// Returns true if this thread runs a method from whose call other calls inherit a deadline or
/// metadata.
#[inline]
pub(crate) fn passes_on() -> bool {
    CURRENT.with(Current::passes_on)
}

/// Returns the metadata that calls of this thread inherit.
pub(crate) fn inherited_metadata() -> Metadata {
    CURRENT.with(Current::metadata)
}

/// Returns the deadline of the method that this thread runs, converted to `clock`, whose current
/// time is `now`.
pub(crate) fn inherited_deadline(clock: &Clock, now: Instant) -> Option<Instant> {
    CURRENT.with(|current| current.deadline(clock, now))
}

impl Context {
    /// Returns the deadline of the call, if it has one. Calls that the method makes inherit it.
    ///
    /// The deadline is counted from when the server took the call from the connection, by the
    /// server's [clock](crate::ServerOptions::clock).
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the time until the deadline: zero if it has passed, `None` if there is no deadline.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(self.clock().now()))
    }

    /// Returns true if the caller has cancelled the call by dropping it, or if its connection has
    /// ended. Polls the connection for messages, which takes a system call: a method that computes
    /// for long should check only occasionally.
    ///
    /// An async method is ended automatically at its current `.await`.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.call.as_ref().is_some_and(Mark::is_cancelled)
    }

    /// Returns true if the caller no longer waits: the call was cancelled, or its deadline has
    /// passed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.time_left() == Some(Duration::ZERO) || self.is_cancelled()
    }

    /// Returns the caller's address and its identity, as far as it is known. `None` outside of
    /// methods, and if the caller belongs to this program and called without a connection.
    #[must_use]
    pub fn peer(&self) -> Option<PeerInfo> {
        Some(PeerInfo::from_peer(&self.call.as_ref()?.peer()))
    }

    /// Returns the metadata of the call. Calls that the method makes inherit it.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Replaces the metadata that calls inherit which are made in [`enter`](Self::enter). Empty
    /// metadata ends the inheritance. Also works outside of methods:
    ///
    /// ```
    /// # use jstream_rmi::{Metadata, context};
    /// let mut metadata = Metadata::default();
    /// metadata.insert("tenant", "acme")?;
    /// context().with_metadata(metadata).enter(|| {
    ///     // All calls that start here carry the entry.
    ///     assert_eq!(context().metadata().get("tenant"), Some("acme"));
    /// });
    /// # Ok::<(), jstream_rmi::MetadataError>(())
    /// ```
    #[must_use]
    pub fn with_metadata(self, metadata: Metadata) -> Self {
        Self { metadata, ..self }
    }

    /// Runs `work` as part of the method: calls that it makes inherit the deadline and the
    /// metadata.
    pub fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        entered(&mut self.clone(), work)
    }
}

/// Runs `work` as part of a call. The context is moved to the thread meanwhile, and back
/// afterwards.
pub(crate) fn entered<R>(context: &mut Context, work: impl FnOnce() -> R) -> R {
    struct Entered<'c> {
        context: &'c mut Context,
        before: Option<Context>,
        ran: bool,
    }
    impl Drop for Entered<'_> {
        fn drop(&mut self) {
            let before = self.before.take();
            let lent = CURRENT.with(|current| {
                current.runs.set(self.ran);
                current.context.replace(before)
            });
            if let Some(context) = lent {
                *self.context = context;
            }
        }
    }
    // Cloned first: the next statement lends the context to the thread and leaves an empty one.
    let watched = context.watched.clone();
    let lent = Some(std::mem::take(context));
    // Methods are nested if a method waits for a call and its thread serves another one meanwhile.
    // The outer context comes back when the inner method ends or unwinds.
    let (ran, before) =
        CURRENT.with(|current| (current.runs.replace(true), current.context.replace(lent)));
    // The guard exists before the work begins, so that a panic of the method can't leave its
    // context in the thread for the next call.
    let _entered = Entered {
        context,
        before,
        ran,
    };
    match watched {
        None => work(),
        Some(watched) => inside(&watched, work),
    }
}

/// Guard during which this thread runs a plain method.
pub(crate) struct Plain(());

impl Plain {
    /// Begins the method of the call that `replier` answers. The deadline is by the system clock.
    /// Returns `None` if the method is nested in another method of this thread.
    #[inline]
    pub(crate) fn begin(replier: &Replier, deadline: Deadline) -> Option<Self> {
        CURRENT.with(|current| {
            // A nested method has to keep the deadline and the call of the outer one, which these
            // cells have. It takes the path with a context of its own.
            if current.runs.replace(true) {
                return None;
            }
            current.deadline.set(deadline);
            // Weak and reused: a strong handle would keep the connection of the last caller open
            // for as long as the thread exists.
            current.call.borrow_mut().set(replier);
            Some(Self(()))
        })
    }
}

impl Drop for Plain {
    #[inline]
    fn drop(&mut self) {
        // The deadline and the call stay, because nothing reads them unless `runs` is set. The next
        // method overwrites them.
        CURRENT.with(|current| current.runs.set(false));
    }
}

/// Runs the work inside the interceptors of the call.
fn inside<R>(watched: &Watched, work: impl FnOnce() -> R) -> R {
    let (mut work, mut result) = (Some(work), None);
    watched.run(&mut || {
        // An interceptor may call the function twice. The method runs once.
        if let Some(work) = work.take() {
            result = Some(work());
        }
    });
    match (result, work) {
        (Some(result), _) => result,
        // An interceptor did not run the work.
        // The caller is owed an answer, and an interceptor denies a call in `before`, not here.
        (None, Some(work)) => work(),
        (None, None) => unreachable!("the work has run or panicked"),
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("deadline", &self.deadline)
            .field("call", &self.call)
            .finish()
    }
}
