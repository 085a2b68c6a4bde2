//! What a draft does where there is no room: it makes some, or says whose target had none. Where a message
//! is turned back there is none anywhere, and what would be written is looked for where it lies.

use std::mem::size_of;
use std::ptr;
use std::slice;

use super::blame::{NO_ROOM, field_without_room};
use super::draft::{Draft, Full};
use super::text::PADDING;
use crate::buffer::Spent;
use crate::model::Transportable;
use crate::read::short;
use crate::schema::Schema;

/// A segment that is gathered beside the objects.
#[derive(Debug, Clone, Copy)]
enum Beside {
    Bulk,
    Text,
}

impl<'b> Draft<'b> {
    /// Says that there is no room, unless there need not be any as the values are in the message.
    #[cold]
    pub(super) fn allot_elsewhere<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        if self.back.active {
            return self.objects_back(values, count);
        }
        self.full = true;
        NO_ROOM
    }

    /// As [`allot_elsewhere`](Self::allot_elsewhere), of flat values.
    #[cold]
    pub(super) fn bulk_elsewhere<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        if self.back.active {
            let exclusive = self.back.take_exclusive();
            return self.bulk_back(values, count, exclusive);
        }
        self.full = true;
        NO_ROOM
    }

    /// Makes room for flat values that are gathered; else returns what is written for a pointer to them.
    #[cold]
    pub(super) fn bulk_without_room<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
        room: usize,
    ) -> Option<u64> {
        if self.back.active {
            return Some(self.bulk_elsewhere(values, count));
        }
        (!self.make_room(room, Beside::Bulk)).then_some(NO_ROOM)
    }

    /// As [`bulk_without_room`](Self::bulk_without_room), of text.
    #[cold]
    pub(super) fn string_without_room(&mut self, text: &str, room: usize) -> Option<u64> {
        if self.back.active {
            return Some(self.string_back(text));
        }
        (!self.make_room(room, Beside::Text)).then_some(NO_ROOM)
    }

    /// Makes room for a tag, or writes it where it stood.
    #[cold]
    pub(super) fn tag_elsewhere(&mut self, tag: bool) {
        if self.back.active {
            self.tag_back(tag);
        } else {
            self.scratch.text.push(u8::from(tag));
        }
    }

    /// Notes which field of the values just written has no target, as there was no room.
    #[cold]
    pub(super) fn blame<T: Transportable + 'b>(&mut self, at: usize, count: usize) {
        let (schema, root) = Schema::of_form::<T::InPlace<'b>>();
        let size = size_of::<T::InPlace<'b>>();
        let start = self.objects.base().as_ptr().wrapping_add(at);
        let path = (0..count).find_map(|i| {
            let value = start.wrapping_add(i.wrapping_mul(size));
            // SAFETY: the values were written there, each byte of them (invariant 1).
            let bytes = unsafe { slice::from_raw_parts(value, size) };
            field_without_room(&schema, root, bytes)
        });
        let name = short(std::any::type_name::<T>());
        self.without_room = path.map(|path| name + &path);
    }

    /// Makes room for `len` bytes in a segment; false if it would have too many.
    #[cold]
    fn make_room(&mut self, len: usize, of: Beside) -> bool {
        let segment = match of {
            Beside::Bulk => &mut self.scratch.bulk,
            Beside::Text => &mut self.scratch.text,
        };
        if segment.len().saturating_add(len) > self.limit.saturating_add(PADDING) {
            self.full = true;
            return false;
        }
        segment.reserve(len);
        true
    }

    /// Sees to it that `objects` holds `end` bytes.
    #[inline]
    pub(super) fn reserve(&mut self, end: usize) -> Result<(), Full> {
        if end <= self.objects.capacity() {
            return Ok(());
        }
        self.grow(end)
    }

    #[cold]
    fn grow(&mut self, end: usize) -> Result<(), Full> {
        if !self.growable {
            return Err(Full);
        }
        let larger = end.max(4096).saturating_mul(2);
        let grown = Spent::heap(larger);
        // SAFETY: the first `written` bytes are initialised (invariant 1), both jbufs have room
        // for them, and two jbufs never overlap.
        unsafe {
            ptr::copy_nonoverlapping(
                self.objects.base().as_ptr(),
                grown.base().as_ptr(),
                self.written,
            );
        };
        self.objects = grown;
        Ok(())
    }
}
