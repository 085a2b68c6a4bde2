//! The header of a message.

use std::ops::Range;

use super::fault::{Code, Fault};
use crate::wire::{HEADER_LEN, MAGIC, ORIGIN, align_up, in_memory};

/// The header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Alignment of the bulk segment in bytes.
    pub bulk_align: usize,
    /// Descriptor of the root's type.
    pub descriptor: u64,
    /// End of the objects segment, as an offset from the start of the message.
    pub objects_end: usize,
    /// Start of the bulk segment.
    pub bulk_start: usize,
    /// Length of the bulk segment in bytes.
    pub bulk_len: usize,
    /// Start of the text segment.
    pub text_start: usize,
    /// Length of the text segment in bytes.
    pub text_len: usize,
}

impl Header {
    /// Parses the header at the start of `bytes`, which may extend beyond the message.
    ///
    /// # Errors
    ///
    /// A [`Fault`] if there is no header, or its fields are not valid. The message may be
    /// incomplete.
    pub fn decode(bytes: &[u8]) -> Result<Self, Fault> {
        let end = bytes.len();
        let Some(header) = bytes.get(..HEADER_LEN) else {
            let details = format!("a message of {end} bytes is shorter than its 40-byte header");
            return Err(Fault::new(Code::Magic, 0..end, details));
        };
        if header.get(..4) != Some(MAGIC.to_le_bytes().as_slice()) {
            let details = "the bytes do not begin with the magic number of a message";
            return Err(Fault::new(Code::Magic, 0..4, details));
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
            let details = format!("{bulk_align} is not a valid alignment");
            return Err(Fault::new(Code::Lengths, 4..8, details));
        }
        let length = |at: Range<usize>, name| {
            let len = in_memory(word(at.clone()));
            // Ensures that the sum of three lengths does not overflow.
            if len > usize::MAX >> 3 {
                let details = format!("{len} bytes of {name} exceed the address space");
                return Err(Fault::new(Code::Lengths, at, details));
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

    /// Returns the length of the message in bytes.
    #[must_use]
    pub const fn message_len(&self) -> usize {
        self.text_start.saturating_add(self.text_len)
    }
}
