//! Requests on borrowed memory, which end before the borrow does.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::IoSlice;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer};
use zerocopy::IntoBytes;

use super::element::{Element, name_of};
use super::error::{ElementName, Error};
use super::layout::runs::Runs;
use super::lent_memory::{AbortOnUnwind, body_of, jbuf_of, message_of, received, segment_of};
use super::local::PostOutcome;
use super::member::Rank;
use super::names::{Destination, Source, Status, Tag};
use super::node::Node;
use super::outcome::RequestOutcome;
use super::packing::{RunTransfer, pack, put_runs};
use super::progress::{self, PostedOperation};
use super::request::ReceiveTarget;
use super::requests::{Request, Waitable};
use super::transfer::offers::SendMode;
use super::wire::Label;
use jstream_device::connection::Payload;
use jstream_device::deadline::Deadline;
use jstream_endpoint::ops::OpId;
use jstream_matching::Pattern;
use jstream_sync::panics::forget_panic;

/// A scope in which borrowed memory can be posted to be sent or received into; see [`Rank::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    rank: &'env Rank,
    posted: RefCell<Vec<ScopedRequest>>,
    /// Indices in `posted` of requests without a handle, to be used again.
    vacant: RefCell<Vec<usize>>,
    /// True if a collective operation was posted.
    has_collectives: Cell<bool>,
    /// Makes both lifetimes invariant.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A request, and the memory that is lent to it until the end of the scope.
struct ScopedRequest {
    /// The request, or `None` once it has ended.
    id: Option<OpId>,
    result: Option<Result<Status, Error>>,
    /// An object that was received, until it is converted to bytes. Adapters of the program do
    /// that, so it is taken out first.
    object: Option<(Status, Payload)>,
    memory: ReceiveMemory,
    #[allow(dead_code, reason = "is read by the device")]
    segments: Option<Arc<[IoSlice<'static>]>>,
}

/// For a receive: the memory, accessible once the request has ended.
struct ReceiveMemory {
    base: NonNull<u8>,
    length: usize,
    /// The part of the memory that the message is received into, unless it is the front.
    runs: Option<Runs>,
}

impl ReceiveMemory {
    /// The memory of a request that receives nothing.
    const NONE: Self = Self {
        base: NonNull::dangling(),
        length: 0,
        runs: None,
    };

    fn new(bytes: &mut [u8], runs: Option<Runs>) -> Self {
        Self {
            length: bytes.len(),
            base: NonNull::from(bytes).cast(),
            runs,
        }
    }
}

impl ScopedRequest {
    /// Waits until no handle to the memory is left.
    fn wait(&mut self, node: &Node, deadline: Deadline) {
        let Some(id) = self.id else {
            return;
        };
        if let Some(outcome) = node.wait_for(id, None, deadline) {
            self.end(node, outcome);
        }
    }

    /// Takes the outcome of the request. Calls no code of the program.
    fn end(&mut self, node: &Node, outcome: RequestOutcome) {
        self.id = None;
        let (result, elsewhere) = received(outcome, self.memory.base.as_ptr());
        match (result, elsewhere) {
            (Ok(status), Some(Payload::Bytes(filled))) => self.put(node, status, Ok(filled)),
            (Ok(status), Some(object)) => self.object = Some((status, object)),
            (result, _) => self.result = Some(result),
        }
    }

    /// Copies a message to the memory of a request that has ended.
    fn put(&mut self, node: &Node, status: Status, filled: Result<MessageBuffer, Error>) {
        let ReceiveMemory { base, length, .. } = self.memory;
        self.result = Some(filled.and_then(|filled| {
            // SAFETY: the memory is borrowed exclusively for the scope, which has not ended. The
            // request to which it was lent has ended, and every handle to the memory that the
            // request had is dropped.
            let memory = unsafe { slice::from_raw_parts_mut(base.as_ptr(), length) };
            let payload = Payload::Bytes(filled);
            match &self.memory.runs {
                None => node.put(status, payload, memory),
                Some(runs) => put_runs(node, status, payload, runs, memory),
            }
        }));
    }

    /// Converts the object that was received, if any, and copies it to the memory. Adapters of the
    /// program may panic, or use the scope.
    fn convert(&mut self, node: &Node) {
        if let Some((status, object)) = self.object.take() {
            let filled = node.bytes_of(object);
            self.put(node, status, filled);
        }
    }
}

/// A receive that was posted in a [`Scope`]. The scope waits for it at its end.
#[must_use = "the request reports whether the message was received"]
pub struct ScopedRecv<'scope> {
    ticket: Ticket<'scope>,
}

