//! Subjects `bitcode` and `bitcode-borrow`. The strings of the latter stay in the message.

use std::marker::PhantomData;

use bitcode::{Buffer, Decode, DecodeOwned, Encode};

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

#[derive(Default)]
pub(in super::super) struct Bitcode {
    writing: Buffer,
    reading: Buffer,
}

impl<T: Encode + DecodeOwned + Walk + 'static> Codec<T> for Bitcode {
    const NAME: &'static str = "bitcode";
    type Read<'a> = T;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        Ok(self.writing.encode(value))
    }

    #[inline(always)]
    fn read(&mut self, message: &mut [u8]) -> Result<T, Failure> {
        Ok(self.reading.decode(message)?)
    }
}

/// A type with a twin that borrows its strings.
pub(in super::super) trait Lend: Encode + 'static {
    type Lent<'a>: Decode<'a> + Walk;
}

pub(in super::super) struct BitcodeBorrow<T> {
    buffer: Buffer,
    of: PhantomData<fn(&T)>,
}

impl<T> Default for BitcodeBorrow<T> {
    fn default() -> Self {
        Self {
            buffer: Buffer::default(),
            of: PhantomData,
        }
    }
}

impl<T: Lend> Codec<T> for BitcodeBorrow<T> {
    const NAME: &'static str = "bitcode-borrow";
    type Read<'a> = T::Lent<'a>;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        Ok(self.buffer.encode(value))
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<T::Lent<'a>, Failure> {
        // This call uses a temporary buffer, since a buffer that decodes borrowed values cannot
        // outlive the message.
        Ok(bitcode::decode(message)?)
    }
}
