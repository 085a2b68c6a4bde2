//! Conversion of parts that need no other node of the plan: the innermost loop of the second pass.
//!
//! A leaf is converted from a slice of the old message to a slice of the new one. Text and arrays
//! without pointers are appended to their segments.

use super::bulk::{BulkSegment, LentArray, append};
use super::layout::NoneForm;
use super::number::Number;
use super::scan::{MIN_VALUES, Scanned, VALUES_PER_BYTE, number};
use crate::schema::TypeIndex;
use crate::wire::{ORIGIN, in_memory};

/// A message that can't be converted because of a value in it, or because of the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The path of fields in the new type; `[]` is an element.
    pub(crate) path: String,
    pub(crate) details: String,
    /// Offset of the value in the old message.
    pub(crate) at: usize,
}

/// A refusal on its way up: results of one word take fewer instructions.
pub(super) type BoxedRefusal = Box<Refusal>;

#[cold]
pub(super) fn refuse<T>(
    path: &str,
    at: usize,
    details: impl Into<String>,
) -> Result<T, BoxedRefusal> {
    Err(Box::new(Refusal {
        path: path.to_owned(),
        details: details.into(),
        at,
    }))
}

#[cold]
fn refuse_outside<T>(at: usize) -> Result<T, BoxedRefusal> {
    refuse("", at, "a value lies outside of its message")
}

/// A part of a struct, at these offsets of the old and the new slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeafStep {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) leaf: Leaf,
}

/// The conversion of a part that needs no other node.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leaf {
    /// A copy of the bytes.
    Copy {
        len: usize,
    },
    /// A slice of text.
    Text,
    /// A slice whose elements are copied and hold no pointers.
    FlatSlice {
        size: usize,
        align: usize,
    },
    Option(CopyOption),
    /// A number that the new type has.
    Widen {
        from: Number,
        to: Number,
    },
    /// `None`. There is no old part.
    None(NoneForm),
}

/// The conversion of an option whose payload of `len` bytes is copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopyOption {
    pub(super) from: NoneForm,
    /// Type of the old option.
    pub(super) of: TypeIndex,
    pub(super) to: NoneForm,
    pub(super) len: usize,
}

/// The segments to which targets are appended, and the limits.
#[derive(Debug)]
pub(super) struct TargetSegments<'p> {
    pub(super) bulk: BulkSegment<'p>,
    pub(super) text: Vec<u8>,
    /// Index of the next tag in the text, if options are visited in the old order.
    hint: usize,
    /// Upper bound of the new message's length, and its maximum.
    reserved: usize,
    max_bytes: usize,
    /// Number of values that may still be visited.
    left: usize,
}

impl<'p> TargetSegments<'p> {
    /// Returns empty segments for the conversion of a message to one of at most `max_bytes`, of
    /// which `reserved` are taken. They have room for what the old segments hold.
    pub(super) fn new(source: MessageSource<'_>, max_bytes: usize, reserved: usize) -> Self {
        let len = source.bytes.len();
        let (bulk, text) = (source.scanned.bulk_start, source.scanned.text_start);
        let room = |start: usize, end: usize| end.saturating_sub(start).min(max_bytes);
        Self {
            bulk: BulkSegment::with_capacity(room(bulk, text)),
            text: Vec::with_capacity(room(text, len)),
            hint: 0,
            reserved,
            max_bytes,
            left: len
                .saturating_mul(VALUES_PER_BYTE)
                .saturating_add(MIN_VALUES),
        }
    }

    /// Checks that the message may have so many more bytes, the last of which have `align`.
    #[inline]
    pub(super) fn reserve(&mut self, bytes: usize, align: usize) -> Result<(), BoxedRefusal> {
        let total = self.reserved.saturating_add(bytes).saturating_add(align);
        self.reserved = total;
        if total > self.max_bytes {
            let details = format!(
                "the new message would be longer than the limit of {} bytes",
                self.max_bytes
            );
            return refuse("", 0, details);
        }
        self.left = self
            .left
            .saturating_add(bytes.saturating_mul(VALUES_PER_BYTE));
        Ok(())
    }

