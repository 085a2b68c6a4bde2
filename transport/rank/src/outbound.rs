//! Frames in the form in which a connection sends them.

use jstream::buffer::{EmptyBuffer, Pool};

use super::table::Number;
use super::wire::{ANNOUNCEMENT, Frame, Label};
use jstream_device::connection::{Body, Outbound};

/// Returns a frame that has no payload.
pub(super) fn without_payload(frame: Frame) -> Outbound<'static> {
    outbound(frame, 0, Body::Borrowed(&[]))
}

/// Returns a frame whose payload has `length` bytes.
pub(super) fn outbound(frame: Frame, length: u64, body: Body<'static>) -> Outbound<'static> {
    Outbound {
        header: frame.header().with_length(length),
        body,
        is_exchange: false,
        taken: 0,
    }
}

/// Returns the frame that announces a message.
pub(super) fn announcement(
    label: Label,
    offer: Number,
    length: u64,
    pool: &Pool,
) -> Outbound<'static> {
    let bytes = length.to_le_bytes();
    let empty = pool.take(bytes.len());
    // A full pool must not keep a message from being announced, and the announcement has a few
    // bytes.
    let empty = empty.unwrap_or_else(|_| EmptyBuffer::heap(bytes.len()));
    let payload = match empty.copy_from(&bytes) {
        Ok(filled) => filled,
        Err(_) => unreachable!("the jbuf has room for a number"),
    };
    let frame = Frame::Announced { label, offer };
    outbound(frame, ANNOUNCEMENT, Body::Owned(payload))
}
