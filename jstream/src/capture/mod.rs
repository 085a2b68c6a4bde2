//! Captures: what a connection has carried, in a file that is read without the programs that made it.
//!
//! A capture begins with eight bytes, `jstcap` and the version in two, and goes on with [records](Record), each behind
//! its length and a checksum of 32 bits each, all little-endian. A capture of calls has the schemas of the methods that
//! were called, so that the values in its messages can be shown.
//!
//! ```
//! use jstream::capture::{CaptureReader, Direction, Kind, Message, Record, encode, start};
//!
//! # fn main() -> Result<(), jstream::capture::CaptureError> {
//! let mut bytes = start();
//! let mut message = Message::new(Direction::Outward, Kind::Request);
//! message.payload = b"what was sent".to_vec();
//! encode(&Record::Message(message.clone()), &mut bytes);
//!
//! let mut reader = CaptureReader::new(&bytes[..])?;
//! assert_eq!(reader.read()?, Some(Record::Message(message)));
//! assert_eq!(reader.read()?, None);
//! # Ok(())
//! # }
//! ```
//!
//! Captures may come from anywhere: no more memory is taken than there are bytes, and what is damaged is an error.
#![forbid(unsafe_code)]

mod encoding;
mod reader;
#[cfg(test)]
mod tests;

pub use self::encoding::{encode, encode_message, start};
pub use self::reader::{CaptureError, CaptureReader};

/// What a capture begins with.
pub const MAGIC: [u8; 8] = *b"jstcap\x01\x00";

/// What stands in a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// What was captured: the first record.
    Start(Start),
    /// The names by which one side knows the handlers of its own; messages have their places.
    Handlers {
        /// Whose: those of the other side were received.
        direction: Direction,
        /// Their names.
        names: Vec<String>,
    },
    /// What is called by these numbers. It may stand before or behind the first call.
    Method(Method),
    /// A message.
    Message(Message),
    /// So many messages are missing here, because the disk was too slow or a limit was reached.
    Lost {
        /// How many.
        messages: u64,
        /// How many bytes of the capture they would have been.
        bytes: u64,
    },
    /// The connection has ended: nothing follows.
    End,
}

/// What was captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Whether it was captured by the side that had connected.
    pub by_client: bool,
    /// When, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// The other side.
    pub peer: String,
}

/// A method that is called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Method {
    /// Whose objects: those of the other side where calls are sent.
    pub direction: Direction,
    /// The number of the object.
    pub object: u32,
    /// The place of the method in the interface.
    pub place: u16,
    /// The name of the interface.
    pub interface: String,
    /// The name of the method.
    pub name: String,
    /// Its signature.
    pub signature: String,
    /// The schema of the message of its arguments, as [`Schema::from_bytes`](crate::schema::Schema::from_bytes) takes it.
    pub arguments: Vec<u8>,
    /// That of the message of its result.
    pub result: Vec<u8>,
    /// Whether nobody answers it.
    pub one_way: bool,
    /// Whether an argument or the result is a stream.
    pub streams: bool,
}

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Direction {
    /// To the other side.
    #[default]
    Outward,
    /// From there.
    Inward,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Outward => Self::Inward,
            Self::Inward => Self::Outward,
        }
    }
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A request, which is answered.
    Request,
    /// A message that nobody answers.
    OneWay,
    /// The answer to a request.
    Reply,
    /// A request that was not carried out, with what is left of its payload and the reason.
    Return,
    /// The same of a message that nobody answers.
    Bounce,
    /// The answer to a request is not wanted any more.
    Cancel,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Request,
        Self::OneWay,
        Self::Reply,
        Self::Return,
        Self::Bounce,
        Self::Cancel,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::OneWay => "send",
            Self::Reply => "reply",
            Self::Return => "return",
            Self::Bounce => "bounce",
            Self::Cancel => "cancel",
        }
    }
}

/// A message, as it was on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// When, in nanoseconds after the start.
    pub nanos: u64,
    /// Which way.
    pub direction: Direction,
    /// What it is.
    pub kind: Kind,
    /// The number of its request, where there is one.
    pub number: u32,
    /// The place of the handler; of what was given back, a number for the reason.
    pub code: u16,
    /// What it says besides. A reply to a call with a word other than 0 says what went wrong, as text.
    pub word: u64,
    /// How many bytes at the end of the payload say why a message was given back.
    pub text: u16,
    /// The numbers of the object and of the method, where it is a call.
    pub call: Option<(u32, u16)>,
    /// What it carries.
    pub payload: Vec<u8>,
}

impl Message {
    /// One that says nothing yet.
    #[must_use]
    pub const fn new(direction: Direction, kind: Kind) -> Self {
        Self {
            nanos: 0,
            direction,
            kind,
            number: 0,
            code: 0,
            word: 0,
            text: 0,
            call: None,
            payload: Vec::new(),
        }
    }
}
