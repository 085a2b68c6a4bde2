//! Permanent errors of a half.

use std::io;

use crate::connection::Fault;
use jstream_base::HeaderError;

/// A permanent error: once detected, every later operation returns it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Broken {
    Ended,
    Lost(io::ErrorKind),
    TooLarge { length: u64 },
    Malformed(HeaderError),
}

impl Broken {
    #[cold]
    pub(super) fn fault(self) -> Fault {
        match self {
            Self::Ended => Fault::Ended,
            Self::Lost(io::ErrorKind::UnexpectedEof) => Fault::Lost(cut_short()),
            Self::Lost(io::ErrorKind::ConnectionReset) => Fault::Lost(hung_up()),
            Self::Lost(kind) => Fault::Lost(kind.into()),
            Self::TooLarge { length } => Fault::TooLarge { length },
            Self::Malformed(error) => Fault::Malformed(error),
        }
    }
}

impl From<HeaderError> for Broken {
    fn from(error: HeaderError) -> Self {
        Self::Malformed(error)
    }
}

/// Returns the error for a peer whose process is gone.
fn hung_up() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the peer's process is gone")
}

/// Returns the error for a peer that ended inside a message.
fn cut_short() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the peer ended inside a message",
    )
}
