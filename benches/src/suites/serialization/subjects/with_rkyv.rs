//! The subject `rkyv`.
//!
//! It writes into a buffer of the right size, with its arena kept and without looking for shared
//! pointers, of which the cases have none: the quickest of its serializers for these cases.

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

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

type Peer<'a> = Strategy<Serializer<Buffer<'a>, ArenaHandle<'a>, Unshare>, Error>;

/// What can be written and checked as here.
pub(in super::super) trait Archivable:
    Archive<Archived: Walk + 'static + for<'a> CheckBytes<HighValidator<'a, Error>>>
    + for<'a> Serialize<Peer<'a>>
{
}

impl<T> Archivable for T where
    T: Archive<Archived: Walk + 'static + for<'a> CheckBytes<HighValidator<'a, Error>>>
        + for<'a> Serialize<Peer<'a>>
{
}

pub(in super::super) struct Rkyv {
    arena: Arena,
    into: AlignedVec,
}

impl Rkyv {
    pub(in super::super) fn new<T: Archivable>(value: &T) -> Result<Self, Failure> {
        let mut arena = Arena::new();
        let mut into = AlignedVec::new();
        into.resize(1 << 10, 0);
        // How long an archive gets is known when it fits.
        let len = loop {
            match write(value, &mut into, &mut arena) {
                Ok(len) => break len,
                Err(error) if into.len() >= 1 << 30 => return Err(error.into()),
                Err(_) => into.resize(into.len() * 2, 0),
            }
        };
        into.resize(len, 0);
        into.shrink_to_fit();
        Ok(Self { arena, into })
    }
}

/// Writes the archive, and returns its length.
#[inline(always)]
fn write<T: Archivable>(value: &T, into: &mut [u8], arena: &mut Arena) -> Result<usize, Error> {
    let mut serializer = Serializer::new(Buffer::from(into), arena.acquire(), Unshare);
    serialize_using::<_, Error>(value, &mut serializer)?;
    Ok(serializer.into_writer().len())
}

impl<T: Archivable + 'static> Codec<T> for Rkyv {
    const NAME: &'static str = "rkyv";
    type Read<'a> = &'a T::Archived;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        write(value, &mut self.into, &mut self.arena)?;
        Ok(&self.into)
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<Self::Read<'a>, Failure> {
        Ok(rkyv::access::<T::Archived, Error>(message)?)
    }
}
