//! Code of the program that is called in the middle of a collective operation: it panics, or calls
//! the rank.
//!
//! Each operation is executed with a countdown to the callback that panics at one rank, from the
//! first callback until none is left to panic. Whatever callback it is, the panic reaches its
//! caller, no rank hangs, and no memory that does not belong to the operation changes.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

use jstream_transport::rank::operation::{Commutative, Ordered, Sum};
use jstream_transport::rank::{
    Algorithm, Collective, Error, Layout, Mesh, Options, Rank, Scope, ScopedCollective,
};
use testing::transport::ranks::{each, group};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The connections over which each callback panics.
const WAYS: [&str; 3] = ["threads", "uds", "shm"];

/// The rank whose callbacks panic.
const FRAGILE: u32 = 1;

thread_local! {
    /// Number of callbacks of this thread until one panics, if one does.
    static COUNTDOWN: Cell<Option<u32>> = const { Cell::new(None) };
    /// Number of elements that were dropped in this thread.
    static DROPPED: Cell<usize> = const { Cell::new(0) };
}

/// The payload of the panics of callbacks.
struct Bomb;

/// Counts a callback of this thread, and panics if its turn has come.
fn tick() {
    let left = COUNTDOWN.get();
    COUNTDOWN.set(left.map(|left| left.saturating_sub(1)));
    if left == Some(0) {
        COUNTDOWN.set(None);
        resume_unwind(Box::new(Bomb));
    }
}

/// An element with a destructor, which the traits of zerocopy allow.
#[derive(Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Fragile(u64);

impl Drop for Fragile {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + 1);
        tick();
    }
}

fn elements(count: usize) -> Vec<Fragile> {
    (0..count as u64).map(Fragile).collect()
}

fn add(first: &Fragile, second: &Fragile) -> Fragile {
    tick();
    Fragile(first.0.wrapping_add(second.0))
}

/// Options with a timeout that ends a test which hangs.
fn brief() -> Options {
    let mut options = Options::default();
    options.collective_timeout = Duration::from_secs(60);
    options
}

/// A way to execute an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Blocking,
    /// Posted and waited for.
    Posted,
    /// Posted, and the request is dropped.
    Dropped,
    /// Posted, and the request is polled as a future.
    Polled,
}

const MODES: [Mode; 4] = [Mode::Blocking, Mode::Posted, Mode::Dropped, Mode::Polled];

/// Waits for an operation in one of the ways for posted ones.
fn complete(mode: Mode, mut posted: ScopedCollective<'_>) -> Result<(), Error> {
    match mode {
        Mode::Blocking | Mode::Posted => posted.wait(),
        Mode::Dropped => Ok(()),
        Mode::Polled => {
            let waker = counting_waker();
            loop {
                let polled = Pin::new(&mut posted).poll(&mut Context::from_waker(&waker));
                match polled {
                    Poll::Ready(result) => return result,
                    Poll::Pending => std::thread::yield_now(),
                }
            }
        }
    }
}

/// The memory of one rank in the operations.
struct Areas {
    block: Vec<Fragile>,
    whole: Vec<Fragile>,
    received: Vec<Fragile>,
    all: Vec<Fragile>,
    counts: Vec<usize>,
}

impl Areas {
    fn new(rank: &Rank, count: usize) -> Self {
        let size = rank.size() as usize;
        Self {
            block: elements(count),
            whole: elements(count * size),
            received: elements(count),
            all: elements(count * size),
            counts: vec![count; size],
        }
    }
}

type Blocking = fn(&Rank, &mut Areas) -> Result<(), Error>;
type Posting =
    for<'scope> fn(&'scope Scope<'scope, '_>, &'scope mut Areas) -> ScopedCollective<'scope>;

const ADD: Commutative<fn(&Fragile, &Fragile) -> Fragile> = Commutative(add);
const COMPOSE: Ordered<fn(&Fragile, &Fragile) -> Fragile> = Ordered(add);

