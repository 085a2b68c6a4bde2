//! The subject `rkyv`.
//!
//! It writes into a buffer of the right size, with its arena kept and without looking for shared
//! pointers, of which the cases have none: the quickest of its serializers for these cases.

use std::hint::black_box;
use std::time::Instant;

use rkyv::api::high::HighValidator;
use rkyv::api::serialize_using;
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::{Error, Strategy};
use rkyv::ser::Serializer;
use rkyv::ser::allocator::{Arena, ArenaHandle};
use rkyv::ser::sharing::Unshare;
use rkyv::ser::writer::Buffer;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Serialize};

use super::{Case, Data, Subject};
use crate::Failure;
use crate::alloc;
use crate::measure::since;

type Peer<'a> = Strategy<Serializer<Buffer<'a>, ArenaHandle<'a>, Unshare>, Error>;

/// What can be written and checked as here.
pub(super) trait Archivable:
    Archive<Archived: for<'a> CheckBytes<HighValidator<'a, Error>>> + for<'a> Serialize<Peer<'a>>
{
}

impl<T> Archivable for T where
    T: Archive<Archived: for<'a> CheckBytes<HighValidator<'a, Error>>>
        + for<'a> Serialize<Peer<'a>>
{
}

/// The archived form of a type.
pub(super) type ArchivedOf<T> = <T as Archive>::Archived;

pub(super) struct Rkyv<C: Case> {
    owned: &'static C::Owned,
    arena: Arena,
    /// What is written into, and the archive as it was written.
    message: AlignedVec,
    /// As many as a round reads.
    copies: Vec<AlignedVec>,
}

impl<C: Case> Rkyv<C> {
    pub(super) fn new(data: &Data<C>) -> Result<Self, Failure> {
        let owned = data.owned;
        let mut arena = Arena::new();
        let mut message = AlignedVec::new();
        message.resize(1 << 10, 0);
        // How long an archive gets is known when it fits.
        let len = loop {
            match write(owned, &mut message, &mut arena) {
                Ok(len) => break len,
                Err(error) if message.len() >= 1 << 30 => return Err(error.into()),
                Err(_) => message.resize(message.len() * 2, 0),
            }
        };
        message.resize(len, 0);
        Ok(Self {
            owned,
            arena,
            message,
            copies: Vec::new(),
        })
    }

    fn prepare(&mut self) {
        for copy in &mut self.copies {
            copy.clear();
            copy.extend_from_slice(&self.message);
        }
    }

    /// Checks all archives: what is measured.
    #[inline(always)]
    fn read_all(&self) -> Result<(), Failure> {
        for copy in &self.copies {
            black_box(rkyv::access::<ArchivedOf<C::Owned>, Error>(black_box(
                copy,
            ))?);
        }
        Ok(())
    }
}

/// Writes the archive, and returns its length.
#[inline(always)]
fn write<T: Archivable>(value: &T, into: &mut [u8], arena: &mut Arena) -> Result<usize, Error> {
    let mut serializer = Serializer::new(Buffer::from(into), arena.acquire(), Unshare);
    serialize_using::<_, Error>(value, &mut serializer)?;
    Ok(serializer.into_writer().len())
}

impl<C: Case> Subject for Rkyv<C> {
    fn name(&self) -> &'static str {
        "rkyv"
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
            write(black_box(self.owned), &mut self.message, &mut self.arena)?;
            black_box(&self.message);
        }
        Ok(since(start, times))
    }

    fn read(&mut self) -> Result<f64, Failure> {
        self.prepare();
        let start = Instant::now();
        self.read_all()?;
        Ok(since(start, self.copies.len()))
    }

    fn traverse(&mut self) -> Result<f64, Failure> {
        self.prepare();
        let mut archives = Vec::with_capacity(self.copies.len());
        for copy in &self.copies {
            archives.push(rkyv::access::<ArchivedOf<C::Owned>, Error>(copy)?);
        }
        let start = Instant::now();
        for &archive in &archives {
            black_box(C::sum_archived(black_box(archive)));
        }
        Ok(since(start, archives.len()))
    }

    fn allocations(&mut self) -> Result<f64, Failure> {
        self.prepare();
        let (result, allocations) = alloc::count(|| self.read_all());
        result?;
        Ok(allocations as f64 / self.copies.len() as f64)
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        self.prepare();
        let copy = self.copies.first().ok_or("no archive was kept")?;
        let archive = rkyv::access::<ArchivedOf<C::Owned>, Error>(copy)?;
        Ok(C::sum_archived(archive))
    }
}
