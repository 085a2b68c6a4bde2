//! Slow paths of a draft without room: it grows a segment, or fails and records the field whose
//! target did not fit. While a message is restored in place, a draft never has room, and these
//! paths look for the target in the message instead.

use std::mem::size_of;
use std::ptr;
use std::slice;

use super::append::PADDING;
use super::blame_field::{NO_ROOM, find_oversized_field};
use super::draft::Draft;
use super::error::Full;
use crate::buffer::EmptyBuffer;
use crate::model::{InPlace, Transportable};
use crate::read::short;
use crate::schema::{Describe, Schema};
use crate::wire::ORIGIN;

/// A segment that is gathered in a separate vector.
#[derive(Debug, Clone, Copy)]
enum SideSegment {
    Bulk,
    Text,
}

impl<'b> Draft<'b> {
    /// Called if the objects segment has no room. Claims the values in the message if it is being
    /// restored in place; otherwise marks the draft as full.
    #[cold]
    pub(super) fn allocate_slow<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        if self.back.active {
            return self.claim_objects(values, count);
        }
        self.full = true;
        NO_ROOM
    }

    /// Like [`allocate_slow`](Self::allocate_slow), for flat values.
    #[cold]
    pub(super) fn place_bulk_slow<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        if self.back.active {
            let exclusive = self.back.take_exclusive();
            return self.claim_bulk(values, count, exclusive);
        }
        self.full = true;
        NO_ROOM
    }

    /// Makes room for flat values that are gathered. If that is impossible or unnecessary, returns
    /// the place to be written for a pointer to them.
    #[cold]
    pub(super) fn reserve_bulk_slow<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
        room: usize,
    ) -> Option<u64> {
        if self.back.active {
            return Some(self.place_bulk_slow(values, count));
        }
        (!self.make_room(room, SideSegment::Bulk)).then_some(NO_ROOM)
    }

    /// Like [`reserve_bulk_slow`](Self::reserve_bulk_slow), for text.
    #[cold]
    pub(super) fn reserve_string_slow(&mut self, text: &str) -> Option<u64> {
        if self.back.active {
            return Some(self.claim_string(text));
        }
        (!self.make_room(text.len(), SideSegment::Text)).then_some(NO_ROOM)
    }

    /// Makes room for a tag and appends it, or writes it to its place in a message that is restored
    /// in place.
    #[cold]
    pub(super) fn tag_slow(&mut self, tag: bool) {
        if self.back.active {
            self.overwrite_tag(tag);
        } else {
            self.needs_clearing = true;
            self.scratch.text.reserve(1);
            let _ = self.scratch.text.push_within(u8::from(tag));
        }
    }

    /// Records the field of the values just written whose target did not fit.
    #[cold]
    pub(super) fn blame_field<T: Transportable + 'b>(&mut self, at: usize, end: usize) {
        let size = size_of::<T::InPlace<'b>>();
        let count = end.wrapping_sub(at).checked_div(size).unwrap_or(1);
        let name = std::any::type_name::<T>();
        self.blame_field_of(name, T::InPlace::<'b>::describe, size, at, count);
    }

    /// Like [`blame_field`](Self::blame_field), for values whose form `describe` describes and has
    /// `size` bytes.
    fn blame_field_of(
        &mut self,
        name: &str,
        describe: Describe,
        size: usize,
        at: usize,
        count: usize,
    ) {
        let (schema, root) = Schema::described(describe);
        let start = self.base.as_ptr().wrapping_add(at);
        let path = (0..count).find_map(|i| {
            let value = start.wrapping_add(i.wrapping_mul(size));
            // SAFETY: the values, including their padding, were written there (invariant 1).
            let bytes = unsafe { slice::from_raw_parts(value, size) };
            find_oversized_field(&schema, root, bytes)
        });
        self.oversized_field = path.map(|path| short(name) + &path);
    }

    /// Reserves `len` bytes in a segment. Returns false if the segment would exceed the limit.
    #[cold]
    fn make_room(&mut self, len: usize, of: SideSegment) -> bool {
        let end = match of {
            SideSegment::Bulk => self.scratch.bulk.len(),
            SideSegment::Text => self.text_end().wrapping_sub(ORIGIN),
        };
        if end.saturating_add(len) > self.limit.saturating_add(PADDING) {
            self.full = true;
            return false;
        }
        match of {
            SideSegment::Bulk => self.scratch.bulk.reserve(len),
            SideSegment::Text => self.scratch.text.reserve(len),
        }
        self.needs_clearing = true;
        true
    }

    /// Ensures that the buffer has a capacity of `end` bytes.
    #[inline]
    pub(super) fn reserve(&mut self, end: usize) -> Result<(), Full> {
        if end <= self.capacity {
            return Ok(());
        }
        self.grow(end)
    }

    #[cold]
    fn grow(&mut self, end: usize) -> Result<(), Full> {
        if !self.growable {
            self.full = true;
            return Err(Full);
        }
        let larger = end.max(4096).saturating_mul(2);
        let grown = EmptyBuffer::heap(larger);
        // SAFETY: both buffers have room for the first `written` bytes and do not overlap. The
        // bytes are copied whether they are initialised or not.
        unsafe {
            ptr::copy_nonoverlapping(self.base.as_ptr(), grown.base().as_ptr(), self.written);
        };
        self.base = grown.base();
        self.capacity = grown.capacity();
        self.objects = grown;
        // It is released if later messages are much shorter.
        self.needs_clearing = true;
        Ok(())
    }
}
