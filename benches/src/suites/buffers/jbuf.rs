//! What taking a jbuf and giving it back costs.

use std::hint::black_box;
use std::time::Instant;

use jstream::Pool;

use super::Subject;
use crate::Failure;
use crate::measure::since;
use crate::suites::Bench;

/// Operations per round: enough that taking the time costs nothing.
const OPERATIONS: usize = 1_000;
const CAPACITY: usize = 4_096;

/// A jbuf from the pool beside memory from the allocator, taken and given back.
pub(super) fn run(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    let pool = Pool::default();
    let jstream = Subject::new("jstream", move || {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            drop(black_box(pool.take(CAPACITY)?));
        }
        Ok(since(start, OPERATIONS))
    });
    let malloc = Subject::new("malloc", || {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            drop(black_box(Vec::<u8>::with_capacity(CAPACITY)));
        }
        Ok(since(start, OPERATIONS))
    });
    bench.compare(case, "take_and_give_back", vec![jstream, malloc])?;
    let text = format!("one thread, {OPERATIONS} operations per round");
    bench.note(case, text);
    Ok(())
}
