//! The pipe through which an agent passes on input to its first process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The writing end of the input of a process.
pub(crate) struct InputPipe {
    pipe: Option<OwnedFd>,
    /// Input that is not written yet.
    waiting: Vec<u8>,
    /// True if nothing follows the waiting input.
    is_last: bool,
}

impl InputPipe {
    pub(crate) fn new(pipe: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self {
            pipe: Some(pipe),
            waiting: Vec::new(),
            is_last: false,
        })
    }

    /// Adds input. No bytes are its end.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.is_last |= bytes.is_empty();
        self.waiting.extend_from_slice(bytes);
    }

    /// Returns the pipe while input waits for room in it.
    pub(crate) fn waiting(&self) -> Option<BorrowedFd<'_>> {
        let pipe = self.pipe.as_ref()?;
        (!self.waiting.is_empty()).then(|| pipe.as_fd())
    }

    /// Writes as much as there is room for. When all is written, returns true; if the process does
    /// not read its input any more, returns false.
    pub(crate) fn write(&mut self) -> Option<bool> {
        let Some(pipe) = &self.pipe else {
            self.waiting.clear();
            return Some(false);
        };
        while !self.waiting.is_empty() {
            match rustix::io::write(pipe, &self.waiting) {
                Ok(count) => drop(self.waiting.drain(..count.min(self.waiting.len()))),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return None,
                Err(_) => {
                    self.waiting.clear();
                    self.pipe = None;
                    return Some(false);
                }
            }
        }
        if self.is_last {
            self.pipe = None;
        }
        Some(true)
    }
}
