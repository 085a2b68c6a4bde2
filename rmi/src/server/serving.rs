//! A running listener: one thread that accepts connections, and a few threads that serve them.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Wake, Waker};

use jstream_active as active;
use jstream_active::{Handlers, Peer, PollGroup};
use jstream_base::Address;
use jstream_endpoint::acceptor::{Acceptor, AcceptorLimits, Newcomer};
use jstream_endpoint::{Closer, Listener};

use crate::call::{MOST_WAITING, handlers};
use crate::client::claim;
use crate::frame::Window;
#[cfg(feature = "directory")]
use crate::interface::Interface;
use crate::server::load::Load;
use crate::server::options::ServerOptions;
use crate::server::places::{HoldsPlaces, NoPlace, Place, PlaceLimits};
use crate::session::{
    Alarm, Claim, Connection, Exports, Session, Terms, Waiting, is_called, max_result_streams,
};
use crate::support::{ServeError, lock, may_block, polls_tokio_task};

/// Maximum number of connections that are looked at to find one that is idle. Bounds the work that
/// a stranger causes at a server with many connections.
const LOOKS: usize = 256;

/// A server that accepts connections. Dropping it ends all its connections, and blocks until its
/// methods have ended. Dropped by a task of tokio (feature `tokio`), it does not block: the methods
/// might need the thread.
#[derive(Debug)]
pub struct Serving {
    addresses: Vec<Address>,
    pub(super) state: Arc<ServingState>,
    pub(super) accepting: Option<Acceptor>,
    pub(super) serving: Option<active::Serving>,
}

#[derive(Debug)]
pub(super) struct ServingState {
    exports: Arc<Exports>,
    options: ServerOptions,
    handlers: Handlers,
    pub(super) group: Arc<PollGroup>,
    /// Suspended methods and held calls of all connections.
    pub(super) waiting: Arc<Waiting>,
    load: Arc<Load>,
    /// True if connections are no longer accepted.
    stopping: AtomicBool,
    /// True if all connections are closed.
    pub(super) ended: AtomicBool,
    listener: Closer,
    /// Open connections by their local number.
    pub(super) connections: Mutex<BTreeMap<u64, Open>>,
    /// Number of the connection at which the search for an idle one goes on.
    next_look: AtomicU64,
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) peer: Peer,
    place: Place,
    /// Alarm that closes the connection if it is not used in time.
    unused: Option<Alarm>,
}

impl Serving {
    pub(super) fn start(
        (exports, load): (Arc<Exports>, Arc<Load>),
        options: &ServerOptions,
        listener: Listener,
        group: Arc<PollGroup>,
        has_threads: bool,
    ) -> Result<Self, ServeError> {
        let state = Arc::new(ServingState {
            exports,
            options: options.clone(),
            handlers: handlers(options.workers.spare().clone()),
            group,
            waiting: Arc::new(Waiting::new(load.counters().clone())),
            load,
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            listener: listener.closer(),
            connections: Mutex::default(),
            next_look: AtomicU64::new(0),
        });
        let addresses = listener.local_addresses().to_vec();
        let serving = if has_threads {
            let workers = options.workers.clone();
            let most = options.threads.saturating_add(MOST_WAITING);
            let around = move |work: &mut dyn FnMut()| workers.around(work);
            let started = state.group.start_many(options.threads, most, around);
            Some(started.map_err(ServeError::Thread)?)
        } else {
            None
        };
        // The serving threads exist before the first connection is accepted.
        let accepting = state.clone().accept(listener).map_err(ServeError::Thread)?;
        state.load.listen(&state.handlers);
        let listening: Weak<ServingState> = Arc::downgrade(&state);
        state.load.places().add(listening);
        Ok(Self {
            addresses,
            state,
            accepting: Some(accepting),
            serving,
        })
    }

    /// Returns the first address at which the server listens. If the port was given as 0, this is
    /// the port that was chosen.
    ///
    /// # Panics
    ///
    /// If the server listens at no address.
    #[must_use]
    pub fn address(&self) -> &Address {
        match self.addresses.first() {
            Some(address) => address,
            None => panic!("the server listens at no address"),
        }
    }

