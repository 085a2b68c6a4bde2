//! Subject `memcpy`, which only copies a plain array. It only writes.

use std::hint::black_box;
use std::time::Instant;

use super::Subject;
use crate::Failure;
use crate::measure::since;

pub(in super::super) struct Memcpy<T: 'static> {
    from: &'static [T],
    into: Vec<T>,
    times: usize,
}

impl<T: Copy> Memcpy<T> {
    pub(in super::super) fn new(from: &'static [T]) -> Self {
        Self {
            from,
            into: from.to_vec(),
            times: 1,
        }
    }
}

impl<T: Copy> Subject for Memcpy<T> {
    fn name(&self) -> &'static str {
        "memcpy"
    }

    fn bytes(&self) -> usize {
        size_of_val(self.from)
    }

    fn reads(&self) -> bool {
        false
    }

    fn keep(&mut self, copies: usize) {
        self.times = copies;
    }

    fn write(&mut self) -> Result<f64, Failure> {
        let start = Instant::now();
        for _ in 0..self.times {
            self.into.copy_from_slice(black_box(self.from));
            black_box(&self.into);
        }
        Ok(since(start, self.times))
    }

    fn read(&mut self) -> Result<f64, Failure> {
        Err(only_writes())
    }

    fn traverse(&mut self) -> Result<f64, Failure> {
        Err(only_writes())
    }

    fn read_and_traverse(&mut self) -> Result<f64, Failure> {
        Err(only_writes())
    }

    fn allocations(&mut self) -> Result<f64, Failure> {
        Err(only_writes())
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        Err(only_writes())
    }
}

fn only_writes() -> Failure {
    "memcpy does not read".into()
}
