//! Permanent faults.

use std::io;

use crate::connection::Fault;
use jstream_base::HeaderError;

/// The reason why a half is unusable, from which the fault can be created repeatedly.
#[derive(Debug)]
pub(crate) enum Broken {
    Ended,
    /// The number of the operating system's error.
    System(i32),
    Lost(io::ErrorKind),
    TooLarge {
        length: u64,
    },
    Malformed(HeaderError),
}

impl Broken {
    /// Returns the permanent form of `fault`. `None` if the call may be repeated, or if the
    /// connection itself records the fault.
    pub(crate) fn from_fault(fault: &Fault) -> Option<Self> {
        Some(match fault {
            Fault::Ended => Self::Ended,
            Fault::Lost(error) => error
                .raw_os_error()
                .map_or_else(|| Self::Lost(error.kind()), Self::System),
            Fault::TooLarge { length } => Self::TooLarge { length: *length },
            Fault::Malformed(error) => Self::Malformed(*error),
            Fault::ClosedLocally | Fault::NoBuffer { .. } => return None,
        })
    }

    pub(crate) fn fault(&self) -> Fault {
        match *self {
            Self::Ended => Fault::Ended,
            Self::System(number) => Fault::Lost(io::Error::from_raw_os_error(number)),
            Self::Lost(kind) => Fault::Lost(kind.into()),
            Self::TooLarge { length } => Fault::TooLarge { length },
            Self::Malformed(error) => Fault::Malformed(error),
        }
    }
}
