//! Memory that messages are sent from and received into, and their contents.

use std::hint::black_box;

use crate::work::{Touch, Work};

/// Slices of one length, used in turn.
#[derive(Debug)]
pub(crate) struct Places {
    memory: Vec<u8>,
    length: usize,
    stride: usize,
    at: usize,
}

impl Places {
    /// Creates `count` slices of `length` bytes, `stride` bytes apart. All of the memory has been
    /// written to.
    pub(crate) fn new(length: usize, stride: usize, count: usize) -> Self {
        let mut memory = vec![0; stride.saturating_mul(count)];
        // Touches every page: the operating system maps zeroed memory lazily.
        memory.fill(1);
        Self {
            memory,
            length,
            stride,
            at: 0,
        }
    }

    /// Returns the next slice.
    #[inline]
    pub(crate) fn next(&mut self) -> &mut [u8] {
        let mut from = self.at;
        let mut to = from.saturating_add(self.length);
        if to > self.memory.len() {
            (from, to) = (0, self.length);
        }
        self.at = from.saturating_add(self.stride);
        self.memory.get_mut(from..to).unwrap_or_default()
    }
}

/// Writes the contents of message `number`, as the options of the measurement demand.
#[inline]
pub(crate) fn prepare(bytes: &mut [u8], work: &Work, number: u64) {
    if work.check {
        write(bytes, number);
    } else if work.touch == Touch::Dirty {
        let [fill, ..] = number.to_le_bytes();
        bytes.fill(fill);
    }
}

/// Checks message `number`, of `length` bytes, as the options of the measurement demand. On a
/// mismatch, returns the index of the first wrong byte.
#[inline]
pub(crate) fn inspect(bytes: &[u8], length: u64, work: &Work, number: u64) -> Result<(), usize> {
    if length != work.size as u64 {
        return Err(usize::try_from(length).unwrap_or(0).min(work.size));
    }
    if work.check {
        if let Some(at) = differs(bytes, number) {
            return Err(at);
        }
    } else if work.touch != Touch::None {
        black_box(sum(bytes));
    }
    Ok(())
}

/// Returns the sum of all bytes, read as words of 8 bytes, plus the remaining bytes.
#[inline]
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8);
    let rest: u64 = words.remainder().iter().copied().map(u64::from).sum();
    // Each chunk is of 8 bytes.
    let word = |chunk: &[u8]| chunk.try_into().map_or(0, u64::from_le_bytes);
    words.map(word).fold(rest, u64::wrapping_add)
}

/// Returns the word at `index` of message `number`.
#[inline]
fn word(number: u64, index: u64) -> u64 {
    let mixed =
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index.wrapping_mul(0xd134_2543_de82_ef95);
    mixed ^ (mixed >> 29)
}

/// Writes the contents of message `number`.
fn write(bytes: &mut [u8], number: u64) {
    for (chunk, index) in bytes.chunks_mut(8).zip(0..) {
        let word = word(number, index).to_le_bytes();
        if let Some(word) = word.get(..chunk.len()) {
            chunk.copy_from_slice(word);
        }
    }
}

/// Returns the index of the first byte that [`write()`] did not write.
fn differs(bytes: &[u8], number: u64) -> Option<usize> {
    for (chunk, index) in bytes.chunks(8).zip(0u64..) {
        let word = word(number, index).to_le_bytes();
        if word.get(..chunk.len()) != Some(chunk) {
            let same = chunk
                .iter()
                .zip(word)
                .take_while(|(byte, value)| *byte == value);
            let before = usize::try_from(index).unwrap_or(0).saturating_mul(8);
            return Some(before.saturating_add(same.count()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_repeat() {
        let mut places = Places::new(3, 8, 2);
        for fill in [7, 8, 9] {
            let place = places.next();
            assert_eq!(place.len(), 3);
            place.fill(fill);
        }
        assert_eq!(
            places.memory,
            [9, 9, 9, 1, 1, 1, 1, 1, 8, 8, 8, 1, 1, 1, 1, 1]
        );
        assert_eq!(Places::new(0, 64, 1).next().len(), 0);
    }

    #[test]
    fn a_changed_byte_is_found() {
        for length in [0, 1, 8, 13, 4096] {
            let mut bytes = vec![0; length];
            write(&mut bytes, 5);
            assert_eq!(differs(&bytes, 5), None);
            for at in [0, length / 2, length.saturating_sub(1)] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 0x10;
                    assert_eq!(differs(&bytes, 5), Some(at));
                    bytes[at] ^= 0x10;
                }
            }
        }
        let mut bytes = [0; 8];
        write(&mut bytes, 5);
        assert!(differs(&bytes, 6).is_some());
    }
}
