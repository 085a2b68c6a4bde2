//! Subject `epserde`, which deserializes structs, with slices and strings that stay in the message.
//!
//! Hashes in the header check that the message has the expected type. The tags of options and enums
//! are checked, too, but neither UTF-8 nor the contents of slices, so a message must come from
//! epserde itself. Only fields whose type is a type parameter of the struct stay in place, so this
//! subject sends twins of the cases' types.

use epserde::deser::{DeserInner, DeserType, Deserialize};
use epserde::ser::Serialize;

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

/// A type that epserde can write and read.
pub(in super::super) trait Copying:
    Serialize + Deserialize + for<'a> DeserInner<DeserType<'a>: Walk> + 'static
{
}

impl<T> Copying for T where
    T: Serialize + Deserialize + for<'a> DeserInner<DeserType<'a>: Walk> + 'static
{
}

#[derive(Default)]
pub(in super::super) struct Epserde {
    into: Vec<u8>,
}

impl<T: Copying> Codec<T> for Epserde {
    const NAME: &'static str = "epserde";
    type Read<'a> = DeserType<'a, T>;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        self.into.clear();
        // SAFETY: `serialize` requires that the zero-copy parts of the type have no padding; those
        // of the cases have none.
        unsafe { value.serialize(&mut self.into)? };
        Ok(&self.into)
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<DeserType<'a, T>, Failure> {
        // SAFETY: the message is a copy of what `serialize` produced for a `T`, and its address is
        // divisible by 16.
        Ok(unsafe { T::deserialize_eps(message)? })
    }
}
