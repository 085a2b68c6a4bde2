//! Subjects of the suite: the ways to serialize a value.

mod restored;
#[cfg(feature = "peers")]
mod shortened;
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
#[cfg(feature = "peers")]
mod with_fory;
mod with_jstream;
mod with_memcpy;
mod with_postcard;
#[cfg(feature = "peers")]
mod with_prost;
mod with_rkyv;
#[cfg(feature = "peers")]
mod with_serde_json;

use std::hint::black_box;
use std::time::Instant;

use rkyv::util::AlignedVec;

pub(super) use self::restored::Restorer;
#[cfg(feature = "peers")]
pub(in crate::suites) use self::shortened::{Short, Shortened};
#[cfg(feature = "peers")]
pub(super) use self::with_abomonation::Abomonation;
#[cfg(feature = "peers")]
pub(super) use self::with_bitcode::{Bitcode, BitcodeBorrow, Lend};
#[cfg(feature = "peers")]
pub(in crate::suites) use self::with_capnp::{Capnp, Segmented, Sum, sum_getters};
#[cfg(feature = "peers")]
pub(super) use self::with_epserde::{Copying, Epserde};
#[cfg(feature = "peers")]
pub(in crate::suites) use self::with_flatbuffers::{Flat, Flatbuffers, walk_accessors};
#[cfg(feature = "peers")]
pub(in crate::suites) use self::with_fory::{Fory, Registered, registered};
pub(super) use self::with_jstream::Jstream;
pub(in crate::suites) use self::with_jstream::Sendable;
pub(super) use self::with_memcpy::Memcpy;
pub(in crate::suites) use self::with_postcard::Postcard;
#[cfg(feature = "peers")]
pub(in crate::suites) use self::with_prost::{Prost, Protobuf};
pub(in crate::suites) use self::with_rkyv::{Archivable, Rkyv};
#[cfg(feature = "peers")]
pub(super) use self::with_serde_json::SerdeJson;
use super::walk::Walk;
use crate::measure::since;
use crate::{Failure, alloc};

/// A way to serialize the value of a case. The rounds return nanoseconds per operation.
pub(in crate::suites) trait Subject {
    fn name(&self) -> &'static str;
    /// Returns the length of the message in bytes.
    fn bytes(&self) -> usize;
    /// Returns true if the subject also reads. Otherwise only `write` is called.
    fn reads(&self) -> bool {
        true
    }
    /// Sets how many messages a round reads.
    fn keep(&mut self, copies: usize);
    /// Runs a round that writes into the same buffer repeatedly.
    fn write(&mut self) -> Result<f64, Failure>;
    /// Runs a round that reads each copy once.
    fn read(&mut self) -> Result<f64, Failure>;
    /// Runs a round that reads each copy, and then walks each once. Only walking is timed.
    fn traverse(&mut self) -> Result<f64, Failure>;
    /// Runs a round that reads each copy, and then walks each once. Both are timed.
    fn read_and_traverse(&mut self) -> Result<f64, Failure>;
    /// Runs a round that reads each copy and turns each back into its message once, after a change
    /// if `changed`.
    fn forward(&mut self, _changed: bool) -> Result<f64, Failure> {
        Err(format!("{} does not forward", self.name()).into())
    }
    /// Runs a round that copies the message into each of the buffers, which is the least that a
    /// program does that sends it on without reading it in place.
    fn copy(&mut self) -> Result<f64, Failure> {
        Err(format!("{} does not copy", self.name()).into())
    }
    /// Returns the number of allocations per read.
    fn allocations(&mut self) -> Result<f64, Failure>;
    /// Returns the sum over a message that was read.
    fn sum(&mut self) -> Result<u64, Failure>;
}

/// Loads both ends of a message into the cache. Otherwise, if a message is larger than the cache,
/// the time for reading its header would depend on which lines the copy happened to leave in the
/// cache.
#[inline(never)]
pub(in crate::suites) fn fetch_ends(message: &[u8]) {
    const END: usize = 256;
    let first = message.iter().take(END);
    let last = message.iter().rev().take(END);
    black_box(first.chain(last).fold(0u8, |sum, byte| sum ^ byte));
}

/// A peer's implementation of writing a `T` and reading it back.
pub(in crate::suites) trait Codec<T>: 'static {
    const NAME: &'static str;
    /// Type of a message that was read: a view of the message, or a value deserialized from it.
    type Read<'a>: Walk;

    /// Writes into memory that is reused by later calls, and returns the message.
    fn write(&mut self, value: &T) -> Result<&[u8], Failure>;
    /// Reads a message, which begins at an address divisible by 16.
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<Self::Read<'a>, Failure>;
}

/// Subject for a peer.
pub(in crate::suites) struct Peer<T: 'static, C> {
    value: &'static T,
    codec: C,
    /// Message as written by the peer.
    message: AlignedVec,
    /// Copies of the message that a round reads. Some peers modify the copy that they read.
    copies: Vec<AlignedVec>,
}

impl<T: 'static, C: Codec<T>> Peer<T, C> {
    pub(in crate::suites) fn new(value: &'static T, mut codec: C) -> Result<Self, Failure> {
        let mut message = AlignedVec::new();
        message.extend_from_slice(codec.write(value)?);
        Ok(Self {
            value,
            codec,
            message,
            copies: Vec::new(),
        })
    }

    /// Restores all copies, reads them, and passes the results and the time of reading to `then`.
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

    fn read_and_traverse(&mut self) -> Result<f64, Failure> {
        self.read_all(|read, time| {
            let start = Instant::now();
            for value in read {
                black_box(black_box(value).walk());
            }
            time + since(start, read.len())
        })
    }

    fn allocations(&mut self) -> Result<f64, Failure> {
        // The list of results is not part of reading, so its allocation is subtracted.
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
