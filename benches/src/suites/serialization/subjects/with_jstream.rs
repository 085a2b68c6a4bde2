//! Subject `jstream`.

use std::hint::black_box;
use std::mem;
use std::time::Instant;

use jstream::{
    Covariant, EmptyBuffer, Limits, MessageBuffer, Reader, Received, Transportable, Writer,
};

use super::super::walk::Walk;
use super::{Subject, fetch_ends};
use crate::Failure;
use crate::alloc;
use crate::measure::since;

/// A type whose in-place form can be walked and sent again.
pub(in crate::suites) trait Sendable:
    Transportable
    + Covariant
    + for<'b> Transportable<InPlace<'b>: Walk + Transportable + Sync>
    + 'static
{
}

/// Bytes of a jbuf in excess of its message. Jbufs of a pool have some, since a pool has few sizes.
const SLACK: usize = 512;

/// Returns limits without one of the depth, since the rkyv subject has no such limit either.
pub(super) fn bottomless() -> Limits {
    let mut limits = Limits::default();
    limits.depth = None;
    limits
}

impl<T> Sendable for T where
    T: Transportable
        + Covariant
        + for<'b> Transportable<InPlace<'b>: Walk + Transportable + Sync>
        + 'static
{
}

pub(in super::super) struct Jstream<T: Sendable> {
    value: &'static T,
    writer: Writer,
    reader: Reader,
    /// Message as written.
    message: Vec<u8>,
    /// Buffer for the messages that are written.
    into: EmptyBuffer,
    /// Jbufs that a round reads. Each is in exactly one of these three lists at any time.
    empty: Vec<EmptyBuffer>,
    filled: Vec<MessageBuffer>,
    received: Vec<Received<T>>,
}

impl<T: Sendable> Jstream<T> {
    pub(in super::super) fn new(value: &'static T) -> Result<Self, Failure> {
        let mut writer = Writer::with_limits(bottomless());
        let len = writer.gather(value, |segments| segments.iter().map(|s| s.len()).sum())?;
        let filled = writer.write(value, EmptyBuffer::heap(len))?;
        Ok(Self {
            value,
            writer,
            reader: Reader::new(bottomless()),
            message: filled.as_bytes().to_vec(),
            into: filled.into_empty(),
            empty: Vec::new(),
            filled: Vec::new(),
            received: Vec::new(),
        })
    }

    /// Copies the message into all jbufs.
    fn prepare(&mut self) -> Result<(), Failure> {
        for empty in self.empty.drain(..) {
            let filled = empty.copy_from(&self.message)?;
            fetch_ends(filled.as_bytes());
            self.filled.push(filled);
        }
        Ok(())
    }

    /// Reads all messages. This is the timed part.
    #[inline(always)]
    fn read_all(&mut self) -> Result<(), Failure> {
        for filled in self.filled.drain(..) {
            self.received.push(self.reader.read::<T>(filled)?);
        }
        Ok(())
    }

    fn recover(&mut self) {
        self.empty
            .extend(self.received.drain(..).map(Received::into_empty));
    }
}

impl<T: Sendable> Subject for Jstream<T> {
    fn name(&self) -> &'static str {
        "jstream"
    }

    fn bytes(&self) -> usize {
        self.message.len()
    }

    fn keep(&mut self, copies: usize) {
        self.empty = (0..copies)
            .map(|_| EmptyBuffer::heap(self.message.len() + SLACK))
            .collect();
        self.filled = Vec::with_capacity(copies);
        self.received = Vec::with_capacity(copies);
    }

    fn write(&mut self) -> Result<f64, Failure> {
        let times = self.empty.len();
        let mut into = mem::replace(&mut self.into, EmptyBuffer::heap(0));
        let start = Instant::now();
        for _ in 0..times {
            let filled = self.writer.write(black_box(self.value), into)?;
            into = black_box(filled).into_empty();
        }
        let time = since(start, times);
        self.into = into;
        Ok(time)
    }

    fn read(&mut self) -> Result<f64, Failure> {
        self.prepare()?;
        let times = self.filled.len();
        let start = Instant::now();
        self.read_all()?;
        let time = since(start, times);
        black_box(&self.received);
        self.recover();
        Ok(time)
    }

    fn forward(&mut self, changed: bool) -> Result<f64, Failure> {
        self.prepare()?;
        self.read_all()?;
        if changed {
            for received in &mut self.received {
                received.with_mut(|object| {
                    black_box(object);
                });
            }
        }
        let times = self.received.len();
        let start = Instant::now();
        for received in self.received.drain(..) {
            let forwarded = self.writer.forward(black_box(received));
            let forwarded = forwarded.map_err(|unforwarded| unforwarded.error)?;
            if !forwarded.in_place {
                return Err("the object was copied".into());
            }
            self.filled.push(forwarded.message);
        }
        let time = since(start, times);
        for filled in self.filled.drain(..) {
            if filled.as_bytes() != self.message {
                return Err("the forwarded message differs from the original".into());
            }
            self.empty.push(filled.into_empty());
        }
        Ok(time)
    }

    fn copy(&mut self) -> Result<f64, Failure> {
        let times = self.empty.len();
        let start = Instant::now();
        for empty in self.empty.drain(..) {
            self.filled.push(empty.copy_from(black_box(&self.message))?);
        }
        let time = since(start, times);
        let filled = self.filled.drain(..);
        self.empty.extend(filled.map(MessageBuffer::into_empty));
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
        self.recover();
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
        self.recover();
        Ok(time)
    }

    fn allocations(&mut self) -> Result<f64, Failure> {
        self.prepare()?;
        let times = self.filled.len();
        let (result, allocations) = alloc::count(|| self.read_all());
        result?;
        self.recover();
        Ok(allocations as f64 / times as f64)
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        self.prepare()?;
        self.read_all()?;
        let sum = self.received.first().map(|received| received.get().walk());
        self.recover();
        sum.ok_or_else(|| "no message was kept".into())
    }
}
