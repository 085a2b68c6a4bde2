//! Receiving side of credit-based flow control over a connection.
//!
//! The window is sent to the peer when the connection is set up. A message uses credit from its
//! arrival until a receive has it. Credit is returned in batches, so that one frame covers many
//! messages. The sending side is the [`gate`](jstream_endpoint::gate).
//!
//! Decision 072 has the reasons.

use std::sync::atomic::{AtomicU64, Ordering};

use jstream_endpoint::gate::Credit;
use jstream_matching::Bounds;

/// Credit is returned when it reaches the window divided by this number.
const PART: u64 = 4;

/// Flow control of the messages of a peer.
#[derive(Debug, Default)]
pub(super) struct Account {
    window: Credit,
    /// Credit used by messages that have arrived, including credit that is due.
    out: Credit,
    /// The part of it that can be returned to the peer.
    due: Credit,
}

impl Account {
    /// Returns an account without messages.
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            window: window(bounds),
            ..Self::default()
        }
    }

    /// Charges a message that has arrived. Returns false if it exceeds the window.
    #[must_use]
    pub(super) fn arrive(&mut self, bytes: u64) -> bool {
        let messages = self.out.messages.saturating_add(1);
        let bytes = self.out.bytes.saturating_add(bytes);
        let is_allowed = messages <= self.window.messages && bytes <= self.window.bytes;
        if is_allowed {
            self.out = Credit { messages, bytes };
        }
        is_allowed
    }

    /// Releases the credit of a message. Returns the credit to send to the peer, if a batch is due.
    #[inline]
    pub(super) fn release(&mut self, bytes: u64) -> Option<Credit> {
        self.close(Credit::of_message(bytes))
    }

    /// Like [`release`](Self::release), for messages that were received on the fast path and never
    /// charged.
    pub(super) fn release_passed(&mut self, passed: Credit) -> Option<Credit> {
        // These messages were not charged when they arrived. Charging them with the return keeps
        // both sides of the account alike.
        add(&mut self.out, passed);
        self.close(passed)
    }

    /// Returns the credit that the peer can't use.
    #[cfg(test)]
    pub(super) fn used(&self) -> Credit {
        self.out
    }

    #[inline]
    fn close(&mut self, done: Credit) -> Option<Credit> {
        add(&mut self.due, done);
        if !is_due(self.due, self.window) {
            return None;
        }
        let credit = std::mem::take(&mut self.due);
        self.out.messages = self.out.messages.saturating_sub(credit.messages);
        self.out.bytes = self.out.bytes.saturating_sub(credit.bytes);
        Some(credit)
    }
}

/// Messages of a peer that were received on the fast path, bypassing its account.
///
/// The methods are called under the lock of the receive direction, so there is one call at a time.
#[derive(Debug)]
pub(super) struct Passed {
    messages: AtomicU64,
    bytes: AtomicU64,
    window: Credit,
}

impl Passed {
    pub(super) fn new(window: Credit) -> Self {
        Self {
            messages: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            window,
        }
    }

    /// Counts one message. Returns all messages counted so far, if they are due to be settled.
    #[inline]
    pub(super) fn count(&self, bytes: u64) -> Option<Credit> {
        let mut passed = self.so_far();
        // Load and store without an atomic addition: the lock of the receive direction excludes
        // other writers.
        add(&mut passed, Credit::of_message(bytes));
        if is_due(passed, self.window) {
            self.set(Credit::FREE);
            return Some(passed);
        }
        self.set(passed);
        None
    }

    /// Returns and resets the count.
    #[inline]
    pub(super) fn take(&self) -> Credit {
        let passed = self.so_far();
        if passed.messages > 0 {
            self.set(Credit::FREE);
        }
        passed
    }

