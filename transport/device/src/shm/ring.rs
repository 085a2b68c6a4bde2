//! One direction of a connection: a ring of slots in which messages are published, and a data area.
//!
//! A slot is two cache lines of 64 bytes. Its first word, the mark, describes the contents and
//! contains the lap number. The store of the mark publishes the slot and its data:
//!
//! ```text
//! word 0                 words 1 to 5   words 6 to 15
//! lap restart kind n     header         payload, or ranges of the sender's memory
//! 32  1       3    28    bits
//! ```
//!
//! | kind | contents of the slot |
//! |---|---|
//! | inline | a message with its payload of `n` bytes |
//! | data | a message; its first `n` bytes (or all) are in the data area |
//! | more | the next `n` bytes of that message, in the data area |
//! | ranges | a message in `n` ranges of the sender's memory, which the slot lists |
//! | list | as ranges, but the data area has the list |
//! | placed | a message in the sender's outbox, and its place there |
//!
//! The data area is used in order, and each piece begins at a multiple of 64 bytes, so slots
//! contain no data offsets. A slot and its data are free again when the `Consumed` word has passed
//! it.
//!
//! Before short messages would leave the front of the data area, the producer checks whether all
//! slots are consumed. If so, it starts at the front again and sets `restart` in the mark. As long
//! as few messages are in flight, the same cache lines are reused, which are in the fastest caches
//! of both processors. Longer messages use all of the data area in order: with many lines, it is
//! faster to access lines in the shared cache, which neither processor has used for a while, than
//! to take lines from the private cache of the other processor.
//!
//! Decision 112 has the reasons.

use std::sync::atomic::{AtomicU64, Ordering};

use super::mapping::{Control, DATA, Lane, SLOT, SLOTS};
use super::signal;
use jstream_base::HeaderError;

/// Position of the header in a slot, in words. The payload follows it.
pub(super) const HEADER_WORDS: std::ops::Range<usize> = 1..6;
/// Number of words of the payload that are in the cache line of the mark.
pub(super) const BESIDE_MARK: usize = 8 - HEADER_WORDS.end;
/// Maximum length of a payload in a slot, in bytes.
pub(super) const INLINE: usize = SLOT - 6 * 8;
/// Maximum number of ranges in a slot.
pub(super) const SLOT_RANGES: usize = INLINE / 16;

/// Length of the front of the data area, in bytes: a few messages, and a quarter of a processor's
/// fastest cache.
const FRONT: usize = 8 << 10;

/// The part of the data area that a message prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    /// The front, whose cache lines are reused.
    Front,
    /// All of the area, in order.
    All,
}

impl Stretch {
    /// Returns the preferred part for a message of `length` bytes.
    #[inline]
    pub(super) fn preferred(length: usize) -> Self {
        if length <= FRONT {
            Self::Front
        } else {
            Self::All
        }
    }
}

/// Kind of the contents of a slot.
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

/// The first word of a slot, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotMark {
    pub(super) kind: Kind,
    pub(super) n: usize,
    /// True if the data begins at the front again. The producer sets this when it publishes.
    restart: bool,
}

impl SlotMark {
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

/// Returns the lap number of a position, as stored in slots. It differs from that of the previous
/// lap, and the first lap is 1, because the memory is initially zero.
#[inline]
pub(super) fn lap(position: u64) -> u64 {
    (position >> SLOTS.trailing_zeros()).wrapping_add(1) & 0xffff_ffff
}

#[cold]
pub(super) fn malformed(part: &'static str, value: u64) -> HeaderError {
    HeaderError::Ring { part, value }
}

/// Returns the number of bytes that a piece of data occupies.
#[inline]
fn padded(n: usize) -> u64 {
    (n as u64).wrapping_add(63) & !63
}

/// Returns the next front of the data area at or after a place.
#[inline]
fn front_after(place: u64) -> u64 {
    let whole = DATA as u64;
    place.wrapping_add(whole.wrapping_sub(1)) & !whole.wrapping_sub(1)
}

/// The publishing side.
pub(super) struct Producer {
    lane: Lane,
    /// The position of the next slot.
    at: u64,
    /// The last value of `Consumed` that was read.
    consumed: u64,
    /// The place of the next data.
    data_at: u64,
    /// True if `data_at` went back to the front since the last slot was published.
    restart: bool,
    /// End of the free data when `Consumed` was last read: `DATA` bytes after the start of the data
    /// in use.
    data_until: u64,
    /// For each slot in use, the end of its data.
    data_ends: Box<[u64; SLOTS]>,
}

impl Producer {
    pub(super) fn new(lane: Lane) -> Self {
        Self {
            lane,
            at: 0,
            consumed: 0,
            data_at: 0,
            restart: false,
            data_until: DATA as u64,
            data_ends: Box::new([0; SLOTS]),
        }
    }

