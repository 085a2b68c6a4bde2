//! One place for the completions of many endpoints.

mod hub;
mod member;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::future::Future;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use std::{fmt, io};

use jstream::buffer::{Filled, Spent};

use self::hub::Hub;
pub(crate) use self::member::Done;
use self::member::Member;
use super::ops::Notify;
use super::shared::Way;
use super::{Endpoint, Message};
use crate::device::deadline::Deadline;
use crate::error::{Unreceived, Unsent};
use crate::header::Header;

/// An operation that was posted to a [`CompletionQueue`] and has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completion {
    /// What the operation was posted with.
    pub user: u64,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of an operation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The device has taken the message. The jbuf comes back, unless it moved to the peer.
    Sent(Result<Option<Spent>, Unsent>),
    /// A message was received.
    Received(Result<Message, Unreceived>),
}

/// Posted operations of many endpoints, and their completions in one place.
///
/// Whoever polls or waits carries on what was posted, of those endpoints alone that can go on: a
/// thousand that are idle cost nothing. Any number of threads and tasks may post, poll and wait at
/// the same time. The completions of one direction of one endpoint come in order of posting.
///
/// A posted operation keeps its connection, as a ticket does, until its completion is taken. What is
/// wrong with a connection, its operations tell when they end: posting itself always works.
///
/// When a queue is dropped, what was posted to be sent is still sent, by a thread of the process; what was posted to be received is cancelled, and the endpoint receives those messages
/// otherwise. Completions that nobody took are dropped, and their jbufs go back to their pools.
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
    /// By the address of what the handles of a connection share. It is not given to another one as
    /// long as the member refers to it.
    map: HashMap<(usize, Way), Arc<Member>>,
    /// How many there may be before those of connections that are gone are looked for.
    enough: usize,
}

impl CompletionQueue {
    /// An empty queue.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            hub: Hub::new()?,
            members: Mutex::default(),
        })
    }

    /// Posts a message to be sent, which moves into the endpoint. Its completion carries `user`.
    pub fn post_send(&self, endpoint: &Endpoint, user: u64, header: Header, filled: Filled) {
        let member = self.member(endpoint, Way::Out);
        let notify = Notify::Sink(member.clone(), user);
        let (message, refused) = endpoint.outbound(header, filled);
        endpoint.shared().post_send(message, refused, notify);
        member.visit(true);
    }

    /// Posts a jbuf to receive the next message into that no other operation waits for. Its
    /// completion carries `user`.
    pub fn post_recv(&self, endpoint: &Endpoint, user: u64, spent: Spent) {
        self.post_receive(endpoint, user, Some(spent));
    }

    /// As [`post_recv`](Self::post_recv), into a jbuf of the pool in the endpoint's options, which is
    /// taken when the message has come.
    pub fn post_recv_any(&self, endpoint: &Endpoint, user: u64) {
        self.post_receive(endpoint, user, None);
    }

    fn post_receive(&self, endpoint: &Endpoint, user: u64, spent: Option<Spent>) {
        let member = self.member(endpoint, Way::In);
        let notify = Notify::Sink(member.clone(), user);
        endpoint.shared().post_recv(spent, notify);
        // Once for many that are posted together.
        self.hub.ring(member);
    }

    /// The next completion, if there is one. Does not wait, but carries on what can go on.
    #[must_use]
    pub fn poll(&self) -> Option<Completion> {
        self.hub.poll()?.into_completion()
    }

    /// Waits for the next completion; `None` when none came within `timeout`. `Duration::MAX` waits
    /// for ever. It spins as the options of the endpoint say that was new to the queue last.
    #[must_use]
    pub fn wait(&self, timeout: Duration) -> Option<Completion> {
        self.hub.wait(Deadline::after(timeout))?.into_completion()
    }

    /// As [`poll`](Self::poll), for what nobody has looked at.
    pub(crate) fn poll_done(&self) -> Option<Done> {
        self.hub.poll()
    }

    /// As [`wait`](Self::wait), for what nobody has looked at.
    pub(crate) fn wait_done(&self, deadline: Deadline) -> Option<Done> {
        self.hub.wait(deadline)
    }

    /// Has `sleep` sleep until what it is given is readable, and then there may be something here, or for something
    /// else. Nothing where there is something.
    pub(crate) fn sleep_beside<R>(&self, sleep: impl FnOnce(BorrowedFd<'_>) -> R) -> Option<R> {
        self.hub.sleep_beside(sleep)
    }

    /// What is next, or has `task` woken when there may be something. `future` is `None` at first, and
    /// afterwards who asks.
    pub(crate) fn poll_done_task(
        &self,
        future: &mut Option<u64>,
        task: &Waker,
    ) -> io::Result<Option<Done>> {
        self.hub.poll_task(future, task)
    }

    /// A future that has asked before asks no more.
    pub(crate) fn forget_task(&self, future: u64) {
        self.hub.forget_task(future);
    }

    /// What is posted to receive from `endpoint`, and has no message, is given up. What has one is still taken.
    pub(crate) fn forget(&self, endpoint: &Endpoint) {
        let key = (Arc::as_ptr(endpoint.shared()).addr(), Way::In);
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let member = members.map.remove(&key);
        drop(members);
        if let Some(member) = member {
            member.give_up();
        }
    }

    /// Has one who waits, or who asks next, get [`Done::Called`].
    pub(crate) fn call(&self) {
        self.hub.call();
    }

    /// The next completion, as a future of any runtime. Dropping it loses none.
    ///
    /// # Errors
    ///
    /// What the system says when it has no thread or descriptor for waking tasks.
    pub fn next(&self) -> Next<'_> {
        Next {
            hub: &self.hub,
            number: None,
        }
    }

    /// How many operations were posted whose completions were not taken.
    #[must_use]
    pub fn pending(&self) -> usize {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let untaken = members.map.values().map(|member| member.untaken());
        untaken.fold(0, usize::saturating_add)
    }

    /// The member of a direction, which holds the endpoint for one more operation.
    fn member(&self, endpoint: &Endpoint, way: Way) -> Arc<Member> {
        let key = (Arc::as_ptr(endpoint.shared()).addr(), way);
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        if members.map.len() > members.enough {
            members.map.retain(|_, member| !member.is_over());
            members.enough = members.map.len().saturating_mul(2).max(64);
        }
        let member = members.map.entry(key).or_insert_with(|| {
            self.hub.set_spin(endpoint.shared().facts().spin);
            Member::new(self.hub.clone(), endpoint, way)
        });
        member.hold(endpoint);
        member.clone()
    }
}

impl AsFd for CompletionQueue {
    /// For programs that poll for themselves: readable when there may be a completion. Whoever has
    /// polled it polls the queue until there is none; only then it tells again.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.hub.set_polled();
        self.hub.watcher().source()
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        let members = self
            .members
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let members = std::mem::take(&mut members.map);
        for member in members.values() {
            member.leave();
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

/// The next completion of a queue; see [`CompletionQueue::next`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Next<'q> {
    hub: &'q Hub,
    /// By which the hub knows it once it waits.
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
