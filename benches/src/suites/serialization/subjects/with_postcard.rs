//! Subject `postcard`: serde with a compact binary format.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

/// A codec that reads values as the type `Read`, which may be another version of the type that is
/// written.
pub(in crate::suites) struct Postcard<Read> {
    into: Vec<u8>,
    read: PhantomData<fn() -> Read>,
}

impl<Read> Postcard<Read> {
    pub(in crate::suites) fn new<T: Serialize>(value: &T) -> Result<Self, Failure> {
        let into = postcard::to_allocvec(value)?;
        Ok(Self {
            into,
            read: PhantomData,
        })
    }
}

impl<T, Read> Codec<T> for Postcard<Read>
where
    T: Serialize + 'static,
    Read: DeserializeOwned + Walk + 'static,
{
    const NAME: &'static str = "postcard";
    type Read<'a> = Read;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        Ok(postcard::to_slice(value, &mut self.into)?)
    }

    #[inline(always)]
    fn read(&mut self, message: &mut [u8]) -> Result<Read, Failure> {
        Ok(postcard::from_bytes(message)?)
    }
}
