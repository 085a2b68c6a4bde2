//! The send half.
//!
//! Decisions 107 and 112 have the reasons.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Duration;

use super::broken::Broken;
use super::copy::{set_words, words_in};
use super::line::{HalfEvent, ShmConnection};
use super::mapping::{Control, DATA};
use super::place::AreaCursor;
use super::remote::MOST_RANGES;
use super::ring::{
    BESIDE_MARK, HEADER_WORDS, INLINE, Kind, Producer, SLOT_RANGES, SlotMark, Stretch,
};
use super::signal;
use super::trusted::{Outbox, Spot};
use crate::connection::{Armed, Body, Fault, Interest, Outbound, Outgoing, Push};
use crate::deadline::Deadline;
use crate::poll::sleep_on;
use jstream_base::Header;

/// Minimum length, in bytes, from which the peer copies a message from this process's memory, if it
/// can. For shorter messages, two copies through the shared caches, which both sides make
/// concurrently, take less time than one copy that the kernel makes page by page. The sender of a
/// longer message has to wait for the receiver in any case.
pub(super) const REMOTE_FROM: usize = 2 * DATA;
/// As [`REMOTE_FROM`], for an exchange. Both sides are busy then, so a message that is copied once
/// by the kernel takes less time than one that is copied twice.
pub(super) const EXCHANGE_FROM: usize = 32 << 10;
/// Number of bytes that are published at a time. The peer copies one piece out while this side
/// copies the next one in.
const PIECE: usize = 8 << 10;
/// Piece length of messages of at least [`LONG`] bytes, for which the delay of the first piece
/// matters less.
const LONG_PIECE: usize = 32 << 10;
const LONG: usize = 256 << 10;
/// Minimum average length of the ranges, in bytes, from which the peer reads them from this
/// process's memory.
const LEAST_RANGE: usize = 512;
/// Number of unsuccessful polls after which a half checks whether the peer is still there. The
/// check costs as much as a few hundred polls.
pub(super) const LOOKS: u32 = 8192;
/// Maximum wait for a peer that is reading this process's memory.
const ABANDON: Duration = Duration::from_millis(10);

/// State of the message that is being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flight {
    Nothing,
    /// Part of the message was copied.
    Pieces,
    /// The peer is reading the message from this process's memory.
    Remote,
}

/// The send half of a connection.
pub(super) struct ShmOutgoing {
    line: Arc<ShmConnection>,
    ring: Producer,
    /// True if the peer can read this process's memory.
    remote: bool,
    flight: Flight,
    broken: Option<Broken>,
    looks: u32,
}

impl ShmOutgoing {
    pub(super) fn new(line: Arc<ShmConnection>, ring: Producer, remote: bool) -> Self {
        Self {
            line,
            ring,
            remote,
            flight: Flight::Nothing,
            broken: None,
            looks: 0,
        }
    }

    fn fail<T>(&mut self, broken: Broken) -> Result<T, Fault> {
        self.broken = Some(broken);
        Err(broken.fault())
    }

    #[inline]
    fn room(&mut self, data: usize, stretch: Stretch) -> Result<bool, Fault> {
        match self.ring.has_room(data, stretch) {
            Ok(true) => Ok(true),
            Ok(false) => self.in_vain().map(|()| false),
            Err(error) => self.fail(error.into()),
        }
    }

    /// Counts a poll without progress. From time to time, checks whether the peer is still there.
    fn in_vain(&mut self) -> Result<(), Fault> {
        self.looks = self.looks.wrapping_add(1);
        if self.looks % LOOKS == 0 && !self.line.drain(HalfEvent::Consumed) {
            return self.hung_up();
        }
        Ok(())
    }

    fn is_gone(&self) -> bool {
        let gone = self.ring.lane().control(Control::Gone);
        gone.load(Ordering::Acquire) != 0
    }

    fn hung_up<T>(&mut self) -> Result<T, Fault> {
        if self.is_gone() {
            return self.fail(Broken::Ended);
        }
        self.fail(Broken::Lost(io::ErrorKind::ConnectionReset))
    }

