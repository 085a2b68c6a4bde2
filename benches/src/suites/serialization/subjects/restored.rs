//! Restoring an owned value from a message that was checked, with all of its allocations.

use std::hint::black_box;
use std::time::Instant;

use jstream::{EmptyBuffer, Reader, Restore, Writer};
use rkyv::api::high::HighDeserializer;
use rkyv::rancor::Error;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Deserialize};

use super::super::walk::Walk;
use super::with_jstream::{Sendable, bottomless};
use super::{Archivable, Codec, Rkyv};
use crate::Failure;
use crate::measure::since;

/// A way to restore the value of a case from its message.
pub(in super::super) struct Restorer {
    pub(in super::super) name: &'static str,
    /// Restores the value this number of times, and returns nanoseconds per value.
    pub(in super::super) round: Box<dyn FnMut(usize) -> Result<f64, Failure>>,
}

impl Restorer {
    /// Restores from a received object.
    pub(in super::super) fn jstream<T: Sendable + Restore + Walk>(
        value: &'static T,
    ) -> Result<Self, Failure> {
        let mut writer = Writer::with_limits(bottomless());
        let len = writer.gather(value, |segments| segments.iter().map(|s| s.len()).sum())?;
        let filled = writer.write(value, EmptyBuffer::heap(len))?;
        let received = Reader::new(bottomless()).read::<T>(filled)?;
        Self::new("jstream", value, move || {
            Ok(black_box(&received).to_owned()?)
        })
    }

    /// Restores from an archive.
    pub(in super::super) fn rkyv<T>(value: &'static T) -> Result<Self, Failure>
    where
        T: Archivable + Walk + 'static,
        T: Archive<Archived: Deserialize<T, HighDeserializer<Error>>>,
    {
        let mut codec = Rkyv::new(value)?;
        let mut message = AlignedVec::<16>::new();
        message.extend_from_slice(Codec::<T>::write(&mut codec, value)?);
        // The archive is checked once, as the received object is.
        rkyv::access::<T::Archived, Error>(&message)?;
        Self::new("rkyv", value, move || {
            // SAFETY: the archive was checked, and nothing changes it.
            let archived = unsafe { rkyv::access_unchecked::<T::Archived>(&message) };
            Ok(rkyv::deserialize::<T, Error>(black_box(archived))?)
        })
    }

    /// `restore` returns one value, which must be like `value`. Dropping values is not measured.
    fn new<T: Walk + 'static>(
        name: &'static str,
        value: &T,
        restore: impl Fn() -> Result<T, Failure> + 'static,
    ) -> Result<Self, Failure> {
        if restore()?.walk() != value.walk() {
            return Err(format!("{name} restores another value").into());
        }
        let round = move |times: usize| {
            let mut values = Vec::with_capacity(times);
            let start = Instant::now();
            for _ in 0..times {
                values.push(restore()?);
            }
            let time = since(start, times);
            drop(black_box(values));
            Ok(time)
        };
        Ok(Self {
            name,
            round: Box::new(round),
        })
    }
}
