//! Wire protocol of ranks over a connection: frame kinds and their header words.

use super::table::Number;
use jstream_base::{Header, HeaderError, frames};
use jstream_matching::{Envelope, Heading};

/// Version of the protocol.
pub(super) const VERSION: u64 = 1;

/// Length in bytes of an announcement's payload, which is the length of the announced message.
pub(super) const ANNOUNCEMENT: u64 = 8;

frames! {
    /// A frame, without its payload. Numbers named `offer` are assigned by the sender of the
    /// message that they refer to; numbers named `want` by its receiver.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Frame by Kind, reserved Ignored {
        /// A message with its payload.
        EAGER = 0x6a73_7201 => Eager { label: Label = Group },
        /// A message with its payload, whose sender may wait for the match.
        EAGER_CONFIRMED = 0x6a73_7202 => EagerConfirmed {
            label: Label = Group,
            offer: Number = Third[32..64],
        },
        /// An announcement of a message whose payload is sent on request.
        ANNOUNCED = 0x6a73_7203 => Announced { label: Label = Group, offer: Number = Third[32..64] },
        /// A request for the payload of an announced message.
        WANTED = 0x6a73_7204 => Wanted { offer: Number = First, want: Number = Second },
        /// The payload that was requested.
        DATA = 0x6a73_7205 => Data { want: Number = First },
        /// Notice that the message was matched, and that its payload is not requested any more.
        MATCHED = 0x6a73_7206 => Matched { offer: Number = First },
        /// A request to withdraw a message, if no receive has it.
        WITHDRAW = 0x6a73_7207 => Withdraw { offer: Number = First },
        /// The answer to a withdrawal: 1 if the message was there.
        WITHDRAWN = 0x6a73_7208 => Withdrawn { offer: Number = First, was_there: u64 = Second },
        /// The first frame: the window that its sender grants for unexpected messages.
        HELLO = 0x6a73_7209 => Hello {
            version: u64 = First,
            messages: u64 = Second,
            bytes: u64 = Third,
        },
        /// Returned credit, for messages that no longer count.
        CREDIT = 0x6a73_720a => Credit { messages: u64 = First, bytes: u64 = Second },
        /// Notice that a payload that was requested is not sent, because the message was withdrawn.
        ABSENT = 0x6a73_720b => Absent { want: Number = First },
        /// Notice that the rank has revoked a communicator.
        REVOKED = 0x6a73_720c => Revoked { context: u32 = First, rank: u32 = Second },
        /// Notice that the payload of an announced message is not requested, because the receiver
        /// would have to allocate its memory, and allocates less.
        REFUSED = 0x6a73_720d => Refused { offer: Number = First, max: u64 = Second },
    }
}

frames! {
    /// The parts of the envelope that are sent; the receiver knows the source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Label {
        pub(super) context: u32 = Third[0..32],
        pub(super) tag: u64 = First,
        /// The number of the element type; 0 for untyped bytes.
        pub(super) descriptor: u64 = Second,
    }
}

/// Returns the protocol error for an invalid message of a peer.
pub(super) fn strange(kind: u32) -> HeaderError {
    HeaderError::Rank { kind }
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
        // 0 stands for bytes without a type, which fit every receive.
        heading.descriptor = (self.descriptor != 0).then_some(self.descriptor);
        heading
    }
}

impl Frame {
    /// Returns the label of an eager message, and its offer if it has one.
    #[inline]
    pub(super) fn eager(self) -> Option<(Label, Option<Number>)> {
        match self {
            Self::Eager { label } => Some((label, None)),
            Self::EagerConfirmed { label, offer } => Some((label, Some(offer))),
            _ => None,
        }
    }

    /// Parses a header.
    ///
    /// # Errors
    ///
    /// Returns an error if no peer of this protocol version sends such a header.
    #[inline]
    pub(super) fn parse(header: &Header) -> Result<Self, HeaderError> {
        let refused = strange(header.kind);
        match Self::decode(header).ok_or(refused)? {
            Self::Hello { version, .. } if version != VERSION => Err(refused),
            frame => Ok(frame),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jstream_base::frame::assert_documented;

    #[test]
    fn every_frame_comes_back() {
        let label = Label {
            context: 0x0403_0201,
            tag: u64::MAX,
            descriptor: 7,
        };
        let frames = [
            Frame::Hello {
                version: VERSION,
                messages: 7,
                bytes: u64::MAX,
            },
            Frame::Credit {
                messages: 7,
                bytes: u64::MAX,
            },
            Frame::Eager { label },
            Frame::EagerConfirmed { label, offer: 0 },
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
                was_there: 1,
            },
            Frame::Withdrawn {
                offer: 6,
                was_there: 0,
            },
            Frame::Absent { want: 7 },
            Frame::Revoked {
                context: 8,
                rank: u32::MAX,
            },
            Frame::Refused {
                offer: 9,
                max: u64::MAX,
            },
        ];
        for frame in frames {
            assert_eq!(Frame::parse(&frame.header()), Ok(frame));
        }
        let header = Header::new(EAGER_CONFIRMED, [1, 2, 0x0000_0004_0000_0003]);
        let Ok(Frame::EagerConfirmed { label, offer }) = Frame::parse(&header) else {
            panic!()
        };
        assert_eq!(
            (label.tag, label.descriptor, label.context, offer),
            (1, 2, 3, 4)
        );
    }

    #[test]
    fn the_protocol_lists_these_frames() {
        let page = include_str!("../../PROTOCOL.md");
        assert_documented(page, "## 12. Ranks", Frame::LAYOUT, &[]);
    }

    #[test]
    fn invalid_frames_are_refused() {
        for header in [
            Header::default(),
            Header::new(EAGER - 1, [0; 3]),
            Header::new(REFUSED + 1, [0; 3]),
            Header::new(HELLO, [VERSION + 1, 1, 1]),
            Header::new(DATA, [1 << 32, 0, 0]),
            Header::new(WANTED, [0, u64::MAX, 0]),
            Header::new(REVOKED, [1 << 32, 0, 0]),
        ] {
            let kind = header.kind;
            assert_eq!(Frame::parse(&header), Err(HeaderError::Rank { kind }));
        }
    }
}
