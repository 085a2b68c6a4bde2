//! Messages as programs get them.

use jstream::buffer::MessageBuffer;
use jstream_base::Header;

/// A received message.
#[derive(Debug)]
#[non_exhaustive]
pub struct Message {
    /// The header that the sender set.
    pub header: Header,
    /// The payload, in a buffer whose bytes were not checked yet. If the payload is empty, the
    /// buffer may be one without memory.
    pub payload: MessageBuffer,
}

impl Message {
    /// Returns a message with this payload, whose sender set no header.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn of_payload(payload: MessageBuffer) -> Self {
        Self {
            header: Header::default(),
            payload,
        }
    }
}
