//! Loom models of one direction of a ring and of lent memory. Beside each model there are variants
//! with a bug, which loom must find. The contents of a slot, and lent memory, are loom cells, which
//! report a read during a write. A side that would sleep stops instead; if it could continue, it
//! must have been woken.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::undocumented_unsafe_blocks,
    reason = "test code"
)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::signal;

const SLOTS: usize = 2;

struct ShmModel {
    marks: [AtomicU64; SLOTS],
    slots: [UnsafeCell<u64>; SLOTS],
    consumed: AtomicU64,
    consumer_armed: AtomicU64,
    producer_armed: AtomicU64,
    /// Sides that were woken.
    consumer_woken: AtomicU64,
    producer_woken: AtomicU64,
}

/// Stores a word for the other side, and returns true if that side must be woken.
type Publish = fn(&AtomicU64, u64, &AtomicU64) -> bool;
/// Announces that a side is about to sleep.
type Arm = fn(&AtomicU64);

fn publish(word: &AtomicU64, value: u64, armed: &AtomicU64) -> bool {
    signal::publish(word, value, armed)
}

fn arm(armed: &AtomicU64) {
    signal::arm(armed);
}

impl ShmModel {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            marks: std::array::from_fn(|_| AtomicU64::new(0)),
            slots: std::array::from_fn(|_| UnsafeCell::new(0)),
            consumed: AtomicU64::new(0),
            consumer_armed: AtomicU64::new(0),
            producer_armed: AtomicU64::new(0),
            consumer_woken: AtomicU64::new(0),
            producer_woken: AtomicU64::new(0),
        })
    }

    fn lap(at: u64) -> u64 {
        at / SLOTS as u64 + 1
    }

    fn has_room(&self, at: u64) -> bool {
        at - self.consumed.load(Ordering::Acquire) < SLOTS as u64
    }

    fn is_here(&self, at: u64) -> bool {
        self.marks[at as usize % SLOTS].load(Ordering::Acquire) == Self::lap(at)
    }

    /// Publishes up to a position, or until there is no room. Returns the position reached.
    fn produce(&self, until: u64, publish: Publish, arm: Arm) -> u64 {
        for at in 0..until {
            if !self.has_room(at) {
                arm(&self.producer_armed);
                if !self.has_room(at) {
                    return at;
                }
                signal::disarm(&self.producer_armed);
            }
            let slot = at as usize % SLOTS;
            self.slots[slot].with_mut(|slot| unsafe { *slot = at });
            if publish(&self.marks[slot], Self::lap(at), &self.consumer_armed) {
                self.consumer_woken.store(1, Ordering::Relaxed);
            }
        }
        until
    }

    /// Consumes up to a position, or until nothing is published. Returns the position reached.
    fn consume(&self, until: u64, publish: Publish, arm: Arm) -> u64 {
        for at in 0..until {
            if !self.is_here(at) {
                arm(&self.consumer_armed);
                if !self.is_here(at) {
                    return at;
                }
                signal::disarm(&self.consumer_armed);
            }
            let slot = at as usize % SLOTS;
            self.slots[slot].with(|slot| assert_eq!(unsafe { *slot }, at));
            if publish(&self.consumed, at + 1, &self.producer_armed) {
                self.producer_woken.store(1, Ordering::Relaxed);
            }
        }
        until
    }
}

fn messages(count: u64, publish: Publish, arm: Arm) {
    loom::model(move || {
        let model = ShmModel::new();
        let other = model.clone();
        let producer = thread::spawn(move || other.produce(count, publish, arm));
        let consumed = model.consume(count, publish, arm);
        let produced = producer.join().unwrap();
        let woken = |word: &AtomicU64| word.load(Ordering::Relaxed) == 1;
        if consumed < count && model.is_here(consumed) {
            assert!(woken(&model.consumer_woken), "the consumer sleeps on");
        }
        if produced < count && model.has_room(produced) {
            assert!(woken(&model.producer_woken), "the producer sleeps on");
        }
    });
}

#[test]
fn messages_arrive_in_order_and_nobody_sleeps_for_ever() {
    messages(3, publish, arm);
}

#[test]
#[should_panic(expected = "sleeps on")]
fn without_the_barrier_of_who_publishes_a_sleeper_is_not_seen() {
    let publish: Publish = |word, value, armed| {
        word.store(value, Ordering::Release);
        armed.load(Ordering::Relaxed) != 0 && armed.swap(0, Ordering::Relaxed) != 0
    };
    messages(3, publish, arm);
}

#[test]
#[should_panic(expected = "sleeps on")]
fn without_the_barrier_of_the_sleeper_it_does_not_see_what_is_published() {
    messages(3, publish, |armed| armed.store(1, Ordering::Relaxed));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_slot_is_not_published_by_a_relaxed_store() {
    let publish: Publish = |word, value, armed| {
        word.store(value, Ordering::Relaxed);
        signal::wanted(armed)
    };
    messages(1, publish, arm);
}

/// Copies memory that the other side lends.
type Borrow = fn(&AtomicU64, &AtomicU64, &UnsafeCell<u64>) -> Option<u64>;

/// One side stops lending memory and writes to it while the other side copies it.
fn lending(borrow: Borrow, give_up: fn(&AtomicU64)) {
    loom::model(move || {
        let lent = Arc::new((AtomicU64::new(0), AtomicU64::new(0), UnsafeCell::new(1_u64)));
        let other = lent.clone();
        let lender = thread::spawn(move || {
            let (copying, abandoned, memory) = &*other;
            give_up(abandoned);
            while signal::is_copying(copying) {
                thread::yield_now();
            }
            memory.with_mut(|memory| unsafe { *memory = 2 });
        });
        let (copying, abandoned, memory) = &*lent;
        assert!(matches!(borrow(copying, abandoned, memory), None | Some(1)));
        lender.join().unwrap();
    });
}

fn borrow(copying: &AtomicU64, abandoned: &AtomicU64, memory: &UnsafeCell<u64>) -> Option<u64> {
    signal::borrow(copying, abandoned, || {
        memory.with(|memory| unsafe { *memory })
    })
}

#[test]
fn nobody_copies_what_is_no_longer_lent() {
    lending(borrow, signal::give_up);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_barrier_of_the_lender_it_does_not_see_who_copies() {
    lending(borrow, |abandoned| abandoned.store(1, Ordering::Release));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_barrier_of_who_copies_it_does_not_see_what_was_given_up() {
    let borrow: Borrow = |copying, abandoned, memory| {
        copying.store(1, Ordering::Relaxed);
        let is_lent = abandoned.load(Ordering::Acquire) == 0;
        let copied = is_lent.then(|| memory.with(|memory| unsafe { *memory }));
        copying.store(0, Ordering::Release);
        copied
    };
    lending(borrow, signal::give_up);
}
