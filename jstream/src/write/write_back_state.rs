//! The state of restoring a received message in place.

use std::mem;
use std::ptr;

use super::text_buffer::TextBuffer;

/// The state of a walk in addition to the cursors of its draft.
#[derive(Debug)]
pub(super) struct WriteBackState {
    pub(super) active: bool,
    pub(super) commit: bool,
    /// True if a target is not at its expected address. Places claimed after that are meaningless.
    pub(super) moved: bool,
    /// True if the next slice to be written is one that the program may have changed.
    pub(super) exclusive: bool,
    /// True if the walk is over a copy of a root, parts of which the program may own.
    pub(super) walks_copy: bool,
    pub(super) base: *mut u8,
    pub(super) objects_end: usize,
    /// The address of place 0 of the bulk segment, and the place of the segment's end.
    pub(super) bulk: *mut u8,
    pub(super) bulk_end: usize,
    /// Address of place 0 of the text segment, its cursor, and the place of its end.
    pub(super) text: *mut u8,
    pub(super) text_cursor: usize,
    pub(super) text_end: usize,
    /// The draft's own text and bulk vectors, removed so that the draft has no room and takes its
    /// slow paths.
    pub(super) saved_scratch: (TextBuffer, Vec<u8>),
}

impl WriteBackState {
    pub(super) const fn new() -> Self {
        Self {
            active: false,
            commit: false,
            moved: false,
            exclusive: false,
            walks_copy: false,
            base: ptr::null_mut(),
            objects_end: 0,
            bulk: ptr::null_mut(),
            bulk_end: 0,
            text: ptr::null_mut(),
            text_cursor: 0,
            text_end: 0,
            saved_scratch: (TextBuffer::new(), Vec::new()),
        }
    }

    /// Returns true if the slice being written is one that the program may have changed, and resets
    /// the flag.
    pub(super) fn take_exclusive(&mut self) -> bool {
        mem::take(&mut self.exclusive)
    }
}
