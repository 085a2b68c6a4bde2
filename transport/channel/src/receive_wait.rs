//! A receive that waits and is woken.
//!
//! Decision 031 has the reasons.

use std::task::{Poll, Waker};

use jstream::Transportable;

use super::error::RecvError;
use super::object_form::ObjectForm;
use super::receiver::Receiver;

/// A receive that waits and is woken.
pub(super) struct ReceiveWait<'r, T: Transportable + 'static> {
    receiver: &'r Receiver<T>,
    /// Key of this receive in the completion queue while it waits there.
    number: Option<u64>,
    /// True while the receive is counted as sleeping.
    sleeps: bool,
    /// Key of this receive among those that wait for senders of this process.
    place: Option<u64>,
}

impl<'r, T: Transportable + 'static> ReceiveWait<'r, T> {
    pub(super) fn new(receiver: &'r Receiver<T>) -> Self {
        Self {
            receiver,
            number: None,
            sleeps: false,
            place: None,
        }
    }

    fn end_sleep(&mut self) {
        if std::mem::take(&mut self.sleeps) {
            self.receiver.peers.end_sleep();
        }
    }

    pub(super) fn poll<O: ObjectForm<T>>(&mut self, waker: &Waker) -> Poll<Result<O, RecvError>> {
        let polled = self.poll_receive(waker);
        if polled.is_ready() {
            self.leave_queue();
        }
        polled
    }

    /// Stops waiting. If this receive was woken for an object that it does not take, another one is
    /// woken.
    fn leave_queue(&mut self) {
        let peers = &*self.receiver.peers;
        if peers.arrived.leave(&mut self.place) && peers.is_near_ready() {
            peers.arrived.notify_one();
        }
    }

    fn poll_receive<O: ObjectForm<T>>(&mut self, waker: &Waker) -> Poll<Result<O, RecvError>> {
        let receiver = self.receiver;
        let peers = &*receiver.peers;
        loop {
            self.end_sleep();
            if let Some(outcome) = receiver.attempt(false) {
                return Poll::Ready(outcome);
            }
            let mut has_far = true;
            if peers.may_be_near {
                has_far = peers.has_far();
                let ready = || peers.is_near_ready() || peers.has_far() != has_far;
                if !peers.arrived.join(&mut self.place, waker, ready) {
                    continue;
                }
            }
            if !has_far {
                return Poll::Pending;
            }
            let queue = receiver.queue();
            peers.post_receives(queue);
            self.sleeps = true;
            match queue.poll_done_task(&mut self.number, waker) {
                Ok(None) => return Poll::Pending,
                Ok(Some(done)) => {
                    self.end_sleep();
                    if let Some(outcome) = receiver.handle_completion(done) {
                        return Poll::Ready(outcome);
                    }
                }
                Err(source) => return Poll::Ready(Err(RecvError::System { source })),
            }
        }
    }
}

impl<T: Transportable + 'static> Drop for ReceiveWait<'_, T> {
    fn drop(&mut self) {
        self.end_sleep();
        let peers = &*self.receiver.peers;
        if let (Some(number), Some(queue)) = (self.number, &peers.queue) {
            queue.forget_task(number);
        }
        self.leave_queue();
    }
}
