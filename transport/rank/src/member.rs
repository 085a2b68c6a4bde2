//! The public handle of a rank.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jstream::Writer;
use jstream::buffer::{Filled, Spent};
use zerocopy::IntoBytes;

use super::borrowed_send::Wanted;
use super::element::{Element, descriptor, name_of};
use super::error::{ElementName, Error, Unsent};
use super::local::PostOutcome;
use super::names::{Destination, Source, Status, Tag, pattern};
use super::node::{Link, Node};
use super::request::ReceiveTarget;
use super::requests::{RankMessage, RecvRequest, SendRequest};
use super::wire::Label;
use jstream_device::connection::Payload;
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
}

impl Rank {
    pub(super) fn new(node: Arc<Node>, context: u32) -> Self {
        Self { node, context }
    }

    pub(super) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// Returns the number of this rank, counted from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.node.inbox.rank
    }

    /// Returns the number of ranks in the group.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.node.inbox.size
    }

    /// Returns the number of the context. This handle does not receive messages of other contexts.
    #[must_use]
    pub fn context(&self) -> u32 {
        self.context
    }

    /// Returns this rank in a new context, which is isolated from the messages of all other
    /// contexts. Libraries use it to keep their messages apart from those of the program.
    ///
    /// No message is sent. Contexts are numbered in order, so all members have to make these calls
    /// in the same order.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        let context = self.node.contexts.fetch_add(1, Ordering::Relaxed);
        Self::new(self.node.clone(), context)
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
        let all_gone = |state: &mut super::state::RankState| state.lines_are_gone().then_some(());
        let gone = self.node.wait(|| deadline, all_gone);
        gone.ok_or(Error::TimedOut { after: timeout })
    }

    /// Returns the maximum length in bytes of an eager message to `rank`. The payload of a longer
    /// message is sent when a receive requests it. `None` if there is no such rank.
    #[must_use]
    pub fn eager(&self, rank: u32) -> Option<u64> {
        match self.node.link(rank).ok()? {
            Link::Line(line) => Some(line.eager),
            Link::Thread(_) => Some(self.node.inbox.options.eager_between_threads()),
            Link::Nobody => None,
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
        pattern(self.context, source.into(), tag.into())
    }

    /// Sends `elements`. Returns when they may be changed again, which may be before the message is
    /// received. A message longer than [`eager`](Self::eager) waits for its receive.
    ///
    /// # Errors
    ///
    /// [`Error`].
    /// [`Error`].
    #[inline]
    pub fn send<E: Element>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &[E],
    ) -> Result<(), Error> {
        self.send_now(to.into(), tag, elements, false)
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
        self.send_now(to.into(), tag, elements, true)
    }

    #[inline]
    fn send_now<E: Element>(
        &self,
        to: Destination,
        tag: u64,
        elements: &[E],
        confirmed: bool,
    ) -> Result<(), Error> {
        match to {
            Destination::Rank(to) => {
                let label = self.label::<E>(tag);
                let bytes = elements.as_bytes();
                self.node.send_bytes(to, label, bytes, confirmed)
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
        let deadline = timeout.map_or(Deadline::NEVER, Deadline::after);
        let spun = match self
            .node
            .receive_at_once(&pattern, name_of::<E>(), memory, deadline)
        {
            Ok(received) => return received,
            Err(spun) => spun,
        };
        let wanted = Wanted::Pattern(pattern);
        let sends_nothing = || Ok(());
        self.node.receive_into(
            wanted,
            name_of::<E>(),
            memory,
            spun,
            sends_nothing,
            || deadline,
            || timeout.map_or(Error::Cancelled, |after| Error::TimedOut { after }),
        )
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
            Some(pattern) => self.node.receive_into(
                Wanted::Pattern(pattern),
                name_of::<F>(),
                elements.as_mut_bytes(),
                None,
                sending,
                || Deadline::NEVER,
                || Error::Cancelled,
            ),
            None => sending().map(|()| Status::NULL),
        }
    }

    /// Sends a jbuf, and blocks until it has been sent. Between threads, and over `inproc`, the
    /// jbuf itself is moved.
    ///
    /// # Errors
    ///
    /// [`Unsent`] returns the jbuf, if it was not sent.
    pub fn send_filled(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: Filled,
    ) -> Result<(), Unsent> {
        self.isend(to, tag, filled).wait().map(drop)
    }

    /// Blocks until a message arrives, and returns it in a jbuf.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn recv_filled(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<RankMessage, Error> {
        let Some(pattern) = self.pattern(from, tag) else {
            return Ok(RankMessage::NOTHING);
        };
        let (status, payload) = self.node.receive_payload(pattern)?;
        let payload = self.node.bytes_of(payload)?;
        Ok(RankMessage::new(status, payload))
    }

    /// Posts a jbuf to be sent. Its bytes agree with a receive of any element type.
    pub fn isend(&self, to: impl Into<Destination>, tag: u64, filled: Filled) -> SendRequest {
        self.post_send(to.into(), self.label::<u8>(tag), filled, false)
    }

    /// Like [`isend`](Self::isend), for elements whose type the receive has to name. The jbuf must
    /// contain elements of this type.
    pub fn isend_of<E: Element>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: Filled,
    ) -> SendRequest {
        self.post_send(to.into(), self.label::<E>(tag), filled, false)
    }

    /// Like [`isend`](Self::isend), but the request ends when a receive has the message.
    pub fn issend(&self, to: impl Into<Destination>, tag: u64, filled: Filled) -> SendRequest {
        self.post_send(to.into(), self.label::<u8>(tag), filled, true)
    }

    pub(super) fn post_send(
        &self,
        to: Destination,
        label: Label,
        filled: Filled,
        confirmed: bool,
    ) -> SendRequest {
        let posted = match to {
            Destination::Null => PostOutcome::Done,
            Destination::Rank(to) => self.node.post_filled(to, label, filled, confirmed),
        };
        SendRequest::new(self.node.clone(), posted)
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
        spent: Spent,
    ) -> RecvRequest {
        let pattern = self.pattern(from, tag);
        self.post_recv(pattern, ReceiveTarget::Jbuf(spent), ElementName::BYTES)
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
        RecvRequest::new(self.node.clone(), id)
    }
}

impl Node {
    /// Copies a message to memory.
    pub(super) fn put(
        &self,
        status: Status,
        payload: Payload,
        memory: &mut [u8],
    ) -> Result<Status, Error> {
        let filled = self.bytes_of(payload)?;
        match memory.get_mut(..filled.len()) {
            Some(room) => {
                room.copy_from_slice(filled.as_bytes());
                let bytes = filled.len() as u64;
                Ok(Status { bytes, ..status })
            }
            None => Err(Error::Truncated {
                length: filled.len() as u64,
                capacity: memory.len() as u64,
                rank: status.source,
                tag: status.tag,
            }),
        }
    }

    /// Returns the bytes of a message. An object is converted back to its message.
    pub(super) fn bytes_of(&self, payload: Payload) -> Result<Filled, Error> {
        match payload {
            Payload::Bytes(filled) => Ok(filled),
            Payload::Object(object) => object
                .forward(&mut Writer::new(), self.inbox.pool())
                .map(|forwarded| forwarded.message)
                .map_err(|unforwarded| Error::Write(unforwarded.error)),
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
