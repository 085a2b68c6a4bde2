//! Sending of borrowed and of received objects.

use std::io::IoSlice;
use std::time::Duration;

use jstream::buffer::MessageBuffer;
use jstream::{Received, Transportable, Writer};

use super::cargo::Cargo;
use super::described::with_segments;
use super::error::{SendError, Unsent};
use super::near::Parcel;
use super::peers::PeerConnection;
use super::send::Send;
use super::sender::Sender;
use jstream_device::deadline::Deadline;
use jstream_endpoint::object::read;
use jstream_endpoint::{Endpoint, Message, Remains, SendObjectError};

impl<T: Transportable + 'static> Sender<T> {
    /// Sends an object and everything that it reaches. Returns when the device has taken the
    /// message. The call blocks while there is no room, and while no receiver has joined, each for
    /// at most [`Options::send_timeout`](jstream_base::Options::send_timeout).
    ///
    /// With [`fan_out`](super::Channel::fan_out), the object goes to the next receiver that has
    /// room.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    #[inline]
    pub fn send(&self, object: &T) -> Result<(), SendError> {
        let mut cargo = Cargo::lent(object);
        self.deliver(&mut cargo)
    }

    /// As [`send`](Self::send), but does not block. Only if the connection has ended, it waits up to
    /// 100 ms to learn whether the receiver has said farewell.
    ///
    /// # Errors
    ///
    /// [`SendError::Full`] if there is no room or no receiver has joined yet; or another
    /// [`SendError`].
    pub fn try_send(&self, object: &T) -> Result<(), SendError> {
        self.offer(&mut Cargo::lent(object))
    }

    /// As [`send`](Self::send), but blocks for at most `timeout`. If the device has taken a part of
    /// the object by then, the rest is sent in the background, and the object counts as sent.
    ///
    /// # Errors
    ///
    /// [`SendError::TimedOut`] if nothing was taken in time, or another [`SendError`].
    pub fn send_timeout(&self, object: &T, timeout: Duration) -> Result<(), SendError> {
        self.deliver_within(&mut Cargo::lent(object), timeout)
    }

    /// Sends an object, for a task. The object is serialized during the call, so the future does
    /// not borrow it. It is queued behind all operations posted before. The future completes when
    /// the device has taken the message. If the future is dropped, the object is still sent, unless
    /// no receiver has joined.
    pub fn send_async(&self, object: &T) -> Send<T> {
        Send::begin(self, &mut Cargo::lent(object))
    }

    /// Forwards a received object. Between threads of one process it moves as it is, whatever its
    /// size. Otherwise it is converted back to a message in its buffer, and that message is sent.
    ///
    /// # Errors
    ///
    /// [`Unsent`], with the reason and, if possible, the object.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_received(&self, mut received: Received<T>) -> Result<(), Unsent<T>>
    where
        Received<T>: std::marker::Send,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let mut until = None;
        loop {
            let connection = match self.next(&mut until) {
                Ok(connection) => connection,
                Err(error) => {
                    return Err(Unsent {
                        error,
                        received: Some(received),
                    });
                }
            };
            let (why, rest) = match &connection {
                PeerConnection::Near(link) => {
                    let mut cargo = Cargo::parcel(Parcel::object(received));
                    let until = Deadline::after(self.peers.options.send_timeout);
                    match self.send_to_link(link, &mut cargo, Some(until)) {
                        Ok(()) => return Ok(()),
                        Err(error) => (error, cargo.into_parcel().and_then(Parcel::into_object)),
                    }
                }
                PeerConnection::Far(endpoint) => {
                    let (error, rest) = match self.forward_far(endpoint, received) {
                        Ok(()) => return Ok(()),
                        Err(failed) => failed,
                    };
                    (self.send_object_error(endpoint, error), rest)
                }
            };
            received = match (why, rest) {
                (SendError::Closed { .. }, Some(rest)) if self.peers.only.is_none() => rest,
                (error, received) => return Err(Unsent { error, received }),
            };
        }
    }

    /// Forwards a received object to a receiver outside of this process. If it is not sent, returns
    /// the object, so that another receiver can get it.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    fn forward_far(
        &self,
        endpoint: &Endpoint,
        received: Received<T>,
    ) -> Result<(), (SendObjectError, Option<Received<T>>)>
    where
        Received<T>: std::marker::Send,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let undescribed = &*self.peers.undescribed;
        let description = match undescribed.is_empty() {
            true => Ok(Vec::new()),
            false => received.with(|object| undescribed.describe(None, object, &mut Writer::new())),
        };
        let description = match description {
            Ok(description) => description,
            Err(error) => return Err((SendObjectError::Write(error), Some(received))),
        };
        if description.is_empty() {
            return endpoint.send_received(0, received).map_err(|unsent| {
                let rest = match unsent.remains {
                    Remains::Object(object) => Some(object),
                    Remains::Message(message) => read_back(endpoint, message),
                    _ => None,
                };
                (unsent.error, rest)
            });
        }
        let forwarded = Writer::new().forward_to(received, &self.peers.options.pool);
        let message = forwarded.map_err(|failure| {
            let error = SendObjectError::Write(failure.error);
            (error, failure.received)
        })?;
        let message = message.message;
        let segments = [IoSlice::new(message.as_bytes())];
        let max_bytes = endpoint.info().limits.max_send;
        let sent = with_segments(&segments, &description, max_bytes, |header, segments| {
            endpoint.send_message(header, segments)
        });
        sent.map_err(|error| (error.into(), read_back(endpoint, message)))
    }

    /// As `deliver`, but blocks for at most `timeout`.
    pub(super) fn deliver_within(
        &self,
        cargo: &mut Cargo<'_, T>,
        timeout: Duration,
    ) -> Result<(), SendError> {
        let until = Deadline::after(timeout);
        if let Some(link) = self.peers.alone() {
            match self.send_to_link(link, cargo, Some(until)) {
                Err(SendError::TimedOut { .. }) => return Err(self.timed_out(timeout)),
                Err(SendError::Closed { .. }) if self.peers.only.is_none() => {}
                settled => return settled,
            }
        }
        Send::begin(self, cargo).wait(until, timeout, cargo)
    }
}

/// Reads the message of an object that was to be forwarded, which is none of a peer but one of this
/// program. So this fails only if the process has no memory for it.
fn read_back<T: Transportable + 'static>(
    endpoint: &Endpoint,
    message: MessageBuffer,
) -> Option<Received<T>> {
    let read = read::<T>(Message::of_payload(message), endpoint.shared());
    read.ok().map(|(_, object)| object)
}
