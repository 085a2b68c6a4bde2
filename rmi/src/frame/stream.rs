//! Frames of streams, in the header word of active messages.

use jstream_base::frame::FieldGroup;
use jstream_base::{Header, frames};

/// Maximum number of items in one frame.
pub(crate) const MOST_ITEMS: u16 = (1 << 13) - 1;

frames! {
    /// A frame of a stream, without the stream.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Word by First[62..64], reserved Ignored {
        /// Items, and the number of the frame modulo 65,536. Sent by the sender.
        DATA = 0 => Data { place: u16 = First[32..48], items: u16 = First[48..61] },
        /// The receiver has finished this many frames since the start of the stream, modulo 65,536.
        GRANT = 1 => Grant { frames: u16 = First[32..48] },
        /// The end of the stream. `frames` is the total number of frames if the sender closes it.
        CLOSE = 2 => Close { frames: u16 = First[32..48], reason: CloseReason = First[48..61] },
        /// Announcement of the receiver.
        OPEN = 3 => Open { window: Window = Group },
    }
}

frames! {
    /// The stream of a frame.
    struct StreamId {
        number: u32 = First[0..32],
        /// 1 if the stream belongs to a call of the side that sends the frame.
        of_sender: u8 = First[61..62],
    }
}

frames! {
    /// Limits for the items of a stream that are in flight.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Window {
        /// Size in KiB. Never zero. The last frame may exceed it.
        pub(crate) kib: u16 = First[32..48],
        /// Number of items. Never zero.
        pub(crate) items: u16 = First[48..61],
    }
}

/// Identifies a stream of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// True if the stream belongs to a call of this side.
    pub(crate) ours: bool,
    pub(crate) number: u32,
}

/// The reason why a stream is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseReason {
    /// There are no more items, or the receiver does not want more.
    Ended = 0,
    /// The sender has abandoned the stream.
    GivenUp = 1,
    /// The producer of the items has panicked.
    Panicked = 2,
    /// An item could not be encoded or sent.
    Unsent = 3,
}

impl From<CloseReason> for u64 {
    fn from(reason: CloseReason) -> Self {
        reason as Self
    }
}

impl TryFrom<u64> for CloseReason {
    type Error = ();

    fn try_from(code: u64) -> Result<Self, ()> {
        let all = [Self::Ended, Self::GivenUp, Self::Panicked, Self::Unsent];
        all.into_iter()
            .find(|reason| *reason as u64 == code)
            .ok_or(())
    }
}

impl Window {
    /// Returns the window for these limits, clamped to the range of the encoding.
    pub(crate) fn new(items: usize, bytes: u64) -> Self {
        let items = u16::try_from(items).unwrap_or(u16::MAX);
        let kib = u16::try_from(bytes.div_ceil(1024)).unwrap_or(u16::MAX);
        Self {
            items: items.clamp(1, MOST_ITEMS),
            kib: kib.max(1),
        }
    }

    pub(crate) fn bytes(self) -> u64 {
        u64::from(self.kib).saturating_mul(1024)
    }
}

impl Word {
    /// Encodes the frame of a stream.
    pub(crate) fn pack(self, of: Key) -> u64 {
        let id = StreamId {
            number: of.number,
            of_sender: of.ours.into(),
        };
        let [word, second, third] = self.header().words;
        // A frame and its stream share no bits.
        let mut slots = [word, second, third, 0];
        id.put(&mut slots);
        let [word, ..] = slots;
        word
    }

    /// Decodes a word of the peer. Returns `None` if it is invalid.
    pub(crate) fn parse(word: u64) -> Option<(Key, Self)> {
        let id = StreamId::get(&[word, 0, 0, 0])?;
        let key = Key {
            // The sides are relative: the peer's own streams are not ours.
            ours: id.of_sender == 0,
            number: id.number,
        };
        let frame = Self::decode(&Header::tagged(word))?;
        let is_valid = match frame {
            Self::Data { items, .. } => items > 0,
            Self::Open { window } => window.items > 0 && window.kib > 0,
            Self::Grant { .. } | Self::Close { .. } => true,
        };
        is_valid.then_some((key, frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jstream_base::frame::assert_documented;

    #[test]
    fn words_survive_the_other_side() {
        let whys = [
            CloseReason::Ended,
            CloseReason::GivenUp,
            CloseReason::Panicked,
            CloseReason::Unsent,
        ];
        let closes = whys.map(|reason| Word::Close { reason, frames: 7 });
        let others = [
            Word::Data {
                place: u16::MAX,
                items: MOST_ITEMS,
            },
            Word::Data { place: 0, items: 1 },
            Word::Grant { frames: 12 },
            Word::Open {
                window: Window::new(0, 0),
            },
            Word::Open {
                window: Window::new(usize::MAX, u64::MAX),
            },
        ];
        for word in closes.into_iter().chain(others) {
            for (ours, number) in [(true, 0), (false, u32::MAX)] {
                let packed = word.pack(Key { ours, number });
                let theirs = Key {
                    ours: !ours,
                    number,
                };
                assert_eq!(Word::parse(packed), Some((theirs, word)));
            }
        }
    }

    #[test]
    fn the_protocol_lists_these_frames() {
        let page = include_str!("../../PROTOCOL.md");
        let groups = [("stream id", StreamId::PLACES), ("window", Window::PLACES)];
        assert_documented(page, "## Streams", Word::LAYOUT, &groups);
    }

    #[test]
    fn malformed_words_are_reported() {
        for word in [
            0,
            u64::from(CLOSE) << 62 | 4 << 48,
            u64::from(OPEN) << 62,
            u64::from(OPEN) << 62 | 1 << 48,
            u64::from(OPEN) << 62 | 1 << 32,
        ] {
            assert_eq!(Word::parse(word), None, "{word:#x}");
        }
    }
}
