//! Received messages and their destinations.

use jstream::buffer::{EmptyBuffer, MessageBuffer, Pool};
use jstream::{Erased, Writer};

use crate::message::Message;
use jstream_base::Header;
use jstream_base::RecvError;
use jstream_device::connection::Payload;

/// A received message.
pub struct Arrived {
    pub(crate) header: Header,
    pub(crate) payload: Payload,
    /// Sequence number of the message.
    pub(crate) number: u64,
}

impl Arrived {
    /// Returns the payload as bytes. An object is converted back to a message. If there is no room
    /// for that, the object is returned with the error.
    #[inline]
    pub fn into_bytes(self, pool: &Pool) -> Result<(Header, MessageBuffer), Box<WriteFailure>> {
        match self.payload {
            Payload::Bytes(filled) => Ok((self.header, filled)),
            Payload::Object(object) => forward(self.header, self.number, object, pool),
        }
    }
}

#[cold]
fn forward(
    header: Header,
    number: u64,
    object: Erased,
    pool: &Pool,
) -> Result<(Header, MessageBuffer), Box<WriteFailure>> {
    let type_name = object.type_name();
    match object.forward(&mut Writer::new(), pool) {
        Ok(forwarded) => {
            let length = forwarded.message.len() as u64;
            Ok((header.with_length(length), forwarded.message))
        }
        Err(unforwarded) => Err(Box::new(WriteFailure {
            error: RecvError::Object {
                type_name,
                source: unforwarded.error,
            },
            arrived: unforwarded.object.map(|object| Arrived {
                header,
                payload: Payload::Object(object),
                number,
            }),
        })),
    }
}

/// Destination of one received message. The callers pass it down to the device by reference,
/// because results and options copy a returned value at each level.
pub struct Inbound {
    /// The message, if the fast path of the device received it.
    pub message: Message,
    /// Any other outcome. `None` if `message` was received, or nothing.
    pub other: Option<Result<Arrived, RecvError>>,
}

impl Inbound {
    /// Returns a destination for one receive.
    #[inline]
    #[must_use]
    pub fn empty() -> Self {
        Self {
            message: Message::of_payload(MessageBuffer::nothing()),
            other: None,
        }
    }
}

/// An object that could not be converted to a message, and the error.
pub struct WriteFailure {
    pub(crate) error: RecvError,
    pub(crate) arrived: Option<Arrived>,
}

/// Outcome of a posted receive.
pub type Receipt = Result<Arrived, Missed>;

/// Error of a posted receive, and the buffer that was posted.
pub struct Missed {
    /// The reason.
    pub error: RecvError,
    pub(crate) empty: Option<EmptyBuffer>,
}

/// Destination of a message.
pub(crate) enum Destination<'s> {
    /// A buffer of the pool.
    Pool,
    /// This buffer, which is taken out of the option.
    Jbuf(&'s mut Option<EmptyBuffer>),
    /// Memory of this many bytes. Meanwhile the message is in a buffer of the pool.
    Memory(usize),
}

pub(super) fn too_small(place: &Destination<'_>, length: u64) -> Option<RecvError> {
    let capacity = match place {
        Destination::Pool => return None,
        Destination::Jbuf(empty) => empty.as_ref()?.capacity(),
        Destination::Memory(capacity) => *capacity,
    };
    (length > capacity as u64).then_some(RecvError::TooSmall { length, capacity })
}
