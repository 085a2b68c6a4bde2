//! Layer 2: the encoding of calls and of the frames of streams, without I/O.
//!
//! Imports `support`.
//!
//! The frames are in the header word of active messages. They are declared as tables, which
//! `PROTOCOL.md` repeats with their payloads; tests compare both.
//!
//! If the arguments or the result of a call are `()`, the payload is empty; an encoded `()` is
//! accepted as well. Both sides agreed on the interface, and so on the indices of its methods, when
//! the object was looked up.

mod code;
mod header;
mod message;
mod metadata;
mod moving;
mod references;
#[cfg(feature = "secret")]
mod secret;
mod stream;
mod time;
mod trailer;

pub(crate) use self::code::Code;
pub(crate) use self::header::{
    CALLS, CallHeader, HAS_METADATA, MOST_METHODS, MOVING, OBJECT_NUMBERS, PASSES_PROMISED,
    PROMISE_NUMBERS, PROMISED, PROMISES, REFERENCES, REFLECTION, REGISTRY, RESULTS, STREAMS,
    is_of_every_server, names_a_call,
};
pub(crate) use self::message::{length, nothing, read, written, written_copy};
pub use self::metadata::{Metadata, metadata_of};
pub(crate) use self::moving::MovingMessage;
pub(crate) use self::references::ReferenceMessage;
#[cfg(feature = "secret")]
pub(crate) use self::secret::{SECRET_VERSION, SecretMessage};
pub(crate) use self::stream::{CloseReason, Key, MOST_ITEMS, Window, Word};
pub(crate) use self::time::{Deadline, Span, begin};
pub(crate) use self::trailer::{CallTrailer, MOST_PROMISED, Trailers, promised_to_wire};

#[cfg(test)]
mod tests {
    use jstream_base::frame::{FieldGroup, assert_documented};

    use super::*;

    #[test]
    fn the_protocol_lists_these_frames() {
        let page = include_str!("../../PROTOCOL.md");
        let header = [("call header", CallHeader::PLACES)];
        assert_documented(page, "## Calls", Code::LAYOUT, &header);
        assert_documented(page, "## References", ReferenceMessage::LAYOUT, &[]);
        assert_documented(page, "## The end of a server", MovingMessage::LAYOUT, &[]);
        #[cfg(feature = "secret")]
        assert_documented(page, "## The secret", SecretMessage::LAYOUT, &[]);
    }
}
