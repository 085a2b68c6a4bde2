//! Subject `prost`: messages of Protocol Buffers, decoded into values.

use std::marker::PhantomData;

use prost::Message;

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

/// A type with a schema of Protocol Buffers.
pub(in crate::suites) trait Protobuf {
    type Message: Message + Default + Walk + 'static;
    /// The version that lacks a field.
    type Short: Message + Default + Walk + 'static;

    fn message(&self) -> Self::Message;
}

/// A codec that decodes messages as the type `Read`, which may be another version of the type that
/// is encoded.
pub(in crate::suites) struct Prost<Read> {
    into: Vec<u8>,
    read: PhantomData<fn() -> Read>,
}

impl<Read> Default for Prost<Read> {
    fn default() -> Self {
        Self {
            into: Vec::new(),
            read: PhantomData,
        }
    }
}

impl<T, Read> Codec<T> for Prost<Read>
where
    T: Message + 'static,
    Read: Message + Default + Walk + 'static,
{
    const NAME: &'static str = "prost";
    type Read<'a> = Read;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        self.into.clear();
        value.encode(&mut self.into)?;
        Ok(&self.into)
    }

    #[inline(always)]
    fn read(&mut self, message: &mut [u8]) -> Result<Read, Failure> {
        Ok(Read::decode(&*message)?)
    }
}