    /// Sets the positions as if this much had been published and consumed.
    #[cfg(all(test, not(loom)))]
    pub(super) fn starting_at(mut self, at: u64, data_at: u64) -> Self {
        (self.at, self.consumed, self.data_at) = (at, at, data_at);
        self.data_until = data_at.wrapping_add(DATA as u64);
        self
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Returns true if the next slot and `data` bytes are free. `data` is at most [`DATA`].
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
        self.refresh_consumed()?;
        if leaves_front && self.consumed == self.at {
            self.data_at = front_after(self.data_at);
            self.data_until = self.data_at.wrapping_add(DATA as u64);
            self.restart = true;
        }
        Ok(self.fits(data))
    }

    /// Returns true if `data` bytes would cross the end of the front, or of a later stretch of the
    /// same length. Only at these points does the producer read the consumer's position, because
    /// that costs more than writing a short message.
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

    /// Reads and checks the consumer's position. The consumer cannot have consumed more than was
    /// published.
    fn refresh_consumed(&mut self) -> Result<(), HeaderError> {
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

    /// Reads the position that the consumer reports.
    #[inline]
    fn consumed(&self) -> u64 {
        self.lane.control(Control::Consumed).load(Ordering::Acquire)
    }

    /// Returns true if the consumer has consumed everything that was published.
    pub(super) fn is_all_consumed(&mut self) -> Result<bool, HeaderError> {
        self.refresh_consumed()?;
        Ok(self.consumed == self.at)
    }

    /// Returns the slot to write next. There must be room.
    #[inline]
    pub(super) fn slot(&self) -> &[AtomicU64; SLOT / 8] {
        self.lane.slot(self.at)
    }

    /// Returns the place of the next data.
    #[inline]
    pub(super) fn data_at(&self) -> u64 {
        self.data_at
    }

    /// Publishes the slot. Returns true if the consumer must be woken.
    #[inline]
    #[must_use]
    pub(super) fn publish(&mut self, mut mark: SlotMark) -> bool {
        mark.restart = std::mem::take(&mut self.restart);
        let data = padded(mark.kind.data(mark.n));
        self.data_at = self.data_at.wrapping_add(data);
        if let Some(end) = self.data_ends.get_mut(index(self.at)) {
            *end = self.data_at;
        }
        let armed = self.lane.control(Control::ConsumerArmed);
        let [word, ..] = self.lane.slot(self.at);
        let wake = signal::publish(word, mark.to_word(self.at), armed);
        self.at = self.at.wrapping_add(1);
        wake
    }

    /// Announces that this side is about to sleep. Returns true, and withdraws the announcement, if
    /// slots were consumed since the last check; otherwise the consumer will wake this side.
    pub(super) fn arm(&self) -> bool {
        let armed = self.lane.control(Control::ProducerArmed);
        signal::arm(armed);
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

/// The consuming side.
pub(super) struct Consumer {
    lane: Lane,
    /// The position of the next slot.
    at: u64,
    /// The place of the next data.
    data_at: u64,
}

impl Consumer {
    pub(super) fn new(lane: Lane) -> Self {
        Self {
            lane,
            at: 0,
            data_at: 0,
        }
    }

    /// Sets the positions as if this much had been consumed.
    #[cfg(all(test, not(loom)))]
    pub(super) fn starting_at(mut self, at: u64, data_at: u64) -> Self {
        (self.at, self.data_at) = (at, data_at);
        self
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Returns the mark of the next slot if it is published.
    #[inline]
    pub(super) fn next(&self) -> Result<Option<SlotMark>, HeaderError> {
        let [word, ..] = self.lane.slot(self.at);
        let word = word.load(Ordering::Acquire);
        if word >> 32 != lap(self.at) {
            return Ok(None);
        }
        SlotMark::from_word(word).map(Some)
    }

    /// Returns the published slot.
    #[inline]
    pub(super) fn slot(&self) -> &[AtomicU64; SLOT / 8] {
        self.lane.slot(self.at)
    }

    /// Returns the place of the slot's data.
    #[inline]
    pub(super) fn data_at(&self, mark: SlotMark) -> u64 {
        if mark.restart {
            front_after(self.data_at)
        } else {
            self.data_at
        }
    }

    /// Releases the slot and its data. Returns true if the producer must be woken.
    #[inline]
    #[must_use]
    pub(super) fn release(&mut self, mark: SlotMark) -> bool {
        self.at = self.at.wrapping_add(1);
        let data = padded(mark.kind.data(mark.n));
        self.data_at = self.data_at(mark).wrapping_add(data);
        let consumed = self.lane.control(Control::Consumed);
        let armed = self.lane.control(Control::ProducerArmed);
        signal::publish(consumed, self.at, armed)
    }

    /// Announces that this side is about to sleep. Returns true, and withdraws the announcement, if
    /// a slot is published; otherwise the producer will wake this side.
    pub(super) fn arm(&self) -> bool {
        let armed = self.lane.control(Control::ConsumerArmed);
        signal::arm(armed);
        if matches!(self.next(), Ok(None)) {
            return false;
        }
        signal::disarm(armed);
        true
    }
}