/// All operations on elements, blocking and posted.
const OPERATIONS: &[(&str, Blocking, Posting)] = &[
    (
        "broadcast",
        |rank, areas| rank.broadcast(0, &mut areas.received),
        |scope, areas| scope.ibroadcast(0, &mut areas.received),
    ),
    (
        "scatter",
        |rank, areas| rank.scatter(0, &areas.whole, &mut areas.received),
        |scope, areas| scope.iscatter(0, &areas.whole, &mut areas.received),
    ),
    (
        "scatter_v",
        |rank, areas| rank.scatter_v(0, &areas.whole, &areas.counts, &mut areas.received),
        |scope, areas| scope.iscatter_v(0, &areas.whole, &areas.counts, &mut areas.received),
    ),
    (
        "gather",
        |rank, areas| rank.gather(0, &areas.block, &mut areas.all),
        |scope, areas| scope.igather(0, &areas.block, &mut areas.all),
    ),
    (
        "gather_v",
        |rank, areas| rank.gather_v(0, &areas.block, &areas.counts, &mut areas.all),
        |scope, areas| scope.igather_v(0, &areas.block, &areas.counts, &mut areas.all),
    ),
    (
        "all_gather",
        |rank, areas| rank.all_gather(&areas.block, &mut areas.all),
        |scope, areas| scope.iall_gather(&areas.block, &mut areas.all),
    ),
    (
        "all_gather_v",
        |rank, areas| rank.all_gather_v(&areas.block, &areas.counts, &mut areas.all),
        |scope, areas| scope.iall_gather_v(&areas.block, &areas.counts, &mut areas.all),
    ),
    (
        "reduce",
        |rank, areas| rank.reduce(0, &areas.block, &mut areas.received, &ADD),
        |scope, areas| scope.ireduce(0, &areas.block, &mut areas.received, &ADD),
    ),
    (
        "reduce in order",
        |rank, areas| rank.reduce(FRAGILE, &areas.block, &mut areas.received, &COMPOSE),
        |scope, areas| scope.ireduce(FRAGILE, &areas.block, &mut areas.received, &COMPOSE),
    ),
    (
        "all_reduce",
        |rank, areas| rank.all_reduce(&areas.block, &mut areas.received, &ADD),
        |scope, areas| scope.iall_reduce(&areas.block, &mut areas.received, &ADD),
    ),
    (
        "all_reduce in order",
        |rank, areas| rank.all_reduce(&areas.block, &mut areas.received, &COMPOSE),
        |scope, areas| scope.iall_reduce(&areas.block, &mut areas.received, &COMPOSE),
    ),
    (
        "scan",
        |rank, areas| rank.scan(&areas.block, &mut areas.received, &ADD),
        |scope, areas| scope.iscan(&areas.block, &mut areas.received, &ADD),
    ),
    (
        "exclusive_scan",
        |rank, areas| rank.exclusive_scan(&areas.block, &mut areas.received, &COMPOSE),
        |scope, areas| scope.iexclusive_scan(&areas.block, &mut areas.received, &COMPOSE),
    ),
    (
        "reduce_scatter",
        |rank, areas| rank.reduce_scatter(&areas.whole, &mut areas.received, &ADD),
        |scope, areas| scope.ireduce_scatter(&areas.whole, &mut areas.received, &ADD),
    ),
    (
        "reduce_scatter_v",
        |rank, areas| rank.reduce_scatter_v(&areas.whole, &areas.counts, &mut areas.received, &ADD),
        |scope, areas| {
            scope.ireduce_scatter_v(&areas.whole, &areas.counts, &mut areas.received, &ADD)
        },
    ),
    (
        "all_to_all",
        |rank, areas| rank.all_to_all(&areas.whole, &mut areas.all),
        |scope, areas| scope.iall_to_all(&areas.whole, &mut areas.all),
    ),
    (
        "all_to_all_v",
        |rank, areas| rank.all_to_all_v(&areas.whole, &areas.counts, &mut areas.all, &areas.counts),
        |scope, areas| {
            scope.iall_to_all_v(&areas.whole, &areas.counts, &mut areas.all, &areas.counts)
        },
    ),
];

/// The result of one execution of an operation at one rank.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Seen {
    Success,
    /// An error that blames the fragile rank.
    Failure,
    /// The panic of a callback.
    Panic,
    /// None, because the request was dropped.
    Nothing,
}

/// Vectors of the lengths that operations allocate. A peer that writes to memory that an operation
/// has freed changes one of them.
struct Canaries(Vec<Vec<u64>>);

const UNCHANGED: u64 = 0x5a5a_5a5a;

