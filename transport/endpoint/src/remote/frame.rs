//! Frames, and their encoding in headers.

use jstream_base::Header;
use jstream_base::HeaderError;

/// Maximum number of requests without a received answer. Bounds the memory for a peer that sends
/// requests and does not read.
pub const MOST_REQUESTS: usize = 32;

/// Maximum number of bytes that one get request may ask for. The answers that wait for a peer have
/// at most [`MOST_REQUESTS`] times this size.
pub(super) const PIECE: u32 = 256 << 10;

const PUT: u32 = 1;
const DONE: u32 = 2;
const GET: u32 = 3;
const DATA: u32 = 4;
const NOTICE: u32 = 5;

/// A request, an answer or a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemoteFrame {
    Put {
        request: u64,
        target: Target,
        noticed: bool,
    },
    Done {
        request: u64,
        verdict: RemoteVerdict,
    },
    Get {
        request: u64,
        target: Target,
        length: u32,
    },
    Data {
        request: u64,
    },
    Notice,
}

/// The place of a put or a get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) key: u64,
    pub(super) offset: u64,
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
    pub(super) fn of(header: &Header) -> Result<Self, HeaderError> {
        let unexpected = HeaderError::Unexpected { op: header.op() };
        let [first, second, third] = header.words;
        let target = Target {
            key: first,
            offset: second,
        };
        let frame = match header.op() {
            PUT if header.kind <= 1 => {
                return Ok(Self::Put {
                    request: third,
                    target,
                    noticed: header.kind == 1,
                });
            }
            DATA if (header.kind, second, third) == (0, 0, 0) => {
                return Ok(Self::Data { request: first });
            }
            DONE if third == 0 => {
                let verdict = RemoteVerdict::of(header.kind, second).ok_or(unexpected)?;
                Self::Done {
                    request: first,
                    verdict,
                }
            }
            GET if header.kind <= PIECE => Self::Get {
                request: third,
                target,
                length: header.kind,
            },
            NOTICE => Self::Notice,
            _ => return Err(unexpected),
        };
        // These frames have no payload.
        if header.length == 0 {
            Ok(frame)
        } else {
            Err(unexpected)
        }
    }

    /// Encodes the frame in a header. The header of a notice is set by the program.
    pub(super) fn header(self) -> Header {
        let (op, kind, words) = match self {
            Self::Put {
                request,
                target,
                noticed,
            } => (
                PUT,
                u32::from(noticed),
                [target.key, target.offset, request],
            ),
            Self::Done { request, verdict } => {
                let (kind, exposed) = verdict.numbers();
                (DONE, kind, [request, exposed, 0])
            }
            Self::Get {
                request,
                target,
                length,
            } => (GET, length, [target.key, target.offset, request]),
            Self::Data { request } => (DATA, 0, [request, 0, 0]),
            Self::Notice => (NOTICE, 0, [0; 3]),
        };
        Header::new(kind, words).with_op(op)
    }

    /// Returns the header of a notice that becomes a message with the words of `header`.
    pub(super) fn notice(header: Header) -> Header {
        header.with_length(0).with_op(NOTICE)
    }
}

impl RemoteVerdict {
    fn of(kind: u32, exposed: u64) -> Option<Self> {
        let verdict = match kind {
            0 => Self::Done,
            1 => Self::NoSuchKey,
            2 => Self::NotAllowed,
            3 => return Some(Self::OutOfBounds { exposed }),
            4 => Self::NoRoom,
            _ => return None,
        };
        (exposed == 0).then_some(verdict)
    }

    fn numbers(self) -> (u32, u64) {
        match self {
            Self::Done => (0, 0),
            Self::NoSuchKey => (1, 0),
            Self::NotAllowed => (2, 0),
            Self::OutOfBounds { exposed } => (3, exposed),
            Self::NoRoom => (4, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Target = Target {
        key: u64::MAX,
        offset: 7,
    };

    #[test]
    fn frames_come_out_as_they_went_in() {
        let mut frames = vec![
            RemoteFrame::Data { request: 9 },
            RemoteFrame::Notice,
            RemoteFrame::Get {
                request: 3,
                target: TARGET,
                length: PIECE,
            },
        ];
        for noticed in [false, true] {
            frames.push(RemoteFrame::Put {
                request: 1,
                target: TARGET,
                noticed,
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
            assert_eq!(RemoteFrame::of(&header), Ok(frame));
        }
    }

    #[test]
    fn what_nobody_sends_is_refused() {
        let refused = |op, kind, words, length| {
            let header = Header::new(kind, words).with_op(op).with_length(length);
            let unexpected = Err(HeaderError::Unexpected { op });
            assert_eq!(RemoteFrame::of(&header), unexpected, "{header:?}");
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
