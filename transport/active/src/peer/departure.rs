//! One-way messages that may wait for credit.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Peer;
use crate::error::RequestError;
use crate::link::{Turn, waiting};
use crate::ticket::Waiting;
use jstream_device::deadline::Deadline;

/// A one-way message that is on its way or queued until there is credit; see
/// [`Peer::send_with`]. As a future, it is ready when the message is on its way. If it is dropped
/// while the message is queued, the message is not sent.
#[derive(Default)]
#[must_use = "a message that is queued when this is dropped is not sent"]
pub struct Departure {
    queued: Option<QueuedMessage>,
}

struct QueuedMessage {
    peer: Peer,
    phase: Turn,
    waiting: Waiting,
}

impl Departure {
    pub(super) fn queued(peer: Peer, phase: Turn) -> Self {
        let waiting = Waiting::default();
        Self {
            queued: Some(QueuedMessage {
                peer,
                phase,
                waiting,
            }),
        }
    }

    /// Waits until the message is on its way, without a limit of time, and serves meanwhile.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
    pub fn wait(self) -> Result<(), RequestError> {
        let Some(QueuedMessage {
            peer, mut phase, ..
        }) = self.queued
        else {
            return Ok(());
        };
        let link = &peer.link;
        let gone = waiting::wait(link, None, Deadline::NEVER, |_, waker| match link.check() {
            Ok(()) => phase.collect(waker),
            Err(forked) => Some(Err(forked)),
        });
        match gone {
            Some(gone) => gone.map(drop),
            None => unreachable!("a wait without a deadline does not time out"),
        }
    }
}

impl Future for Departure {
    type Output = Result<(), RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(QueuedMessage {
            peer,
            phase,
            waiting,
        }) = &mut self.queued
        else {
            return Poll::Ready(Ok(()));
        };
        loop {
            peer.link.check()?;
            if let Some(gone) = phase.collect(Some(context.waker())) {
                self.queued = None;
                return Poll::Ready(gone.map(drop));
            }
            if !waiting.attend(&peer.link, context.waker()) {
                return Poll::Pending;
            }
        }
    }
}

impl fmt::Debug for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Departure")
            .field("is_queued", &self.queued.is_some())
            .finish()
    }
}
