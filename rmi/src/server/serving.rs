//! A running listener: one thread that accepts connections, and a few threads that serve them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Wake, Waker};
use std::thread;
use std::thread::JoinHandle;
use std::time::Instant;

use jstream_active as active;
use jstream_active::{Handlers, Peer, PollGroup};
use jstream_base::{AcceptError, Address};
use jstream_endpoint::{Closer, Incoming, Listener};

use crate::call::{MOST_WAITING, handlers};
use crate::client::claim;
use crate::frame::Window;
#[cfg(feature = "directory")]
use crate::interface::Interface;
use crate::server::connect_throttle::ConnectThrottle;
use crate::server::greeters::{Greeting, Limits};
use crate::server::load::Load;
use crate::server::options::ServerOptions;
use crate::server::places::{Place, PlaceOfSource};
use crate::session::{
    Alarm, Claim, Connection, Exports, Terms, Waiting, is_called, max_result_streams,
};
use crate::support::{ServeError, lock, may_block, polls_tokio_task};

/// A server that accepts connections. Dropping it ends all its connections, and blocks until its
/// methods have ended. Dropped by a task of tokio (feature `tokio`), it does not block: the methods
/// might need the thread.
#[derive(Debug)]
pub struct Serving {
    addresses: Vec<Address>,
    pub(super) state: Arc<ServingState>,
    pub(super) accepting: Option<JoinHandle<()>>,
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
    throttle: ConnectThrottle,
    /// True if connections are no longer accepted.
    stopping: AtomicBool,
    /// True if all connections are closed.
    pub(super) ended: AtomicBool,
    listener: Closer,
    /// Open connections by their local number.
    pub(super) connections: Mutex<HashMap<u64, Open>>,
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) peer: Peer,
    /// Alarm that closes the connection if it is not used in time.
    unused: Option<Alarm>,
}

impl Serving {
    pub(super) fn start(
        (exports, load): (Arc<Exports>, Arc<Load>),
        options: &ServerOptions,
        addresses: &[Address],
        group: Arc<PollGroup>,
        has_threads: bool,
    ) -> Result<Self, ServeError> {
        let listener = jstream_endpoint::listen_all(addresses, &options.transport)?;
        let state = Arc::new(ServingState {
            exports,
            options: options.clone(),
            handlers: handlers(options.workers.spare().clone()),
            group,
            waiting: Arc::new(Waiting::new(load.counters().clone())),
            load,
            throttle: ConnectThrottle::new(options.max_failed_connections_per_second),
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            listener: listener.closer(),
            connections: Mutex::default(),
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
        let accepting = {
            let state = state.clone();
            jstream_sync::threads::spawn("jstream-accept", move || state.accept(&listener))
                .map_err(ServeError::Thread)?
        };
        state.load.listen(&state.handlers);
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
            // The thread panics only because of a bug in this crate, which has been reported then.
            let _ = accepting.join();
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
        self.state.stop();
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
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
        if !self.stopping.swap(true, Ordering::SeqCst) {
            self.load.end();
        }
        self.listener.close();
        self.load.greeters().call();
    }

    /// Closes all connections. A connection in its handshake runs no methods and ends by itself.
    pub(super) fn close_all(&self) {
        self.ended.store(true, Ordering::SeqCst);
        let all = std::mem::take(&mut *lock(&self.connections));
        for open in all.values() {
            open.peer.close();
        }
    }

    fn accept(self: &Arc<Self>, listener: &Listener) {
        let mut number = 0u64;
        while !self.stopping.load(Ordering::SeqCst) {
            if let Some(pause) = self.throttle.pause(Instant::now()) {
                thread::sleep(pause);
            }
            match listener.accept() {
                Ok(incoming) => {
                    let options = &self.options;
                    let (source, cutter) = (incoming.peer(), incoming.cutter());
                    let stops = || self.stopping.load(Ordering::SeqCst);
                    let greeting = self.load.greeters().enter(
                        self.load.places(),
                        Limits::of(options),
                        source,
                        cutter,
                        stops,
                    );
                    if let Some(greeting) = greeting {
                        number = number.wrapping_add(1);
                        self.greet(number, incoming, greeting);
                    }
                }
                Err(AcceptError::ClosedLocally { .. }) => return,
                // Out of descriptors, or a peer that has gone already. The listener backs off and
                // continues as connections end.
                Err(_) => {}
            }
        }
    }

    /// Performs the handshake in a separate thread, because it may take long. If no thread can be
    /// started, the connection is dropped, which its peer sees.
    fn greet(self: &Arc<Self>, number: u64, incoming: Incoming, greeting: Greeting) {
        let state = self.clone();
        let _ = jstream_sync::threads::spawn("jstream-greet", move || {
            if state.open(number, incoming, greeting).is_none() {
                state.throttle.note(Instant::now());
            }
        });
    }

    /// Takes a place among the connections of the same source, if there is one.
    fn admit(&self, incoming: &Incoming) -> Option<PlaceOfSource> {
        let most = self.options.max_connections_per_source;
        let source = incoming.peer().source();
        self.load.places().take_of_source(source, most)
    }

    /// Performs the handshake. Returns `None` if it fails.
    fn open(self: &Arc<Self>, number: u64, incoming: Incoming, greeting: Greeting) -> Option<()> {
        let options = &self.options;
        let of_source = self.admit(&incoming);
        let Some(of_source) = of_source else {
            incoming.refuse(&format!(
                "too many connections from the same source: the limit is {} \
                 (ServerOptions::max_connections_per_source)",
                options.max_connections_per_source
            ));
            self.load.places().refuse();
            return None;
        };
        let endpoint = incoming.establish().ok()?;
        let terms = Terms {
            limits: options.limits,
            time: options.call_timeout,
            max_waiting: options.max_waiting,
            max_waiting_in_all: options.max_waiting_in_all,
            max_backlog: options.max_backlog,
            window: Window::of(options.stream_items, options.stream_bytes),
            max_streams: options.max_streams,
            max_result_streams: max_result_streams(&options.messages),
            lease: options.lease,
            max_references: options.max_references,
            third_parties: options.third_parties.then_some(claim as Claim),
            clock: options.clock.clone(),
            interceptors: options.interceptors.clone(),
            secret: options.secret.clone(),
            capture: options.capture.as_ref().map(|to| to.connection(false)),
        };
        let waiting = self.waiting.clone();
        let settings = options.messages.clone();
        let exports = self.exports.clone();
        let joined =
            Connection::accept(endpoint, &self.handlers, settings, terms, exports, waiting);
        let connection = joined.ok()?;
        let place = greeting.finish()?;
        let peer = connection.peer();
        let open = Open {
            peer: peer.clone(),
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
            _places: (place, of_source),
        };
        peer.on_end(move || drop(entry));
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
    _places: (Place, PlaceOfSource),
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            let open = lock(&state.connections).remove(&self.number);
            if open.is_some_and(|open| !open.peer.status().has_served) {
                state.throttle.note(Instant::now());
            }
        }
    }
}