    /// Counts values that are visited.
    #[inline]
    pub(super) fn count(&mut self, values: usize) -> Result<(), BoxedRefusal> {
        match self.left.checked_sub(values) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => refuse("", 0, "the conversion requires too much work"),
        }
    }

    /// Appends text of the source, and returns its place.
    #[inline]
    pub(super) fn append_text(
        &mut self,
        (source, at): (MessageSource<'p>, usize),
        len: usize,
    ) -> Result<u64, BoxedRefusal> {
        self.reserve(len, 0)?;
        let place = self.text.len().saturating_add(ORIGIN);
        match append(&mut self.text, source.bytes, (at, len)) {
            true => Ok(place as u64),
            false => refuse_outside(at),
        }
    }

    /// Appends a tag to the text.
    #[inline]
    fn append_tag(&mut self, tag: u8) -> Result<(), BoxedRefusal> {
        self.reserve(1, 0)?;
        self.text.push(tag);
        Ok(())
    }

    /// Appends an array of the source that holds no pointers, and returns its place.
    #[inline]
    pub(super) fn append_flat(
        &mut self,
        (source, at): (MessageSource<'p>, usize),
        len: usize,
        align: usize,
    ) -> Result<u64, BoxedRefusal> {
        if BulkSegment::lends(len) {
            return self.lend(LentArray::Copied(source.bytes(at, len)?), len, align);
        }
        self.reserve(len, align)?;
        match self.bulk.append(source.bytes, (at, len), align) {
            Some(start) => Ok(start.saturating_add(ORIGIN) as u64),
            None => refuse_outside(at),
        }
    }

    /// Appends an array of `len` bytes when the message is assembled, and returns its place.
    pub(super) fn lend(
        &mut self,
        array: LentArray<'p>,
        len: usize,
        align: usize,
    ) -> Result<u64, BoxedRefusal> {
        self.reserve(len, align)?;
        let start = self.bulk.lend(array, len, align);
        Ok(start.saturating_add(ORIGIN) as u64)
    }

    /// Returns true if an old option of `len` bytes has a payload, or an old result is an error.
    #[inline]
    pub(super) fn is_some(
        &mut self,
        source: MessageSource<'p>,
        (form, of, len): (NoneForm, TypeIndex, usize),
        (at, old): (usize, &[u8]),
    ) -> Result<bool, BoxedRefusal> {
        let byte = |offset: usize| match old.get(offset) {
            Some(byte) => Ok(*byte),
            None => refuse_outside(at),
        };
        Ok(match form {
            NoneForm::Pointer => match old.first_chunk::<8>() {
                Some(word) => *word != [0; 8],
                None => return refuse_outside(at),
            },
            NoneForm::Zero => match old.get(..len) {
                Some(bytes) => bytes.iter().any(|byte| *byte != 0),
                None => return refuse_outside(at),
            },
            NoneForm::Byte(none) => byte(0)? != none,
            NoneForm::Tag(offset) => byte(offset)? == 1,
            NoneForm::TextTag => source.scanned.tag(at, of, &mut self.hint),
        })
    }

    /// Writes what states that an option has a payload, or that a result is an error.
    #[inline]
    pub(super) fn put_some(&mut self, form: NoneForm, new: &mut [u8]) -> Result<(), BoxedRefusal> {
        match form {
            NoneForm::Pointer | NoneForm::Zero | NoneForm::Byte(_) => Ok(()),
            NoneForm::Tag(offset) => put_byte(new.get_mut(offset..).unwrap_or_default(), 1),
            NoneForm::TextTag => self.append_tag(1),
        }
    }

    /// Writes what states that an option has no payload, or that a result is not an error.
    #[inline]
    pub(super) fn put_none(&mut self, form: NoneForm, new: &mut [u8]) -> Result<(), BoxedRefusal> {
        match form {
            // The slot is zero.
            NoneForm::Pointer | NoneForm::Zero | NoneForm::Tag(_) => Ok(()),
            NoneForm::Byte(none) => put_byte(new, none),
            NoneForm::TextTag => self.append_tag(0),
        }
    }

    /// Converts the parts of a struct at `at`, which begins at the start of `old`, into `new`.
    #[inline]
    pub(super) fn convert_all(
        &mut self,
        source: MessageSource<'p>,
        steps: &[LeafStep],
        (at, old): (usize, &[u8]),
        new: &mut [u8],
    ) -> Result<(), BoxedRefusal> {
        for step in steps {
            let at = at.saturating_add(step.from);
            let (Some(old), Some(new)) = (old.get(step.from..), new.get_mut(step.to..)) else {
                return refuse_outside(at);
            };
            self.convert(source, &step.leaf, (at, old), new)?;
        }
        Ok(())
    }

    /// Converts a part at `at`, which begins at the start of `old`, into `new`.
    // A call for each part takes a quarter of a conversion's instructions.
    #[inline(always)]
    pub(super) fn convert(
        &mut self,
        source: MessageSource<'p>,
        leaf: &Leaf,
        (at, old): (usize, &[u8]),
        new: &mut [u8],
    ) -> Result<(), BoxedRefusal> {
        match *leaf {
            Leaf::Copy { len } => copy(len, (at, old), new),
            Leaf::Text => {
                let (place, len) = wide_pointer(at, old)?;
                let start = in_memory(place)
                    .wrapping_sub(ORIGIN)
                    .wrapping_add(source.scanned.text_start);
                let place = self.append_text((source, start), in_memory(len))?;
                put_wide_pointer(place, len, new)
            }
            Leaf::FlatSlice { size, align } => {
                let (place, count) = wide_pointer(at, old)?;
                let start = in_memory(place)
                    .wrapping_sub(ORIGIN)
                    .wrapping_add(source.scanned.bulk_start);
                let len = in_memory(count).saturating_mul(size);
                let place = self.append_flat((source, start), len, align)?;
                put_wide_pointer(place, count, new)
            }
            Leaf::Option(option) => {
                let kind = (option.from, option.of, option.len);
                match self.is_some(source, kind, (at, old))? {
                    true => {
                        self.put_some(option.to, new)?;
                        copy(option.len, (at, old), new)
                    }
                    false => self.put_none(option.to, new),
                }
            }
            Leaf::Widen { from, to } => {
                let (Some(old), Some(new)) = (old.get(..from.size), new.get_mut(..to.size)) else {
                    return refuse_outside(at);
                };
                from.widen(old, to, new);
                Ok(())
            }
            Leaf::None(form) => self.put_none(form, new),
        }
    }
}

/// A message, or a default, and what its scan found.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageSource<'p> {
    pub(super) bytes: &'p [u8],
    pub(super) scanned: &'p Scanned,
}

