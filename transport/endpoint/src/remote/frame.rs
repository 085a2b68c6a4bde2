//! Frames, and their encoding in headers.

use jstream_base::frame::{FieldGroup, Place, Slot, Slots};
use jstream_base::{Header, HeaderError, frames};

/// Maximum number of requests without a received answer. Bounds the memory for a peer that sends
/// requests and does not read.
pub const MOST_REQUESTS: usize = 32;

/// Maximum number of bytes that one get request may ask for. The answers that wait for a peer have
/// at most [`MOST_REQUESTS`] times this size.
pub(super) const PIECE: u32 = 256 << 10;

frames! {
    /// The place of a put or a get.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Target {
        pub(super) key: u64 = First,
        pub(super) offset: u64 = Second,
    }
}

frames! {
    /// A request, an answer or a notice.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum RemoteFrame by Op, reserved Zero {
        /// A put. The number of notices that belong to it is 0 or 1.
        PUT = 1 => Put { notices: u32 = Kind, target: Target = Group, request: u64 = Third },
        DONE = 2 => Done { request: u64 = First, verdict: RemoteVerdict = Group },
        GET = 3 => Get { length: u32 = Kind, target: Target = Group, request: u64 = Third },
        DATA = 4 => Data { request: u64 = First },
        /// A notice, which has the header of the message that it becomes.
        NOTICE = 5 => Notice {
            kind: u32 = Kind,
            first: u64 = First,
            second: u64 = Second,
            third: u64 = Third,
        },
    }
}

/// The owner's answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemoteVerdict {
    Done,
    NoSuchKey,
    NotAllowed,
    /// Only this many bytes are exposed.
    OutOfBounds {
        exposed: u64,
    },
    /// The owner's pool has no room for the answer.
    NoRoom,
}

impl RemoteFrame {
    /// Decodes the frame of a `header` whose `op` is not 0. The lengths that a frame requires are
    /// checked.
    pub(super) fn from_header(header: &Header) -> Result<Self, HeaderError> {
        let frame = Self::decode(header).filter(|frame| match frame {
            Self::Put { notices, .. } => *notices <= 1,
            Self::Data { .. } => true,
            Self::Get { length, .. } => *length <= PIECE && header.length == 0,
            Self::Done { .. } | Self::Notice { .. } => header.length == 0,
        });
        frame.ok_or(HeaderError::Unexpected { op: header.op() })
    }

    /// Returns the header of a notice that becomes a message with the words of `header`.
    pub(super) fn notice(header: Header) -> Header {
        header.with_length(0).with_op(NOTICE)
    }
}

impl RemoteVerdict {
    const RESULT: Place = Place::new("result", Slot::Kind, 0, 32);
    const EXPOSED: Place = Place::new("exposed", Slot::Second, 0, 64);
}

impl FieldGroup for RemoteVerdict {
    const PLACES: &'static [Place] = &[Self::RESULT, Self::EXPOSED];

    fn get(slots: &Slots) -> Option<Self> {
        let exposed = Self::EXPOSED.get(slots)?;
        let verdict = match Self::RESULT.get(slots)? {
            0_u32 => Self::Done,
            1 => Self::NoSuchKey,
            2 => Self::NotAllowed,
            3 => return Some(Self::OutOfBounds { exposed }),
            4 => Self::NoRoom,
            _ => return None,
        };
        (exposed == 0).then_some(verdict)
    }

    fn put(self, slots: &mut Slots) {
        let (result, exposed) = match self {
            Self::Done => (0_u32, 0),
            Self::NoSuchKey => (1, 0),
            Self::NotAllowed => (2, 0),
            Self::OutOfBounds { exposed } => (3, exposed),
            Self::NoRoom => (4, 0),
        };
        Self::RESULT.put(result, slots);
        Self::EXPOSED.put(exposed, slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jstream_base::frame::assert_documented;

    const TARGET: Target = Target {
        key: u64::MAX,
        offset: 7,
    };

    #[test]
    fn frames_survive_encoding() {
        let mut frames = vec![
            RemoteFrame::Data { request: 9 },
            RemoteFrame::Notice {
                kind: u32::MAX,
                first: 1,
                second: 2,
                third: 3,
            },
            RemoteFrame::Get {
                request: 3,
                target: TARGET,
                length: PIECE,
            },
        ];
        for notices in [0, 1] {
            frames.push(RemoteFrame::Put {
                request: 1,
                target: TARGET,
                notices,
            });
        }
        let out = RemoteVerdict::OutOfBounds { exposed: 12 };
        for verdict in [
            RemoteVerdict::Done,
            RemoteVerdict::NoSuchKey,
            RemoteVerdict::NotAllowed,
            out,
            RemoteVerdict::NoRoom,
        ] {
            frames.push(RemoteFrame::Done {
                request: 2,
                verdict,
            });
        }
        for frame in frames {
            let bytes = frame.header().to_bytes();
            let header = Header::from_bytes(&bytes).unwrap();
            assert_eq!(RemoteFrame::from_header(&header), Ok(frame));
        }
    }

    #[test]
    fn the_protocol_lists_these_frames() {
        let page = include_str!("../../../PROTOCOL.md");
        assert_documented(page, "### Puts and gets", RemoteFrame::LAYOUT, &[]);
    }

    #[test]
    fn refuses_invalid_frames() {
        let refused = |op, kind, words, length| {
            let header = Header::new(kind, words).with_op(op).with_length(length);
            let unexpected = Err(HeaderError::Unexpected { op });
            assert_eq!(RemoteFrame::from_header(&header), unexpected, "{header:?}");
        };
        refused(PUT, 2, [0; 3], 0);
        refused(DONE, 5, [0; 3], 0);
        refused(DONE, 0, [0, 1, 0], 0);
        refused(DONE, 0, [0, 0, 1], 0);
        refused(DONE, 0, [0; 3], 1);
        refused(GET, PIECE + 1, [0; 3], 0);
        refused(GET, 1, [0; 3], 1);
        refused(DATA, 1, [0; 3], 1);
        refused(DATA, 0, [0, 1, 0], 1);
        refused(DATA, 0, [0, 0, 1], 1);
        refused(NOTICE, 0, [0; 3], u64::MAX);
        refused(6, 0, [0; 3], 0);
    }
}
