//! Frames of the protocol, and their encoding in message headers.

use jstream_base::Header;

/// The kinds of frames: `jsa`, and a number.
const HELLO: u32 = 0x6a73_6101;
const REQUEST: u32 = 0x6a73_6102;
const SEND: u32 = 0x6a73_6103;
const REPLY: u32 = 0x6a73_6104;
const RETURN: u32 = 0x6a73_6105;
const BOUNCE: u32 = 0x6a73_6106;
const CREDIT: u32 = 0x6a73_6107;
const CANCEL: u32 = 0x6a73_6108;

/// The version of this protocol.
pub(super) const VERSION: u64 = 1;

/// Maximum number of bytes that one credit returns.
const MOST_BYTES: u64 = (1 << 48) - 1;

/// A frame of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// The first frame in each direction, with the window in messages and bytes. Its payload is the
    /// handler table.
    Hello {
        version: u64,
        messages: u64,
        bytes: u64,
    },
    Request {
        number: u32,
        handler: u16,
        word: u64,
    },
    /// A message without an answer.
    Send {
        handler: u16,
        word: u64,
    },
    Reply {
        number: u32,
        word: u64,
    },
    /// Return of a request that was not carried out: its payload, followed by `text` bytes of
    /// explanation.
    Return {
        number: u32,
        reason: u16,
        word: u64,
        text: u16,
    },
    /// Return of a one-way message, with the same payload.
    Bounce {
        handler: u16,
        reason: u16,
        word: u64,
        text: u16,
    },
    /// Credit only.
    Credit,
    /// Cancellation of a request.
    Cancel {
        number: u32,
    },
}

/// Credit: the part of the sender's window that the receiver returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Credit {
    pub(super) messages: u16,
    pub(super) bytes: u64,
}

impl Credit {
    /// Returns as much of `messages` and `bytes` as one frame can carry.
    pub(super) fn of(messages: u32, bytes: u64) -> Self {
        Self {
            messages: u16::try_from(messages).unwrap_or(u16::MAX),
            bytes: bytes.min(MOST_BYTES),
        }
    }
}

fn first(number: u32, code: u16, credit: Credit) -> u64 {
    u64::from(number) | (u64::from(code) << 32) | (u64::from(credit.messages) << 48)
}

fn third(credit: Credit, text: u16) -> u64 {
    credit.bytes | (u64::from(text) << 48)
}

impl Frame {
    /// Encodes the frame, with credit for the peer. A hello carries no credit.
    #[inline]
    pub(super) fn header(self, credit: Credit) -> Header {
        let (kind, number, code, word, text) = match self {
            Self::Hello {
                version,
                messages,
                bytes,
            } => return Header::new(HELLO, [version, messages, bytes]),
            Self::Request {
                number,
                handler,
                word,
            } => (REQUEST, number, handler, word, 0),
            Self::Send { handler, word } => (SEND, 0, handler, word, 0),
            Self::Reply { number, word } => (REPLY, number, 0, word, 0),
            Self::Return {
                number,
                reason,
                word,
                text,
            } => (RETURN, number, reason, word, text),
            Self::Bounce {
                handler,
                reason,
                word,
                text,
            } => (BOUNCE, u32::from(handler), reason, word, text),
            Self::Credit => (CREDIT, 0, 0, 0, 0),
            Self::Cancel { number } => (CANCEL, number, 0, 0, 0),
        };
        Header::new(
            kind,
            [first(number, code, credit), word, third(credit, text)],
        )
    }

    /// Returns the credit in `header` if that is a reply to the request `number`.
    #[inline]
    pub(super) fn replies(header: &Header, number: u32) -> Option<Credit> {
        let [one, _, three] = header.words;
        let is_reply = header.kind == REPLY && one & 0xffff_ffff_ffff == u64::from(number);
        (is_reply && three >> 48 == 0).then_some(Credit {
            messages: u16::try_from(one >> 48).ok()?,
            bytes: three,
        })
    }

    /// Decodes the number, handler and word of a request, and its credit. Returns `None` for other
    /// frames.
    #[inline]
    pub(super) fn asks(header: &Header) -> Option<((u32, u16, u64), Credit)> {
        let [one, word, three] = header.words;
        if header.kind != REQUEST || three >> 48 != 0 {
            return None;
        }
        let number = u32::try_from(one & 0xffff_ffff).ok()?;
        let handler = u16::try_from((one >> 32) & 0xffff).ok()?;
        let credit = Credit {
            messages: u16::try_from(one >> 48).ok()?,
            bytes: three,
        };
        Some(((number, handler, word), credit))
    }

    /// Decodes `header`. Returns `None` if it is not a valid frame of this version.
    #[inline]
    pub(super) fn of(header: &Header) -> Option<(Self, Credit)> {
        let [one, word, three] = header.words;
        if header.kind == HELLO {
            let hello = Self::Hello {
                version: one,
                messages: word,
                bytes: three,
            };
            return Some((hello, Credit::default()));
        }
        let number = u32::try_from(one & 0xffff_ffff).ok()?;
        let code = u16::try_from((one >> 32) & 0xffff).ok()?;
        let text = u16::try_from(three >> 48).ok()?;
        let credit = Credit {
            messages: u16::try_from(one >> 48).ok()?,
            bytes: three & MOST_BYTES,
        };
        let frame = match (header.kind, code, text) {
            (REQUEST, handler, 0) => Self::Request {
                number,
                handler,
                word,
            },
            (SEND, handler, 0) if number == 0 => Self::Send { handler, word },
            (REPLY, 0, 0) => Self::Reply { number, word },
            (RETURN, reason, text) => Self::Return {
                number,
                reason,
                word,
                text,
            },
            (BOUNCE, reason, text) => Self::Bounce {
                handler: u16::try_from(number).ok()?,
                reason,
                word,
                text,
            },
            (CREDIT, 0, 0) if (number, word, header.length) == (0, 0, 0) => Self::Credit,
            (CANCEL, 0, 0) if (word, header.length) == (0, 0) => Self::Cancel { number },
            _ => return None,
        };
        (u64::from(text) <= header.length).then_some((frame, credit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDIT_OF_ALL: Credit = Credit {
        messages: u16::MAX,
        bytes: MOST_BYTES,
    };

    #[test]
    fn frames_come_out_as_they_went_in() {
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
            let bytes = frame.header(CREDIT_OF_ALL).with_length(length).to_bytes();
            let header = Header::from_bytes(&bytes).unwrap();
            assert_eq!(Frame::of(&header), Some((frame, CREDIT_OF_ALL)));
            let asked = match frame {
                Frame::Request {
                    number,
                    handler,
                    word,
                } => Some(((number, handler, word), CREDIT_OF_ALL)),
                _ => None,
            };
            assert_eq!(Frame::asks(&header), asked, "{frame:?}");
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
        let header = hello.header(Credit::default());
        assert_eq!(Frame::of(&header), Some((hello, Credit::default())));
    }

    #[test]
    fn what_nobody_sends_is_refused() {
        let refused = |kind, words, length| {
            let header = Header::new(kind, words).with_length(length);
            assert_eq!(Frame::of(&header), None, "{header:?}");
            assert_eq!(Frame::replies(&header, 0), None, "{header:?}");
            assert_eq!(Frame::asks(&header), None, "{header:?}");
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
