//! Models of the queue with multiple producers and consumers.

use loom::thread;

use crate::mpmc::PositionRing;
use crate::{Arc, Ordering};

/// Pops two values, writing the stamps with the given memory order. Returns their sum.
fn take_two(ring: &PositionRing<Box<u32>>, pop: Ordering) -> u32 {
    let next = || loop {
        match ring.pop_by(pop) {
            Some(value) => return *value,
            None => thread::yield_now(),
        }
    };
    next() + next()
}

/// Two threads push one value each, and one thread pops both.
fn two_fill(push: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let ring = Arc::new(PositionRing::<Box<u32>>::new(2));
        let fillers = [1, 2].map(|number| {
            let ring = ring.clone();
            thread::spawn(move || ring.push_by(Box::new(number), push).unwrap())
        });
        assert_eq!(take_two(&ring, Ordering::Release), 3);
        for filler in fillers {
            filler.join().unwrap();
        }
        assert!(ring.is_empty());
    }
}

/// One thread pushes a second value into the slot of the first.
fn filled_again(pop: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let ring = Arc::new(PositionRing::<Box<u32>>::new(1));
        let filler = {
            let ring = ring.clone();
            thread::spawn(move || {
                ring.push(Box::new(1)).unwrap();
                let mut value = Box::new(2);
                while let Err(back) = ring.push(value) {
                    value = back;
                    thread::yield_now();
                }
            })
        };
        assert_eq!(take_two(&ring, pop), 3);
        filler.join().unwrap();
    }
}

#[test]
fn a_slot_has_one_owner() {
    loom::model(two_fill(Ordering::Release));
    loom::model(filled_again(Ordering::Release));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_stamp_that_does_not_publish_is_found() {
    loom::model(two_fill(Ordering::Relaxed));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_stamp_that_does_not_give_back_is_found() {
    loom::model(filled_again(Ordering::Relaxed));
}

/// Two threads pop, and each value is returned once.
#[test]
fn a_value_is_taken_once() {
    loom::model(|| {
        let ring = Arc::new(PositionRing::<Box<u32>>::new(2));
        let takers = [(); 2].map(|()| {
            let ring = ring.clone();
            thread::spawn(move || ring.pop().map_or(0, |value| *value))
        });
        ring.push(Box::new(1)).unwrap();
        ring.push(Box::new(2)).unwrap();
        let taken: u32 = takers.map(|taker| taker.join().unwrap()).iter().sum();
        let left: u32 = std::iter::from_fn(|| ring.pop()).map(|value| *value).sum();
        assert_eq!(taken + left, 3);
    });
}
