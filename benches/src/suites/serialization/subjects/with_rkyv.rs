//! Subject `rkyv`.
//!
//! The serializer writes into a buffer of the right size and reuses its arena. Only for cases with
//! shared pointers, it tracks them in a table, which is reused too, so that each case runs with
//! rkyv's fastest serializer for it. Validation keeps a table of shared pointers, which starts
//! empty for each message.

use rkyv::api::high::HighValidator;
use rkyv::api::serialize_using;
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::{Error, Strategy};
use rkyv::ser::allocator::{Arena, ArenaHandle};
use rkyv::ser::sharing::{Share, Unshare};
use rkyv::ser::writer::Buffer;
use rkyv::ser::{Serializer, Sharing};
use rkyv::util::AlignedVec;
use rkyv::{Archive, Serialize};

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

type Peer<'a, S> = Strategy<Serializer<Buffer<'a>, ArenaHandle<'a>, &'a mut S>, Error>;

/// Strategy for several pointers to one target.
pub(in crate::suites) trait Sharer: Sharing<Error> + Default + 'static {
    /// Clears the table for another message.
    fn forget(&mut self);
}

impl Sharer for Unshare {
    #[inline(always)]
    fn forget(&mut self) {}
}

impl Sharer for Share {
    #[inline(always)]
    fn forget(&mut self) {
        self.clear();
    }
}

/// A type that rkyv can write and validate.
pub(in crate::suites) trait Archivable<S: Sharer = Unshare>:
    Archive<Archived: Walk + 'static + for<'a> CheckBytes<HighValidator<'a, Error>>>
    + for<'a> Serialize<Peer<'a, S>>
{
}

impl<T, S: Sharer> Archivable<S> for T where
    T: Archive<Archived: Walk + 'static + for<'a> CheckBytes<HighValidator<'a, Error>>>
        + for<'a> Serialize<Peer<'a, S>>
{
}

pub(in crate::suites) struct Rkyv<S = Unshare> {
    arena: Arena,
    sharing: S,
    into: AlignedVec,
}

impl<S: Sharer> Rkyv<S> {
    pub(in crate::suites) fn new<T: Archivable<S>>(value: &T) -> Result<Self, Failure> {
        let mut arena = Arena::new();
        let mut sharing = S::default();
        let mut into = AlignedVec::new();
        into.resize(1 << 10, 0);
        // The length of an archive is known only when writing succeeds.
        let len = loop {
            match write(value, &mut into, &mut arena, &mut sharing) {
                Ok(len) => break len,
                Err(error) if into.len() >= 1 << 30 => return Err(error.into()),
                Err(_) => into.resize(into.len() * 2, 0),
            }
        };
        into.resize(len, 0);
        into.shrink_to_fit();
        Ok(Self {
            arena,
            sharing,
            into,
        })
    }
}

/// Writes the archive and returns its length in bytes.
#[inline(always)]
fn write<T: Archivable<S>, S: Sharer>(
    value: &T,
    into: &mut [u8],
    arena: &mut Arena,
    sharing: &mut S,
) -> Result<usize, Error> {
    sharing.forget();
    let mut serializer = Serializer::new(Buffer::from(into), arena.acquire(), sharing);
    serialize_using::<_, Error>(value, &mut serializer)?;
    Ok(serializer.into_writer().len())
}

impl<T: Archivable<S> + 'static, S: Sharer> Codec<T> for Rkyv<S> {
    const NAME: &'static str = "rkyv";
    type Read<'a> = &'a T::Archived;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        write(value, &mut self.into, &mut self.arena, &mut self.sharing)?;
        Ok(&self.into)
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<Self::Read<'a>, Failure> {
        Ok(rkyv::access::<T::Archived, Error>(message)?)
    }
}