/// A send that was posted in a [`Scope`]. The scope waits for it at its end.
#[must_use = "the request reports whether the message was sent"]
pub struct ScopedSend<'scope> {
    ticket: Ticket<'scope>,
}

struct Ticket<'scope> {
    rank: &'scope Rank,
    posted: &'scope RefCell<Vec<ScopedRequest>>,
    index: usize,
}

/// Runs `work` in a scope of a rank; see [`Rank::scope`].
pub(super) fn run<'env, R>(
    rank: &'env Rank,
    work: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
) -> R {
    let scope = Scope {
        rank,
        posted: RefCell::default(),
        vacant: RefCell::default(),
        has_collectives: Cell::new(false),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| work(&scope)));
    // No code of the program runs until the memory is released.
    let guard = AbortOnUnwind;
    let node = &**rank.node();
    // Collective operations use requests of the scope, so they end first.
    let mut panic = if scope.has_collectives.get() {
        progress::finish(scope.address(), result.is_err())
    } else {
        None
    };
    let mut posted = scope.posted.take();
    for posted in &mut posted {
        // After a panic nobody wants the messages, and the peers may never send what the receives
        // wait for.
        if let (Err(_), Some(id)) = (&result, posted.id) {
            node.with(|state, deferred| state.abandon_receive(id, Error::Cancelled, deferred));
            node.cancel_send(id);
        }
        posted.wait(node, Deadline::NEVER);
        if posted.id.is_some() {
            unreachable!("a wait without a deadline ends with the request");
        }
    }
    std::mem::forget(guard);
    if result.is_ok() {
        for posted in &mut posted {
            // Adapters of the program run here. The other messages are converted even if one
            // panics.
            let converted = catch_unwind(AssertUnwindSafe(|| posted.convert(node)));
            match (converted, &panic) {
                (Ok(()), _) => {}
                (Err(payload), None) => panic = Some(payload),
                (Err(payload), Some(_)) => forget_panic(payload),
            }
        }
    }
    match (result, panic) {
        (Ok(result), None) => result,
        (Ok(_), Some(panic)) => resume_unwind(panic),
        (Err(panic), other) => {
            other.into_iter().for_each(forget_panic);
            resume_unwind(panic)
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    pub(super) fn rank(&self) -> &Rank {
        self.rank
    }

    fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// Adds a collective operation, which the scope ends at its end at the latest.
    pub(super) fn add_collective(&'scope self, operation: Rc<dyn PostedOperation + 'scope>) {
        self.has_collectives.set(true);
        // SAFETY: `Rank::scope` calls `finish` with this address before the scope and its lifetime
        // end, also if the work panics, in the same thread, because a scope is not `Sync`.
        unsafe { progress::add(self.address(), operation) }
    }

    /// Makes the index of a request available to another one. Its handle must not be used any more.
    pub(super) fn vacate(&self, index: usize) {
        self.vacant.borrow_mut().push(index);
    }

    /// Posts a receive into the front of `elements`.
    pub fn irecv<E: Element>(
        &'scope self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &'scope mut [E],
    ) -> ScopedRecv<'scope> {
        let pattern = self.rank.pattern(from, tag);
        self.receive_bytes(pattern, name_of::<E>(), elements.as_mut_bytes())
    }

    /// Posts a receive into the front of `bytes`. Without a pattern, it ends at once.
    pub(super) fn receive_bytes(
        &'scope self,
        pattern: Option<Pattern>,
        expected: ElementName,
        bytes: &'scope mut [u8],
    ) -> ScopedRecv<'scope> {
        self.receive(
            pattern,
            expected,
            ReceiveMemory::new(bytes, None),
            ReceiveTarget::Memory,
        )
    }

    /// Posts a receive into the selected `runs` of `bytes`, which have `capacity` bytes in all.
    pub(super) fn receive_runs(
        &'scope self,
        pattern: Option<Pattern>,
        expected: ElementName,
        bytes: &'scope mut [u8],
        runs: Runs,
        capacity: usize,
    ) -> ScopedRecv<'scope> {
        let scattered = Box::new(runs.clone());
        let memory = ReceiveMemory::new(bytes, Some(runs));
        self.receive(pattern, expected, memory, |memory| {
            ReceiveTarget::Scattered {
                memory,
                runs: scattered,
                capacity,
            }
        })
    }

    /// Posts a receive into memory that is borrowed exclusively for the scope.
    fn receive(
        &'scope self,
        pattern: Option<Pattern>,
        expected: ElementName,
        memory: ReceiveMemory,
        target: impl FnOnce(EmptyBuffer) -> ReceiveTarget,
    ) -> ScopedRecv<'scope> {
        let ReceiveMemory { base, length, .. } = memory;
        let post = || {
            let pattern = pattern?;
            // SAFETY: the callers borrow the memory for the scope. The scope ends after the request
            // has ended and its outcome has been dropped.
            let empty = unsafe { jbuf_of(base, length) };
            let place = target(empty);
            let node = self.rank.node();
            Some(node.with(|state, deferred| state.post(pattern, place, expected, deferred)))
        };
        ScopedRecv {
            ticket: self.post(memory, None, || post().ok_or(Ok(Status::NULL))),
        }
    }

    /// Posts `elements` to be sent.
    pub fn isend<E: Element>(
        &'scope self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &'scope [E],
    ) -> ScopedSend<'scope> {
        self.send(to.into(), tag, elements, SendMode::Standard)
    }

    /// Like [`isend`](Self::isend), but the request ends when a receive has the message.
    pub fn issend<E: Element>(
        &'scope self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &'scope [E],
    ) -> ScopedSend<'scope> {
        self.send(to.into(), tag, elements, SendMode::Confirmed)
    }

    fn send<E: Element>(
        &'scope self,
        to: Destination,
        tag: u64,
        elements: &'scope [E],
        mode: SendMode,
    ) -> ScopedSend<'scope> {
        match to {
            Destination::Rank(to) => {
                let to = self.rank.members().in_node(to);
                let label = self.rank.label::<E>(tag);
                self.send_bytes(to, label, elements.as_bytes(), mode)
            }
            Destination::Null => ScopedSend {
                ticket: self.ended(Ok(Status::NULL)),
            },
        }
    }

    /// Records a request that has ended.
    fn ended(&'scope self, result: Result<Status, Error>) -> Ticket<'scope> {
        self.post(ReceiveMemory::NONE, None, || Err(result))
    }

    /// Returns a receive that has ended.
    pub(super) fn ended_receive(&'scope self, result: Result<Status, Error>) -> ScopedRecv<'scope> {
        let ticket = self.ended(result);
        ScopedRecv { ticket }
    }

    /// Returns a send that has ended.
    pub(super) fn ended_send(&'scope self, result: Result<(), Error>) -> ScopedSend<'scope> {
        let ticket = self.ended(result.map(|()| Status::NULL));
        ScopedSend { ticket }
    }

    /// Posts `bytes` to be sent to a rank of the node.
    pub(super) fn send_bytes(
        &'scope self,
        to: u32,
        label: Label,
        bytes: &'scope [u8],
        mode: SendMode,
    ) -> ScopedSend<'scope> {
        let node = self.rank.node();
        // SAFETY: the bytes are borrowed for the scope, which ends after the request has.
        let segments: Arc<[_]> = Arc::new([unsafe { segment_of(bytes) }]);
        // SAFETY: the slice is freed with its `Arc`, which is kept with the request until that has
        // ended.
        let body = unsafe { body_of(&segments) };
        // SAFETY: the bytes are borrowed for the scope, which ends after the request has.
        let message = || unsafe { message_of(bytes) };
        self.send_posted(Some(segments), || {
            node.post_lent(to, label, bytes, body, message, mode)
        })
    }

    /// Posts the selected `runs` of `bytes`, which have `length` bytes in all, to be sent to a rank
    /// of the node.
    pub(super) fn send_runs(
        &'scope self,
        to: u32,
        label: Label,
        bytes: &'scope [u8],
        runs: &Runs,
        length: usize,
    ) -> ScopedSend<'scope> {
        let node = self.rank.node();
        match RunTransfer::new(node, to, bytes, runs, length) {
            RunTransfer::Lent(near) => {
                let gather = Some(Box::new(runs.clone()));
                // SAFETY: the bytes are borrowed for the scope, which ends after the request has.
                let message = unsafe { message_of(bytes) };
                self.send_posted(None, || {
                    let heading = label.heading(node.inbox.rank, length as u64);
                    match node.lend(to, &near.inbox, heading, message, gather) {
                        Ok(request) => PostOutcome::Pending(request),
                        Err(error) => PostOutcome::Refused(error, None),
                    }
                })
            }
            RunTransfer::Segments(line, segments) => {
                let segments = segments.into_iter().map(|segment| {
                    // SAFETY: the bytes are borrowed for the scope, which ends after the request
                    // has.
                    unsafe { segment_of(segment) }
                });
                let segments: Arc<[_]> = segments.collect();
                // SAFETY: the slice is freed with its `Arc`, which is kept with the request until
                // that has ended.
                let body = unsafe { body_of(&segments) };
                self.send_posted(Some(segments), || {
                    node.post_to_line(to, line, label, body, length as u64, SendMode::Standard)
                })
            }
            RunTransfer::Packed => {
                let packed = pack(node, to, bytes, runs, length);
                self.send_posted(None, || {
                    node.post_buffer(to, label, packed, SendMode::Standard)
                })
            }
        }
    }

    /// Records a send that `post` posts. The segments are kept until it has ended.
    fn send_posted(
        &'scope self,
        segments: Option<Arc<[IoSlice<'static>]>>,
        post: impl FnOnce() -> PostOutcome,
    ) -> ScopedSend<'scope> {
        let ticket = self.post(ReceiveMemory::NONE, segments, || match post() {
            PostOutcome::Pending(id) => Ok(id),
            PostOutcome::Done | PostOutcome::Gone(_) => Err(Ok(Status::NULL)),
            PostOutcome::Refused(error, _) => Err(Err(error)),
        });
        ScopedSend { ticket }
    }

    /// Records a request, or its immediate result.
    fn post(
        &'scope self,
        memory: ReceiveMemory,
        segments: Option<Arc<[IoSlice<'static>]>>,
        post: impl FnOnce() -> Result<OpId, Result<Status, Error>>,
    ) -> Ticket<'scope> {
        let mut posted = self.posted.borrow_mut();
        // Memory is reserved before the request exists, because a failed allocation would unwind.
        posted.reserve(1);
        // Until the request is recorded below, the scope would not wait for it after an unwind.
        let guard = AbortOnUnwind;
        let (id, result) = match post() {
            Ok(id) => (Some(id), None),
            Err(result) => (None, Some(result)),
        };
        let request = ScopedRequest {
            id,
            result,
            object: None,
            memory,
            segments,
        };
        let vacant = self.vacant.borrow_mut().pop();
        let index = vacant.unwrap_or(posted.len());
        match posted.get_mut(index) {
            Some(place) => *place = request,
            None => posted.push(request),
        }
        std::mem::forget(guard);
        Ticket {
            rank: self.rank,
            posted: &self.posted,
            index,
        }
    }
}

