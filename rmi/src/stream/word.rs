//! What the word of a stream's frame says.
//!
//! | kind | from | says | payload |
//! |---|---|---|---|
//! | data | the side that sends items | the frame's place in the stream, how many items | a slice of items |
//! | grant | the side that takes items | how many frames it is done with | |
//! | close | the side that sends items | how many frames there were, and why no more | |
//! | close | the side that takes items | | |
//! | open | the side that takes items | how much may be on its way | |
//!
//! | bits | |
//! |---|---|
//! | 62, 63 | kind |
//! | 61 | the stream belongs to a call of who sends the frame |
//! | 48 to 60 | items, or why a stream is closed |
//! | 32 to 47 | a frame's place or a number of frames, both modulo 65,536; or KiB |
//! | 0 to 31 | the number of the stream, which the caller chose |

/// How many items one frame has at most.
pub(crate) const MOST_ITEMS: u16 = (1 << 13) - 1;

/// Which stream of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// It belongs to a call of this side.
    pub(crate) ours: bool,
    pub(crate) number: u32,
}

/// What a frame says of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Data {
        place: u16,
        items: u16,
    },
    /// So many frames are done with, since the stream began.
    Grant {
        frames: u16,
    },
    Close {
        why: CloseReason,
        frames: u16,
    },
    Open(Window),
}

/// Why a stream was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseReason {
    /// There are no more items, or they are not wanted any more.
    Ended = 0,
    /// Who sends them has given up.
    GivenUp = 1,
    /// Who makes them has panicked.
    Panicked = 2,
    /// An item could not be written or sent.
    Unsent = 3,
}

/// How much of a stream may be on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// Never zero.
    pub(crate) items: u16,
    /// Never zero. What is sent while less is on its way may exceed it by one frame.
    pub(crate) kib: u16,
}

impl Window {
    /// The window for so many items and bytes, as far as a word can say it.
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

    /// What the peer says, and of which stream; `None` for what is no word.
    pub(crate) fn parse(word: u64) -> Option<(Key, Self)> {
        let part = |at: u32, mask: u64| (word >> at) & mask;
        let (upper, lower) = (
            u16::try_from(part(48, MOST_ITEMS.into())).ok()?,
            u16::try_from(part(32, u16::MAX.into())).ok()?,
        );
        let key = Key {
            // What is ours the peer says of its own.
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
        let whys = [CloseReason::Ended, CloseReason::GivenUp, CloseReason::Panicked, CloseReason::Unsent];
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
