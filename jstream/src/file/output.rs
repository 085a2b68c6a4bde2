//! Buffered output: small writes are collected, large ones go to the file without a copy.

use std::fs::File;
use std::io::{self, IoSlice, Seek, SeekFrom, Write};
use std::mem;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::format::ALIGN;

/// Messages of at least this many bytes bypass the buffer.
const LARGE: usize = 32 << 10;

/// Capacity of the buffer in bytes.
const GATHERED: usize = 256 << 10;

/// Zeroes between blocks.
static PADDING: [u8; crate::buffer::ALIGNMENT] = [0; crate::buffer::ALIGNMENT];

/// Output buffer of a file. If a write fails, the collected bytes remain and the next write retries
/// them at the same offset.
#[derive(Debug)]
pub(super) struct Output {
    /// Offset in the file of the first collected byte.
    start: u64,
    gathered: Vec<u8>,
}

impl Output {
    /// Returns an output that continues at offset `start`.
    pub(super) fn new(start: u64) -> Self {
        Self {
            start,
            gathered: Vec::new(),
        }
    }

    /// Returns the offset of the next byte.
    pub(super) fn at(&self) -> u64 {
        self.start.saturating_add(self.gathered.len() as u64)
    }

    /// Pads to the alignment of blocks, and returns the place of the new block.
    pub(super) fn begin_block(&mut self) -> u64 {
        let past = self.at() % ALIGN;
        let missing = usize::try_from(ALIGN.wrapping_sub(past) % ALIGN).unwrap_or(0);
        self.gathered
            .extend_from_slice(PADDING.get(..missing).unwrap_or_default());
        self.at()
    }

    /// Appends bytes to the current block.
    pub(super) fn put(&mut self, file: &File, bytes: &[u8]) -> io::Result<()> {
        if self.gathered.len().saturating_add(bytes.len()) > GATHERED {
            self.flush(file)?;
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends a message to the current block, and returns its checksum. On error, no part of the
    /// message is added.
    pub(super) fn put_message(&mut self, file: &File, segments: &[IoSlice<'_>]) -> io::Result<u64> {
        let len = segments.iter().map(|segment| segment.len()).sum::<usize>();
        if len < LARGE {
            if self.gathered.len().saturating_add(len) > GATHERED {
                self.flush(file)?;
            }
            let from = self.gathered.len();
            for segment in segments {
                self.gathered.extend_from_slice(segment);
            }
            return Ok(xxh3_64(self.gathered.get(from..).unwrap_or_default()));
        }
        let mut sum = Xxh3::new();
        for segment in segments {
            sum.update(segment);
        }
        let mut list = Vec::with_capacity(segments.len().saturating_add(1));
        list.push(IoSlice::new(&self.gathered));
        list.extend_from_slice(segments);
        write_all(file, self.start, &mut list)?;
        self.start = self.at().saturating_add(len as u64);
        self.gathered.clear();
        Ok(sum.digest())
    }

    /// Writes the collected bytes to the file.
    pub(super) fn flush(&mut self, file: &File) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        write_all(file, self.start, &mut [IoSlice::new(&self.gathered)])?;
        self.start = self.at();
        self.gathered.clear();
        Ok(())
    }
}

/// Writes all segments to the file, beginning at offset `at`.
fn write_all(mut file: &File, at: u64, mut segments: &mut [IoSlice<'_>]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    // Skips empty segments at the start: a write of 0 bytes would be reported as a full device.
    IoSlice::advance_slices(&mut segments, 0);
    while !segments.is_empty() {
        match file.write_vectored(segments) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                let rest = mem::take(&mut segments);
                segments = rest;
                IoSlice::advance_slices(&mut segments, written);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
