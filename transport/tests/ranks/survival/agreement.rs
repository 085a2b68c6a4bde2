//! Agreement between members that end at any time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use jstream_transport::rank::{Error, Source, Tag};
use testing::transport::filled;
use testing::transport::ranks::{each, group, ways};

use super::brief;

#[test]
fn flags_are_combined() {
    for way in ways() {
        for size in 1..6 {
            let ranks = group(way, size, &brief());
            for round in 0..10 {
                let found = each(&ranks, |rank| {
                    let consensus = rank
                        .recovery()
                        .agree(!(1 << (rank.rank() + round)))
                        .unwrap();
                    assert!(consensus.failed.is_empty());
                    consensus.flags
                });
                let expected = (0..size).fold(!0, |flags, rank| flags & !(1 << (rank + round)));
                assert_eq!(found, vec![expected; size as usize], "{way}");
            }
        }
    }
}

#[test]
fn messages_of_agreements_match_no_other_receive() {
    for way in ways() {
        let ranks = group(way, 3, &brief());
        each(&ranks, |rank| {
            let receive = rank.buffers().irecv(Source::Any, Tag::Any);
            assert_eq!(rank.recovery().agree(7).unwrap().flags, 7);
            rank.buffers()
                .isend(rank.rank(), 5, filled(&[1]))
                .wait()
                .unwrap();
            let message = receive.wait().unwrap();
            assert_eq!(
                (message.status.source, message.status.tag),
                (rank.rank(), 5)
            );
        });
    }
}

#[test]
fn members_that_return_or_panic_are_named() {
    for way in ways() {
        println!("{way}");
        for (size, first) in [(2, 0), (3, 0), (4, 1), (5, 2)] {
            let mut ranks = group(way, size, &brief());
            let gone = ranks.remove(first as usize);
            let end = AssertUnwindSafe(|| {
                let _gone = gone;
                assert!(size == 3, "this rank panics");
            });
            assert_eq!(catch_unwind(end).is_ok(), size == 3);
            let found = each(&ranks, |rank| {
                rank.recovery().agree(u64::from(rank.rank()) | 8).unwrap()
            });
            assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
            assert_eq!(found[0].failed, [first], "{way}");
        }
    }
}

#[test]
fn a_member_that_does_not_take_part_is_a_timeout() {
    for way in ways() {
        let mut options = brief();
        options.collective_timeout = Duration::from_millis(30);
        let ranks = group(way, 3, &options);
        for rank in &ranks[..2] {
            let error = rank.recovery().agree(0).unwrap_err();
            assert!(matches!(error, Error::TimedOut { .. }), "{error}");
        }
    }
}

#[test]
fn agreements_of_several_communicators_run_at_the_same_time() {
    for way in ways() {
        let ranks = group(way, 3, &brief());
        each(&ranks, |rank| {
            let other = rank.duplicate().unwrap();
            thread::scope(|scope| {
                for (rank, flags) in [(rank, 1), (&other, 2)] {
                    scope.spawn(move || {
                        for _ in 0..20 {
                            assert_eq!(rank.recovery().agree(flags).unwrap().flags, flags);
                        }
                    });
                }
            });
        });
    }
}
