//! What was received, and where it is wanted.

use jstream::buffer::{Filled, Pool, Spent};
use jstream::{Erased, Writer};

use crate::device::connection::Payload;
use crate::error::RecvError;
use crate::header::Header;

/// A message that was received.
pub(crate) struct Arrived {
    pub(crate) header: Header,
    pub(crate) payload: Payload,
    /// Which one it is.
    pub(super) number: u64,
}

impl Arrived {
    /// Its bytes: an object becomes a message again. One that can't, for want of room, comes back.
    #[inline]
    pub(crate) fn into_bytes(self, pool: &Pool) -> Result<(Header, Filled), Box<Unwritten>> {
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
) -> Result<(Header, Filled), Box<Unwritten>> {
    let type_name = object.type_name();
    match object.forward(&mut Writer::new(), pool) {
        Ok(forwarded) => {
            let length = forwarded.message.len() as u64;
            Ok((header.with_length(length), forwarded.message))
        }
        Err(unforwarded) => Err(Box::new(Unwritten {
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

/// An object that did not become a message, and why.
pub(crate) struct Unwritten {
    pub(crate) error: RecvError,
    pub(crate) arrived: Option<Arrived>,
}

/// What came of a posted receive.
pub(crate) type Receipt = Result<Arrived, Missed>;

/// No message, why, and the jbuf that was posted.
pub(crate) struct Missed {
    pub(crate) error: RecvError,
    pub(crate) spent: Option<Spent>,
}

/// Where a message is wanted.
pub(in crate::endpoint) enum Place<'s> {
    /// In a jbuf of the pool.
    Pool,
    /// In this jbuf, which is taken.
    Jbuf(&'s mut Option<Spent>),
    /// In memory of so many bytes; it stands in the scratch meanwhile, or in a jbuf of the pool.
    Memory(usize),
}

pub(super) fn too_small(place: &Place<'_>, length: u64) -> Option<RecvError> {
    let capacity = match place {
        Place::Pool => return None,
        Place::Jbuf(spent) => spent.as_ref()?.capacity(),
        Place::Memory(capacity) => *capacity,
    };
    (length > capacity as u64).then_some(RecvError::TooSmall { length, capacity })
}
