//! Subject `fory`: Apache Fory in its compatible mode, which writes the fields of each type into
//! the message, and decodes messages of other versions into values.
//!
//! Messages are for Rust programs only, which is faster than the format for several languages.

use std::marker::PhantomData;

use fory::{Error, Serializer};

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

/// A type that Fory knows together with all of its parts. All versions of a type register the same
/// parts in the same order, because messages name the types by their numbers.
pub(in crate::suites) trait Registered:
    Serializer<Target = Self> + 'static
{
    fn register(fory: &mut fory::Fory) -> Result<(), Error>;
}

/// Implements `Registered` for the first type of each line, with the types of its parts.
macro_rules! registered {
    ($($root:ty: $($part:ty)*;)+) => {$(
        impl $crate::suites::serialization::subjects::Registered for $root {
            fn register(fory: &mut fory::Fory) -> Result<(), fory::Error> {
                fory.register::<$root>(1)?;
                let mut number = 1;
                $(
                    number += 1;
                    fory.register::<$part>(number)?;
                )*
                let _last: u32 = number;
                Ok(())
            }
        }
    )+};
}

pub(in crate::suites) use registered;

/// A codec that decodes messages as the type `Read`, which may be another version of the type that
/// is encoded.
pub(in crate::suites) struct Fory<Read> {
    writer: fory::Fory,
    reader: fory::Fory,
    into: Vec<u8>,
    read: PhantomData<fn() -> Read>,
}

/// Maximum memory in bytes of a decoded value. The default is less than a large case needs.
const MAX_BYTES: usize = 1 << 30;

impl<Read: Registered> Fory<Read> {
    pub(in crate::suites) fn new<T: Registered>() -> Result<Self, Failure> {
        let fory = || {
            let builder = fory::Fory::builder().xlang(false).compatible(true);
            builder.max_graph_memory_bytes(MAX_BYTES).build()
        };
        let (mut writer, mut reader) = (fory(), fory());
        T::register(&mut writer)?;
        Read::register(&mut reader)?;
        Ok(Self {
            writer,
            reader,
            into: Vec::new(),
            read: PhantomData,
        })
    }
}

impl<T: Registered, Read: Registered + Walk> Codec<T> for Fory<Read> {
    const NAME: &'static str = "fory";
    type Read<'a> = Read;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        self.into.clear();
        self.writer.serialize_to(&mut self.into, value)?;
        Ok(&self.into)
    }

    #[inline(always)]
    fn read(&mut self, message: &mut [u8]) -> Result<Read, Failure> {
        Ok(self.reader.deserialize(message)?)
    }
}
