//! Objects, sent and received.
//!
//! An object is written when it is sent, into the segments of a message that the device takes from
//! where they are, and is read where its message was received. Neither is done under a lock of the
//! endpoint: the program's code that runs meanwhile may use it.

use std::time::Duration;

use jstream::buffer::Filled;
use jstream::{Erased, Received, Transportable, ForwardFailure, WriteError, Writer};

use super::Endpoint;
use super::message::Message;
use super::object::{
    ObjectTicket, RecvObjectError, Remains, SendObjectError, UnsentObject, object_of, read,
};
use super::ops::Notify;
use super::shared::Patience;
use super::ticket::{RecvOp, SendTicket};
use crate::device::connection::Body;
use crate::device::shm::Outbox;
use crate::error::SendError;
use crate::header::Header;

/// Writes an object into a jbuf that the peer reads, if it fits one of the length of the last object. What
/// is wrong with it otherwise, whoever writes it elsewhere finds out.
fn write_in_place<T: Transportable>(
    writer: &mut Writer,
    object: &T,
    outbox: Option<&Outbox>,
) -> Option<Filled> {
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
    /// Sends an object, and all that it reaches. Returns when the device has taken every byte; large
    /// plain arrays are taken from where they are.
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

    /// As [`send`](Self::send), with a tag that [`recv_tagged`](Self::recv_tagged) gives.
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

    /// As [`send`](Self::send), but without waiting, as
    /// [`try_send_message`](Self::try_send_message) does.
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
        let shared = &*self.shared;
        let sent = shared.tools.with_writer(|writer| {
            let outbox = shared.facts().outbox();
            if let Some(filled) = write_in_place(writer, object, outbox) {
                return Ok(self.send_written(header, filled, patience));
            }
            writer.gather(object, |segments| {
                if let Some(outbox) = outbox {
                    outbox.note_usual(segments.iter().map(|segment| segment.len()).sum());
                }
                self.send_segments(header, segments, patience)
            })
        });
        Ok(sent.map_err(SendObjectError::Write)??)
    }

    fn send_written(
        &self,
        header: Header,
        filled: Filled,
        patience: Patience,
    ) -> Result<(), SendError> {
        let (mut message, refused) = self.outbound(header, filled);
        match refused {
            Some(error) => Err(error),
            None => self.shared.send(&mut message, patience),
        }
    }

    /// Posts an object to be sent, behind everything posted before. It is written at once, into a
    /// jbuf of this side's pool, so nothing of it is borrowed.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when it can't be written. Whatever else is wrong the ticket says, and gives
    /// the message back.
    pub fn post_send_object<T: Transportable>(&self, object: &T) -> Result<SendTicket, WriteError> {
        self.post_send_object_tagged(0, object)
    }

    /// As [`post_send_object`](Self::post_send_object), with a tag.
    ///
    /// # Errors
    ///
    /// [`WriteError`].
    pub fn post_send_object_tagged<T: Transportable>(
        &self,
        tag: u64,
        object: &T,
    ) -> Result<SendTicket, WriteError> {
        let shared = &*self.shared;
        let pool = &shared.facts().pool;
        let outbox = shared.facts().outbox();
        let filled =
            shared
                .tools
                .with_writer(|writer| match write_in_place(writer, object, outbox) {
                    Some(filled) => Ok(filled),
                    None => writer.write_to(object, pool),
                })?;
        if let Some(outbox) = outbox {
            outbox.note_usual(filled.len());
        }
        Ok(self.post_send(Header::tagged(tag), filled))
    }

    /// Sends an object; the same as [`post_send_object`](Self::post_send_object), under the name that
    /// says what to do with the ticket.
    ///
    /// # Errors
    ///
    /// [`WriteError`].
    pub fn send_async<T: Transportable>(&self, object: &T) -> Result<SendTicket, WriteError> {
        self.post_send_object(object)
    }

    /// Waits for the next message, and reads the object that it is.
    ///
    /// # Errors
    ///
    /// [`RecvObjectError`].
    pub fn recv<T: Transportable + 'static>(&self) -> Result<Received<T>, RecvObjectError> {
        Ok(self.receive_object(Patience::Endless)?.1)
    }

    /// As [`recv`](Self::recv), with the message's tag.
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

    /// As [`recv`](Self::recv), but not longer than `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`](crate::RecvError::TimedOut), after which the connection can be used as
    /// before, or another [`RecvObjectError`].
    pub fn recv_timeout<T: Transportable + 'static>(
        &self,
        timeout: Duration,
    ) -> Result<Received<T>, RecvObjectError> {
        Ok(self.receive_object(Patience::For(timeout))?.1)
    }

    /// The next message, if it is here, as the object that it is.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`](crate::RecvError::Empty) when it is not, or another [`RecvObjectError`].
    pub fn try_recv<T: Transportable + 'static>(&self) -> Result<Received<T>, RecvObjectError> {
        Ok(self.receive_object(Patience::None)?.1)
    }

    fn receive_object<T: Transportable + 'static>(
        &self,
        patience: Patience,
    ) -> Result<(Header, Received<T>), RecvObjectError> {
        let (mut message, mut other) = (Message::nothing(), None);
        self.shared.receive(&mut message, &mut other, patience)?;
        match other {
            None => read(message, &self.shared),
            Some(arrived) => object_of(arrived, &self.shared),
        }
    }

    /// Posts a receive of an object, behind everything posted before. The object is read when its
    /// ticket is asked for it, by whoever asks.
    pub fn post_recv_object<T: Transportable + 'static>(&self) -> ObjectTicket<T> {
        let id = self.shared.post_recv(None, Notify::Ticket);
        ObjectTicket::new(RecvOp::new(self.shared.clone(), id))
    }

    /// Receives an object; the same as [`post_recv_object`](Self::post_recv_object), under the name
    /// that says what to do with the ticket.
    pub fn recv_async<T: Transportable + 'static>(&self) -> ObjectTicket<T> {
        self.post_recv_object()
    }

    /// Sends on an object that was received. Where jbufs [move](crate::Limits::moves) it moves as it
    /// is, whatever its size; who receives the same type gets it without reading it again. Elsewhere
    /// it becomes a message again, in place where that can be done, and that is sent.
    ///
    /// # Errors
    ///
    /// [`UnsentObject`] says why, and gives back what is left.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_received<T>(&self, received: Received<T>) -> Result<(), UnsentObject<T>>
    where
        T: Transportable + 'static,
        Received<T>: Send,
        for<'x> T::InPlace<'x>: Transportable,
    {
        self.send_received_tagged(0, received)
    }

    /// As [`send_received`](Self::send_received), with a tag.
    ///
    /// # Errors
    ///
    /// [`UnsentObject`].
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_received_tagged<T>(
        &self,
        tag: u64,
        received: Received<T>,
    ) -> Result<(), UnsentObject<T>>
    where
        T: Transportable + 'static,
        Received<T>: Send,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let header = Header::tagged(tag);
        let limits = self.limits();
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
        let pool = &shared.facts().pool;
        let forwarded = shared
            .tools
            .with_writer(|writer| writer.forward_to(received, pool));
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
        self.send_filled(header, message)
            .map_err(|unsent| UnsentObject {
                error: unsent.error.into(),
                remains: Remains::Message(unsent.filled),
            })
    }

    /// Moves an object; one that did not comes back.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    fn move_object(
        &self,
        header: Header,
        object: Erased,
    ) -> Result<(), (SendError, Option<Erased>)> {
        // What it is as a message nobody has counted; its jbuf is what is moved.
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
