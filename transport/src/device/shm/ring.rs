//! One direction: slots in which messages are published, and data behind them.
//!
//! A slot is two cache lines of 64 bytes. Its first word says what it holds, and in which lap; that
//! store publishes the slot and the data that belongs to it:
//!
//! ```text
//! word 0                 words 1 to 5   words 6 to 15
//! lap restart kind n     header         payload, or ranges of the sender's memory
//! 32  1       3    28    bits
//! ```
//!
//! | kind | the slot holds |
//! |---|---|
//! | inline | a message with its payload of `n` bytes |
//! | data | a message, whose first `n` bytes (or all) stand in the data |
//! | more | the next `n` bytes of that message, in the data |
//! | ranges | a message that stands in `n` ranges of the sender's memory, which the slot lists |
//! | list | the same, and the data lists them |
//! | placed | a message in the sender's outbox, and where it stands there |
//!
//! Data is used in order, each piece from a multiple of 64 bytes on, so nobody says where it stands.
//! A slot, and the data of it, is free again when `Consumed` says so. A producer of short messages that
//! leaves the front of the data sees whether all is free: then it begins there again, and says so by
//! `restart`. So as long as few messages are on their way, the same lines are used, which are in the
//! fastest caches of both processors. Longer messages go on through all of the data: of many lines, those
//! that neither processor has had for a while are written and read faster, in the cache that both share,
//! than those that one has to take from the other's own.

use std::sync::atomic::{AtomicU64, Ordering};

use super::mapping::{Control, DATA, Lane, SLOT, SLOTS};
use super::signal::{self, Barriers};
use crate::error::HeaderError;

/// Where the header stands in a slot, and what is behind it, in words.
pub(super) const HEADER_WORDS: std::ops::Range<usize> = 1..6;
/// The most payload bytes in a slot.
pub(super) const INLINE: usize = SLOT - 6 * 8;
/// The most ranges in a slot.
pub(super) const SLOT_RANGES: usize = INLINE / 16;

/// How much of the data is its front: a few messages, and a quarter of a processor's fastest cache.
const FRONT: usize = 8 << 10;

/// Which part of the data a message prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    /// The same few lines again.
    Front,
    /// One behind the other.
    All,
}

impl Stretch {
    /// For messages of so many bytes.
    #[inline]
    pub(super) fn of(length: usize) -> Self {
        if length <= FRONT {
            Self::Front
        } else {
            Self::All
        }
    }
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Inline = 1,
    Data = 2,
    More = 3,
    Ranges = 4,
    List = 5,
    Placed = 6,
}

impl Kind {
    fn data(self, n: usize) -> usize {
        match self {
            Self::Inline | Self::Ranges | Self::Placed => 0,
            Self::Data | Self::More => n,
            Self::List => n.saturating_mul(16),
        }
    }
}

/// The first word of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) kind: Kind,
    pub(super) n: usize,
    /// Whether data begins at the front again. The producer sets it when it publishes.
    restart: bool,
}

impl Mark {
    #[inline]
    pub(super) fn new(kind: Kind, n: usize) -> Self {
        let restart = false;
        Self { kind, n, restart }
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "as many bits as are published"
    )]
    fn to_word(self, position: u64) -> u64 {
        debug_assert!(self.n < 1 << 28);
        let restart = u64::from(self.restart) << 31;
        (lap(position) << 32) | restart | ((self.kind as u64) << 28) | u64::from(self.n as u32)
    }

    #[inline]
    fn from_word(word: u64) -> Result<Self, HeaderError> {
        let kind = match (word >> 28) & 7 {
            1 => Kind::Inline,
            2 => Kind::Data,
            3 => Kind::More,
            4 => Kind::Ranges,
            5 => Kind::List,
            6 => Kind::Placed,
            _ => return Err(malformed("slot", word)),
        };
        let n = (word & 0xfff_ffff) as usize;
        if kind.data(n) > DATA || (kind == Kind::Inline && n > INLINE) {
            return Err(malformed("slot", word));
        }
        let restart = word & (1 << 31) != 0;
        Ok(Self { kind, n, restart })
    }
}

