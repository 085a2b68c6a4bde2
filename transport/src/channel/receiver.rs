//! The side that receives.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::{Received, Transportable};

use super::crew::{Crew, Sight};
use super::error::RecvError;
use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::endpoint::object::{object_of, read};
use crate::endpoint::queue::Done;
use crate::endpoint::spin::Spin;
use crate::endpoint::{CompletionQueue, Endpoint, Message, RecvObjectError};
use crate::header::Header;

/// After how many objects in a row of some senders the others are looked at, too.
const IN_A_ROW: u32 = 64;

type Outcome<T> = Result<Received<T>, RecvError>;

/// The side of a channel that receives. Clones, and any number of threads and tasks, receive from the same
/// senders: each object is one's.
///
/// What one sender has sent comes in that order, and senders take turns. While objects come fast, they are
/// taken from the connections as they are asked for; a receiver that sleeps does so for all senders at once.
///
/// When the last clone is dropped the senders are told; what they have sent and nobody has received is lost.
pub struct Receiver<T> {
    crew: Arc<Crew>,
    waits: Arc<Waits>,
    of: PhantomData<fn() -> T>,
}

/// How the handles wait.
#[derive(Debug)]
struct Waits {
    spin: Duration,
    /// How waits have ended lately.
    habit: AtomicU8,
    /// How many objects were taken without a look at the queue.
    in_a_row: AtomicU32,
}

impl<T: Transportable + 'static> Receiver<T> {
    pub(super) fn new(crew: Arc<Crew>, spin: Duration) -> Self {
        Self {
            crew,
            waits: Arc::new(Waits {
                spin,
                habit: AtomicU8::new(0),
                in_a_row: AtomicU32::new(0),
            }),
            of: PhantomData,
        }
    }

    /// Where the channel is, with the port that port 0 became.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.crew.address
    }

    /// Waits for the next object.
    ///
    /// # Errors
    ///
    /// [`RecvError::Closed`] when all senders have said goodbye and everything was received;
    /// [`RecvError::Lost`] once for each that was lost; or another [`RecvError`].
    pub fn recv(&self) -> Result<Received<T>, RecvError> {
        let received = self.recv_until(Deadline::NEVER);
        received.unwrap_or_else(|| unreachable!("nothing is late that may take for ever"))
    }

    /// As [`recv`](Self::recv), for so long at most.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`] then, or another [`RecvError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Received<T>, RecvError> {
        let received = self.recv_until(Deadline::after(timeout));
        received.unwrap_or_else(|| {
            Err(RecvError::TimedOut {
                after: timeout,
                address: self.address().clone(),
            })
        })
    }

    /// The next object, if it is here.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`] when it is not, or another [`RecvError`].
    pub fn try_recv(&self) -> Result<Received<T>, RecvError> {
        self.attempt().unwrap_or(Err(RecvError::Empty))
    }

    /// The next object, as a future of any runtime. Dropping it loses none.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv).
    pub fn recv_async(&self) -> Receive<'_, T> {
        Receive {
            receiver: self,
            number: None,
            sleeps: false,
        }
    }

    /// The objects that come, until the channel is closed.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    fn recv_until(&self, deadline: Deadline) -> Option<Outcome<T>> {
        let mut spin = None;
        loop {
            if let Some(outcome) = self.attempt() {
                if let Some(spin) = spin {
                    self.end(spin);
                }
                return Some(outcome);
            }
            let spinning = spin.get_or_insert_with(|| self.begin(deadline));
            if spinning.again() {
                continue;
            }
            let queue = self.queue();
            self.crew.post(queue);
            let done = queue.wait_done(deadline);
            self.crew.awake();
            spinning.has_slept();
            if let Some(outcome) = self.take(done?) {
                if let Some(spin) = spin {
                    self.end(spin);
                }
                return Some(outcome);
            }
        }
    }

    fn begin(&self, deadline: Deadline) -> Spin {
        let habit = self.waits.habit.load(Ordering::Relaxed);
        Spin::begin(self.waits.spin, habit, deadline)
    }

    fn end(&self, spin: Spin) {
        let mut habit = self.waits.habit.load(Ordering::Relaxed);
        spin.end(&mut habit);
        self.waits.habit.store(habit, Ordering::Relaxed);
    }

    fn queue(&self) -> &CompletionQueue {
        let Some(queue) = &self.crew.queue else {
            unreachable!("a side that receives has a queue")
        };
        queue
    }

    /// What is here now: of those without a posted receive from their connections, of others from the queue.
    fn attempt(&self) -> Option<Outcome<T>> {
        let Sight {
            count,
            is_posted,
            is_closed,
            first,
        } = self.crew.sight();
        if is_closed {
            return Some(self.closed());
        }
        if is_posted && self.waits.in_a_row.load(Ordering::Relaxed) >= IN_A_ROW {
            if let Some(outcome) = self.poll_queue() {
                return Some(outcome);
            }
        }
        let others = (1..count).map(|_| self.crew.look_at());
        for endpoint in std::iter::once(first).chain(others).flatten() {
            if let Some(outcome) = self.look(&endpoint) {
                return Some(outcome);
            }
        }
        if is_posted { self.poll_queue() } else { None }
    }

    /// What is here of one sender.
    fn look(&self, endpoint: &Endpoint) -> Option<Outcome<T>> {
        let shared = endpoint.shared();
        let (mut message, mut other) = (Message::nothing(), None);
        let outcome = match shared.look(&mut message, &mut other)? {
            Ok(()) => Some(Self::outcome(match other {
                None => read(message, shared),
                Some(arrived) => object_of(arrived, shared),
            })),
            Err(error) => self.trouble(endpoint, error),
        };
        if outcome.is_some() {
            let in_a_row = &self.waits.in_a_row;
            let more = in_a_row.load(Ordering::Relaxed).saturating_add(1);
            in_a_row.store(more, Ordering::Relaxed);
        }
        outcome
    }

    fn poll_queue(&self) -> Option<Outcome<T>> {
        self.waits.in_a_row.store(0, Ordering::Relaxed);
        while let Some(done) = self.queue().poll_done() {
            if let Some(outcome) = self.take(done) {
                return Some(outcome);
            }
        }
        None
    }

    /// What came from the queue, if it is something.
    fn take(&self, done: Done) -> Option<Outcome<T>> {
        match done {
            Done::Received(_, receipt, endpoint) => {
                self.crew.taken(&endpoint, receipt.is_ok(), self.queue());
                match receipt {
                    Ok(arrived) => Some(Self::outcome(object_of(arrived, endpoint.shared()))),
                    Err(missed) => self.trouble(&endpoint, missed.error),
                }
            }
            Done::Sent(..) => None,
            Done::Called => self.crew.called(self.queue()).then(|| self.closed()),
        }
    }

    fn outcome(read: Result<(Header, Received<T>), RecvObjectError>) -> Outcome<T> {
        match read {
            Ok((_, received)) => Ok(received),
            Err(RecvObjectError::Read { peer, source, .. }) => {
                Err(RecvError::Read { peer, source })
            }
            Err(RecvObjectError::Receive(error)) => Err(RecvError::NoRoom(error)),
        }
    }

    /// What an endpoint's error means for the channel; nothing, where it goes on. Who is gone is forgotten.
    fn trouble(&self, endpoint: &Endpoint, error: crate::RecvError) -> Option<Outcome<T>> {
        use crate::RecvError::{Cancelled, Closed, Empty, NoBuffer, Object, TimedOut, TooSmall};
        match error {
            Empty | Cancelled | TimedOut { .. } | TooSmall { .. } => None,
            NoBuffer { .. } | Object { .. } => Some(Err(RecvError::NoRoom(error))),
            Closed { .. } => {
                self.crew.remove(endpoint);
                self.crew.is_closed().then(|| self.closed())
            }
            source => self.crew.remove(endpoint).then(|| {
                Err(RecvError::Lost {
                    peer: endpoint.peer().clone(),
                    source,
                })
            }),
        }
    }

    fn closed(&self) -> Outcome<T> {
        Err(RecvError::Closed {
            address: self.address().clone(),
        })
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self {
            crew: self.crew.clone(),
            waits: self.waits.clone(),
            of: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receiver").field(&self.crew.address).finish()
    }
}

