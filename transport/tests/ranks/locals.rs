//! Variables with a value for each rank.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;

use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Options, Rank, rank_local};
use testing::transport::ranks::{each, group};

rank_local! {
    static COUNT: AtomicU32 = AtomicU32::new(10);
    /// A variable of the same type.
    pub(crate) static OTHER: AtomicU32 = AtomicU32::new(20)
}

#[test]
fn each_rank_counts_for_itself() {
    for way in ["threads", "shm"] {
        let ranks = group(way, 3, &Options::default());
        each(&ranks, |rank| {
            let number = rank.rank();
            thread::scope(|scope| {
                for _ in 0..number {
                    scope.spawn(|| COUNT.get(rank).fetch_add(1, Ordering::Relaxed));
                }
            });
            // Other communicators of the rank have the same value.
            let pair = rank.split(Some(number % 2), 0).unwrap().unwrap();
            assert_ne!(pair.context(), rank.context());
            COUNT.get(&pair).fetch_add(100, Ordering::Relaxed);
            OTHER.get(rank).fetch_add(number, Ordering::Relaxed);
        });
        for (number, rank) in (0..).zip(&ranks) {
            assert_eq!(COUNT.get(rank).load(Ordering::Relaxed), 110 + number);
            assert_eq!(OTHER.get(rank).load(Ordering::Relaxed), 20 + number);
        }
    }
}

#[test]
fn threads_of_a_rank_create_one_value() {
    static CREATED: AtomicU32 = AtomicU32::new(0);
    rank_local! {
        static FIRST: u32 = CREATED.fetch_add(1, Ordering::Relaxed);
        static SECOND: u32 = CREATED.fetch_add(1, Ordering::Relaxed);
        static SUM: u32 = 0;
    }
    for round in 1..=200 {
        let ranks = rank::threads(1, &Options::default());
        let values = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let rank = &ranks[0];
                    scope.spawn(move || {
                        if thread % 2 == 0 {
                            (*SUM.get(rank), *FIRST.get(rank), *SECOND.get(rank))
                        } else {
                            let second = *SECOND.get(rank);
                            (*SUM.get(rank), *FIRST.get(rank), second)
                        }
                    })
                })
                .collect();
            let all = threads.into_iter().map(|thread| thread.join().unwrap());
            all.collect::<Vec<_>>()
        });
        assert!(values.iter().all(|value| *value == values[0]));
        assert_ne!(values[0].1, values[0].2);
        assert_eq!(CREATED.load(Ordering::Relaxed), 2 * round);
    }
}

#[test]
fn the_value_is_dropped_with_the_rank() {
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            LIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    rank_local! {
        static VALUE: Counted = {
            LIVE.fetch_add(1, Ordering::Relaxed);
            Counted
        };
    }
    World::threads(3, &WorldOptions::default(), |world| {
        VALUE.get(world);
        world.barrier().unwrap();
        assert_eq!(LIVE.load(Ordering::Relaxed), 3);
        world.barrier().unwrap();
    })
    .unwrap();
    assert_eq!(LIVE.load(Ordering::Relaxed), 0);
    let ranks = rank::threads(1, &Options::default());
    let clone = ranks[0].clone();
    VALUE.get(&clone);
    drop(clone);
    assert_eq!(LIVE.load(Ordering::Relaxed), 1);
    drop(ranks);
    assert_eq!(LIVE.load(Ordering::Relaxed), 0);
}

#[test]
fn a_first_value_that_panics_is_created_again() {
    static FAILS: AtomicBool = AtomicBool::new(true);
    rank_local! {
        static VALUE: Arc<u32> = {
            assert!(!FAILS.load(Ordering::Relaxed), "not yet");
            Arc::new(7)
        };
    }
    let ranks = rank::threads(2, &Options::default());
    let get = |rank: &Rank| catch_unwind(AssertUnwindSafe(|| VALUE.get(rank).clone()));
    assert!(get(&ranks[0]).is_err());
    FAILS.store(false, Ordering::Relaxed);
    let value = get(&ranks[0]).unwrap();
    assert!(Arc::ptr_eq(&value, VALUE.get(&ranks[0])));
    assert!(!Arc::ptr_eq(&value, VALUE.get(&ranks[1])));
}

#[test]
fn a_thread_local_is_another_one_in_each_thread() {
    thread_local! {
        static MARK: Cell<u32> = const { Cell::new(0) };
    }
    let found = World::threads(2, &WorldOptions::default(), |world| {
        MARK.set(world.rank() + 1);
        COUNT.get(world).store(world.rank() + 1, Ordering::Relaxed);
        let seen = || (MARK.get(), COUNT.get(world).load(Ordering::Relaxed));
        let own = seen();
        (
            own,
            thread::scope(|scope| scope.spawn(seen).join().unwrap()),
        )
    });
    assert_eq!(found.unwrap(), [((1, 1), (0, 1)), ((2, 2), (0, 2))]);
}