/// The lap of a position, as slots say it: never that of the lap before, and 1 at first, where the
/// memory is zero.
#[inline]
pub(super) fn lap(position: u64) -> u64 {
    (position >> SLOTS.trailing_zeros()).wrapping_add(1) & 0xffff_ffff
}

#[cold]
pub(super) fn malformed(what: &'static str, value: u64) -> HeaderError {
    HeaderError::Ring { what, value }
}

/// How much data a piece takes up.
#[inline]
fn padded(n: usize) -> u64 {
    (n as u64).wrapping_add(63) & !63
}

/// The next front of the data, from a place in it.
#[inline]
fn front_after(place: u64) -> u64 {
    let whole = DATA as u64;
    place.wrapping_add(whole.wrapping_sub(1)) & !whole.wrapping_sub(1)
}

/// The side that publishes.
pub(super) struct Producer {
    lane: Lane,
    barriers: Barriers,
    /// The position of the next slot.
    at: u64,
    /// What the consumer was done with when we last looked.
    consumed: u64,
    /// Where the next data goes.
    data_at: u64,
    /// Whether that is the front, to which it went back since the last slot was published.
    restart: bool,
    /// Up to where the data was free when we last looked: `DATA` behind what is in use.
    data_until: u64,
    /// Where the data of each slot in use ends.
    data_ends: Box<[u64; SLOTS]>,
}

impl Producer {
    pub(super) fn new(lane: Lane, barriers: Barriers) -> Self {
        Self {
            lane,
            barriers,
            at: 0,
            consumed: 0,
            data_at: 0,
            restart: false,
            data_until: DATA as u64,
            data_ends: Box::new([0; SLOTS]),
        }
    }

    /// The same, as if so much had been published, and consumed, before.
    #[cfg(all(test, not(loom)))]
    pub(super) fn starting_at(mut self, at: u64, data_at: u64) -> Self {
        (self.at, self.consumed, self.data_at) = (at, at, data_at);
        self.data_until = data_at.wrapping_add(DATA as u64);
        self
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Whether the next slot and `data` bytes are free. `data` is at most [`DATA`].
    #[inline]
    pub(super) fn has_room(&mut self, data: usize, stretch: Stretch) -> Result<bool, HeaderError> {
        let leaves_front = stretch == Stretch::Front && self.leaves_front(data);
        if self.fits(data) && !leaves_front {
            return Ok(true);
        }
        self.make_room(data, leaves_front)
    }

    #[cold]
    fn make_room(&mut self, data: usize, leaves_front: bool) -> Result<bool, HeaderError> {
        self.look()?;
        if leaves_front && self.consumed == self.at {
            self.data_at = front_after(self.data_at);
            self.data_until = self.data_at.wrapping_add(DATA as u64);
            self.restart = true;
        }
        Ok(self.fits(data))
    }

    /// Whether so much data would go beyond the front, or, behind that, beyond as much again: to see
    /// what is free costs more than to write a short message.
    #[inline]
    fn leaves_front(&self, data: usize) -> bool {
        let front = FRONT as u64;
        let place = self.data_at & (DATA as u64).wrapping_sub(1);
        let inside = place & front.wrapping_sub(1);
        place > 0 && data > 0 && (inside == 0 || inside.wrapping_add(data as u64) > front)
    }

    #[inline]
    fn fits(&self, data: usize) -> bool {
        self.at.wrapping_sub(self.consumed) < SLOTS as u64
            && padded(data) <= self.data_until.wrapping_sub(self.data_at)
    }

    /// Sees how far the consumer is, which may say nothing that can't be.
    fn look(&mut self) -> Result<(), HeaderError> {
        let consumed = self.consumed();
        if consumed == self.consumed {
            return Ok(());
        }
        let in_use = self.at.wrapping_sub(self.consumed);
        if consumed.wrapping_sub(self.consumed) > in_use {
            return Err(malformed("count of slots consumed", consumed));
        }
        self.consumed = consumed;
        let end = self.data_ends.get(index(consumed.wrapping_sub(1)));
        self.data_until = end.map_or(self.data_until, |end| end.wrapping_add(DATA as u64));
        Ok(())
    }

    /// What the consumer says that it is done with.
    #[inline]
    fn consumed(&self) -> u64 {
        self.lane.control(Control::Consumed).load(Ordering::Acquire)
    }

    /// Whether the consumer is done with all that was published.
    pub(super) fn is_all_consumed(&mut self) -> Result<bool, HeaderError> {
        self.look()?;
        Ok(self.consumed == self.at)
    }

    /// The slot to write to, once there is room.
    #[inline]
    pub(super) fn slot(&self) -> &[AtomicU64; SLOT / 8] {
        self.lane.slot(self.at)
    }

    /// Where the next data goes.
    #[inline]
    pub(super) fn data_at(&self) -> u64 {
        self.data_at
    }

    /// Publishes the slot; whether the consumer is to be woken.
    #[inline]
    #[must_use]
    pub(super) fn publish(&mut self, mut mark: Mark) -> bool {
        mark.restart = std::mem::take(&mut self.restart);
        let data = padded(mark.kind.data(mark.n));
        self.data_at = self.data_at.wrapping_add(data);
        if let Some(end) = self.data_ends.get_mut(index(self.at)) {
            *end = self.data_at;
        }
        let armed = self.lane.control(Control::ConsumerArmed);
        let [word, ..] = self.lane.slot(self.at);
        let wake = signal::publish(word, mark.to_word(self.at), armed, self.barriers);
        self.at = self.at.wrapping_add(1);
        wake
    }

    /// Whether something was consumed since we last looked; if not, the consumer wakes us from now on.
    pub(super) fn arm(&self) -> bool {
        let armed = self.lane.control(Control::ProducerArmed);
        signal::arm(armed, self.barriers);
        if self.consumed() == self.consumed {
            return false;
        }
        signal::disarm(armed);
        true
    }
}

#[inline]
fn index(position: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
    let position = position as usize;
    position % SLOTS
}

/// The side that consumes.
pub(super) struct Consumer {
    lane: Lane,
    barriers: Barriers,
    /// The position of the next slot.
    at: u64,
    /// Where the next data stands.
    data_at: u64,
}

impl Consumer {
    pub(super) fn new(lane: Lane, barriers: Barriers) -> Self {
        Self {
            lane,
            barriers,
            at: 0,
            data_at: 0,
        }
    }

