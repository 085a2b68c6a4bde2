//! Futures of objects that are being received.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use jstream::{Received, Restore, Transportable};

use super::error::RecvError;
use super::object_form::Owned;
use super::receive_wait::ReceiveWait;
use super::receiver::Receiver;

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