    #[inline]
    fn so_far(&self) -> Credit {
        Credit {
            messages: self.messages.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    #[inline]
    fn set(&self, passed: Credit) {
        self.messages.store(passed.messages, Ordering::Relaxed);
        self.bytes.store(passed.bytes, Ordering::Relaxed);
    }
}

#[inline]
fn add(to: &mut Credit, more: Credit) {
    to.messages = to.messages.saturating_add(more.messages);
    to.bytes = to.bytes.saturating_add(more.bytes);
}

/// Raises the bounds to the initial credit, which every peer has before it knows the window.
pub(super) fn allowed(mut bounds: Bounds) -> Bounds {
    let Credit { messages, bytes } = Credit::LEAST;
    let messages = usize::try_from(messages).unwrap_or(usize::MAX);
    bounds.messages = bounds.messages.max(messages);
    bounds.bytes = bounds.bytes.max(bytes);
    bounds
}

/// Returns the window that the bounds grant to one peer.
pub(super) fn window(bounds: Bounds) -> Credit {
    let bounds = allowed(bounds);
    Credit {
        messages: u64::try_from(bounds.messages).unwrap_or(u64::MAX),
        bytes: bounds.bytes,
    }
}

#[inline]
fn is_due(due: Credit, window: Credit) -> bool {
    // At least one, so that credit of a window of few messages is returned at all.
    due.messages >= (window.messages / PART).max(1) || due.bytes >= (window.bytes / PART).max(1)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "test code")]
mod tests {
    use std::collections::VecDeque;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use jstream_endpoint::gate::{Gate, Overfull};

    /// A message on the wire or in the receiver's queue.
    #[derive(Debug, Clone, Copy)]
    struct ModelMessage {
        length: u64,
        announced: bool,
    }

    /// Both sides of one direction and the wire between them.
    struct Pair {
        window: Credit,
        gate: Gate<ModelMessage>,
        account: Account,
        passed: Passed,
        wire: VecDeque<ModelMessage>,
        back: VecDeque<Credit>,
        waiting: Vec<ModelMessage>,
        /// Number of messages posted; `come` is the number of arrived ones.
        posted: u64,
        come: u64,
    }

    impl Pair {
        fn new(window: Credit) -> Self {
            let mut bounds = Bounds::default();
            bounds.messages = usize::try_from(window.messages).unwrap();
            bounds.bytes = window.bytes;
            Self {
                window,
                gate: Gate::default(),
                account: Account::new(bounds),
                passed: Passed::new(window),
                wire: VecDeque::new(),
                back: VecDeque::new(),
                waiting: Vec::new(),
                posted: 0,
                come: 0,
            }
        }

        fn post(&mut self, length: u64) {
            self.posted += 1;
            let message = ModelMessage {
                length,
                announced: false,
            };
            let cost = Credit::of_message(length);
            if self.gate.charge(cost) {
                self.wire.push_back(message);
            } else {
                self.gate.wait(message, cost);
                self.let_through();
            }
        }

        fn let_through(&mut self) {
            loop {
                let shorten = |_: &ModelMessage| Some(Credit::of_message(0));
                let Some((message, cost)) = self.gate.next(shorten) else {
                    return;
                };
                let announced = cost.bytes < message.length;
                self.wire.push_back(ModelMessage {
                    announced,
                    ..message
                });
            }
        }

        /// Delivers the first message on the wire, bypassing the account if it is `lucky`.
        fn deliver(&mut self, lucky: bool) {
            let Some(message) = self.wire.pop_front() else {
                return;
            };
            self.come += 1;
            if lucky && !message.announced && self.waiting.is_empty() {
                if let Some(passed) = self.passed.count(message.length) {
                    let credit = self.account.release_passed(passed);
                    self.back.extend(credit);
                }
                return;
            }
            let passed = self.passed.take();
            if passed != Credit::FREE {
                let credit = self.account.release_passed(passed);
                self.back.extend(credit);
            }
            let held = if message.announced { 0 } else { message.length };
            assert!(
                self.account.arrive(held),
                "a sender with credit is admitted"
            );
            self.waiting.push(message);
        }

        fn receive(&mut self, which: usize) {
            if self.waiting.is_empty() {
                return;
            }
            let message = self.waiting.remove(which % self.waiting.len());
            let held = if message.announced { 0 } else { message.length };
            let credit = self.account.release(held);
            self.back.extend(credit);
        }

