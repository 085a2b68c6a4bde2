//! The segments of a message, which its header describes.

use std::ops::Range;

use super::{Code, Fault, Header, Meaning, SegmentRange, Visitor, Walk};
use crate::wire::{HEADER_LEN, ORIGIN};

/// Ranges of the header's fields, without the magic number.
const FIELDS: [Range<usize>; 5] = [4..8, 8..16, 16..24, 24..32, 32..40];

impl<V: Visitor> Walk<'_, V> {
    /// Parses the header, and initialises the segments.
    pub(super) fn header(&mut self) -> Result<Header, Fault> {
        let header = Header::decode(self.message)?;
        for at in FIELDS {
            self.visitor.mark(at, Meaning::Header);
        }
        let len = self.message.len();
        if header.objects_end < HEADER_LEN || header.message_len() != len {
            let details = format!(
                "the header describes a message of {} bytes, but there are {len}",
                header.message_len()
            );
            return Err(Fault::new(Code::Lengths, 16..HEADER_LEN, details));
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
