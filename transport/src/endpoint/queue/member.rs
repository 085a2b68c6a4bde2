//! A direction of an endpoint, as a queue sees it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Wake, Waker};

use super::hub::{Hub, LOOKS};
use super::{Completion, Outcome};
use crate::endpoint::Endpoint;
use crate::endpoint::message::{message_of, outcome_of};
use crate::endpoint::ops::Sink;
use crate::endpoint::receiving::Receipt;
use crate::endpoint::sending::Sent;
use crate::endpoint::shared::{Shared, Way};

/// Takes what ended, and is woken when the direction can go on.
pub(super) struct Member {
    hub: Arc<Hub>,
    way: Way,
    shared: Weak<Shared>,
    /// It is among those to be visited. Changes under the lock of the hub.
    rung: AtomicBool,
    /// How often it was looked at in vain. Changes under the lock of the hub.
    vain: AtomicU8,
    held: Mutex<Held>,
}

/// An operation's outcome before anybody looked at it.
pub(super) enum Ended {
    Sent(Sent),
    Received(Receipt),
}

/// What is taken from a queue.
pub(crate) enum Done {
    /// An operation of that number has sent.
    Sent(u64, Sent),
    /// One has received, at that endpoint.
    Received(u64, Receipt, Endpoint),
    /// Somebody called those who wait.
    Called,
}

impl Done {
    /// What programs are given of it. Nobody calls the queues that they have.
    pub(super) fn into_completion(self) -> Option<Completion> {
        let (user, outcome) = match self {
            Self::Sent(user, sent) => (user, Outcome::Sent(outcome_of(sent))),
            Self::Received(user, receipt, endpoint) => {
                let message = message_of(receipt, endpoint.shared());
                (user, Outcome::Received(message))
            }
            Self::Called => return None,
        };
        Some(Completion { user, outcome })
    }
}

struct Held {
    /// Keeps the connection as a ticket does, as long as an operation was not taken.
    endpoint: Option<Endpoint>,
    /// How many operations were posted and not taken.
    untaken: usize,
    /// Nothing is posted to it any more, and what was is not carried on.
    is_left: bool,
}

impl Member {
    pub(super) fn new(hub: Arc<Hub>, endpoint: &Endpoint, way: Way) -> Arc<Self> {
        Arc::new(Self {
            hub,
            way,
            shared: Arc::downgrade(endpoint.shared()),
            rung: AtomicBool::new(false),
            vain: AtomicU8::new(0),
            held: Mutex::new(Held {
                endpoint: None,
                untaken: 0,
                is_left: false,
            }),
        })
    }

    /// Whether it has changed.
    pub(super) fn set_rung(&self, rung: bool) -> bool {
        self.rung.swap(rung, Ordering::Relaxed) != rung
    }

    /// It was looked at in vain so many times more.
    pub(super) fn cool(&self, looks: u8) {
        let vain = self.vain.load(Ordering::Relaxed).saturating_add(looks);
        self.vain.store(vain, Ordering::Relaxed);
    }

    /// Something was posted to it, or it can go on.
    pub(super) fn warm(&self) {
        self.vain.store(0, Ordering::Relaxed);
    }

    /// Whether it was looked at often enough.
    pub(super) fn is_cool(&self) -> bool {
        self.vain.load(Ordering::Relaxed) >= LOOKS
    }

    /// An operation is going to be posted.
    pub(super) fn hold(&self, endpoint: &Endpoint) {
        let mut held = self.lock();
        held.untaken = held.untaken.saturating_add(1);
        held.endpoint.get_or_insert_with(|| endpoint.clone());
    }

    /// What came of an operation, which was taken with this.
    pub(super) fn take(&self, user: u64, ended: Ended) -> Done {
        let mut held = self.lock();
        held.untaken = held.untaken.saturating_sub(1);
        let endpoint = if held.untaken == 0 {
            held.endpoint.take()
        } else {
            held.endpoint.clone()
        };
        drop(held);
        // Outside of the lock: what was the last handle may end the connection here.
        match (ended, endpoint) {
            (Ended::Sent(sent), _) => Done::Sent(user, sent),
            (Ended::Received(receipt), endpoint) => {
                let Some(endpoint) = endpoint else {
                    unreachable!("it is held as long as something is untaken")
                };
                Done::Received(user, receipt, endpoint)
            }
        }
    }

    /// Carries on what was posted. Whether there is more to do; then it has itself woken, if it `arms`.
    pub(super) fn visit(self: &Arc<Self>, arms: bool) -> bool {
        let held = self.lock();
        let endpoint = held.endpoint.clone().filter(|_| !held.is_left);
        drop(held);
        let Some(endpoint) = endpoint else {
            return false;
        };
        let (shared, place) = (endpoint.shared(), self.hub.watcher());
        let waker = arms.then(|| self.waker());
        let is_more = shared.progress(self.way, waker.as_ref(), Some(place));
        // Whoever left it meanwhile looked for the waker before or after it was entered.
        match waker {
            Some(waker) if self.lock().is_left => {
                shared.forget_watching(&waker);
                false
            }
            _ => is_more,
        }
    }

    /// Its operations have no queue any more.
    pub(super) fn leave(self: &Arc<Self>) {
        let mut held = self.lock();
        held.is_left = true;
        let endpoint = held.endpoint.take();
        drop(held);
        if let Some(endpoint) = endpoint {
            self.withdraw(&endpoint);
        }
    }

    /// What was posted to it and has not ended is given up. It keeps the connection as long as something of it
    /// was not taken.
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

    /// How many operations were given up.
    fn withdraw(self: &Arc<Self>, endpoint: &Endpoint) -> usize {
        let sink: Arc<dyn Sink> = self.clone();
        let shared = endpoint.shared();
        shared.forget_sink(self.way, &sink, &self.waker())
    }

    /// Whether the connection is gone.
    pub(super) fn is_over(&self) -> bool {
        self.shared.strong_count() == 0
    }

    /// How many operations were posted and not taken.
    pub(super) fn untaken(&self) -> usize {
        self.lock().untaken
    }

    fn waker(self: &Arc<Self>) -> Waker {
        self.clone().into()
    }

    /// A panic elsewhere can't leave it half changed: it holds between statements.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Member {
    fn wake(self: Arc<Self>) {
        Hub::ring(&self.hub.clone(), self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.hub.ring(self.clone());
    }
}

impl Sink for Member {
    fn sent(self: Arc<Self>, user: u64, sent: Sent) {
        self.hub.clone().complete(self, user, Ended::Sent(sent));
    }

    fn received(self: Arc<Self>, user: u64, receipt: Receipt) {
        self.hub
            .clone()
            .complete(self, user, Ended::Received(receipt));
    }
}