    /// The same, as if so much had been consumed before.
    #[cfg(all(test, not(loom)))]
    pub(super) fn starting_at(mut self, at: u64, data_at: u64) -> Self {
        (self.at, self.data_at) = (at, data_at);
        self
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// What the next slot holds, once it is published.
    #[inline]
    pub(super) fn next(&self) -> Result<Option<Mark>, HeaderError> {
        let [word, ..] = self.lane.slot(self.at);
        let word = word.load(Ordering::Acquire);
        if word >> 32 != lap(self.at) {
            return Ok(None);
        }
        Mark::from_word(word).map(Some)
    }

    /// The slot that was published.
    #[inline]
    pub(super) fn slot(&self) -> &[AtomicU64; SLOT / 8] {
        self.lane.slot(self.at)
    }

    /// Where its data stands.
    #[inline]
    pub(super) fn data_at(&self, mark: Mark) -> u64 {
        if mark.restart {
            front_after(self.data_at)
        } else {
            self.data_at
        }
    }

    /// Gives the slot and its data back; whether the producer is to be woken.
    #[inline]
    #[must_use]
    pub(super) fn release(&mut self, mark: Mark) -> bool {
        self.at = self.at.wrapping_add(1);
        let data = padded(mark.kind.data(mark.n));
        self.data_at = self.data_at(mark).wrapping_add(data);
        let consumed = self.lane.control(Control::Consumed);
        let armed = self.lane.control(Control::ProducerArmed);
        signal::publish(consumed, self.at, armed, self.barriers)
    }

    /// Whether something is published; if not, the producer wakes us from now on.
    pub(super) fn arm(&self) -> bool {
        let armed = self.lane.control(Control::ConsumerArmed);
        signal::arm(armed, self.barriers);
        if matches!(self.next(), Ok(None)) {
            return false;
        }
        signal::disarm(armed);
        true
    }
}
