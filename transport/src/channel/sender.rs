//! The side that sends.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream::{Received, Transportable};

use super::crew::Crew;
use super::error::{SendError, Unsent};
use super::near::{Link, Parcel, Stop};
use super::peers::Way;
use super::sending::{Cargo, Send};
use crate::active::parker::Parker;
use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::endpoint::spin::Spin;
use crate::endpoint::{Endpoint, Remains, SendObjectError};

/// How soon one who found no room with any of several receivers looks again: at first, and at last.
const SOON: Duration = Duration::from_micros(20);
const LATER: Duration = Duration::from_millis(1);

/// The side of a channel that sends. Clones, and any number of threads, send over the same connections; what
/// one thread sends is received in that order, by a receiver that has all of it.
///
/// When the last clone is dropped the receivers are told, behind all that was sent. Whoever ends the process
/// awaits first what it has sent [async](Self::send_async).
pub struct Sender<T: Transportable + 'static> {
    pub(super) crew: Arc<Crew<T>>,
}

impl<T: Transportable + 'static> Sender<T> {
    pub(super) fn new(crew: Arc<Crew<T>>) -> Self {
        Self { crew }
    }

    /// Where the channel is, with the port that port 0 became.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.crew.address
    }

    /// Sends an object and all that it reaches: returns when the device has taken it. Where there is no room it
    /// waits, and where no receiver has joined yet, each for [`Options::send_timeout`](crate::Options::send_timeout)
    /// at most.
    ///
    /// With [`fan_out`](super::Channel::fan_out) it goes to the next receiver that has room.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    #[inline]
    pub fn send(&self, object: &T) -> Result<(), SendError> {
        let mut cargo = Cargo::lent(object);
        self.deliver(&mut cargo)
    }

    /// As [`send`](Self::send), where there is room now.
    ///
    /// # Errors
    ///
    /// [`SendError::Full`] where there is none, or no receiver has joined yet; or another [`SendError`].
    pub fn try_send(&self, object: &T) -> Result<(), SendError> {
        self.offer(&mut Cargo::lent(object))
    }

    /// As [`send`](Self::send), for so long at most. An object of which the device has taken a part by then goes
    /// on by itself, and counts as sent.
    ///
    /// # Errors
    ///
    /// [`SendError::TimedOut`] when nothing of it was taken, or another [`SendError`].
    pub fn send_timeout(&self, object: &T, timeout: Duration) -> Result<(), SendError> {
        self.deliver_within(&mut Cargo::lent(object), timeout)
    }

    /// Sends an object, for a task. It is written at once, so nothing of it is borrowed, and posted behind
    /// everything posted before; the future is ready when the device has taken it. A future that is dropped is
    /// still sent, unless no receiver had joined.
    pub fn send_async(&self, object: &T) -> Send<T> {
        Send::begin(self, &mut Cargo::lent(object))
    }

    /// Sends on an object that was received. Between threads it moves as it is, whatever its size; elsewhere it
    /// becomes a message again in its jbuf, and that is sent.
    ///
    /// # Errors
    ///
    /// [`Unsent`] says why, and gives the object back where that can be.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_received(&self, mut received: Received<T>) -> Result<(), Unsent<T>>
    where
        Received<T>: std::marker::Send,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let mut until = None;
        loop {
            let way = match self.next(&mut until) {
                Ok(way) => way,
                Err(error) => {
                    return Err(Unsent {
                        error,
                        received: Some(received),
                    });
                }
            };
            let (why, rest) = match &way {
                Way::Near(link) => {
                    let mut cargo = Cargo::parcel(Parcel::object(received));
                    let until = Deadline::after(self.crew.options.send_timeout);
                    match self.put(link, &mut cargo, Some(until)) {
                        Ok(()) => return Ok(()),
                        Err(error) => (error, cargo.into_parcel().and_then(Parcel::into_object)),
                    }
                }
                Way::Far(endpoint) => match endpoint.send_received(received) {
                    Ok(()) => return Ok(()),
                    Err(unsent) => {
                        let rest = match unsent.remains {
                            Remains::Object(object) => Some(object),
                            _ => None,
                        };
                        (self.why_object(endpoint, unsent.error), rest)
                    }
                },
            };
            received = match (why, rest) {
                (SendError::Closed { .. }, Some(rest)) if self.crew.only.is_none() => rest,
                (error, received) => return Err(Unsent { error, received }),
            };
        }
    }

    /// Sends an object, and waits for room as long as the options say.
    #[inline]
    pub(super) fn deliver(&self, cargo: &mut Cargo<'_, T>) -> Result<(), SendError> {
        if let Some(link) = self.crew.alone() {
            match self.put(link, cargo, None) {
                Err(SendError::Full) => {}
                Err(SendError::Closed { .. }) if self.crew.only.is_none() => {}
                settled => return settled,
            }
        }
        self.deliver_slowly(cargo)
    }

    fn deliver_slowly(&self, cargo: &mut Cargo<'_, T>) -> Result<(), SendError> {
        let (mut until, mut pause) = (None, SOON);
        loop {
            if self.crew.only.is_none() && self.crew.len() > 1 {
                match self.offer(cargo) {
                    Err(SendError::Full) => self.pause(&mut until, &mut pause)?,
                    settled => return settled,
                }
                continue;
            }
            let sent = match &self.crew.only {
                Some(only) => self.hand(only, cargo),
                None => self.hand(&self.next(&mut until)?, cargo),
            };
            match sent {
                Err(SendError::Closed { .. }) if self.crew.only.is_none() => {}
                settled => return settled,
            }
        }
    }

    /// Sends to that receiver, and waits for room as long as the options say.
    fn hand(&self, way: &Way<T>, cargo: &mut Cargo<'_, T>) -> Result<(), SendError> {
        match way {
            Way::Far(endpoint) => {
                let sent = endpoint.send(cargo.object());
                sent.map_err(|error| self.why_object(endpoint, error))
            }
            Way::Near(link) => {
                let until = Deadline::after(self.crew.options.send_timeout);
                self.put(link, cargo, Some(until))
            }
        }
    }

    /// As [`deliver`](Self::deliver), for so long at most.
    pub(super) fn deliver_within(
        &self,
        cargo: &mut Cargo<'_, T>,
        timeout: Duration,
    ) -> Result<(), SendError> {
        let until = Deadline::after(timeout);
        if let Some(link) = self.crew.alone() {
            match self.put(link, cargo, Some(until)) {
                Err(SendError::TimedOut { .. }) => return Err(self.late(timeout)),
                Err(SendError::Closed { .. }) if self.crew.only.is_none() => {}
                settled => return settled,
            }
        }
        Send::begin(self, cargo).wait(until, timeout, cargo)
    }

    /// Waits a little until one of several may have room.
    fn pause(&self, until: &mut Option<Deadline>, pause: &mut Duration) -> Result<(), SendError> {
        let after = self.crew.options.send_timeout;
        let until = *until.get_or_insert_with(|| Deadline::after(after));
        if until.has_passed() {
            return Err(self.late(after));
        }
        thread::sleep(*pause);
        *pause = pause.saturating_mul(2).min(LATER);
        Ok(())
    }

    pub(super) fn late(&self, after: Duration) -> SendError {
        SendError::TimedOut {
            after,
            address: self.address().clone(),
        }
    }

    /// Tries all receivers in turn.
    pub(super) fn offer(&self, cargo: &mut Cargo<'_, T>) -> Result<(), SendError> {
        if let Some(Way::Far(only)) = &self.crew.only {
            let sent = only.try_send(cargo.object());
            return sent.map_err(|error| self.why_object(only, error));
        }
        for _ in 0..self.crew.len() {
            let Some(way) = self.crew.next() else {
                break;
            };
            let sent = match &way {
                Way::Near(link) => self.put(link, cargo, None),
                Way::Far(endpoint) => {
                    let sent = endpoint.try_send(cargo.object());
                    sent.map_err(|error| self.why_object(endpoint, error))
                }
            };
            match sent {
                Err(SendError::Full) => {}
                Err(SendError::Closed { .. }) if self.crew.only.is_none() => {}
                settled => return settled,
            }
        }
        if self.crew.only.is_none() && self.crew.is_closed() {
            return Err(self.closed());
        }
        Err(SendError::Full)
    }

    /// Sends to a receiver in this process, and waits for room until then. What was not sent is in `cargo` again.
    #[inline]
    fn put(
        &self,
        link: &Arc<Link<T>>,
        cargo: &mut Cargo<'_, T>,
        until: Option<Deadline>,
    ) -> Result<(), SendError> {
        let refused = link.try_send(cargo.pack(link)?);
        match (refused, until) {
            (Ok(()), _) => Ok(()),
            (Err((Stop::Closed, parcel)), _) => {
                cargo.put_back(parcel);
                Err(self.gone(link))
            }
            (Err((Stop::Full, parcel)), None) => {
                cargo.put_back(parcel);
                Err(SendError::Full)
            }
            (Err((Stop::Full, parcel)), Some(until)) => self.put_later(link, parcel, cargo, until),
        }
    }

    #[cold]
    fn put_later(
        &self,
        link: &Arc<Link<T>>,
        mut parcel: Parcel<T>,
        cargo: &mut Cargo<'_, T>,
        until: Deadline,
    ) -> Result<(), SendError> {
        let mut spin = Spin::begin(self.crew.options.spin, 0, until);
        while spin.again() {
            parcel = match link.try_send(parcel) {
                Ok(()) => return Ok(()),
                Err((Stop::Full, parcel)) => parcel,
                Err((Stop::Closed, parcel)) => {
                    cargo.put_back(parcel);
                    return Err(self.gone(link));
                }
            };
        }
        let ticket = link.post(parcel);
        let parker = Parker::of_thread();
        loop {
            if let std::task::Poll::Ready(sent) = ticket.poll(parker.waker()) {
                return sent.map_err(|parcel| {
                    cargo.put_back(parcel);
                    self.gone(link)
                });
            }
            if until.has_passed() {
                return match ticket.withdraw() {
                    None => Ok(()),
                    Some(parcel) => {
                        cargo.put_back(parcel);
                        Err(self.late(self.crew.options.send_timeout))
                    }
                };
            }
            parker.park(until);
        }
    }

    /// A receiver in this process has gone. It is forgotten, where there may be others.
    pub(super) fn gone(&self, link: &Arc<Link<T>>) -> SendError {
        if self.crew.only.is_none() {
            self.crew.remove(&Way::Near(link.clone()));
        }
        self.closed()
    }

    /// Whose turn it is, once somebody is there; the first call of several sets the time-out.
    fn next(&self, until: &mut Option<Deadline>) -> Result<Way<T>, SendError> {
        loop {
            if let Some(way) = self.crew.next() {
                return Ok(way);
            }
            if self.crew.is_closed() {
                return Err(self.closed());
            }
            let after = self.crew.options.send_timeout;
            let until = *until.get_or_insert_with(|| Deadline::after(after));
            if !self.crew.wait(until) {
                return Err(self.late(after));
            }
        }
    }

    pub(super) fn closed(&self) -> SendError {
        SendError::Closed {
            address: self.address().clone(),
        }
    }

    fn why_object(&self, endpoint: &Endpoint, error: SendObjectError) -> SendError {
        match error {
            SendObjectError::Write(error) => SendError::Write(error),
            SendObjectError::Send(error) => self.why(endpoint, error),
        }
    }

    /// What an endpoint's error means for the channel. One that is gone is forgotten, where there may be others.
    pub(super) fn why(&self, endpoint: &Endpoint, error: crate::SendError) -> SendError {
        use crate::SendError::{Closed, ClosedLocally, Lost, Stalled, TimedOut, WouldBlock};
        let is_closed = match error {
            WouldBlock => return SendError::Full,
            TimedOut { after, .. } => {
                return self.late(after);
            }
            Closed { .. } => said_goodbye(endpoint).unwrap_or(true),
            Lost { .. } => said_goodbye(endpoint).unwrap_or(false),
            Stalled { .. } | ClosedLocally { .. } => false,
            error => return SendError::Send(error),
        };
        if self.crew.only.is_none() {
            self.crew.remove(&Way::Far(endpoint.clone()));
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

/// Whether a receiver that takes no more has said so; `None` when nothing is known of it.
fn said_goodbye(endpoint: &Endpoint) -> Option<bool> {
    /// Receivers have nothing to say but that: who says more is not believed.
    const MOST: usize = 4;
    for _ in 0..MOST {
        match endpoint.try_recv_message() {
            Ok(_) => {}
            Err(crate::RecvError::Closed { .. }) => return Some(true),
            Err(crate::RecvError::Empty) => return None,
            Err(_) => return Some(false),
        }
    }
    Some(false)
}

impl<T: Transportable + 'static> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            crew: self.crew.clone(),
        }
    }
}

impl<T: Transportable + 'static> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sender").field(&self.crew.address).finish()
    }
}