    /// Returns all addresses, in the order in which they were given.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Returns the interface of the object that is bound to a name.
    #[cfg(feature = "directory")]
    pub(crate) fn interface(&self, name: &str) -> Option<&'static Interface> {
        self.state.exports.interface(name)
    }

    pub(crate) fn listening(&self) -> Listening {
        Listening(Arc::downgrade(&self.state))
    }

    /// Blocks until the listener ends.
    ///
    /// # Panics
    ///
    /// With the feature `tokio`, in debug builds, if the thread runs tasks of tokio: keep the
    /// handle there instead, and await the [shutdown](Self::shutdown) when the program ends.
    #[track_caller]
    pub fn wait(mut self) {
        may_block("Serving::wait");
        if let Some(accepting) = self.accepting.take() {
            accepting.wait();
        }
    }

    /// Ends all connections and blocks until no method runs. Calls in flight fail at their callers.
    /// A task of tokio should await the [shutdown](Self::shutdown) instead.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for ServingState {
    fn drop(&mut self) {
        self.load.forget(&self.handlers);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // First no more connections, then the end of those in their handshakes, then that of the
        // open ones. One that was accepted in between closes itself.
        self.state.stop();
        drop(self.accepting.take());
        self.state.close_all();
        if polls_tokio_task() || self.state.options.workers.need_a_driver() {
            if let Some(serving) = self.serving.take() {
                // A thread waits in the background, because this one may be the only one that
                // drives the methods.
                drop(self.state.reap(serving));
            }
        }
        let has_threads = self.serving.is_some();
        self.serving = None;
        self.state.group.call();
        // A method may own and drop this handle, so this must not wait for methods. With a single
        // thread, the methods end there.
        if has_threads && !is_called() {
            self.state.waiting.wait();
        }
    }
}

/// A weak handle that reports whether a listener is running.
#[derive(Debug)]
pub(crate) struct Listening(Weak<ServingState>);

impl Listening {
    pub(crate) fn is_open(&self) -> bool {
        let state = self.0.upgrade();
        state.is_some_and(|state| !state.ended.load(Ordering::SeqCst))
    }
}

impl ServingState {
    /// Stops accepting connections.
    pub(super) fn stop(&self) {
        // Counted once, though a shutdown stops the listener and the drop of the handle does so
        // again.
        if !self.stopping.swap(true, Ordering::SeqCst) {
            self.load.end();
        }
        self.listener.close();
    }

    /// Closes the listener. Connections whose handshake is not complete may complete it.
    pub(super) fn close_listener(&self) {
        self.listener.close();
    }

    /// Closes all connections. A connection in its handshake runs no methods and ends by itself.
    pub(super) fn close_all(&self) {
        // Before the connections are closed, so that a thread which is woken by their end sees it.
        self.ended.store(true, Ordering::SeqCst);
        // Closing a connection runs its callback, which takes this lock.
        let all = std::mem::take(&mut *lock(&self.connections));
        for open in all.values() {
            open.peer.close();
        }
    }

    /// Starts to accept connections.
    fn accept(self: Arc<Self>, listener: Listener) -> io::Result<Acceptor> {
        let options = &self.options;
        let each = options.messages.handshake_timeout;
        // The proof of the secret is one more step that may take this time.
        let steps = if options.secret.is_some() { 2 } else { 1 };
        let time = options.transport.handshake_timeout;
        let time = time.saturating_add(each.saturating_mul(steps));
        let mut limits = AcceptorLimits::new(time);
        limits.newcomers = options.max_greeting;
        limits.evicted = self.load.places().refusals().clone();
        let mut number = 0u64;
        Acceptor::open("jstream-accept", listener, limits, move |newcomer| {
            number = number.wrapping_add(1);
            let (state, number) = (self.clone(), number);
            async move {
                // Both sides report why a handshake fails.
                let _ = state.greet(number, newcomer).await;
            }
        })
    }

    /// Takes a place for a connection. If there is none, closes one that is idle for it.
    fn take_place(&self, source: &str) -> Result<Place, NoPlace> {
        let limits = PlaceLimits::from_options(&self.options);
        // Another newcomer may take the place that was freed. With no idle connection left, the
        // loop ends.
        loop {
            let error = match self.load.places().allocate(source, limits) {
                Ok(place) => return Ok(place),
                Err(error) => error,
            };
            let (listener, idle) = self.load.places().idle(source, error).ok_or(error)?;
            listener.close(idle);
        }
    }

