//! Cost of using memory for the first time.

use std::hint::black_box;
use std::time::Instant;

use jstream::Pool;
use jstream::buffer::{EmptyBuffer, Region};

use super::Subject;
use crate::Failure;
use crate::suites::Bench;

/// Size of the memory in bytes, larger than the blocks that an allocator caches.
const LEN: usize = 64 << 20;

/// Measures the first write to a fresh region, to a pool's first jbuf, and to zeroed memory of the
/// allocator. The time includes getting the memory, but not releasing it.
pub(super) fn first_write(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    let region = Subject::new("jstream", || {
        fresh(
            || Ok(EmptyBuffer::region(Region::anonymous(LEN)?)),
            write_to_jbuf,
        )
    });
    let pool = Subject::new("pool", || {
        let pool = Pool::default();
        fresh(|| Ok(pool.take(LEN)?), write_to_jbuf)
    });
    let calloc = Subject::new("calloc", || {
        let get = || Ok(vec![0u8; LEN]);
        fresh(get, |bytes| {
            bytes.iter_mut().step_by(64).for_each(|byte| *byte = 1)
        })
    });
    bench.compare(case, "first_write", vec![region, pool, calloc])?;
    let text = format!("{} MiB, a byte of every 64 is written", LEN >> 20);
    bench.note(case, text);
    Ok(())
}

fn fresh<M>(
    get: impl FnOnce() -> Result<M, Failure>,
    write: impl FnOnce(&mut M),
) -> Result<f64, Failure> {
    let start = Instant::now();
    let mut memory = get()?;
    write(black_box(&mut memory));
    let time = start.elapsed();
    drop(black_box(memory));
    Ok(time.as_secs_f64() * 1e9)
}

fn write_to_jbuf(jbuf: &mut EmptyBuffer) {
    for byte in jbuf.uninit_mut().iter_mut().step_by(64) {
        byte.write(1);
    }
}
