//! The outbox during the handshake.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{Outbox, TrustedInbox};
use jstream_base::HandshakeError;
use jstream_base::Options;

/// State of the outbox that this side offers.
pub(in super::super) enum Offered {
    /// The program did not enable trust.
    Nothing,
    /// The peer did not enable trust.
    Refused,
    /// The outbox could not be created.
    Failed(io::Error),
    Outbox(Outbox, OwnedFd),
}

impl Offered {
    /// Creates an outbox if the options trust peers. Only processes of the same user are trusted.
    pub(in super::super) fn new(options: &Options, is_same_user: bool) -> Self {
        if !options.trusts_peer() {
            return Self::Nothing;
        }
        if !is_same_user {
            let reason = "the peer belongs to another user";
            return Self::Failed(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        match Outbox::create(options.outbox_bytes) {
            Ok((outbox, fd)) => Self::Outbox(outbox, fd),
            Err(error) => Self::Failed(error),
        }
    }

    /// Returns `flag` if there is an outbox, and 0 otherwise.
    pub(in super::super) fn flag(&self, flag: u64) -> u64 {
        match self {
            Self::Outbox(..) => flag,
            _ => 0,
        }
    }

    /// Returns the descriptor that is sent to the peer.
    pub(in super::super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Outbox(_, fd) => Some(fd.as_fd()),
            _ => None,
        }
    }

    /// Processes the peer's answer. If both sides trust each other, maps the peer's outbox.
    pub(in super::super) fn agree(
        &mut self,
        trusted: bool,
        given: impl FnOnce() -> Option<OwnedFd>,
    ) -> Result<Option<TrustedInbox>, HandshakeError> {
        match self {
            Self::Outbox(..) if trusted => {
                let inbox = match given() {
                    Some(fd) => TrustedInbox::open(fd),
                    None => Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "the peer sent no descriptor of an outbox",
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

    /// Returns a description of the degradation, if the program enabled trust and does not get it.
    pub(in super::super) fn lacks(&self) -> Option<String> {
        match self {
            Self::Nothing | Self::Outbox(..) => None,
            Self::Refused => Some(
                "the peer does not trust this process, or has no outbox: messages are copied"
                    .into(),
            ),
            Self::Failed(error) => Some(format!(
                "the outbox could not be created ({error}): messages are copied"
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