impl Ticket<'_> {
    /// Converts a result to the ranks' numbers in the communicator.
    fn converted(&self, result: Option<Result<Status, Error>>) -> Option<Result<Status, Error>> {
        result.map(|result| self.rank.members().result(result))
    }

    /// Waits until the request has ended. Returns false if the deadline passes. The requests are
    /// not borrowed meanwhile, because posted collective operations may add some.
    fn wait_until(&self, deadline: Deadline) -> bool {
        let Some(id) = self.id() else {
            return true;
        };
        let node = self.rank.node();
        match node.wait_for(id, None, deadline) {
            Some(outcome) => {
                self.end(outcome);
                true
            }
            None => false,
        }
    }

    fn end(&self, outcome: RequestOutcome) {
        let node = self.rank.node();
        let object = self
            .posted
            .borrow_mut()
            .get_mut(self.index)
            .and_then(|posted| {
                posted.end(node, outcome);
                posted.object.take()
            });
        // The requests are not borrowed while adapters of the program convert an object.
        if let Some((status, object)) = object {
            let filled = node.bytes_of(object);
            if let Some(posted) = self.posted.borrow_mut().get_mut(self.index) {
                posted.put(node, status, filled);
            }
        }
    }

    fn result(&self, deadline: Deadline) -> Option<Result<Status, Error>> {
        if !self.wait_until(deadline) {
            return None;
        }
        let mut posted = self.posted.borrow_mut();
        self.converted(posted.get_mut(self.index)?.result.take())
    }

    fn wait(&self) -> Result<Status, Error> {
        match self.result(Deadline::NEVER) {
            Some(result) => result,
            None => panic!("the outcome was taken before"),
        }
    }

    /// Returns the request, unless it is known to have ended.
    fn id(&self) -> Option<OpId> {
        let posted = self.posted.borrow();
        posted.get(self.index).and_then(|posted| posted.id)
    }

    /// Returns true if the request has ended, after driving the connections.
    fn is_done(&self) -> bool {
        self.wait_until(Deadline::after(Duration::ZERO))
    }

    /// Takes the result if the request has ended, without driving the connections.
    fn take(&self) -> Option<Result<Status, Error>> {
        if let Some(id) = self.id() {
            let node = self.rank.node();
            let outcome = node.take_in_for(|state| state.requests.take_outcome(id))?;
            self.end(outcome);
        }
        let mut posted = self.posted.borrow_mut();
        self.converted(posted.get_mut(self.index)?.result.take())
    }
}

