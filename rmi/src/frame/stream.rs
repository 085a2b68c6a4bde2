//! Encoding of stream frames in the header word of active messages.
//!
//! | kind | sent by | word | payload |
//! |---|---|---|---|
//! | data | the sender | number of the frame, number of items | a slice of items |
//! | grant | the receiver | number of frames that it has finished | |
//! | close | the sender | total number of frames, reason | |
//! | close | the receiver | | |
//! | open | the receiver | its window | |
//!
//! | bits | |
//! |---|---|
//! | 62, 63 | kind |
//! | 61 | 1 if the stream belongs to a call of the side that sends the frame |
//! | 48 to 60 | number of items, or the reason of a close |
//! | 32 to 47 | number of a frame, or a count of frames, both modulo 65,536; or KiB |
//! | 0 to 31 | number of the stream, which the caller chose |

/// Maximum number of items in one frame.
pub(crate) const MOST_ITEMS: u16 = (1 << 13) - 1;

/// Identifies a stream of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// True if the stream belongs to a call of this side.
    pub(crate) ours: bool,
    pub(crate) number: u32,
}

/// The header word of a frame, without the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Data {
        place: u16,
        items: u16,
    },
    /// The receiver has finished this many frames since the start of the stream.
    Grant {
        frames: u16,
    },
    Close {
        why: CloseReason,
        frames: u16,
    },
    Open(Window),
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

/// Limits for the items of a stream that are in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// Number of items. Never zero.
    pub(crate) items: u16,
    /// Size in KiB. Never zero. The last frame may exceed it.
    pub(crate) kib: u16,
}

impl Window {
    /// Returns the window for these limits, clamped to the range of the encoding.
    pub(crate) fn of(items: usize, bytes: u64) -> Self {
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

const DATA: u64 = 0;

const GRANT: u64 = 1;

const CLOSE: u64 = 2;

const OPEN: u64 = 3;

impl Word {
    pub(crate) fn pack(self, of: Key) -> u64 {
        let (kind, upper, lower) = match self {
            Self::Data { place, items } => (DATA, items, place),
            Self::Grant { frames } => (GRANT, 0, frames),
            Self::Close { why, frames } => (CLOSE, why as u16, frames),
            Self::Open(Window { items, kib }) => (OPEN, items, kib),
        };
        let upper = u64::from(upper & MOST_ITEMS);
        kind << 62
            | u64::from(of.ours) << 61
            | upper << 48
            | u64::from(lower) << 32
            | u64::from(of.number)
    }

    /// Decodes a word of the peer. Returns `None` if it is invalid.
    pub(crate) fn parse(word: u64) -> Option<(Key, Self)> {
        let part = |at: u32, mask: u64| (word >> at) & mask;
        let (upper, lower) = (
            u16::try_from(part(48, MOST_ITEMS.into())).ok()?,
            u16::try_from(part(32, u16::MAX.into())).ok()?,
        );
        let key = Key {
            // The sides are relative: the peer's own streams are not ours.
            ours: part(61, 1) == 0,
            number: u32::try_from(part(0, u32::MAX.into())).ok()?,
        };
        let of = match word >> 62 {
            DATA if upper > 0 => Self::Data {
                place: lower,
                items: upper,
            },
            GRANT => Self::Grant { frames: lower },
            CLOSE => Self::Close {
                why: CloseReason::of(upper)?,
                frames: lower,
            },
            OPEN if upper > 0 && lower > 0 => Self::Open(Window {
                items: upper,
                kib: lower,
            }),
            _ => return None,
        };
        Some((key, of))
    }
}

impl CloseReason {
    fn of(code: u16) -> Option<Self> {
        let all = [Self::Ended, Self::GivenUp, Self::Panicked, Self::Unsent];
        all.into_iter().find(|why| *why as u16 == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_the_other_side() {
        let whys = [
            CloseReason::Ended,
            CloseReason::GivenUp,
            CloseReason::Panicked,
            CloseReason::Unsent,
        ];
        let closes = whys.map(|why| Word::Close { why, frames: 7 });
        let others = [
            Word::Data {
                place: u16::MAX,
                items: MOST_ITEMS,
            },
            Word::Data { place: 0, items: 1 },
            Word::Grant { frames: 12 },
            Word::Open(Window::of(0, 0)),
            Word::Open(Window::of(usize::MAX, u64::MAX)),
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
    fn what_is_no_word_is_told() {
        for word in [
            0,
            CLOSE << 62 | 4 << 48,
            OPEN << 62,
            OPEN << 62 | 1 << 48,
            OPEN << 62 | 1 << 32,
        ] {
            assert_eq!(Word::parse(word), None, "{word:#x}");
        }
    }
}
