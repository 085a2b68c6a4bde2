//! A rank, as programs use it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jstream::Writer;
use jstream::buffer::{Filled, Spent};
use zerocopy::IntoBytes;

use super::element::{Element, descriptor, name_of};
use super::error::{ElementName, Error, Unsent};
use super::lent::Wanted;
use super::local::Posted;
use super::names::{Destination, Source, Status, Tag, pattern};
use super::node::{Link, Node};
use super::request::Place;
use super::requests::{RankMessage, RecvRequest, SendRequest};
use super::wire::Label;
use crate::device::connection::Payload;
use crate::device::deadline::Deadline;
use crate::matching::Pattern;

/// A member of a group, in one context: sends to the others, and receives what they send to it in the same
/// context.
///
/// It is cheap to clone, and any number of threads may use it. The rank ends when the last clone and the last
/// request is dropped: the others then learn that it is [gone](Error::PeerGone), when they have received what
/// it sent.
///
/// Calls that wait carry on everything that the rank has posted, on all its connections; nothing else goes on
/// by itself. The [module](super) has an overview.
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

    /// Its number, from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.node.inbox.rank
    }

    /// How many members the group has.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.node.inbox.size
    }

    /// The number of the context: messages of other contexts are not for this handle.
    #[must_use]
    pub fn context(&self) -> u32 {
        self.context
    }

    /// The same rank in a new context, which no message of another one gets into: for a library that wants
    /// to be left alone.
    ///
    /// Nothing is sent. All members have to do it, in the same order, as contexts are counted.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        let context = self.node.contexts.fetch_add(1, Ordering::Relaxed);
        Self::new(self.node.clone(), context)
    }

    /// Says to the ranks that it is connected to that nothing more is sent, and waits until they have said
    /// so too, or have gone: so that what was sent is received before the process ends, and no connection is
    /// reset. What comes meanwhile waits as usual.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] when one of them is still there then, or has no room for what was posted, and
    /// [`Error::NotSent`] when what was posted
    /// does not get away.
    pub fn finish(&self, timeout: Duration) -> Result<(), Error> {
        let deadline = Deadline::after(timeout);
        if !self.node.wait_for_credit(deadline) {
            return Err(Error::TimedOut { after: timeout });
        }
        self.node.finish_lines()?;
        let all_gone = |state: &mut super::state::State| state.lines_are_gone().then_some(());
        let gone = self.node.wait(|| deadline, all_gone);
        gone.ok_or(Error::TimedOut { after: timeout })
    }

    /// Up to which length messages to `rank` travel at once, in bytes; longer ones are announced, and come
    /// when they are wanted. `None` if there is no such rank.
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

    /// Sends `elements`. Returns when they may be changed again: the message may still wait to be received.
    /// A message longer than [`eager`](Self::eager) waits for its receive.
    ///
    /// # Errors
    ///
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

    /// As [`send`](Self::send), but returns when a receive has the message, or is about to.
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

    /// Waits for a message and puts it at the front of `elements`. The status says how many there are.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] and [`Error::WrongElements`] say that the message did not fit; it is gone, and
    /// nothing else. Else why none can come.
    #[inline]
    pub fn recv<E: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &mut [E],
    ) -> Result<Status, Error> {
        self.recv_until(from, tag, elements, None)
    }

    /// As [`recv`](Self::recv), for so long at most. A message that has begun to arrive by then is waited for; one that
    /// was only announced stays for another receive.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] then.
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

    /// Sends `sent` and receives to `elements`, both at once: ranks that do so with each other, or in a
    /// circle, don't wait for each other.
    ///
    /// # Errors
    ///
    /// [`Error`], of whichever failed. The receive is taken back when the message is not sent; a message that
    /// it has by then is gone.
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

    /// Sends a jbuf, and waits until it is on its way. Between threads, and inside the process, the jbuf
    /// itself moves.
    ///
    /// # Errors
    ///
    /// [`Unsent`] gives the jbuf back, if it has not gone.
    pub fn send_filled(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: Filled,
    ) -> Result<(), Unsent> {
        self.isend(to, tag, filled).wait().map(drop)
    }

    /// Waits for a message, in a jbuf.
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

    /// Posts a jbuf to be sent. Its bytes agree with a receive of any type.
    pub fn isend(&self, to: impl Into<Destination>, tag: u64, filled: Filled) -> SendRequest {
        self.post_send(to.into(), self.label::<u8>(tag), filled, false)
    }

    /// As [`isend`](Self::isend), of elements whose type the receive has to name; the jbuf has to be one of
    /// theirs.
    pub fn isend_of<E: Element>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: Filled,
    ) -> SendRequest {
        self.post_send(to.into(), self.label::<E>(tag), filled, false)
    }

    /// As [`isend`](Self::isend), but the request ends when a receive has the message.
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
            Destination::Null => Posted::Done,
            Destination::Rank(to) => self.node.post_filled(to, label, filled, confirmed),
        };
        SendRequest::new(self.node.clone(), posted)
    }

    /// Posts a receive into a jbuf of the pool, which is taken when the message's length is known.
    pub fn irecv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> RecvRequest {
        let pattern = self.pattern(from, tag);
        self.post_recv(pattern, Place::Pool, ElementName::BYTES)
    }

    /// As [`irecv`](Self::irecv), into a jbuf. Where the message comes in a jbuf already, it stays there, and
    /// this one goes back to its pool.
    pub fn irecv_into(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        spent: Spent,
    ) -> RecvRequest {
        let pattern = self.pattern(from, tag);
        self.post_recv(pattern, Place::Jbuf(spent), ElementName::BYTES)
    }

    pub(super) fn post_recv(
        &self,
        pattern: Option<Pattern>,
        place: Place,
        expected: ElementName,
    ) -> RecvRequest {
        let id = pattern.map(|pattern| {
            self.node
                .with(|state, todo| state.post(pattern, place, expected, todo))
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

    /// The bytes of a message: an object becomes one again.
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
