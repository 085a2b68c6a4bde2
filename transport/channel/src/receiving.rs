//! Receiving: blocking calls, futures and iterators.

use std::task::Poll;
use std::time::Duration;

use jstream::{Received, Transportable};

use super::error::RecvError;
use super::object_form::ObjectForm;
use super::receive::Receive;
use super::receive_wait::ReceiveWait;
use super::receiver::{Outcome, Receiver};
use jstream_device::deadline::Deadline;
use jstream_sync::parker::Parker;

impl<T: Transportable + 'static> Receiver<T> {
    /// Blocks until the next object arrives.
    ///
    /// # Errors
    ///
    /// [`RecvError::Closed`] if all senders have closed and everything was received;
    /// [`RecvError::Lost`] once for each lost sender; or another [`RecvError`].
    #[inline]
    pub fn recv(&self) -> Result<Received<T>, RecvError> {
        self.recv_as()
    }

    /// As [`recv`](Self::recv), but blocks for at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`] if no object arrived in time, or another [`RecvError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Received<T>, RecvError> {
        self.recv_as_within(timeout)
    }

    /// Returns the next object if it has arrived. Does not block.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`] if none has arrived, or another [`RecvError`].
    pub fn try_recv(&self) -> Result<Received<T>, RecvError> {
        self.try_recv_as()
    }

    /// Returns a future for the next object, for any runtime. Dropping the future loses no object.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv).
    pub fn recv_async(&self) -> Receive<'_, T> {
        Receive::new(self)
    }

    /// Returns an iterator over the objects, which ends when the channel is closed.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    #[inline]
    pub(super) fn recv_as<O: ObjectForm<T>>(&self) -> Outcome<O> {
        if let Some(outcome) = self.attempt(false) {
            return outcome;
        }
        let received = self.recv_until(Deadline::NEVER);
        received.unwrap_or_else(|| unreachable!("a receive without a deadline does not time out"))
    }

    pub(super) fn recv_as_within<O: ObjectForm<T>>(&self, timeout: Duration) -> Outcome<O> {
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

    pub(super) fn try_recv_as<O: ObjectForm<T>>(&self) -> Outcome<O> {
        self.attempt(true).unwrap_or(Err(RecvError::Empty))
    }

    fn recv_until<O: ObjectForm<T>>(&self, deadline: Deadline) -> Option<Outcome<O>> {
        let mut spin = self.begin_spin(deadline);
        let outcome = loop {
            if let Some(outcome) = self.attempt(false) {
                break Some(outcome);
            }
            if spin.may_continue() {
                continue;
            }
            let slept = if self.peers.may_be_near {
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
        self.end_spin(spin);
        outcome
    }

    /// Blocks in the completion queue, which reports the events of all connections. Returns `None`
    /// if the deadline has passed.
    #[allow(
        clippy::option_option,
        reason = "distinguishes a timeout from a wake-up without an object"
    )]
    fn sleep_in_queue<O: ObjectForm<T>>(&self, deadline: Deadline) -> Option<Option<Outcome<O>>> {
        let queue = self.queue();
        self.peers.post_receives(queue);
        let done = queue.wait_done(deadline);
        self.peers.end_sleep();
        Some(self.handle_completion(done?))
    }

    /// Blocks as a task does, so that senders of this process wake threads and tasks in the same
    /// way. Returns `None` if the deadline has passed.
    #[allow(
        clippy::option_option,
        reason = "distinguishes a timeout from a wake-up without an object"
    )]
    fn sleep<O: ObjectForm<T>>(&self, deadline: Deadline) -> Option<Option<Outcome<O>>> {
        let mut wait = ReceiveWait::new(self);
        let parker = Parker::of_thread();
        loop {
            if let Poll::Ready(outcome) = wait.poll(parker.waker()) {
                return Some(Some(outcome));
            }
            if deadline.has_passed() {
                return None;
            }
            parker.park(deadline.left());
        }
    }
}

/// Iterator over the objects of a channel. It ends when the channel is closed. Any other error is
/// returned as an item and does not end the iteration.
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
