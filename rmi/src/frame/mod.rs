//! Layer 2: the encoding of calls and of the frames of streams, without I/O.
//!
//! Imports `support`.
//!
//! # Calls
//!
//! A call is encoded in the header word of an active message.
//!
//! | message | word | payload |
//! |---|---|---|
//! | request or one-way message | object, method, and time that the caller waits | the arguments |
//! | reply | 0 | the result |
//! | reply | a [`Code`] | an error text, or the number of a result that is kept |
//!
//! If the arguments or the result are `()`, the payload is empty; an encoded `()` is accepted as
//! well.
//!
//! The word consists of the object's number in the low 32 bits, then the index of the method within
//! its interface in 16 bits, then the time in 16 bits (see [`time`]). Both sides agreed
//! on the interface when the object was looked up.

mod code;
mod header;
mod message;
mod stream;
mod time;
mod trailer;

pub(crate) use self::code::Code;
pub(crate) use self::header::{
    CALLS, CallHeader, PROMISE_NUMBERS, PROMISED, PROMISES, REFERENCES, REFLECTION, REGISTRY,
    RESULTS, STREAMS, is_of_every_server, names_a_call,
};
pub(crate) use self::message::{is_nothing, length, nothing, read, written};
pub(crate) use self::stream::{CloseReason, Key, MOST_ITEMS, Window, Word};
pub(crate) use self::time::{Deadline, Span, begin};
pub(crate) use self::trailer::CallTrailer;
