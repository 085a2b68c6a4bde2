//! Accessors of a version that lacks a field.
//!
//! A reader of that version never asks for the field. Everything else is as in the version that has
//! it: the peers with accessors find fields by their numbers.

use std::ops::Deref;

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

/// Accessors that are walked without the field.
pub(in crate::suites) struct Short<A>(pub(in crate::suites) A);

impl<A> Deref for Short<A> {
    type Target = A;

    #[inline(always)]
    fn deref(&self) -> &A {
        &self.0
    }
}

/// A codec whose messages are walked without the field.
pub(in crate::suites) struct Shortened<C>(pub(in crate::suites) C);

impl<T, C: Codec<T>> Codec<T> for Shortened<C>
where
    for<'a> Short<C::Read<'a>>: Walk,
{
    const NAME: &'static str = C::NAME;
    type Read<'a> = Short<C::Read<'a>>;

    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        self.0.write(value)
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<Self::Read<'a>, Failure> {
        self.0.read(message).map(Short)
    }
}
