//! Subject `jstream`: messages of another version that a reader has learnt, converted and read.

use std::hint::black_box;
use std::marker::PhantomData;
use std::time::Instant;

use jstream::schema::Schema;
use jstream::{EmptyBuffer, MessageBuffer, Reader, Received, Writer};

use crate::measure::since;
use crate::suites::serialization::cases::versions::Version;
use crate::suites::serialization::subjects::{Sendable, Subject, fetch_ends};
use crate::suites::serialization::walk::Walk;
use crate::{Failure, alloc};

/// A subject that reads messages of type `Old` as type `New`. If both are the same type, nothing is
/// converted.
pub(super) struct Converted<Old, New: Sendable> {
    name: &'static str,
    /// Message of the old version.
    message: Vec<u8>,
    copies: usize,
    reader: Reader,
    filled: Vec<MessageBuffer>,
    received: Vec<Received<New>>,
    old: PhantomData<fn(&Old)>,
}

impl<Old: Version, New: Sendable> Converted<Old, New> {
    pub(super) fn new(name: &'static str, value: &Old) -> Result<Self, Failure> {
        let mut writer = Writer::new();
        let len = writer.gather(value, |segments| segments.iter().map(|s| s.len()).sum())?;
        let filled = writer.write(value, EmptyBuffer::heap(len))?;
        let mut reader = Reader::default();
        let (schema, root) = Schema::of::<Old>();
        reader.learn(&schema, root)?;
        Ok(Self {
            name,
            message: filled.as_bytes().to_vec(),
            copies: 1,
            reader,
            filled: Vec::new(),
            received: Vec::new(),
            old: PhantomData,
        })
    }

    /// Copies the message into new jbufs: those of messages that are converted are released while
    /// they are read.
    fn prepare(&mut self) -> Result<(), Failure> {
        for _ in 0..self.copies {
            let filled = EmptyBuffer::heap(self.message.len()).copy_from(&self.message)?;
            fetch_ends(filled.as_bytes());
            self.filled.push(filled);
        }
        Ok(())
    }

    /// Reads all messages. This is the timed part.
    #[inline(always)]
    fn read_all(&mut self) -> Result<(), Failure> {
        for filled in self.filled.drain(..) {
            self.received.push(self.reader.read::<New>(filled)?);
        }
        Ok(())
    }
}

impl<Old: Version, New: Sendable> Subject for Converted<Old, New> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn bytes(&self) -> usize {
        self.message.len()
    }

    fn keep(&mut self, copies: usize) {
        self.copies = copies;
        self.filled = Vec::with_capacity(copies);
        self.received = Vec::with_capacity(copies);
    }

    fn write(&mut self) -> Result<f64, Failure> {
        Err("versions are only read".into())
    }

    fn read(&mut self) -> Result<f64, Failure> {
        self.prepare()?;
        let times = self.filled.len();
        let start = Instant::now();
        self.read_all()?;
        let time = since(start, times);
        black_box(&self.received);
        self.received.clear();
        Ok(time)
    }

    fn traverse(&mut self) -> Result<f64, Failure> {
        self.prepare()?;
        self.read_all()?;
        let start = Instant::now();
        for received in &self.received {
            black_box(black_box(received).get().walk());
        }
        let time = since(start, self.received.len());
        self.received.clear();
        Ok(time)
    }

    fn read_and_traverse(&mut self) -> Result<f64, Failure> {
        self.prepare()?;
        let times = self.filled.len();
        let start = Instant::now();
        self.read_all()?;
        for received in &self.received {
            black_box(black_box(received).get().walk());
        }
        let time = since(start, times);
        self.received.clear();
        Ok(time)
    }

    fn allocations(&mut self) -> Result<f64, Failure> {
        self.prepare()?;
        let times = self.filled.len();
        let (result, allocations) = alloc::count(|| self.read_all());
        result?;
        self.received.clear();
        Ok(allocations as f64 / times as f64)
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        self.prepare()?;
        self.read_all()?;
        let sum = self.received.first().map(|received| received.get().walk());
        self.received.clear();
        sum.ok_or_else(|| "no message was kept".into())
    }
}
