//! Probes: messages that are inspected before they are received.

use std::sync::Arc;
use std::{fmt, io};

use jstream::buffer::PoolError;
use zerocopy::IntoBytes;

use super::communicator::Members;
use super::element::{Element, name_of};
use super::error::{ElementName, Error};
use super::member::Rank;
use super::names::{Source, Status, Tag};
use super::node::Node;
use super::receiving::Wanted;
use super::request::ReceiveTarget;
use super::requests::{RankMessage, RecvRequest};
use jstream_device::deadline::Deadline;
use jstream_matching::Claim;

/// A probed message, which no other receive can match. Dropping this puts the message back, as if
/// it had not been probed.
pub struct Probed {
    node: Arc<Node>,
    members: Members,
    status: Status,
    /// The claimed message; `None` for [`Source::Null`], and once the message was received.
    claim: Option<Claim>,
}

/// Guard that makes arriving messages wake the waiting threads while it lives, even if no receive
/// matches them.
struct Prober<'n>(&'n Node);

impl<'n> Prober<'n> {
    fn new(node: &'n Node) -> Self {
        let mut state = node.inbox.lock();
        state.waiters.add_prober();
        Self(node)
    }
}

impl Drop for Prober<'_> {
    fn drop(&mut self) {
        let mut state = self.0.inbox.lock();
        state.waiters.remove_prober();
    }
}

impl Probed {
    /// Waits for a message that matches, and claims it. Returns `None` if the deadline passes.
    pub(super) fn find(
        rank: &Rank,
        from: Source,
        tag: Tag,
        deadline: Deadline,
    ) -> Result<Option<Self>, Error> {
        let node = rank.node().clone();
        let Some(pattern) = rank.pattern(from, tag) else {
            return Ok(Some(Self {
                node,
                members: Members::default(),
                status: Status::NULL,
                claim: None,
            }));
        };
        // Counted before the first look, so that each arrival from here on is notified.
        let prober = Prober::new(&node);
        let found = node.wait(|| deadline, |state| state.claim(&pattern));
        drop(prober);
        let members = rank.members();
        let found = found.transpose().map_err(|error| members.error(error))?;
        let Some((status, claim)) = found else {
            return Ok(None);
        };
        Ok(Some(Self {
            node,
            members: members.clone(),
            status: members.status(status),
            claim: Some(claim),
        }))
    }

    /// Returns the source, tag and length of the message.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// Receives the message to the front of `elements`.
    ///
    /// # Errors
    ///
    /// As for [`Rank::recv`].
    pub fn recv<E: Element>(mut self, elements: &mut [E]) -> Result<Status, Error> {
        match self.claim.take() {
            Some(claim) => {
                let received = self.node.receive_into(
                    Wanted::Claim(claim),
                    name_of::<E>(),
                    elements.as_mut_bytes(),
                    None,
                    || Ok(()),
                    || Deadline::NEVER,
                    || Error::Cancelled,
                    None,
                );
                self.members.result(received)
            }
            None => Ok(self.status),
        }
    }

    /// Receives the message to a vector of its elements.
    ///
    /// # Errors
    ///
    /// As for [`Rank::recv_vec`].
    pub fn recv_vec<E: Element>(mut self) -> Result<(Vec<E>, Status), Error> {
        if let Some(claim) = self.claim.take() {
            // The other rank may have announced any length.
            let claimed = self
                .node
                .with(|state, deferred| state.claim_to_allocate(claim, deferred));
            self.claim = Some(claimed.map_err(|error| self.members.error(error))?);
        }
        let count = self.status.len::<E>();
        // The system provides the memory as the payload arrives, because nothing else is written.
        let zeroed = E::new_vec_zeroed(count);
        let mut elements = zeroed.map_err(|_| self.out_of_memory())?;
        let status = self.recv(&mut elements)?;
        Ok((elements, status))
    }

    #[cold]
    fn out_of_memory(&self) -> Error {
        Error::NoBuffer {
            length: self.status.bytes,
            source: PoolError::System {
                wanted: self.status.len::<u8>(),
                source: io::ErrorKind::OutOfMemory.into(),
            },
        }
    }

    /// Receives the message in a jbuf.
    ///
    /// # Errors
    ///
    /// As for [`Buffers::recv`](super::Buffers::recv).
    pub fn recv_buffer(self) -> Result<RankMessage, Error> {
        Ok(self.irecv().wait()?)
    }

    /// Posts a receive of the message into a jbuf of the pool. Tasks use this, because they must
    /// not block.
    pub fn irecv(mut self) -> RecvRequest {
        let claim = self.claim.take();
        let id = claim.map(|claim| {
            self.node.with(|state, deferred| {
                state.post_claimed(claim, ReceiveTarget::Pool, ElementName::BYTES, deferred)
            })
        });
        RecvRequest::new(self.node.clone(), self.members.clone(), id)
    }
}

impl Drop for Probed {
    fn drop(&mut self) {
        if let Some(claim) = self.claim.take() {
            self.node
                .with(|state, deferred| state.restore(claim, deferred));
        }
    }
}

impl fmt::Debug for Probed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probed")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}
