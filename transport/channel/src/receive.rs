//! Objects that are being received.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use jstream::{Received, Restore, Transportable};

use super::error::RecvError;
use super::near::{NearLink, Parcel, restored};
use super::owned::Owned;
use super::receiver::Receiver;
use jstream_base::Address;

/// The form in which an object is received.
pub(super) trait ObjectForm<T: Transportable + 'static>: Sized {
    /// Converts the parcel of a sender in this process. If the pool has no room, the parcel is left
    /// in `kept`.
    fn of_parcel(
        parcel: Parcel<T>,
        link: &NearLink<T>,
        kept: &mut Option<Parcel<T>>,
    ) -> Result<Self, RecvError>;

    fn of_received(received: Received<T>, peer: &Address) -> Result<Self, RecvError>;
}

impl<T: Transportable + 'static> ObjectForm<T> for Received<T> {
    #[inline]
    fn of_parcel(
        parcel: Parcel<T>,
        link: &NearLink<T>,
        kept: &mut Option<Parcel<T>>,
    ) -> Result<Self, RecvError> {
        parcel.received(link.home(), kept)
    }

    #[inline]
    fn of_received(received: Received<T>, _: &Address) -> Result<Self, RecvError> {
        Ok(received)
    }
}

impl<T: Restore + 'static> ObjectForm<T> for Owned<T> {
    #[inline]
    fn of_parcel(
        parcel: Parcel<T>,
        link: &NearLink<T>,
        kept: &mut Option<Parcel<T>>,
    ) -> Result<Self, RecvError> {
        parcel.owned(link.home(), kept).map(Self)
    }

    fn of_received(received: Received<T>, peer: &Address) -> Result<Self, RecvError> {
        restored(&received, peer).map(Self)
    }
}

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

    fn awake(&mut self) {
        if std::mem::take(&mut self.sleeps) {
            self.receiver.crew.awake();
        }
    }

    pub(super) fn poll<O: ObjectForm<T>>(&mut self, waker: &Waker) -> Poll<Result<O, RecvError>> {
        let polled = self.look(waker);
        if polled.is_ready() {
            self.leave();
        }
        polled
    }

    /// Stops waiting. If this receive was woken for an object that it does not take, another one is
    /// woken.
    fn leave(&mut self) {
        let crew = &*self.receiver.crew;
        if crew.arrived.leave(&mut self.place) && crew.is_near_ready() {
            crew.arrived.ring();
        }
    }

    fn look<O: ObjectForm<T>>(&mut self, waker: &Waker) -> Poll<Result<O, RecvError>> {
        let receiver = self.receiver;
        let crew = &*receiver.crew;
        loop {
            self.awake();
            if let Some(outcome) = receiver.attempt(false) {
                return Poll::Ready(outcome);
            }
            let mut has_far = true;
            if crew.may_be_near {
                has_far = crew.has_far();
                let ready = || crew.is_near_ready() || crew.has_far() != has_far;
                if !crew.arrived.join(&mut self.place, waker, ready) {
                    continue;
                }
            }
            if !has_far {
                return Poll::Pending;
            }
            let queue = receiver.queue();
            crew.post(queue);
            self.sleeps = true;
            match queue.poll_done_task(&mut self.number, waker) {
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

impl<T: Transportable + 'static> Drop for ReceiveWait<'_, T> {
    fn drop(&mut self) {
        self.awake();
        let crew = &*self.receiver.crew;
        if let (Some(number), Some(queue)) = (self.number, &crew.queue) {
            queue.forget_task(number);
        }
        self.leave();
    }
}

/// Future of the next object; see [`Receiver::recv_async`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Receive<'r, T: Transportable + 'static>(ReceiveWait<'r, T>);

/// Future of the next object; see [`Receiver::recv_owned_async`].
#[must_use = "a future does nothing unless it is polled"]
pub struct ReceiveOwned<'r, T: Transportable + 'static>(ReceiveWait<'r, T>);

impl<'r, T: Transportable + 'static> Receive<'r, T> {
    pub(super) fn new(receiver: &'r Receiver<T>) -> Self {
        Self(ReceiveWait::new(receiver))
    }
}

impl<'r, T: Transportable + 'static> ReceiveOwned<'r, T> {
    pub(super) fn new(receiver: &'r Receiver<T>) -> Self {
        Self(ReceiveWait::new(receiver))
    }
}

impl<T: Transportable + 'static> Future for Receive<'_, T> {
    type Output = Result<Received<T>, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(context.waker())
    }
}

impl<T: Restore + 'static> Future for ReceiveOwned<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.0.poll::<Owned<T>>(context.waker());
        polled.map(|outcome| outcome.map(|Owned(object)| object))
    }
}

impl<T: Transportable + 'static> fmt::Debug for Receive<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receive").finish_non_exhaustive()
    }
}

impl<T: Transportable + 'static> fmt::Debug for ReceiveOwned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiveOwned").finish_non_exhaustive()
    }
}
