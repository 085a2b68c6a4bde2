//! What a method may know of the call that it runs for.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::{Duration, Instant};

use std::sync::Arc;

use jstream_transport::active::{Mark, Replier, WeakMark};

use crate::client::Client;
use crate::clock::Clock;
use crate::frame::Deadline;
use crate::intercept::Watched;
use crate::session::{Connection, Session};

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

/// The call that a method runs for. Outside of methods there is none, no deadline, and nobody who gives up.
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
/// let search = Client::connect(serving.address())?.lookup::<dyn Search>("search")?;
/// let search = search.within(Duration::from_secs(5));
/// assert_eq!(*search.steps(10).wait()?.get(), 10);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Context {
    pub(crate) deadline: Option<Instant>,
    /// The call.
    pub(crate) call: Option<Mark>,
    /// What sees the call.
    pub(crate) watched: Option<Arc<Watched>>,
}

/// What a thread runs.
struct Current {
    /// Something is here.
    runs: Cell<bool>,
    /// Lent by who goes on with the call.
    context: RefCell<Option<Context>>,
    /// Else it is a plain method, beneath which nothing runs: its deadline, by the clock of the system.
    deadline: Cell<Deadline>,
    /// And its call, whose connection others have: it is not found when that is gone, behind the answer. Its memory stays for
    /// the next call, which is of the same connection as a rule.
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
            watched: None,
        };
        Some(self.context.borrow().clone().unwrap_or_else(plain))
    }

    #[inline]
    fn has_deadline(&self) -> bool {
        self.runs.get() && self.inherits()
    }

    /// Whether the method that it runs has a deadline.
    fn inherits(&self) -> bool {
        match &*self.context.borrow() {
            Some(context) => context.deadline.is_some(),
            None => self.deadline.get().is_some(),
        }
    }

    /// When its caller stops waiting, by a clock where it is `now`.
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
        now.checked_add(deadline.saturating_duration_since(own.now()))
    }
}

/// The call that this thread runs a method for, at this moment.
///
/// In an async method it is the method's call between any two `.await`s. A thread or task that the method
/// starts has none: [`Context::enter`] gives it this one.
#[must_use = "says what is known of the call"]
pub fn context() -> Context {
    CURRENT.with(Current::context).unwrap_or_default()
}

/// Whether this thread runs a method that a peer has called.
pub(crate) fn is_called() -> bool {
    CURRENT.with(|current| {
        let context = current.context.borrow();
        let is_called = |context: &Context| context.call.is_some();
        current.runs.get() && context.as_ref().is_none_or(is_called)
    })
}

/// Whether this thread runs a method whose caller does not wait for ever.
#[inline]
pub(crate) fn has_deadline() -> bool {
    CURRENT.with(Current::has_deadline)
}

/// When the caller of the method that this thread runs stops waiting, by a clock where it is `now`.
pub(crate) fn deadline(clock: &Clock, now: Instant) -> Option<Instant> {
    CURRENT.with(|current| current.deadline(clock, now))
}

impl Context {
    /// When the caller stops waiting, if it ever does. Calls that the method makes wait no longer
    /// than that.
    ///
    /// The time counts from when the server has taken the call from the connection, and goes by its
    /// [clock](crate::ServerOptions::clock).
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// How long it is until the deadline: zero when it has passed, `None` where there is none.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(self.clock().now()))
    }

    /// What the deadline goes by.
    pub(crate) fn clock(&self) -> &Clock {
        let session = self.call.as_ref().and_then(Mark::attached::<Session>);
        session.map_or(&Clock::SYSTEM, |session| &session.terms.clock)
    }

    /// The other side of the connection, to call objects that it exports. The caller serves such calls while it waits
    /// for this one.
    #[must_use]
    pub fn caller(&self) -> Option<Client> {
        let call = self.call.as_ref()?;
        Some(Client::of(Connection::of(call.peer())))
    }

    /// Whether the caller has given the call up, by dropping it, or its connection has ended. Looks at what has come on
    /// the connection meanwhile, which takes a call of the system: a method that computes asks now and then.
    ///
    /// An async method ends by itself at the `.await` that it waits at.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.call.as_ref().is_some_and(Mark::is_cancelled)
    }

    /// Whether nobody waits for the result any more: the call was given up, or its deadline has passed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.time_left() == Some(Duration::ZERO) || self.is_cancelled()
    }

    /// Runs `work` as if it were the method itself: what it calls inherits the deadline.
    pub fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        entered(&mut self.clone(), work)
    }
}

/// Runs `work` as a part of the call, whose context is lent to the thread meanwhile.
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
    let watched = context.watched.clone();
    let lent = Some(std::mem::take(context));
    let (ran, before) =
        CURRENT.with(|current| (current.runs.replace(true), current.context.replace(lent)));
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

/// A plain method runs in this thread, until this is dropped.
pub(crate) struct Plain(());

impl Plain {
    /// That of the call which `replier` answers, whose deadline goes by the clock of the system. Nothing where it runs inside
    /// of another one.
    #[inline]
    pub(crate) fn begin(replier: &Replier, deadline: Deadline) -> Option<Self> {
        CURRENT.with(|current| {
            if current.runs.replace(true) {
                return None;
            }
            current.deadline.set(deadline);
            current.call.borrow_mut().set(replier);
            Some(Self(()))
        })
    }
}

impl Drop for Plain {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| current.runs.set(false));
    }
}

/// Does the work inside what sees the call.
#[cold]
fn inside<R>(watched: &Watched, work: impl FnOnce() -> R) -> R {
    let (mut work, mut result) = (Some(work), None);
    watched.run(&mut || {
        if let Some(work) = work.take() {
            result = Some(work());
        }
    });
    match (result, work) {
        (Some(result), _) => result,
        // One of them has not done its part.
        (None, Some(work)) => work(),
        (None, None) => unreachable!("what was begun has ended, or panicked"),
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
