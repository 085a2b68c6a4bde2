//! One direction of a connection: bytes on their way, and what may happen to them.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::Waker;

use super::random::Random;
use super::settings::{Faults, Settings};

/// The bytes of one direction, in the order in which they were written.
pub(super) struct Pipe {
    /// What the reader finds.
    pub(super) ready: VecDeque<u8>,
    /// How many bytes are on their way.
    pub(super) flying: usize,
    window: usize,
    /// What the reader finds behind `ready`: the end, or an error.
    pub(super) end: Option<Result<(), ErrorKind>>,
    /// What the writer is told.
    pub(super) refusal: Option<ErrorKind>,
    /// When the last piece arrives: no later one does before.
    pub(super) last: u64,
    flaw: Option<(u64, Flaw)>,
    /// How many bytes were written.
    written: u64,
    /// Nothing that is written arrives any more.
    pub(super) lost: bool,
    pub(super) reader_gone: bool,
    pub(super) writer_gone: bool,
    pub(super) reader: Sleeper,
    pub(super) writer: Sleeper,
}

/// What happens at a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    Cut,
    Reset,
    Drop,
    Corrupt,
    Vanish,
}

/// Somebody who may wait for a pipe.
#[derive(Default)]
pub(super) struct Sleeper {
    pub(super) waker: Option<Waker>,
    /// Made when somebody sleeps on a descriptor.
    pub(super) signal: Option<Arc<OwnedFd>>,
}

impl Sleeper {
    /// Whoever waits goes on; wakers are called later.
    pub(super) fn wake(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(self.waker.take());
        if let Some(signal) = &self.signal {
            // It fails when the counter is full, and then the descriptor is readable.
            let _ = rustix::io::write(signal, &1u64.to_ne_bytes());
        }
    }
}

/// What a write put on its way.
pub(super) struct Written {
    /// How many bytes the writer is rid of.
    pub(super) taken: usize,
    /// Those that arrive.
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
            reader: Sleeper::default(),
            writer: Sleeper::default(),
        }
    }

    /// How many bytes may be written now.
    pub(super) fn room(&self) -> usize {
        if self.lost {
            // What vanishes is taken until the window is full, like all that nobody acknowledges.
            let window = self.window as u64;
            return usize::try_from(window.saturating_sub(self.written.min(window))).unwrap_or(0);
        }
        let used = self.ready.len().saturating_add(self.flying);
        self.window.saturating_sub(used)
    }

    /// Whether a write would not wait.
    pub(super) fn writable(&self) -> bool {
        self.refusal.is_some() || self.room() > 0
    }

    /// Whether a read would not wait.
    pub(super) fn readable(&self) -> bool {
        !self.ready.is_empty() || self.end.is_some()
    }

    /// Takes at most `most` of `parts`.
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

    /// A piece has arrived.
    pub(super) fn deliver(&mut self, bytes: &[u8]) {
        self.flying = self.flying.saturating_sub(bytes.len());
        if self.end.is_none() && !self.reader_gone {
            self.ready.extend(bytes);
        }
    }

    /// The reader finds this behind what it has; the first end counts.
    pub(super) fn finish(&mut self, end: Result<(), ErrorKind>) {
        self.end.get_or_insert(end);
        if end.is_err() {
            self.ready.clear();
        }
    }

    /// What a read would give that can't read anything.
    pub(super) fn nothing(&self) -> io::Result<usize> {
        match self.end {
            Some(Ok(())) => Ok(0),
            Some(Err(kind)) => Err(kind.into()),
            None => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

/// Which fault a new direction meets, and where.
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
