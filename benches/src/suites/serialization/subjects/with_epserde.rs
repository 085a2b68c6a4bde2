//! The subject `epserde`, which makes structs anew, with slices and strings that stay in the message.
//!
//! It checks by hashes in the header that the message is of the type, and the tags of options and
//! enums; not UTF-8, nor what slices hold, so a message must come from itself. It leaves in place only
//! what is a type parameter of its struct, so it sends twins of the cases' types.

use epserde::deser::{DeserInner, DeserType, Deserialize};
use epserde::ser::Serialize;

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

/// What can be written and read as here.
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
        // SAFETY: the peer asks for types whose zero-copy parts have no padding; those of the cases
        // have none.
        unsafe { value.serialize(&mut self.into)? };
        Ok(&self.into)
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<DeserType<'a, T>, Failure> {
        // SAFETY: the message is a copy of what `serialize` made of a `T`, its address divisible by
        // 16.
        Ok(unsafe { T::deserialize_eps(message)? })
    }
}
