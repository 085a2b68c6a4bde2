//! Queue of the completions of many endpoints.

mod completion;
mod hub;
mod member;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use std::{fmt, io};

use jstream::buffer::{EmptyBuffer, MessageBuffer};
use rustc_hash::FxHashMap;

pub use self::completion::{Completion, Done, Outcome};

use self::hub::Hub;
use self::member::{MemberKind, QueueMember};
use super::ops::Notify;
use super::shared::Half;
use crate::endpoint::Endpoint;
use jstream_base::Header;
use jstream_device::deadline::Deadline;

/// A queue that collects the completions of operations posted to many endpoints.
///
/// Threads that poll or wait drive the posted operations, but only those of endpoints that can make
/// progress: idle endpoints cost nothing. Any number of threads and tasks may post, poll and wait
/// at the same time. The completions of one direction of one endpoint arrive in posting order.
///
/// A posted operation keeps its connection alive, as a ticket does, until its completion is taken.
/// Posting always succeeds; an error of the connection is reported by the completion.
///
/// When a queue is dropped, posted messages are still sent, by a thread of the process. Posted
/// receives are cancelled, and other receives of the endpoint get those messages. Completions that
/// were not taken are dropped, and their buffers return to their pools.
///
/// # Example
///
/// ```
/// use jstream_transport::{CompletionQueue, Header, Options, Outcome, connect, listen};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = Options::default();
/// let address = "inproc://queue".parse()?;
/// let listener = listen(&address, &options)?;
/// let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
/// let server = listener.accept()?.establish()?;
/// let client = connecting.join().unwrap()?;
///
/// let queue = CompletionQueue::new()?;
/// queue.post_recv(&server, 7, options.pool.take(100)?);
/// let hello = options.pool.take(5)?.copy_from(b"hello")?;
/// queue.post_send(&client, 8, Header::new(1, [0; 3]), hello);
/// while queue.pending() > 0 {
///     match queue.wait(std::time::Duration::MAX).unwrap().outcome {
///         Outcome::Sent(sent) => drop(sent?),
///         Outcome::Received(message) => assert_eq!(message?.payload.as_bytes(), b"hello"),
///         _ => unreachable!(),
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct CompletionQueue {
    hub: Arc<Hub>,
    members: Mutex<Members>,
}

#[derive(Default)]
struct Members {
    /// Keyed by the address of the state that the handles of a connection share. The address is not
    /// reused while the member holds a weak reference to it. No peer chooses addresses, so their
    /// hash needs no secret.
    map: FxHashMap<(usize, MemberKind), Arc<QueueMember>>,
    /// Number of members above which the members of closed connections are removed.
    enough: usize,
}

