//! Objects that are found again after their connection was lost.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use jstream_base::Address;

use crate::interface::Interface;
use crate::reference::found::FoundObject;
use crate::session::Import;
use crate::support::CallError;

/// The source of an object that was found by its name.
///
/// An implementation connects and looks up the name in a thread of its own. So a call can wait for
/// the object as a thread or as a task.
pub(crate) trait Renewal: Send + Sync {
    /// Returns the object, if it is known over a connection that is open.
    fn known(&self) -> Option<FoundObject>;

    /// Begins to look for the object, if it is not known.
    fn begin(self: Arc<Self>);

    /// Polls for the object, and registers the waker under the key of the wait.
    fn poll(
        self: Arc<Self>,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<Result<FoundObject, RenewalError>>;

    /// Ends a wait before the object was found.
    fn cancel(&self, key: u64);

    /// Records that the peer of this object is shutting down, so that it must be found elsewhere.
    fn abandon(&self, import: &Import);

    /// Returns the time that a call waits at most.
    fn patience(&self) -> Duration;

    /// Returns the reason why the object is not known.
    fn failure(&self) -> RenewalError;

    /// Returns the interface of the object.
    fn interface(&self) -> &'static Interface;
}

/// The reason why an object was not found again.
#[derive(Debug)]
pub(crate) enum RenewalError {
    /// There is no connection, or nothing is bound to the name.
    Disconnected { address: Address, reason: String },
    /// The state of the object is lost.
    Lost { name: String },
}

impl RenewalError {
    pub(crate) fn of_call(self, method: &'static str) -> CallError {
        match self {
            Self::Disconnected { address, reason } => CallError::Disconnected {
                method,
                address,
                reason,
            },
            Self::Lost { name } => CallError::ObjectLost { method, name },
        }
    }
}

/// A wait of a call for its object.
pub(crate) struct RenewalWait {
    renewal: Arc<dyn Renewal>,
    key: Option<u64>,
    /// `None` if neither the call nor the client limits the time.
    until: Option<Instant>,
}

impl RenewalWait {
    /// Begins a wait that ends at the deadline of the call, or when its patience is over.
    pub(crate) fn new(renewal: Arc<dyn Renewal>, deadline: Option<Instant>) -> Self {
        let until = Instant::now().checked_add(renewal.patience());
        Self {
            renewal,
            key: None,
            until: [until, deadline].into_iter().flatten().min(),
        }
    }

    /// Returns the end of the wait.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.until
    }

    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<FoundObject, RenewalError>> {
        let polled = self.renewal.clone().poll(&mut self.key, context);
        let is_over = self.until.is_some_and(|until| until <= Instant::now());
        if polled.is_pending() && is_over {
            return Poll::Ready(Err(self.renewal.failure()));
        }
        polled
    }

    /// Returns the reason why the object is not known.
    pub(crate) fn failure(&self) -> RenewalError {
        self.renewal.failure()
    }
}

impl Drop for RenewalWait {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.renewal.cancel(key);
        }
    }
}
