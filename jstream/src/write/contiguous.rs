//! Messages in one piece: the segments of a gathered message, one behind the other.

use std::io::{self, ErrorKind, IoSlice};

use super::draft::NOTED;
use super::{WriteError, Writer};
use crate::buffer::{Filled, Pool, Spent};
use crate::model::Transportable;

impl Writer {
    /// Writes `value`, and all that it reaches, into a jbuf of `pool` of the right size.
    ///
    /// # Errors
    ///
    /// [`WriteError::Pool`] when the pool has none; else as for [`gather`](Self::gather).
    pub fn write_to<T: Transportable>(
        &mut self,
        value: &T,
        pool: &Pool,
    ) -> Result<Filled, WriteError> {
        self.write_by(value, |len| Ok(pool.take(len)?))
    }

    /// Writes `value`, and all that it reaches, into the jbuf that is taken for a message of its length.
    pub(crate) fn write_by<T: Transportable>(
        &mut self,
        value: &T,
        take: impl FnOnce(usize) -> Result<Spent, WriteError>,
    ) -> Result<Filled, WriteError> {
        self.gathered(value, NOTED, |segments| {
            let len = segments.iter().map(|segment| segment.len()).sum();
            let mut filling = take(len)?.filling();
            for segment in segments {
                if !filling.extend(segment) {
                    unreachable!("the jbuf has the capacity that was asked for");
                }
            }
            Ok(filling.finish())
        })?
    }

    /// Appends `value`, and all that it reaches, to `into`; says how long the message is.
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
    /// As for [`gather`](Self::gather); `into` is then as before.
    pub fn write_vec<T: Transportable>(
        &mut self,
        value: &T,
        into: &mut Vec<u8>,
    ) -> Result<usize, WriteError> {
        self.gathered(value, NOTED, |segments| {
            let len = segments.iter().map(|segment| segment.len()).sum();
            into.reserve(len);
            for segment in segments {
                into.extend_from_slice(segment);
            }
            len
        })
    }

    /// Writes `value`, and all that it reaches, to `into`, large plain arrays from where they are; says
    /// how long the message is. Writes that are interrupted go on.
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
    /// [`WriteError::Io`] when `into` fails, or takes no more; else as for [`gather`](Self::gather), and
    /// then nothing was written.
    pub fn write_io<T: Transportable>(
        &mut self,
        value: &T,
        into: &mut (impl io::Write + ?Sized),
    ) -> Result<usize, WriteError> {
        self.gather(value, |segments| write_all(segments, into))?
            .map_err(WriteError::Io)
    }
}

/// Writes all segments; says how many bytes they have.
fn write_all(segments: &[IoSlice<'_>], into: &mut (impl io::Write + ?Sized)) -> io::Result<usize> {
    let mut left = segments;
    // How much of the first one was taken already. Its rest goes alone, so that no list is made anew.
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
        let what = "more was written than there was";
        return Err(io::Error::new(ErrorKind::InvalidData, what));
    }
    Ok(len)
}
