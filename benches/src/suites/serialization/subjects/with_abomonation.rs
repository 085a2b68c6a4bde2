//! The subject `abomonation`, which checks nothing: a lower bound for reading in place.
//!
//! It copies memory as it is and repairs the pointers, and pays no heed to alignment. Builds with
//! debug assertions refuse the references that it makes, so it has no place in them.

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

#[derive(Default)]
pub(in super::super) struct Abomonation {
    into: Vec<u8>,
}

impl<T: abomonation::Abomonation + Walk + 'static> Codec<T> for Abomonation {
    const NAME: &'static str = "abomonation";
    type Read<'a> = &'a T;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        self.into.clear();
        // SAFETY: the peer asks for types without surprises; those of the cases have none. That it
        // reads their padding as bytes is its own affair, and that of whoever uses it.
        unsafe { abomonation::encode(value, &mut self.into)? };
        Ok(&self.into)
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<&'a T, Failure> {
        // SAFETY: the message is a copy of what `encode` made of a `T`, its address divisible by
        // 16. Targets behind strings are not aligned, which the processors that run this bear.
        let decoded = unsafe { abomonation::decode::<T>(message) };
        let (value, _) = decoded.ok_or("the message ends early")?;
        Ok(value)
    }
}
