//! The side that is connected to.

use std::fmt;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use super::Endpoint;
use super::closer::{Close, Closer};
use super::reactor;
use super::watcher::Watch;
use crate::address::Address;
use crate::device::connection::{Accept, Accepted, Armed, Establish, Interest};
use crate::device::deadline::Deadline;
use crate::device::{self, poll};
use crate::error::{AcceptError, HandshakeError, ListenError};
use crate::options::Options;

/// How long nobody asks again after the system had no descriptor or memory for a connection.
const REST: Duration = Duration::from_millis(20);

/// Listens on `address`; the endpoints that it accepts receive according to `options`.
///
/// # Errors
///
/// [`ListenError`] when the address is in use, unknown, or refused by the system.
pub fn listen(address: &Address, options: &Options) -> Result<Listener, ListenError> {
    listen_all(std::slice::from_ref(address), options)
}

/// Listens on all of `addresses` at once, so that each peer can choose the cheapest that works for it.
///
/// # Errors
///
/// [`ListenError`] of the first address that does not work; then it listens nowhere.
pub fn listen_all(addresses: &[Address], options: &Options) -> Result<Listener, ListenError> {
    let mut devices = Vec::with_capacity(addresses.len());
    for address in addresses {
        let device = device::by_scheme(address.scheme()).ok_or_else(|| ListenError::NoDevice {
            address: address.clone(),
        })?;
        devices.push(device.listen(address, options)?);
    }
    Listener::new(devices, options)
}

/// Accepts connections at one or more addresses. Dropping it frees them.
pub struct Listener {
    shared: Arc<Shared>,
    addresses: Vec<Address>,
    options: Options,
}

struct Shared {
    devices: Vec<Box<dyn Accept>>,
    /// Where to look first, so that a busy address does not hide the others.
    first: AtomicUsize,
    is_closed: AtomicBool,
    /// The system refused the last time.
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
            tracing::debug!(%address, "listening");
        }
        Ok(Self {
            shared: Arc::new(Shared {
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

    /// Where it listens, with the port that port 0 became; the first of several addresses.
    ///
    /// # Panics
    ///
    /// Never: there is one.
    #[must_use]
    pub fn local_address(&self) -> &Address {
        let Some(first) = self.addresses.first() else {
            unreachable!("a listener has an address")
        };
        first
    }

    /// All addresses that it listens on, in the order in which they were given.
    #[must_use]
    pub fn local_addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Waits for the next connection. Several threads may wait at once.
    ///
    /// # Errors
    ///
    /// [`AcceptError`]. After [`AcceptError::System`] the listener lives on, and waits a little before
    /// it asks the system again.
    pub fn accept(&self) -> Result<Incoming, AcceptError> {
        self.accept_until(Deadline::NEVER, Duration::MAX)
    }

    /// As [`accept`](Self::accept), for so long at most.
    ///
    /// # Errors
    ///
    /// [`AcceptError::TimedOut`] then.
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

    /// The next connection, if one waits.
    ///
    /// # Errors
    ///
    /// As for [`accept`](Self::accept).
    pub fn try_accept(&self) -> Result<Option<Incoming>, AcceptError> {
        let shared = &*self.shared;
        let accepted = shared.try_accept();
        if let Err(error) = &accepted {
            tracing::debug!(%error, "not accepted");
        }
        shared.set_troubled(matches!(accepted, Err(AcceptError::System { .. })));
        let Some((accepted, address)) = accepted? else {
            return Ok(None);
        };
        tracing::debug!(peer = %accepted.peer, %address, "accepted");
        Ok(Some(Incoming {
            peer: accepted.peer,
            half_made: accepted.half_made,
            address: address.clone(),
            options: self.options.clone(),
        }))
    }

    /// The next connection, for a task. Nothing is lost when the future is dropped.
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

    fn poll_accept(
        &self,
        context: &mut Context<'_>,
        watches: &mut Vec<Watch>,
    ) -> Poll<Result<Incoming, AcceptError>> {
        if let Some(result) = self.try_accept().transpose() {
            return Poll::Ready(result);
        }
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

    /// What ends the listening from another thread. Connections already established live on.
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer::of(&self.shared)
    }
}

impl Shared {
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
        *self.troubled.lock().unwrap_or_else(PoisonError::into_inner) = troubled;
    }

    fn is_troubled(&self) -> bool {
        let troubled = self.troubled.lock().unwrap_or_else(PoisonError::into_inner);
        *troubled && !self.is_closed.load(Ordering::SeqCst)
    }

    /// Waits a little where the system had no room the last time.
    fn rest(&self, deadline: Deadline) {
        let troubled = self.troubled.lock().unwrap_or_else(PoisonError::into_inner);
        if *troubled && !self.is_closed.load(Ordering::SeqCst) {
            let rest = deadline.left().map_or(REST, |left| left.min(REST));
            drop(self.closed.wait_timeout(troubled, rest));
        }
    }
}

/// Lets a task wait a little. A thread of its own wakes it: what wakes tasks else may be just what there was
/// no descriptor for.
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
        let waking = thread::Builder::new().name("jstream-rest".to_owned());
        let waking = waking.spawn(move || {
            thread::sleep(over.left().unwrap_or(REST));
            waker.wake();
        });
        match waking {
            Ok(_) => Poll::Pending,
            // Nobody can be waited for.
            Err(_) => Poll::Ready(()),
        }
    })
    .await;
}

impl Close for Shared {
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

/// A connection that was accepted but has not said who it is.
#[must_use = "a connection that is neither established nor refused is dropped"]
pub struct Incoming {
    peer: Address,
    half_made: Box<dyn Establish>,
    address: Address,
    options: Options,
}

impl Incoming {
    /// Where it comes from.
    #[must_use]
    pub fn peer(&self) -> &Address {
        &self.peer
    }

    /// The address that it was accepted at.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Exchanges greetings and makes the endpoint. A silent peer makes this wait until
    /// [`Options::handshake_timeout`](crate::Options::handshake_timeout): call it on another
    /// thread than the one that accepts.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] when the peer is silent, gone, or does not fit.
    pub fn establish(self) -> Result<Endpoint, HandshakeError> {
        match self.half_made.establish() {
            Ok(connection) => Ok(Endpoint::new(&self.address, connection, &self.options)),
            Err(error) => {
                tracing::debug!(peer = %self.peer, %error, "not established");
                Err(error)
            }
        }
    }

    /// Returns what ends the connection from another thread while it is established, and afterwards. None where the
    /// device has no socket (`inproc`, `sim`), or the system no descriptor for it.
    #[must_use]
    pub fn cutter(&self) -> Option<Cutter> {
        let socket = self.half_made.socket()?.try_clone_to_owned().ok()?;
        Some(Cutter { socket })
    }

    /// Tells the peer that it is not wanted, and why: at most 256 bytes of it. Its `connect` fails
    /// with [`ConnectError::Refused`](crate::ConnectError::Refused).
    pub fn refuse(self, reason: &str) {
        tracing::debug!(peer = %self.peer, reason, "refused");
        self.half_made.refuse(reason);
    }
}

/// Ends a connection that was accepted, from any thread, also while [`Incoming::establish`] waits for its peer. Has a
/// descriptor of its own for that.
#[derive(Debug)]
pub struct Cutter {
    socket: OwnedFd,
}

impl Cutter {
    /// Ends the connection at once: whoever receives from it finds that, as does its peer.
    pub fn cut(&self) {
        // It fails only where the peer has ended it.
        let _ = SockRef::from(&self.socket).shutdown(Shutdown::Both);
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Incoming").field(&self.peer).finish()
    }
}
