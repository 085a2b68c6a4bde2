//! What the transport's header says of a message of a call.
//!
//! | kind | words | payload |
//! |---|---|---|
//! | call | number of the call and its time, object, method | the arguments |
//! | reply | number of the call | the result |
//! | error | number of the call, code | what went wrong, a string |
//! | one way | number 0 and the time, object, method | the arguments |
//! | cancel | number of the call | |
//! | stream | what the frame of a stream says | its items |
//!
//! A call's number has 48 bits; above them stands how long the caller waits, as [`time`](self::time)
//! says. A call is answered once, by a reply or an error; what goes one way is not answered.

mod time;

use std::time::Duration;

use jstream_transport::Header;

const CALL: u32 = 1;
const REPLY: u32 = 2;
const ERROR: u32 = 3;
const ONE_WAY: u32 = 4;
const CANCEL: u32 = 5;
const STREAM: u32 = 6;

/// How many bits the number of a call has.
const NUMBER_BITS: u32 = 48;

/// The number of a call: the lower bits of the word that it stands in.
pub(crate) const fn number_in(word: u64) -> u64 {
    word & ((1 << NUMBER_BITS) - 1)
}

/// A message of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    Call {
        /// None where nobody waits for an answer.
        number: Option<u64>,
        /// How long the caller waits from now on.
        time: Option<Duration>,
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
    Cancel {
        number: u64,
    },
    /// Of a stream that goes with a call.
    Stream {
        word: u64,
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
    /// The caller's time was over before the method began.
    TooLate = 6,
    /// It was over while the method waited, which ended it.
    Overdue = 7,
    /// The caller gave up before the method began.
    NotBegun = 8,
    /// It gave up while the method waited, which ended it.
    GivenUp = 9,
    /// As many methods wait as may on one connection.
    Busy = 10,
}

impl Code {
    const ALL: [Self; 10] = [
        Self::UnknownObject,
        Self::UnknownMethod,
        Self::Arguments,
        Self::Panicked,
        Self::Result,
        Self::TooLate,
        Self::Overdue,
        Self::NotBegun,
        Self::GivenUp,
        Self::Busy,
    ];
}

impl Frame {
    pub(crate) fn header(self) -> Header {
        let (kind, words) = match self {
            Self::Call {
                number,
                time,
                object,
                method,
            } => {
                let kind = if number.is_some() { CALL } else { ONE_WAY };
                let time = u64::from(time.map_or(0, time::to_wire)) << NUMBER_BITS;
                (
                    kind,
                    [number_in(number.unwrap_or(0)) | time, object, method],
                )
            }
            Self::Reply { number } => (REPLY, [number, 0, 0]),
            Self::Error { number, code } => (ERROR, [number, code as u64, 0]),
            Self::Cancel { number } => (CANCEL, [number, 0, 0]),
            Self::Stream { word } => (STREAM, [word, 0, 0]),
        };
        Header::new(kind, words)
    }

    /// `None` for what is no message of a call.
    pub(crate) fn parse(header: &Header) -> Option<Self> {
        let [first, second, third] = header.words;
        let number = number_in(first);
        match header.kind {
            CALL | ONE_WAY => Some(Self::Call {
                number: (header.kind == CALL).then_some(number),
                time: time::from_wire(first >> NUMBER_BITS),
                object: second,
                method: third,
            }),
            REPLY => Some(Self::Reply { number }),
            ERROR => {
                let code = Code::ALL.into_iter().find(|code| *code as u64 == second)?;
                Some(Self::Error { number, code })
            }
            CANCEL => Some(Self::Cancel { number }),
            STREAM => Some(Self::Stream { word: first }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back() {
        let errors = Code::ALL
            .into_iter()
            .map(|code| Frame::Error { number: 7, code });
        let calls = [None, Some(0), Some(1), Some((1 << 48) - 1)].map(|number| Frame::Call {
            number,
            time: number.map(|_| Duration::from_millis(2)),
            object: 2,
            method: u64::MAX,
        });
        let others = [
            Frame::Reply { number: 3 },
            Frame::Cancel { number: 4 },
            Frame::Stream { word: u64::MAX },
        ];
        for frame in errors.chain(calls).chain(others) {
            assert_eq!(Frame::parse(&frame.header()), Some(frame));
        }
        assert_eq!(Frame::parse(&Header::new(0, [0; 3])), None);
        assert_eq!(Frame::parse(&Header::new(ERROR, [1, 99, 0])), None);
    }
}
