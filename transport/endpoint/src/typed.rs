//! Sending and receiving of objects.
//!
//! A sent object is serialized into the segments of a message, which the device reads in place. A
//! received object is read in the buffer of its message. Both run without a lock of the endpoint,
//! because code of the program runs meanwhile and may use the endpoint.

use std::time::Duration;

use jstream::buffer::MessageBuffer;
use jstream::{Erased, ForwardFailure, Received, Transportable, WriteError, Writer};

use super::endpoint::Endpoint;
use super::gate::Credit;
use super::object::{
    ObjectTicket, RecvObjectError, Remains, SendObjectError, UnsentObject, object_of, read,
};
use super::ops::Notify;
use super::receiving::Inbound;
use super::shared::Patience;
use super::ticket::{RecvOp, SendTicket};
use jstream_base::Header;
use jstream_base::SendError;
use jstream_device::Outbox;
use jstream_device::connection::Body;

/// Writes an object to a buffer that the peer reads in place, if it fits a buffer of the last
/// object's length. On any error returns `None`; the caller then serializes the object elsewhere
/// and gets the error there.
fn write_in_place<T: Transportable>(
    writer: &mut Writer,
    object: &T,
    outbox: Option<&Outbox>,
) -> Option<MessageBuffer> {
    let outbox = outbox?;
    match writer.write(object, outbox.take_usual()?) {
        Ok(filled) => {
            outbox.note_usual(filled.len());
            Some(filled)
        }
        Err(_) => None,
    }
}

impl Endpoint {
    /// Sends an object and everything that it reaches. Returns when the device has taken every
    /// byte. Large plain arrays and long text are not copied.
    ///
    /// ```
    /// use jstream_transport::{Options, connect, listen};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = listen(&"inproc://numbers".parse()?, &Options::default())?;
    /// let server = std::thread::spawn(move || {
    ///     let endpoint = listener.accept().unwrap().establish().unwrap();
    ///     let numbers = endpoint.recv::<Vec<u64>>().unwrap();
    ///     endpoint.send(&numbers.get().iter().sum::<u64>()).unwrap();
    /// });
    ///
    /// let endpoint = connect(&"inproc://numbers".parse()?, &Options::default())?;
    /// endpoint.send(&vec![1u64, 2, 3])?;
    /// assert_eq!(*endpoint.recv::<u64>()?.get(), 6);
    /// # server.join().unwrap();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendObjectError`].
    pub fn send<T: Transportable>(&self, object: &T) -> Result<(), SendObjectError> {
        self.send_object(Header::default(), object, self.patience())
    }

    /// As [`send`](Self::send), with a tag that [`recv_tagged`](Self::recv_tagged) returns.
    ///
    /// # Errors
    ///
    /// [`SendObjectError`].
    pub fn send_tagged<T: Transportable>(
        &self,
        tag: u64,
        object: &T,
    ) -> Result<(), SendObjectError> {
        self.send_object(Header::tagged(tag), object, self.patience())
    }

    /// As [`send`](Self::send), but does not block; see
    /// [`try_send_message`](Self::try_send_message).
    ///
    /// # Errors
    ///
    /// [`SendError::WouldBlock`], or another [`SendObjectError`].
    pub fn try_send<T: Transportable>(&self, object: &T) -> Result<(), SendObjectError> {
        self.send_object(Header::default(), object, Patience::None)
    }

    fn send_object<T: Transportable>(
        &self,
        header: Header,
        object: &T,
        patience: Patience,
    ) -> Result<(), SendObjectError> {
        let shared = &self.shared;
        let sent = shared.codecs().writers.with(|writer| {
            let outbox = shared.info().outbox();
            if let Some(filled) = write_in_place(writer, object, outbox) {
                return Ok(self.send_written(header, filled, patience));
            }
            writer.gather(object, |segments| {
                if let Some(outbox) = outbox {
                    outbox.note_usual(segments.iter().map(|segment| segment.len()).sum());
                }
                shared.send_segments(header, segments, patience, Credit::FREE)
            })
        });
        Ok(sent.map_err(SendObjectError::Write)??)
    }

    fn send_written(
        &self,
        header: Header,
        filled: MessageBuffer,
        patience: Patience,
    ) -> Result<(), SendError> {
        let (mut message, refused) = self.outbound(header, filled);
        match refused {
            Some(error) => Err(error),
            None => self.shared.send(&mut message, patience),
        }
    }

    /// Posts an object to be sent, behind everything posted before, with a tag that
    /// [`recv_tagged`](Self::recv_tagged) returns. The object is serialized during the call to a
    /// buffer of the local pool, so it is not borrowed afterwards.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the object can't be written. The ticket reports any other error and
    /// returns the message.
    pub fn post_send_object<T: Transportable>(
        &self,
        tag: u64,
        object: &T,
    ) -> Result<SendTicket, WriteError> {
        let shared = &*self.shared;
        let pool = &shared.info().pool;
        let outbox = shared.info().outbox();
        let filled = shared.codecs().writers.with(|writer| {
            match write_in_place(writer, object, outbox) {
                Some(filled) => Ok(filled),
                None => writer.write_to(object, pool),
            }
        })?;
        if let Some(outbox) = outbox {
            outbox.note_usual(filled.len());
        }
        Ok(self.post_send(Header::tagged(tag), filled))
    }

