//! Memory that is lent to a request, by a thread that waits until the request has ended.
//!
//! A [`Request`](super::request::Request) has no outcome before all that reads or writes its memory is
//! dropped, or is in the outcome. So a function that takes the outcome, and drops it, before it returns or
//! unwinds, can lend what it has borrowed. What would unwind in between ends the process.

use std::io::IoSlice;
use std::process;
use std::ptr::NonNull;
use std::slice;

use jstream::buffer::{Filled, Spent};

use super::error::Error;
use super::names::Status;
use super::node::Node;
use super::request::{Outcome, Place};
use crate::device::connection::{Body, Payload};
use crate::device::deadline::Deadline;
use crate::endpoint::ops::OpId;
use crate::endpoint::spin::Spin;
use crate::matching::{Claim, Pattern};
use crate::rank::error::ElementName;

/// Ends the process where going on would free memory that is lent.
pub(super) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        process::abort();
    }
}

/// A jbuf that is memory of so many bytes.
///
/// # Safety
///
/// The memory must be borrowed exclusively, and be used otherwise only when the jbuf, and all that it
/// becomes, is dropped.
pub(super) unsafe fn jbuf_of(base: NonNull<u8>, length: usize) -> Spent {
    // SAFETY: the caller promises that nothing else reaches it. Requests fill such a jbuf with bytes, and
    // read nothing else of it.
    unsafe { Spent::over(base, length) }
}

/// A message that is `bytes`.
///
/// # Safety
///
/// They must stay borrowed until it is dropped, and nobody may write to it.
pub(super) unsafe fn message_of(bytes: &[u8]) -> Filled {
    let base = NonNull::from(bytes).cast();
    // SAFETY: the caller promises that they stay borrowed; nothing is filled in.
    let mut filling = unsafe { Spent::over(base, bytes.len()) }.filling();
    // SAFETY: all of them are initialised.
    unsafe { filling.advance(bytes.len()) };
    filling.finish()
}

/// A segment that is `bytes`.
///
/// # Safety
///
/// They must stay borrowed as long as it is used.
pub(super) unsafe fn segment_of(bytes: &[u8]) -> IoSlice<'static> {
    // SAFETY: the caller promises that the bytes stay borrowed.
    IoSlice::new(unsafe { slice::from_raw_parts(bytes.as_ptr(), bytes.len()) })
}

/// A body that is `segments`.
///
/// # Safety
///
/// They must stay where they are as long as it is used.
pub(super) unsafe fn body_of(segments: &[IoSlice<'static>]) -> Body<'static> {
    // SAFETY: the caller promises that they stay.
    Body::Borrowed(unsafe { slice::from_raw_parts(segments.as_ptr(), segments.len()) })
}

/// Which message is received.
pub(super) enum Wanted {
    Pattern(Pattern),
    Claim(Claim),
}

impl Node {
    /// Waits for a message that is received to the front of `memory`. Between posting and waiting it does
    /// what is to be done `meanwhile`; if that fails, the receive is taken back. Who has `spun` already
    /// goes on with that.
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
    ) -> Result<Status, Error> {
        let guard = AbortOnUnwind;
        let (base, length) = (NonNull::from(&mut *memory).cast(), memory.len());
        // SAFETY: this function takes the outcome of the request and drops it before the memory is used, or
        // it ends; it does not unwind.
        let spent = unsafe { jbuf_of(base, length) };
        let place = Place::Memory(spent);
        let id = self.with(|state, todo| match wanted {
            Wanted::Pattern(pattern) => state.post(pattern, place, expected, todo),
            Wanted::Claim(claim) => state.post_claimed(claim, place, expected, todo),
        });
        let (outcome, failed) = match meanwhile() {
            Ok(()) => {
                let outcome = self.wait_spun(spun, deadline, |state| state.take_outcome(id));
                (outcome, None)
            }
            Err(error) => (None, Some(error)),
        };
        let outcome = outcome.unwrap_or_else(|| {
            self.with(|state, todo| state.give_up(id, late(), todo));
            // What gets its message already ends with that.
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

    /// What comes of a request that ends by itself.
    pub(super) fn outcome(&self, id: OpId) -> Outcome {
        match self.wait_for(id, None, Deadline::NEVER) {
            Some(outcome) => outcome,
            None => unreachable!("who waits for ever waits until it has ended"),
        }
    }

    /// Sends bytes of a caller that waits until they have gone: `post` makes a request of them, if they
    /// have not at once.
    pub(super) fn send_lent(
        &self,
        bytes: &[u8],
        post: impl FnOnce(Body<'static>) -> Result<Option<OpId>, Error>,
    ) -> Result<(), Error> {
        let guard = AbortOnUnwind;
        // SAFETY: this function waits until the request has ended, and does not unwind.
        let segments = [unsafe { segment_of(bytes) }];
        // SAFETY: as above.
        let body = unsafe { body_of(&segments) };
        let result = match post(body) {
            Ok(Some(id)) => self.outcome(id).result.map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        std::mem::forget(guard);
        result
    }

    /// As [`send_lent`](Self::send_lent), for a request that has the bytes as a message.
    pub(super) fn send_lent_message(
        &self,
        bytes: &[u8],
        offer: impl FnOnce(Filled) -> OpId,
    ) -> Result<(), Error> {
        let guard = AbortOnUnwind;
        // SAFETY: this function waits until the request has ended, before which the message is dropped, and
        // does not unwind.
        let filled = unsafe { message_of(bytes) };
        let id = offer(filled);
        let outcome = self.outcome(id);
        std::mem::forget(guard);
        outcome.result.map(drop)
    }
}

/// What came of a receive into `memory`, and the message where it stands elsewhere.
pub(super) fn received(
    outcome: Outcome,
    base: *const u8,
) -> (Result<Status, Error>, Option<Payload>) {
    // The jbuf that was posted is dropped here, whatever it has become.
    let Outcome {
        result,
        payload,
        spent,
    } = outcome;
    drop(spent);
    let elsewhere = payload.filter(|payload| match payload {
        Payload::Bytes(filled) => filled.as_bytes().as_ptr() != base,
        Payload::Object(_) => true,
    });
    (result, elsewhere)
}
