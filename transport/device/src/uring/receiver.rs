//! State of one socket that a ring receives from.

use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;
use std::task::Waker;

use io_uring::cqueue;
use rustix::io::Errno;
use socket2::MaybeUninitSlice;

use super::buffers::{Buffers, COUNT, SIZE};

/// A socket that a ring receives from, and the data that has arrived.
pub(super) struct RingReceiver {
    pub(super) socket: RawFd,
    /// Full buffers that were not consumed yet, the oldest first; at most `COUNT`.
    arrived: VecDeque<Piece>,
    /// The end of the stream; `None` before it.
    end: Option<ReceiveEnd>,
    /// True if the kernel has the receive.
    pub(super) receiving: bool,
    /// True if a cancellation of the receive was submitted.
    pub(super) cancelled: bool,
    /// True if the socket was removed from the ring. The receiver is dropped when its receive has
    /// ended.
    pub(super) abandoned: bool,
    /// The waker to call when data can be taken. It is kept after a call, to be reused.
    pub(super) waker: Option<Waker>,
    /// Key of the watcher with which the waker is registered (0: none). `None` if the waker must
    /// not be called.
    pub(super) armed: Option<usize>,
}

struct Piece {
    buffer: u16,
    used: usize,
    length: usize,
}

#[derive(Debug, Clone, Copy)]
enum ReceiveEnd {
    /// The end of the stream.
    Stream,
    Failed(Errno),
}

/// The result of taking bytes from a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakeResult {
    /// The number of bytes; 0 at the end of the stream.
    Bytes(usize),
    /// No bytes, but more may arrive.
    Soon,
    /// No bytes, and none arrive until the receive is started again.
    Never,
}

impl RingReceiver {
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

    /// Returns true if bytes or the end of the stream can be taken.
    pub(super) fn has_some(&self) -> bool {
        !self.arrived.is_empty() || self.end.is_some()
    }

    /// Returns true if a waiting thread can make progress.
    pub(super) fn is_ready(&self) -> bool {
        self.has_some() || !self.receiving
    }

    /// Returns true if the receiver has more than its share of the buffers.
    pub(super) fn has_plenty(&self) -> bool {
        self.arrived.len() >= usize::from(COUNT / 4)
    }

    /// Processes a completion of the receive.
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
                    "io_uring reported an invalid receive buffer",
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
            self.end = Some(ReceiveEnd::Stream);
            return Ok(());
        }
        match Errno::from_raw_os_error(result.saturating_neg()) {
            // All buffers are full, the submitting thread has ended, or the receive was cancelled.
            // It continues when it is submitted again.
            Errno::NOBUFS | Errno::CANCELED | Errno::INTR | Errno::AGAIN | Errno::NOMEM => {}
            errno => self.end = Some(ReceiveEnd::Failed(errno)),
        }
        Ok(())
    }

    /// Copies received bytes to `slices`.
    pub(super) fn copy_out(
        &mut self,
        slices: &mut [MaybeUninitSlice<'_>],
        buffers: &mut Buffers,
    ) -> io::Result<TakeResult> {
        let mut taken = 0usize;
        for slice in slices {
            let mut rest = &mut **slice;
            while let Some(piece) = self.arrived.front_mut().filter(|_| !rest.is_empty()) {
                // SAFETY: the kernel has filled this buffer with `piece.length` bytes, and the
                // buffer is freed only after its piece was removed from `arrived`.
                let bytes = unsafe { buffers.filled(piece.buffer, piece.length) };
                let bytes = bytes.get(piece.used..).unwrap_or_default();
                let count = bytes.len().min(rest.len());
                let (to, behind) = rest.split_at_mut(count);
                let from = bytes.as_ptr().cast();
                // SAFETY: both sides have `count` bytes, and they do not overlap, because a buffer
                // of the ring is no memory of the program.
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
            _ if taken > 0 => Ok(TakeResult::Bytes(taken)),
            Some(ReceiveEnd::Stream) => Ok(TakeResult::Bytes(0)),
            Some(ReceiveEnd::Failed(errno)) => Err(errno.into()),
            None if self.receiving => Ok(TakeResult::Soon),
            None => Ok(TakeResult::Never),
        }
    }

    /// Frees the buffers of bytes that will not be taken.
    pub(super) fn forget(&mut self, buffers: &mut Buffers) {
        for piece in self.arrived.drain(..) {
            buffers.free(piece.buffer);
        }
    }
}
