//! Requests of borrowed memory, which end before the memory does.

use std::cell::RefCell;
use std::fmt;
use std::io::IoSlice;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use zerocopy::IntoBytes;

use super::element::{Element, name_of};
use super::error::Error;
use super::lent::{AbortOnUnwind, body_of, jbuf_of, message_of, received, segment_of};
use super::local;
use super::member::Rank;
use super::names::{Destination, Source, Status, Tag};
use super::node::Node;
use super::request::{Outcome, Place};
use crate::device::deadline::Deadline;
use crate::endpoint::ops::OpId;

/// Where borrowed memory is posted to be sent, or to be received into; see [`Rank::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    rank: &'env Rank,
    posted: RefCell<Vec<Posted>>,
    /// Neither lifetime can be chosen shorter or longer.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A request, and the memory that is lent to it for longer than the scope.
struct Posted {
    /// None once it has ended.
    id: Option<OpId>,
    result: Option<Result<Status, Error>>,
    /// Of a receive: the memory, from the moment that the request has ended.
    memory: (NonNull<u8>, usize),
    #[allow(dead_code, reason = "is read by the device")]
    segments: Option<Arc<[IoSlice<'static>]>>,
}

impl Posted {
    /// Waits until nobody has the memory any more.
    fn wait(&mut self, node: &Node, deadline: Deadline) {
        let Some(id) = self.id else {
            return;
        };
        if let Some(outcome) = node.wait_for(id, None, deadline) {
            self.id = None;
            self.end(node, outcome);
        }
    }

    fn end(&mut self, node: &Node, outcome: Outcome) {
        let (base, length) = self.memory;
        let (result, elsewhere) = received(outcome, base.as_ptr());
        self.result = Some(match (result, elsewhere) {
            (Ok(status), Some(payload)) => {
                // SAFETY: it is borrowed exclusively for the scope, which has not ended; the request to which
                // it was lent has, and all that this had of it is dropped.
                let memory = unsafe { slice::from_raw_parts_mut(base.as_ptr(), length) };
                node.put(status, payload, memory)
            }
            (result, _) => result,
        });
    }
}

/// A receive that was posted in a [`Scope`]. The scope waits for it if nobody else does.
#[must_use = "says whether the message was received"]
pub struct ScopedRecv<'scope> {
    ticket: Ticket<'scope>,
}

/// A send that was posted in a [`Scope`]. The scope waits for it if nobody else does.
#[must_use = "says whether the message was sent"]
pub struct ScopedSend<'scope> {
    ticket: Ticket<'scope>,
}

struct Ticket<'scope> {
    node: &'scope Node,
    posted: &'scope RefCell<Vec<Posted>>,
    index: usize,
}

impl Rank {
    /// Runs `work`, which may post memory that it borrows from outside, and returns when all of it has been
    /// sent or received: also when `work` panics, and then receives that have no message are taken back, and
    /// messages that no receive has.
    ///
    /// ```
    /// use jstream_transport::rank;
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let mut ranks = rank::threads(2, &rank::Options::default());
    /// let (one, zero) = (ranks.pop().unwrap(), ranks.pop().unwrap());
    /// let (mut left, mut right) = ([0u32; 2], [0u32; 2]);
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| {
    ///         one.send(0, 1, &[1u32, 2]).unwrap();
    ///         one.send(0, 2, &[3u32, 4]).unwrap();
    ///     });
    ///     zero.scope(|scope| {
    ///         let second = scope.irecv(1, 2, &mut right);
    ///         let first = scope.irecv(1, 1, &mut left);
    ///         second.wait()?;
    ///         first.wait()
    ///     })
    /// })?;
    /// assert_eq!((left, right), ([1, 2], [3, 4]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'env, R>(
        &'env self,
        work: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        let scope = Scope {
            rank: self,
            posted: RefCell::default(),
            scope: PhantomData,
            env: PhantomData,
        };
        let result = catch_unwind(AssertUnwindSafe(|| work(&scope)));
        let guard = AbortOnUnwind;
        let node = &**self.node();
        let mut posted = scope.posted.take();
        for posted in &mut posted {
            if let (Err(_), Some(id)) = (&result, posted.id) {
                node.with(|state, todo| state.give_up(id, Error::Cancelled, todo));
                node.cancel_send(id);
            }
            posted.wait(node, Deadline::NEVER);
            if posted.id.is_some() {
                unreachable!("who waits for ever waits until it has ended");
            }
        }
        std::mem::forget(guard);
        match result {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Posts a receive to the front of `elements`.
    pub fn irecv<E: Element>(
        &'scope self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &'scope mut [E],
    ) -> ScopedRecv<'scope> {
        let bytes = elements.as_mut_bytes();
        let (base, length) = (NonNull::from(&mut *bytes).cast(), bytes.len());
        let pattern = self.rank.pattern(from, tag);
        let post = || {
            let pattern = pattern?;
            // SAFETY: it is borrowed for the scope, which ends after the request has, and its outcome is
            // dropped.
            let spent = unsafe { jbuf_of(base, length) };
            let (place, expected) = (Place::Memory(spent), name_of::<E>());
            let node = self.rank.node();
            Some(node.with(|state, todo| state.post(pattern, place, expected, todo)))
        };
        ScopedRecv {
            ticket: self.post((base, length), None, || post().ok_or(Ok(Status::NULL))),
        }
    }

    /// Posts `elements` to be sent.
    pub fn isend<E: Element>(
        &'scope self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &'scope [E],
    ) -> ScopedSend<'scope> {
        self.send(to.into(), tag, elements, false)
    }

