//! Numbers of threads.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// Shards per processor: threads are given the lowest numbers that are free, and two that work at once should
/// not meet.
const SHARDS_PER_PROCESSOR: usize = 4;
pub(super) const MOST_SHARDS: usize = 64;

/// Numbers that no living thread has.
struct Numbers {
    free: BinaryHeap<Reverse<usize>>,
    next: usize,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers {
    free: BinaryHeap::new(),
    next: 0,
});

/// A thread that has no number yet.
const NONE: usize = usize::MAX;
/// Part of what a thread has in the place of a number once that is another's: so it is beyond all numbers.
const ENDED: usize = 1 << (usize::BITS - 1);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(NONE) };
    /// Gives the number back when the thread ends.
    static OWNED: Owned = const { Owned };
}

struct Owned;

impl Drop for Owned {
    fn drop(&mut self) {
        let number = NUMBER.get();
        // What the thread drops later is not given back under a number of its own.
        NUMBER.set(number | ENDED);
        numbers().free.push(Reverse(number));
    }
}

/// The number of the calling thread, which no other has as long as it lives. What the thread before did that
/// had it was before. Beyond all numbers when the thread is about to end.
#[inline]
pub(super) fn thread_number() -> usize {
    let number = NUMBER.get();
    if number != NONE {
        return number;
    }
    first_number()
}

#[cold]
fn first_number() -> usize {
    let mut numbers = numbers();
    let number = match numbers.free.pop() {
        Some(Reverse(number)) => number,
        None => {
            let next = numbers.next;
            numbers.next = next.wrapping_add(1);
            next
        }
    };
    drop(numbers);
    NUMBER.set(number);
    // A thread that is ending, and has none yet, keeps the number for good.
    let _ = OWNED.try_with(|_| ());
    number
}

/// A panic elsewhere can't leave them half changed.
fn numbers() -> MutexGuard<'static, Numbers> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn shard_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        processors
            .saturating_mul(SHARDS_PER_PROCESSOR)
            .clamp(1, MOST_SHARDS)
            .next_power_of_two()
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again_and_never_twice_at_once() {
        let own = thread_number();
        assert_eq!(own, thread_number());
        let mut others = Vec::new();
        for _ in 0..20 {
            let number = thread::spawn(|| {
                let number = thread_number();
                assert_eq!(number, thread_number());
                number
            });
            others.push(number.join().unwrap());
        }
        assert!(others.iter().all(|other| *other != own));
        others.sort_unstable();
        others.dedup();
        // Other tests run beside.
        assert!(others.len() < 20, "{others:?}");
    }
}
