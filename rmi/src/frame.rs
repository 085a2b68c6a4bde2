//! What the transport's header says of a message of a call.
//!
//! | kind | words | payload |
//! |---|---|---|
//! | call | number of the call, object, method | the arguments |
//! | reply | number of the call | the result |
//! | error | number of the call, code | what went wrong, a string |

use jstream_transport::Header;

const CALL: u32 = 1;
const REPLY: u32 = 2;
const ERROR: u32 = 3;

/// A message of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    Call {
        number: u64,
        object: u64,
        method: u64,
    },
    Reply {
        number: u64,
    },
    Error {
        number: u64,
        code: Code,
    },
}

/// What went wrong at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    UnknownObject = 1,
    UnknownMethod = 2,
    Arguments = 3,
    Panicked = 4,
    Result = 5,
}

impl Code {
    const ALL: [Self; 5] = [
        Self::UnknownObject,
        Self::UnknownMethod,
        Self::Arguments,
        Self::Panicked,
        Self::Result,
    ];
}

impl Frame {
    pub(crate) fn header(self) -> Header {
        let (kind, words) = match self {
            Self::Call {
                number,
                object,
                method,
            } => (CALL, [number, object, method]),
            Self::Reply { number } => (REPLY, [number, 0, 0]),
            Self::Error { number, code } => (ERROR, [number, code as u64, 0]),
        };
        Header::new(kind, words)
    }

    /// `None` for what is no message of a call.
    pub(crate) fn parse(header: &Header) -> Option<Self> {
        let [number, second, third] = header.words;
        match header.kind {
            CALL => Some(Self::Call {
                number,
                object: second,
                method: third,
            }),
            REPLY => Some(Self::Reply { number }),
            ERROR => {
                let code = Code::ALL.into_iter().find(|code| *code as u64 == second)?;
                Some(Self::Error { number, code })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back() {
        let frames = Code::ALL
            .into_iter()
            .map(|code| Frame::Error { number: 7, code });
        let others = [
            Frame::Call {
                number: 1,
                object: 2,
                method: u64::MAX,
            },
            Frame::Reply { number: 3 },
        ];
        for frame in frames.chain(others) {
            assert_eq!(Frame::parse(&frame.header()), Some(frame));
        }
        assert_eq!(Frame::parse(&Header::new(0, [0; 3])), None);
        assert_eq!(Frame::parse(&Header::new(ERROR, [1, 99, 0])), None);
    }
}
