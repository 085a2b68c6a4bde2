//! The side that sends.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use jstream::buffer::Filled;
use jstream::{Received, Transportable, Writer};

use super::crew::Crew;
use super::error::{SendError, Unsent};
use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::endpoint::{Endpoint, Remains, SendObjectError, SendTicket};
use crate::header::Header;
use crate::options::Options;

/// How soon one who found no room with any of several receivers looks again: at first, and at last.
const SOON: Duration = Duration::from_micros(20);
const LATER: Duration = Duration::from_millis(1);

/// The side of a channel that sends. Clones, and any number of threads, send over the same connections; what
/// one thread sends is received in that order, by a receiver that has all of it.
///
/// When the last clone is dropped the receivers are told, behind all that was sent. Whoever ends the process
/// awaits first what it has sent [async](Self::send_async).
pub struct Sender<T> {
    crew: Arc<Crew>,
    options: Arc<Options>,
    of: PhantomData<fn(T)>,
}

impl<T: Transportable + 'static> Sender<T> {
    pub(super) fn new(crew: Arc<Crew>, options: Options) -> Self {
        Self {
            crew,
            options: Arc::new(options),
            of: PhantomData,
        }
    }

    /// Where the channel is, with the port that port 0 became.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.crew.address
    }

    /// Sends an object and all that it reaches: returns when the device has taken it. Where there is no room it
    /// waits, and where no receiver has joined yet, each for [`Options::send_timeout`] at most.
    ///
    /// With [`fan_out`](super::Channel::fan_out) it goes to the next receiver that has room.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn send(&self, object: &T) -> Result<(), SendError> {
        if let Some(only) = &self.crew.only {
            let sent = only.send(object);
            return sent.map_err(|error| self.why_object(only, error));
        }
        let (mut until, mut pause) = (None, SOON);
        loop {
            if self.crew.len() > 1 {
                match self.offer(object) {
                    Err(SendError::Full) => self.pause(&mut until, &mut pause)?,
                    settled => return settled,
                }
                continue;
            }
            let endpoint = self.next(&mut until)?;
            match endpoint.send(object) {
                Ok(()) => return Ok(()),
                Err(error) => self.unless_closed(&endpoint, error)?,
            }
        }
    }

    /// Waits a little until one of several may have room.
    fn pause(&self, until: &mut Option<Deadline>, pause: &mut Duration) -> Result<(), SendError> {
        let after = self.options.send_timeout;
        let until = *until.get_or_insert_with(|| Deadline::after(after));
        if until.has_passed() {
            return Err(self.late(after));
        }
        thread::sleep(*pause);
        *pause = pause.saturating_mul(2).min(LATER);
        Ok(())
    }

    fn late(&self, after: Duration) -> SendError {
        SendError::TimedOut {
            after,
            address: self.address().clone(),
        }
    }

    /// As [`send`](Self::send), where there is room now.
    ///
    /// # Errors
    ///
    /// [`SendError::Full`] where there is none, or no receiver has joined yet; or another [`SendError`].
    pub fn try_send(&self, object: &T) -> Result<(), SendError> {
        if let Some(only) = &self.crew.only {
            let sent = only.try_send(object);
            return sent.map_err(|error| self.why_object(only, error));
        }
        self.offer(object)
    }

    /// Tries all receivers in turn.
    fn offer(&self, object: &T) -> Result<(), SendError> {
        for _ in 0..self.crew.len() {
            let Some(endpoint) = self.crew.next() else {
                break;
            };
            match endpoint.try_send(object) {
                Ok(()) => return Ok(()),
                Err(SendObjectError::Send(crate::SendError::WouldBlock)) => {}
                Err(error) => self.unless_closed(&endpoint, error)?,
            }
        }
        if self.crew.is_closed() {
            return Err(self.closed());
        }
        Err(SendError::Full)
    }

    /// As [`send`](Self::send), for so long at most. An object of which the device has taken a part by then goes
    /// on by itself, and counts as sent.
    ///
    /// # Errors
    ///
    /// [`SendError::TimedOut`] when nothing of it was taken, or another [`SendError`].
    pub fn send_timeout(&self, object: &T, timeout: Duration) -> Result<(), SendError> {
        let until = Deadline::after(timeout);
        let mut sending = self.send_async(object);
        loop {
            match mem::replace(&mut sending.state, State::Done) {
                State::Posted(mut ticket, endpoint) => {
                    let left = until.left().unwrap_or(Duration::MAX);
                    match ticket.wait_timeout(left) {
                        Some(Ok(_)) => return Ok(()),
                        Some(Err(unsent)) => sending.again(endpoint, unsent)?,
                        None => {
                            // One that was begun is carried on when its ticket is dropped.
                            return match ticket.cancel() {
                                Ok(Err(_)) => Err(self.late(timeout)),
                                Ok(Ok(_)) | Err(_) => Ok(()),
                            };
                        }
                    }
                }
                State::Waiting(filled) => {
                    if !self.crew.wait(until) {
                        return Err(self.late(timeout));
                    }
                    sending.state = self.post(filled);
                }
                State::Failed(error) => return Err(error),
                State::Done => return Ok(()),
            }
        }
    }

    /// Sends an object, for a task. It is written at once, so nothing of it is borrowed, and posted behind
    /// everything posted before; the future is ready when the device has taken it. A future that is dropped is
    /// still sent, unless no receiver had joined.
    pub fn send_async(&self, object: &T) -> Send<T> {
        let state = match self.crew.next() {
            Some(endpoint) => match endpoint.post_send_object(object) {
                Ok(ticket) => State::Posted(ticket, endpoint),
                Err(error) => State::Failed(SendError::Write(error)),
            },
            None => match Writer::new().write_to(object, &self.options.pool) {
                Ok(filled) => State::Waiting(filled),
                Err(error) => State::Failed(SendError::Write(error)),
            },
        };
        Send {
            sender: self.clone(),
            state,
        }
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
            let endpoint = match self.next(&mut until) {
                Ok(endpoint) => endpoint,
                Err(error) => {
                    return Err(Unsent {
                        error,
                        received: Some(received),
                    });
                }
            };
            let unsent = match endpoint.send_received(received) {
                Ok(()) => return Ok(()),
                Err(unsent) => unsent,
            };
            let why = self.why_object(&endpoint, unsent.error);
            let rest = match unsent.remains {
                Remains::Object(object) => Some(object),
                _ => None,
            };
            received = match (why, rest) {
                (SendError::Closed { .. }, Some(rest)) if self.crew.only.is_none() => rest,
                (error, received) => return Err(Unsent { error, received }),
            };
        }
    }

    /// Whose turn it is, once somebody is there; the first call of several sets the time-out.
    fn next(&self, until: &mut Option<Deadline>) -> Result<Endpoint, SendError> {
        loop {
            if let Some(endpoint) = self.crew.next() {
                return Ok(endpoint);
            }
            if self.crew.is_closed() {
                return Err(self.closed());
            }
            let after = self.options.send_timeout;
            let until = *until.get_or_insert_with(|| Deadline::after(after));
            if !self.crew.wait(until) {
                return Err(self.late(after));
            }
        }
    }

    fn post(&self, filled: Filled) -> State {
        match self.crew.next() {
            Some(endpoint) => {
                State::Posted(endpoint.post_send(Header::default(), filled), endpoint)
            }
            None if self.crew.is_closed() => State::Failed(self.closed()),
            None => State::Waiting(filled),
        }
    }

    fn closed(&self) -> SendError {
        SendError::Closed {
            address: self.address().clone(),
        }
    }

    /// Goes on with the next receiver where one of several has said goodbye.
    fn unless_closed(&self, endpoint: &Endpoint, error: SendObjectError) -> Result<(), SendError> {
        match self.why_object(endpoint, error) {
            SendError::Closed { .. } => Ok(()),
            why => Err(why),
        }
    }

    fn why_object(&self, endpoint: &Endpoint, error: SendObjectError) -> SendError {
        match error {
            SendObjectError::Write(error) => SendError::Write(error),
            SendObjectError::Send(error) => self.why(endpoint, error),
        }
    }

    /// What an endpoint's error means for the channel. One that is gone is forgotten, where there may be others.
    fn why(&self, endpoint: &Endpoint, error: crate::SendError) -> SendError {
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
            self.crew.remove(endpoint);
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

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            crew: self.crew.clone(),
            options: self.options.clone(),
            of: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sender").field(&self.crew.address).finish()
    }
}