impl<'p> MessageSource<'p> {
    #[inline]
    pub(super) fn bytes(self, at: usize, len: usize) -> Result<&'p [u8], BoxedRefusal> {
        match self.bytes.get(at..at.saturating_add(len)) {
            Some(bytes) => Ok(bytes),
            None => refuse_outside(at),
        }
    }
}

/// Returns both words of a slice.
#[inline]
fn wide_pointer(at: usize, old: &[u8]) -> Result<(u64, u64), BoxedRefusal> {
    match old.first_chunk::<16>() {
        Some(words) => {
            let (first, second) = words.split_at(8);
            Ok((number(first), number(second)))
        }
        None => refuse_outside(at),
    }
}

#[inline]
fn put_wide_pointer(first: u64, second: u64, new: &mut [u8]) -> Result<(), BoxedRefusal> {
    match new.first_chunk_mut::<16>() {
        Some(words) => {
            let (one, other) = words.split_at_mut(8);
            one.copy_from_slice(&first.to_le_bytes());
            other.copy_from_slice(&second.to_le_bytes());
            Ok(())
        }
        None => refuse_outside(0),
    }
}

#[inline]
fn put_byte(new: &mut [u8], byte: u8) -> Result<(), BoxedRefusal> {
    match new.first_mut() {
        Some(place) => {
            *place = byte;
            Ok(())
        }
        None => refuse_outside(0),
    }
}

#[inline]
fn copy(len: usize, (at, old): (usize, &[u8]), new: &mut [u8]) -> Result<(), BoxedRefusal> {
    let (Some(old), Some(new)) = (old.get(..len), new.get_mut(..len)) else {
        return refuse_outside(at);
    };
    // A call of `memcpy` takes longer than a short copy.
    let is_copied = len <= SHORT_COPY
        && (copy_ends::<16>(old, new)
            || copy_ends::<8>(old, new)
            || copy_ends::<4>(old, new)
            || copy_ends::<2>(old, new));
    if !is_copied {
        new.copy_from_slice(old);
    }
    Ok(())
}

/// Maximum number of bytes that are copied without a call: two copies of 16 bytes.
const SHORT_COPY: usize = 32;

/// Copies the first and the last `N` bytes, which overlap in the middle. Returns false if there are
/// fewer.
fn copy_ends<const N: usize>(old: &[u8], new: &mut [u8]) -> bool {
    let (Some(first), Some(last)) = (old.first_chunk::<N>(), old.last_chunk::<N>()) else {
        return false;
    };
    if let Some(place) = new.first_chunk_mut::<N>() {
        *place = *first;
    }
    if let Some(place) = new.last_chunk_mut::<N>() {
        *place = *last;
    }
    true
}
