//! Objects that are posted, broadcast, scattered and gathered, over all kinds of connections.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jstream::buffer::{Pool, PoolOptions};
use jstream::{Adapter, Transportable};
use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::{self, Error, Options, Rank, Source};
use testing::transport::ranks::{each, group, group_of, two, ways};

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Record {
    number: u64,
    name: String,
    links: Vec<u32>,
}

fn record(number: u64, text: usize) -> Record {
    Record {
        number,
        name: format!("{number}").repeat(text),
        links: vec![7; usize::try_from(number % 3).unwrap()],
    }
}

fn check(found: &RecordRef<'_>, number: u64, text: usize) {
    let expected = record(number, text);
    assert_eq!(found.number, expected.number);
    assert_eq!(found.name, expected.name);
    assert_eq!(found.links, expected.links);
}

/// Lengths of texts: eager messages, and messages beyond all thresholds.
const TEXTS: [usize; 2] = [1, 100_000];

/// Runs a case for groups of all sizes over all kinds of connections.
fn for_groups(work: impl Fn(&Rank) + Sync) {
    for size in 1..=5 {
        each(&group("threads", size, &brief()), &work);
    }
    for way in ways().skip(1) {
        println!("{way}");
        each(&group(way, 3, &brief()), &work);
    }
}

/// Options with a timeout that ends a test which hangs.
fn brief() -> Options {
    let mut options = Options::default();
    options.collective_timeout = Duration::from_secs(60);
    options
}

/// Returns the rank that has failed according to an error.
fn blamed(error: &Error) -> Option<u32> {
    match error {
        Error::FailedAt { rank, .. } | Error::Disagreement { rank, .. } => Some(*rank),
        Error::Collective { source, .. } => match &**source {
            Error::PeerGone { rank, .. } => Some(*rank),
            _ => None,
        },
        _ => None,
    }
}

fn cause(error: Error) -> Error {
    match error {
        Error::Collective { source, .. } => *source,
        error => panic!("{error}"),
    }
}

/// Checks that an operation of all ranks works.
fn works(rank: &Rank) {
    let mut sum = [0];
    rank.all_reduce(&[1], &mut sum, &Sum).unwrap();
    assert_eq!(sum, [rank.size()]);
}

#[test]
fn posted_objects_arrive() {
    for way in ways() {
        println!("{way}");
        let (zero, one) = two(way);
        each(&[zero, one], |rank| {
            let other = 1 - rank.rank();
            for text in TEXTS {
                let second = rank.objects().irecv::<Record>(other, 2);
                let mut receives = [second, rank.objects().irecv::<Record>(Source::Any, 1)];
                let sends = [
                    rank.objects().isend(other, 1, &record(10, text)),
                    rank.objects().isend(other, 2, &record(20, text)),
                ];
                for _ in 0..2 {
                    let (index, received) = rank::wait_any(&mut receives).unwrap();
                    let (object, status) = received.unwrap();
                    assert_eq!((status.source, status.tag), (other, 2 - index as u64));
                    check(object.get(), 10 * status.tag, text);
                }
                for send in sends {
                    send.wait().unwrap();
                }
            }
        });
    }
}

#[test]
fn posted_objects_end_as_other_requests_do() {
    let (zero, one) = two("threads");
    let receive = zero.objects().irecv::<Record>(1, 1);
    assert!(matches!(receive.cancel(), Err(Error::Cancelled)));
    let error = zero.objects().irecv::<Record>(Source::Null, 1).wait();
    assert!(matches!(error, Err(Error::PeerGone { .. })));
    let error = zero
        .objects()
        .isend(9, 1, &record(1, 1))
        .wait()
        .unwrap_err();
    assert!(matches!(error.error, Error::NoRank { rank: 9, .. }));
    one.objects().isend(0, 1, &7u64).wait().unwrap();
    let error = zero.objects().irecv::<Record>(1, 1).wait();
    assert!(matches!(error, Err(Error::Read { rank: 1, .. })));
    // A task waits for an object, which moves as it is.
    let mut receive = pin!(zero.objects().irecv::<Record>(1, 1));
    let mut context = Context::from_waker(Waker::noop());
    assert!(receive.as_mut().poll(&mut context).is_pending());
    one.objects().isend(1, 1, &record(5, 1)).wait().unwrap();
    let (object, _) = one.objects().recv::<Record>(1, 1).unwrap();
    let address = std::ptr::from_ref(object.get()).addr();
    one.objects().forward(0, 1, object).unwrap();
    let Poll::Ready(Ok((object, status))) = receive.as_mut().poll(&mut context) else {
        panic!()
    };
    check(object.get(), 5, 1);
    assert_eq!(status.source, 1);
    assert_eq!(std::ptr::from_ref(object.get()).addr(), address);
}

