//! Where the items of a stream begin and end. No unsafe code.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::error::StreamError;
use crate::buffer::{ALIGNMENT, LEAST_ALIGNMENT};
use crate::wire::{HEADER_LEN, Header, MAGIC, align_up, in_memory};

/// The first four bytes of padding.
const PADDING: u32 = u32::from_le_bytes(*b"jsp\x01");

/// What padding begins with; the rest of it is zero.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct Padding {
    magic: u32,
    /// All of it, in bytes.
    len: u32,
}

impl Padding {
    /// So much of it; `None` for none.
    pub(super) fn of(len: usize) -> Option<Self> {
        let len = u32::try_from(len).ok().filter(|len| *len > 0)?;
        let magic = PADDING;
        Some(Self { magic, len })
    }
}

/// Where a message that needs this alignment begins behind an item that ends at `end`.
pub(super) const fn place(end: usize, align: usize) -> usize {
    if align > LEAST_ALIGNMENT {
        align_up(end, ALIGNMENT)
    } else {
        align_up(end, LEAST_ALIGNMENT)
    }
}

/// The next message of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Where it begins.
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) descriptor: u64,
}

impl Frame {
    /// Where it ends.
    pub(super) fn end(self) -> usize {
        self.start.wrapping_add(self.len)
    }

    /// What forms in it may be aligned to, if the stream is aligned to [`ALIGNMENT`].
    pub(super) fn align(self) -> usize {
        if align_up(self.start, ALIGNMENT) == self.start {
            ALIGNMENT
        } else {
            LEAST_ALIGNMENT
        }
    }
}

/// The message behind an item that ends at `end`; `rest` is the stream from there on. `None` where
/// the stream ends too.
///
/// A frame lies wholly inside `rest`, begins at a multiple of [`LEAST_ALIGNMENT`], and is as long as its
/// header says, which it has room for: so a stream has fewer items than a fortieth of its bytes. Padding
/// stands at no multiple of [`ALIGNMENT`]: there it would lead nowhere.
pub(super) fn next(rest: &[u8], end: usize) -> Result<Option<Frame>, StreamError> {
    if rest.is_empty() {
        return Ok(None);
    }
    let mut start = place(end, 1);
    let broken = |what| {
        let offset = start;
        Err(StreamError::Framing { offset, what })
    };
    let Some((gap, item)) = rest.split_at_checked(start.wrapping_sub(end)) else {
        return broken("it ends between two items");
    };
    if !is_zero(gap) {
        return broken("the bytes before it are not zero");
    }
    let message = match Padding::at_start_of(item) {
        None => item,
        Some(padding) => {
            let len = in_memory(u64::from(padding.len));
            let Some((padding, message)) = item.split_at_checked(len) else {
                return broken("padding that leads past the stream's end");
            };
            if start.wrapping_add(len) != place(start, ALIGNMENT)
                || !padding.get(size_of::<Padding>()..).is_some_and(is_zero)
            {
                return broken("padding that does not lead to the next multiple of 128 by zeroes");
            }
            start = start.wrapping_add(len);
            message
        }
    };
    let broken = |what| {
        let offset = start;
        Err(StreamError::Framing { offset, what })
    };
    let Ok((header, _)) = Header::read_from_prefix(message) else {
        return broken("it ends within the header of a message");
    };
    if header.magic != MAGIC {
        return broken("no message of this version begins there");
    }
    match message_len(&header) {
        Some(len) if len <= message.len() => Ok(Some(Frame {
            start,
            len,
            descriptor: header.descriptor,
        })),
        _ => broken("a message whose lengths fit neither its header nor the stream"),
    }
}

impl Padding {
    /// The padding that `item` begins with, if it does.
    fn at_start_of(item: &[u8]) -> Option<Self> {
        let (padding, _) = Self::read_from_prefix(item).ok()?;
        (padding.magic == PADDING).then_some(padding)
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// How long a message is, by its header alone, which is part of it.
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
