//! What a ring knows of one of the sockets that it receives from.

use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;
use std::task::Waker;

use io_uring::cqueue;
use rustix::io::Errno;
use socket2::MaybeUninitSlice;

use super::buffers::{Buffers, COUNT, SIZE};

/// A socket that a ring receives from, and what has come.
pub(super) struct Receiver {
    pub(super) socket: RawFd,
    /// The buffers that were filled and are not used up, the oldest first; at most `COUNT`.
    arrived: VecDeque<Piece>,
    /// What the stream ended with: `None` while it goes on.
    end: Option<End>,
    /// The receive is with the system.
    pub(super) receiving: bool,
    /// The receive was asked to end.
    pub(super) cancelled: bool,
    /// Nobody asks for what comes any more: it goes when the receive has ended.
    pub(super) abandoned: bool,
    /// Whom to wake when there is something to do. It stays when it was woken, to be woken again.
    pub(super) waker: Option<Waker>,
    /// It is to be woken, and was registered with a watcher at this address (0: with none).
    pub(super) armed: Option<usize>,
}

struct Piece {
    buffer: u16,
    used: usize,
    length: usize,
}

#[derive(Debug, Clone, Copy)]
enum End {
    /// Of the stream.
    Stream,
    Failed(Errno),
}

/// What was taken from a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// So many bytes; none at the stream's end.
    Bytes(usize),
    /// Nothing, and something may still come.
    Soon,
    /// Nothing, and nothing comes until the receive is begun again.
    Never,
}

impl Receiver {
    pub(super) fn new(socket: RawFd) -> Self {
        Self {
            socket,
            arrived: VecDeque::with_capacity(usize::from(COUNT)),
            end: None,
            receiving: false,
            cancelled: false,
            abandoned: false,
            waker: None,
            armed: None,
        }
    }

    /// Whether bytes or the end can be taken.
    pub(super) fn has_some(&self) -> bool {
        !self.arrived.is_empty() || self.end.is_some()
    }

    /// Whether whoever waits for it has something to do.
    pub(super) fn is_ready(&self) -> bool {
        self.has_some() || !self.receiving
    }

    /// Whether it has more than its share of `buffers`, of which others are short.
    pub(super) fn has_plenty(&self) -> bool {
        self.arrived.len() >= usize::from(COUNT / 4)
    }

    /// Notes what became of the receive.
    pub(super) fn received(
        &mut self,
        result: i32,
        flags: u32,
        buffers: &mut Buffers,
    ) -> io::Result<()> {
        if !cqueue::more(flags) {
            self.receiving = false;
            self.cancelled = false;
        }
        if let Ok(length @ 1..) = usize::try_from(result) {
            let buffer = cqueue::buffer_select(flags).filter(|buffer| *buffer < COUNT);
            let Some(buffer) = buffer.filter(|_| length <= SIZE) else {
                return Err(io::Error::other(
                    "the ring received into no buffer of its own",
                ));
            };
            buffers.note_filled();
            self.arrived.push_back(Piece {
                buffer,
                used: 0,
                length,
            });
            return Ok(());
        }
        if result == 0 {
            self.end = Some(End::Stream);
            return Ok(());
        }
        match Errno::from_raw_os_error(result.saturating_neg()) {
            // All buffers are full, or the thread that submitted it has ended, or it was cancelled:
            // it goes on when it is submitted again.
            Errno::NOBUFS | Errno::CANCELED | Errno::INTR | Errno::AGAIN | Errno::NOMEM => {}
            errno => self.end = Some(End::Failed(errno)),
        }
        Ok(())
    }

    /// Copies what was received to `slices`.
    pub(super) fn take(
        &mut self,
        slices: &mut [MaybeUninitSlice<'_>],
        buffers: &mut Buffers,
    ) -> io::Result<Taken> {
        let mut taken = 0usize;
        for slice in slices {
            let mut rest = &mut **slice;
            while let Some(piece) = self.arrived.front_mut().filter(|_| !rest.is_empty()) {
                // SAFETY: the system has filled this buffer with so many bytes, and it is free only
                // when it is no longer in `arrived`.
                let bytes = unsafe { buffers.filled(piece.buffer, piece.length) };
                let bytes = bytes.get(piece.used..).unwrap_or_default();
                let count = bytes.len().min(rest.len());
                let (to, behind) = rest.split_at_mut(count);
                let from = bytes.as_ptr().cast();
                // SAFETY: both have `count` bytes, and a buffer of the ring is none of the program.
                unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), count) };
                rest = behind;
                taken = taken.saturating_add(count);
                piece.used = piece.used.saturating_add(count);
                if piece.used >= piece.length {
                    let buffer = piece.buffer;
                    self.arrived.pop_front();
                    buffers.free(buffer);
                }
            }
        }
        match self.end {
            _ if taken > 0 => Ok(Taken::Bytes(taken)),
            Some(End::Stream) => Ok(Taken::Bytes(0)),
            Some(End::Failed(errno)) => Err(errno.into()),
            None if self.receiving => Ok(Taken::Soon),
            None => Ok(Taken::Never),
        }
    }

    /// Gives back the buffers of what nobody asks for.
    pub(super) fn forget(&mut self, buffers: &mut Buffers) {
        for piece in self.arrived.drain(..) {
            buffers.free(piece.buffer);
        }
    }
}
