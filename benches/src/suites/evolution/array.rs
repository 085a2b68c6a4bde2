//! Lower bounds for messages that consist mainly of an array: one pass over its elements.

use std::hint::black_box;
use std::time::Instant;

use crate::measure::since;
use crate::suites::serialization::subjects::Subject;
use crate::suites::serialization::walk::Walk;
use crate::{Failure, alloc};

/// A subject that makes the elements `New` of the elements `Old`.
pub(super) struct Pass<Old: 'static, New> {
    name: &'static str,
    from: &'static [Old],
    /// The pass. It is given an empty vector with enough memory, or a new vector.
    pass: fn(&[Old], &mut Vec<New>),
    into: Vec<New>,
    /// True if each pass gets new memory, as a conversion does.
    allocates: bool,
    times: usize,
}

impl<Old, New> Pass<Old, New> {
    /// Creates a subject whose passes write to the same memory.
    pub(super) fn new(
        name: &'static str,
        from: &'static [Old],
        pass: fn(&[Old], &mut Vec<New>),
    ) -> Self {
        Self {
            name,
            from,
            pass,
            into: Vec::with_capacity(from.len()),
            allocates: false,
            times: 1,
        }
    }

    /// Creates a subject whose passes allocate.
    pub(super) fn allocating(
        name: &'static str,
        from: &'static [Old],
        pass: fn(&[Old], &mut Vec<New>),
    ) -> Self {
        Self {
            allocates: true,
            ..Self::new(name, from, pass)
        }
    }

    #[inline(always)]
    fn run(&mut self) {
        if self.allocates {
            self.into = Vec::new();
        }
        self.into.clear();
        (self.pass)(black_box(self.from), &mut self.into);
        black_box(&self.into);
    }
}

impl<Old: 'static, New: Walk> Subject for Pass<Old, New> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn bytes(&self) -> usize {
        size_of_val(self.from)
    }

    fn keep(&mut self, copies: usize) {
        self.times = copies;
    }

    fn write(&mut self) -> Result<f64, Failure> {
        Err("versions are only read".into())
    }

    fn read(&mut self) -> Result<f64, Failure> {
        let start = Instant::now();
        for _ in 0..self.times {
            self.run();
        }
        Ok(since(start, self.times))
    }

    fn traverse(&mut self) -> Result<f64, Failure> {
        self.run();
        let start = Instant::now();
        for _ in 0..self.times {
            black_box(black_box(&self.into).walk());
        }
        Ok(since(start, self.times))
    }

    fn read_and_traverse(&mut self) -> Result<f64, Failure> {
        let start = Instant::now();
        for _ in 0..self.times {
            self.run();
            black_box(self.into.walk());
        }
        Ok(since(start, self.times))
    }

    fn allocations(&mut self) -> Result<f64, Failure> {
        Ok(alloc::count(|| self.run()).1 as f64)
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        self.run();
        Ok(self.into.walk())
    }
}
