//! Numbers for threads, which determine their shards.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread;

use jstream_sync::lock;

/// Number of shards per processor. Threads get the lowest free numbers, and two threads that run at
/// the same time should not share a shard.
const SHARDS_PER_PROCESSOR: usize = 4;
pub(super) const MOST_SHARDS: usize = 64;

/// The numbers that no living thread has: those in `free`, and all from `next` on.
struct Numbers {
    free: BinaryHeap<Reverse<usize>>,
    next: usize,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers {
    free: BinaryHeap::new(),
    next: 0,
});

/// The value of a thread that has no number yet.
const NONE: usize = usize::MAX;
/// Flag in the value of a thread whose number already belongs to another thread. It makes the value
/// larger than any number.
const ENDED: usize = 1 << (usize::BITS - 1);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(NONE) };
    /// Returns the number when the thread ends.
    static OWNED: Owned = const { Owned };
}

struct Owned;

impl Drop for Owned {
    fn drop(&mut self) {
        let number = NUMBER.get();
        // A slot that the thread returns from now on must not use the cache of this number.
        NUMBER.set(number | ENDED);
        numbers().free.push(Reverse(number));
    }
}

/// Returns the number of the calling thread, which no other living thread has. Everything that an
/// earlier thread with the same number did happened before. If the thread is ending, returns a
/// value larger than any number.
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
    // A thread that is ending, and has had no number so far, never returns its number.
    let _ = OWNED.try_with(|_| ());
    number
}

fn numbers() -> MutexGuard<'static, Numbers> {
    lock(&NUMBERS)
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
    fn reuses_a_number_only_after_its_thread_has_ended() {
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
        // Other tests may use numbers at the same time.
        assert!(others.len() < 20, "{others:?}");
    }
}
