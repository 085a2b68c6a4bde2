//! Subject `serde_json`: serde with a text format.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::walk::Walk;
use super::Codec;
use crate::Failure;

#[derive(Default)]
pub(in super::super) struct SerdeJson {
    into: Vec<u8>,
}

impl<T: Serialize + DeserializeOwned + Walk + 'static> Codec<T> for SerdeJson {
    const NAME: &'static str = "serde_json";
    type Read<'a> = T;

    #[inline(always)]
    fn write(&mut self, value: &T) -> Result<&[u8], Failure> {
        self.into.clear();
        serde_json::to_writer(&mut self.into, value)?;
        Ok(&self.into)
    }

    #[inline(always)]
    fn read(&mut self, message: &mut [u8]) -> Result<T, Failure> {
        Ok(serde_json::from_slice(message)?)
    }
}
