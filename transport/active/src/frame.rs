//! Frames of the protocol, and their encoding in message headers.

use jstream_base::frame::{FieldGroup, Numbering};
use jstream_base::{Header, frames};

/// The version of this protocol.
pub(super) const VERSION: u64 = 1;

/// Number of no handler. A *bounce* of it with [`Reason::Ending`](crate::error::Reason::Ending)
/// announces that its sender has answered all requests, and runs no more.
pub(super) const NO_HANDLER: u16 = u16::MAX;

/// Maximum number of bytes that one credit returns.
const MOST_BYTES: u64 = (1 << 48) - 1;

frames! {
    /// A frame of the protocol, without its credit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Frame by Kind, reserved Zero {
        /// The first frame in each direction, with the window in messages and bytes. Its payload is
        /// the handler table.
        HELLO = 0x6a73_6101 => Hello {
            version: u64 = First,
            messages: u64 = Second,
            bytes: u64 = Third,
        },
        REQUEST = 0x6a73_6102 => Request {
            number: u32 = First[0..32],
            handler: u16 = First[32..48],
            word: u64 = Second,
        },
        /// A message without an answer.
        SEND = 0x6a73_6103 => Send { handler: u16 = First[32..48], word: u64 = Second },
        REPLY = 0x6a73_6104 => Reply { number: u32 = First[0..32], word: u64 = Second },
        /// Return of a request that was not carried out: its payload, followed by `text` bytes of
        /// explanation.
        RETURN = 0x6a73_6105 => Return {
            number: u32 = First[0..32],
            reason: u16 = First[32..48],
            word: u64 = Second,
            text: u16 = Third[48..64],
        },
        /// Return of a one-way message, with the same payload.
        BOUNCE = 0x6a73_6106 => Bounce {
            handler: u16 = First[0..32],
            reason: u16 = First[32..48],
            word: u64 = Second,
            text: u16 = Third[48..64],
        },
        /// Credit only.
        CREDIT = 0x6a73_6107 => Credit,
        /// Cancellation of a request.
        CANCEL = 0x6a73_6108 => Cancel { number: u32 = First[0..32] },
    }
}

frames! {
    /// Credit: the part of the sender's window that the receiver returns, in any frame but a hello.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(super) struct Credit {
        pub(super) messages: u16 = First[48..64],
        pub(super) bytes: u64 = Third[0..48],
    }
}

impl Credit {
    /// Returns as much of `messages` and `bytes` as one frame can carry.
    pub(super) fn new(messages: u32, bytes: u64) -> Self {
        Self {
            messages: u16::try_from(messages).unwrap_or(u16::MAX),
            bytes: bytes.min(MOST_BYTES),
        }
    }

    /// Returns the credit in a header, which is not that of a hello, and its frame.
    #[inline(always)]
    fn split(header: &Header) -> Option<(Frame, Self)> {
        let (kind, slots) = Numbering::Kind.split(header);
        let credit = Self::get(&slots)?;
        // The credit shares no bits with the fields of a frame, which are left.
        let mut own = [0; 4];
        credit.put(&mut own);
        let ([a, b, c, d], [e, f, g, h]) = (slots, own);
        let rest = Numbering::Kind.join(kind, [a ^ e, b ^ f, c ^ g, d ^ h]);
        Some((Frame::decode(&rest)?, credit))
    }
}

impl Frame {
    /// Encodes the frame, which is not a hello, with credit for the peer.
    #[inline]
    pub(super) fn with_credit(self, credit: Credit) -> Header {
        let (kind, mut slots) = Numbering::Kind.split(&self.header());
        credit.put(&mut slots);
        Numbering::Kind.join(kind, slots)
    }

    /// Returns the credit in `header` if that is a reply to the request `number`.
    #[inline]
    pub(super) fn replies(header: &Header, number: u32) -> Option<Credit> {
        if header.kind != REPLY {
            return None;
        }
        match Credit::split(header)? {
            (Self::Reply { number: theirs, .. }, credit) if theirs == number => Some(credit),
            _ => None,
        }
    }

    /// Decodes `header`. Returns `None` if it is not a valid frame of this version.
    #[inline]
    pub(super) fn parse(header: &Header) -> Option<(Self, Credit)> {
        if header.kind == HELLO {
            return Some((Self::decode(header)?, Credit::default()));
        }
        let (frame, credit) = Credit::split(header)?;
        let is_valid = match frame {
            Self::Return { text, .. } | Self::Bounce { text, .. } => {
                u64::from(text) <= header.length
            }
            Self::Credit | Self::Cancel { .. } => header.length == 0,
            _ => true,
        };
        is_valid.then_some((frame, credit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jstream_base::frame::assert_documented;

    const CREDIT_OF_ALL: Credit = Credit {
        messages: u16::MAX,
        bytes: MOST_BYTES,
    };

    #[test]
    fn encoded_frames_round_trip() {
        let word = u64::MAX;
        let frames = [
            Frame::Request {
                number: u32::MAX,
                handler: u16::MAX,
                word,
            },
            Frame::Send { handler: 7, word },
            Frame::Reply { number: 3, word },
            Frame::Return {
                number: 4,
                reason: 2,
                word,
                text: 9,
            },
            Frame::Bounce {
                handler: 4,
                reason: 2,
                word,
                text: 0,
            },
            Frame::Credit,
            Frame::Cancel { number: 1 << 16 },
        ];
        for frame in frames {
            let length = if matches!(frame, Frame::Credit | Frame::Cancel { .. }) {
                0
            } else {
                9
            };
            let bytes = frame
                .with_credit(CREDIT_OF_ALL)
                .with_length(length)
                .to_bytes();
            let header = Header::from_bytes(&bytes).unwrap();
            assert_eq!(Frame::parse(&header), Some((frame, CREDIT_OF_ALL)));
            let is_reply = matches!(frame, Frame::Reply { .. });
            let replied = Frame::replies(&header, 3);
            assert_eq!(replied, is_reply.then_some(CREDIT_OF_ALL), "{frame:?}");
            assert_eq!(Frame::replies(&header, 4), None);
        }
        let hello = Frame::Hello {
            version: VERSION,
            messages: 3,
            bytes: u64::MAX,
        };
        let header = hello.header();
        assert_eq!(Frame::parse(&header), Some((hello, Credit::default())));
    }

    #[test]
    fn the_protocol_lists_these_frames() {
        let page = include_str!("../../PROTOCOL.md");
        let groups = [("credit", Credit::PLACES)];
        assert_documented(page, "## 14. Active messages", Frame::LAYOUT, &groups);
    }

    #[test]
    fn unknown_words_are_refused() {
        let refused = |kind, words, length| {
            let header = Header::new(kind, words).with_length(length);
            assert_eq!(Frame::parse(&header), None, "{header:?}");
            assert_eq!(Frame::replies(&header, 0), None, "{header:?}");
        };
        refused(0, [0; 3], 0);
        refused(CANCEL + 1, [0; 3], 0);
        refused(SEND, [1, 0, 0], 0);
        refused(REPLY, [1 << 32, 0, 0], 0);
        refused(REPLY, [0, 0, 1 << 48], 1);
        refused(REQUEST, [0, 0, 1 << 48], 1);
        refused(RETURN, [0, 0, 2 << 48], 1);
        refused(BOUNCE, [1 << 16, 0, 0], 0);
        refused(CREDIT, [1, 0, 0], 0);
        refused(CREDIT, [0, 1, 0], 0);
        refused(CREDIT, [0; 3], 1);
        refused(CANCEL, [0; 3], 1);
    }
}
