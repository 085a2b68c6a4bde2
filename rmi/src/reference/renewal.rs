//! Objects that are found again after their connection was lost, or that several servers have.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use jstream_base::Address;

use crate::interface::{Interface, MethodMap};
use crate::reference::found::FoundObject;
use crate::reference::load::{CallEffect, MemberLoad};
use crate::session::{CallLayers, Connection, Import};
use crate::support::CallError;

/// The source of an object that was found by its name, at one server or at several.
///
/// An implementation connects and looks up the name in a thread of its own. So a call can wait for
/// the object as a thread or as a task.
pub(crate) trait Renewal: Send + Sync {
    /// Returns the object, if it is known over a connection that is open. If several servers have
    /// it, chooses one of them.
    fn known(&self) -> Option<RenewedObject>;

    /// Begins to look for the object, if it is not known.
    fn begin(self: Arc<Self>);

    /// Polls for the object, and registers the waker under the key of the wait.
    fn poll(
        self: Arc<Self>,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<Result<RenewedObject, RenewalError>>;

    /// Ends a wait before the object was found.
    fn cancel(&self, key: u64);

    /// Records that the peer of this object is shutting down, so that it must be found elsewhere.
    fn abandon(&self, import: &Import);

    /// Returns true if several servers may have the object, so that a call which one of them has
    /// refused can be made at another one.
    fn has_alternatives(&self) -> bool {
        false
    }

    /// Records that a server is busy and has refused a call. It may have said for how long.
    fn avoid(&self, _: &Import, _: Option<Duration>) {}

    /// Returns the time until which all servers that may have the object ask for no more calls, if
    /// they do.
    fn rests_until(&self) -> Option<Instant> {
        None
    }

    /// Records that a server no longer has the object, so that it must be looked up again.
    fn lose(&self, _: &Import) {}

    /// Takes one repetition of a call that has reached a server from the budget. Returns false if
    /// there is none left.
    fn takes_repetition(&self) -> bool {
        true
    }

    /// Returns true if calls are also made at another server if they have no answer for long.
    fn hedges(&self) -> bool {
        false
    }

    /// Returns the time after which a call of the method at this index that has no answer yet is
    /// also made at another server. `None` if it is not.
    fn hedge_delay(&self, _: usize) -> Option<Duration> {
        None
    }

    /// Records the time after which a call of the method at this index was answered, if it could
    /// have been made at another server.
    fn record_latency(&self, _: usize, _: Duration) {}

    /// Returns the object at another server than this one, for a second attempt of a call. Takes a
    /// repetition from the budget.
    fn alternative(&self, _: &Import) -> Option<RenewedObject> {
        None
    }

    /// Returns the layers around calls of the object, if there are any.
    fn layers(&self) -> Option<CallLayers>;

    /// Returns the time that a call waits at most, over all its repetitions.
    fn patience(&self) -> Duration;

    /// Returns the reason why the object is not known.
    fn failure(&self) -> RenewalError;

    /// Returns the interface of the object.
    fn interface(&self) -> &'static Interface;
}

/// The reason why an object was not found again.
#[derive(Debug, Clone)]
pub(crate) enum RenewalError {
    /// There is no connection, or nothing is bound to the name.
    Disconnected { address: Address, reason: String },
    /// The state of the object is lost.
    Lost { name: String },
    /// The recipe by which the object is acquired has failed.
    NotAcquired { reason: String },
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
            Self::NotAcquired { reason } => CallError::NotGiven { method, reason },
        }
    }
}

/// A wait of a call for its object.
pub(crate) struct RenewalWait {
    renewal: Arc<dyn Renewal>,
    key: Option<u64>,
    begun: Instant,
    /// `None` if neither the call nor the client limits the time.
    until: Option<Instant>,
}

impl RenewalWait {
    /// Begins a wait that ends at the deadline of the call, or when the rest of its patience is
    /// over.
    pub(crate) fn new(
        renewal: Arc<dyn Renewal>,
        patience: Duration,
        deadline: Option<Instant>,
    ) -> Self {
        let begun = Instant::now();
        let until = begun.checked_add(patience);
        Self {
            renewal,
            key: None,
            begun,
            until: [until, deadline].into_iter().flatten().min(),
        }
    }

    /// Returns the time since the wait began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Returns the end of the wait.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.until
    }

    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<RenewedObject, RenewalError>> {
        // Polled before the time is compared, so that an object which is there is returned after
        // any wait.
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

/// An object at one member of a set. A call of it needs only this handle, so that it counts one
/// reference, like a call of an object of a single server.
pub(crate) struct MemberObject {
    found: FoundObject,
    source: Arc<dyn Renewal>,
    load: Arc<MemberLoad>,
}

impl MemberObject {
    pub(crate) fn new(found: FoundObject, source: Arc<dyn Renewal>, load: Arc<MemberLoad>) -> Self {
        Self {
            found,
            source,
            load,
        }
    }

    pub(crate) fn import(&self) -> &Arc<Import> {
        &self.found.import
    }

    /// Returns the methods of the object if its interface has another version.
    pub(crate) fn methods(&self) -> Option<&Arc<MethodMap>> {
        self.found.methods.as_ref()
    }

    /// Returns the connection, and the number of the object.
    pub(crate) fn destination(&self) -> Option<(&Connection, u32)> {
        let import = self.import();
        Some((import.connection(), import.number()))
    }

    /// Returns the set's object, which finds it at other members.
    pub(crate) fn source(&self) -> &Arc<dyn Renewal> {
        &self.source
    }

    pub(crate) fn load(&self) -> &MemberLoad {
        &self.load
    }

    /// Returns true if calls may be made over the connection, as far as that is known.
    pub(crate) fn is_open(&self) -> bool {
        !self.import().connection().peer().is_retired()
    }
}

/// An object that was found again, or chosen for a call.
pub(crate) enum RenewedObject {
    /// The object of the only server that may have it.
    Single(FoundObject),
    Member {
        object: Arc<MemberObject>,
        /// True if the call counts for the load of the member. It need not if there is no choice.
        is_counted: bool,
        /// True if only this member may have the object, so that its source is not used.
        is_pinned: bool,
    },
}

/// Guard of a call of a set's object: keeps the object, and ends the count of the call.
pub(crate) struct CountedCall {
    object: Arc<MemberObject>,
    /// The beginning of the call, if it counts.
    since: Option<Instant>,
    effect: CallEffect,
}

impl CountedCall {
    pub(crate) fn new(object: Arc<MemberObject>, is_counted: bool) -> Self {
        Self {
            // Counted when the handle is made, before the call is sent, so that threads which
            // choose at the same time see each other.
            since: is_counted.then(|| object.load.begin()),
            object,
            // The common end needs no call of `record`.
            effect: CallEffect::Answered,
        }
    }

    pub(crate) fn object(&self) -> &MemberObject {
        &self.object
    }

    /// Records that the server no longer has the object.
    pub(crate) fn lose_object(&self) {
        self.object.source.lose(self.object.import());
    }

    /// Records the end of a call that is not answered, or takes as long as its streams.
    pub(crate) fn record(&mut self, effect: CallEffect) {
        self.effect = effect;
    }
}

impl Drop for CountedCall {
    fn drop(&mut self) {
        if let Some(since) = self.since {
            self.object.load.end(since, self.effect);
        }
    }
}
