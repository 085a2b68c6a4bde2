//! Sends and receives of messages in jbufs.

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::element::Element;
use super::error::{ElementName, Error, Unsent};
use super::member::Rank;
use super::names::{Destination, Source, Tag};
use super::persistent::{PersistentRecv, PersistentSend};
use super::request::ReceiveTarget;
use super::requests::{RankMessage, RecvRequest, SendRequest};
use super::transfer::offers::SendMode;

/// Transfer of messages in jbufs; see [`Rank::buffers`].
#[derive(Debug, Clone, Copy)]
pub struct Buffers<'r> {
    pub(super) rank: &'r Rank,
}

impl Buffers<'_> {
    /// Sends a jbuf, and blocks until it has been sent. Between threads, and over `inproc`, the
    /// jbuf itself is moved.
    ///
    /// # Errors
    ///
    /// [`Unsent`] returns the jbuf, if it was not sent.
    pub fn send(
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
    pub fn recv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<RankMessage, Error> {
        let Some(pattern) = self.rank.pattern(from, tag) else {
            return Ok(RankMessage::NOTHING);
        };
        let received = self.rank.node().receive_payload(pattern);
        let (status, payload) = received.map_err(|error| self.rank.members().error(error))?;
        let payload = self.rank.node().bytes_of(payload)?;
        Ok(RankMessage::new(
            self.rank.members().status(status),
            payload,
        ))
    }

    /// Posts a jbuf to be sent. Its bytes agree with a receive of any element type.
    pub fn isend(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: MessageBuffer,
    ) -> SendRequest {
        self.rank.post_send(
            to.into(),
            self.rank.label::<u8>(tag),
            filled,
            SendMode::Standard,
        )
    }

    /// Like [`isend`](Self::isend), for elements whose type the receive has to name. The jbuf must
    /// contain elements of this type.
    pub fn isend_of<E: Element>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: MessageBuffer,
    ) -> SendRequest {
        self.rank.post_send(
            to.into(),
            self.rank.label::<E>(tag),
            filled,
            SendMode::Standard,
        )
    }

    /// Like [`isend`](Self::isend), but the request ends when a receive has the message.
    pub fn issend(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: MessageBuffer,
    ) -> SendRequest {
        self.rank.post_send(
            to.into(),
            self.rank.label::<u8>(tag),
            filled,
            SendMode::Confirmed,
        )
    }

    /// Posts a receive into a jbuf of the pool, which is taken when the length of the message is
    /// known.
    pub fn irecv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> RecvRequest {
        let pattern = self.rank.pattern(from, tag);
        self.rank
            .post_recv(pattern, ReceiveTarget::Pool, ElementName::BYTES)
    }

    /// Like [`irecv`](Self::irecv), with a jbuf to receive into. If the message arrives in a jbuf
    /// of its own, it stays there, and this one is returned to its pool.
    pub fn irecv_into(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        empty: EmptyBuffer,
    ) -> RecvRequest {
        let pattern = self.rank.pattern(from, tag);
        self.rank
            .post_recv(pattern, ReceiveTarget::Jbuf(empty), ElementName::BYTES)
    }

    /// Returns a receive into `empty`, which can be started any number of times.
    ///
    /// ```
    /// use jstream::EmptyBuffer;
    /// use jstream_transport::rank;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// let mut sending = ranks[1].buffers().send_init(0, 7, EmptyBuffer::heap(8).copied_from(&[0u64])?);
    /// let mut receiving = ranks[0].buffers().recv_init(1, 7, EmptyBuffer::heap(8));
    /// for turn in 0..3u64 {
    ///     receiving.start();
    ///     sending.message_mut().view_mut::<u64>()?[0] = turn;
    ///     sending.start()?;
    ///     receiving.wait()?;
    ///     assert_eq!(receiving.message().unwrap().view::<u64>()?, [turn]);
    ///     sending.wait()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_init(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        empty: EmptyBuffer,
    ) -> PersistentRecv {
        PersistentRecv::new(self.rank.clone(), self.rank.pattern(from, tag), empty)
    }

    /// Returns a send of a message, which can be started any number of times. Each start sends a
    /// copy of the message, because sending would move the jbuf.
    pub fn send_init(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        filled: MessageBuffer,
    ) -> PersistentSend {
        PersistentSend::new(self.rank.clone(), to.into(), tag, filled)
    }
}
