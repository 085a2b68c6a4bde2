//! Subject `flatbuffers`, whose messages are read through accessors.
//!
//! The verifier checks all offsets and lengths, alignment, depth and UTF-8. It accepts unknown
//! values of enums, which remain to be checked by the reader.

use flatbuffers::{FlatBufferBuilder, Follow, Vector, Verifiable, WIPOffset};

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

/// A type with a FlatBuffers schema.
pub(in crate::suites) trait Flat: 'static {
    /// Accessor type of the root table.
    type Root<'a>: Follow<'a, Inner = Self::Root<'a>> + Verifiable + Walk + 'a;

    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<Self::Root<'b>>;
}

#[derive(Default)]
pub(in crate::suites) struct Flatbuffers {
    into: FlatBufferBuilder<'static>,
}

impl<T: Flat> Codec<T> for Flatbuffers {
    const NAME: &'static str = "flatbuffers";
    type Read<'a> = T::Root<'a>;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        self.into.reset();
        let root = value.build(&mut self.into);
        self.into.finish_minimal(root);
        Ok(self.into.finished_data())
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<T::Root<'a>, Failure> {
        Ok(flatbuffers::root::<T::Root<'a>>(message)?)
    }
}

impl<'a, T: Follow<'a, Inner: Walk>> Walk for Vector<'a, T> {
    #[inline(always)]
    fn walk(&self) -> u64 {
        self.iter()
            .fold(0, |sum, part| sum.wrapping_add(part.walk()))
    }
}

/// Implements `Walk` with the given accessors.
macro_rules! walk_accessors {
    ($type:ty => $($accessor:ident)+) => {
        impl $crate::suites::serialization::walk::Walk for $type {
            #[inline(always)]
            fn walk(&self) -> u64 {
                use $crate::suites::serialization::walk::Walk;
                0u64$(.wrapping_add(Walk::walk(&self.$accessor())))+
            }
        }
    };
}

pub(in crate::suites) use walk_accessors;
