//! One direction of a connection: bytes in flight, and their faults.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;
use std::task::Waker;

use super::random::Random;
use super::settings::{Faults, Settings};
use jstream_sync::event_fd::EventFd;

/// The bytes of one direction, in the order in which they were written.
pub(super) struct Pipe {
    /// Bytes that the reader can read.
    pub(super) ready: VecDeque<u8>,
    /// Number of bytes in flight.
    pub(super) flying: usize,
    window: usize,
    /// The end of the stream or an error, which the reader gets after `ready`.
    pub(super) end: Option<Result<(), ErrorKind>>,
    /// The error that the writer gets.
    pub(super) refusal: Option<ErrorKind>,
    /// Arrival time of the last piece. No later piece arrives before.
    pub(super) last: u64,
    flaw: Option<(u64, Flaw)>,
    /// Number of bytes written.
    written: u64,
    /// True if no further bytes arrive.
    pub(super) lost: bool,
    pub(super) reader_gone: bool,
    pub(super) writer_gone: bool,
    pub(super) reader: PipeSleeper,
    pub(super) writer: PipeSleeper,
}

/// A fault at one byte of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    Cut,
    Reset,
    Drop,
    Corrupt,
    Vanish,
}

/// A task or thread that may wait for a pipe.
#[derive(Default)]
pub(super) struct PipeSleeper {
    pub(super) waker: Option<Waker>,
    /// Created when a thread first sleeps on a descriptor.
    pub(super) signal: Option<Arc<EventFd>>,
}

impl PipeSleeper {
    /// Wakes the sleeper. Its waker is added to `wakers`, to be called later.
    pub(super) fn wake(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(self.waker.take());
        if let Some(signal) = &self.signal {
            signal.signal();
        }
    }
}

/// Result of a write.
pub(super) struct Written {
    /// Number of bytes accepted from the writer.
    pub(super) taken: usize,
    /// The bytes that will arrive.
    pub(super) bytes: Vec<u8>,
    pub(super) struck: Option<Flaw>,
}

impl Pipe {
    pub(super) fn new(settings: &Settings, random: &mut Random) -> Self {
        let most = settings
            .window
            .end()
            .saturating_sub(*settings.window.start());
        let drawn = random.magnitude(most as u64);
        let window = settings
            .window
            .start()
            .saturating_add(usize::try_from(drawn).unwrap_or(most))
            .min(*settings.window.end())
            .max(1);
        Self {
            ready: VecDeque::new(),
            flying: 0,
            window,
            end: None,
            refusal: None,
            last: 0,
            flaw: flaw(&settings.faults, random),
            written: 0,
            lost: false,
            reader_gone: false,
            writer_gone: false,
            reader: PipeSleeper::default(),
            writer: PipeSleeper::default(),
        }
    }

    /// Returns the number of bytes that can be written now.
    pub(super) fn room(&self) -> usize {
        if self.lost {
            // Lost bytes are accepted until the window is full, like bytes that the peer does not
            // acknowledge.
            let window = self.window as u64;
            return usize::try_from(window.saturating_sub(self.written.min(window))).unwrap_or(0);
        }
        let used = self.ready.len().saturating_add(self.flying);
        self.window.saturating_sub(used)
    }

    /// Returns true if a write would not block.
    pub(super) fn writable(&self) -> bool {
        self.refusal.is_some() || self.room() > 0
    }

    /// Returns true if a read would not block.
    pub(super) fn readable(&self) -> bool {
        !self.ready.is_empty() || self.end.is_some()
    }

    /// Accepts at most `most` bytes of `parts`.
    pub(super) fn write(
        &mut self,
        parts: &[IoSlice<'_>],
        most: usize,
        random: &mut Random,
    ) -> Written {
        let mut bytes = Vec::with_capacity(most);
        for part in parts {
            let left = most.saturating_sub(bytes.len());
            bytes.extend_from_slice(part.get(..left).unwrap_or(part));
        }
        let taken = bytes.len();
        let from = self.written;
        self.written = from.saturating_add(taken as u64);
        let mut struck = None;
        if let Some((at, flaw)) = self.flaw.filter(|(at, _)| *at < self.written) {
            let place = usize::try_from(at.saturating_sub(from)).unwrap_or(0);
            self.flaw = None;
            struck = Some(flaw);
            if flaw == Flaw::Corrupt {
                if let Some(byte) = bytes.get_mut(place) {
                    let bits = u8::try_from(random.below(255)).unwrap_or(0);
                    *byte ^= bits.saturating_add(1);
                }
            } else {
                bytes.truncate(place);
            }
        }
        if self.lost {
            bytes.clear();
        }
        self.flying = self.flying.saturating_add(bytes.len());
        Written {
            taken,
            bytes,
            struck,
        }
    }

    /// Delivers a piece of bytes.
    pub(super) fn deliver(&mut self, bytes: &[u8]) {
        self.flying = self.flying.saturating_sub(bytes.len());
        if self.end.is_none() && !self.reader_gone {
            self.ready.extend(bytes);
        }
    }

    /// Sets the end that the reader gets after its remaining bytes. The first end is kept. An error
    /// also discards the remaining bytes.
    pub(super) fn finish(&mut self, end: Result<(), ErrorKind>) {
        self.end.get_or_insert(end);
        if end.is_err() {
            self.ready.clear();
        }
    }

    /// Returns the result of a read if there are no bytes.
    pub(super) fn nothing(&self) -> io::Result<usize> {
        match self.end {
            Some(Ok(())) => Ok(0),
            Some(Err(kind)) => Err(kind.into()),
            None => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

/// Draws the fault of a new direction, and its position.
fn flaw(faults: &Faults, random: &mut Random) -> Option<(u64, Flaw)> {
    let mut draw = u16::try_from(random.below(1000)).unwrap_or(0);
    let at = random
        .magnitude(faults.within.saturating_add(1))
        .saturating_sub(1);
    for (in_1000, flaw) in [
        (faults.cut, Flaw::Cut),
        (faults.reset, Flaw::Reset),
        (faults.drop, Flaw::Drop),
        (faults.corrupt, Flaw::Corrupt),
        (faults.vanish, Flaw::Vanish),
    ] {
        if draw < in_1000 {
            return Some((at, flaw));
        }
        draw = draw.saturating_sub(in_1000);
    }
    None
}
