//! Listeners and accepted connections.

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use super::closer::{Close, Closer};
use super::endpoint::Endpoint;
use super::reactor;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::events::emit;
use jstream_base::{AcceptError, HandshakeError, ListenError};
use jstream_device::connection::{Accept, Accepted, Armed, Connection, Establish, Interest};
use jstream_device::deadline::Deadline;
use jstream_device::{self, poll};
use jstream_sync::watcher::Watch;
use tracing::Level;

/// Delay before the next attempt if the system had no descriptor or memory for a connection.
const REST: Duration = Duration::from_millis(20);

/// Listens on `address`. The accepted endpoints receive according to `options`.
///
/// # Errors
///
/// [`ListenError`] if the address is in use, unknown, or refused by the system.
pub fn listen(address: &Address, options: &Options) -> Result<Listener, ListenError> {
    listen_all(std::slice::from_ref(address), options)
}

/// Listens on all of `addresses`, so that each peer can choose the cheapest one that works for it.
///
/// # Errors
///
/// [`ListenError`] of the first address that fails. The other addresses are then released.
pub fn listen_all(addresses: &[Address], options: &Options) -> Result<Listener, ListenError> {
    let mut devices = Vec::with_capacity(addresses.len());
    for address in addresses {
        let device =
            jstream_device::by_scheme(address.scheme()).ok_or_else(|| ListenError::NoDevice {
                address: address.clone(),
            })?;
        if options.reuse_port && !matches!(address.scheme(), "tcp" | "uring" | "tls") {
            return Err(ListenError::NoPort {
                address: address.clone(),
            });
        }
        devices.push(device.listen(address, options)?);
    }
    Listener::new(devices, options)
}

/// Listens on the sockets that the service manager has given to this process (systemd's
/// `LISTEN_FDS`). They can be taken once. A TCP socket with the name `tls`, or one that begins with
/// `tls-`, is for TLS. When the listener is closed, the sockets stay open for other processes that
/// have them.
///
/// # Errors
///
/// [`ListenError::NotActivated`] if there are no sockets for this process, or they were taken
/// before, and [`ListenError::BadSocket`] if one of them is not a listening stream socket of TCP
/// or of Unix.
pub fn listen_activated(options: &Options) -> Result<Listener, ListenError> {
    Listener::new(jstream_device::take_activated(options)?, options)
}

/// A listener at one or more addresses. Dropping it releases the addresses.
pub struct Listener {
    shared: Arc<SharedListener>,
    addresses: Vec<Address>,
    options: Options,
}

struct SharedListener {
    devices: Vec<Box<dyn Accept>>,
    /// Device to poll first. Rotates, so that a busy address does not starve the others.
    first: AtomicUsize,
    is_closed: AtomicBool,
    /// True if the last attempt failed because of a lack of system resources.
    troubled: Mutex<bool>,
    closed: Condvar,
}

impl Listener {
    fn new(devices: Vec<Box<dyn Accept>>, options: &Options) -> Result<Self, ListenError> {
        if devices.is_empty() {
            return Err(ListenError::NoAddress);
        }
        let addresses: Vec<_> = devices
            .iter()
            .map(|device| device.local().clone())
            .collect();
        for address in &addresses {
            let address = address.clone();
            emit(Level::DEBUG, move || {
                tracing::debug!(%address, "listening");
            });
        }
        Ok(Self {
            shared: Arc::new(SharedListener {
                devices,
                first: AtomicUsize::new(0),
                is_closed: AtomicBool::new(false),
                troubled: Mutex::new(false),
                closed: Condvar::new(),
            }),
            addresses,
            options: options.clone(),
        })
    }

    /// Returns the first address of the listener. Port 0 is replaced by the actual port.
    ///
    /// # Panics
    ///
    /// Never, because a listener has at least one address.
    #[must_use]
    pub fn local_address(&self) -> &Address {
        let Some(first) = self.addresses.first() else {
            unreachable!("a listener has an address")
        };
        first
    }

    /// Returns all addresses of the listener, in the order in which they were given.
    #[must_use]
    pub fn local_addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Returns true if other processes have the socket of an address, too.
    pub(super) fn is_shared(&self) -> bool {
        let mut devices = self.shared.devices.iter();
        devices.any(|device| device.is_shared())
    }

    /// Blocks until there is a connection. Several threads may call this at the same time.
    ///
    /// # Errors
    ///
    /// [`AcceptError`]. After [`AcceptError::System`] the listener can still be used, and delays
    /// its next attempt briefly.
    pub fn accept(&self) -> Result<Incoming, AcceptError> {
        self.accept_until(Deadline::NEVER, Duration::MAX)
    }