#[test]
fn the_object_of_the_root_reaches_all_ranks() {
    for_groups(|rank| {
        for root in 0..rank.size() {
            for text in TEXTS {
                if rank.rank() == root {
                    // The object may borrow.
                    let local = record(root.into(), text);
                    rank.objects().broadcast(&(&local, 1u8)).unwrap();
                } else {
                    let received = rank
                        .objects()
                        .recv_broadcast::<(&Record, u8)>(root)
                        .unwrap();
                    check(received.get().0, root.into(), text);
                }
            }
        }
        works(rank);
    });
}

/// An adapter that counts how often a value is written.
struct Counting;

static WRITES: AtomicUsize = AtomicUsize::new(0);

impl Adapter<u32> for Counting {
    type Wire = u32;
    type Error = Infallible;

    fn to_wire(value: &u32) -> u32 {
        WRITES.fetch_add(1, Ordering::Relaxed);
        *value
    }

    fn from_wire(wire: &u32) -> Result<u32, Infallible> {
        Ok(*wire)
    }
}

#[derive(Transportable)]
struct Counted {
    #[transportable(with = Counting)]
    value: u32,
}

#[test]
fn a_broadcast_writes_the_object_once() {
    for size in [1, 2, 5] {
        WRITES.store(0, Ordering::Relaxed);
        each(&group("threads", size, &brief()), |rank| {
            match rank.rank() {
                0 => rank.objects().broadcast(&Counted { value: 7 }).unwrap(),
                _ => {
                    let received = rank.objects().recv_broadcast::<Counted>(0).unwrap();
                    assert_eq!(received.get().value, 7);
                }
            }
        });
        assert_eq!(WRITES.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn parts_of_the_root_reach_their_ranks() {
    for_groups(|rank| {
        let (size, own) = (u64::from(rank.size()), u64::from(rank.rank()));
        for root in 0..rank.size() {
            let is_root = rank.rank() == root;
            for (count, text) in [(0, 1), (1, 1), (13, 1), (13, 50_000)] {
                let part = if is_root {
                    let records: Vec<_> = (0..count).map(|number| record(number, text)).collect();
                    rank.objects().scatter(&records).unwrap()
                } else {
                    rank.objects().recv_scattered::<Record>(root).unwrap()
                };
                let start = own * (count / size) + own.min(count % size);
                let len = count / size + u64::from(own < count % size);
                assert_eq!(part.get().len() as u64, len);
                for (number, found) in (start..).zip(*part.get()) {
                    check(found, number, text);
                }
                // Each rank gets one more than the one before.
                let part = if is_root {
                    let all = size * (size - 1) / 2;
                    let records: Vec<_> = (0..all).map(|number| record(number, text)).collect();
                    let counts: Vec<_> = (0..rank.size() as usize).collect();
                    rank.objects().scatter_v(&records, &counts).unwrap()
                } else {
                    rank.objects().recv_scattered::<Record>(root).unwrap()
                };
                assert_eq!(part.get().len() as u64, own);
                for (number, found) in (own * own.saturating_sub(1) / 2..).zip(*part.get()) {
                    check(found, number, text);
                }
            }
        }
        works(rank);
    });
}

/// Returns records of a rank, one more than those of the rank before it.
fn records_of(rank: u32, text: usize) -> Vec<Record> {
    let numbers = (0..u64::from(rank)).map(|index| u64::from(rank) * 100 + index);
    numbers.map(|number| record(number, text)).collect()
}

fn check_parts(parts: &rank::ObjectParts<Record>, rank: &Rank, text: usize) {
    assert_eq!(parts.iter().len(), rank.size() as usize);
    for (rank, part) in (0..).zip(parts.iter()) {
        assert_eq!(part.len(), rank as usize);
        for (found, expected) in part.iter().zip(records_of(rank, text)) {
            check(found, expected.number, text);
        }
    }
}

#[test]
fn parts_of_all_ranks_are_gathered_in_their_order() {
    for_groups(|rank| {
        for text in TEXTS {
            let own = records_of(rank.rank(), text);
            for root in 0..rank.size() {
                let parts = rank.objects().gather(root, &own).unwrap();
                assert_eq!(parts.is_some(), rank.rank() == root);
                if let Some(parts) = parts {
                    check_parts(&parts, rank, text);
                }
            }
            let parts = rank.objects().all_gather(&own).unwrap();
            check_parts(&parts, rank, text);
            assert_eq!(parts.part(rank.rank()).unwrap().get().len(), own.len());
            assert!(parts.part(rank.size()).is_none());
            assert_eq!(parts.into_iter().count(), rank.size() as usize);
        }
        works(rank);
    });
}

#[test]
fn parts_of_all_ranks_are_exchanged() {
    for_groups(|rank| {
        let (size, own) = (rank.size(), rank.rank());
        for text in TEXTS {
            let number = |from: u32, to: u32| u64::from(from * 10 + to);
            let sent: Vec<_> = (0..size).map(|to| record(number(own, to), text)).collect();
            let parts = rank.objects().all_to_all(&sent).unwrap();
            for (from, part) in (0..).zip(parts.iter()) {
                assert_eq!(part.len(), 1);
                check(&part[0], number(from, own), text);
            }
            // Everything goes to the next rank.
            let mut counts = vec![0; size as usize];
            counts[((own + 1) % size) as usize] = sent.len();
            let parts = rank.objects().all_to_all_v(&sent, &counts).unwrap();
            let before = (own + size - 1) % size;
            for (from, part) in (0..).zip(parts.iter()) {
                assert_eq!(part.len(), if from == before { sent.len() } else { 0 });
                for (to, found) in (0..).zip(part) {
                    check(found, number(before, to), text);
                }
            }
        }
        works(rank);
    });
}

#[test]
fn members_of_subgroups_have_numbers_of_their_own() {
    for way in ways() {
        println!("{way}");
        each(&group(way, 5, &brief()), |rank| {
            // Ranks 4, 2 and 0, and ranks 3 and 1.
            let part = rank.split(Some(rank.rank() % 2), 10 - rank.rank());
            let part = part.unwrap().unwrap();
            let own = [rank.rank()];
            let parts = part.objects().all_gather(&own).unwrap();
            let members: Vec<_> = parts.iter().flatten().copied().collect();
            assert_eq!(
                members,
                [vec![4, 2, 0], vec![3, 1]][rank.rank() as usize % 2]
            );
            let last = part.size() - 1;
            if part.rank() == last {
                part.objects().broadcast(&"last").unwrap();
            } else {
                assert_eq!(
                    *part.objects().recv_broadcast::<&str>(last).unwrap().get(),
                    "last"
                );
            }
            // An error names the number in the subgroup.
            let result = match part.rank() {
                0 => part.objects().recv_broadcast::<String>(1).map(drop),
                1 => part.objects().broadcast(&1u64),
                _ => part.objects().recv_broadcast::<u64>(1).map(drop),
            };
            if part.rank() == 0 {
                match cause(result.unwrap_err()) {
                    Error::Read { rank, .. } => assert_eq!(rank, 1),
                    error => panic!("{error}"),
                }
            } else {
                result.unwrap();
            }
        });
    }
}

#[test]
fn parts_lie_in_their_receive_buffers() {
    let pool = Pool::default();
    let mut options = Options::new(pool.clone());
    options.collective_timeout = brief().collective_timeout;
    each(&group("threads", 3, &options), |rank| {
        for text in TEXTS {
            let records = [record(1, text), record(2, text), record(5, text)];
            let part = match rank.rank() {
                1 => rank.objects().scatter(&records).unwrap(),
                _ => rank.objects().recv_scattered(1).unwrap(),
            };
            let is_in_place = |part: &[RecordRef<'_>]| {
                let contains = |record: &RecordRef<'_>| {
                    pool.contains(record.name) && pool.contains(record.links)
                };
                pool.contains(part) && part.iter().all(contains)
            };
            assert!(is_in_place(part.get()));
            let parts = rank.objects().all_gather(&records).unwrap();
            assert!(parts.iter().all(is_in_place));
            // Each part has a buffer of its own.
            let mut capacities = 0;
            let mut first: Vec<_> = parts.iter().map(|part| part.as_ptr().addr()).collect();
            for part in parts {
                capacities += part.capacity();
            }
            first.sort_unstable();
            first.dedup();
            assert_eq!(first.len(), 3);
            assert!(capacities > 3 * text);
        }
    });
}

#[test]
fn a_rank_that_has_ended_is_named() {
    for way in ways() {
        println!("{way}");
        let mut ranks = group(way, 4, &brief());
        each(&ranks, works);
        ranks.remove(2);
        each(&ranks, |rank| {
            let own = [rank.rank()];
            let error = rank.objects().all_gather(&own).unwrap_err();
            assert!(blamed(&error).is_some(), "{error}");
            if let Err(error) = rank.objects().gather(0, &own) {
                assert_eq!((rank.rank(), blamed(&error)), (0, Some(2)), "{error}");
            } else {
                assert_ne!(rank.rank(), 0);
            }
            // Ranks 1 and 3 do not depend on rank 2 if rank 0 scatters.
            match rank.rank() {
                0 => {
                    let error = rank.objects().scatter(&own).unwrap_err();
                    assert_eq!(blamed(&error), Some(2), "{error}");
                }
                _ => drop(rank.objects().recv_scattered::<u32>(0).unwrap()),
            }
        });
    }
}

thread_local! {
    /// Makes the rank of this thread fail.
    static FAILS: Cell<bool> = const { Cell::new(false) };
}

/// An adapter that panics in writes of ranks that fail.
struct Fragile;

impl Adapter<u32> for Fragile {
    type Wire = u32;
    type Error = Infallible;

    fn to_wire(value: &u32) -> u32 {
        assert!(!FAILS.get(), "this rank can't write");
        *value
    }

    fn from_wire(wire: &u32) -> Result<u32, Infallible> {
        Ok(*wire)
    }
}

#[derive(Transportable)]
struct Broken {
    #[transportable(with = Fragile)]
    value: u32,
}

#[test]
fn a_write_that_panics_fails_at_the_ranks_that_depend_on_it() {
    for way in ways() {
        println!("{way}");
        let mut options = brief();
        // Messages that are left behind would block later ones.
        (options.bounds.messages, options.bounds.bytes) = (4, 4096);
        each(&group(way, 3, &options), |rank| {
            let is_broken = rank.rank() == 1;
            FAILS.set(is_broken);
            let own = [const { Broken { value: 3 } }; 3];
            let fails = |depends: bool, work: &dyn Fn() -> Result<(), Error>| {
                let result = catch_unwind(AssertUnwindSafe(work));
                match result {
                    Err(_) => assert!(is_broken),
                    Ok(Err(error)) => assert!(depends && blamed(&error) == Some(1), "{error}"),
                    Ok(Ok(())) => assert!(!depends && !is_broken),
                }
            };
            for _ in 0..20 {
                fails(true, &|| match rank.rank() {
                    1 => rank.objects().broadcast(&own[0]),
                    _ => rank.objects().recv_broadcast::<Broken>(1).map(drop),
                });
                fails(true, &|| match rank.rank() {
                    1 => rank.objects().scatter(&own).map(drop),
                    _ => rank.objects().recv_scattered::<Broken>(1).map(drop),
                });
                let is_root = rank.rank() == 0;
                fails(is_root, &|| rank.objects().gather(0, &own).map(drop));
                fails(true, &|| rank.objects().all_gather(&own).map(drop));
                fails(true, &|| rank.objects().all_to_all(&own).map(drop));
            }
            FAILS.set(false);
            works(rank);
        });
    }
}

fn is_accepted(_: &Verified) -> Result<(), &'static str> {
    if FAILS.get() {
        return Err("this rank refuses it");
    }
    Ok(())
}

#[derive(Transportable)]
#[transportable(verify = is_accepted)]
struct Verified {
    value: u32,
}

#[test]
fn objects_that_one_rank_refuses_fail_there() {
    for way in ways() {
        println!("{way}");
        each(&group(way, 4, &brief()), |rank| {
            // Rank 2 forwards the broadcast to rank 3.
            FAILS.set(rank.rank() == 2);
            let check = |result: Result<(), Error>| {
                if rank.rank() == 2 {
                    let error = cause(result.unwrap_err()).to_string();
                    assert!(error.contains("this rank refuses it"), "{error}");
                } else {
                    result.unwrap();
                }
            };
            let objects = [const { Verified { value: 4 } }; 4];
            let broadcast = match rank.rank() {
                0 => rank.objects().broadcast(&objects[0]),
                _ => rank
                    .objects()
                    .recv_broadcast::<Verified>(0)
                    .map(|object| assert_eq!(object.get().value, 4)),
            };
            check(broadcast);
            check(match rank.rank() {
                0 => rank.objects().scatter(&objects).map(drop),
                _ => rank.objects().recv_scattered::<Verified>(0).map(drop),
            });
            check(rank.objects().gather(2, &objects).map(drop));
            works(rank);
        });
    }
}

/// A rank writes with the limits with which it reads, so it fails before it sends.
#[test]
fn objects_beyond_the_limits_of_the_root_fail_at_all_ranks() {
    for way in ways() {
        println!("{way}");
        let mut options = brief();
        options.object_limits.bytes = 1000;
        each(&group(way, 3, &options), |rank| {
            let records = [record(0, 1), record(1, 2000), record(2, 1)];
            let result = match rank.rank() {
                0 => rank.objects().scatter(&records),
                _ => rank.objects().recv_scattered::<Record>(0),
            };
            let error = result.map(drop).unwrap_err();
            assert!(error.to_string().contains("Limits::bytes"), "{error}");
            if rank.rank() > 0 {
                assert_eq!(blamed(&error), Some(0), "{error}");
            }
            works(rank);
        });
    }
}

#[test]
fn another_type_is_an_error_of_the_reader() {
    each(&group("threads", 3, &brief()), |rank| {
        let error = match rank.rank() {
            0 => rank.objects().all_gather(&["text"]).unwrap_err(),
            _ => rank.objects().all_gather(&[1u32]).unwrap_err(),
        };
        assert!(matches!(cause(error), Error::Read { .. }));
        works(rank);
    });
}

#[test]
fn other_operations_and_roots_are_disagreements() {
    for way in ways() {
        println!("{way}");
        let errors = each(&group(way, 3, &brief()), |rank| {
            let own = [1u8; 3];
            let error = match rank.rank() {
                0 => rank.objects().gather(0, &own).unwrap_err(),
                1 => rank.objects().all_gather(&own).unwrap_err(),
                _ => rank.all_to_all(&own, &mut [0; 3]).unwrap_err(),
            };
            works(rank);
            error
        });
        assert!(
            errors.iter().all(|error| blamed(error).is_some()),
            "{errors:?}"
        );
        // Operations on objects are others than those on elements.
        let errors = each(&group(way, 2, &brief()), |rank| {
            let error = match rank.rank() {
                0 => rank.objects().all_gather(&[1u8]).map(drop),
                _ => rank.all_gather(&[1u8], &mut [0; 2]),
            };
            error.unwrap_err()
        });
        assert!(
            errors.iter().all(|error| blamed(error).is_some()),
            "{errors:?}"
        );
    }
}

#[test]
fn invalid_arguments_fail_at_all_ranks() {
    for way in ways() {
        println!("{way}");
        each(&group(way, 3, &brief()), |rank| {
            let is_wrong = rank.rank() == 1;
            let objects = [1u64, 2, 3];
            let check = |text: &str, result: Result<(), Error>| {
                let error = result.unwrap_err();
                if is_wrong {
                    assert_eq!(error.to_string(), text);
                } else {
                    assert_eq!(blamed(&error), Some(1), "{error}");
                }
            };
            let scatter = |counts: &[usize]| match rank.rank() {
                1 => rank.objects().scatter_v(&objects, counts).map(drop),
                _ => rank.objects().recv_scattered::<u64>(1).map(drop),
            };
            check(
                "the arguments of scatter are invalid: 2 counts were given for a group of 3 ranks: \
                 give one for each rank",
                scatter(&[1, 2]),
            );
            for (counts, total) in [([1, 2, 1], 4), ([1, 0, 1], 2)] {
                let text = format!(
                    "`objects` of scatter has 3 elements, but the number of ranks and the other \
                     arguments require {total}"
                );
                check(&text, scatter(&counts));
            }
            check(
                "rank 1 is the root of scatter; the root has to call `Objects::scatter`",
                rank.objects().recv_scattered::<u64>(1).map(drop),
            );
            check(
                "rank 1 is the root of broadcast; the root has to call `Objects::broadcast`",
                rank.objects().recv_broadcast::<u64>(1).map(drop),
            );
            let root = if is_wrong { 3 } else { 1 };
            check(
                "the arguments of broadcast are invalid: the root 3 is no rank of a group of 3 \
                 ranks",
                rank.objects().recv_broadcast::<u64>(root).map(drop),
            );
            let mut counts = vec![1; 3];
            if is_wrong {
                counts.pop();
            }
            check(
                "the arguments of all_to_all are invalid: 2 counts were given for a group of 3 \
                 ranks: give one for each rank",
                rank.objects().all_to_all_v(&objects, &counts).map(drop),
            );
            works(rank);
        });
    }
}

#[test]
fn a_rank_that_never_comes_is_a_timeout() {
    let mut options = brief();
    options.collective_timeout = Duration::from_millis(50);
    for way in ways() {
        println!("{way}");
        for text in [TEXTS[0], 1_000_000] {
            let ranks = group(way, 3, &options);
            let records = [record(1, text), record(2, text), record(3, text)];
            let check = |result: Result<(), Error>| {
                let error = cause(result.unwrap_err());
                assert!(matches!(error, Error::TimedOut { .. }), "{error}");
            };
            check(ranks[0].objects().recv_broadcast::<Record>(1).map(drop));
            check(ranks[0].objects().all_gather(&records).map(drop));
            check(ranks[0].objects().all_to_all(&records).map(drop));
            check(ranks[0].objects().gather(0, &records).map(drop));
            if text > 1 && !["threads", "inproc"].contains(&way) {
                // Long messages wait for the other rank, unless their jbufs move to it.
                check(ranks[0].objects().broadcast(&records[0]));
                check(ranks[0].objects().scatter(&records).map(drop));
                check(ranks[0].objects().gather(1, &records).map(drop));
            }
        }
    }
}

#[test]
fn objects_without_room_in_the_pool_are_errors() {
    let mut pool = PoolOptions::default();
    pool.max_mapped = 4 << 20;
    let mut options = Options::new(Pool::new(pool));
    options.collective_timeout = brief().collective_timeout;
    each(&group("threads", 4, &options), |rank| {
        // The root can't write it.
        let broadcast = |bytes: usize| match rank.rank() {
            0 => rank.objects().broadcast(&vec![1u8; bytes]),
            _ => rank.objects().recv_broadcast::<Vec<u8>>(0).map(drop),
        };
        let error = broadcast(20 << 20).unwrap_err();
        match rank.rank() {
            0 => assert!(matches!(cause(error), Error::Write(_))),
            _ => {
                assert_eq!(blamed(&error), Some(0), "{error}");
                assert!(error.to_string().contains("can't be written"), "{error}");
            }
        }
        works(rank);
        // Some of the receivers have no room, or all take turns.
        let result = broadcast(1_200_000);
        if let Err(error) = result {
            let is_without_room = matches!(
                &error,
                Error::Collective { source, .. } if matches!(**source, Error::NoBuffer { .. })
            );
            assert!(is_without_room || blamed(&error).is_some(), "{error}");
        }
        works(rank);
        broadcast(1000).unwrap();
    });
}

#[test]
fn messages_that_one_rank_does_not_take_fail_there() {
    // Rank 2 allocates less than the others. The messages are longer than eager ones.
    for way in ["threads", "shm", "uds", "tcp"] {
        let ranks = group_of(way, 3, |rank| {
            let mut options = brief();
            if rank == 2 {
                options.object_limits.bytes = 10_000;
            }
            options
        });
        each(&ranks, |rank| {
            let objects = [vec![1u8; 1], vec![2; 300_000], vec![3; 300_000]];
            let result = match rank.rank() {
                0 => rank.objects().scatter(&objects),
                _ => rank.objects().recv_scattered::<Vec<u8>>(0),
            };
            match (rank.rank(), result) {
                (0, Err(error)) => match cause(error) {
                    Error::TooLong { rank, max, .. } => assert_eq!((rank, max), (2, 10_000)),
                    error => panic!("{error}"),
                },
                (1, Ok(part)) => assert_eq!(part.get()[0], objects[1]),
                (2, Err(error)) => match cause(error) {
                    Error::OverLimit { rank, max, .. } => assert_eq!((rank, max), (0, 10_000)),
                    error => panic!("{error}"),
                },
                (rank, _) => panic!("rank {rank} has another result"),
            }
            works(rank);
        });
    }
}
