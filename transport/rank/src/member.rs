//! The public handle of a rank.

use std::fmt;
use std::sync::Arc;

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::communicator::{Communicator, Members};
use super::element::{Element, descriptor};
use super::error::ElementName;
use super::local::PostOutcome;
use super::names::{Destination, Source, Tag, pattern};
use super::node::Node;
use super::request::ReceiveTarget;
use super::requests::{RecvRequest, SendRequest};
use super::transfer::offers::SendMode;
use super::wire::Label;
use jstream_collective::Algorithm;
use jstream_matching::Pattern;

/// A member of a group, in one context. It sends to the other members, and receives what they send
/// in the same context.
///
/// A clone is cheap, and any number of threads may use the rank. The rank ends when the last clone
/// and the last request are dropped. The other ranks then learn that it is
/// [gone](super::Error::PeerGone), after they have received what it sent.
///
/// Blocking calls drive everything that the rank has posted, on all its connections. Nothing
/// progresses between calls. The [module](super) has an overview.
#[derive(Clone)]
pub struct Rank {
    node: Arc<Node>,
    context: u32,
    communicator: Arc<Communicator>,
    /// The algorithm of collective operations, if it was chosen.
    algorithm: Option<Algorithm>,
}

impl Rank {
    pub(super) fn new(node: Arc<Node>, context: u32, members: Members) -> Self {
        let communicator = Arc::new(Communicator::new(members));
        // Known to the node, so that a revocation by a rank that is no member is recognized, and
        // receives from any source know who can send.
        node.add_communicator(context, &communicator);
        Self {
            node,
            context,
            communicator,
            algorithm: None,
        }
    }

    /// Returns this rank in another communicator.
    pub(super) fn with_members(&self, context: u32, members: Members) -> Self {
        Self {
            algorithm: self.algorithm,
            ..Self::new(self.node.clone(), context, members)
        }
    }

    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        self.algorithm
    }

    /// Returns a handle whose collective operations use an algorithm, or the default ones.
    pub(super) fn choosing(&self, algorithm: Option<Algorithm>) -> Self {
        Self {
            algorithm,
            ..self.clone()
        }
    }

    pub(super) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    pub(super) fn communicator(&self) -> &Communicator {
        &self.communicator
    }

    #[inline]
    pub(super) fn members(&self) -> &Members {
        &self.communicator.members
    }

    /// Returns the number of this rank, counted from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        match self.members().position() {
            Some((own, _)) => own,
            None => self.node.inbox.rank,
        }
    }

    /// Returns the number of ranks in the group.
    #[must_use]
    pub fn size(&self) -> u32 {
        match self.members().position() {
            Some((_, size)) => size,
            None => self.node.inbox.size,
        }
    }

    /// Returns the number of the context. This handle does not receive messages of other contexts.
    #[must_use]
    pub fn context(&self) -> u32 {
        self.context
    }

    pub(super) fn label<E: Element>(&self, tag: u64) -> Label {
        Label {
            context: self.context,
            tag,
            descriptor: descriptor::<E>(),
        }
    }

    pub(super) fn pattern(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Option<Pattern> {
        let source = self.members().source(source.into());
        pattern(self.context, source, tag.into())
    }

    pub(super) fn post_send(
        &self,
        to: Destination,
        label: Label,
        filled: MessageBuffer,
        mode: SendMode,
    ) -> SendRequest {
        let posted = match to {
            Destination::Null => PostOutcome::Done,
            Destination::Rank(to) => {
                let to = self.members().in_node(to);
                self.node.post_buffer(to, label, filled, mode)
            }
        };
        SendRequest::new(self.node.clone(), self.members().clone(), posted)
    }

    pub(super) fn post_recv(
        &self,
        pattern: Option<Pattern>,
        place: ReceiveTarget,
        expected: ElementName,
    ) -> RecvRequest {
        let id = pattern.map(|pattern| {
            self.node
                .with(|state, deferred| state.post(pattern, place, expected, deferred))
        });
        RecvRequest::new(self.node.clone(), self.members().clone(), id)
    }

    /// Returns a message of these bytes.
    pub(super) fn message_of(&self, bytes: &[u8]) -> MessageBuffer {
        let empty = self.node().inbox.pool().take(bytes.len());
        let empty = empty.unwrap_or_else(|_| EmptyBuffer::heap(bytes.len()));
        match empty.copy_from(bytes) {
            Ok(filled) => filled,
            Err(_) => unreachable!("the jbuf has room for the bytes"),
        }
    }
}

impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rank")
            .field("rank", &self.rank())
            .field("size", &self.size())
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
