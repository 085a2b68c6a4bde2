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
use super::node::Node;
use super::outcome::RequestOutcome;
use super::request::ReceiveTarget;
use crate::error::ElementName;
use jstream_device::connection::{Body, Payload};
use jstream_device::deadline::Deadline;
use jstream_endpoint::ops::OpId;
use jstream_endpoint::spin::Spin;
use jstream_matching::{Claim, Pattern};

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

/// The message to receive.
pub(super) enum Wanted {
    Pattern(Pattern),
    Claim(Claim),
}

impl Node {
    /// Receives a message into the front of `memory` and blocks until it has arrived. Calls
    /// `meanwhile` after the receive was posted; if that fails, the receive is cancelled. The wait
    /// continues with the spin budget that the caller has left in `spun`.
    ///
    /// If the message has begun to arrive when the time is over, its rest is waited for. If it
    /// comes from the rank `severed` and takes too long, the connection ends.
    #[allow(clippy::too_many_arguments, reason = "two callers have all of them")]
    #[inline]
    pub(super) fn receive_into(
        &self,
        wanted: Wanted,
        expected: ElementName,
        memory: &mut [u8],
        spun: Option<Spin>,
        meanwhile: impl FnOnce() -> Result<(), Error>,
        deadline: impl FnOnce() -> Deadline,
        late: impl FnOnce() -> Error,
        severed: Option<u32>,
    ) -> Result<Status, Error> {
        let guard = AbortOnUnwind;
        let (base, length) = (NonNull::from(&mut *memory).cast(), memory.len());
        // SAFETY: this function takes the outcome of the request and drops it before the memory is
        // used and before the function returns. It does not unwind, because of the guard.
        let empty = unsafe { jbuf_of(base, length) };
        let place = ReceiveTarget::Memory(empty);
        let id = self.with(|state, deferred| match wanted {
            Wanted::Pattern(pattern) => state.post(pattern, place, expected, deferred),
            Wanted::Claim(claim) => state.post_claimed(claim, place, expected, deferred),
        });
        let (outcome, failed) = match meanwhile() {
            Ok(()) => {
                let outcome =
                    self.wait_spun(spun, deadline, |state| state.requests.take_outcome(id));
                (outcome, None)
            }
            Err(error) => (None, Some(error)),
        };
        let outcome = outcome.unwrap_or_else(|| {
            self.with(|state, deferred| state.abandon_receive(id, late(), deferred));
            // If the message is arriving already, the request ends with it.
            if let Some(rank) = severed {
                if let Some(outcome) = self.wait_for(id, None, self.rest_deadline()) {
                    return outcome;
                }
                self.sever(rank);
            }
            self.outcome(id)
        });
        let (result, elsewhere) = received(outcome, base.as_ptr());
        std::mem::forget(guard);
        if let Some(error) = failed {
            return Err(error);
        }
        let status = result?;
        match elsewhere {
            None => Ok(status),
            Some(payload) => self.put(status, payload, memory),
        }
    }

    /// Waits for the outcome of a request that needs no further action of the caller.
    pub(super) fn outcome(&self, id: OpId) -> RequestOutcome {
        match self.wait_for(id, None, Deadline::NEVER) {
            Some(outcome) => outcome,
            None => unreachable!("a wait without a deadline ends with the request"),
        }
    }

    /// Sends bytes of the caller, and blocks until they have been sent. `post` sends them
    /// immediately or returns a request.
    pub(super) fn send_lent(
        &self,
        bytes: &[u8],
        post: impl FnOnce(Body<'static>) -> Result<Option<OpId>, Error>,
    ) -> Result<(), Error> {
        let guard = AbortOnUnwind;
        // SAFETY: this function waits until the request has ended, and does not unwind, because of
        // the guard.
        let segments = [unsafe { segment_of(bytes) }];
        // SAFETY: as above; `segments` lives until the request has ended.
        let body = unsafe { body_of(&segments) };
        let result = match post(body) {
            Ok(Some(id)) => self.outcome(id).result.map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        std::mem::forget(guard);
        result
    }

    /// Like [`send_lent`](Self::send_lent), for a request that takes the bytes as a message.
    pub(super) fn send_lent_message(
        &self,
        bytes: &[u8],
        offer: impl FnOnce(MessageBuffer) -> Result<OpId, Error>,
    ) -> Result<(), Error> {
        let guard = AbortOnUnwind;
        // SAFETY: this function waits until the request has ended, and the message is dropped
        // before that. It does not unwind, because of the guard.
        let filled = unsafe { message_of(bytes) };
        let result = offer(filled).and_then(|id| self.outcome(id).result);
        std::mem::forget(guard);
        result.map(drop)
    }
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
    let elsewhere = payload.filter(|payload| match payload {
        Payload::Bytes(filled) => filled.as_bytes().as_ptr() != base,
        Payload::Object(_) => true,
    });
    (result, elsewhere)
}
