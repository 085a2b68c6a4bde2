//! Reading captures.

use std::fmt;
use std::io::{self, Read};

use super::encoding::{FRONT, checksum, decode};
use super::{MAGIC, Record};

/// Reads a capture, record by record.
#[derive(Debug)]
pub struct CaptureReader<R> {
    from: R,
    at: u64,
    over: bool,
}

/// An error of reading a capture.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub enum CaptureError {
    /// Reading the file failed.
    Io(io::Error),
    /// The file does not begin with the header of a capture of this version.
    Magic,
    /// The file ends inside a record: its writer was terminated or is still running.
    CutOff {
        /// Start of the record in bytes.
        at: u64,
    },
    /// The checksum of a record does not match, or its contents are not valid.
    Damaged {
        /// Start of the record in bytes.
        at: u64,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the capture can't be read: {error}"),
            Self::Magic => f.write_str("not a capture, or a capture of another version"),
            Self::CutOff { at } => write!(
                f,
                "the capture ends inside the record at byte {at}: its writer was terminated or is still running"
            ),
            Self::Damaged { at } => write!(f, "the record at byte {at} of the capture is damaged"),
        }
    }
}

impl std::error::Error for CaptureError {}

impl From<io::Error> for CaptureError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<R: Read> CaptureReader<R> {
    /// Creates a reader. `from` should be buffered.
    ///
    /// # Errors
    ///
    /// [`CaptureError`] if reading fails or this is not a capture.
    pub fn new(mut from: R) -> Result<Self, CaptureError> {
        let mut magic = Vec::new();
        (&mut from)
            .take(MAGIC.len() as u64)
            .read_to_end(&mut magic)?;
        if magic != MAGIC {
            return Err(CaptureError::Magic);
        }
        Ok(Self {
            from,
            at: MAGIC.len() as u64,
            over: false,
        })
    }

    /// Reads the next record; returns `None` at the end, and after an error.
    ///
    /// # Errors
    ///
    /// [`CaptureError`] if reading fails or the capture is truncated or damaged.
    pub fn read(&mut self) -> Result<Option<Record>, CaptureError> {
        if self.over {
            return Ok(None);
        }
        let record = self.next();
        self.over = !matches!(record, Ok(Some(_)));
        record
    }

    fn next(&mut self) -> Result<Option<Record>, CaptureError> {
        let at = self.at;
        let front = self.read_bytes(FRONT as u64)?;
        if front.is_empty() {
            return Ok(None);
        }
        let cut_off = CaptureError::CutOff { at };
        let Some((length, sum)) = front.split_first_chunk::<4>() else {
            return Err(cut_off);
        };
        let Ok(sum) = sum.try_into().map(u32::from_le_bytes) else {
            return Err(cut_off);
        };
        let length = u64::from(u32::from_le_bytes(*length));
        let body = self.read_bytes(length)?;
        if (body.len() as u64) < length {
            return Err(cut_off);
        }
        let record = decode(&body).filter(|_| checksum(&body) == sum);
        record.map(Some).ok_or(CaptureError::Damaged { at })
    }

    /// Reads `length` bytes, or fewer at the end of the file.
    fn read_bytes(&mut self, length: u64) -> Result<Vec<u8>, CaptureError> {
        let mut bytes = Vec::new();
        (&mut self.from).take(length).read_to_end(&mut bytes)?;
        self.at = self.at.saturating_add(bytes.len() as u64);
        Ok(bytes)
    }
}
