//! The bulk segment of a message that is being emitted.

use super::number::Number;
use crate::buffer::BufferWriter;
use crate::wire::align_up;

/// Length of a target in bytes from which on it is lent.
const LENT_MIN: usize = 1024;

/// The bulk segment: bytes of its own, and long arrays of the source, which are copied once, when
/// the message is assembled.
#[derive(Debug, Default)]
pub(super) struct BulkSegment<'p> {
    own: Vec<u8>,
    parts: Vec<BulkPart<'p>>,
    /// Length of the segment in bytes.
    len: usize,
    /// Largest alignment of a target.
    align: usize,
}

#[derive(Debug)]
enum BulkPart<'p> {
    /// The own bytes from the end of the previous such part up to this index.
    Own {
        end: usize,
    },
    Lent(LentArray<'p>),
}

/// An array of the source that becomes a target.
#[derive(Debug, Clone, Copy)]
pub(super) enum LentArray<'p> {
    Copied(&'p [u8]),
    /// Numbers of the first type that become numbers of the second one.
    Widened(&'p [u8], Number, Number),
}

/// Maximum number of own bytes for which there is room from the start.
const OWN_ROOM: usize = 1 << 19;

/// Number of bytes that are appended at once if a target is short, which is faster than a call of
/// `memcpy`.
const SHORT: usize = 16;

/// Appends `len` bytes of a source. Returns false if it does not have them.
#[inline]
pub(super) fn append(to: &mut Vec<u8>, source: &[u8], (at, len): (usize, usize)) -> bool {
    let rest = source.get(at..).unwrap_or_default();
    match rest.first_chunk::<SHORT>() {
        Some(chunk) if len <= SHORT => {
            let end = to.len().saturating_add(len);
            to.extend_from_slice(chunk);
            to.truncate(end);
            true
        }
        _ => {
            let bytes = rest.get(..len);
            to.extend_from_slice(bytes.unwrap_or_default());
            bytes.is_some()
        }
    }
}

impl<'p> BulkSegment<'p> {
    /// Returns an empty segment that will have about this length.
    pub(super) fn with_capacity(len: usize) -> Self {
        Self {
            // A longer segment consists of long arrays, as a rule, which are lent.
            own: Vec::with_capacity(len.min(OWN_ROOM)),
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the largest alignment of a target, at least 1.
    pub(super) fn align(&self) -> usize {
        self.align.max(1)
    }

    /// Returns true if a target of this length should be lent.
    pub(super) fn lends(len: usize) -> bool {
        len >= LENT_MIN
    }

    /// Claims a target of zeroes. Returns its offset in the segment, and its index among the own
    /// bytes.
    pub(super) fn claim(&mut self, len: usize, align: usize) -> (usize, usize) {
        let start = self.pad(align);
        let index = self.own.len();
        self.own.resize(index.saturating_add(len), 0);
        self.len = start.saturating_add(len);
        (start, index)
    }

    /// Claims a target with these bytes of the source. Returns its offset in the segment.
    #[inline]
    pub(super) fn append(
        &mut self,
        source: &[u8],
        (at, len): (usize, usize),
        align: usize,
    ) -> Option<usize> {
        let start = self.pad(align);
        self.len = start.saturating_add(len);
        append(&mut self.own, source, (at, len)).then_some(start)
    }

    /// Claims a target of `len` bytes that is lent. Returns its offset in the segment.
    pub(super) fn lend(&mut self, array: LentArray<'p>, len: usize, align: usize) -> usize {
        let start = self.pad(align);
        let end = self.own.len();
        self.parts.push(BulkPart::Own { end });
        self.parts.push(BulkPart::Lent(array));
        self.len = start.saturating_add(len);
        start
    }

    /// Adds zeroes up to a multiple of `align`, and returns the offset.
    fn pad(&mut self, align: usize) -> usize {
        self.align = self.align.max(align);
        let start = align_up(self.len, align);
        let zeroes = start.saturating_sub(self.len);
        if zeroes > 0 {
            self.own.resize(self.own.len().saturating_add(zeroes), 0);
        }
        start
    }

    /// Moves the own bytes out, to be written beside the segment.
    #[inline]
    pub(super) fn take_own(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.own)
    }

    /// Moves the own bytes back, to which none were appended.
    #[inline]
    pub(super) fn put_own(&mut self, own: Vec<u8>) {
        debug_assert!(self.own.is_empty(), "bytes were appended");
        self.own = own;
    }

    /// Returns own bytes.
    #[inline]
    pub(super) fn own_mut(&mut self, at: usize, len: usize) -> Option<&mut [u8]> {
        self.own.get_mut(at..at.saturating_add(len))
    }

    /// Appends the segment. Returns false if the buffer is too short.
    pub(super) fn write(&self, into: &mut BufferWriter) -> bool {
        let mut done = 0;
        let end = BulkPart::Own {
            end: self.own.len(),
        };
        self.parts.iter().chain([&end]).all(|part| match part {
            BulkPart::Own { end } => {
                let bytes = self.own.get(done..*end).unwrap_or_default();
                done = *end;
                into.extend(bytes)
            }
            BulkPart::Lent(LentArray::Copied(bytes)) => into.extend(bytes),
            BulkPart::Lent(LentArray::Widened(bytes, from, to)) => {
                from.append_wider(bytes, *to, into)
            }
        })
    }
}