impl Canaries {
    fn new(count: usize) -> Self {
        let lengths = (1..=3).flat_map(|blocks| [count * blocks, count * blocks / 2]);
        Self(lengths.map(|length| vec![UNCHANGED; length]).collect())
    }

    fn assert_unchanged(&self) {
        for canary in &self.0 {
            let is_unchanged = *canary == vec![UNCHANGED; canary.len()];
            assert!(is_unchanged, "memory of the program was changed");
        }
    }
}

/// Executes an operation once, in which the callback after `countdown` others panics at the fragile
/// rank. `plain` is the rank without a choice of algorithms.
fn execute(
    (rank, plain): (&Rank, &Rank),
    (blocking, posting): (Blocking, Posting),
    mode: Mode,
    count: usize,
    countdown: u32,
) -> Seen {
    let mut areas = Areas::new(rank, count);
    DROPPED.set(0);
    if rank.rank() == FRAGILE {
        COUNTDOWN.set(Some(countdown));
    }
    let result = catch_unwind(AssertUnwindSafe(|| match mode {
        Mode::Blocking => blocking(rank, &mut areas),
        _ => rank.scope(|scope| complete(mode, posting(scope, &mut areas))),
    }));
    COUNTDOWN.set(None);
    assert_eq!(DROPPED.get(), 0, "elements belong to the program");
    let canaries = Canaries::new(count);
    // Messages of the operation that are still in transit arrive before those of the barrier.
    plain.barrier().unwrap();
    canaries.assert_unchanged();
    assert_eq!(areas.block.last(), Some(&Fragile(count as u64 - 1)));
    match result {
        Err(panic) => {
            assert!(panic.is::<Bomb>() && rank.rank() == FRAGILE);
            Seen::Panic
        }
        Ok(_) if mode == Mode::Dropped => Seen::Nothing,
        Ok(Ok(())) => Seen::Success,
        Ok(Err(Error::FailedAt { rank: FRAGILE, .. })) => Seen::Failure,
        Ok(Err(error)) => panic!("{error}"),
    }
}

#[test]
fn a_panic_at_any_callback_reaches_the_caller_and_changes_no_memory() {
    for way in WAYS {
        for mode in MODES {
            println!("{way} {mode:?}");
            let size = 3;
            let panics = each(&group(way, size, &brief()), |rank| {
                let mut panics = 0;
                for (name, blocking, posting) in OPERATIONS {
                    // The longer messages are announced before they are sent.
                    for (count, step) in [(2, 1), (12_000, 9_001)] {
                        let mut countdown = 0;
                        loop {
                            let operation = (*blocking, *posting);
                            let seen = execute((rank, rank), operation, mode, count, countdown);
                            let mut all = [0u8; 3];
                            let has_panicked = u8::from(seen == Seen::Panic);
                            rank.all_gather(&[has_panicked], &mut all).unwrap();
                            assert_eq!(all[0] + all[2], 0, "{name}");
                            if all[FRAGILE as usize] == 0 {
                                // No callback was left.
                                let expected = [Seen::Success, Seen::Nothing];
                                assert!(expected.contains(&seen), "{name} {seen:?}");
                                break;
                            }
                            panics += u32::from(has_panicked);
                            countdown += step;
                        }
                    }
                }
                panics
            });
            assert!(panics[FRAGILE as usize] > 20, "{panics:?}");
        }
    }
}

#[test]
fn a_panic_in_each_algorithm_reaches_the_caller() {
    for way in WAYS {
        each(&group(way, 4, &brief()), |rank| {
            for algorithm in Collective::AllReduce.algorithms() {
                let chosen = rank.with_algorithm(*algorithm);
                for mode in MODES {
                    for countdown in [0, 1, 2_000] {
                        let (_, blocking, posting) = OPERATIONS
                            .iter()
                            .find(|(name, ..)| *name == "all_reduce")
                            .unwrap();
                        let operation = (*blocking, *posting);
                        let both = (&chosen, rank);
                        let seen = execute(both, operation, mode, 6_000, countdown);
                        println!("{way} {algorithm:?} {mode:?} {countdown} {seen:?}");
                    }
                }
            }
        });
    }
}