    /// As [`isend`](Self::isend), but the request ends when a receive has the message.
    pub fn issend<E: Element>(
        &'scope self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &'scope [E],
    ) -> ScopedSend<'scope> {
        self.send(to.into(), tag, elements, true)
    }

    fn send<E: Element>(
        &'scope self,
        to: Destination,
        tag: u64,
        elements: &'scope [E],
        confirmed: bool,
    ) -> ScopedSend<'scope> {
        let bytes = elements.as_bytes();
        let node = self.rank.node();
        let label = self.rank.label::<E>(tag);
        let nowhere = (NonNull::dangling(), 0);
        let Destination::Rank(to) = to else {
            let ticket = self.post(nowhere, None, || Err(Ok(Status::NULL)));
            return ScopedSend { ticket };
        };
        // SAFETY: the bytes are borrowed for the scope, which ends after the request has.
        let segments: Arc<[_]> = Arc::new([unsafe { segment_of(bytes) }]);
        // SAFETY: the list is freed with its `Arc`, which stays with the request until that has ended.
        let body = unsafe { body_of(&segments) };
        // SAFETY: the bytes are borrowed for the scope, which ends after the request has.
        let message = || unsafe { message_of(bytes) };
        let ticket = self.post(nowhere, Some(segments), || {
            match node.post_lent(to, label, bytes, body, message, confirmed) {
                local::Posted::Pending(id) => Ok(id),
                local::Posted::Done | local::Posted::Gone(_) => Err(Ok(Status::NULL)),
                local::Posted::Refused(error, _) => Err(Err(error)),
            }
        });
        ScopedSend { ticket }
    }

    /// Notes a request, or what came of it at once.
    fn post(
        &'scope self,
        memory: (NonNull<u8>, usize),
        segments: Option<Arc<[IoSlice<'static>]>>,
        post: impl FnOnce() -> Result<OpId, Result<Status, Error>>,
    ) -> Ticket<'scope> {
        let mut posted = self.posted.borrow_mut();
        posted.reserve(1);
        // Between these lines a request is known to nobody who waits for it.
        let guard = AbortOnUnwind;
        let (id, result) = match post() {
            Ok(id) => (Some(id), None),
            Err(result) => (None, Some(result)),
        };
        let index = posted.len();
        posted.push(Posted {
            id,
            result,
            memory,
            segments,
        });
        std::mem::forget(guard);
        Ticket {
            node: self.rank.node(),
            posted: &self.posted,
            index,
        }
    }
}

impl Ticket<'_> {
    fn result(&self, deadline: Deadline) -> Option<Result<Status, Error>> {
        let mut posted = self.posted.borrow_mut();
        let posted = posted.get_mut(self.index)?;
        posted.wait(self.node, deadline);
        posted.result.take()
    }

    fn wait(&self) -> Result<Status, Error> {
        match self.result(Deadline::NEVER) {
            Some(result) => result,
            None => unreachable!("nobody else takes it"),
        }
    }

    fn is_done(&self) -> bool {
        let mut posted = self.posted.borrow_mut();
        posted.get_mut(self.index).is_none_or(|posted| {
            posted.wait(self.node, Deadline::after(std::time::Duration::ZERO));
            posted.id.is_none()
        })
    }
}

impl ScopedRecv<'_> {
    /// Waits until the message is in its memory.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn wait(self) -> Result<Status, Error> {
        self.ticket.wait()
    }

    /// Whether the request has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.ticket.is_done()
    }
}

impl ScopedSend<'_> {
    /// Waits until the message is on its way, or was matched where that was asked for.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn wait(self) -> Result<(), Error> {
        self.ticket.wait().map(drop)
    }

    /// Whether the request has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.ticket.is_done()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl fmt::Debug for ScopedRecv<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedRecv").finish_non_exhaustive()
    }
}

impl fmt::Debug for ScopedSend<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedSend").finish_non_exhaustive()
    }
}
