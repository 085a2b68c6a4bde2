//! Groups that become smaller until one member is left.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::{Error, Rank};
use testing::effort;
use testing::patterns::dice;
use testing::transport::ranks::{each, group, group_of, ways};

use super::brief;

/// Gathers the numbers of all members in the first group, again and again, until none has failed
/// meanwhile. Returns them with the context of the last communicator.
fn gather(rank: &Rank) -> Result<(u32, Vec<u32>), Error> {
    let own = rank.rank();
    let mut rank = rank.clone();
    loop {
        let mut members = vec![0; rank.size() as usize];
        let gathered = rank.all_gather(&[own], &mut members);
        if gathered.is_err() {
            rank.recovery().revoke();
        }
        if rank.recovery().agree(u64::from(gathered.is_ok()))?.flags == 1 {
            return Ok((rank.context(), members));
        }
        rank = rank.recovery().shrink()?;
    }
}

#[test]
fn the_new_communicator_works() {
    for way in ways() {
        println!("{way}");
        let mut ranks = group(way, 5, &brief());
        drop(ranks.remove(3));
        drop(ranks.remove(0));
        each(&ranks, |rank| {
            rank.recovery().revoke();
            let survivors = rank.recovery().shrink().unwrap();
            let mut members = [0; 3];
            survivors.all_gather(&[rank.rank()], &mut members).unwrap();
            assert_eq!(members, [1, 2, 4]);
            let position = members.iter().position(|member| *member == rank.rank());
            assert_eq!(survivors.rank() as usize, position.unwrap());
            // Others can be made from it, also while nobody has failed.
            let same = survivors.recovery().shrink().unwrap();
            let half = same.split(Some(same.rank() % 2), 0).unwrap().unwrap();
            assert_eq!(
                (same.size(), half.size()),
                (3, 2 - half.size() % 2 * (same.rank() % 2))
            );
            let contexts = [rank, &survivors, &same, &half].map(Rank::context);
            assert!(
                contexts.is_sorted_by(|one, other| one < other),
                "{contexts:?}"
            );
            assert!(rank.barrier().is_err());
        });
    }
}

#[test]
fn contexts_of_other_threads_do_not_collide() {
    for way in ways() {
        let ranks = group(way, 3, &brief());
        each(&ranks, |rank| {
            let other = rank.duplicate().unwrap();
            let contexts = Mutex::new(Vec::new());
            let add = |rank: Rank| contexts.lock().unwrap().push(rank.context());
            thread::scope(|scope| {
                scope.spawn(|| (0..20).for_each(|_| add(rank.recovery().shrink().unwrap())));
                scope.spawn(|| (0..20).for_each(|_| add(other.duplicate().unwrap())));
            });
            let mut contexts = contexts.into_inner().unwrap();
            contexts.sort_unstable();
            contexts.dedup();
            assert_eq!(contexts.len(), 40);
        });
    }
}

#[test]
fn one_member_after_the_other_ends() {
    let mut dice = dice(7);
    for way in ways() {
        println!("{way}");
        for panics in [false, true] {
            let mut order: Vec<u32> = (0..5).collect();
            for index in 0..5 {
                order.swap(index, dice(5) as usize);
            }
            let ranks = group(way, 5, &brief());
            thread::scope(|scope| {
                for rank in ranks {
                    let order = &order;
                    scope.spawn(move || {
                        let end = move || end_in_order(rank, order, panics);
                        let ended = catch_unwind(AssertUnwindSafe(end));
                        if let Err(panic) = ended {
                            if panic.downcast_ref::<&str>() != Some(&"in order") {
                                resume_unwind(panic);
                            }
                        }
                    });
                }
            });
        }
    }
}

/// Shrinks the communicator when a rank has ended, until it is the turn of this one.
fn end_in_order(rank: Rank, order: &[u32], panics: bool) {
    let own = rank.rank();
    let mut survivors = rank;
    for (ended, next) in (1..).zip(order) {
        if *next == own {
            assert!(!panics, "in order");
            return;
        }
        // Waits for the end of the next rank.
        let mut sum = [0];
        while survivors.all_reduce(&[1u32], &mut sum, &Sum).is_ok() {}
        survivors.recovery().revoke();
        survivors = survivors.recovery().shrink().unwrap();
        survivors
            .all_reduce(&[1], &mut sum, &Sum)
            .unwrap_or_else(|error| {
                // The next one has ended already.
                assert_ne!(survivors.size(), 1, "{error}");
            });
        assert_eq!(survivors.size(), 5 - ended);
    }
}

/// Members that give up an operation after a random time, and end. So they end at any point of an
/// agreement.
#[test]
fn members_may_end_at_any_time() {
    for seed in 0..u64::from(20 * effort()) {
        for way in ways() {
            let mut dice = dice(seed);
            let size = 2 + dice(5) as u32;
            let life = |_| (dice(2) == 0).then(|| Duration::from_micros(dice(3000)));
            let lives: Vec<_> = (0..size).map(life).collect();
            let ranks = group_of(way, size, |rank| {
                let mut options = brief();
                if let Some(life) = lives[rank as usize] {
                    options.collective_timeout = life;
                }
                options
            });
            let results = thread::scope(|scope| {
                let threads: Vec<_> = ranks
                    .into_iter()
                    .map(|rank| scope.spawn(move || gather(&rank)))
                    .collect();
                let ends = threads.into_iter().map(|thread| thread.join().unwrap());
                ends.collect::<Vec<_>>()
            });
            let mut found = results.iter().filter_map(|result| result.as_ref().ok());
            let Some((context, members)) = found.next() else {
                assert!(
                    lives.iter().all(Option::is_some),
                    "{way} {seed}: {results:?}"
                );
                continue;
            };
            for (rank, result) in (0..).zip(&results) {
                match result {
                    Ok(other) => assert_eq!(other, &(*context, members.clone())),
                    Err(_) => assert!(lives[rank as usize].is_some(), "{way} {seed}: {results:?}"),
                }
                assert!(
                    result.is_err() || members.contains(&rank),
                    "{way} {seed}: {results:?}"
                );
            }
        }
    }
}