#[test]
fn packed_elements_are_not_dropped() {
    each(&group("threads", 2, &brief()), |rank| {
        let column = Layout::strided(4, 1, 2).unwrap();
        let (sent, mut received) = (elements(8), elements(8));
        DROPPED.set(0);
        COUNTDOWN.set(Some(0));
        rank.layouts().broadcast(0, &mut received, &column).unwrap();
        let layouts = [column.clone(), column.clone()];
        rank.layouts()
            .scatter(0, &sent, &layouts, &mut received, &column)
            .unwrap();
        rank.layouts()
            .gather(0, &sent, &column, &mut received, &layouts)
            .unwrap();
        COUNTDOWN.set(None);
        assert_eq!(DROPPED.get(), 0);
    });
}

/// Number of callbacks that call a rank.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// A waker whose functions are counted, and call a rank of their thread.
fn counting_waker() -> Waker {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |data| {
            called();
            RawWaker::new(data, &VTABLE)
        },
        |_| called(),
        |_| called(),
        |_| called(),
    );
    // SAFETY: the functions do not use the data, and may be called by any thread.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) }
}

thread_local! {
    /// A rank that functions of wakers and a subscriber call.
    static CALLED: Cell<Option<Rank>> = const { Cell::new(None) };
}

/// Takes the lock of the inbox of the rank of this thread, if it has one.
fn called() {
    CALLS.fetch_add(1, Ordering::Relaxed);
    if let Some(rank) = CALLED.take() {
        let found = rank.iprobe(0, 77);
        assert!(found.is_err() || found.is_ok_and(|found| found.is_none()));
        CALLED.set(Some(rank));
    }
}

#[test]
fn functions_of_wakers_may_call_the_rank() {
    let ranks = group("threads", 2, &brief());

    each(&ranks, |rank| {
        CALLED.set(Some(rank.clone()));
        let waker = counting_waker();
        let mut context = Context::from_waker(&waker);
        let other = 1 - rank.rank();
        for turn in 0..20u64 {
            let mut receive = rank.buffers().irecv(other, turn);
            let mut ready = || Pin::new(&mut receive).poll(&mut context).is_ready();
            let is_early = ready();
            rank.send(other, turn, &[turn]).unwrap();
            while !is_early && !ready() {
                std::thread::yield_now();
            }
            let mut forgotten = rank.buffers().irecv(other, 1_000);
            let _ = Pin::new(&mut forgotten).poll(&mut context);
            drop(forgotten);
            let mut sums = vec![0; 3_000];
            let own = vec![1u64; 3_000];
            rank.scope(|scope| {
                let sum = scope.iall_reduce(&own, &mut sums, &Sum);
                complete(Mode::Polled, sum).unwrap();
            });
            assert!(sums.iter().all(|sum| *sum == 2));
        }
        CALLED.set(None);
    });
    assert!(CALLS.load(Ordering::Relaxed) > 0);
}

/// A subscriber of all events, which calls the rank of its thread, and panics.
struct Panicking;

