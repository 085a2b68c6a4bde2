//! Copies between the selected bytes of a slice and a packed message.

use std::mem::{self, MaybeUninit};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use jstream::buffer::{BufferWriter, EmptyBuffer, MessageBuffer, Pool};

use super::error::LayoutError;
use super::shape::Shape;

/// Number of bytes that are packed before they are appended to a buffer.
const STAGED: usize = 4096;

/// Minimum average length in bytes of runs that are sent without packing. A device handles each of
/// them by itself, which takes longer than the copy of a shorter run.
const SEGMENT: usize = 4096;

/// Maximum number of runs that are sent without packing.
const SEGMENTS: usize = 64;

/// A part of an element, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(super) offset: usize,
    pub(super) len: usize,
}

impl Part {
    /// All bytes of an element.
    pub(super) const fn whole<E>() -> Self {
        Self {
            offset: 0,
            len: size_of::<E>(),
        }
    }

    /// Joins each part to the one before, if it begins where that one ends. Empty parts are left
    /// out.
    pub(super) fn merged(parts: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for part in parts.filter(|part| part.len > 0) {
            match merged.last_mut() {
                // No sum overflows, because both parts are within an element.
                Some(last) if last.offset.wrapping_add(last.len) == part.offset => {
                    last.len = last.len.wrapping_add(part.len);
                }
                _ => merged.push(part),
            }
        }
        merged
    }
}

/// The runs of consecutive bytes that a layout selects from a slice of elements, in the order in
/// which they are packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    pub(super) shape: Arc<Shape>,
    /// Size of an element in bytes.
    pub(super) element: usize,
    /// The selected parts of each element, or `None` for whole elements.
    pub(super) parts: Option<Arc<[Part]>>,
}

/// A byte of memory that is written to.
pub(crate) trait Byte: Copy {
    fn from_byte(byte: u8) -> Self;
}

impl Byte for u8 {
    #[inline]
    fn from_byte(byte: u8) -> Self {
        byte
    }
}

impl Byte for MaybeUninit<u8> {
    #[inline]
    fn from_byte(byte: u8) -> Self {
        Self::new(byte)
    }
}

impl Runs {
    /// Returns the length of the packed message in bytes, for a slice of `elements` elements.
    pub(crate) fn check_send(&self, elements: usize) -> Result<usize, LayoutError> {
        let span = self.shape.span;
        if span > elements {
            return Err(LayoutError::OutOfBounds {
                span,
                length: elements,
            });
        }
        self.length()
    }

    /// Returns the number of elements that a slice must have at least.
    pub(crate) fn span(&self) -> usize {
        self.shape.span
    }

    /// Returns the length of the packed message in bytes.
    pub(crate) fn length(&self) -> Result<usize, LayoutError> {
        let size = match &self.parts {
            None => self.element,
            Some(parts) => {
                let mut sizes = parts.iter().map(|part| part.len);
                let size = sizes.try_fold(0usize, usize::checked_add);
                size.ok_or(LayoutError::TooLarge)?
            }
        };
        size.checked_mul(self.shape.len)
            .filter(|bytes| isize::try_from(*bytes).is_ok())
            .ok_or(LayoutError::TooLarge)
    }

    /// As [`check_send`](Self::check_send), for a slice that a message is received into.
    pub(crate) fn check_receive(&self, elements: usize) -> Result<usize, LayoutError> {
        if let Some(error) = self.shape.send_only {
            return Err(error);
        }
        if self.parts.as_deref().is_some_and(parts_overlap) {
            return Err(LayoutError::Overlap);
        }
        self.check_send(elements)
    }

    /// Returns the selected bytes, if they are consecutive.
    pub(crate) fn single(&self) -> Option<Range<usize>> {
        let block = self.shape.single()?;
        if block.len > 0 && self.parts.is_some() {
            return None;
        }
        let start = block.start.checked_mul(self.element)?;
        let end = block.len.checked_mul(self.element)?.checked_add(start)?;
        Some(start..end)
    }

    /// Calls `run` with the start and the length in bytes of each run, in order, until it breaks.
    /// The products and sums may wrap if the slice is shorter than the span.
    #[inline]
    fn each(&self, mut run: impl FnMut(usize, usize) -> ControlFlow<()>) {
        let element = self.element;
        match self.parts.as_deref() {
            None => self.shape.each(|block| {
                run(
                    block.start.wrapping_mul(element),
                    block.len.wrapping_mul(element),
                )
            }),
            // Not even the elements are counted, of which there may be `usize::MAX` without a size.
            Some([]) => {}
            Some([part]) => self.shape.each(|block| {
                let start = block.start.wrapping_mul(element).wrapping_add(part.offset);
                (0..block.len).try_for_each(|index| {
                    run(start.wrapping_add(index.wrapping_mul(element)), part.len)
                })
            }),
            Some(parts) => self.shape.each(|block| {
                (block.start..block.start.wrapping_add(block.len)).try_for_each(|index| {
                    let start = index.wrapping_mul(element);
                    let mut parts = parts.iter();
                    parts.try_for_each(|part| run(start.wrapping_add(part.offset), part.len))
                })
            }),
        }
    }

    /// Copies the selected bytes of `from` to the front of `to`, as many as there is room for.
    pub(crate) fn pack(&self, from: &[u8], to: &mut [u8]) {
        let mut rest = to;
        self.each(|start, len| {
            let source = from.get(start..start.wrapping_add(len));
            let room = mem::take(&mut rest).split_at_mut_checked(len);
            let (Some(source), Some((room, behind))) = (source, room) else {
                return ControlFlow::Break(());
            };
            copy(room, source);
            rest = behind;
            ControlFlow::Continue(())
        });
    }

