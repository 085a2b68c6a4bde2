//! The side that receives.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use jstream::{Received, Transportable};

use super::crew::Crew;
use super::error::RecvError;
use super::near::{Link, Parcel};
use super::peers::{Sight, Way};
use super::receive::{Receive, Taken, Wait};
use crate::active::parker::Parker;
use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::endpoint::object::{object_of, read};
use crate::endpoint::queue::Done;
use crate::endpoint::spin::Spin;
use crate::endpoint::{CompletionQueue, Endpoint, Message, RecvObjectError};
use crate::header::Header;

/// After how many objects in a row of some senders the others are looked at, too.
const IN_A_ROW: u32 = 64;

type Outcome<O> = Result<O, RecvError>;

/// The side of a channel that receives. Clones, and any number of threads and tasks, receive from the same
/// senders: each object is one's.
///
/// What one sender has sent comes in that order, and senders take turns. While objects come fast, they are
/// taken from the connections as they are asked for; a receiver that sleeps does so for all senders at once.
///
/// When the last clone is dropped the senders are told; what they have sent and nobody has received is lost.
pub struct Receiver<T: Transportable + 'static> {
    pub(super) crew: Arc<Crew<T>>,
    waits: Arc<Waits>,
}

/// How the handles wait.
#[derive(Debug)]
struct Waits {
    /// How waits have ended lately.
    habit: AtomicU8,
    /// How many objects were taken without a look at the queue.
    in_a_row: AtomicU32,
}

