//! Subject `abomonation`, which checks nothing: a lower bound for reading in place.
//!
//! Abomonation copies memory as it is, repairs the pointers, and ignores alignment. Builds with
//! debug assertions reject the references that it creates, so they do not include this subject.

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
        // SAFETY: `encode` requires a correct implementation of `Abomonation`, and the types of the
        // cases use the derived one. The crate reads their padding as bytes; this is a known
        // property of the crate that the benchmark accepts.
        unsafe { abomonation::encode(value, &mut self.into)? };
        Ok(&self.into)
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<&'a T, Failure> {
        // SAFETY: the message is a copy of what `encode` produced for a `T`, and its address is
        // divisible by 16. Targets behind strings are not aligned, which the processors that run
        // this benchmark tolerate.
        let decoded = unsafe { abomonation::decode::<T>(message) };
        let (value, _) = decoded.ok_or("the message is truncated")?;
        Ok(value)
    }
}