    /// Blocks until the next message arrives, and reads its object.
    ///
    /// # Errors
    ///
    /// [`RecvObjectError`].
    pub fn recv<T: Transportable + 'static>(&self) -> Result<Received<T>, RecvObjectError> {
        Ok(self.receive_object(Patience::Endless)?.1)
    }

    /// As [`recv`](Self::recv), but also returns the tag of the message.
    ///
    /// # Errors
    ///
    /// [`RecvObjectError`].
    pub fn recv_tagged<T: Transportable + 'static>(
        &self,
    ) -> Result<(u64, Received<T>), RecvObjectError> {
        let (header, received) = self.receive_object(Patience::Endless)?;
        Ok((header.tag(), received))
    }

    /// As [`recv`](Self::recv), but blocks for at most `timeout`. If `timeout` is zero, takes a
    /// message that has already arrived.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`](jstream_base::RecvError::TimedOut) if no message arrived in time, or
    /// [`RecvError::Empty`](jstream_base::RecvError::Empty) if `timeout` is zero and none has
    /// arrived. After both, the connection can still be used. Otherwise another
    /// [`RecvObjectError`].
    pub fn recv_within<T: Transportable + 'static>(
        &self,
        timeout: Duration,
    ) -> Result<Received<T>, RecvObjectError> {
        Ok(self.receive_object(Patience::within(timeout))?.1)
    }

    fn receive_object<T: Transportable + 'static>(
        &self,
        patience: Patience,
    ) -> Result<(Header, Received<T>), RecvObjectError> {
        let mut inbound = Inbound::empty();
        self.shared.receive(&mut inbound, patience);
        match inbound.other {
            None => read(inbound.message, &self.shared),
            Some(other) => object_of(other?, &self.shared),
        }
    }

    /// Posts a receive of an object, behind everything posted before. The thread or task that takes
    /// the outcome of the ticket reads the object.
    pub fn post_recv_object<T: Transportable + 'static>(&self) -> ObjectTicket<T> {
        let id = self.shared.post_recv(None, Notify::Ticket);
        ObjectTicket::new(RecvOp::new(self.shared.clone(), id))
    }

    /// Forwards a received object, with a tag. If the device [moves](crate::Limits::moves) buffers,
    /// the object moves as it is, whatever its size, and a receiver of the same type does not read
    /// it again. Otherwise it is converted back to a message, in place if possible, and that
    /// message is sent.
    ///
    /// # Errors
    ///
    /// [`UnsentObject`], with the reason and what is left of the object.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_received<T>(&self, tag: u64, received: Received<T>) -> Result<(), UnsentObject<T>>
    where
        T: Transportable + 'static,
        Received<T>: Send,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let header = Header::tagged(tag);
        let limits = &self.shared.info().limits;
        if limits.moves && received.capacity() as u64 <= limits.max_send {
            return self
                .move_object(header, Erased::new(received))
                .map_err(|(error, object)| UnsentObject {
                    error: error.into(),
                    remains: match object.and_then(|object| object.downcast().ok()) {
                        Some(received) => Remains::Object(received),
                        None => Remains::Nothing,
                    },
                });
        }
        let shared = &*self.shared;
        let pool = &shared.info().pool;
        let forwarded = shared
            .codecs()
            .writers
            .with(|writer| writer.forward_to(received, pool));
        let message = match forwarded {
            Ok(forwarded) => forwarded.message,
            Err(ForwardFailure {
                error, received, ..
            }) => {
                return Err(UnsentObject {
                    error: SendObjectError::Write(error),
                    remains: received.map_or(Remains::Nothing, Remains::Object),
                });
            }
        };
        self.send_buffer(header, message)
            .map_err(|unsent| UnsentObject {
                error: unsent.error.into(),
                remains: Remains::Message(unsent.filled),
            })
    }

    /// Moves an object. Returns the object if it was not moved.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    fn move_object(
        &self,
        header: Header,
        object: Erased,
    ) -> Result<(), (SendError, Option<Erased>)> {
        // The object moves with its buffer, so the capacity counts instead of the length of a
        // message.
        let length = Some(object.capacity() as u64);
        let (mut message, refused) = self.shared.outbound(header, length, Body::Object(object));
        let result = match refused {
            Some(error) => Err(error),
            None => self.shared.send(&mut message, self.patience()),
        };
        result.map_err(|error| match message.body {
            Body::Object(object) => (error, Some(object)),
            _ => (error, None),
        })
    }
}