impl<T: Transportable + 'static> Receiver<T> {
    pub(super) fn new(crew: Arc<Crew<T>>) -> Self {
        Self {
            crew,
            waits: Arc::new(Waits {
                habit: AtomicU8::new(0),
                in_a_row: AtomicU32::new(0),
            }),
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
    #[inline]
    pub fn recv(&self) -> Result<Received<T>, RecvError> {
        self.recv_as()
    }

    /// As [`recv`](Self::recv), for so long at most.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`] then, or another [`RecvError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Received<T>, RecvError> {
        self.recv_as_within(timeout)
    }

    /// The next object, if it is here.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`] when it is not, or another [`RecvError`].
    pub fn try_recv(&self) -> Result<Received<T>, RecvError> {
        self.try_recv_as()
    }

    /// The next object, as a future of any runtime. Dropping it loses none.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv).
    pub fn recv_async(&self) -> Receive<'_, T> {
        Receive::new(self)
    }

    /// The objects that come, until the channel is closed.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    #[inline]
    pub(super) fn recv_as<O: Taken<T>>(&self) -> Outcome<O> {
        if let Some(outcome) = self.attempt(false) {
            return outcome;
        }
        let received = self.recv_until(Deadline::NEVER);
        received.unwrap_or_else(|| unreachable!("nothing is late that may take for ever"))
    }

    pub(super) fn recv_as_within<O: Taken<T>>(&self, timeout: Duration) -> Outcome<O> {
        if let Some(outcome) = self.attempt(false) {
            return outcome;
        }
        let received = self.recv_until(Deadline::after(timeout));
        received.unwrap_or_else(|| {
            Err(RecvError::TimedOut {
                after: timeout,
                address: self.address().clone(),
            })
        })
    }

    pub(super) fn try_recv_as<O: Taken<T>>(&self) -> Outcome<O> {
        self.attempt(true).unwrap_or(Err(RecvError::Empty))
    }

    fn recv_until<O: Taken<T>>(&self, deadline: Deadline) -> Option<Outcome<O>> {
        let mut spin = self.begin(deadline);
        let outcome = loop {
            if let Some(outcome) = self.attempt(false) {
                break Some(outcome);
            }
            if spin.again() {
                continue;
            }
            let slept = if self.crew.may_be_near {
                self.sleep(deadline)
            } else {
                self.sleep_in_queue(deadline)
            };
            spin.has_slept();
            match slept {
                Some(None) => {}
                Some(outcome) => break outcome,
                None => return self.attempt(true),
            }
        };
        self.end(spin);
        outcome
    }

    /// Sleeps in the queue, where all connections tell of what comes; `None` when the time is over.
    #[allow(
        clippy::option_option,
        reason = "nothing has come, or there is another reason to look"
    )]
    fn sleep_in_queue<O: Taken<T>>(&self, deadline: Deadline) -> Option<Option<Outcome<O>>> {
        let queue = self.queue();
        self.crew.post(queue);
        let done = queue.wait_done(deadline);
        self.crew.awake();
        Some(self.take(done?))
    }

    /// Sleeps as a task does: senders of this process wake one as the other.
    #[allow(
        clippy::option_option,
        reason = "nothing has come, or there is another reason to look"
    )]
    fn sleep<O: Taken<T>>(&self, deadline: Deadline) -> Option<Option<Outcome<O>>> {
        let mut wait = Wait::new(self);
        let parker = Parker::of_thread();
        loop {
            if let Poll::Ready(outcome) = wait.poll(parker.waker()) {
                return Some(Some(outcome));
            }
            if deadline.has_passed() {
                return None;
            }
            parker.park(deadline);
        }
    }

    fn begin(&self, deadline: Deadline) -> Spin {
        let habit = self.waits.habit.load(Ordering::Relaxed);
        Spin::begin(self.crew.options.spin, habit, deadline)
    }

    fn end(&self, spin: Spin) {
        let mut habit = self.waits.habit.load(Ordering::Relaxed);
        spin.end(&mut habit);
        self.waits.habit.store(habit, Ordering::Relaxed);
    }

    pub(super) fn queue(&self) -> &CompletionQueue {
        let Some(queue) = &self.crew.queue else {
            unreachable!("a side that receives has a queue")
        };
        queue
    }

    /// What is here now: of those without a posted receive from their connections, of others from the queue. Of
    /// senders in this process nothing is overlooked, if it should be `settled` that nothing was there before.
    #[inline]
    pub(super) fn attempt<O: Taken<T>>(&self, settled: bool) -> Option<Outcome<O>> {
        if let Some(link) = self.crew.alone() {
            if let Some(parcel) = if settled {
                link.take_settled()
            } else {
                link.take()
            } {
                return Some(Self::unpack(parcel, link));
            }
            if !link.has_ended() {
                return None;
            }
        }
        self.attempt_all(settled)
    }

    fn attempt_all<O: Taken<T>>(&self, settled: bool) -> Option<Outcome<O>> {
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
        for way in std::iter::once(first).chain(others).flatten() {
            let outcome = match &way {
                Way::Far(endpoint) => self.look(endpoint),
                Way::Near(link) => self.look_near(link, settled),
            };
            if let Some(outcome) = outcome {
                let in_a_row = &self.waits.in_a_row;
                let more = in_a_row.load(Ordering::Relaxed).saturating_add(1);
                in_a_row.store(more, Ordering::Relaxed);
                return Some(outcome);
            }
        }
        if is_posted { self.poll_queue() } else { None }
    }

    #[inline]
    fn unpack<O: Taken<T>>(parcel: Parcel<T>, link: &Link<T>) -> Outcome<O> {
        let mut kept = None;
        let outcome = O::of_parcel(parcel, link, &mut kept);
        if let Some(parcel) = kept {
            link.keep(parcel);
        }
        outcome
    }

    /// What is here of a sender in this process. One that has ended sends no more, but what it has sent is there.
    fn look_near<O: Taken<T>>(&self, link: &Arc<Link<T>>, settled: bool) -> Option<Outcome<O>> {
        let has_ended = link.has_ended();
        let parcel = if settled || has_ended {
            link.take_settled()
        } else {
            link.take()
        };
        if let Some(parcel) = parcel {
            return Some(Self::unpack(parcel, link));
        }
        if has_ended {
            self.crew.remove(&Way::Near(link.clone()));
            return self.crew.is_closed().then(|| self.closed());
        }
        None
    }

    /// What is here of one sender.
    fn look<O: Taken<T>>(&self, endpoint: &Endpoint) -> Option<Outcome<O>> {
        let shared = endpoint.shared();
        let (mut message, mut more) = (Message::nothing(), None);
        if !shared.look(&mut message, &mut more) {
            return None;
        }
        let object = match more {
            None => read(message, shared),
            Some(Ok(arrived)) => object_of(arrived, shared),
            Some(Err(error)) => return self.trouble(endpoint, error),
        };
        Some(self.outcome(object))
    }

    fn poll_queue<O: Taken<T>>(&self) -> Option<Outcome<O>> {
        self.waits.in_a_row.store(0, Ordering::Relaxed);
        while let Some(done) = self.queue().poll_done() {
            if let Some(outcome) = self.take(done) {
                return Some(outcome);
            }
        }
        None
    }

    /// What came from the queue, if it is something.
    pub(super) fn take<O: Taken<T>>(&self, done: Done) -> Option<Outcome<O>> {
        match done {
            Done::Received(_, receipt, endpoint) => {
                self.crew.taken(&endpoint, receipt.is_ok(), self.queue());
                match receipt {
                    Ok(arrived) => Some(self.outcome(object_of(arrived, endpoint.shared()))),
                    Err(missed) => self.trouble(&endpoint, missed.error),
                }
            }
            Done::Sent(..) => None,
            Done::Called => self.crew.called(self.queue()).then(|| self.closed()),
        }
    }

    fn outcome<O: Taken<T>>(
        &self,
        read: Result<(Header, Received<T>), RecvObjectError>,
    ) -> Outcome<O> {
        match read {
            Ok((_, received)) => O::of_received(received, self.address()),
            Err(RecvObjectError::Read { peer, source, .. }) => {
                Err(RecvError::Read { peer, source })
            }
            Err(RecvObjectError::Receive(error)) => Err(RecvError::NoRoom(error)),
        }
    }

    /// What an endpoint's error means for the channel; nothing, where it goes on. Who is gone is forgotten.
    fn trouble<O>(&self, endpoint: &Endpoint, error: crate::RecvError) -> Option<Outcome<O>> {
        use crate::RecvError::{Cancelled, Closed, Empty, NoBuffer, Object, TimedOut, TooSmall};
        match error {
            Empty | Cancelled | TimedOut { .. } | TooSmall { .. } => None,
            NoBuffer { .. } | Object { .. } => Some(Err(RecvError::NoRoom(error))),
            Closed { .. } => {
                self.crew.remove(&Way::Far(endpoint.clone()));
                self.crew.is_closed().then(|| self.closed())
            }
            source => self.crew.remove(&Way::Far(endpoint.clone())).then(|| {
                Err(RecvError::Lost {
                    peer: endpoint.peer().clone(),
                    source,
                })
            }),
        }
    }

    fn closed<O>(&self) -> Outcome<O> {
        Err(RecvError::Closed {
            address: self.address().clone(),
        })
    }
}

impl<T: Transportable + 'static> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self {
            crew: self.crew.clone(),
            waits: self.waits.clone(),
        }
    }
}

impl<T: Transportable + 'static> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receiver").field(&self.crew.address).finish()
    }
}

/// The objects of a channel, as they come. It ends when the channel is closed; what is wrong before that comes
/// as an item, and does not end it.
#[derive(Debug)]
pub struct Iter<'r, T: Transportable + 'static> {
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
