//! Loom models of giving places back. Beside the model there are variants with a bug, which loom
//! must find. The memory of a message is a loom cell, which reports concurrent writes.
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

use super::returns;

/// Two places in one word, and one place in another.
const PLACES: [usize; 3] = [0, 63, 64];

struct TrustedModel {
    words: [AtomicU64; 2],
    blocks: [UnsafeCell<u64>; PLACES.len()],
}

type GiveBack = fn(&[AtomicU64], usize);
type Collect = fn(&AtomicU64) -> u64;

impl TrustedModel {
    /// Reads a message in place, writes to it, and gives its place back.
    fn receive(&self, n: usize, give_back: GiveBack) {
        self.blocks[n].with_mut(|block| unsafe { *block += 1 });
        give_back(&self.words, PLACES[n]);
    }

    /// Writes to the blocks that were given back, and counts them.
    fn collect(&self, counts: &mut [u64; PLACES.len()], collect: Collect) {
        for (number, word) in self.words.iter().enumerate() {
            let back = collect(word);
            for (n, place) in PLACES.into_iter().enumerate() {
                if place / 64 == number && back & (1 << (place % 64)) != 0 {
                    self.blocks[n].with_mut(|block| unsafe { *block += 10 });
                    counts[n] += 1;
                }
            }
        }
    }
}

fn places(give_back: GiveBack, collect: Collect) {
    loom::model(move || {
        let model = Arc::new(TrustedModel {
            words: std::array::from_fn(|_| AtomicU64::new(0)),
            blocks: std::array::from_fn(|_| UnsafeCell::new(0)),
        });
        let receivers = [vec![0, 2], vec![1]].map(|which| {
            let model = model.clone();
            thread::spawn(move || {
                for n in which {
                    model.receive(n, give_back);
                }
            })
        });
        let mut counts = [0; PLACES.len()];
        model.collect(&mut counts, collect);
        for receiver in receivers {
            receiver.join().unwrap();
        }
        model.collect(&mut counts, collect);
        assert_eq!(counts, [1; PLACES.len()], "given back once");
        for block in &model.blocks {
            block.with(|block| assert_eq!(unsafe { *block }, 11));
        }
    });
}

#[test]
fn every_place_comes_back_once() {
    places(returns::give_back, returns::collect);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_place_is_not_given_back_by_a_relaxed_change() {
    let give_back: GiveBack = |words, place| {
        words[place / 64].fetch_or(1 << (place % 64), Ordering::Relaxed);
    };
    places(give_back, returns::collect);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn places_are_not_collected_by_a_relaxed_change() {
    places(returns::give_back, |word| word.swap(0, Ordering::Relaxed));
}

#[test]
#[should_panic(expected = "given back once")]
fn collecting_in_two_steps_loses_what_comes_between() {
    places(returns::give_back, |word| {
        let back = word.load(Ordering::Acquire);
        word.store(0, Ordering::Relaxed);
        back
    });
}

#[test]
#[should_panic(expected = "given back once")]
fn giving_back_in_two_steps_loses_what_comes_between() {
    let give_back: GiveBack = |words, place| {
        let word = &words[place / 64];
        let others = word.load(Ordering::Relaxed);
        word.store(others | (1 << (place % 64)), Ordering::Release);
    };
    places(give_back, returns::collect);
}
