//! The ways to send a value.

#[cfg(feature = "peers")]
mod with_abomonation;
#[cfg(feature = "peers")]
mod with_bitcode;
#[cfg(feature = "peers")]
mod with_capnp;
#[cfg(feature = "peers")]
mod with_epserde;
#[cfg(feature = "peers")]
mod with_flatbuffers;
mod with_jstream;
mod with_memcpy;
#[cfg(feature = "peers")]
mod with_postcard;
mod with_rkyv;
#[cfg(feature = "peers")]
mod with_serde_json;

use std::hint::black_box;
use std::time::Instant;

use rkyv::util::AlignedVec;

#[cfg(feature = "peers")]
pub(super) use self::with_abomonation::Abomonation;
#[cfg(feature = "peers")]
pub(super) use self::with_bitcode::{Bitcode, BitcodeBorrow, Lend};
#[cfg(feature = "peers")]
pub(super) use self::with_capnp::{Capnp, Segmented, Sum, sum_getters};
#[cfg(feature = "peers")]
pub(super) use self::with_epserde::{Copying, Epserde};
#[cfg(feature = "peers")]
pub(super) use self::with_flatbuffers::{Flat, Flatbuffers, walk_accessors};
pub(super) use self::with_jstream::{Jstream, Sendable};
pub(super) use self::with_memcpy::Memcpy;
#[cfg(feature = "peers")]
pub(super) use self::with_postcard::Postcard;
pub(in crate::suites) use self::with_rkyv::{Archivable, Rkyv};
#[cfg(feature = "peers")]
pub(super) use self::with_serde_json::SerdeJson;
use super::walk::Walk;
use crate::measure::since;
use crate::{Failure, alloc};

/// One way to send the value of a case. The rounds return nanoseconds per operation.
pub(in crate::suites) trait Subject {
    fn name(&self) -> &'static str;
    /// The length of the message in bytes.
    fn bytes(&self) -> usize;
    /// Whether it reads, too; what doesn't is only asked to write.
    fn reads(&self) -> bool {
        true
    }
    /// Sets how many messages a round reads.
    fn keep(&mut self, copies: usize);
    /// Writes into one buffer again and again.
    fn write(&mut self) -> Result<f64, Failure>;
    /// Reads each copy once.
    fn read(&mut self) -> Result<f64, Failure>;
    /// Walks each copy once, after reading it.
    fn traverse(&mut self) -> Result<f64, Failure>;
    /// Turns each copy back into its message once, after reading it, and changing it if so asked.
    fn forward(&mut self, _changed: bool) -> Result<f64, Failure> {
        Err(format!("{} does not forward", self.name()).into())
    }
    /// Allocations per read.
    fn allocations(&mut self) -> Result<f64, Failure>;
    /// The sum that walking a read message comes to.
    fn sum(&mut self) -> Result<u64, Failure>;
}

/// Fetches the ends of a message into the cache. Where a message is larger than the cache, how long
/// it takes to look at its header would depend on what copying it left there.
#[inline(never)]
fn fetch_ends(message: &[u8]) {
    const END: usize = 256;
    let first = message.iter().take(END);
    let last = message.iter().rev().take(END);
    black_box(first.chain(last).fold(0u8, |sum, byte| sum ^ byte));
}

/// How a peer writes a `T`, and what it reads it as.
pub(in crate::suites) trait Codec<T>: 'static {
    const NAME: &'static str;
    /// What a message is read as: itself, seen as something, or a value made from it.
    type Read<'a>: Walk;

    /// Writes into memory that is kept from call to call, and returns the message.
    fn write(&mut self, value: &T) -> Result<&[u8], Failure>;
    /// Reads a message, which stands at an address divisible by 16.
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<Self::Read<'a>, Failure>;
}

/// A peer as a subject.
pub(super) struct Peer<T: 'static, C> {
    value: &'static T,
    codec: C,
    /// The message as it was written.
    message: AlignedVec,
    /// As many as a round reads. Some peers change what they read.
    copies: Vec<AlignedVec>,
}

impl<T: 'static, C: Codec<T>> Peer<T, C> {
    pub(super) fn new(value: &'static T, mut codec: C) -> Result<Self, Failure> {
        let mut message = AlignedVec::new();
        message.extend_from_slice(codec.write(value)?);
        Ok(Self {
            value,
            codec,
            message,
            copies: Vec::new(),
        })
    }

    /// Makes all copies equal the message, reads them, and hands over what they are read as and
    /// how long reading took.
    #[inline(always)]
    fn read_all<R>(&mut self, then: impl FnOnce(&[C::Read<'_>], f64) -> R) -> Result<R, Failure> {
        for copy in &mut self.copies {
            copy.clear();
            copy.extend_from_slice(&self.message);
            fetch_ends(copy);
        }
        let times = self.copies.len();
        let mut read = Vec::with_capacity(times);
        let start = Instant::now();
        for copy in &mut self.copies {
            read.push(self.codec.read(black_box(copy))?);
        }
        let time = since(start, times);
        Ok(then(black_box(&read), time))
    }
}

impl<T: 'static, C: Codec<T>> Subject for Peer<T, C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn bytes(&self) -> usize {
        self.message.len()
    }

    fn keep(&mut self, copies: usize) {
        self.copies = (0..copies).map(|_| self.message.clone()).collect();
    }

    fn write(&mut self) -> Result<f64, Failure> {
        let times = self.copies.len();
        let start = Instant::now();
        for _ in 0..times {
            black_box(self.codec.write(black_box(self.value))?);
        }
        Ok(since(start, times))
    }

    fn read(&mut self) -> Result<f64, Failure> {
        self.read_all(|_, time| time)
    }

    fn traverse(&mut self) -> Result<f64, Failure> {
        self.read_all(|read, _| {
            let start = Instant::now();
            for value in read {
                black_box(black_box(value).walk());
            }
            since(start, read.len())
        })
    }

    fn allocations(&mut self) -> Result<f64, Failure> {
        // The list of what was read is no part of reading.
        let own =
            alloc::count(|| black_box(Vec::<C::Read<'_>>::with_capacity(self.copies.len()))).1;
        let times = self.copies.len() as f64;
        let (result, allocations) = alloc::count(|| self.read_all(|_, _| ()));
        result?;
        Ok((allocations - own) as f64 / times)
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        self.read_all(|read, _| read.first().map(Walk::walk))?
            .ok_or_else(|| "no message was kept".into())
    }
}
