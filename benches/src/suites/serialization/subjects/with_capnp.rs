//! Subject `capnp`, whose messages are read through accessors.
//!
//! Reading checks only the segment table. Pointers are checked when they are followed: their
//! bounds, types and depth, and a limit on the total amount of data visited. Enums are checked when
//! they are accessed, and UTF-8 when texts are converted to strings. Walking therefore includes the
//! checks that reading omits.

use capnp::message::{Builder, ReaderOptions, ScratchSpaceHeapAllocator, TypedReader};
use capnp::serialize::{
    NoAllocSliceSegments, read_message_from_flat_slice_no_alloc, write_message,
};
use capnp::traits::{Owned, OwnedStruct};
use capnp::{Word, data, primitive_list, struct_list, text, text_list};

use super::super::walk::Walk;
use super::{Codec, Short};
use crate::Failure;

/// A type with a Cap'n Proto schema.
pub(in crate::suites) trait Segmented: 'static {
    /// Generated type that names the builder and the reader.
    type Root: Owned;

    fn fill(&self, root: <Self::Root as Owned>::Builder<'_>);
    fn sum(root: <Self::Root as Owned>::Reader<'_>) -> capnp::Result<u64>;
}

pub(in crate::suites) struct Capnp {
    /// Scratch space for building messages, large enough for a single segment.
    scratch: Vec<Word>,
    into: Vec<u8>,
}

impl Capnp {
    pub(in crate::suites) fn new<T: Segmented>(value: &T) -> Self {
        let mut message = Builder::new_default();
        value.fill(message.init_root());
        Self {
            scratch: Word::allocate_zeroed_vec(message.size_in_words()),
            into: Vec::new(),
        }
    }
}

impl<T: Segmented> Codec<T> for Capnp {
    const NAME: &'static str = "capnp";
    type Read<'a> = Message<'a, T>;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        let scratch = Word::words_to_bytes_mut(&mut self.scratch);
        let mut message = Builder::new(ScratchSpaceHeapAllocator::new(scratch));
        value.fill(message.init_root());
        self.into.clear();
        write_message(&mut self.into, &message)?;
        Ok(&self.into)
    }

    #[inline(always)]
    fn read<'a>(&mut self, message: &'a mut [u8]) -> Result<Message<'a, T>, Failure> {
        let mut rest: &[u8] = message;
        let read = read_message_from_flat_slice_no_alloc(&mut rest, ReaderOptions::new())?;
        Ok(Message(read.into_typed()))
    }
}

pub(in crate::suites) struct Message<'a, T: Segmented>(
    TypedReader<NoAllocSliceSegments<'a>, T::Root>,
);

impl<T: Segmented> Walk for Message<'_, T> {
    #[inline(always)]
    fn walk(&self) -> u64 {
        // An error results in a wrong sum, which is detected before the measurement.
        self.0.get().and_then(T::sum).unwrap_or(0)
    }
}

impl<T: Segmented> Walk for Short<Message<'_, T>>
where
    for<'a> Short<<T::Root as Owned>::Reader<'a>>: Sum,
{
    #[inline(always)]
    fn walk(&self) -> u64 {
        let root = self.0.0.get();
        root.and_then(|root| Short(root).sum()).unwrap_or(0)
    }
}

/// Fallible version of walking.
pub(in crate::suites) trait Sum {
    fn sum(self) -> capnp::Result<u64>;
}

macro_rules! sum {
    ($([$($generics:tt)*] $type:ty, $this:ident => $sum:expr;)*) => {$(
        impl<$($generics)*> Sum for $type {
            #[inline(always)]
            fn sum(self) -> capnp::Result<u64> {
                let $this = self;
                $sum
            }
        }
    )*};
}

macro_rules! numbers {
    ($($type:ty),*) => {sum! {$([] $type, this => Ok(this.walk());)*}};
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, bool);

sum! {
    [] text::Reader<'_>, this => Ok(this.to_str()?.walk());
    [] data::Reader<'_>, this => Ok(this.walk());
    [] text_list::Reader<'_>, this => this.iter().try_fold(0, |sum: u64, part| {
        Ok(sum.wrapping_add(part?.sum()?))
    });
    ['a, T: OwnedStruct<Reader<'a>: Sum>] struct_list::Reader<'a, T>, this =>
        this.iter().try_fold(0, |sum: u64, part| Ok(sum.wrapping_add(part.sum()?)));
    [T: capnp::private::layout::PrimitiveElement + capnp::introspect::Introspect + Sum]
        primitive_list::Reader<'_, T>, this =>
        this.iter().try_fold(0, |sum: u64, part| Ok(sum.wrapping_add(part.sum()?)));
}

/// Implements `Sum` with getters for values, for pointers, and for pointers that may be null. Each
/// of the latter follows the getter that tells whether the pointer is set.
macro_rules! sum_getters {
    ($type:ty => $($value:ident)* $(; $($pointer:ident)* $(; $($has:ident $maybe:ident),*)?)?) => {
        impl $crate::suites::serialization::subjects::Sum for $type {
            #[inline(always)]
            fn sum(self) -> capnp::Result<u64> {
                let mut sum = 0u64;
                $(sum = sum.wrapping_add(self.$value().sum()?);)*
                $($(sum = sum.wrapping_add(self.$pointer()?.sum()?);)*
                $($(if self.$has() {
                    sum = sum.wrapping_add(self.$maybe()?.sum()?).wrapping_add(1);
                })*)?)?
                Ok(sum)
            }
        }
    };
}

pub(in crate::suites) use sum_getters;