    #[inline]
    fn publish(&mut self, mark: SlotMark) {
        if self.ring.publish(mark) {
            self.line.ring(HalfEvent::Published);
        }
    }

    /// Publishes the slot with the header of a message.
    ///
    /// The header is written last. It is in the cache line of the mark, which the peer polls: each
    /// poll after an earlier write would take the line away from this processor once more.
    #[inline]
    fn publish_message(&mut self, message: &Outbound<'_>, mark: SlotMark) {
        if let Some(words) = self.ring.slot().get(HEADER_WORDS) {
            let header: [u64; Header::WIRE_LENGTH / 8] =
                zerocopy::transmute!(message.header.to_bytes());
            set_words(words, header);
        }
        self.publish(mark);
    }

    fn begin(
        &mut self,
        message: &mut Outbound<'_>,
        parts: &[IoSlice<'_>],
        length: usize,
    ) -> Result<Push, Fault> {
        if self.is_gone() {
            return self.fail(Broken::Ended);
        }
        if length <= INLINE {
            return self.inline(message, parts, length);
        }
        let from = match message.is_exchange {
            true => EXCHANGE_FROM,
            false => REMOTE_FROM,
        };
        if self.remote && length >= from {
            let ranges = parts.iter().filter(|part| !part.is_empty()).count();
            if ranges <= MOST_RANGES && ranges.saturating_mul(LEAST_RANGE) <= length {
                return self.ranges(message, parts, ranges);
            }
        }
        self.pieces(message, parts, length)
    }

    #[inline]
    fn inline(
        &mut self,
        message: &mut Outbound<'_>,
        parts: &[IoSlice<'_>],
        length: usize,
    ) -> Result<Push, Fault> {
        if !self.room(0, Stretch::Front)? {
            return Ok(Push::Untouched);
        }
        if let [part] = parts {
            self.write_inline(part);
        } else {
            let mut bytes = [0; INLINE];
            let mut rest = bytes.as_mut_slice();
            for part in parts {
                let (to, after) = rest.split_at_mut(part.len().min(rest.len()));
                to.copy_from_slice(part.get(..to.len()).unwrap_or_default());
                rest = after;
            }
            self.write_inline(bytes.get(..length).unwrap_or_default());
        }
        self.publish_message(message, SlotMark::new(Kind::Inline, length));
        message.taken = length as u64;
        Ok(Push::Done)
    }

    /// Writes the payload of a slot, and the cache line of the mark last.
    #[inline]
    fn write_inline(&self, payload: &[u8]) {
        let words = self.ring.slot().get(HEADER_WORDS.end..).unwrap_or_default();
        let (first, rest) = words.split_at(BESIDE_MARK.min(words.len()));
        let (in_first, in_rest) = payload.split_at(payload.len().min(8 * BESIDE_MARK));
        words_in(rest, in_rest);
        words_in(first, in_first);
    }

    /// Lists the ranges of the message, so that the peer can read it from this process's memory.
    fn ranges(
        &mut self,
        message: &mut Outbound<'_>,
        parts: &[IoSlice<'_>],
        count: usize,
    ) -> Result<Push, Fault> {
        let listed = if count > SLOT_RANGES {
            count.saturating_mul(16)
        } else {
            0
        };
        if !self.room(listed, Stretch::Front)? {
            return Ok(Push::Untouched);
        }
        let ranges = parts.iter().filter(|part| !part.is_empty()).map(|part| {
            let mut range = [0; 16];
            let (address, length) = range.split_at_mut(8);
            address.copy_from_slice(&(part.as_ptr().expose_provenance() as u64).to_ne_bytes());
            length.copy_from_slice(&(part.len() as u64).to_ne_bytes());
            range
        });
        if listed == 0 {
            let words = self.ring.slot().get(HEADER_WORDS.end..);
            for (words, range) in words.unwrap_or_default().chunks(2).zip(ranges) {
                words_in(words, &range);
            }
        } else {
            let data = self.ring.lane().data(self.ring.data_at(), listed);
            let mut place = AreaCursor::new(data);
            for range in ranges {
                place.put(&range);
            }
        }
        let kind = if listed == 0 {
            Kind::Ranges
        } else {
            Kind::List
        };
        self.publish_message(message, SlotMark::new(kind, count));
        self.flight = Flight::Remote;
        self.looks = 0;
        self.remote(message)
    }

    /// Checks whether the peer has read the message from this process's memory.
    fn remote(&mut self, message: &mut Outbound<'_>) -> Result<Push, Fault> {
        match self.ring.is_all_consumed() {
            Ok(true) => {
                message.taken = message.header.length;
                self.flight = Flight::Nothing;
                Ok(Push::Done)
            }
            Ok(false) => {
                if self.is_gone() {
                    return self.fail(Broken::Ended);
                }
                self.in_vain().map(|()| Push::Begun)
            }
            Err(error) => self.fail(error.into()),
        }
    }

    /// Copies as much of the message as there is room for.
    fn pieces(
        &mut self,
        message: &mut Outbound<'_>,
        parts: &[IoSlice<'_>],
        length: usize,
    ) -> Result<Push, Fault> {
        let stretch = Stretch::preferred(length);
        let piece = if length < LONG { PIECE } else { LONG_PIECE };
        loop {
            let taken = usize::try_from(message.taken).unwrap_or(usize::MAX);
            let n = length.saturating_sub(taken).min(piece);
            if n == 0 {
                self.flight = Flight::Nothing;
                return Ok(Push::Done);
            }
            if !self.room(n, stretch)? {
                return Ok(if taken == 0 {
                    Push::Untouched
                } else {
                    Push::Begun
                });
            }
            let data = self.ring.lane().data(self.ring.data_at(), n);
            let mut place = AreaCursor::new(data);
            let mut skip = taken;
            for part in parts {
                if skip >= part.len() {
                    skip = skip.wrapping_sub(part.len());
                    continue;
                }
                place.put(part.get(skip..).unwrap_or_default());
                skip = 0;
                if place.is_full() {
                    break;
                }
            }
            if taken == 0 {
                self.publish_message(message, SlotMark::new(Kind::Data, n));
            } else {
                self.publish(SlotMark::new(Kind::More, n));
            }
            message.taken = message.taken.saturating_add(n as u64);
            self.flight = Flight::Pieces;
        }
    }
}

impl Outbox {
    /// Moves or copies a message into the outbox. Returns its position, which the caller must
    /// announce; the memory then belongs to the peer. A message that is moved is taken from `body`.
    #[inline]
    pub(super) fn publish(&self, body: &mut Body<'_>) -> Option<Spot> {
        match body {
            Body::Owned(_) => {
                let Body::Owned(filled) = std::mem::replace(body, Body::Taken) else {
                    return None;
                };
                match self.announce(filled) {
                    Ok(spot) => Some(spot),
                    Err(filled) => {
                        let spot = self.announce_copy(&[IoSlice::new(filled.as_bytes())]);
                        *body = Body::Owned(filled);
                        spot
                    }
                }
            }
            Body::Borrowed(parts) => self.announce_copy(parts),
            Body::Object(_) | Body::Taken => None,
        }
    }
}

// SAFETY: Pieces are copied during a push. If the peer reads the memory itself, pushes return
// `Begun` until it has confirmed its copy; `give_up`, which `abandon` and the drop call, ends that
// read.
unsafe impl Outgoing for ShmOutgoing {
    #[inline]
    fn push(&mut self, message: &mut Outbound<'_>) -> Result<Push, Fault> {
        if self.line.is_closed() {
            return Err(Fault::ClosedLocally);
        }
        if let Some(broken) = self.broken {
            return Err(broken.fault());
        }
        if self.flight == Flight::Remote {
            return self.remote(message);
        }
        let length = usize::try_from(message.header.length).unwrap_or(usize::MAX);
        let trusted = length > INLINE && self.line.outbox().is_some();
        if trusted && self.flight == Flight::Nothing && self.publish_trusted(message)? {
            return Ok(Push::Done);
        }
        if let Body::Borrowed(parts) = message.body {
            return self.continue_message(message, parts, length);
        }
        let body = std::mem::replace(&mut message.body, Body::Taken);
        let pushed = match &body {
            Body::Owned(filled) => {
                self.continue_message(message, &[IoSlice::new(filled.as_bytes())], length)
            }
            // This device does not move objects.
            _ => self.fail(Broken::Lost(io::ErrorKind::Unsupported)),
        };
        message.body = body;
        pushed
    }

    fn abandon(&mut self, _: &mut Outbound<'_>) {
        self.give_up();
        self.broken.get_or_insert(Broken::Ended);
    }

    fn arm(&mut self, _: Option<&Waker>) -> Armed {
        if self.line.is_closed() || self.broken.is_some() || self.is_gone() {
            return Armed::Ready;
        }
        if !self.line.drain(HalfEvent::Consumed) {
            // The next push returns this error.
            let _ = self.hung_up::<()>();
            return Armed::Ready;
        }
        if self.ring.arm() || self.is_gone() {
            return Armed::Ready;
        }
        Armed::Source
    }

    fn source(&self) -> (BorrowedFd<'_>, Interest) {
        (self.line.source(HalfEvent::Consumed), Interest::Readable)
    }

    fn wait(&mut self, deadline: Deadline) -> Result<(), Fault> {
        if self.arm(None) == Armed::Source {
            let (source, interest) = self.source();
            if let Err(error) = sleep_on([(source, interest)], deadline) {
                return self.fail(Broken::Lost(error.kind()));
            }
        }
        Ok(())
    }
}

impl ShmOutgoing {
    #[inline]
    fn continue_message(
        &mut self,
        message: &mut Outbound<'_>,
        parts: &[IoSlice<'_>],
        length: usize,
    ) -> Result<Push, Fault> {
        match self.flight {
            Flight::Pieces => {
                if self.is_gone() {
                    return self.fail(Broken::Ended);
                }
                self.pieces(message, parts, length)
            }
            _ => self.begin(message, parts, length),
        }
    }

    /// Leaves a message in the outbox, in which the peer reads it. Returns false if that is not
    /// possible.
    fn publish_trusted(&mut self, message: &mut Outbound<'_>) -> Result<bool, Fault> {
        // If the peer is gone or the ring has no room, leaves this to the usual path, which reports
        // it.
        let has_room = matches!(self.ring.has_room(0, Stretch::Front), Ok(true));
        if !has_room || self.is_gone() {
            return Ok(false);
        }
        let Some(outbox) = self.line.outbox() else {
            return Ok(false);
        };
        let Some(spot) = outbox.publish(&mut message.body) else {
            return match outbox.odd() {
                Some(error) => self.fail(error.into()),
                None => Ok(false),
            };
        };
        if let Some(words) = self.ring.slot().get(HEADER_WORDS.end..) {
            set_words(words, spot.to_words());
        }
        self.publish_message(message, SlotMark::new(Kind::Placed, 0));
        message.taken = message.header.length;
        Ok(true)
    }

    /// Gives up the message that was begun. The peer discards what it has received of it.
    fn give_up(&mut self) {
        // A message that the peer has read completely is not given up, even if no poll has noticed
        // it yet.
        let is_read = matches!(self.ring.is_all_consumed(), Ok(true));
        if self.flight == Flight::Remote && is_read {
            self.flight = Flight::Nothing;
        }
        if self.flight == Flight::Nothing {
            return;
        }
        let lane = self.ring.lane();
        signal::give_up(lane.control(Control::Abandoned));
        self.line.ring(HalfEvent::Published);
        if std::mem::replace(&mut self.flight, Flight::Nothing) == Flight::Remote {
            // A peer that is copying from this process's memory soon finishes or is dead.
            let deadline = Deadline::after(ABANDON);
            let copying = lane.control(Control::Copying);
            while signal::is_copying(copying)
                && self.line.drain(HalfEvent::Consumed)
                && !deadline.has_passed()
            {
                std::thread::yield_now();
            }
        }
    }
}

impl Drop for ShmOutgoing {
    fn drop(&mut self) {
        self.give_up();
        let ended = self.ring.lane().control(Control::Ended);
        ended.store(1, Ordering::Release);
        self.line.ring(HalfEvent::Published);
    }
}