impl CompletionQueue {
    /// Creates an empty queue.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            hub: Hub::new()?,
            members: Mutex::default(),
        })
    }

    /// Posts a message to be sent, which moves into the endpoint. The completion carries `user`.
    pub fn post_send(&self, endpoint: &Endpoint, user: u64, header: Header, filled: MessageBuffer) {
        let member = self.holding_member(endpoint, Half::Out);
        let notify = Notify::Sink(member.clone(), user);
        let (message, refused) = endpoint.outbound(header, filled);
        endpoint.shared().post_send(message, refused, notify);
        member.visit(true);
    }

    /// Posts a receive of the next message that no other operation waits for. The message arrives
    /// in the given buffer. With `None`, the buffer is taken from the pool in the endpoint's
    /// options when the message arrives. The completion carries `user`.
    pub fn post_recv(
        &self,
        endpoint: &Endpoint,
        user: u64,
        buffer: impl Into<Option<EmptyBuffer>>,
    ) {
        let member = self.holding_member(endpoint, Half::In);
        let notify = Notify::Sink(member.clone(), user);
        endpoint.shared().post_recv(buffer.into(), notify);
        // The next poll visits the direction, once for all receives that are posted together.
        self.hub.ring(member);
    }

    /// Arms a connection: the queue returns [`Done::Ready`] once when a message may have arrived,
    /// or when the connection has ended. The caller receives the message itself. It has just polled
    /// the connection without result, so the device is armed without another poll.
    ///
    /// Does not keep the connection alive.
    #[doc(hidden)]
    pub fn arm(&self, endpoint: &Endpoint) {
        self.member(endpoint, MemberKind::Readiness).arm(endpoint);
    }

    /// Disarms a connection. A report that was not taken remains in the queue.
    #[doc(hidden)]
    pub fn disarm(&self, endpoint: &Endpoint) {
        let key = (Arc::as_ptr(endpoint.shared()).addr(), MemberKind::Readiness);
        let mut members = jstream_sync::lock(&self.members);
        let member = members.map.remove(&key);
        drop(members);
        if let Some(member) = member {
            member.disarm();
        }
    }

    /// Returns the next completion, if there is one. Does not block, but drives the operations that
    /// can make progress.
    #[must_use]
    pub fn poll(&self) -> Option<Completion> {
        self.hub.poll()?.into_completion()
    }

    /// Blocks until there is a completion. Returns `None` if there is none within `timeout`;
    /// `Duration::MAX` waits indefinitely. The call spins as set in the options of the endpoint
    /// that was most recently new to the queue.
    #[must_use]
    pub fn wait(&self, timeout: Duration) -> Option<Completion> {
        self.hub.wait(Deadline::after(timeout))?.into_completion()
    }

    /// As [`poll`](Self::poll), but returns the raw completion.
    #[doc(hidden)]
    pub fn poll_done(&self) -> Option<Done> {
        self.hub.poll()
    }

    /// As [`wait`](Self::wait), but returns the raw completion.
    #[doc(hidden)]
    pub fn wait_done(&self, deadline: Deadline) -> Option<Done> {
        self.hub.wait(deadline)
    }

    /// Calls `sleep` with a descriptor that becomes readable when the queue may have a completion.
    /// Returns `None` without calling it if the queue already has work.
    #[doc(hidden)]
    pub fn sleep_beside<R>(&self, sleep: impl FnOnce(BorrowedFd<'_>) -> R) -> Option<R> {
        self.hub.sleep_beside(sleep)
    }

    /// Returns the next raw completion, or registers `task` to be woken when there may be one.
    /// `future` is `None` in the first call, and then identifies the caller.
    #[doc(hidden)]
    pub fn poll_done_task(
        &self,
        future: &mut Option<u64>,
        task: &Waker,
    ) -> io::Result<Option<Done>> {
        self.hub.poll_task(future, task)
    }

    /// Removes the registration of a future.
    #[doc(hidden)]
    pub fn forget_task(&self, future: u64) {
        self.hub.forget_task(future);
    }

    /// Makes one current or future waiter return [`Done::Called`].
    #[doc(hidden)]
    pub fn call(&self) {
        self.hub.call();
    }

    /// Returns a future for the next completion, for any runtime. Dropping the future loses no
    /// completion.
    ///
    /// # Errors
    ///
    /// The error of the system if it has no thread or descriptor for waking tasks.
    pub fn next(&self) -> Next<'_> {
        Next {
            hub: &self.hub,
            number: None,
        }
    }

    /// Returns the number of posted operations whose completions were not taken.
    #[must_use]
    pub fn pending(&self) -> usize {
        let members = jstream_sync::lock(&self.members);
        let untaken = members.map.values().map(|member| member.untaken());
        untaken.fold(0, usize::saturating_add)
    }

    /// Returns the member for operations of a direction. The member holds the endpoint for one
    /// more operation.
    fn holding_member(&self, endpoint: &Endpoint, half: Half) -> Arc<QueueMember> {
        let member = self.member(endpoint, MemberKind::Completion(half));
        member.hold(endpoint);
        member
    }

    fn member(&self, endpoint: &Endpoint, kind: MemberKind) -> Arc<QueueMember> {
        let key = (Arc::as_ptr(endpoint.shared()).addr(), kind);
        let mut members = jstream_sync::lock(&self.members);
        if members.map.len() > members.enough {
            members.map.retain(|_, member| !member.is_over());
            members.enough = members.map.len().saturating_mul(2).max(64);
        }
        let member = members.map.entry(key).or_insert_with(|| {
            self.hub.set_spin(endpoint.shared().info().spin);
            QueueMember::new(self.hub.clone(), endpoint, kind)
        });
        member.clone()
    }
}

impl AsFd for CompletionQueue {
    /// Returns a descriptor for programs that poll by themselves. It is readable when there may be
    /// a completion. After each event, the program has to call [`poll`](CompletionQueue::poll)
    /// until it returns `None`; only then the descriptor reports new events.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.hub.set_polled();
        self.hub.watcher().source()
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        let members = jstream_sync::unpoisoned(self.members.get_mut());
        let members = std::mem::take(&mut members.map);
        for member in members.values() {
            member.detach();
        }
        self.hub.close();
    }
}

impl fmt::Debug for CompletionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionQueue")
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}

/// Future of the next completion of a queue; see [`CompletionQueue::next`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Next<'q> {
    hub: &'q Hub,
    /// Key of this future in the queue while it waits.
    number: Option<u64>,
}

impl Future for Next<'_> {
    type Output = io::Result<Completion>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let hub = self.hub;
        match hub.poll_task(&mut self.number, context.waker()) {
            Ok(done) => done
                .and_then(Done::into_completion)
                .map_or(Poll::Pending, |completion| Poll::Ready(Ok(completion))),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Drop for Next<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.hub.forget_task(number);
        }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").finish_non_exhaustive()
    }
}
