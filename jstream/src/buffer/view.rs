//! Raw data in buffers: typed views of the bytes, and typed values written into them.

use std::error::Error;
use std::fmt;
use std::mem::{MaybeUninit, align_of, size_of};

use zerocopy::error::CastError;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{BufferWriter, EmptyBuffer, MessageBuffer, Overfull};

/// The reason why bytes cannot be viewed as a type.
#[derive(jstream_derive::ErrorDebug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewError {
    /// The address of the first byte is not a multiple of the type's alignment. The bytes of a
    /// buffer begin at a multiple of [`ALIGNMENT`](super::ALIGNMENT).
    Misaligned {
        /// The type's name.
        type_name: &'static str,
        /// The required alignment in bytes.
        align: usize,
    },
    /// The length is not the size of one value, or for a slice not a multiple of that size.
    Length {
        /// The type's name.
        type_name: &'static str,
        /// The size of a value in bytes.
        size: usize,
        /// The actual length in bytes.
        len: usize,
    },
}

impl ViewError {
    #[cold]
    fn new<T, S: ?Sized + zerocopy::TryFromBytes>(
        error: &CastError<impl Sized, S>,
        len: usize,
    ) -> Self {
        let type_name = std::any::type_name::<T>();
        match error {
            CastError::Alignment(_) => Self::Misaligned {
                type_name,
                align: align_of::<T>(),
            },
            _ => Self::Length {
                type_name,
                size: size_of::<T>(),
                len,
            },
        }
    }
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misaligned { type_name, align } => {
                write!(
                    f,
                    "the bytes are not aligned to {align} bytes, as {type_name} requires"
                )
            }
            Self::Length {
                type_name,
                size,
                len,
            } => write!(
                f,
                "a length of {len} bytes does not match {type_name}, which has {size} bytes per value"
            ),
        }
    }
}

impl Error for ViewError {}

impl MessageBuffer {
    /// Returns the bytes as a slice of plain values.
    ///
    /// ```
    /// use jstream::EmptyBuffer;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut column = EmptyBuffer::heap(1024).zeroed(24)?;
    /// column.view_mut::<f64>()?[1] = 0.5;
    /// assert_eq!(column.view::<f64>()?, [0.0, 0.5, 0.0]);
    /// assert!(column.view::<[u8; 7]>().is_err(), "24 bytes are no sevens");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns a [`ViewError`] if the length is not a multiple of the type's size, or if the type
    /// requires a larger alignment than that of buffers.
    #[inline]
    pub fn view<T: FromBytes + Immutable>(&self) -> Result<&[T], ViewError> {
        let bytes = self.as_bytes();
        <[T]>::ref_from_bytes(bytes).map_err(|error| ViewError::new::<T, _>(&error, bytes.len()))
    }

    /// Returns the bytes as a mutable slice of plain values.
    ///
    /// # Errors
    ///
    /// As for [`view`](Self::view).
    #[inline]
    pub fn view_mut<T: FromBytes + IntoBytes>(&mut self) -> Result<&mut [T], ViewError> {
        let len = self.len();
        let bytes = self.as_bytes_mut();
        <[T]>::mut_from_bytes(bytes).map_err(|error| ViewError::new::<T, _>(&error, len))
    }

    /// Returns the bytes as one plain value.
    ///
    /// # Errors
    ///
    /// Returns a [`ViewError`] if the length is not the type's size, or if the type requires a
    /// larger alignment than that of buffers.
    #[inline]
    pub fn view_of<T: FromBytes + Immutable + KnownLayout>(&self) -> Result<&T, ViewError> {
        let bytes = self.as_bytes();
        T::ref_from_bytes(bytes).map_err(|error| ViewError::new::<T, _>(&error, bytes.len()))
    }

    /// Returns the bytes as one mutable plain value.
    ///
    /// # Errors
    ///
    /// As for [`view_of`](Self::view_of).
    #[inline]
    pub fn view_of_mut<T>(&mut self) -> Result<&mut T, ViewError>
    where
        T: FromBytes + IntoBytes + KnownLayout,
    {
        let len = self.len();
        let bytes = self.as_bytes_mut();
        T::mut_from_bytes(bytes).map_err(|error| ViewError::new::<T, _>(&error, len))
    }

    /// Returns the bytes as a header and a slice of values behind it.
    ///
    /// # Errors
    ///
    /// As for [`view_of`](Self::view_of) and [`view`](Self::view). Also returns an error if the end
    /// of the header is not aligned for the type of the values.
    #[inline]
    pub fn view_parts<H, T>(&self) -> Result<(&H, &[T]), ViewError>
    where
        H: FromBytes + Immutable + KnownLayout,
        T: FromBytes + Immutable,
    {
        let bytes = self.as_bytes();
        let (head, rest) = H::ref_from_prefix(bytes)
            .map_err(|error| ViewError::new::<H, _>(&error, bytes.len()))?;
        let rest = <[T]>::ref_from_bytes(rest)
            .map_err(|error| ViewError::new::<T, _>(&error, rest.len()))?;
        Ok((head, rest))
    }
}

impl EmptyBuffer {
    /// Fills the buffer with `len` zero bytes of raw data.
    ///
    /// # Errors
    ///
    /// Returns [`Overfull`], which contains the buffer, if the bytes do not fit.
    pub fn zeroed(mut self, len: usize) -> Result<MessageBuffer, Overfull> {
        let Some(bytes) = self.uninit_mut().get_mut(..len) else {
            return Err(Overfull {
                wanted: len,
                buffer: self,
            });
        };
        bytes.fill(MaybeUninit::new(0));
        // SAFETY: the first `len` bytes were just written.
        Ok(unsafe { MessageBuffer::from_empty(self, len) })
    }

