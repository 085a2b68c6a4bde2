//! Detection of the kind of an input, and iteration over its messages.

use std::ops::Range;

use super::{Code, Fault};
use crate::schema::Schema;
use crate::walk::Header;

/// The kind of an input, detected from its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// A single message.
    Message,
    /// Several messages, one after another.
    Stream,
    /// A file of messages, with their schemas and an index.
    File,
    /// A schema, as [`Schema::to_bytes`] or [`Schema::to_snapshot`] encodes it.
    Schema,
}

/// First bytes of a file of objects.
const FILE: &[u8] = b"jstfile\x01";
/// First bytes of a message.
const MESSAGE: &[u8] = b"jst\x01";
/// First bytes of the padding between messages.
const PADDING: &[u8] = b"jsp\x01";

/// Alignment of the items of a stream in bytes.
const STEP: usize = 16;

impl Input {
    /// Detects the kind of an input.
    ///
    /// # Errors
    ///
    /// A [`Fault`] if the first bytes match no known kind.
    pub fn detect(bytes: &[u8]) -> Result<Self, Fault> {
        if bytes.starts_with(FILE) {
            return Ok(Self::File);
        }
        if bytes.starts_with(PADDING) {
            return Ok(Self::Stream);
        }
        if bytes.starts_with(MESSAGE) {
            let len = Header::decode(bytes).map_or(bytes.len(), |header| header.message_len());
            let is_one = len >= bytes.len();
            return Ok(if is_one { Self::Message } else { Self::Stream });
        }
        match Schema::from_snapshot(bytes) {
            Ok(_) => Ok(Self::Schema),
            // The input begins with the version of schemas, so it is treated as an invalid schema.
            Err(_) if bytes.starts_with(&[1]) => Ok(Self::Schema),
            Err(_) => {
                let end = bytes.len().min(8);
                let details = "not the start of a message, a stream, a file or a schema";
                Err(Fault::new(Code::Magic, 0..end, details))
            }
        }
    }

    /// Returns the name of the kind.
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
    /// Number of the message, from 0 on.
    pub number: usize,
    /// Byte range in the stream.
    pub at: Range<usize>,
}

/// Iterator over the messages of a stream, or over a single message.
///
/// Invalid bytes between messages, or a header that does not determine the end of its message, end
/// the iteration with an error.
#[derive(Debug, Clone)]
pub struct Items<'b> {
    bytes: &'b [u8],
    at: usize,
    number: usize,
    over: bool,
}

impl<'b> Items<'b> {
    /// Returns an iterator over the messages of a stream's bytes.
    #[must_use]
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            number: 0,
            over: false,
        }
    }

    /// Skips zeroes and padding before the next message.
    fn skip(&mut self) -> Result<(), Fault> {
        let next = self.at.next_multiple_of(STEP);
        self.zeroes(next, "after a message")?;
        while self.starts_with(PADDING) {
            let start = self.at;
            let len = self
                .bytes
                .get(start.saturating_add(4)..start.saturating_add(8));
            let len = len
                .and_then(|len| len.try_into().ok())
                .map_or(0, u32::from_le_bytes);
            if len % 16 != 0 || !(16..=112).contains(&len) {
                let details = format!("padding of {len} bytes is not valid");
                let at = start.saturating_add(4)..start.saturating_add(8);
                return Err(Fault::new(Code::Padding, at, details));
            }
            self.at = start.saturating_add(8);
            self.zeroes(start.saturating_add(len as usize), "in the padding")?;
            if !self.starts_with(MESSAGE) {
                let details = "no message follows the padding";
                return Err(Fault::new(Code::Padding, start..self.at, details));
            }
            if self.at % 128 != 0 {
                let details = "the padding does not end at a multiple of 128";
                return Err(Fault::new(Code::Padding, start..self.at, details));
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
            let details = "trailing bytes after the last message of the stream";
            return Err(Fault::new(Code::Padding, at..self.bytes.len(), details));
        };
        let wrong = gap.iter().position(|byte| *byte != 0);
        wrong.map_or(Ok(()), |wrong| {
            let at = at.saturating_add(wrong);
            let details = format!("a byte {place} is not zero");
            Err(Fault::new(Code::Padding, at..at.saturating_add(1), details))
        })
    }

    fn message(&mut self) -> Result<Item, Fault> {
        if self.at > 0 || self.starts_with(PADDING) {
            self.skip()?;
        }
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let header = Header::decode(rest).map_err(|fault| fault.moved(start))?;
        // If the message is truncated, the available part of it is inspected.
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
        // A stream may be empty; otherwise it ends with its last message.
        if self.over || self.at >= self.bytes.len() {
            return None;
        }
        let message = self.message();
        self.over |= message.is_err();
        Some(message)
    }
}
