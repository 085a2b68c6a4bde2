//! The acceptor of all servers, worlds and channels: one thread accepts connections, and polls the
//! handshakes of all of them as tasks. Nothing in this thread waits for a peer.
//!
//! A connection whose handshake is not complete is a *newcomer*. If there are too many, one is
//! evicted at once for each connection that is accepted; `table` decides which. Decision 113 has
//! the threats and the reasons.
//!
//! Modules: `table` has the newcomers and their order, `tasks` wakes the thread, and `newcomer` has
//! the steps of a handshake.
//!
//! Decision 113 has the reasons.

mod newcomer;
mod table;
mod tasks;

use std::fmt;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use self::newcomer::NewcomerState;
pub use self::newcomer::{Candidate, Newcomer};
use self::table::Table;
use self::tasks::WokenTasks;
use super::closer::Closer;
use super::listener::{Incoming, Listener};
use super::reactor;
use jstream_base::AcceptError;
use jstream_sync::panics::forget_panic;
use jstream_sync::watcher::Watch;

/// The number of the listener among the tasks.
const LISTENER: u64 = 0;

/// Maximum number of connections that are accepted before the tasks are polled.
const BATCH: usize = 64;

/// Maximum number of newcomers that are evicted before the tasks are polled. A newcomer whose bytes
/// have arrived is thus polled before it is evicted, unless many come at once.
const EVICTIONS: usize = 32;

/// Number of newcomers for which there is always room, however few descriptors there are.
const FEWEST: usize = 16;

/// Number of attempts to accept that may fail in a row before the thread leaves the listener alone
/// for a while.
const FAILURES: usize = 8;

/// Time for which the listener is left alone if the system has no descriptor or memory, and there
/// is no newcomer to evict.
const REST: Duration = Duration::from_millis(20);

/// Time for which a newcomer that is refused may take to close its connection.
const GOODBYE: Duration = Duration::from_millis(200);

/// Maximum time for the handshakes of newcomers after a listener was closed whose socket other
/// processes have. Protects the end of a server against peers that stay silent.
const LINGER: Duration = Duration::from_secs(1);

/// Number of acceptors of this process, which share its descriptors.
static ACCEPTORS: AtomicUsize = AtomicUsize::new(0);

/// Limits of an acceptor.
#[derive(Debug, Clone)]
pub struct AcceptorLimits {
    /// Maximum number of newcomers. All acceptors of a process together have at most a quarter of
    /// its descriptors.
    pub newcomers: usize,
    /// Time for the handshake of a newcomer, over all its steps.
    pub time: Duration,
    /// Counter of the newcomers that were evicted.
    pub evicted: Arc<AtomicU64>,
}

impl AcceptorLimits {
    /// Default of [`newcomers`](Self::newcomers).
    pub const NEWCOMERS: usize = 256;

    /// Returns the default limits, with this time for a handshake.
    #[must_use]
    pub fn new(time: Duration) -> Self {
        Self {
            newcomers: Self::NEWCOMERS,
            time,
            evicted: Arc::default(),
        }
    }
}

/// A listener, and the thread that accepts its connections. Dropping this releases the address, and
/// ends the connections whose handshake is not complete. If other processes have the socket,
/// connections that were accepted have a second to complete their handshakes before that.
pub struct Acceptor {
    closer: Closer,
    thread: Option<JoinHandle<()>>,
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Acceptor {
    /// Starts to accept connections in a thread with this name. `greet` performs the handshake with
    /// each of them, as a task that must not block.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of threads or descriptors.
    pub fn open<F>(
        name: &str,
        listener: Listener,
        limits: AcceptorLimits,
        mut greet: impl FnMut(Newcomer) -> F + Send + 'static,
    ) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        // Later there might be no descriptor for it.
        reactor::watcher()?;
        let closer = listener.closer();
        let accepting = Accepting {
            listener,
            watches: Vec::new(),
            woken: Arc::default(),
            table: Table::default(),
            limits,
            greet: Box::new(move |newcomer| Box::pin(greet(newcomer))),
            failures: 0,
            _share: ShareOfDescriptors::acquire(),
        };
        let thread = jstream_sync::threads::spawn(name, move || accepting.run())?;
        Ok(Self {
            closer,
            thread: Some(thread),
        })
    }

