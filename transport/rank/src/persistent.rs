//! Persistent requests, which are started repeatedly with the same envelope and memory.

use std::fmt;

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::error::{ElementName, Error};
use super::member::Rank;
use super::names::{Destination, Status};
use super::outcome::RequestOutcome;
use super::request::ReceiveTarget;
use super::requests::{Pending, SendRequest};
use super::transfer::offers::SendMode;
use super::wire::Label;
use jstream_device::connection::Payload;
use jstream_device::deadline::Deadline;
use jstream_matching::Pattern;

/// A receive that is posted each time it is started; see [`Buffers::recv_init`](super::Buffers::recv_init).
pub struct PersistentRecv {
    rank: Rank,
    pattern: Option<Pattern>,
    /// The memory, while the receive is not posted.
    empty: Option<EmptyBuffer>,
    /// The last message, in the given memory or in another jbuf.
    message: Option<MessageBuffer>,
    started: Option<Started>,
}

enum Started {
    Posted(Pending),
    /// A receive from [`Source::Null`](super::Source::Null).
    Null,
}

/// A message that is posted each time it is started; see [`Buffers::send_init`](super::Buffers::send_init).
pub struct PersistentSend {
    rank: Rank,
    to: Destination,
    label: Label,
    message: MessageBuffer,
    started: Option<SendRequest>,
}

impl PersistentRecv {
    pub(super) fn new(rank: Rank, pattern: Option<Pattern>, empty: EmptyBuffer) -> Self {
        Self {
            rank,
            pattern,
            empty: Some(empty),
            message: None,
            started: None,
        }
    }

    /// Posts the receive. Does nothing if it was started before and its outcome was not waited for.
    pub fn start(&mut self) {
        if self.started.is_some() {
            return;
        }
        let last = self.message.take().map(MessageBuffer::into_empty);
        // The buffer of the last message is used again, so that the receive needs no new one.
        let empty = self.empty.take().or(last);
        self.started = Some(match self.pattern {
            None => {
                self.empty = empty;
                Started::Null
            }
            Some(pattern) => {
                let node = self.rank.node();
                let place = empty.map_or(ReceiveTarget::Pool, ReceiveTarget::Jbuf);
                let id = node.with(|state, deferred| {
                    state.post(pattern, place, ElementName::BYTES, deferred)
                });
                Started::Posted(Pending::new(node.clone(), self.rank.members().clone(), id))
            }
        });
    }

    /// Blocks until the receive that was started has its message.
    ///
    /// # Errors
    ///
    /// [`Error`]; [`Error::Cancelled`] if the receive was not started.
    pub fn wait(&mut self) -> Result<Status, Error> {
        match self.started.take() {
            None => Err(Error::Cancelled),
            Some(Started::Null) => Ok(Status::NULL),
            Some(Started::Posted(mut pending)) => match pending.wait(Deadline::NEVER) {
                Some(outcome) => self.end(outcome),
                None => unreachable!("a wait without a deadline ends with the request"),
            },
        }
    }

    fn end(&mut self, outcome: RequestOutcome) -> Result<Status, Error> {
        let RequestOutcome {
            result,
            payload,
            empty,
        } = outcome;
        self.empty = empty;
        let status = result?;
        self.message = match payload {
            Some(Payload::Bytes(filled)) => Some(filled),
            Some(object) => Some(self.rank.node().bytes_of(object)?),
            None => None,
        };
        Ok(status)
    }

    /// Returns the last message, until the next start.
    #[must_use]
    pub fn message(&self) -> Option<&MessageBuffer> {
        self.message.as_ref()
    }
}

impl PersistentSend {
    pub(super) fn new(rank: Rank, to: Destination, tag: u64, message: MessageBuffer) -> Self {
        Self {
            label: rank.label::<u8>(tag),
            rank,
            to,
            message,
            started: None,
        }
    }

    /// Returns the message, to be changed between two starts.
    pub fn message_mut(&mut self) -> &mut MessageBuffer {
        &mut self.message
    }

    /// Posts the message. Does nothing if it was started before and its outcome was not waited for.
    ///
    /// # Errors
    ///
    /// [`Error::NoBuffer`] if the pool has no room for the copy.
    pub fn start(&mut self) -> Result<(), Error> {
        if self.started.is_some() {
            return Ok(());
        }
        let bytes = self.message.as_bytes();
        let length = bytes.len() as u64;
        // A copy, because the program may change its message while this one is under way.
        let empty = self.rank.node().inbox.pool().take(bytes.len());
        let empty = empty.map_err(|source| Error::NoBuffer { length, source })?;
        match empty.copy_from(bytes) {
            Ok(copy) => {
                let sent = self
                    .rank
                    .post_send(self.to, self.label, copy, SendMode::Standard);
                self.started = Some(sent);
            }
            Err(_) => unreachable!("the jbuf has the requested capacity"),
        }
        Ok(())
    }

    /// Blocks until the message has been sent. Returns immediately if it was not started.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn wait(&mut self) -> Result<(), Error> {
        match self.started.take() {
            Some(request) => Ok(request.wait().map(drop)?),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for PersistentRecv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PersistentRecv").finish_non_exhaustive()
    }
}

impl fmt::Debug for PersistentSend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PersistentSend").finish_non_exhaustive()
    }
}