/// Implements the operations that scoped sends and receives have in common.
macro_rules! scoped {
    ($request:ident: $result:ty, $convert:expr) => {
        impl $request<'_> {
            /// Returns the index of the request in its scope.
            pub(super) fn index(&self) -> usize {
                self.ticket.index
            }

            /// Returns the request, unless it is known to have ended.
            pub(super) fn id(&self) -> Option<OpId> {
                self.ticket.id()
            }

            /// Returns true if the request has ended.
            #[must_use]
            pub fn is_done(&self) -> bool {
                self.ticket.is_done()
            }

            /// Like [`wait`](Self::wait), for at most `timeout`. Returns `None` if the request has
            /// not ended by then, or if the outcome was taken before.
            pub fn wait_timeout(&mut self, timeout: Duration) -> Option<$result> {
                self.wait_until(Deadline::after(timeout))
            }

            /// Like [`wait_timeout`](Self::wait_timeout), until a deadline.
            pub(super) fn wait_until(&mut self, deadline: Deadline) -> Option<$result> {
                self.ticket.result(deadline).map($convert)
            }

            /// Takes the outcome, if the request has ended. The outcome can be taken once.
            pub fn test(&mut self) -> Option<$result> {
                self.wait_timeout(Duration::ZERO)
            }
        }

        impl Request for $request<'_> {
            type Output = $result;
        }

        impl Waitable for $request<'_> {
            fn pending(&self) -> Option<&Arc<Node>> {
                self.ticket.id().map(|_| self.ticket.rank.node())
            }

            fn is_done(&self) -> bool {
                self.ticket.id().is_none_or(|id| {
                    let node = self.ticket.rank.node();
                    node.take_in_for(|state| state.requests.has_ended(id))
                })
            }

            fn take(&mut self) -> Option<<Self as Request>::Output> {
                self.ticket.take().map($convert)
            }
        }
    };
}

