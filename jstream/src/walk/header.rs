//! The header of a message, and its segments.

use super::{Code, Fault, Meaning, SegmentRange, Visitor, Walk};
use crate::wire::{HEADER_LEN, MAGIC, ORIGIN, align_up, in_memory};
use std::ops::Range;

/// What the header of a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The alignment of the bulk segment.
    pub bulk_align: usize,
    /// The descriptor of the root's type.
    pub descriptor: u64,
    /// Where the objects end, from the message's start.
    pub objects_end: usize,
    /// Where the bulk segment starts.
    pub bulk_start: usize,
    /// Its length in bytes.
    pub bulk_len: usize,
    /// Where the text starts.
    pub text_start: usize,
    /// Its length in bytes.
    pub text_len: usize,
}

/// The fields of the header, its magic number aside.
const FIELDS: [Range<usize>; 5] = [4..8, 8..16, 16..24, 24..32, 32..40];

impl Header {
    /// The header that bytes begin with. They may go on behind the message.
    ///
    /// # Errors
    ///
    /// When they are no header, or its numbers are those of no message. Whether all of the message
    /// is there is not asked.
    pub fn of(bytes: &[u8]) -> Result<Self, Fault> {
        let end = bytes.len();
        let Some(header) = bytes.get(..HEADER_LEN) else {
            let what = format!("a message of {end} bytes is shorter than its 40-byte header");
            return Err(Fault::new(Code::Magic, 0..end, what));
        };
        if header.get(..4) != Some(MAGIC.to_le_bytes().as_slice()) {
            let what = "the bytes do not begin as a message of this version does";
            return Err(Fault::new(Code::Magic, 0..4, what));
        }
        let word = |at: Range<usize>| {
            let mut word = [0; 8];
            let bytes = header.get(at).unwrap_or_default();
            for (to, from) in word.iter_mut().zip(bytes) {
                *to = *from;
            }
            u64::from_le_bytes(word)
        };
        let bulk_align = in_memory(word(4..8));
        if !bulk_align.is_power_of_two() || bulk_align > ORIGIN {
            let what = format!("{bulk_align} is no alignment");
            return Err(Fault::new(Code::Lengths, 4..8, what));
        }
        let length = |at: Range<usize>, name| {
            let len = in_memory(word(at.clone()));
            // Sums of three of them don't overflow.
            if len > usize::MAX >> 3 {
                let what = format!("{len} bytes of {name} are more than there can be");
                return Err(Fault::new(Code::Lengths, at, what));
            }
            Ok(len)
        };
        let objects_end = length(16..24, "objects")?;
        let (bulk_len, text_len) = (length(24..32, "bulk")?, length(32..40, "text")?);
        let bulk_start = align_up(objects_end, bulk_align);
        Ok(Self {
            bulk_align,
            descriptor: word(8..16),
            objects_end,
            bulk_start,
            bulk_len,
            text_start: bulk_start.saturating_add(bulk_len),
            text_len,
        })
    }

    /// The length of the message in bytes.
    #[must_use]
    pub const fn message_len(&self) -> usize {
        self.text_start.saturating_add(self.text_len)
    }
}

impl<V: Visitor> Walk<'_, V> {
    /// Reads the header, and has the segments begin.
    pub(super) fn header(&mut self) -> Result<Header, Fault> {
        let header = Header::of(self.message)?;
        for at in FIELDS {
            self.visitor.mark(at, Meaning::Header);
        }
        let len = self.message.len();
        if header.objects_end < HEADER_LEN || header.message_len() != len {
            let what = format!(
                "the header is that of a message of {} bytes, and there are {len}",
                header.message_len()
            );
            return Err(Fault::new(Code::Lengths, 16..HEADER_LEN, what));
        }
        self.objects = SegmentRange {
            free: HEADER_LEN..header.objects_end,
            start: 0,
            align: ORIGIN,
        };
        self.bulk = SegmentRange {
            free: ORIGIN..ORIGIN.saturating_add(header.bulk_len),
            start: header.bulk_start.wrapping_sub(ORIGIN),
            align: header.bulk_align,
        };
        self.text = SegmentRange {
            free: ORIGIN..ORIGIN.saturating_add(header.text_len),
            start: header.text_start.wrapping_sub(ORIGIN),
            align: 1,
        };
        Ok(header)
    }

    pub(super) fn check_text(&mut self) -> Result<(), Fault> {
        let start = self.text.in_message(self.text.free.start);
        let text = self.message.get(start..).unwrap_or_default();
        self.ascii = text.is_ascii();
        match std::str::from_utf8(text) {
            Err(error) if V::CHECKS => {
                let at = start.saturating_add(error.valid_up_to());
                let len = error.error_len().unwrap_or(1);
                let at = at..at.saturating_add(len);
                Err(Fault::new(Code::NotUtf8, at, "the text is not UTF-8"))
            }
            _ => Ok(()),
        }
    }
}
