//! Sending and receiving of objects between ranks.

use jstream::{Erased, Received, Transportable};

use super::error::{ElementName, Error};
use super::local::PostOutcome;
use super::member::Rank;
use super::names::{Destination, Source, Status, Tag};
use super::request::ReceiveTarget;
use super::requests::{RecvObjectRequest, SendRequest};
use super::transfer::offers::SendMode;
use jstream_device::connection::Payload;

/// Transfer of objects; see [`Rank::objects`].
///
/// An object is sent with everything that it reaches, as a message that the receiver reads in
/// place. There are also [collective operations](#collective-operations-on-objects).
#[derive(Debug, Clone, Copy)]
pub struct Objects<'r> {
    pub(super) rank: &'r Rank,
}

impl Objects<'_> {
    /// Sends an object and everything that it reaches. Returns when the object may be changed
    /// again.
    ///
    /// ```
    /// use jstream_transport::rank;
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// ranks[1].objects().send(0, 7, &vec!["one".to_owned(), "two".to_owned()])?;
    /// let (words, status) = ranks[0].objects().recv::<Vec<String>>(1, 7)?;
    /// assert_eq!((status.source, &*words.get()[1]), (1, "two"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn send<T: Transportable>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        object: &T,
    ) -> Result<(), Error> {
        self.isend(to, tag, object).wait()?;
        Ok(())
    }

    /// Writes an object and everything that it reaches, and posts the message. The object may be
    /// changed when this returns. An error of the write is the outcome of the request.
    ///
    /// ```
    /// use jstream_transport::rank;
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// let receive = ranks[0].objects().irecv::<Vec<String>>(1, 7);
    /// let send = ranks[1].objects().isend(0, 7, &vec!["one".to_owned(), "two".to_owned()]);
    /// let (words, status) = receive.wait()?;
    /// assert_eq!((status.source, &*words.get()[1]), (1, "two"));
    /// send.wait()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn isend<T: Transportable>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        object: &T,
    ) -> SendRequest {
        let (node, members) = (self.rank.node(), self.rank.members());
        let post = |to| {
            let to = members.in_node(to);
            let written = node
                .pool_for(to)
                .and_then(|pool| node.write_object(object, pool));
            match written {
                Ok(filled) => {
                    node.post_buffer(to, self.rank.label::<u8>(tag), filled, SendMode::Standard)
                }
                Err(error) => PostOutcome::Refused(error, None),
            }
        };
        let posted = match to.into() {
            Destination::Rank(to) => post(to),
            Destination::Null => PostOutcome::Done,
        };
        SendRequest::new(node.clone(), members.clone(), posted)
    }

    /// Posts a receive of an object, which is read when the outcome is taken. The outcome is that
    /// of [`recv`](Self::recv).
    pub fn irecv<T: Transportable + 'static>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> RecvObjectRequest<T> {
        let node = self.rank.node();
        let id = self.rank.pattern(from, tag).map(|pattern| {
            let (target, expected) = (ReceiveTarget::Pool, ElementName::BYTES);
            node.with(|state, deferred| state.post(pattern, target, expected, deferred))
        });
        RecvObjectRequest::new(node.clone(), self.rank.members().clone(), id)
    }

    /// Forwards a received object. Between threads, and over `inproc`, the object moves as it is,
    /// and a receiver of the same type gets it without reading it again. Otherwise, it is converted
    /// back to a message.
    ///
    /// # Errors
    ///
    /// [`Error`]; the object is lost.
    pub fn forward<T>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        received: Received<T>,
    ) -> Result<(), Error>
    where
        T: Transportable + 'static,
        Received<T>: Send,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let Destination::Rank(to) = to.into() else {
            return Ok(());
        };
        let object = Payload::Object(Erased::new(received));
        let (node, members) = (self.rank.node(), self.rank.members());
        let posted = node.post_object(members.in_node(to), self.rank.label::<u8>(tag), object);
        let posted = posted.map_err(|error| members.error(error))?;
        SendRequest::new(node.clone(), members.clone(), posted).wait()?;
        Ok(())
    }

    /// Blocks until a message arrives, and reads the object in it.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if the message is not a `T`; it is dropped. Otherwise as for
    /// [`Rank::recv`].
    pub fn recv<T: Transportable + 'static>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Received<T>, Status), Error> {
        let node = self.rank.node();
        let Some(pattern) = self.rank.pattern(from, tag) else {
            return Err(Error::null_source("object"));
        };
        let received = node.receive_payload(pattern);
        let (status, payload) = received.map_err(|error| self.rank.members().error(error))?;
        node.object_of(self.rank.members().status(status), payload)
    }
}