    /// Fills the buffer in place with `len` values of raw data, each of which `make` creates from
    /// its index.
    ///
    /// ```
    /// use jstream::EmptyBuffer;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let squares = EmptyBuffer::heap(1024).filled_with(4, |i| (i * i) as u64)?;
    /// assert_eq!(squares.view::<u64>()?, [0, 1, 4, 9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`Overfull`], which contains the buffer, if the values do not fit.
    pub fn filled_with<T: IntoBytes>(
        mut self,
        len: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Result<MessageBuffer, Overfull> {
        const {
            assert!(
                align_of::<T>() <= super::ALIGNMENT,
                "the type requires a larger alignment than that of buffers"
            )
        }
        let size = len.saturating_mul(size_of::<T>());
        let Some(bytes) = self.uninit_mut().get_mut(..size) else {
            return Err(Overfull {
                wanted: size,
                buffer: self,
            });
        };
        // SAFETY: uninitialised values may have any bytes.
        let (before, values, _) = unsafe { bytes.align_to_mut::<MaybeUninit<T>>() };
        debug_assert!(before.is_empty() && (values.len() == len || size == 0));
        for (i, value) in values.iter_mut().enumerate() {
            value.write(make(i));
        }
        // SAFETY: the slot is sufficiently aligned, so `values` covers all of these bytes. The
        // values were written above and have no padding.
        Ok(unsafe { MessageBuffer::from_empty(self, size) })
    }

    /// Fills the buffer with a copy of `values` as raw data.
    ///
    /// # Errors
    ///
    /// Returns [`Overfull`], which contains the buffer, if the values do not fit.
    pub fn copied_from<T: IntoBytes + Immutable>(
        self,
        values: &[T],
    ) -> Result<MessageBuffer, Overfull> {
        self.copy_from(values.as_bytes())
    }
}

impl BufferWriter {
    /// Appends a copy of plain values. Returns false, and changes nothing, if they do not fit.
    #[must_use]
    pub fn extend_from<T: IntoBytes + Immutable>(&mut self, values: &[T]) -> bool {
        self.extend(values.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Debug, PartialEq)]
    #[repr(C)]
    struct ViewHeader {
        count: u32,
        kind: u32,
    }

    #[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Debug, PartialEq, Clone, Copy)]
    #[repr(C, align(128))]
    struct Line([u64; 16]);

    #[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
    #[repr(C, align(256))]
    struct Block([u64; 32]);

    #[test]
    fn views_have_the_written_bytes() {
        let mut filled = EmptyBuffer::heap(64).copied_from(&[1.5f64, 2.5]).unwrap();
        assert_eq!(filled.view::<f64>().unwrap(), [1.5, 2.5]);
        filled.view_mut::<f64>().unwrap()[0] = 4.0;
        assert_eq!(filled.view_of::<[f64; 2]>().unwrap(), &[4.0, 2.5]);
        filled.view_of_mut::<[u64; 2]>().unwrap()[1] = 0;
        assert_eq!(filled.as_bytes()[8..], [0; 8]);
        assert_eq!(filled.view::<u8>().unwrap().len(), 16);
    }

    #[test]
    fn views_a_header_and_its_elements() {
        let mut filling = EmptyBuffer::heap(64).writer();
        assert!(filling.extend_from(&[ViewHeader { count: 2, kind: 7 }]));
        assert!(filling.extend_from(&[10u64, 20]));
        assert!(!filling.extend_from(&[0u64; 9]));
        let filled = filling.finish();
        let (header, values) = filled.view_parts::<ViewHeader, u64>().unwrap();
        assert_eq!((header.count, values), (2, &[10, 20][..]));
        let error = filled.view_parts::<u32, u64>().unwrap_err();
        assert!(matches!(error, ViewError::Misaligned { align: 8, .. }));
        let error = filled.view_parts::<ViewHeader, [u64; 3]>().unwrap_err();
        assert!(matches!(
            error,
            ViewError::Length {
                size: 24,
                len: 16,
                ..
            }
        ));
    }

    #[test]
    fn reports_a_view_of_the_wrong_size() {
        let filled = EmptyBuffer::heap(64).zeroed(12).unwrap();
        let error = filled.view::<u64>().unwrap_err();
        assert!(
            error.to_string().contains("12 bytes does not match u64"),
            "{error}"
        );
        assert!(filled.view_of::<u64>().is_err());
        assert!(filled.view_of::<[u8; 11]>().is_err());
        assert_eq!(EmptyBuffer::heap(8).zeroed(9).unwrap_err().wanted, 9);
        let error = EmptyBuffer::heap(8).filled_with(2, |_| 0u64).unwrap_err();
        assert_eq!((error.wanted, error.buffer.capacity()), (16, 8));
        assert!(
            EmptyBuffer::heap(8)
                .filled_with(usize::MAX, |_| 0u64)
                .is_err()
        );
    }

    #[test]
    fn alignment_goes_to_128() {
        let line = |i: usize| Line([i as u64; 16]);
        for empty in [
            EmptyBuffer::heap(1024),
            crate::Pool::default().take(1024).unwrap(),
        ] {
            let filled = empty.filled_with(8, line).unwrap();
            assert_eq!(filled.view::<Line>().unwrap()[7], line(7));
        }
        // Slots of a pool are aligned to their size, up to a page.
        let pool = crate::Pool::default();
        let jbufs: Vec<_> = (0..2)
            .map(|_| pool.take(256).unwrap().zeroed(256).unwrap())
            .collect();
        assert!(jbufs.iter().all(|jbuf| jbuf.view::<Block>().is_ok()));
    }

    #[test]
    fn values_of_no_size_fill_nothing() {
        let filled = EmptyBuffer::heap(8).filled_with(3, |_| ()).unwrap();
        assert!(filled.is_empty());
    }
}