scoped!(ScopedRecv: Result<Status, Error>, |result| result);
scoped!(ScopedSend: Result<(), Error>, |result| result.map(drop));

impl ScopedRecv<'_> {
    /// Blocks until the message is in the memory of the receive.
    ///
    /// # Errors
    ///
    /// [`Error`].
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before.
    pub fn wait(self) -> Result<Status, Error> {
        self.ticket.wait()
    }

    /// Cancels the receive: [`Error::Cancelled`]. If the receive has a message already, this waits
    /// for that message.
    ///
    /// # Errors
    ///
    /// [`Error`].
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before.
    pub fn cancel(self) -> Result<Status, Error> {
        if let Some(id) = self.ticket.id() {
            let node = self.ticket.rank.node();
            node.with(|state, deferred| state.cancel_receive(id, Error::Cancelled, deferred));
        }
        self.wait()
    }

    /// Cancels the receive, also if its message is announced. If the message has begun to arrive,
    /// the request ends with it.
    pub(super) fn withdraw(&self) {
        if let Some(id) = self.ticket.id() {
            let node = self.ticket.rank.node();
            node.with(|state, deferred| state.abandon_receive(id, Error::Cancelled, deferred));
        }
    }
}

impl ScopedSend<'_> {
    /// Blocks until the message has been sent, or was matched if the send was synchronous.
    ///
    /// # Errors
    ///
    /// [`Error`].
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before.
    pub fn wait(self) -> Result<(), Error> {
        self.ticket.wait().map(drop)
    }

    /// Cancels the send and waits for its outcome: [`Error::Cancelled`] if no receive had the
    /// message. [`SendRequest::cancel`](super::SendRequest::cancel) states which messages can be
    /// cancelled; any other message is sent.
    ///
    /// # Errors
    ///
    /// [`Error`].
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before.
    pub fn cancel(self) -> Result<(), Error> {
        if let Some(id) = self.ticket.id() {
            self.ticket.rank.node().cancel_send(id);
        }
        self.wait()
    }

    /// Cancels the send, without waiting for the answer of the other rank. If the message is being
    /// sent, the request ends with it.
    pub(super) fn withdraw(&self) {
        if let Some(id) = self.ticket.id() {
            self.ticket.rank.node().abandon_send(id);
        }
    }

    /// Waits for a send to the rank `to` of the node that was withdrawn. If the rest of its message
    /// takes too long, the connection ends.
    pub(super) fn wait_or_sever(mut self, to: u32) -> Result<(), Error> {
        let node = self.ticket.rank.node();
        match self.wait_until(node.rest_deadline()) {
            Some(result) => result,
            None => {
                node.sever(to);
                self.wait()
            }
        }
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
