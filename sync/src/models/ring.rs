//! Models of the queue with one producer and one consumer.

use loom::thread;

use crate::Ordering;
use crate::ring::ring;

/// Sends three values through a ring of `capacity`, with the given memory orders of both ends.
fn through(capacity: usize, fill: Ordering, pop: Ordering) -> impl Fn() + Send + Sync + 'static {
    const COUNT: u32 = 3;
    move || {
        let (mut filler, mut emptier) = ring::<u32>(capacity);
        let other = thread::spawn(move || {
            for number in 1..=COUNT {
                while !filler.fill_by(|value| *value = number, fill) {
                    thread::yield_now();
                }
            }
        });
        for number in 1..=COUNT {
            let value = loop {
                match emptier.front(|value| *value) {
                    Some(value) => break value,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(value, number);
            emptier.pop_by(pop);
        }
        other.join().unwrap();
        assert!(!emptier.is_filled());
    }
}

#[test]
fn a_slot_has_one_owner() {
    for capacity in 1..=2 {
        loom::model(through(capacity, Ordering::Release, Ordering::Release));
    }
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_stamp_that_does_not_publish_is_found() {
    loom::model(through(1, Ordering::Relaxed, Ordering::Release));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_count_that_does_not_give_back_is_found() {
    loom::model(through(1, Ordering::Release, Ordering::Relaxed));
}
