//! Subject `postcard`: serde with a compact binary format.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

pub(in super::super) struct Postcard {
    into: Vec<u8>,
}

impl Postcard {
    pub(in super::super) fn new<T: Serialize>(value: &T) -> Result<Self, Failure> {
        let into = postcard::to_allocvec(value)?;
        Ok(Self { into })
    }
}

impl<T: Serialize + DeserializeOwned + Walk + 'static> Codec<T> for Postcard {
    const NAME: &'static str = "postcard";
    type Read<'a> = T;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        Ok(postcard::to_slice(value, &mut self.into)?)
    }

    #[inline(always)]
    fn read(&mut self, message: &mut [u8]) -> Result<T, Failure> {
        Ok(postcard::from_bytes(message)?)
    }
}
