//! Writing a message into one contiguous piece: the segments of a gathered message, one after the
//! other.

use std::io::{self, ErrorKind, IoSlice};

use super::draft::RECORD_MIN_BYTES;
use super::{WriteError, Writer};
use crate::buffer::{EmptyBuffer, MessageBuffer, Pool};
use crate::model::Transportable;

impl Writer {
    /// Writes `value`, and everything that it reaches, into a buffer of `pool` of the right size.
    ///
    /// # Errors
    ///
    /// [`WriteError::Pool`] if the pool has no buffer; otherwise as for [`gather`](Self::gather).
    pub fn write_to<T: Transportable>(
        &mut self,
        value: &T,
        pool: &Pool,
    ) -> Result<MessageBuffer, WriteError> {
        self.write_by(value, |len| Ok(pool.take(len)?))
    }

    /// Writes `value`, and everything that it reaches, into the buffer that `take` returns for the
    /// length of the message.
    pub(crate) fn write_by<T: Transportable>(
        &mut self,
        value: &T,
        take: impl FnOnce(usize) -> Result<EmptyBuffer, WriteError>,
    ) -> Result<MessageBuffer, WriteError> {
        self.gathered(value, RECORD_MIN_BYTES, |segments| {
            let len = segments.iter().map(|segment| segment.len()).sum();
            let mut filling = take(len)?.writer();
            for segment in segments {
                if !filling.extend(segment) {
                    unreachable!("the buffer has the requested capacity");
                }
            }
            Ok(filling.finish())
        })?
    }

    /// Appends `value`, and everything that it reaches, to `into`. Returns the length of the
    /// message.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut bytes = Vec::new();
    /// let len = jstream::Writer::new().write_vec(&(7u32, "seven"), &mut bytes)?;
    /// assert_eq!(bytes.len(), len);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`gather`](Self::gather); `into` is then unchanged.
    pub fn write_vec<T: Transportable>(
        &mut self,
        value: &T,
        into: &mut Vec<u8>,
    ) -> Result<usize, WriteError> {
        self.gathered(value, RECORD_MIN_BYTES, |segments| {
            let len = segments.iter().map(|segment| segment.len()).sum();
            into.reserve(len);
            for segment in segments {
                into.extend_from_slice(segment);
            }
            len
        })
    }

    /// Writes `value`, and everything that it reaches, to `into`. Large plain arrays and long text
    /// are written from where they are in memory. Returns the length of the message. Interrupted
    /// writes are continued.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let samples = vec![0.5f64; 10_000];
    /// let mut file = std::io::Cursor::new(Vec::new());
    /// let len = jstream::Writer::new().write_io(&samples, &mut file)?;
    /// assert_eq!(file.get_ref().len(), len);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`] if `into` fails or accepts no more bytes; otherwise as for
    /// [`gather`](Self::gather), and then nothing was written.
    pub fn write_io<T: Transportable>(
        &mut self,
        value: &T,
        into: &mut (impl io::Write + ?Sized),
    ) -> Result<usize, WriteError> {
        self.gather(value, |segments| write_all(segments, into))?
            .map_err(WriteError::Io)
    }
}

/// Writes all segments. Returns the number of bytes written.
fn write_all(segments: &[IoSlice<'_>], into: &mut (impl io::Write + ?Sized)) -> io::Result<usize> {
    let mut left = segments;
    // Number of bytes of the first segment that were already written. Its rest is written alone, so
    // that no new list has to be built.
    let mut begun = 0usize;
    let mut len = 0usize;
    while let Some(first) = left.first() {
        let result = match first.get(begun..) {
            Some(rest) if begun > 0 => into.write(rest),
            _ => into.write_vectored(left),
        };
        let taken = match result {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(taken) => taken,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        len = len.wrapping_add(taken);
        begun = begun.saturating_add(taken);
        while let Some((first, behind)) = left.split_first() {
            match begun.checked_sub(first.len()) {
                Some(more) => (begun, left) = (more, behind),
                None => break,
            }
        }
    }
    if begun > 0 {
        let details = "more bytes were written than the message has";
        return Err(io::Error::new(ErrorKind::InvalidData, details));
    }
    Ok(len)
}