    /// Releases the address, and ends the connections whose handshake is not complete. Does not
    /// wait until that is done.
    pub fn close(&self) {
        self.closer.close();
    }

    /// Blocks until the listener was closed.
    pub fn wait(mut self) {
        self.join();
    }

    fn join(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        // A task may own and drop the acceptor.
        if thread.thread().id() != std::thread::current().id() {
            // The thread panics only because of a bug in this crate, which has been reported then.
            let _ = thread.join();
        }
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.closer.close();
        self.join();
    }
}

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acceptor").finish_non_exhaustive()
    }
}

/// The share of an acceptor in the descriptors of the process. Dropping it gives the share back.
struct ShareOfDescriptors;

impl ShareOfDescriptors {
    fn acquire() -> Self {
        ACCEPTORS.fetch_add(1, Ordering::Relaxed);
        Self
    }

    /// Returns the number of newcomers for which an acceptor may use descriptors.
    fn size() -> usize {
        let most = getrlimit(Resource::Nofile).current;
        let most = most.and_then(|most| usize::try_from(most).ok());
        let parts = ACCEPTORS.load(Ordering::Relaxed).saturating_mul(4);
        let part = most.unwrap_or(usize::MAX).checked_div(parts);
        part.unwrap_or(usize::MAX).max(FEWEST)
    }
}