    /// As [`accept`](Self::accept), but blocks for at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`AcceptError::TimedOut`] if there is no connection in time; otherwise as for
    /// [`accept`](Self::accept).
    pub fn accept_timeout(&self, timeout: Duration) -> Result<Incoming, AcceptError> {
        self.accept_until(Deadline::after(timeout), timeout)
    }

    fn accept_until(&self, deadline: Deadline, after: Duration) -> Result<Incoming, AcceptError> {
        let shared = &*self.shared;
        shared.rest(deadline);
        loop {
            if let Some(incoming) = self.try_accept()? {
                return Ok(incoming);
            }
            if deadline.has_passed() {
                return Err(AcceptError::TimedOut {
                    address: self.local_address().clone(),
                    after,
                });
            }
            let sources = shared.devices.iter().map(|device| device.source());
            poll::sleep_on_any(sources, deadline).map_err(|source| {
                shared.set_troubled(true);
                AcceptError::System {
                    address: self.local_address().clone(),
                    source,
                }
            })?;
        }
    }

    /// Returns the next connection if there is one. Does not block.
    ///
    /// # Errors
    ///
    /// As for [`accept`](Self::accept).
    pub fn try_accept(&self) -> Result<Option<Incoming>, AcceptError> {
        let shared = &*self.shared;
        let accepted = shared.try_accept();
        if let Err(error) = &accepted {
            let error = error.to_string();
            emit(Level::DEBUG, move || {
                tracing::debug!(error, "not accepted");
            });
        }
        // A system without descriptors keeps the listening socket readable, so the next attempt
        // would fail at once, in a busy loop.
        shared.set_troubled(matches!(accepted, Err(AcceptError::System { .. })));
        let Some((accepted, address)) = accepted? else {
            return Ok(None);
        };
        let incoming = Incoming {
            peer: accepted.peer,
            half_made: accepted.half_made,
            address: address.clone(),
            options: self.options.clone(),
        };
        let (peer, address) = (incoming.peer.clone(), address.clone());
        emit(Level::DEBUG, move || {
            tracing::debug!(%peer, %address, "accepted");
        });
        Ok(Some(incoming))
    }

    /// Waits for the next connection in a task. Dropping the future loses no connection.
    ///
    /// # Errors
    ///
    /// As for [`accept`](Self::accept).
    pub async fn accept_async(&self) -> Result<Incoming, AcceptError> {
        if self.shared.is_troubled() {
            rest().await;
        }
        let mut watches = Vec::new();
        std::future::poll_fn(|context| self.poll_accept(context, &mut watches)).await
    }

    pub(super) fn poll_accept(
        &self,
        context: &mut Context<'_>,
        watches: &mut Vec<Watch>,
    ) -> Poll<Result<Incoming, AcceptError>> {
        if let Some(result) = self.try_accept().transpose() {
            return Poll::Ready(result);
        }
        // Registrations of the last poll may be for another task.
        watches.clear();
        for device in &self.shared.devices {
            match device.arm(context.waker()) {
                Armed::Ready => {
                    context.waker().wake_by_ref();
                    continue;
                }
                Armed::Waker => continue,
                Armed::Source => {}
            }
            match reactor::watch(device.source(), Interest::Readable, context.waker()) {
                Ok(watch) => watches.push(watch),
                Err(source) => {
                    self.shared.set_troubled(true);
                    return Poll::Ready(Err(AcceptError::System {
                        address: device.local().clone(),
                        source,
                    }));
                }
            }
        }
        Poll::Pending
    }

    /// Returns a handle that closes the listener from another thread. Established connections are
    /// not closed.
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer::new(&self.shared)
    }
}

impl SharedListener {
    fn try_accept(&self) -> Result<Option<(Accepted, &Address)>, AcceptError> {
        let first = self.first.fetch_add(1, Ordering::Relaxed);
        let count = self.devices.len();
        let from = first.checked_rem(count).unwrap_or(0);
        for device in self.devices.iter().cycle().skip(from).take(count) {
            if let Some(accepted) = device.try_accept()? {
                return Ok(Some((accepted, device.local())));
            }
        }
        Ok(None)
    }

    fn set_troubled(&self, troubled: bool) {
        *jstream_sync::lock(&self.troubled) = troubled;
    }

    fn is_troubled(&self) -> bool {
        let troubled = jstream_sync::lock(&self.troubled);
        *troubled && !self.is_closed.load(Ordering::SeqCst)
    }

    /// Delays the caller if the last attempt failed because of a lack of system resources.
    fn rest(&self, deadline: Deadline) {
        let troubled = jstream_sync::lock(&self.troubled);
        if *troubled && !self.is_closed.load(Ordering::SeqCst) {
            let rest = deadline.left().map_or(REST, |left| left.min(REST));
            drop(self.closed.wait_timeout(troubled, rest));
        }
    }
}

