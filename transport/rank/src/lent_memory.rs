//! Memory that a blocked thread lends to a request until the request has ended.
//!
//! A [`request`](super::request::Requests) has no outcome before every handle that reads or
//! writes its memory is dropped or is part of the outcome. So a function may lend memory that it
//! has borrowed, if it takes and drops the outcome before it returns. It must not unwind in
//! between; an unwind aborts the process.

use std::io::IoSlice;
use std::process;
use std::ptr::NonNull;
use std::slice;

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::error::Error;
use super::names::Status;
use super::outcome::RequestOutcome;
use jstream_device::connection::{Body, Payload};

/// Guard that aborts the process if it is dropped by an unwind, which would free lent memory.
pub(super) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        process::abort();
    }
}

/// Returns a jbuf over `length` bytes of memory.
///
/// # Safety
///
/// The memory must be borrowed exclusively. It must not be used in any other way until the jbuf,
/// and every handle that it is turned into, is dropped.
pub(super) unsafe fn jbuf_of(base: NonNull<u8>, length: usize) -> EmptyBuffer {
    // SAFETY: the caller promises that nothing else accesses the memory. Requests fill such a jbuf
    // with bytes, and read no other bytes of it.
    unsafe { EmptyBuffer::over(base, length) }
}

/// Returns a message that consists of `bytes`.
///
/// # Safety
///
/// The bytes must stay borrowed until the message is dropped, and the message must not be written
/// to.
pub(super) unsafe fn message_of(bytes: &[u8]) -> MessageBuffer {
    let base = NonNull::from(bytes).cast();
    // SAFETY: the caller promises that the bytes stay borrowed. Nothing is written to them.
    let mut filling = unsafe { EmptyBuffer::over(base, bytes.len()) }.writer();
    // SAFETY: all of the bytes are initialised.
    unsafe { filling.advance(bytes.len()) };
    filling.finish()
}

/// Returns a segment that consists of `bytes`.
///
/// # Safety
///
/// The bytes must stay borrowed as long as the segment is used.
pub(super) unsafe fn segment_of(bytes: &[u8]) -> IoSlice<'static> {
    // SAFETY: the caller promises that the bytes stay borrowed.
    IoSlice::new(unsafe { slice::from_raw_parts(bytes.as_ptr(), bytes.len()) })
}

/// Returns a body that consists of `segments`.
///
/// # Safety
///
/// The slice must stay valid and in place as long as the body is used.
pub(super) unsafe fn body_of(segments: &[IoSlice<'static>]) -> Body<'static> {
    // SAFETY: the caller promises that the slice stays valid and in place.
    Body::Borrowed(unsafe { slice::from_raw_parts(segments.as_ptr(), segments.len()) })
}

/// Returns the result of a receive into the memory at `base`, and the message if it is in another
/// buffer.
pub(super) fn received(
    outcome: RequestOutcome,
    base: *const u8,
) -> (Result<Status, Error>, Option<Payload>) {
    // The jbuf over the memory is dropped here, whatever handle it has become.
    let RequestOutcome {
        result,
        payload,
        empty,
    } = outcome;
    drop(empty);
    // A payload in the lent memory is that memory itself, which the caller has already.
    let elsewhere = payload.filter(|payload| match payload {
        Payload::Bytes(filled) => filled.as_bytes().as_ptr() != base,
        Payload::Object(_) => true,
    });
    (result, elsewhere)
}
