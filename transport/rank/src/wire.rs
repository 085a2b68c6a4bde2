//! Wire protocol of ranks over a connection: frame kinds and their header words.

use super::table::Number;
use jstream_base::Header;
use jstream_base::HeaderError;
use jstream_endpoint::gate::Credit;
use jstream_matching::{Envelope, Heading};

/// Frame kinds: `jsr` and a number.
const EAGER: u32 = 0x6a73_7201;
const EAGER_CONFIRMED: u32 = 0x6a73_7202;
const ANNOUNCED: u32 = 0x6a73_7203;
const WANTED: u32 = 0x6a73_7204;
const DATA: u32 = 0x6a73_7205;
const MATCHED: u32 = 0x6a73_7206;
const WITHDRAW: u32 = 0x6a73_7207;
const WITHDRAWN: u32 = 0x6a73_7208;
const HELLO: u32 = 0x6a73_7209;
const CREDIT: u32 = 0x6a73_720a;

/// Version of the protocol.
const VERSION: u64 = 1;

/// Length in bytes of an announcement's payload, which is the length of the announced message.
pub(super) const ANNOUNCEMENT: u64 = 8;

/// A frame, without its payload. Numbers named `offer` are assigned by the sender of the message
/// that they refer to; numbers named `want` by its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// The first frame: the window that its sender grants for unexpected messages.
    Hello { window: Credit },
    /// Returned credit, for messages that no longer count.
    Credit { credit: Credit },
    /// A message with its payload. If it has a number, its sender may wait for the match.
    Eager { label: Label, offer: Option<Number> },
    /// An announcement of a message whose payload is sent on request.
    Announced { label: Label, offer: Number },
    /// A request for the payload of an announced message.
    Wanted { offer: Number, want: Number },
    /// The payload that was requested.
    Data { want: Number },
    /// Notice that the message was matched, and that its payload is not requested any more.
    Matched { offer: Number },
    /// A request to withdraw a message, if no receive has it.
    Withdraw { offer: Number },
    /// The answer to a withdrawal.
    Withdrawn { offer: Number, was_there: bool },
}

/// The parts of the envelope that are sent; the receiver knows the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) context: u32,
    pub(super) tag: u64,
    /// The number of the element type; 0 for untyped bytes.
    pub(super) descriptor: u64,
}

impl Label {
    /// Returns the heading with the source and the length of the payload in bytes.
    #[inline]
    pub(super) fn heading(self, source: u32, length: u64) -> Heading {
        let envelope = Envelope {
            context: self.context,
            source,
            tag: self.tag,
        };
        let mut heading = Heading::new(envelope, length);
        heading.descriptor = (self.descriptor != 0).then_some(self.descriptor);
        heading
    }
}

impl Frame {
    #[inline]
    pub(super) fn header(self) -> Header {
        let labelled = |kind, label: Label, number: u32| {
            let last = u64::from(label.context) | u64::from(number) << 32;
            Header::new(kind, [label.tag, label.descriptor, last])
        };
        let numbered =
            |kind, one: u32, other: u32| Header::new(kind, [u64::from(one), u64::from(other), 0]);
        match self {
            Self::Hello { window } => Header::new(HELLO, [VERSION, window.messages, window.bytes]),
            Self::Credit { credit } => Header::new(CREDIT, [credit.messages, credit.bytes, 0]),
            Self::Eager { label, offer: None } => labelled(EAGER, label, 0),
            Self::Eager {
                label,
                offer: Some(offer),
            } => labelled(EAGER_CONFIRMED, label, offer),
            Self::Announced { label, offer } => labelled(ANNOUNCED, label, offer),
            Self::Wanted { offer, want } => numbered(WANTED, offer, want),
            Self::Data { want } => numbered(DATA, want, 0),
            Self::Matched { offer } => numbered(MATCHED, offer, 0),
            Self::Withdraw { offer } => numbered(WITHDRAW, offer, 0),
            Self::Withdrawn { offer, was_there } => {
                numbered(WITHDRAWN, offer, u32::from(was_there))
            }
        }
    }

    /// Parses a header.
    ///
    /// # Errors
    ///
    /// Returns an error if no peer of this protocol version sends such a header.
    #[inline]
    pub(super) fn of(header: &Header) -> Result<Self, HeaderError> {
        let strange = HeaderError::Rank { kind: header.kind };
        let [first, second, third] = header.words;
        let (low, high) = (lower(third), lower(third >> 32));
        let label = Label {
            context: low,
            tag: first,
            descriptor: second,
        };
        let number = |word: u64| u32::try_from(word).map_err(|_| strange);
        let credit = |messages, bytes| Credit { messages, bytes };
        let frame = match header.kind {
            EAGER => Self::Eager { label, offer: None },
            EAGER_CONFIRMED => Self::Eager {
                label,
                offer: Some(high),
            },
            ANNOUNCED => Self::Announced { label, offer: high },
            WANTED => Self::Wanted {
                offer: number(first)?,
                want: number(second)?,
            },
            DATA => Self::Data {
                want: number(first)?,
            },
            MATCHED => Self::Matched {
                offer: number(first)?,
            },
            WITHDRAW => Self::Withdraw {
                offer: number(first)?,
            },
            WITHDRAWN => Self::Withdrawn {
                offer: number(first)?,
                was_there: second == 1,
            },
            HELLO if first == VERSION => Self::Hello {
                window: credit(second, third),
            },
            CREDIT => Self::Credit {
                credit: credit(first, second),
            },
            _ => return Err(strange),
        };
        Ok(frame)
    }
}

#[inline]
fn lower(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_comes_back() {
        let label = Label {
            context: 0x0403_0201,
            tag: u64::MAX,
            descriptor: 7,
        };
        let credit = Credit {
            messages: 7,
            bytes: u64::MAX,
        };
        let frames = [
            Frame::Hello { window: credit },
            Frame::Credit { credit },
            Frame::Eager { label, offer: None },
            Frame::Eager {
                label,
                offer: Some(0),
            },
            Frame::Announced {
                label,
                offer: u32::MAX,
            },
            Frame::Wanted { offer: 1, want: 2 },
            Frame::Data { want: 3 },
            Frame::Matched { offer: 4 },
            Frame::Withdraw { offer: 5 },
            Frame::Withdrawn {
                offer: 6,
                was_there: true,
            },
            Frame::Withdrawn {
                offer: 6,
                was_there: false,
            },
        ];
        for frame in frames {
            assert_eq!(Frame::of(&frame.header()), Ok(frame));
        }
        let header = Header::new(EAGER_CONFIRMED, [1, 2, 0x0000_0004_0000_0003]);
        let Ok(Frame::Eager { label, offer }) = Frame::of(&header) else {
            panic!()
        };
        assert_eq!(
            (label.tag, label.descriptor, label.context, offer),
            (1, 2, 3, Some(4))
        );
    }

    #[test]
    fn what_nobody_sends_is_refused() {
        for header in [
            Header::default(),
            Header::new(EAGER - 1, [0; 3]),
            Header::new(CREDIT + 1, [0; 3]),
            Header::new(HELLO, [VERSION + 1, 1, 1]),
            Header::new(DATA, [1 << 32, 0, 0]),
            Header::new(WANTED, [0, u64::MAX, 0]),
        ] {
            let kind = header.kind;
            assert_eq!(Frame::of(&header), Err(HeaderError::Rank { kind }));
        }
    }
}