/// Delays a task. A separate thread wakes it, because the reactor may have failed for lack of
/// descriptors.
async fn rest() {
    let over = Deadline::after(REST);
    let mut asked: Option<Waker> = None;
    std::future::poll_fn(|context| {
        let task = context.waker();
        if over.has_passed() {
            return Poll::Ready(());
        }
        if asked.as_ref().is_some_and(|asked| asked.will_wake(task)) {
            return Poll::Pending;
        }
        let waker = task.clone();
        asked = Some(task.clone());
        let waking = jstream_sync::threads::spawn("jstream-rest", move || {
            thread::sleep(over.left().unwrap_or(REST));
            waker.wake();
        });
        match waking {
            Ok(_) => Poll::Pending,
            // Without a thread there is no delay.
            Err(_) => Poll::Ready(()),
        }
    })
    .await;
}

impl Close for SharedListener {
    fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        for device in &self.devices {
            device.close();
        }
        self.set_troubled(false);
        self.closed.notify_all();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listener").field(&self.addresses).finish()
    }
}

/// A connection that was accepted, but whose handshake was not done.
#[must_use = "a connection that is neither established nor refused is dropped"]
pub struct Incoming {
    peer: Address,
    half_made: Box<dyn Establish>,
    address: Address,
    options: Options,
}

impl Incoming {
    /// Returns the address of the peer.
    #[must_use]
    pub fn peer(&self) -> &Address {
        &self.peer
    }

    /// Returns the address at which the connection was accepted.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Performs the handshake and creates the endpoint. If the peer is silent, the call blocks
    /// until [`Options::handshake_timeout`](jstream_base::Options::handshake_timeout), so call it
    /// on a thread other than the one that accepts.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the peer is silent, gone, or incompatible.
    pub fn establish(self) -> Result<Endpoint, HandshakeError> {
        match self.half_made.establish() {
            Ok(connection) => Ok(Endpoint::new(&self.address, connection, &self.options)),
            Err(error) => {
                let (peer, reason) = (self.peer, error.to_string());
                emit(Level::DEBUG, move || {
                    tracing::debug!(%peer, error = reason, "not established");
                });
                Err(error)
            }
        }
    }

    /// Calls `step` until it returns a value, and waits in between until the device can make
    /// progress.
    pub(super) async fn advance<T>(
        &mut self,
        mut step: impl FnMut(&mut dyn Establish) -> Option<Result<T, HandshakeError>>,
    ) -> Result<T, HandshakeError> {
        let (half_made, mut watch) = (&mut self.half_made, None);
        std::future::poll_fn(|context| {
            if let Some(done) = step(&mut **half_made) {
                return Poll::Ready(done);
            }
            match half_made.arm(context.waker()) {
                Armed::Ready => context.waker().wake_by_ref(),
                Armed::Waker => {}
                Armed::Source => {
                    let watched = reactor::watcher().and_then(|watcher| {
                        let source = half_made.source().ok_or(io::ErrorKind::NotConnected)?;
                        watcher.watch(&mut watch, source.0, source.1, context.waker())
                    });
                    if let Err(source) = watched {
                        return Poll::Ready(Err(HandshakeError::System { source }));
                    }
                }
            }
            Poll::Pending
        })
        .await
        .inspect_err(|error| {
            let (peer, reason) = (self.peer.clone(), error.to_string());
            emit(Level::DEBUG, move || {
                tracing::debug!(%peer, error = reason, "not established");
            });
        })
    }

    /// Creates the endpoint of a connection whose greetings were exchanged.
    pub(super) fn endpoint(&self, connection: Connection) -> Endpoint {
        Endpoint::new(&self.address, connection, &self.options)
    }

    /// Refuses the connection, without waiting; see [`Establish::decline`].
    pub(super) fn decline(&mut self, reason: &str) {
        self.half_made.decline(reason);
        let (peer, reason) = (self.peer.clone(), reason.to_owned());
        emit(Level::DEBUG, move || {
            tracing::debug!(%peer, reason, "refused");
        });
    }

    /// Returns the connection's socket, if there is one.
    pub(super) fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.half_made.socket()
    }

    /// Refuses the connection. The peer's `connect` fails with
    /// [`ConnectError::Refused`](jstream_base::ConnectError::Refused), with the first 256 bytes of
    /// the reason. Blocks for at most 200 ms, until the greeting of the peer has arrived.
    pub fn refuse(self, reason: &str) {
        self.half_made.refuse(reason);
        let (peer, reason) = (self.peer, reason.to_owned());
        emit(Level::DEBUG, move || {
            tracing::debug!(%peer, reason, "refused");
        });
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Incoming").field(&self.peer).finish()
    }
}
