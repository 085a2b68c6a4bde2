//! Threads and processes that end in the middle of posted collective operations.

use std::cell::RefCell;
use std::process::{self, Stdio};
use std::thread;
use std::time::Instant;

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::{Options, Rank};
use testing::LONG;
use testing::process::{again, name, role};
use testing::transport::ranks::group;

/// The exit code of the process that ends within a scope.
const CODE: i32 = 3;

/// Ends the process while other ranks write to the memory of an operation whose request was
/// dropped.
fn exit_within_a_scope() -> ! {
    let ranks = group("threads", 8, &Options::default());
    let (first, others) = ranks.split_first().unwrap();
    let count = 400_000;
    thread::scope(|threads| {
        for rank in others {
            threads.spawn(move || {
                let own = vec![1u64; count];
                let mut sums = vec![0; count];
                for _ in 0..100 {
                    let _ = rank.reduce(0, &own, &mut sums, &Sum);
                }
            });
        }
        let own = vec![1u64; count];
        let mut sums = vec![vec![0; count]; 4];
        first.scope(|scope| {
            for sum in &mut sums {
                drop(scope.ireduce(0, &own, sum, &Sum));
            }
            process::exit(CODE)
        })
    })
}

#[test]
fn a_process_exits_within_a_scope() {
    if role().is_some() {
        exit_within_a_scope();
    }
    for _ in 0..8 {
        let mut command = again(&name(), "exits");
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > LONG {
                child.kill().unwrap();
                panic!("the process waits for other ranks");
            }
            thread::yield_now();
        };
        assert_eq!(status.code(), Some(CODE), "{status}");
    }
}

thread_local! {
    static LAST: RefCell<Option<Finisher>> = const { RefCell::new(None) };
}

/// Uses a rank when the thread-local values of its thread are dropped.
struct Finisher {
    rank: Rank,
    expected: u64,
}

impl Drop for Finisher {
    fn drop(&mut self) {
        let (mut sum, mut next) = ([0u64], [0u64]);
        let Self { rank, expected } = self;
        rank.scope(|scope| {
            let total = scope.iall_reduce(&[1], &mut sum, &Sum);
            drop(scope.iall_reduce(&[2], &mut next, &Sum));
            total.wait().unwrap();
        });
        assert_eq!((sum, next), ([*expected], [*expected * 2]));
    }
}

#[test]
fn a_scope_works_while_thread_local_values_are_dropped() {
    let ranks = group("threads", 3, &Options::default());
    let threads: Vec<_> = ranks
        .into_iter()
        .map(|rank| {
            thread::spawn(move || {
                // The value of this test is dropped after the values of the library, if it is used
                // before they are.
                LAST.set(Some(Finisher { rank, expected: 3 }));
                LAST.with_borrow(|last| {
                    let rank = &last.as_ref().unwrap().rank;
                    let mut sum = [0];
                    rank.scope(|scope| scope.iall_reduce(&[1], &mut sum, &Sum).wait())
                        .unwrap();
                });
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