/// The next object; see [`Receiver::recv_async`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Receive<'r, T> {
    receiver: &'r Receiver<T>,
    /// By which the queue knows it once it waits.
    number: Option<u64>,
    /// It relies on the queue.
    sleeps: bool,
}

impl<T> Receive<'_, T> {
    fn awake(&mut self) {
        if std::mem::take(&mut self.sleeps) {
            self.receiver.crew.awake();
        }
    }
}

impl<T: Transportable + 'static> Future for Receive<'_, T> {
    type Output = Result<Received<T>, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let receiver = self.receiver;
        loop {
            self.awake();
            if let Some(outcome) = receiver.attempt() {
                return Poll::Ready(outcome);
            }
            let queue = receiver.queue();
            receiver.crew.post(queue);
            self.sleeps = true;
            match queue.poll_done_task(&mut self.number, context.waker()) {
                Ok(None) => return Poll::Pending,
                Ok(Some(done)) => {
                    self.awake();
                    if let Some(outcome) = receiver.take(done) {
                        return Poll::Ready(outcome);
                    }
                }
                Err(source) => return Poll::Ready(Err(RecvError::System { source })),
            }
        }
    }
}

impl<T> Drop for Receive<'_, T> {
    fn drop(&mut self) {
        self.awake();
        if let (Some(number), Some(queue)) = (self.number, &self.receiver.crew.queue) {
            queue.forget_task(number);
        }
    }
}

impl<T> fmt::Debug for Receive<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receive").finish_non_exhaustive()
    }
}

/// The objects of a channel, as they come. It ends when the channel is closed; what is wrong before that comes
/// as an item, and does not end it.
#[derive(Debug)]
pub struct Iter<'r, T> {
    receiver: &'r Receiver<T>,
}

impl<T: Transportable + 'static> Iterator for Iter<'_, T> {
    type Item = Result<Received<T>, RecvError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.receiver.recv() {
            Err(RecvError::Closed { .. }) => None,
            outcome => Some(outcome),
        }
    }
}

impl<'r, T: Transportable + 'static> IntoIterator for &'r Receiver<T> {
    type Item = Result<Received<T>, RecvError>;
    type IntoIter = Iter<'r, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
