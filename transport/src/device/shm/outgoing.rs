//! The half that sends.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Duration;

use super::broken::Broken;
use super::copy::{set_words, words_in};
use super::line::{Bell, Line};
use super::mapping::{Control, DATA};
use super::place::Place;
use super::remote::MOST_RANGES;
use super::ring::{HEADER_WORDS, INLINE, Kind, Mark, Producer, SLOT_RANGES, Stretch};
use super::signal;
use crate::device::connection::{Armed, Body, Fault, Interest, Outbound, Outgoing, Push};
use crate::device::deadline::Deadline;
use crate::device::poll::sleep_on;
use crate::header::Header;

/// From how many bytes on the peer copies a message out of our memory, where it can. As long as both
/// sides work at once, two copies through the caches that they share are done before one copy that the
/// system makes page by page; a sender of so many bytes has to wait for the receiver in any case.
pub(super) const REMOTE_FROM: usize = 2 * DATA;
/// How many bytes are published at a time: the peer copies some out while we copy the next in.
const PIECE: usize = 8 << 10;
/// How many of messages of at least [`LONG`] bytes, of which the first piece counts for less.
const LONG_PIECE: usize = 32 << 10;
const LONG: usize = 256 << 10;
/// How many bytes a range has at least on average, so that the peer reads it from our memory.
const LEAST_RANGE: usize = 512;
/// After how many looks in vain we see whether the peer is still there: that costs as much as a few
/// hundred of them.
pub(super) const LOOKS: u32 = 8192;
/// How long we wait for a peer that is reading our memory.
const ABANDON: Duration = Duration::from_millis(10);

/// What was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flight {
    Nothing,
    /// A part of the message was copied.
    Pieces,
    /// The peer reads the message from our memory.
    Remote,
}

/// The half of a connection that sends.
pub(super) struct ShmOutgoing {
    line: Arc<Line>,
    ring: Producer,
    /// Whether the peer can read our memory.
    remote: bool,
    flight: Flight,
    broken: Option<Broken>,
    looks: u32,
}

impl ShmOutgoing {
    pub(super) fn new(line: Arc<Line>, ring: Producer, remote: bool) -> Self {
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

    /// Nothing gets further: is the peer still there?
    fn in_vain(&mut self) -> Result<(), Fault> {
        self.looks = self.looks.wrapping_add(1);
        if self.looks % LOOKS == 0 && !self.line.drain(Bell::Consumed) {
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
    fn publish(&mut self, mark: Mark) {
        if self.ring.publish(mark) {
            self.line.ring(Bell::Published);
        }
    }

    #[inline]
    fn write_header(&self, message: &Outbound<'_>) {
        if let Some(words) = self.ring.slot().get(HEADER_WORDS) {
            let header: [u64; Header::WIRE_LENGTH / 8] =
                zerocopy::transmute!(message.header.to_bytes());
            set_words(words, header);
        }
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
        if self.remote && length >= REMOTE_FROM {
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
        self.write_header(message);
        let words = self.ring.slot().get(HEADER_WORDS.end..);
        let words = words.unwrap_or_default();
        if let [part] = parts {
            words_in(words, part);
        } else {
            let mut bytes = [0; INLINE];
            let mut rest = bytes.as_mut_slice();
            for part in parts {
                let (to, after) = rest.split_at_mut(part.len().min(rest.len()));
                to.copy_from_slice(part.get(..to.len()).unwrap_or_default());
                rest = after;
            }
            words_in(words, bytes.get(..length).unwrap_or_default());
        }
        self.publish(Mark::new(Kind::Inline, length));
        message.taken = length as u64;
        Ok(Push::Done)
    }

    /// Lets the peer read the message from our memory.
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
        self.write_header(message);
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
            let mut place = Place::new(data);
            for range in ranges {
                place.put(&range);
            }
        }
        let kind = if listed == 0 {
            Kind::Ranges
        } else {
            Kind::List
        };
        self.publish(Mark::new(kind, count));
        self.flight = Flight::Remote;
        self.looks = 0;
        self.remote(message)
    }

    /// Whether the peer has read the message from our memory.
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
        let stretch = Stretch::of(length);
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
            let kind = if taken == 0 {
                self.write_header(message);
                Kind::Data
            } else {
                Kind::More
            };
            let data = self.ring.lane().data(self.ring.data_at(), n);
            let mut place = Place::new(data);
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
            self.publish(Mark::new(kind, n));
            message.taken = message.taken.saturating_add(n as u64);
            self.flight = Flight::Pieces;
        }
    }
}

impl Outgoing for ShmOutgoing {
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
        if trusted && self.flight == Flight::Nothing && self.leave(message)? {
            return Ok(Push::Done);
        }
        if let Body::Borrowed(parts) = message.body {
            return self.go_on(message, parts, length);
        }
        let body = std::mem::replace(&mut message.body, Body::Taken);
        let pushed = match &body {
            Body::Owned(filled) => self.go_on(message, &[IoSlice::new(filled.as_bytes())], length),
            // This device moves nothing.
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
        if !self.line.drain(Bell::Consumed) {
            // The next push says so.
            let _ = self.hung_up::<()>();
            return Armed::Ready;
        }
        if self.ring.arm() || self.is_gone() {
            return Armed::Ready;
        }
        Armed::Source
    }

    fn source(&self) -> (BorrowedFd<'_>, Interest) {
        (self.line.source(Bell::Consumed), Interest::Readable)
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
    fn go_on(
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

    /// Leaves a message in the outbox, for the peer to read it there. Whether it could.
    fn leave(&mut self, message: &mut Outbound<'_>) -> Result<bool, Fault> {
        // Without a peer, or room in the ring, nothing is done: what is tried next finds that out.
        let has_room = matches!(self.ring.has_room(0, Stretch::Front), Ok(true));
        if !has_room || self.is_gone() {
            return Ok(false);
        }
        let Some(outbox) = self.line.outbox() else {
            return Ok(false);
        };
        let Some(spot) = outbox.leave(&mut message.body) else {
            return match outbox.odd() {
                Some(error) => self.fail(error.into()),
                None => Ok(false),
            };
        };
        self.write_header(message);
        if let Some(words) = self.ring.slot().get(HEADER_WORDS.end..) {
            set_words(words, spot.to_words());
        }
        self.publish(Mark::new(Kind::Placed, 0));
        message.taken = message.header.length;
        Ok(true)
    }

    /// Gives up what was begun; the peer then does not believe what it has of it.
    fn give_up(&mut self) {
        // What the peer has read wholly is not cut short, though nobody has looked since.
        let is_read = matches!(self.ring.is_all_consumed(), Ok(true));
        if self.flight == Flight::Remote && is_read {
            self.flight = Flight::Nothing;
        }
        if self.flight == Flight::Nothing {
            return;
        }
        let lane = self.ring.lane();
        signal::give_up(lane.control(Control::Abandoned));
        self.line.ring(Bell::Published);
        if std::mem::replace(&mut self.flight, Flight::Nothing) == Flight::Remote {
            // A peer that copies out of our memory at this moment is done soon, or dead.
            let deadline = Deadline::after(ABANDON);
            let copying = lane.control(Control::Copying);
            while signal::is_copying(copying)
                && self.line.drain(Bell::Consumed)
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
        self.line.ring(Bell::Published);
    }
}