/// An object that is being sent; see [`Sender::send_async`].
#[must_use = "says whether the object was sent"]
pub struct Send<T> {
    sender: Sender<T>,
    state: State,
}

enum State {
    /// To that receiver.
    Posted(SendTicket, Endpoint),
    /// Nobody has joined yet.
    Waiting(Filled),
    Failed(SendError),
    Done,
}

impl<T: Transportable + 'static> Send<T> {
    /// Goes on with the next receiver where one of several has said goodbye.
    fn again(&mut self, endpoint: Endpoint, unsent: crate::Unsent) -> Result<(), SendError> {
        match self.sender.why(&endpoint, unsent.error) {
            SendError::Closed { .. } if self.sender.crew.only.is_none() => {
                self.state = self.sender.post(unsent.filled);
                Ok(())
            }
            why => Err(why),
        }
    }
}

impl<T: Transportable + 'static> Future for Send<T> {
    type Output = Result<(), SendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            match mem::replace(&mut this.state, State::Done) {
                State::Posted(mut ticket, endpoint) => match Pin::new(&mut ticket).poll(context) {
                    Poll::Pending => {
                        this.state = State::Posted(ticket, endpoint);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(_)) => return Poll::Ready(Ok(())),
                    Poll::Ready(Err(unsent)) => {
                        if let Err(error) = this.again(endpoint, unsent) {
                            return Poll::Ready(Err(error));
                        }
                    }
                },
                State::Waiting(filled) => {
                    if this.sender.crew.register(context.waker()) {
                        this.state = State::Waiting(filled);
                        return Poll::Pending;
                    }
                    this.state = this.sender.post(filled);
                }
                State::Failed(error) => return Poll::Ready(Err(error)),
                State::Done => panic!("polled after it was ready"),
            }
        }
    }
}

impl<T> Unpin for Send<T> {}

impl<T> fmt::Debug for Send<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Send").finish_non_exhaustive()
    }
}
