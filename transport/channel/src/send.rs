//! Future of an object that is being sent.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::{Transportable, Writer};

use super::cargo::Cargo;
use super::described::{object_header, within_limit, write_described};
use super::error::SendError;
use super::near::{NearLink, Parcel, ParcelTicket, Stop};
use super::peers::PeerConnection;
use super::sender::Sender;
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, SendTicket};
use jstream_sync::parker::Parker;

/// Future of an object that is being sent; see [`Sender::send_async`].
#[must_use = "contains the outcome of the send"]
pub struct Send<T: Transportable + 'static> {
    sender: Sender<T>,
    state: SendState<T>,
}

enum SendState<T: Transportable + 'static> {
    /// Posted to the endpoint, with so many bytes of descriptions.
    Far(SendTicket, Endpoint, usize),
    Near(ParcelTicket<T>),
    /// No receiver has joined yet.
    Waiting(Parcel<T>),
    Failed(SendError),
    Sent,
    /// The outcome was returned.
    Done,
}

/// The next step of a send.
enum SendStep<T: Transportable + 'static> {
    Settled(Result<(), SendError>),
    /// The receiver is gone, so the parcel goes to another one.
    Again(Parcel<T>),
}

impl<T: Transportable + 'static> Send<T> {
    pub(super) fn begin(sender: &Sender<T>, cargo: &mut Cargo<'_, T>) -> Self {
        Self {
            state: Self::begun(sender, cargo),
            sender: sender.clone(),
        }
    }

    fn begun(sender: &Sender<T>, cargo: &mut Cargo<'_, T>) -> SendState<T> {
        match sender.peers.next() {
            Some(PeerConnection::Far(endpoint)) => {
                Self::post_object(sender, endpoint, cargo.object())
            }
            Some(PeerConnection::Near(link)) => {
                match cargo.pack_for_any(sender.peers.only.is_none(), &link) {
                    Ok(parcel) => Self::send_near(sender, &link, parcel),
                    Err(error) => SendState::Failed(error),
                }
            }
            // The receiver that joins may be outside of this process and accept messages only.
            None => match cargo.take_owned() {
                Some(parcel) => SendState::Waiting(parcel),
                None => {
                    // The limit of the receiver is not known before it joins.
                    let target = (&sender.peers.options.pool, u64::MAX);
                    let undescribed = &sender.peers.undescribed;
                    let mut writer = Writer::new();
                    match write_described(cargo.object(), undescribed, &mut writer, target) {
                        Ok((filled, described)) => {
                            SendState::Waiting(Parcel::message(filled, described))
                        }
                        Err(error) => SendState::Failed(SendError::Write(error)),
                    }
                }
            },
        }
    }

    /// Posts an object to a receiver outside of this process.
    fn post_object(sender: &Sender<T>, endpoint: Endpoint, object: &T) -> SendState<T> {
        let undescribed = &*sender.peers.undescribed;
        let posted = if undescribed.is_empty() {
            let posted = endpoint.post_send_object(0, object);
            posted.map(|ticket| (ticket, 0))
        } else {
            let max_bytes = endpoint.info().limits.max_send;
            let target = (&sender.peers.options.pool, max_bytes);
            let written = write_described(object, undescribed, &mut Writer::new(), target);
            written.map(|(filled, described)| {
                let ticket = endpoint.post_send(object_header(described), filled);
                (ticket, described)
            })
        };
        match posted {
            Ok((ticket, described)) => SendState::Far(ticket, endpoint, described),
            Err(error) => SendState::Failed(SendError::Write(error)),
        }
    }

    fn send_near(sender: &Sender<T>, link: &Arc<NearLink<T>>, parcel: Parcel<T>) -> SendState<T> {
        match link.try_send(parcel) {
            Ok(()) => SendState::Sent,
            Err((Stop::Full, parcel)) => SendState::Near(link.post(parcel)),
            Err((Stop::Closed, parcel)) => {
                let error = sender.link_closed(link);
                if sender.peers.only.is_some() {
                    return SendState::Failed(error);
                }
                Self::post(sender, parcel)
            }
        }
    }

    /// Posts a parcel that does not borrow the object.
    fn post(sender: &Sender<T>, parcel: Parcel<T>) -> SendState<T> {
        match sender.peers.next() {
            Some(PeerConnection::Near(link)) => Self::send_near(sender, &link, parcel),
            Some(PeerConnection::Far(endpoint)) => {
                if let Some(object) = parcel.as_value() {
                    return Self::post_object(sender, endpoint, object);
                }
                let Some((filled, described)) = parcel.into_message() else {
                    unreachable!("a parcel for another process is a value or a message")
                };
                // It may have been written for another receiver, or for none.
                let max_bytes = endpoint.info().limits.max_send;
                let (filled, described) = within_limit(filled, described, max_bytes);
                let ticket = endpoint.post_send(object_header(described), filled);
                SendState::Far(ticket, endpoint, described)
            }
            None if sender.peers.is_closed() => SendState::Failed(sender.closed()),
            None => SendState::Waiting(parcel),
        }
    }

    /// Handles the outcome of an endpoint. If one of several receivers has closed, the next one
    /// gets the message.
    fn handle_far_outcome(
        &self,
        sent: Result<(), jstream_endpoint::Unsent>,
        endpoint: &Endpoint,
        described: usize,
    ) -> SendStep<T> {
        let unsent = match sent {
            Ok(()) => return SendStep::Settled(Ok(())),
            Err(unsent) => unsent,
        };
        match self.sender.send_error(endpoint, unsent.error) {
            SendError::Closed { .. } if self.sender.peers.only.is_none() => {
                SendStep::Again(Parcel::message(unsent.filled, described))
            }
            why => SendStep::Settled(Err(why)),
        }
    }

    /// Handles the outcome of a receiver in this process.
    fn handle_near_outcome(
        &self,
        sent: Result<(), Parcel<T>>,
        link: &Arc<NearLink<T>>,
    ) -> SendStep<T> {
        match sent {
            Ok(()) => SendStep::Settled(Ok(())),
            Err(parcel) => match self.sender.link_closed(link) {
                _ if self.sender.peers.only.is_none() => SendStep::Again(parcel),
                error => SendStep::Settled(Err(error)),
            },
        }
    }

    /// Blocks until the outcome is known or the deadline passes. An object that was not sent and
    /// not yet converted to bytes is put back into `cargo`.
    pub(super) fn wait(
        mut self,
        until: Deadline,
        timeout: Duration,
        cargo: &mut Cargo<'_, T>,
    ) -> Result<(), SendError> {
        loop {
            let sent = match mem::replace(&mut self.state, SendState::Done) {
                SendState::Far(mut ticket, endpoint, described) => {
                    let left = until.left().unwrap_or(Duration::MAX);
                    match ticket.wait_timeout(left) {
                        Some(sent) => self.handle_far_outcome(sent.map(drop), &endpoint, described),
                        // Dropping the ticket of an operation in progress does not stop it.
                        None => match ticket.cancel() {
                            Ok(Err(_)) => return Err(self.sender.timed_out(timeout)),
                            Ok(Ok(_)) | Err(_) => return Ok(()),
                        },
                    }
                }
                SendState::Near(ticket) => {
                    let parker = Parker::of_thread();
                    let sent = loop {
                        if let Poll::Ready(sent) = ticket.poll(parker.waker()) {
                            break sent;
                        }
                        if until.has_passed() {
                            let Some(parcel) = ticket.withdraw() else {
                                break Ok(());
                            };
                            cargo.put_back(parcel);
                            return Err(self.sender.timed_out(timeout));
                        }
                        parker.park(until.left());
                    };
                    self.handle_near_outcome(sent, ticket.link())
                }
                SendState::Waiting(parcel) => {
                    if !self.sender.peers.wait(until) {
                        cargo.put_back(parcel);
                        return Err(self.sender.timed_out(timeout));
                    }
                    SendStep::Again(parcel)
                }
                SendState::Failed(error) => return Err(error),
                SendState::Sent | SendState::Done => return Ok(()),
            };
            match sent {
                SendStep::Settled(settled) => return settled,
                SendStep::Again(parcel) => self.state = Self::post(&self.sender, parcel),
            }
        }
    }
}

