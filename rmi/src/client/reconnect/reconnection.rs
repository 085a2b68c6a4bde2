//! The connection of a client that connects again when it is needed.
//!
//! While the connection is lost and something waits for it, one thread connects, with growing
//! pauses, and looks up the objects that calls wait for. It ends when nothing waits any longer. So
//! an idle client has no thread, and a call can wait as a thread or as a task.
//!
//! Invariants: `generation` counts the connections, and changes with `connection`. If `has_thread`
//! is set, a thread will look at the state again. Wakers are called without the lock.
//!
//! Decision 118 has the reasons.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use jstream_base::Address;
use jstream_sync::wakers::{WakerList, wake_each};
use jstream_sync::{callbacks, lock};

use super::counters::{count_connection, count_failure};
use super::options::{ConnectionState, Reconnect};
use crate::client::ClientOptions;
use crate::client::connect::connect;
use crate::session::{CallLayers, Connection, Exports, attend};

/// An object that a call waits for.
pub(super) trait WantedObject: Send + Sync {
    /// Looks the object up over a new connection.
    ///
    /// # Errors
    ///
    /// The reason why there is no object yet.
    fn look_up(&self, connection: &Connection, generation: u64) -> Result<(), String>;
}

/// The connection of a client that reconnects.
pub(crate) struct Reconnection {
    address: Address,
    options: ClientOptions,
    reconnect: Reconnect,
    link: Mutex<ReconnectingLink>,
    /// Ends the pause between two attempts when the client is closed.
    closed: Condvar,
}

struct ReconnectingLink {
    /// The last connection.
    connection: Connection,
    generation: u64,
    /// Generation of the last connection whose server is attended to.
    attended: Option<u64>,
    is_closed: bool,
    /// Number of failed attempts since the connection was lost, and the last failure.
    attempts: u32,
    reason: String,
    /// The time at which the last connection was opened again, until it has ended.
    opened: Option<Instant>,
    /// Number of the last connections that ended soon, one after the other.
    short_lived: u32,
    has_thread: bool,
    /// Objects that calls wait for.
    wanted: Vec<Weak<dyn WantedObject>>,
    /// The objects that the client exports to each connection.
    exports: Option<Arc<Exports>>,
    waiters: WakerList,
    /// Number of changes of the state that the program sees.
    changes: u64,
}

impl ReconnectingLink {
    fn is_open(&self) -> bool {
        !self.is_closed && !self.connection.peer().is_retired()
    }
}

impl Reconnection {
    /// Wraps the first connection.
    pub(crate) fn new(
        connection: Connection,
        address: Address,
        options: ClientOptions,
        reconnect: Reconnect,
    ) -> Arc<Self> {
        let this = Arc::new(Self {
            address,
            options,
            reconnect,
            link: Mutex::new(ReconnectingLink {
                connection: connection.clone(),
                generation: 0,
                attended: None,
                is_closed: false,
                attempts: 0,
                opened: None,
                short_lived: 0,
                reason: String::new(),
                has_thread: false,
                wanted: Vec::new(),
                exports: None,
                waiters: WakerList::new(),
                changes: 0,
            }),
            closed: Condvar::new(),
        });
        // After the state exists, since the connection may have ended already and then calls back
        // at once.
        this.watch(&connection);
        this
    }

