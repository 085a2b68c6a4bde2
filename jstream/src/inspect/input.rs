//! What kind of thing bytes are, and the messages in it.

use std::ops::Range;

use super::{Code, Fault};
use crate::schema::Schema;
use crate::walk::Header;

/// What bytes are, as far as their beginning tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// One message.
    Message,
    /// Messages one after another.
    Stream,
    /// A file of messages, with their schemas and an index.
    File,
    /// A schema, as [`Schema::to_bytes`] encodes it.
    Schema,
}

/// What a file begins with.
const FILE: &[u8] = b"jstfile\x01";
/// What a message begins with.
const MESSAGE: &[u8] = b"jst\x01";
/// What padding between messages begins with.
const PADDING: &[u8] = b"jsp\x01";

/// Items of a stream begin at multiples of this.
const STEP: usize = 16;

impl Input {
    /// What these bytes are.
    ///
    /// # Errors
    ///
    /// When they begin as nothing that is known.
    pub fn of(bytes: &[u8]) -> Result<Self, Fault> {
        if bytes.starts_with(FILE) {
            return Ok(Self::File);
        }
        if bytes.starts_with(PADDING) {
            return Ok(Self::Stream);
        }
        if bytes.starts_with(MESSAGE) {
            let len = Header::of(bytes).map_or(bytes.len(), |header| header.message_len());
            let is_one = len >= bytes.len();
            return Ok(if is_one { Self::Message } else { Self::Stream });
        }
        match Schema::from_bytes(bytes) {
            Ok(_) => Ok(Self::Schema),
            // What begins with its version may be meant as one.
            Err(_) if bytes.starts_with(&[1]) => Ok(Self::Schema),
            Err(_) => {
                let end = bytes.len().min(8);
                let what = "neither a message, nor a stream, a file, or a schema begins like this";
                Err(Fault::new(Code::Magic, 0..end, what))
            }
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Stream => "stream",
            Self::File => "file",
            Self::Schema => "schema",
        }
    }
}

/// A message of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item {
    /// Its number, from 0 on.
    pub number: usize,
    /// Where it stands, from the stream's start.
    pub at: Range<usize>,
}

/// The messages of a stream, or the one message that there is.
///
/// What is wrong between them ends the iteration, as does a header that does not say where its message
/// ends.
#[derive(Debug, Clone)]
pub struct Items<'b> {
    bytes: &'b [u8],
    at: usize,
    number: usize,
    over: bool,
}

impl<'b> Items<'b> {
    /// Those of a stream's bytes.
    #[must_use]
    pub const fn of(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            number: 0,
            over: false,
        }
    }

    /// Goes over the bytes in front of the next message.
    fn skip(&mut self) -> Result<(), Fault> {
        let next = self.at.next_multiple_of(STEP);
        self.zeroes(next, "behind a message")?;
        while self.starts_with(PADDING) {
            let start = self.at;
            let len = self
                .bytes
                .get(start.saturating_add(4)..start.saturating_add(8));
            let len = len
                .and_then(|len| len.try_into().ok())
                .map_or(0, u32::from_le_bytes);
            if len % 16 != 0 || !(16..=112).contains(&len) {
                let what = format!("padding of {len} bytes");
                let at = start.saturating_add(4)..start.saturating_add(8);
                return Err(Fault::new(Code::Padding, at, what));
            }
            self.at = start.saturating_add(8);
            self.zeroes(start.saturating_add(len as usize), "in the padding")?;
            if !self.starts_with(MESSAGE) {
                let what = "no message follows the padding";
                return Err(Fault::new(Code::Padding, start..self.at, what));
            }
            if self.at % 128 != 0 {
                let what = "the padding does not end at a multiple of 128";
                return Err(Fault::new(Code::Padding, start..self.at, what));
            }
        }
        Ok(())
    }

    fn starts_with(&self, magic: &[u8]) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        rest.starts_with(magic)
    }

    fn zeroes(&mut self, end: usize, place: &str) -> Result<(), Fault> {
        let at = self.at;
        self.at = end;
        let Some(gap) = self.bytes.get(at..end) else {
            let what = "the stream goes on behind its last message, which it must end with";
            return Err(Fault::new(Code::Padding, at..self.bytes.len(), what));
        };
        let wrong = gap.iter().position(|byte| *byte != 0);
        wrong.map_or(Ok(()), |wrong| {
            let at = at.saturating_add(wrong);
            let what = format!("a byte {place} that is not zero");
            Err(Fault::new(Code::Padding, at..at.saturating_add(1), what))
        })
    }

    fn message(&mut self) -> Result<Item, Fault> {
        if self.at > 0 || self.starts_with(PADDING) {
            self.skip()?;
        }
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let header = Header::of(rest).map_err(|fault| fault.moved(start))?;
        // Where there is less, the message is looked at as far as it goes.
        let end = start.saturating_add(header.message_len());
        self.at = end.min(self.bytes.len());
        self.over = end > self.bytes.len();
        let number = self.number;
        self.number = number.saturating_add(1);
        Ok(Item {
            number,
            at: start..self.at,
        })
    }
}

impl Iterator for Items<'_> {
    type Item = Result<Item, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        // A stream may have no message; else it ends behind the last one.
        if self.over || self.at >= self.bytes.len() {
            return None;
        }
        let message = self.message();
        self.over |= message.is_err();
        Some(message)
    }
}
