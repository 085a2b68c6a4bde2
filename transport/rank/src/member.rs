//! The public handle of a rank.

use std::sync::Arc;
use std::time::Duration;
use std::{fmt, slice};

use jstream::buffer::{EmptyBuffer, MessageBuffer};
use zerocopy::IntoBytes;

use super::communicator::{Communicator, Members};
use super::element::{Element, descriptor, name_of};
use super::error::{ElementName, Error, Unsent};
use super::letter::SendMode;
use super::local::PostOutcome;
use super::names::{Destination, Source, Status, Tag, pattern};
use super::node::{Link, Node};
use super::receiving::Wanted;
use super::request::ReceiveTarget;
use super::requests::{RankMessage, RecvRequest, SendRequest};
use super::state::RankState;
use super::wire::Label;
use jstream_collective::Algorithm;
use jstream_device::deadline::Deadline;
use jstream_matching::Pattern;

/// A member of a group, in one context. It sends to the other members, and receives what they send
/// in the same context.
///
/// A clone is cheap, and any number of threads may use the rank. The rank ends when the last clone
/// and the last request are dropped. The other ranks then learn that it is [gone](Error::PeerGone),
/// after they have received what it sent.
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

    /// Ends sending to all connected ranks, and blocks until they have done so too or are gone. So
    /// everything that was sent is received before the process ends, and no connection is reset.
    /// Messages that arrive meanwhile are queued as usual.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if one of the ranks is still connected after `timeout`, or has no room
    /// for a posted message. [`Error::NotSent`] if a posted message can't be sent.
    pub fn finish(&self, timeout: Duration) -> Result<(), Error> {
        let deadline = Deadline::after(timeout);
        if !self.node.wait_for_credit(deadline) {
            return Err(Error::TimedOut { after: timeout });
        }
        self.node.finish_lines()?;
        let all_gone = |state: &mut RankState| state.peers.connected_are_gone().then_some(());
        let gone = self.node.wait(|| deadline, all_gone);
        gone.ok_or(Error::TimedOut { after: timeout })
    }

    /// Returns the maximum length in bytes of an eager message to `rank`. The payload of a longer
    /// message is sent when a receive requests it. `None` if there is no such rank. If there is no
    /// connection to the rank yet, this connects to it.
    #[must_use]
    pub fn eager(&self, rank: u32) -> Option<u64> {
        match self.node.link(self.members().in_node(rank)).ok()? {
            Link::Line(line) => Some(line.eager),
            Link::Thread(_) => Some(self.node.inbox.options.eager_between_threads()),
        }
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

    /// Sends `elements`. Returns when they may be changed again, which may be before the message is
    /// received. A message longer than [`eager`](Self::eager) waits for its receive.
    ///
    /// # Errors
    ///
    /// [`Error`]: for example, if there is no such rank, or it has ended.
    #[inline]
    pub fn send<E: Element>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &[E],
    ) -> Result<(), Error> {
        self.send_now(to.into(), tag, elements, SendMode::Standard)
    }

    /// Like [`send`](Self::send), but returns when a receive has the message, or is about to.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn ssend<E: Element>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &[E],
    ) -> Result<(), Error> {
        self.send_now(to.into(), tag, elements, SendMode::Confirmed)
    }

    #[inline]
    fn send_now<E: Element>(
        &self,
        to: Destination,
        tag: u64,
        elements: &[E],
        mode: SendMode,
    ) -> Result<(), Error> {
        match to {
            Destination::Rank(to) => {
                let label = self.label::<E>(tag);
                let bytes = elements.as_bytes();
                let sent = self
                    .node
                    .send_bytes(self.members().in_node(to), label, bytes, mode);
                sent.map_err(|error| self.members().error(error))
            }
            Destination::Null => Ok(()),
        }
    }

    /// Blocks until a message arrives and copies it to the front of `elements`. The status contains
    /// its length.
    ///
    /// # Errors
    ///
    /// If the message does not fit, [`Error::Truncated`] or [`Error::WrongElements`]; only that
    /// message is dropped. Any other error says why no message can arrive.
    #[inline]
    pub fn recv<E: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &mut [E],
    ) -> Result<Status, Error> {
        self.recv_until(from, tag, elements, None)
    }

    /// Like [`recv`](Self::recv), for at most `timeout`. If a message has begun to arrive by then,
    /// the call waits for the rest of it. A message that was only announced is left for another
    /// receive.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if no message has begun to arrive in time.
    pub fn recv_timeout<E: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &mut [E],
        timeout: Duration,
    ) -> Result<Status, Error> {
        self.recv_until(from, tag, elements, Some(timeout))
    }

    #[inline]
    fn recv_until<E: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &mut [E],
        timeout: Option<Duration>,
    ) -> Result<Status, Error> {
        let Some(pattern) = self.pattern(from, tag) else {
            return Ok(Status::NULL);
        };
        let memory = elements.as_mut_bytes();
        let received = self
            .node
            .receive_bytes(pattern, name_of::<E>(), memory, timeout);
        self.members().result(received)
    }

    /// Sends one value, as a message of one element.
    ///
    /// ```
    /// use jstream_transport::rank;
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// ranks[1].send_value(0, 7, 2.5)?;
    /// let (number, status) = ranks[0].recv_value::<f64>(1, 7)?;
    /// assert_eq!((number, status.source), (2.5, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error`].
    #[inline]
    pub fn send_value<E: Element>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        value: E,
    ) -> Result<(), Error> {
        self.send(to, tag, slice::from_ref(&value))
    }

    /// Blocks until a message arrives, and returns the one value in it.
    ///
    /// # Errors
    ///
    /// [`Error::TooShort`], [`Error::Truncated`] or [`Error::WrongElements`] if the message is not
    /// one value of this type; only that message is dropped. [`Error::PeerGone`] for
    /// [`Source::Null`], which sends no value. Otherwise as for [`recv`](Self::recv).
    #[inline]
    pub fn recv_value<E: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(E, Status), Error> {
        let from = from.into();
        if from == Source::Null {
            return Err(Error::null_source("value"));
        }
        let mut value = E::new_zeroed();
        let status = self.recv(from, tag, slice::from_mut(&mut value))?;
        let size = size_of::<E>() as u64;
        if status.bytes < size {
            return Err(Error::TooShort {
                length: status.bytes,
                size,
                rank: status.source,
                tag: status.tag,
            });
        }
        Ok((value, status))
    }

    /// Blocks until a message arrives, and returns its elements in a vector of their number. The
    /// length is bounded by [`Options::max_message`](jstream_base::Options::max_message), and
    /// between threads by what the sender has. [`recv`](Self::recv) takes longer messages.
    ///
    /// ```
    /// use jstream_transport::rank::{self, Source};
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// ranks[1].send(0, 7, &[1u32, 2, 3])?;
    /// let (numbers, status) = ranks[0].recv_vec::<u32>(Source::Any, 7)?;
    /// assert_eq!((numbers, status.source), (vec![1, 2, 3], 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::WrongElements`] if the elements have another type, and [`Error::Truncated`] if
    /// untyped bytes end within an element; only that message is dropped. [`Error::OverLimit`] if
    /// the message is too long. Otherwise as for [`recv`](Self::recv).
    pub fn recv_vec<E: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Vec<E>, Status), Error> {
        self.probe(from, tag)?.recv_vec()
    }

    /// Sends `sent` and receives into `elements` at the same time. Ranks that exchange messages in
    /// pairs or in a ring in this way don't deadlock.
    ///
    /// # Errors
    ///
    /// [`Error`] of the part that failed. If the message can't be sent, the receive is cancelled; a
    /// message that it has by then is lost.
    pub fn sendrecv<E: Element, F: Element>(
        &self,
        to: impl Into<Destination>,
        send_tag: u64,
        sent: &[E],
        from: impl Into<Source>,
        recv_tag: impl Into<Tag>,
        elements: &mut [F],
    ) -> Result<Status, Error> {
        let sending = || self.send(to, send_tag, sent);
        match self.pattern(from, recv_tag) {
            Some(pattern) => {
                let received = self.node.receive_into(
                    Wanted::Pattern(pattern),
                    name_of::<F>(),
                    elements.as_mut_bytes(),
                    None,
                    sending,
                    || Deadline::NEVER,
                    || Error::Cancelled,
                    None,
                );
                self.members().result(received)
            }
            None => sending().map(|()| Status::NULL),
        }
    }

    /// Sends a jbuf, and blocks until it has been sent. Between threads, and over `inproc`, the
    /// jbuf itself is moved.
    ///
    /// # Errors
    ///
    /// [`Unsent`] returns the jbuf, if it was not sent.
    pub fn send_buffer(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: MessageBuffer,
    ) -> Result<(), Unsent> {
        self.isend(to, tag, filled).wait().map(drop)
    }

    /// Blocks until a message arrives, and returns it in a jbuf.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn recv_buffer(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<RankMessage, Error> {
        let Some(pattern) = self.pattern(from, tag) else {
            return Ok(RankMessage::NOTHING);
        };
        let received = self.node.receive_payload(pattern);
        let (status, payload) = received.map_err(|error| self.members().error(error))?;
        let payload = self.node.bytes_of(payload)?;
        Ok(RankMessage::new(self.members().status(status), payload))
    }

    /// Posts a jbuf to be sent. Its bytes agree with a receive of any element type.
    pub fn isend(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: MessageBuffer,
    ) -> SendRequest {
        self.post_send(to.into(), self.label::<u8>(tag), filled, SendMode::Standard)
    }

    /// Like [`isend`](Self::isend), for elements whose type the receive has to name. The jbuf must
    /// contain elements of this type.
    pub fn isend_of<E: Element>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: MessageBuffer,
    ) -> SendRequest {
        self.post_send(to.into(), self.label::<E>(tag), filled, SendMode::Standard)
    }

    /// Like [`isend`](Self::isend), but the request ends when a receive has the message.
    pub fn issend(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: MessageBuffer,
    ) -> SendRequest {
        self.post_send(
            to.into(),
            self.label::<u8>(tag),
            filled,
            SendMode::Confirmed,
        )
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

    /// Posts a receive into a jbuf of the pool, which is taken when the length of the message is
    /// known.
    pub fn irecv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> RecvRequest {
        let pattern = self.pattern(from, tag);
        self.post_recv(pattern, ReceiveTarget::Pool, ElementName::BYTES)
    }

    /// Like [`irecv`](Self::irecv), with a jbuf to receive into. If the message arrives in a jbuf
    /// of its own, it stays there, and this one is returned to its pool.
    pub fn irecv_into(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        empty: EmptyBuffer,
    ) -> RecvRequest {
        let pattern = self.pattern(from, tag);
        self.post_recv(pattern, ReceiveTarget::Jbuf(empty), ElementName::BYTES)
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