impl<T: Transportable + 'static> Future for Send<T> {
    type Output = Result<(), SendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            let sent = match mem::replace(&mut this.state, SendState::Done) {
                SendState::Far(mut ticket, endpoint, described) => {
                    match Pin::new(&mut ticket).poll(context) {
                        Poll::Pending => {
                            this.state = SendState::Far(ticket, endpoint, described);
                            return Poll::Pending;
                        }
                        Poll::Ready(sent) => {
                            this.handle_far_outcome(sent.map(drop), &endpoint, described)
                        }
                    }
                }
                SendState::Near(ticket) => match ticket.poll(context.waker()) {
                    Poll::Pending => {
                        this.state = SendState::Near(ticket);
                        return Poll::Pending;
                    }
                    Poll::Ready(sent) => this.handle_near_outcome(sent, ticket.link()),
                },
                SendState::Waiting(parcel) => {
                    if this.sender.peers.register(context.waker()) {
                        this.state = SendState::Waiting(parcel);
                        return Poll::Pending;
                    }
                    SendStep::Again(parcel)
                }
                SendState::Failed(error) => return Poll::Ready(Err(error)),
                SendState::Sent => return Poll::Ready(Ok(())),
                SendState::Done => panic!("polled after it was ready"),
            };
            match sent {
                SendStep::Settled(settled) => return Poll::Ready(settled),
                SendStep::Again(parcel) => this.state = Self::post(&this.sender, parcel),
            }
        }
    }
}

impl<T: Transportable + 'static> Unpin for Send<T> {}

impl<T: Transportable + 'static> fmt::Debug for Send<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Send").finish_non_exhaustive()
    }
}