impl Subscriber for Panicking {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        called();
        EVENTS.set(EVENTS.get() + 1);
        resume_unwind(Box::new(Bomb));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

thread_local! {
    /// Number of events of this thread.
    static EVENTS: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn a_subscriber_that_panics_at_each_event_changes_no_operation() {
    for scheme in ["uds", "shm", "tcp"] {
        let mut options = testing::transport::patient();
        options.trace_messages = true;
        let (zero, one) = testing::transport::pair(scheme, &options, &options);
        let ranks = [(0, zero), (1, one)].map(|(number, end)| {
            let mesh = Mesh::new(number, 2, &brief()).endpoint(1 - number, end);
            mesh.unwrap().build()
        });
        each(&ranks, |rank| {
            CALLED.set(Some(rank.clone()));
            let subscriber = tracing::subscriber::set_default(Panicking);
            for mode in [Mode::Blocking, Mode::Posted, Mode::Dropped] {
                for (name, blocking, posting) in OPERATIONS {
                    for count in [2, 9_000] {
                        let operation = (*blocking, *posting);
                        let seen = execute((rank, rank), operation, mode, count, u32::MAX);
                        let expected = [Seen::Success, Seen::Nothing];
                        assert!(expected.contains(&seen), "{name} {seen:?}");
                    }
                }
            }
            drop(subscriber);
            CALLED.set(None);
            assert!(EVENTS.get() > 0);
        });
    }
}

/// Rank 0 gives an operation up while the message of rank 1 is half received, or half sent, because
/// rank 1 has stopped. The memory of the operation belongs to the program afterwards.
#[test]
fn a_rank_that_stops_within_a_message_is_given_up_in_time() {
    for way in ["uds", "shm", "tcp"] {
        for steps in 0..12 {
            let mut options = Options::default();
            options.collective_timeout = Duration::from_millis(200);
            let count = 400_000;
            let (done, stopped) = std::sync::mpsc::channel();
            let stopped = std::sync::Mutex::new(stopped);
            let result = each(&group(way, 2, &options), |rank| {
                let ring = rank.with_algorithm(Algorithm::Ring);
                let own = vec![1u64; count];
                let mut sums = vec![0u64; count];
                let result = catch_unwind(AssertUnwindSafe(|| {
                    ring.scope(|scope| {
                        let mut posted = scope.iall_reduce(&own, &mut sums, &Sum);
                        if rank.rank() == 1 {
                            for _ in 0..steps {
                                if posted.test().is_some() {
                                    break;
                                }
                            }
                            // The rank makes no progress until rank 0 has given up.
                            let waited = stopped.lock().unwrap().recv_timeout(testing::LONG);
                            waited.unwrap();
                            return None;
                        }
                        let result = posted.wait();
                        let canaries = Canaries::new(count);
                        done.send(()).unwrap();
                        drop(rank.recv_timeout(1, 1, &mut [0u8], Duration::from_millis(50)));
                        canaries.assert_unchanged();
                        Some(result)
                    })
                }));
                result.unwrap()
            });
            println!("{way} {steps} {:?}", result[0]);
            assert!(result[0].is_some());
        }
    }
}

/// Objects are converted to bytes by adapters of the program when a scope receives them.
mod adapters {
    use std::convert::Infallible;

    use jstream::{Adapter, Transportable};

    use super::*;

    struct Ticking;

    impl Adapter<u64> for Ticking {
        type Wire = u64;
        type Error = Infallible;

        fn to_wire(value: &u64) -> u64 {
            tick();
            *value
        }

        fn from_wire(wire: &u64) -> Result<u64, Infallible> {
            tick();
            Ok(*wire)
        }
    }

    #[derive(Transportable)]
    struct Object {
        #[transportable(with = Ticking)]
        value: u64,
    }

    #[test]
    fn a_panic_at_any_callback_of_operations_on_objects_reaches_the_caller() {
        type Work = fn(&Rank) -> Result<(), Error>;
        let operations: [Work; 4] = [
            |rank| match rank.rank() {
                FRAGILE => rank.objects().broadcast(&Object { value: 1 }),
                _ => rank.objects().recv_broadcast::<Object>(FRAGILE).map(drop),
            },
            |rank| match rank.rank() {
                FRAGILE => {
                    let all = [const { Object { value: 1 } }; 3];
                    rank.objects().scatter(&all).map(drop)
                }
                _ => rank.objects().recv_scattered::<Object>(FRAGILE).map(drop),
            },
            |rank| rank.objects().all_gather(&[Object { value: 1 }]).map(drop),
            |rank| {
                let all = [const { Object { value: 1 } }; 3];
                rank.objects().all_to_all(&all).map(drop)
            },
        ];
        for way in WAYS {
            println!("{way}");
            each(&group(way, 3, &brief()), |rank| {
                for work in operations {
                    for countdown in 0.. {
                        if rank.rank() == FRAGILE {
                            COUNTDOWN.set(Some(countdown));
                        }
                        let result = catch_unwind(AssertUnwindSafe(|| work(rank)));
                        COUNTDOWN.set(None);
                        let panicked = match result {
                            Err(panic) => panic.is::<Bomb>(),
                            Ok(Ok(())) => false,
                            Ok(Err(Error::FailedAt { rank: FRAGILE, .. })) => false,
                            Ok(Err(error)) => panic!("{error}"),
                        };
                        let mut all = [0u8; 3];
                        rank.all_gather(&[u8::from(panicked)], &mut all).unwrap();
                        if all[FRAGILE as usize] == 0 {
                            break;
                        }
                    }
                }
            });
        }
    }
}