impl Drop for ShareOfDescriptors {
    fn drop(&mut self) {
        ACCEPTORS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// State of the thread.
struct Accepting {
    listener: Listener,
    /// Registrations of the listener with the reactor.
    watches: Vec<Watch>,
    woken: Arc<WokenTasks>,
    table: Table<Greeting>,
    limits: AcceptorLimits,
    greet: Box<dyn FnMut(Newcomer) -> Task + Send>,
    /// Number of attempts to accept that failed in a row.
    failures: usize,
    _share: ShareOfDescriptors,
}

/// The handshake of a newcomer.
struct Greeting {
    task: Task,
    waker: Waker,
    state: Arc<NewcomerState>,
    /// Time by which the handshake must be complete; `None` if it has no limit.
    until: Option<Instant>,
}

/// The reason why no more connections are accepted for now.
enum Pause {
    /// Tasks are to be polled first.
    Tasks,
    /// There is none, and the listener wakes the thread.
    Armed,
    /// The system has no room.
    Rest,
    /// The listener was closed.
    Closed,
}

impl Accepting {
    fn run(mut self) {
        let listener = self.woken.waker(LISTENER);
        let mut next = Pause::Tasks;
        let mut rests_until = None;
        loop {
            if matches!(next, Pause::Tasks) {
                next = self.accept_some(&listener);
                rests_until = match next {
                    Pause::Closed => return self.linger(),
                    Pause::Rest => Instant::now().checked_add(REST),
                    Pause::Tasks | Pause::Armed => None,
                };
            }
            let until = if matches!(next, Pause::Tasks) {
                // Only takes the tasks that are woken, because there is more to accept.
                Some(Instant::now())
            } else {
                earlier(self.expire(), rests_until)
            };
            for number in self.woken.wait(until) {
                if number == LISTENER {
                    next = Pause::Tasks;
                } else if self.poll(number) && matches!(next, Pause::Rest) {
                    // The descriptor of the newcomer may be free now.
                    next = Pause::Tasks;
                }
            }
            let has_rested = rests_until.is_some_and(|until| until <= Instant::now());
            if has_rested && matches!(next, Pause::Rest) {
                next = Pause::Tasks;
            }
        }
    }

    /// Completes the handshakes of the newcomers, but not for long, if other processes go on to
    /// accept from the same socket. Their clients are then refused by nobody.
    fn linger(mut self) {
        let until = Instant::now().checked_add(LINGER);
        let is_over = || until.is_none_or(|until| until <= Instant::now());
        while self.listener.is_shared() && self.table.len() > 0 && !is_over() {
            let due = earlier(self.expire(), until);
            for number in self.woken.wait(due) {
                if number != LISTENER {
                    self.poll(number);
                }
            }
        }
    }

    /// Accepts connections until none is left, or others have to be dealt with.
    fn accept_some(&mut self, listener: &Waker) -> Pause {
        let most = self.limits.newcomers.min(ShareOfDescriptors::size()).max(1);
        let mut evicted = 0usize;
        for _ in 0..BATCH {
            if evicted >= EVICTIONS {
                return Pause::Tasks;
            }
            let mut context = Context::from_waker(listener);
            let accept = || self.listener.poll_accept(&mut context, &mut self.watches);
            // Subscribers of `tracing` are code of the program.
            let accepted = match catch_unwind(AssertUnwindSafe(accept)) {
                Ok(Poll::Pending) => {
                    self.failures = 0;
                    return Pause::Armed;
                }
                Ok(Poll::Ready(accepted)) => accepted,
                Err(panic) => {
                    forget_panic(panic);
                    continue;
                }
            };
            match accepted {
                Ok(incoming) => {
                    self.failures = 0;
                    while self.table.len() >= most && self.evict() {
                        evicted = evicted.saturating_add(1);
                    }
                    self.enter(incoming);
                }
                Err(AcceptError::ClosedLocally { .. }) => return Pause::Closed,
                Err(error) => {
                    self.failures = self.failures.saturating_add(1);
                    if lacks_room(&error) && self.evict() {
                        evicted = evicted.saturating_add(1);
                    } else if self.failures >= FAILURES || lacks_room(&error) {
                        return Pause::Rest;
                    }
                }
            }
        }
        Pause::Tasks
    }

    fn enter(&mut self, incoming: Incoming) {
        let source = incoming.peer().source();
        let state = Arc::new(NewcomerState::default());
        let newcomer = Newcomer::new(incoming, state.clone());
        let greet = &mut self.greet;
        let task = match catch_unwind(AssertUnwindSafe(|| greet(newcomer))) {
            Ok(task) => task,
            Err(panic) => return forget_panic(panic),
        };
        let until = Instant::now().checked_add(self.limits.time);
        let woken = &self.woken;
        let number = self.table.insert(source, |number| Greeting {
            task,
            waker: woken.waker(number),
            state,
            until,
        });
        self.poll(number);
    }

    /// Continues a handshake. Returns true if it has ended.
    fn poll(&mut self, number: u64) -> bool {
        let Some(greeting) = self.table.get_mut(number) else {
            return false;
        };
        self.woken.forget(number);
        let mut context = Context::from_waker(&greeting.waker);
        let task = &mut greeting.task;
        let has_ended = match catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(&mut context))) {
            Ok(polled) => polled.is_ready(),
            Err(panic) => {
                forget_panic(panic);
                true
            }
        };
        if has_ended {
            self.remove(number);
            return true;
        }
        if greeting.state.is_leaving() {
            greeting.until = earlier(greeting.until, Instant::now().checked_add(GOODBYE));
        }
        if greeting.state.has_greeted() {
            self.table.promote(number);
        }
        false
    }

    /// Ends the handshakes whose time is over. Returns the next time at which one is.
    fn expire(&mut self) -> Option<Instant> {
        let first = |table: &Table<Greeting>| {
            let all = table.iter();
            let all = all.filter_map(|(number, greeting)| Some((greeting.until?, number)));
            all.min()
        };
        let now = Instant::now();
        loop {
            match first(&self.table) {
                Some((until, number)) if until <= now => self.remove(number),
                next => return next.map(|(until, _)| until),
            }
        }
    }

    /// Ends the handshake of one newcomer. Returns false if there is none.
    fn evict(&mut self) -> bool {
        let Some(number) = self.table.victim() else {
            return false;
        };
        self.limits.evicted.fetch_add(1, Ordering::Relaxed);
        self.remove(number);
        true
    }

    fn remove(&mut self, number: u64) {
        let removed = self.table.remove(number);
        // Dropping the task runs code of the layer above.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(removed))) {
            forget_panic(panic);
        }
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Returns true if the system had no descriptor or memory for a connection.
fn lacks_room(error: &AcceptError) -> bool {
    let AcceptError::System { source, .. } = error else {
        return false;
    };
    let errno = Errno::from_io_error(source);
    let lacks = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    errno.is_some_and(|errno| lacks.contains(&errno))
}

#[cfg(all(test, not(loom)))]
mod tests;
