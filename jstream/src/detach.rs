//! Copies of received objects in buffers of their own.

use std::error::Error;
use std::fmt;

use crate::buffer::EmptyBuffer;
use crate::model::Transportable;
use crate::read::{Limits, Reader};
use crate::received::Received;
use crate::write::Writer;

impl<T: Transportable + 'static> Received<T> {
    /// Copies the object to a buffer of its exact size on the heap, and returns the buffer that the
    /// object was received in. A pool thereby gets its memory back although the object lives on.
    ///
    /// # Errors
    ///
    /// Returns an [`Undetached`] with the unchanged object, in two cases: a verification function
    /// or an adapter refuses what it accepted before (the program may have changed the object), or
    /// a segment of the copy would exceed 4 GiB.
    pub fn detach(self) -> Result<(Self, EmptyBuffer), Undetached<T>>
    where
        for<'x> T::InPlace<'x>: Transportable,
    {
        match self.copy() {
            Ok(copy) => Ok((copy, self.into_empty())),
            Err(error) => Err(Undetached {
                error,
                received: self,
            }),
        }
    }

    fn copy(&self) -> Result<Self, Box<dyn Error + Send + Sync>>
    where
        for<'x> T::InPlace<'x>: Transportable,
    {
        // The object was accepted under the limits of a reader before.
        let limits = Limits {
            bytes: usize::MAX,
            zero_sized: usize::MAX,
            depth: None,
            pending: usize::MAX,
            shared: usize::MAX,
        };
        let mut writer = Writer::with_limits(limits);
        let message =
            self.with(|object| writer.write_by(object, |len| Ok(EmptyBuffer::heap(len))))?;
        let read = Reader::new(limits).read::<T>(message);
        read.map_err(|failure| failure.error.into())
    }
}

/// An object that could not be detached. It stays in the buffer that it was received in.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub struct Undetached<T: Transportable + 'static> {
    /// The reason.
    pub error: Box<dyn Error + Send + Sync>,
    /// The unchanged object.
    #[error_debug(skip)]
    pub received: Received<T>,
}

impl<T: Transportable + 'static> fmt::Display for Undetached<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Transportable + 'static> Error for Undetached<T> {}
