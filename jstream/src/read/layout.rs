//! The positions of the segments in a message.

use super::error::ReadError;
use super::limits::Limits;
use crate::buffer::ALIGNMENT;
use crate::wire::{Header, MAGIC, align_up, in_memory};

/// The segments of a message according to its header, checked against the message's length.
pub(crate) struct Layout {
    pub(super) descriptor: u64,
    pub(super) objects_end: usize,
    pub(super) bulk_start: usize,
    pub(super) bulk_len: usize,
    pub(super) bulk_align: usize,
    pub(super) text_start: usize,
    pub(super) text_len: usize,
    /// True if all text is ASCII.
    pub(super) ascii: bool,
}

impl Layout {
    #[inline]
    pub(super) fn from_message(message: &[u8], limits: &Limits) -> Result<Self, ReadError> {
        let len = message.len();
        let Some(header) = Header::at_start_of(message) else {
            return Err(ReadError::Short { len });
        };
        if header.magic != MAGIC {
            return Err(ReadError::Magic {
                found: header.magic.to_le_bytes(),
            });
        }
        if len > limits.bytes {
            return Err(ReadError::TooLong {
                len,
                limit: limits.bytes,
            });
        }
        let wrong = || ReadError::Lengths { len };
        let bulk_align = in_memory(u64::from(header.bulk_align));
        let objects_end = in_memory(header.objects_end);
        if !bulk_align.is_power_of_two() || bulk_align > ALIGNMENT {
            return Err(wrong());
        }
        // No sum of three such values wraps, so a sum that equals `len` bounds each of them by it.
        if (header.objects_end | header.bulk_len | header.text_len) >= 1 << 62 {
            return Err(wrong());
        }
        let (bulk_len, text_len) = (in_memory(header.bulk_len), in_memory(header.text_len));
        let bulk_start = align_up(objects_end, bulk_align);
        let text_start = bulk_start.wrapping_add(bulk_len);
        if text_start.wrapping_add(text_len) != len {
            return Err(wrong());
        }
        Ok(Self {
            descriptor: header.descriptor,
            objects_end,
            bulk_start,
            bulk_len,
            bulk_align,
            text_start,
            text_len,
            ascii: false,
        })
    }

    /// Returns the layout of a message that consists of a root ending at `end`.
    #[inline(always)]
    pub(super) const fn of_root(descriptor: u64, end: usize) -> Self {
        Self {
            descriptor,
            objects_end: end,
            bulk_start: end,
            bulk_len: 0,
            bulk_align: 1,
            text_start: end,
            text_len: 0,
            ascii: true,
        }
    }

    /// Returns true if the objects end at `end` and the other segments are empty.
    #[inline(always)]
    pub(super) const fn ends_at(&self, end: usize) -> bool {
        self.objects_end == end && self.bulk_len == 0 && self.text_len == 0
    }
}

/// Checks that the text of a message, which begins at `start`, is UTF-8. Returns true if it is
/// ASCII.
#[inline(always)]
pub(super) fn check_text(message: &[u8], start: usize) -> Result<bool, ReadError> {
    let Some(text) = message.get(start..) else {
        let len = message.len();
        return Err(ReadError::Lengths { len });
    };
    if is_short_ascii(text) {
        return Ok(true);
    }
    check_long_text(text, start)
}

/// Returns true if the text has at most 32 bytes, which are ASCII.
#[inline(always)]
fn is_short_ascii(text: &[u8]) -> bool {
    const HIGH: u64 = u64::MAX / 255 * 0x80;
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let words = |bytes: &[u8; 16]| {
        let words: [u64; 2] = zerocopy::transmute!(*bytes);
        words[0] | words[1]
    };
    let bits = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) if text.len() <= 32 => words(first) | words(last),
        (Some(_), _) => return false,
        _ => match (text.first_chunk(), text.last_chunk()) {
            (Some(first), Some(last)) => word(first) | word(last),
            _ => text.iter().fold(0, |bits, byte| bits | u64::from(*byte)),
        },
    };
    bits & HIGH == 0
}

#[inline(never)]
fn check_long_text(text: &[u8], start: usize) -> Result<bool, ReadError> {
    if text.is_ascii() {
        return Ok(true);
    }
    match simdutf8::basic::from_utf8(text) {
        Ok(_) => Ok(false),
        Err(_) => {
            let valid = std::str::from_utf8(text).map_or_else(|e| e.valid_up_to(), str::len);
            Err(ReadError::NotUtf8 {
                offset: start.wrapping_add(valid),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_of_a_text_is_checked() {
        for len in 0..100 {
            let mut text = vec![b'x'; len];
            assert!(check_text(&text, 0).unwrap());
            for at in 0..len {
                text[at] = 0xff;
                let error = check_text(&text, 0).unwrap_err();
                assert_eq!(error, ReadError::NotUtf8 { offset: at });
                text[at] = 0x7f;
            }
            for at in 1..len {
                text[at - 1..=at].copy_from_slice("ä".as_bytes());
                assert!(!check_text(&text, 0).unwrap());
                text[at - 1..=at].fill(b'x');
            }
        }
    }
}