    fn link(&self) -> MutexGuard<'_, ReconnectingLink> {
        lock(&self.link)
    }

    /// Wakes those who wait for changes when the connection ends.
    fn watch(self: &Arc<Self>, connection: &Connection) {
        // Weak: the client owns the connection, whose callback would otherwise own the client.
        let this = Arc::downgrade(self);
        connection.peer().on_end(move || wake_waiters(&this));
    }

    /// Attends to the end of the server, from the first lookup over a connection on. Before that,
    /// the server may close it as unused.
    pub(crate) fn attend(self: &Arc<Self>, connection: &Connection, generation: u64) {
        let mut link = self.link();
        if link.attended == Some(generation) {
            return;
        }
        // Set before the attending begins, so that two lookups at the same time do not attend
        // twice.
        link.attended = Some(generation);
        drop(link);
        let this = Arc::downgrade(self);
        attend(connection, move || wake_waiters(&this));
    }

    /// Changes the state, and wakes all who wait for it.
    fn change(&self, change: impl FnOnce(&mut ReconnectingLink)) {
        let mut link = self.link();
        change(&mut link);
        link.changes = link.changes.wrapping_add(1);
        wake_each(link, || self.link(), |link| &mut link.waiters);
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn patience(&self) -> Duration {
        self.reconnect.patience
    }

    /// Returns the layers around the calls of the client, if there are any.
    pub(super) fn layers(&self) -> Option<CallLayers> {
        self.options.interceptors.layers().cloned()
    }

    /// Returns the timeout of a lookup, which bounds how long a server that does not answer holds
    /// up the thread.
    pub(super) fn lookup_timeout(&self) -> Duration {
        self.options.messages.handshake_timeout
    }

    /// Returns the last connection and its generation.
    pub(crate) fn connection(&self) -> (Connection, u64) {
        let link = self.link();
        (link.connection.clone(), link.generation)
    }

    /// Returns the generation of the connection if it is open.
    pub(crate) fn open_generation(&self) -> Option<u64> {
        let link = self.link();
        link.is_open().then_some(link.generation)
    }

    /// Returns the failure of the last attempt to connect.
    pub(crate) fn reason(&self) -> String {
        let link = self.link();
        match (link.is_closed, link.reason.is_empty()) {
            (true, _) => "the program has closed the client".to_owned(),
            (false, true) => "no attempt has ended".to_owned(),
            (false, false) => link.reason.clone(),
        }
    }

    pub(crate) fn state(&self) -> ConnectionState {
        let link = self.link();
        if link.is_closed {
            ConnectionState::Closed
        } else if link.is_open() {
            ConnectionState::Open {
                reconnects: link.generation,
            }
        } else {
            ConnectionState::Lost {
                attempts: link.attempts,
                reason: link.reason.clone(),
            }
        }
    }

    /// Exports objects to this connection and all later ones. Returns false if there were some.
    pub(crate) fn export(&self, exports: Arc<Exports>) -> bool {
        let mut link = self.link();
        // The connection refuses if objects were exported before, also by a handle that does not
        // reconnect.
        if link.exports.is_some() || !link.connection.export(exports.clone()) {
            return false;
        }
        link.exports = Some(exports);
        true
    }

    /// Ends the connection for good.
    pub(crate) fn close(&self) {
        let mut connection = None;
        self.change(|link| {
            // Before the connection is closed, whose end would otherwise look like a loss to those
            // who are woken by it.
            link.is_closed = true;
            connection = Some(link.connection.clone());
        });
        self.closed.notify_all();
        if let Some(connection) = connection {
            connection.close();
        }
    }

    /// Begins to connect, and to look for an object.
    pub(super) fn begin(self: &Arc<Self>, object: Option<Weak<dyn WantedObject>>) {
        let mut link = self.link();
        if let Some(object) = object {
            if !link.wanted.iter().any(|known| known.ptr_eq(&object)) {
                link.wanted.push(object);
            }
        }
        // The thread looks at the list under this lock before it ends, so it finds what was added
        // here.
        if link.has_thread || link.is_closed {
            return;
        }
        let this = Arc::downgrade(self);
        // Under the lock, so that the flag is set before the thread can clear it.
        match jstream_sync::threads::spawn("jstream-reconnect", move || run(&this)) {
            Ok(_) => link.has_thread = true,
            // The next poll tries again.
            Err(error) => link.reason = format!("no thread to connect: {error}"),
        }
    }

    /// Registers a waker that is called when the state changes.
    pub(super) fn register(&self, key: &mut Option<u64>, waker: &Waker) {
        let replaced = self.link().waiters.register(key, waker.clone());
        callbacks::discard(replaced);
    }

    /// Removes the waker of a wait that has ended.
    pub(super) fn cancel(&self, key: u64) {
        let removed = self.link().waiters.remove(key);
        callbacks::discard(removed);
    }

    /// Polls until the connection is open. Begins to connect if it is not.
    pub(crate) fn poll_open(
        self: &Arc<Self>,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<bool> {
        let outcome = || {
            let link = self.link();
            (link.is_open() || link.is_closed).then_some(!link.is_closed)
        };
        if let Some(is_open) = outcome() {
            return Poll::Ready(is_open);
        }
        self.register(key, context.waker());
        // It may have been opened before the waker was registered.
        match outcome() {
            Some(is_open) => Poll::Ready(is_open),
            None => {
                self.begin(None);
                Poll::Pending
            }
        }
    }

    /// Polls for a change of the state after the one with this number.
    pub(crate) fn poll_change(
        &self,
        seen: &mut u64,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        // Registered first, so that no change is missed.
        self.register(key, context.waker());
        let changes = self.link().changes;
        match changes == *seen {
            true => Poll::Pending,
            false => {
                *seen = changes;
                Poll::Ready(())
            }
        }
    }

    /// Returns the number of changes of the state.
    pub(crate) fn changes(&self) -> u64 {
        self.link().changes
    }

    /// Does what is due next. Returns the pause before the next step, or `None` if nothing waits.
    fn advance(self: &Arc<Self>) -> Option<Duration> {
        let mut link = self.link();
        // The calls that waited for these have ended.
        link.wanted.retain(|object| object.strong_count() > 0);
        let is_open = link.is_open();
        let has_work = match is_open {
            // With an open connection, those who wait for the connection alone have been woken.
            true => !link.wanted.is_empty(),
            false => !link.wanted.is_empty() || !link.waiters.is_empty(),
        };
        if link.is_closed || !has_work {
            // Under the lock that has shown that nothing waits. A call that begins to wait next
            // starts another thread.
            link.has_thread = false;
            return None;
        }
        if is_open {
            let connection = link.connection.clone();
            // Taken out, since a lookup blocks. Those that were not found are put back.
            let (generation, wanted) = (link.generation, std::mem::take(&mut link.wanted));
            drop(link);
            return Some(self.find(&connection, generation, wanted));
        }
        // Taken, so that the pause is made once for each connection.
        if let Some(opened) = link.opened.take() {
            let is_short = opened.elapsed() < self.reconnect.longest_pause;
            link.short_lived = if is_short {
                link.short_lived.saturating_add(1)
            } else {
                0
            };
            // A server that accepts connections and ends them is left alone for longer each time.
            if link.short_lived > 1 {
                return Some(self.reconnect.pause(link.short_lived));
            }
        }
        drop(link);
        // Without the lock: the state is asked for by calls while this takes its time.
        match connect(&self.address, &self.options) {
            Ok(connection) => {
                self.opened(connection);
                Some(Duration::ZERO)
            }
            Err(error) => {
                let mut attempts = 0;
                self.change(|link| {
                    link.attempts = link.attempts.saturating_add(1);
                    link.reason = error.to_string();
                    attempts = link.attempts;
                });
                count_failure(&self.address);
                Some(self.reconnect.pause(attempts))
            }
        }
    }

    /// Stores a new connection.
    fn opened(self: &Arc<Self>, connection: Connection) {
        let mut is_closed = false;
        // Dropping the last handle of a connection runs code, so it is done without the lock.
        let mut before = None;
        self.change(|link| {
            is_closed = link.is_closed;
            // Exported before the connection is visible, so that its server never finds the objects
            // missing.
            if let Some(exports) = &link.exports {
                connection.export(exports.clone());
            }
            before = Some(std::mem::replace(&mut link.connection, connection.clone()));
            link.generation = link.generation.saturating_add(1);
            (link.attempts, link.reason) = (0, String::new());
            link.opened = Some(Instant::now());
        });
        // The client was closed while this thread was connecting, after which its `close` has
        // closed the old connection only.
        if is_closed {
            connection.close();
        }
        drop(before);
        count_connection(&self.address);
        // After the state has the connection: if it has ended already, those who are woken find it
        // ended.
        self.watch(&connection);
    }

    /// Looks up objects over a connection. Returns the pause before the next step.
    fn find(
        &self,
        connection: &Connection,
        generation: u64,
        wanted: Vec<Weak<dyn WantedObject>>,
    ) -> Duration {
        let mut missing = Vec::new();
        for object in wanted {
            let Some(found) = object.upgrade() else {
                continue;
            };
            if let Err(reason) = found.look_up(connection, generation) {
                self.link().reason = reason;
                missing.push(object);
            }
        }
        if missing.is_empty() {
            // Wakes the calls whose object was found, or can't be found.
            self.change(|_| ());
            return Duration::ZERO;
        }
        // A server that was just started may bind its names later.
        let mut attempts = 0;
        self.change(|link| {
            link.attempts = link.attempts.saturating_add(1);
            attempts = link.attempts;
            link.wanted.extend(missing);
        });
        self.reconnect.pause(attempts)
    }

    /// Pauses, unless the client is closed.
    fn pause(&self, pause: Duration) {
        let Some(until) = Instant::now().checked_add(pause) else {
            return;
        };
        let mut link = self.link();
        while !link.is_closed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.closed.wait_timeout(link, left);
            link = jstream_sync::unpoisoned(waited).0;
        }
    }
}

