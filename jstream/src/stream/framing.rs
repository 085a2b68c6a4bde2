//! Framing of the items of a stream. This module has no unsafe code.
//!
//! Decision 047 has the reasons.

use super::error::StreamError;
use crate::buffer::{ALIGNMENT, LEAST_ALIGNMENT};
use crate::wire::{HEADER_LEN, Header, MAGIC, align_up, in_memory};

/// The first four bytes of padding.
const PADDING: u32 = u32::from_le_bytes(*b"jsp\x01");

/// Header of padding; the rest of the padding is zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Padding {
    /// Total length in bytes.
    len: u32,
}

impl Padding {
    /// Length of the header in bytes.
    const SIZE: usize = 8;

    /// Returns padding of `len` bytes, or `None` if `len` is 0.
    pub(super) fn new(len: usize) -> Option<Self> {
        let len = u32::try_from(len).ok().filter(|len| *len > 0)?;
        Some(Self { len })
    }

    /// Encodes the header.
    pub(super) fn to_bytes(self) -> [u8; Self::SIZE] {
        zerocopy::transmute!([PADDING, self.len])
    }
}

/// Returns the start of a message with alignment `align` after an item that ends at `end`.
pub(super) const fn aligned(end: usize, align: usize) -> usize {
    if align > LEAST_ALIGNMENT {
        align_up(end, ALIGNMENT)
    } else {
        align_up(end, LEAST_ALIGNMENT)
    }
}

/// The next message of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Offset in the stream.
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) descriptor: u64,
}

impl Frame {
    /// Returns the end of the message.
    pub(super) fn end(self) -> usize {
        self.start.wrapping_add(self.len)
    }

    /// Returns the alignment available to forms in the message, if the stream is aligned to
    /// [`ALIGNMENT`].
    pub(super) fn align(self) -> usize {
        if align_up(self.start, ALIGNMENT) == self.start {
            ALIGNMENT
        } else {
            LEAST_ALIGNMENT
        }
    }
}

/// Parses the message after an item that ends at `end`; `rest` is the stream from there on. Returns
/// `None` at the end of the stream.
///
/// A frame lies entirely inside `rest`, begins at a multiple of [`LEAST_ALIGNMENT`], and has the
/// length that its header states, which includes the header. A stream of n bytes therefore has
/// fewer than n/40 items. Padding is rejected at a multiple of [`ALIGNMENT`], where it would have
/// no effect.
pub(super) fn next(rest: &[u8], end: usize) -> Result<Option<Frame>, StreamError> {
    if rest.is_empty() {
        return Ok(None);
    }
    let mut start = aligned(end, 1);
    let broken = |details| {
        let offset = start;
        Err(StreamError::Framing { offset, details })
    };
    let Some((gap, item)) = rest.split_at_checked(start.wrapping_sub(end)) else {
        return broken("the stream ends between two items");
    };
    if !is_zero(gap) {
        return broken("the bytes before the item are not zero");
    }
    let message = match Padding::at_start_of(item) {
        None => item,
        Some(padding) => {
            let len = in_memory(u64::from(padding.len));
            let Some((padding, message)) = item.split_at_checked(len) else {
                return broken("the padding extends beyond the end of the stream");
            };
            if start.wrapping_add(len) != aligned(start, ALIGNMENT)
                || !padding.get(Padding::SIZE..).is_some_and(is_zero)
            {
                return broken(
                    "the padding is not zero or does not end at the next multiple of 128",
                );
            }
            start = start.wrapping_add(len);
            message
        }
    };
    let broken = |details| {
        let offset = start;
        Err(StreamError::Framing { offset, details })
    };
    let Some(header) = Header::at_start_of(message) else {
        return broken("the stream ends within the header of a message");
    };
    if header.magic != MAGIC {
        return broken("no message of a supported version begins there");
    }
    match message_len(&header) {
        Some(len) if len <= message.len() => Ok(Some(Frame {
            start,
            len,
            descriptor: header.descriptor,
        })),
        _ => broken("the lengths in the message header are not valid or exceed the stream"),
    }
}

impl Padding {
    /// Returns the padding header at the start of `item`, if there is one.
    fn at_start_of(item: &[u8]) -> Option<Self> {
        let bytes: [u8; Self::SIZE] = *item.first_chunk()?;
        let [magic, len]: [u32; 2] = zerocopy::transmute!(bytes);
        (magic == PADDING).then_some(Self { len })
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Returns the length of a message according to its header, which is part of the message.
fn message_len(header: &Header) -> Option<usize> {
    let align = in_memory(u64::from(header.bulk_align));
    if !align.is_power_of_two() || align > ALIGNMENT {
        return None;
    }
    let objects_end = in_memory(header.objects_end);
    if objects_end < HEADER_LEN {
        return None;
    }
    let bulk_start = objects_end.checked_add(align.wrapping_sub(1))? & !align.wrapping_sub(1);
    bulk_start
        .checked_add(in_memory(header.bulk_len))?
        .checked_add(in_memory(header.text_len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_wraps_or_has_no_header_is_none() {
        let header = |objects_end, bulk_len, text_len| Header {
            magic: MAGIC,
            bulk_align: 64,
            descriptor: 0,
            objects_end,
            bulk_len,
            text_len,
        };
        assert_eq!(message_len(&header(44, 10, 3)), Some(77));
        for wrong in [
            header(0, 0, 0),
            header(39, 100, 0),
            header(u64::MAX, 0, 0),
            header(44, u64::MAX - 70, 10),
            header(44, 10, u64::MAX),
        ] {
            assert_eq!(message_len(&wrong), None);
        }
    }
}
