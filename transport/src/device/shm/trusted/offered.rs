//! The outbox while the sides agree.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{Inbox, Outbox};
use crate::error::HandshakeError;
use crate::options::Options;

/// What this side offers a peer that it may trust.
pub(in super::super) enum Offered {
    /// Nothing: it was not asked for.
    Nothing,
    /// An outbox, which the peer has not asked for.
    Refused,
    /// It was asked for, and there was none to be had.
    Failed(io::Error),
    Outbox(Outbox, OwnedFd),
}

impl Offered {
    pub(in super::super) fn new(options: &Options) -> Self {
        if !options.trusts_peer {
            return Self::Nothing;
        }
        match Outbox::create(options.outbox_bytes) {
            Ok((outbox, fd)) => Self::Outbox(outbox, fd),
            Err(error) => Self::Failed(error),
        }
    }

    /// `flag`, if there is an outbox.
    pub(in super::super) fn flag(&self, flag: u64) -> u64 {
        match self {
            Self::Outbox(..) => flag,
            _ => 0,
        }
    }

    /// What the peer is given.
    pub(in super::super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Outbox(_, fd) => Some(fd.as_fd()),
            _ => None,
        }
    }

    /// Hears whether the peer trusts us, and takes its outbox if both do.
    pub(in super::super) fn agree(
        &mut self,
        trusted: bool,
        given: impl FnOnce() -> Option<OwnedFd>,
    ) -> Result<Option<Inbox>, HandshakeError> {
        match self {
            Self::Outbox(..) if trusted => {
                let inbox = match given() {
                    Some(fd) => Inbox::open(fd),
                    None => Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "the peer gave no outbox",
                    )),
                };
                let inbox = inbox.map_err(|source| HandshakeError::System { source })?;
                Ok(Some(inbox))
            }
            Self::Outbox(..) => {
                *self = Self::Refused;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// What to tell people who asked for it.
    pub(in super::super) fn lacks(&self) -> Option<String> {
        match self {
            Self::Nothing | Self::Outbox(..) => None,
            Self::Refused => Some(
                "the peer does not trust this process, or has no outbox: messages are copied"
                    .into(),
            ),
            Self::Failed(error) => Some(format!(
                "there is no memory to leave messages in ({error}): messages are copied"
            )),
        }
    }

    pub(in super::super) fn into_outbox(self) -> Option<Outbox> {
        match self {
            Self::Outbox(outbox, _) => Some(outbox),
            _ => None,
        }
    }
}
