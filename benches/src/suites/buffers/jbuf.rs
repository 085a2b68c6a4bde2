//! Cost of taking a jbuf and releasing it.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use core_affinity::CoreId;
use jstream::{EmptyBuffer, Pool, Reader, Received, Writer};

use super::Subject;
use crate::Failure;
use crate::measure::{self, note_interval, since};
use crate::suites::Bench;

/// Operations per round, enough that reading the clock does not matter.
const OPERATIONS: usize = 1_024;
/// Number of jbufs that are taken at the same time when taking and releasing are measured
/// separately.
const OUT: usize = 64;
/// Operations of each of two threads, enough that both run at the same time for most of the round.
const OPERATIONS_OF_TWO: usize = 100_000;

pub(super) fn small(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    run(bench, case, 256)
}

pub(super) fn medium(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    run(bench, case, 4_096)
}

pub(super) fn large(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    run(bench, case, 1 << 20)
}

/// Compares taking and releasing a jbuf of the pool with allocating and freeing memory.
fn run(bench: &mut Bench<'_>, case: &str, capacity: usize) -> Result<(), Failure> {
    let pool = Pool::default();
    let jstream = Subject::new("jstream", || {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            drop(black_box(pool.take(capacity)?));
        }
        Ok(since(start, OPERATIONS))
    });
    let malloc = Subject::new("malloc", || {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            drop(black_box(Vec::<u8>::with_capacity(capacity)));
        }
        Ok(since(start, OPERATIONS))
    });
    bench.compare(case, "take_and_give_back", vec![jstream, malloc])?;

    for (metric, taking) in [("take", true), ("give_back", false)] {
        let take = || pool.take(capacity).map_err(Failure::from);
        let allocate = || Ok(Vec::<u8>::with_capacity(capacity));
        let jstream = Subject::new("jstream", apart(taking, take));
        let malloc = Subject::new("malloc", apart(taking, allocate));
        bench.compare(case, metric, vec![jstream, malloc])?;
    }
    let text = format!(
        "one thread, {OPERATIONS} operations per round; apart, {OUT} are taken and then given back"
    );
    bench.note(case, text);
    Ok(())
}

/// Returns rounds that take many jbufs and then release them. Only one of the two phases is timed.
fn apart<J>(
    taking: bool,
    take: impl Fn() -> Result<J, Failure>,
) -> impl FnMut() -> Result<f64, Failure> {
    let mut out = Vec::with_capacity(OUT);
    move || {
        let mut nanoseconds = 0.0;
        for _ in 0..OPERATIONS / OUT {
            let start = Instant::now();
            for _ in 0..OUT {
                out.push(black_box(take()?));
            }
            let taken = since(start, OPERATIONS);
            let start = Instant::now();
            out.clear();
            let given = since(start, OPERATIONS);
            nanoseconds += if taking { taken } else { given };
        }
        Ok(nanoseconds)
    }
}

/// Measures two threads that take and release jbufs of one pool at the same time.
pub(super) fn two_threads(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    const CAPACITY: usize = 4_096;
    let pool = Pool::default();
    let jstream = Subject::new("jstream", || {
        at_once(|| drop(black_box(pool.take(CAPACITY))))
    });
    let malloc = Subject::new("malloc", || {
        at_once(|| drop(black_box(Vec::<u8>::with_capacity(CAPACITY))))
    });
    bench.compare(case, "take_and_give_back", vec![jstream, malloc])?;
    let text = format!(
        "two threads at once, {OPERATIONS_OF_TWO} operations each per round; the slower one's time"
    );
    bench.note(case, text);
    Ok(())
}

/// Runs `operation` in two threads and returns the time of one operation in the slower thread.
fn at_once(operation: impl Fn() + Sync) -> Result<f64, Failure> {
    let (operation, begin) = (&operation, &Barrier::new(2));
    let cores = measure::cores();
    // A thread inherits the core of its parent, until it sets its own affinity.
    let core = |n| cores.iter().rev().nth(n).map(|id| CoreId { id: *id });
    thread::scope(|scope| {
        let threads = [core(0), core(1)].map(|core| {
            scope.spawn(move || {
                core.map(core_affinity::set_for_current);
                begin.wait();
                let start = Instant::now();
                for _ in 0..OPERATIONS_OF_TWO {
                    operation();
                }
                since(start, OPERATIONS_OF_TWO)
            })
        });
        let mut slower = 0.0f64;
        for thread in threads {
            let time = thread.join().map_err(|_| "a measuring thread panicked")?;
            slower = slower.max(time);
        }
        note_interval(slower, OPERATIONS_OF_TWO);
        Ok(slower)
    })
}

/// Measures dropping received objects, which releases their jbufs.
pub(super) fn received(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    let pool = Pool::default();
    let mut writer = Writer::new();
    let mut reader = Reader::default();
    let mut objects: Vec<Received<Vec<u64>>> = Vec::with_capacity(OUT);
    let release = Subject::new("jstream", move || {
        let mut nanoseconds = 0.0;
        for _ in 0..OPERATIONS / OUT {
            for n in 0..OUT {
                let message = writer.write_to(&vec![n as u64; 8], &pool)?;
                objects.push(reader.read(message)?);
            }
            let start = Instant::now();
            objects.clear();
            nanoseconds += since(start, OPERATIONS);
        }
        Ok(nanoseconds)
    });
    bench.compare(case, "release", vec![release])?;
    let text = format!("one thread, {OUT} objects released one after another");
    bench.note(case, text);
    Ok(())
}

/// Compares a typed view of a jbuf of raw data with a slice of a `Vec`.
pub(super) fn view(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    const LEN: usize = 512;
    let mut filled = EmptyBuffer::heap(8 * LEN).filled_with(LEN, |i| i as f64)?;
    let plain = vec![0.0f64; LEN];
    let view = Subject::new("jstream", || {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            black_box(black_box(&filled).view::<f64>()?);
        }
        Ok(since(start, OPERATIONS))
    });
    let slice = Subject::new("slice", || {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            black_box(black_box(&plain).as_slice());
        }
        Ok(since(start, OPERATIONS))
    });
    bench.compare(case, "view", vec![view, slice])?;
    let exclusive = Subject::new("jstream", || {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            black_box(black_box(&mut filled).view_mut::<f64>()?);
        }
        Ok(since(start, OPERATIONS))
    });
    bench.compare(case, "view_mut", vec![exclusive])?;
    bench.note(case, format!("a slice of {LEN} numbers"));
    Ok(())
}