        fn give_back(&mut self) {
            if let Some(credit) = self.back.pop_front() {
                self.gate.restore(credit).unwrap();
                self.let_through();
            }
        }

        fn check(&self) {
            let held = self.waiting.iter().filter(|message| !message.announced);
            let held: u64 = held.map(|message| message.length).sum();
            assert!(self.waiting.len() as u64 <= self.window.messages);
            assert!(held <= self.window.bytes);
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Open,
        Post(u64),
        Deliver(bool),
        Receive(usize),
        GiveBack,
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            1 => Just(Step::Open),
            6 => (0..1_500u64).prop_map(Step::Post),
            5 => any::<bool>().prop_map(Step::Deliver),
            4 => any::<usize>().prop_map(Step::Receive),
            3 => Just(Step::GiveBack),
        ]
    }

    proptest! {
        #[test]
        fn nothing_exceeds_the_window_and_nothing_waits_for_ever(
            messages in Credit::LEAST.messages..30,
            bytes in Credit::LEAST.bytes..9_000,
            steps in vec(any_step(), 0..200),
        ) {
            let window = Credit { messages, bytes };
            let mut pair = Pair::new(window);
            let mut opened = false;
            for step in steps {
                match step {
                    Step::Open if opened => prop_assert_eq!(pair.gate.open(window), Err(Overfull)),
                    Step::Open => {
                        opened = true;
                        pair.gate.open(window).unwrap();
                        pair.let_through();
                    }
                    Step::Post(length) => pair.post(length),
                    Step::Deliver(lucky) => pair.deliver(lucky),
                    Step::Receive(which) => pair.receive(which),
                    Step::GiveBack => pair.give_back(),
                }
                pair.check();
                prop_assert!(opened || pair.wire.iter().all(|message| !message.announced));
            }
            // All messages arrive if the receiver receives them.
            if !opened {
                pair.gate.open(window).unwrap();
                pair.let_through();
            }
            for _ in 0..5_000 {
                pair.deliver(false);
                pair.give_back();
                pair.receive(0);
            }
            prop_assert_eq!(pair.come, pair.posted);
            prop_assert!(pair.waiting.is_empty() && pair.gate.is_empty());
            // Nearly all of the window is restored, and never more.
            let mut left = 0;
            while pair.gate.charge(Credit::of_message(0)) {
                left += 1;
            }
            prop_assert!(left <= messages && left * 2 >= messages, "{} of {}", left, messages);
        }
    }

    #[test]
    fn messages_beyond_the_window_are_refused() {
        let mut bounds = Bounds::default();
        (bounds.messages, bounds.bytes) = (1, 1);
        let Credit { messages, bytes } = Credit::LEAST;
        let mut account = Account::new(bounds);
        assert!(!account.arrive(bytes + 1) && account.arrive(bytes) && !account.arrive(1));
        for _ in 1..messages {
            assert!(account.arrive(0));
        }
        assert!(!account.arrive(0));
        assert_eq!(account.release(bytes), Some(Credit::of_message(bytes)));
        assert!(account.arrive(bytes) && !account.arrive(0));
    }

    #[test]
    fn credit_beyond_the_window_is_refused() {
        let mut gate = Gate::<()>::default();
        let one = Credit::of_message(0);
        assert_eq!(gate.restore(one), Err(Overfull));
        assert_eq!(gate.open(one), Err(Overfull));
        let window = Credit {
            messages: 9,
            bytes: u64::MAX,
        };
        gate.open(window).unwrap();
        assert_eq!(gate.open(window), Err(Overfull));
        assert_eq!(gate.restore(one), Err(Overfull));
        assert!(gate.charge(Credit::of_message(u64::MAX)) && !gate.charge(Credit::of_message(1)));
        assert_eq!(gate.restore(Credit::of_message(u64::MAX)), Ok(()));
        assert_eq!(gate.restore(Credit::FREE), Ok(()));
        let byte = Credit {
            messages: 0,
            bytes: 1,
        };
        assert_eq!(gate.restore(byte), Err(Overfull));
    }
}
