//! A direction of an endpoint, as a queue sees it.
//!
//! Decision 132 has the reasons.

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

/// The task of a queue at a direction of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum MemberKind {
    /// The queue drives the operations that are posted to the direction, and gets their outcomes.
    Completion(Half),
    /// The queue reports that a message may have arrived. Its owner receives the message.
    Readiness,
}

/// Sink for the completions of a direction, and its waker when the direction can make progress.
pub(super) struct QueueMember {
    hub: Arc<Hub>,
    kind: MemberKind,
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
}

impl QueueMember {
    pub(super) fn new(hub: Arc<Hub>, endpoint: &Endpoint, kind: MemberKind) -> Arc<Self> {
        Arc::new(Self {
            hub,
            kind,
            shared: Arc::downgrade(endpoint.shared()),
            rung: AtomicBool::new(false),
            vain: AtomicU8::new(0),
            held: Mutex::new(HeldCompletions {
                endpoint: None,
                untaken: 0,
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

    /// Returns true if the queue reports messages of the connection instead of receiving them.
    #[inline]
    pub(super) fn reports_readiness(&self) -> bool {
        self.kind == MemberKind::Readiness
    }

    /// Returns the connection, unless it was dropped.
    #[inline]
    pub(super) fn connection(&self) -> Option<Arc<Shared>> {
        self.shared.upgrade()
    }

    /// Counts an operation that is about to be posted.
    pub(super) fn hold(&self, endpoint: &Endpoint) {
        let mut held = self.lock();
        held.untaken = held.untaken.saturating_add(1);
        // Held from the post to the take, because the program may drop its endpoint in between.
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
        let MemberKind::Completion(half) = self.kind else {
            return false;
        };
        let endpoint = self.lock().endpoint.clone();
        let Some(endpoint) = endpoint else {
            return false;
        };
        let waker = arms.then(|| self.waker());
        let watcher = Some(self.hub.watcher());
        endpoint.shared().progress(half, waker.as_ref(), watcher)
    }

    /// Detaches the member from its queue.
    pub(super) fn detach(self: &Arc<Self>) {
        if self.reports_readiness() {
            return self.disarm();
        }
        let endpoint = self.lock().endpoint.take();
        if let Some(endpoint) = endpoint {
            self.withdraw(&endpoint);
        }
    }

    /// Arms the connection to report its next message once. A caller that has just polled it
    /// without result saves another poll.
    pub(super) fn arm(self: &Arc<Self>, endpoint: &Endpoint) {
        endpoint
            .shared()
            .arm_receive(&self.waker(), self.hub.watcher());
    }

    /// Prevents further reports.
    pub(super) fn disarm(self: &Arc<Self>) {
        if let Some(shared) = self.connection() {
            shared.disarm_receive(&self.waker());
        }
    }

    /// Cancels the posted operations.
    fn withdraw(self: &Arc<Self>, endpoint: &Endpoint) {
        let MemberKind::Completion(half) = self.kind else {
            return;
        };
        let sink: Arc<dyn Sink> = self.clone();
        endpoint.shared().forget_sink(half, &sink, &self.waker());
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