    /// Performs the handshake. Returns `None` if it fails.
    async fn greet(self: &Arc<Self>, number: u64, mut newcomer: Newcomer) -> Option<()> {
        let options = &self.options;
        newcomer.read_greeting().await.ok()?;
        let source = newcomer.peer().source();
        let checked = self
            .load
            .places()
            .check(&source, PlaceLimits::from_options(options));
        let full = checked.err();
        // Refused here, where the client can be told the reason, and before the costly part of the
        // handshake.
        if let Some(error) = full.filter(|error| self.load.places().idle(&source, *error).is_none())
        {
            self.load.places().refuse();
            newcomer.refuse(&error.to_string()).await;
            return None;
        }
        let candidate = newcomer.establish().await.ok()?;
        let terms = Terms {
            limits: options.limits,
            time: options.call_timeout,
            max_waiting: options.max_waiting,
            max_waiting_in_all: options.max_waiting_in_all,
            max_backlog: options.max_backlog,
            window: Window::new(options.stream_items, options.stream_bytes),
            max_streams: options.max_streams,
            max_result_streams: max_result_streams(&options.messages),
            lease: options.lease,
            max_references: options.max_references,
            third_parties: options.third_parties.then_some(claim as Claim),
            admission: self.load.admission().cloned(),
            clock: options.clock.clone(),
            interceptors: options.interceptors.clone(),
            secret: options.secret.clone(),
            #[cfg(feature = "tls")]
            tls: options.transport.tls.clone(),
            capture: options.capture.as_ref().map(|to| to.connection(false)),
        };
        let waiting = self.waiting.clone();
        let settings = options.messages.clone();
        let exports = self.exports.clone();
        let handlers = &self.handlers;
        let joined = Connection::accept(candidate, handlers, settings, terms, exports, waiting);
        let connection = joined.await.ok()?;
        let peer = connection.peer();
        let Ok(place) = self.take_place(&source) else {
            // Another connection has taken the place meanwhile.
            self.load.places().refuse();
            peer.close();
            return None;
        };
        let open = Open {
            peer: peer.clone(),
            place,
            unused: None,
        };
        lock(&self.connections).insert(number, open);
        // The alarm may fire at once and looks up the entry, so the entry is inserted first.
        let unused = self.remind(number);
        if let Some(open) = lock(&self.connections).get_mut(&number) {
            open.unused = unused;
        }
        let entry = Entry {
            state: Arc::downgrade(self),
            number,
        };
        // After the entry is in the table: if the connection has ended already, the callback runs
        // now and removes it.
        peer.on_end(move || drop(entry));
        // From now on the threads of the server receive for the connection, so all that its calls
        // need exists.
        self.group.add(peer);
        // The stopping thread closes the connections in the table. A connection that was inserted
        // later closes itself.
        if self.stopping.load(Ordering::SeqCst) {
            peer.close();
        }
        Some(())
    }

    /// Sets the alarm that closes a connection which is never used. If no alarm is available, the
    /// connection stays open.
    fn remind(self: &Arc<Self>, number: u64) -> Option<Alarm> {
        let clock = &self.options.clock;
        let then = clock.now().checked_add(self.options.first_call_timeout)?;
        let reminder = Alarm::new(clock).ok()?;
        let unused = Unused {
            state: Arc::downgrade(self),
            number,
        };
        reminder.set(then, &Waker::from(Arc::new(unused)));
        Some(reminder)
    }
}

impl HoldsPlaces for ServingState {
    /// Connections are looked at in turn, from the oldest to the newest.
    fn idle(&self, source: Option<&str>) -> Option<u64> {
        let next = self.next_look.load(Ordering::Relaxed);
        let connections = lock(&self.connections);
        let in_turn = connections.range(next..).chain(connections.range(..next));
        let some = in_turn
            .take(LOOKS)
            .filter(|(_, open)| source.is_none_or(|source| open.place.source() == source))
            .map(|(number, open)| (*number, open.peer.clone()))
            .collect::<Vec<_>>();
        let last = connections.range(next..).nth(LOOKS);
        let after = last.map_or(0, |(number, _)| *number);
        drop(connections);
        // The locks of a session are not taken under that of the connections.
        let idle = some.into_iter().find(|(_, peer)| is_idle(peer));
        let idle = idle.map(|(number, _)| number);
        self.next_look
            .store(idle.unwrap_or(after), Ordering::Relaxed);
        idle
    }

    fn close(&self, number: u64) {
        let closed = lock(&self.connections).remove(&number);
        if let Some(Open { peer, place, .. }) = closed {
            // Freed before the connection is closed, whose end may be noticed later.
            drop(place);
            peer.close();
        }
    }
}

/// Waker that closes a connection which was not used in time.
struct Unused {
    state: Weak<ServingState>,
    number: u64,
}

impl Wake for Unused {
    fn wake(self: Arc<Self>) {
        let Some(state) = self.state.upgrade() else {
            return;
        };
        let mut connections = lock(&state.connections);
        let open = connections.get_mut(&self.number);
        // The alarm has fired. It is dropped without the lock.
        let done = open.map(|open| (open.peer.clone(), open.unused.take()));
        drop(connections);
        if let Some((peer, reminder)) = done {
            drop(reminder);
            if !peer.status().has_served {
                peer.close();
            }
        }
    }
}

/// Guard that removes a connection from the table when the connection ends.
struct Entry {
    state: Weak<ServingState>,
    number: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            // Dropped without the lock: the place, the alarm and the peer take locks of their own.
            let open = lock(&state.connections).remove(&self.number);
            drop(open);
        }
    }
}

/// Returns true if closing the connection takes nothing from its peer: it holds no reference,
/// exported object, stream or call.
fn is_idle(peer: &Peer) -> bool {
    let status = peer.status();
    // An answer that the peer has not taken would be lost.
    let is_quiet = status.under_way == 0 && status.outstanding == 0 && !status.is_sending;
    is_quiet && peer.attached::<Session>().is_none_or(Session::is_idle)
}
