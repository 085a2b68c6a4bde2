//! The sending side of a channel.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream::{Transportable, Writer};

use super::cargo::Cargo;
use super::described::with_segments;
use super::error::SendError;
use super::near::{NearLink, Parcel, Stop};
use super::peer_set::PeerSet;
use super::peers::PeerConnection;
use jstream_base::Address;
use jstream_device::deadline::Deadline;
use jstream_endpoint::spin::Spin;
use jstream_endpoint::{Endpoint, SendObjectError};
use jstream_sync::parker::Parker;

/// First and longest pause between two attempts if none of several receivers has room.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const MAX_PAUSE: Duration = Duration::from_millis(1);

/// The sending side of a channel. Clones share the connections, and any number of threads may send
/// at the same time. A receiver gets the objects of one thread in the order in which they were
/// sent.
///
/// Dropping the last clone closes the channel after everything that was sent. If objects wait for
/// receivers in other processes, a thread of the process sends them, and the process does not exit
/// before, but not later than after the send timeout of the options. [`finish`](Self::finish) waits
/// and reports whether anything is lost. Before the process exits, await the futures of
/// [`send_async`](Self::send_async).
pub struct Sender<T: Transportable + 'static> {
    pub(super) peers: Arc<PeerSet<T>>,
}

impl<T: Transportable + 'static> Sender<T> {
    pub(super) fn new(peers: Arc<PeerSet<T>>) -> Self {
        Self { peers }
    }

    /// Returns the address of the channel. Port 0 is replaced by the actual port.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.peers.address
    }

    /// Waits until the receivers in other processes have been sent everything, and tells them that
    /// nothing follows. The process may end afterwards. Blocks for at most the send timeout of the
    /// options. Neither this handle nor its clones can send to these receivers afterwards.
    ///
    /// # Errors
    ///
    /// [`SendError::Lost`] names the first receiver that did not make room in time. It does not get
    /// all objects if the process ends.
    pub fn finish(&self) -> Result<(), SendError> {
        self.peers.finish()
    }

    /// Sends an object. Blocks for room up to the send timeout of the options.
    #[inline]
    pub(super) fn deliver(&self, cargo: &mut Cargo<'_, T>) -> Result<(), SendError> {
        if let Some(link) = self.peers.alone() {
            match self.send_to_link(link, cargo, None) {
                Err(SendError::Full) => {}
                Err(SendError::Closed { .. }) if self.peers.only.is_none() => {}
                settled => return settled,
            }
        }
        self.deliver_slowly(cargo)
    }

    fn deliver_slowly(&self, cargo: &mut Cargo<'_, T>) -> Result<(), SendError> {
        let (mut until, mut pause) = (None, FIRST_PAUSE);
        loop {
            if self.peers.only.is_none() && self.peers.len() > 1 {
                match self.offer(cargo) {
                    Err(SendError::Full) => self.pause(&mut until, &mut pause)?,
                    settled => return settled,
                }
                continue;
            }
            let sent = match &self.peers.only {
                Some(only) => self.send_to_peer(only, cargo),
                None => self.send_to_peer(&self.next(&mut until)?, cargo),
            };
            match sent {
                Err(SendError::Closed { .. }) if self.peers.only.is_none() => {}
                settled => return settled,
            }
        }
    }

    /// Sends to the given receiver. Blocks for room up to the send timeout of the options.
    fn send_to_peer(
        &self,
        connection: &PeerConnection<T>,
        cargo: &mut Cargo<'_, T>,
    ) -> Result<(), SendError> {
        match connection {
            PeerConnection::Far(endpoint) => {
                let sent = self.send_far(endpoint, cargo.object(), true);
                sent.map_err(|error| self.send_object_error(endpoint, error))
            }
            PeerConnection::Near(link) => {
                let until = Deadline::after(self.peers.options.send_timeout);
                self.send_to_link(link, cargo, Some(until))
            }
        }
    }

    /// Sends to a receiver outside of this process, and waits for room if `may_wait`.
    fn send_far(
        &self,
        endpoint: &Endpoint,
        object: &T,
        may_wait: bool,
    ) -> Result<(), SendObjectError> {
        let undescribed = &*self.peers.undescribed;
        if undescribed.is_empty() {
            return match may_wait {
                true => endpoint.send(object),
                false => endpoint.try_send(object),
            };
        }
        let mut writer = Writer::new();
        let description = undescribed.describe(None, object, &mut writer);
        let description = description.map_err(SendObjectError::Write)?;
        let max_bytes = endpoint.info().limits.max_send;
        let sent = writer.gather(object, |segments| {
            with_segments(
                segments,
                &description,
                max_bytes,
                |header, segments| match may_wait {
                    true => endpoint.send_message(header, segments),
                    false => endpoint.try_send_message(header, segments),
                },
            )
        });
        Ok(sent.map_err(SendObjectError::Write)??)
    }

    /// Sleeps briefly before the receivers are tried again. Fails if the deadline has passed.
    fn pause(&self, until: &mut Option<Deadline>, pause: &mut Duration) -> Result<(), SendError> {
        let after = self.peers.options.send_timeout;
        let until = *until.get_or_insert_with(|| Deadline::after(after));
        if until.has_passed() {
            return Err(self.timed_out(after));
        }
        thread::sleep(*pause);
        *pause = pause.saturating_mul(2).min(MAX_PAUSE);
        Ok(())
    }

    pub(super) fn timed_out(&self, after: Duration) -> SendError {
        SendError::TimedOut {
            after,
            address: self.address().clone(),
        }
    }

    /// Tries all receivers in round-robin order, without blocking.
    pub(super) fn offer(&self, cargo: &mut Cargo<'_, T>) -> Result<(), SendError> {
        if let Some(PeerConnection::Far(only)) = &self.peers.only {
            let sent = self.send_far(only, cargo.object(), false);
            return sent.map_err(|error| self.send_object_error(only, error));
        }
        for _ in 0..self.peers.len() {
            let Some(connection) = self.peers.next() else {
                break;
            };
            let sent = match &connection {
                PeerConnection::Near(link) => self.send_to_link(link, cargo, None),
                PeerConnection::Far(endpoint) => {
                    let sent = self.send_far(endpoint, cargo.object(), false);
                    sent.map_err(|error| self.send_object_error(endpoint, error))
                }
            };
            match sent {
                Err(SendError::Full) => {}
                Err(SendError::Closed { .. }) if self.peers.only.is_none() => {}
                settled => return settled,
            }
        }
        if self.peers.only.is_none() && self.peers.is_closed() {
            return Err(self.closed());
        }
        Err(SendError::Full)
    }

    /// Sends to a receiver in this process. Blocks for room until the deadline, or not at all
    /// without one. On failure, the parcel is put back into `cargo`.
    #[inline]
    pub(super) fn send_to_link(
        &self,
        link: &Arc<NearLink<T>>,
        cargo: &mut Cargo<'_, T>,
        until: Option<Deadline>,
    ) -> Result<(), SendError> {
        let refused = link.try_send(cargo.pack(link)?);
        match (refused, until) {
            (Ok(()), _) => Ok(()),
            (Err((Stop::Closed, parcel)), _) => {
                cargo.put_back(parcel);
                Err(self.link_closed(link))
            }
            (Err((Stop::Full, parcel)), None) => {
                cargo.put_back(parcel);
                Err(SendError::Full)
            }
            (Err((Stop::Full, parcel)), Some(until)) => {
                self.send_to_full_link(link, parcel, cargo, until)
            }
        }
    }

    #[cold]
    fn send_to_full_link(
        &self,
        link: &Arc<NearLink<T>>,
        mut parcel: Parcel<T>,
        cargo: &mut Cargo<'_, T>,
        until: Deadline,
    ) -> Result<(), SendError> {
        let mut spin = Spin::begin(self.peers.options.spin, 0, until);
        while spin.may_continue() {
            parcel = match link.try_send(parcel) {
                Ok(()) => return Ok(()),
                Err((Stop::Full, parcel)) => parcel,
                Err((Stop::Closed, parcel)) => {
                    cargo.put_back(parcel);
                    return Err(self.link_closed(link));
                }
            };
        }
        let ticket = link.post(parcel);
        let parker = Parker::of_thread();
        loop {
            if let std::task::Poll::Ready(sent) = ticket.poll(parker.waker()) {
                return sent.map_err(|parcel| {
                    cargo.put_back(parcel);
                    self.link_closed(link)
                });
            }
            if until.has_passed() {
                return match ticket.withdraw() {
                    None => Ok(()),
                    Some(parcel) => {
                        cargo.put_back(parcel);
                        Err(self.timed_out(self.peers.options.send_timeout))
                    }
                };
            }
            parker.park(until.left());
        }
    }

    /// Returns the error for a receiver in this process that is gone. The receiver is removed if
    /// there may be others.
    pub(super) fn link_closed(&self, link: &Arc<NearLink<T>>) -> SendError {
        if self.peers.only.is_none() {
            self.peers.remove(&PeerConnection::Near(link.clone()));
        }
        self.closed()
    }

    /// Returns the next receiver in round-robin order. Blocks until the expected receivers have
    /// joined. The first call sets the deadline in `until`; later calls share it.
    pub(super) fn next(
        &self,
        until: &mut Option<Deadline>,
    ) -> Result<PeerConnection<T>, SendError> {
        loop {
            if let Some(connection) = self.peers.next() {
                return Ok(connection);
            }
            if self.peers.is_closed() {
                return Err(self.closed());
            }
            let after = self.peers.options.send_timeout;
            let until = *until.get_or_insert_with(|| Deadline::after(after));
            if !self.peers.wait(until) {
                return Err(self.timed_out(after));
            }
        }
    }

    pub(super) fn closed(&self) -> SendError {
        SendError::Closed {
            address: self.address().clone(),
        }
    }

    pub(super) fn send_object_error(
        &self,
        endpoint: &Endpoint,
        error: SendObjectError,
    ) -> SendError {
        match error {
            SendObjectError::Write(error) => SendError::Write(error),
            SendObjectError::Send(error) => self.send_error(endpoint, error),
        }
    }

    /// Converts an error of an endpoint. If the connection has ended and there may be other
    /// receivers, it is removed.
    pub(super) fn send_error(
        &self,
        endpoint: &Endpoint,
        error: jstream_base::SendError,
    ) -> SendError {
        use jstream_base::SendError::{Closed, ClosedLocally, Lost, Stalled, TimedOut, WouldBlock};
        let is_closed = match error {
            WouldBlock => return SendError::Full,
            TimedOut { after, .. } => {
                return self.timed_out(after);
            }
            Closed { .. } | Lost { .. } => has_closed_cleanly(endpoint),
            Stalled { .. } | ClosedLocally { .. } => false,
            error => return SendError::Send(error),
        };
        if self.peers.only.is_none() {
            self.peers.remove(&PeerConnection::Far(endpoint.clone()));
        }
        if is_closed {
            return self.closed();
        }
        SendError::Lost {
            peer: endpoint.peer().clone(),
            source: error,
        }
    }
}

/// Returns true if the receiver closed the connection cleanly, with a farewell.
fn has_closed_cleanly(endpoint: &Endpoint) -> bool {
    /// Maximum number of messages to read. A receiver sends nothing but its farewell, so more
    /// messages mean that it violates the protocol.
    const MOST: usize = 4;
    /// Maximum time for which the end is waited for. The system may say that a receiver reads
    /// nothing more just before it says that its process has ended.
    const WAIT: Duration = Duration::from_millis(100);
    let until = Deadline::after(WAIT);
    for _ in 0..MOST {
        match endpoint.recv_message_within(until.left().unwrap_or(WAIT)) {
            Ok(_) => {}
            Err(jstream_base::RecvError::Closed { .. }) => return true,
            Err(_) => return false,
        }
    }
    false
}

impl<T: Transportable + 'static> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            peers: self.peers.clone(),
        }
    }
}

impl<T: Transportable + 'static> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sender").field(&self.peers.address).finish()
    }
}
