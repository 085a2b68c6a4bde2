//! A direction of an endpoint, as a queue sees it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Wake, Waker};

use super::completion::{Done, RawOutcome};
use super::hub::{Hub, LOOKS};
use crate::endpoint::Endpoint;
use crate::ops::Sink;
use crate::receiving::Receipt;
use crate::sending::SendOutcome;
use crate::shared::{Half, Shared};

/// Sink for the completions of a direction, and its waker when the direction can make progress.
pub(super) struct QueueMember {
    hub: Arc<Hub>,
    half: Half,
    shared: Weak<Shared>,
    /// True while the direction is scheduled for a visit. Changes only under the lock of the hub.
    rung: AtomicBool,
    /// Number of polls without result. Changes only under the lock of the hub.
    vain: AtomicU8,
    held: Mutex<HeldCompletions>,
}

struct HeldCompletions {
    /// Keeps the connection alive while a completion was not taken, as a ticket does.
    endpoint: Option<Endpoint>,
    /// Number of operations that were posted and not taken.
    untaken: usize,
    /// True if nothing more is posted, and posted operations are no longer driven by this member.
    is_left: bool,
}

impl QueueMember {
    pub(super) fn new(hub: Arc<Hub>, endpoint: &Endpoint, half: Half) -> Arc<Self> {
        Arc::new(Self {
            hub,
            half,
            shared: Arc::downgrade(endpoint.shared()),
            rung: AtomicBool::new(false),
            vain: AtomicU8::new(0),
            held: Mutex::new(HeldCompletions {
                endpoint: None,
                untaken: 0,
                is_left: false,
            }),
        })
    }

    /// Sets the flag. Returns true if it has changed.
    pub(super) fn set_rung(&self, rung: bool) -> bool {
        self.rung.swap(rung, Ordering::Relaxed) != rung
    }

    /// Counts polls without result.
    pub(super) fn cool(&self, looks: u8) {
        let vain = self.vain.load(Ordering::Relaxed).saturating_add(looks);
        self.vain.store(vain, Ordering::Relaxed);
    }

    /// Resets the count after an operation was posted or a wake-up.
    pub(super) fn warm(&self) {
        self.vain.store(0, Ordering::Relaxed);
    }

    /// Returns true if the direction has had enough polls without result.
    pub(super) fn is_cool(&self) -> bool {
        self.vain.load(Ordering::Relaxed) >= LOOKS
    }

    /// Counts an operation that is about to be posted.
    pub(super) fn hold(&self, endpoint: &Endpoint) {
        let mut held = self.lock();
        held.untaken = held.untaken.saturating_add(1);
        held.endpoint.get_or_insert_with(|| endpoint.clone());
    }

    /// Takes an outcome and converts it to a raw completion.
    pub(super) fn take_completion(&self, user: u64, ended: RawOutcome) -> Done {
        let mut held = self.lock();
        held.untaken = held.untaken.saturating_sub(1);
        let endpoint = if held.untaken == 0 {
            held.endpoint.take()
        } else {
            held.endpoint.clone()
        };
        drop(held);
        // The last handle may end the connection, so it is dropped without the lock.
        match (ended, endpoint) {
            (RawOutcome::Sent(sent), _) => Done::Sent(user, sent),
            (RawOutcome::Received(receipt), endpoint) => {
                let Some(endpoint) = endpoint else {
                    unreachable!("the endpoint is held while a completion was not taken")
                };
                Done::Received(user, receipt, endpoint)
            }
        }
    }

    /// Drives the posted operations. Returns true if there is more to do. If `arms`, the member is
    /// registered to be woken for it.
    pub(super) fn visit(self: &Arc<Self>, arms: bool) -> bool {
        let held = self.lock();
        let endpoint = held.endpoint.clone().filter(|_| !held.is_left);
        drop(held);
        let Some(endpoint) = endpoint else {
            return false;
        };
        let (shared, place) = (endpoint.shared(), self.hub.watcher());
        let waker = arms.then(|| self.waker());
        let is_more = shared.progress(self.half, waker.as_ref(), Some(place));
        // If the queue left the direction meanwhile, it may have looked for the waker before it was
        // registered.
        match waker {
            Some(waker) if self.lock().is_left => {
                shared.forget_watching(&waker);
                false
            }
            _ => is_more,
        }
    }

    /// Detaches the member from its queue.
    pub(super) fn detach(self: &Arc<Self>) {
        let mut held = self.lock();
        held.is_left = true;
        let endpoint = held.endpoint.take();
        drop(held);
        if let Some(endpoint) = endpoint {
            self.withdraw(&endpoint);
        }
    }

    /// Cancels the posted operations that have not completed. The connection is kept alive until
    /// the completed ones are taken.
    pub(super) fn give_up(self: &Arc<Self>) {
        let mut held = self.lock();
        held.is_left = true;
        let endpoint = held.endpoint.clone();
        drop(held);
        let Some(endpoint) = endpoint else {
            return;
        };
        let given_up = self.withdraw(&endpoint);
        let mut held = self.lock();
        held.untaken = held.untaken.saturating_sub(given_up);
        let kept = (held.untaken == 0).then(|| held.endpoint.take());
        drop(held);
        drop(kept);
    }

    /// Cancels the posted operations. Returns their number.
    fn withdraw(self: &Arc<Self>, endpoint: &Endpoint) -> usize {
        let sink: Arc<dyn Sink> = self.clone();
        let shared = endpoint.shared();
        shared.forget_sink(self.half, &sink, &self.waker())
    }

    /// Returns true if the connection is closed.
    pub(super) fn is_over(&self) -> bool {
        self.shared.strong_count() == 0
    }

    /// Returns the number of operations that were posted and not taken.
    pub(super) fn untaken(&self) -> usize {
        self.lock().untaken
    }

    fn waker(self: &Arc<Self>) -> Waker {
        self.clone().into()
    }

    /// Locks the state. Poisoning is ignored, because the state is consistent after every
    /// statement.
    fn lock(&self) -> MutexGuard<'_, HeldCompletions> {
        jstream_sync::lock(&self.held)
    }
}

impl Wake for QueueMember {
    fn wake(self: Arc<Self>) {
        Hub::ring(&self.hub.clone(), self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.hub.ring(self.clone());
    }
}

impl Sink for QueueMember {
    fn sent(self: Arc<Self>, user: u64, sent: SendOutcome) {
        self.hub
            .clone()
            .complete(self, user, RawOutcome::Sent(sent));
    }

    fn received(self: Arc<Self>, user: u64, receipt: Receipt) {
        self.hub
            .clone()
            .complete(self, user, RawOutcome::Received(receipt));
    }
}