    /// Copies the selected bytes of `from` to a buffer of the pool, or of the heap if the pool has
    /// no room. `length` is their number.
    pub(crate) fn packed(&self, from: &[u8], length: usize, pool: &Pool) -> MessageBuffer {
        let empty = pool.take(length);
        let mut writer = empty.unwrap_or_else(|_| EmptyBuffer::heap(length)).writer();
        self.pack_into(from, &mut writer);
        writer.finish()
    }

    /// Appends the selected bytes of `from` to a buffer. Short runs are collected in the processor
    /// cache first, so that the buffer need not be initialised.
    pub(crate) fn pack_into(&self, from: &[u8], writer: &mut BufferWriter) {
        let mut staged = [0u8; STAGED];
        let mut used = 0usize;
        self.each(|start, len| {
            let Some(source) = from.get(start..start.wrapping_add(len)) else {
                return ControlFlow::Break(());
            };
            if len > STAGED.wrapping_sub(used) {
                let fits = writer.extend(staged.get(..used).unwrap_or_default());
                used = 0;
                if !fits {
                    return ControlFlow::Break(());
                }
                // A long run gains nothing by the copy through the stage.
                if len > STAGED / 4 {
                    return if writer.extend(source) {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    };
                }
            }
            let end = used.wrapping_add(len);
            if let Some(room) = staged.get_mut(used..end) {
                copy(room, source);
                used = end;
            }
            ControlFlow::Continue(())
        });
        // The buffer has room for all runs.
        let _ = writer.extend(staged.get(..used).unwrap_or_default());
    }

    /// Copies a message to the selected bytes of `to`. A message that is shorter than all of them
    /// fills the first ones.
    pub(crate) fn unpack<B: Byte>(&self, from: &[u8], to: &mut [B]) {
        let mut rest = from;
        self.each(|start, len| {
            let (source, behind) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            rest = behind;
            let end = start.wrapping_add(source.len());
            match to.get_mut(start..end) {
                Some(room) if !source.is_empty() => copy(room, source),
                _ => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        });
    }

    /// Copies the selected bytes of `from` to the same bytes of `to`.
    pub(crate) fn transfer<B: Byte>(&self, from: &[u8], to: &mut [B]) {
        self.each(|start, len| {
            let run = start..start.wrapping_add(len);
            match (from.get(run.clone()), to.get_mut(run)) {
                (Some(source), Some(room)) => copy(room, source),
                _ => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        });
    }

    /// Returns the selected bytes of `from` as segments, if they are few and long. `length` is
    /// their number.
    pub(crate) fn segments<'a>(&self, from: &'a [u8], length: usize) -> Option<Vec<&'a [u8]>> {
        let count = self.shape.count();
        if self.parts.is_some() || count > SEGMENTS || count.checked_mul(SEGMENT)? > length {
            return None;
        }
        let mut segments = Vec::with_capacity(count);
        self.each(|start, len| {
            segments.extend(from.get(start..start.wrapping_add(len)));
            ControlFlow::Continue(())
        });
        Some(segments)
    }
}

/// Copies a message of `length` bytes within the process: the selected parts of `from`, or all of
/// it, to the selected parts of `to`, or to its front. Returns the message at the front of the
/// buffer, or `Err` with the buffer that has the message in its parts.
pub(crate) fn copy_lent(
    from: &[u8],
    gather: Option<&Runs>,
    to: EmptyBuffer,
    scatter: Option<&Runs>,
    length: usize,
    pool: &Pool,
) -> Result<MessageBuffer, EmptyBuffer> {
    match (gather, scatter) {
        (None, None) => to.copy_from(from).map_err(|overfull| overfull.buffer),
        (Some(gather), None) => {
            let mut writer = to.writer();
            gather.pack_into(from, &mut writer);
            Ok(writer.finish())
        }
        (gather, Some(scatter)) => {
            let mut writer = to.writer();
            let to = writer.rest_mut();
            match gather {
                None => scatter.unpack(from, to),
                Some(gather) if gather == scatter => scatter.transfer(from, to),
                Some(gather) => {
                    scatter.unpack(gather.packed(from, length, pool).as_bytes(), to);
                }
            }
            Err(writer.abandon())
        }
    }
}

fn parts_overlap(parts: &[Part]) -> bool {
    let mut sorted = parts.to_vec();
    sorted.sort_unstable_by_key(|part| (part.offset, part.len));
    let mut end = 0;
    sorted.iter().any(|part| {
        let overlaps = part.offset < end && part.len > 0;
        end = part.offset.saturating_add(part.len).max(end);
        overlaps
    })
}

/// Copies as many bytes as both slices have, which have the same length. Short runs are copied by
/// a first and a last chunk that may overlap, because a call of `memcpy` costs more than the copy.
#[inline]
fn copy<B: Byte>(to: &mut [B], from: &[u8]) {
    match from.len() {
        8 => ends::<B, 8>(to, from),
        9..=16 => ends::<B, 8>(to, from),
        17..=32 => ends::<B, 16>(to, from),
        33..=64 => ends::<B, 32>(to, from),
        4..=7 => ends::<B, 4>(to, from),
        _ => copy_any(to, from),
    }
}

/// Copies the first `N` and the last `N` bytes.
#[inline(always)]
fn ends<B: Byte, const N: usize>(to: &mut [B], from: &[u8]) {
    if let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) {
        let (first, last) = (first.map(B::from_byte), last.map(B::from_byte));
        if let Some(chunk) = to.first_chunk_mut::<N>() {
            *chunk = first;
        }
        if let Some(chunk) = to.last_chunk_mut::<N>() {
            *chunk = last;
        }
    }
}

/// Copies bytes one by one, which the compiler turns into a `memcpy`.
#[inline(never)]
fn copy_any<B: Byte>(to: &mut [B], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = B::from_byte(*from);
    }
}
