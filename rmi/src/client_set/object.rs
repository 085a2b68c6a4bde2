//! The source of the object of a set's stub: a member for each call.

use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use jstream_base::Address;

use crate::client_set::choices::SetName;
use crate::client_set::core::SetCore;
use crate::client_set::counters::count_hedge;
use crate::interface::Interface;
use crate::reference::{MemberObject, Renewal, RenewalError, RenewedObject};
use crate::session::{CallLayers, Import};

/// An object that any member may have. Calls in flight do not keep the set.
pub(super) struct SetObject {
    state: Weak<SetCore>,
    name: Arc<SetName>,
    /// The address that stands for the set in errors.
    address: Address,
    patience: Duration,
}

impl SetObject {
    pub(super) fn new(state: &Arc<SetCore>, name: Arc<SetName>) -> Self {
        Self {
            state: Arc::downgrade(state),
            name,
            address: state.address.clone(),
            patience: state.options.reconnect().patience,
        }
    }

    /// Polls for a member, which `choose` chooses.
    fn poll_with(
        &self,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
        choose: impl Fn() -> Option<RenewedObject>,
    ) -> Poll<Result<RenewedObject, RenewalError>> {
        if let Some(found) = choose() {
            return Poll::Ready(Ok(found));
        }
        // All handles and stubs are gone, so no member will be found.
        let Some(state) = self.state.upgrade() else {
            return Poll::Ready(Err(self.failure()));
        };
        state.register(key, context.waker());
        // It may have been found before the waker was registered.
        if let Some(found) = choose() {
            return Poll::Ready(Ok(found));
        }
        match state.is_closed() || state.refusal(&self.name).is_some() {
            true => Poll::Ready(Err(self.failure())),
            false => Poll::Pending,
        }
    }
}

impl Renewal for SetObject {
    fn layers(&self) -> Option<CallLayers> {
        let state = self.state.upgrade()?;
        state.options.client.interceptors.layers().cloned()
    }

    fn known(&self) -> Option<RenewedObject> {
        self.name.choose()
    }

    fn begin(self: Arc<Self>) {
        // The thread of the set looks for members all the time.
    }

    fn poll(
        self: Arc<Self>,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<Result<RenewedObject, RenewalError>> {
        self.poll_with(key, context, || self.name.choose())
    }

    fn cancel(&self, key: u64) {
        if let Some(state) = self.state.upgrade() {
            state.cancel(key);
        }
    }

    fn abandon(&self, import: &Import) {
        import.connection().retire();
        if let Some(state) = self.state.upgrade() {
            state.signal.wake_thread();
        }
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn avoid(&self, import: &Import, retry_after: Option<Duration>) {
        if let Some(state) = self.state.upgrade() {
            state.avoid(import, retry_after);
        }
    }

    fn rests_until(&self) -> Option<Instant> {
        self.name.rests_until(Instant::now())
    }

    fn lose(&self, import: &Import) {
        if let Some(state) = self.state.upgrade() {
            state.forget(&self.name, import);
        }
    }

    fn takes_repetition(&self) -> bool {
        let state = self.state.upgrade();
        state.is_some_and(|state| state.takes_repetition())
    }

    fn hedges(&self) -> bool {
        self.name.hedges()
    }

    fn hedge_delay(&self, method: usize) -> Option<Duration> {
        self.name.hedge_delay(method)
    }

    fn record_latency(&self, method: usize, took: Duration) {
        self.name.record_latency(method, took);
    }

    fn alternative(&self, first: &Import) -> Option<RenewedObject> {
        let state = self.state.upgrade()?;
        let other = self.name.choose_other(first)?;
        // Asked last, because asking takes from the budget.
        if !state.takes_repetition() {
            return None;
        }
        count_hedge(&self.address);
        Some(other)
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn failure(&self) -> RenewalError {
        let reason = match self.state.upgrade() {
            Some(state) => state.failure(&self.name),
            None => "the program has dropped the set and its stubs".to_owned(),
        };
        RenewalError::Disconnected {
            address: self.address.clone(),
            reason,
        }
    }

    fn interface(&self) -> &'static Interface {
        self.name.interface
    }
}

/// An object at the member that a key leads to.
pub(super) struct PinnedObject {
    object: SetObject,
    key: u64,
    /// The object that has the state, if the trait is declared stateful.
    owner: OnceLock<Weak<MemberObject>>,
}

impl PinnedObject {
    pub(super) fn new(state: &Arc<SetCore>, name: Arc<SetName>, key: u64) -> Self {
        Self {
            object: SetObject::new(state, name),
            key,
            owner: OnceLock::new(),
        }
    }

    fn choose(&self) -> Option<RenewedObject> {
        if !self.object.name.interface.is_stateful() {
            return self.object.name.choose_by(self.key);
        }
        if self.owner.get().is_none() {
            if let RenewedObject::Member { object, .. } = self.object.name.choose_by(self.key)? {
                // Another thread may have chosen meanwhile.
                let _ = self.owner.set(Arc::downgrade(&object));
            }
        }
        let object = self.owner.get()?.upgrade()?;
        object.is_open().then_some(RenewedObject::Member {
            object,
            is_counted: true,
            is_pinned: true,
        })
    }

    /// Returns the error of an object whose state is lost.
    fn loss(&self) -> Option<RenewalError> {
        let owner = self.owner.get()?.upgrade();
        let is_lost = owner.is_none_or(|owner| !owner.is_open());
        is_lost.then(|| RenewalError::Lost {
            name: self.object.name.name.clone(),
        })
    }
}

impl Renewal for PinnedObject {
    fn layers(&self) -> Option<CallLayers> {
        self.object.layers()
    }

    fn known(&self) -> Option<RenewedObject> {
        self.choose()
    }

    fn begin(self: Arc<Self>) {}

    fn poll(
        self: Arc<Self>,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<Result<RenewedObject, RenewalError>> {
        match self.loss() {
            Some(lost) => Poll::Ready(Err(lost)),
            None => self.object.poll_with(key, context, || self.choose()),
        }
    }

    fn cancel(&self, key: u64) {
        self.object.cancel(key);
    }

    fn abandon(&self, import: &Import) {
        self.object.abandon(import);
    }

    fn has_alternatives(&self) -> bool {
        !self.object.name.interface.is_stateful()
    }

    fn avoid(&self, import: &Import, retry_after: Option<Duration>) {
        self.object.avoid(import, retry_after);
    }

    /// The key leads to one member, whatever the others have asked for.
    fn rests_until(&self) -> Option<Instant> {
        match self.choose()? {
            RenewedObject::Member { object, .. } => object.load().rests_until(Instant::now()),
            RenewedObject::Single(_) => None,
        }
    }

    fn lose(&self, import: &Import) {
        self.object.lose(import);
    }

    fn takes_repetition(&self) -> bool {
        self.object.takes_repetition()
    }

    fn patience(&self) -> Duration {
        self.object.patience()
    }

    fn failure(&self) -> RenewalError {
        self.loss().unwrap_or_else(|| self.object.failure())
    }

    fn interface(&self) -> &'static Interface {
        self.object.interface()
    }
}