/// Wakes those who wait for changes.
fn wake_waiters(reconnection: &Weak<Reconnection>) {
    if let Some(reconnection) = reconnection.upgrade() {
        reconnection.change(|_| ());
    }
}

/// Place of the thread that connects. If the thread unwinds, because code of the program panicked,
/// such as a subscriber of `tracing`, those who wait are woken and start another one.
struct ThreadPlace<'r>(&'r Weak<Reconnection>);

impl Drop for ThreadPlace<'_> {
    fn drop(&mut self) {
        // In the ordinary case `advance` has cleared the flag under the lock.
        if let (true, Some(this)) = (thread::panicking(), self.0.upgrade()) {
            this.change(|link| {
                link.has_thread = false;
                "the thread that connects has panicked".clone_into(&mut link.reason);
            });
        }
    }
}

/// Connects and looks up objects until nothing waits any longer. The thread does not keep the
/// client alive while it pauses for long.
fn run(reconnection: &Weak<Reconnection>) {
    let _place = ThreadPlace(reconnection);
    /// Maximum time of a pause after which the thread looks whether the client was dropped.
    const SLICE: Duration = Duration::from_millis(200);
    while let Some(this) = reconnection.upgrade() {
        let Some(mut pause) = this.advance() else {
            return;
        };
        let mut this = Some(this);
        // The handle is dropped between the slices, so that a client without other handles ends.
        while let (false, Some(held)) = (pause.is_zero(), this.take()) {
            let slice = pause.min(SLICE);
            held.pause(slice);
            pause = pause.saturating_sub(slice);
            drop(held);
            this = reconnection.upgrade();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use jstream_active::{Handlers, Peer, Settings};
    use jstream_base::Options;
    use testing::until;

    use super::*;

    struct Panics;

    impl WantedObject for Panics {
        fn look_up(&self, _: &Connection, _: u64) -> Result<(), String> {
            panic!("as it should");
        }
    }

    /// Succeeds, and records that.
    #[derive(Default)]
    struct Finds(AtomicBool);

    impl WantedObject for Finds {
        fn look_up(&self, _: &Connection, _: u64) -> Result<(), String> {
            self.0.store(true, Ordering::Relaxed);
            Ok(())
        }
    }

    /// Returns both sides of a connection without calls.
    fn connected(address: &Address) -> (Connection, Peer) {
        let listener = jstream_endpoint::listen(address, &Options::default()).unwrap();
        let join = |endpoint| Peer::join(endpoint, &Handlers::none(), Settings::default()).unwrap();
        let other = {
            let address = address.clone();
            thread::spawn(move || {
                join(jstream_endpoint::connect(&address, &Options::default()).unwrap())
            })
        };
        let peer = join(listener.accept().unwrap().establish().unwrap());
        (Connection::from_peer(peer), other.join().unwrap())
    }

    #[test]
    fn a_thread_that_panics_is_replaced() {
        let address: Address = "inproc://reconnection-panics".parse().unwrap();
        let (connection, _other) = connected(&address);
        let (options, reconnect) = (ClientOptions::default(), Reconnect::default());
        let link = Reconnection::new(connection, address, options, reconnect);

        let panics = Arc::new(Panics);
        let before = link.changes();
        let weak: Weak<Panics> = Arc::downgrade(&panics);
        link.begin(Some(weak));
        until(|| link.changes() != before);
        assert!(!link.link().has_thread);
        assert!(link.reason().contains("panicked"), "{}", link.reason());

        let finds = Arc::new(Finds::default());
        let weak: Weak<Finds> = Arc::downgrade(&finds);
        link.begin(Some(weak));
        until(|| finds.0.load(Ordering::Relaxed));
    }
}
