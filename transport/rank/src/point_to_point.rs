//! Operations of a rank: sends and receives of borrowed elements, and the other families.

use std::slice;
use std::time::Duration;

use zerocopy::IntoBytes;

use super::buffers::Buffers;
use super::element::{Element, name_of};
use super::error::Error;
use super::layout::transfer::Layouts;
use super::member::Rank;
use super::names::{Destination, Source, Status, Tag};
use super::node::Link;
use super::object::Objects;
use super::probe::Probed;
use super::receiving::Wanted;
use super::revocation::Recovery;
use super::scope::{self, Scope};
use super::state::RankState;
use super::transfer::offers::SendMode;
use jstream_device::deadline::Deadline;

impl Rank {
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
        if !self.node().wait_for_credit(deadline) {
            return Err(Error::TimedOut { after: timeout });
        }
        self.node().finish_lines()?;
        let all_gone = |state: &mut RankState| state.peers.connected_are_gone().then_some(());
        let gone = self.node().wait(|| deadline, all_gone);
        gone.ok_or(Error::TimedOut { after: timeout })
    }

    /// Returns the maximum length in bytes of an eager message to `rank`. The payload of a longer
    /// message is sent when a receive requests it. `None` if there is no such rank. If there is no
    /// connection to the rank yet, this connects to it.
    #[must_use]
    pub fn eager(&self, rank: u32) -> Option<u64> {
        match self.node().link(self.members().in_node(rank)).ok()? {
            Link::Line(line) => Some(line.eager),
            Link::Thread(_) => Some(self.node().inbox.eager_between_threads),
        }
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
                    .node()
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
            .node()
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
    /// length is bounded by the `bytes` of
    /// [`Options::object_limits`](super::Options::object_limits). [`recv`](Self::recv) takes longer
    /// messages.
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
    /// the message is too long. [`Error::NoBuffer`] if the system has no memory for it; the message
    /// can be received again. Otherwise as for [`recv`](Self::recv).
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
                let received = self.node().receive_into(
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

    /// Blocks until a message matches, without receiving it. Returns a handle that receives exactly
    /// that message, so concurrent probes of several threads get different messages.
    ///
    /// ```
    /// use jstream_transport::rank::{self, Source, Tag};
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// ranks[1].send(0, 7, &[1u64, 2, 3])?;
    /// let found = ranks[0].probe(Source::Any, Tag::Any)?;
    /// assert_eq!(found.status().len::<u64>(), 3);
    /// let (numbers, _) = found.recv_vec::<u64>()?;
    /// assert_eq!(numbers, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error`], if no message can come.
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<Probed, Error> {
        let found = Probed::find(self, from.into(), tag.into(), Deadline::NEVER)?;
        found.ok_or(Error::Cancelled)
    }

    /// Like [`probe`](Self::probe), for at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if no message matches in time.
    pub fn probe_timeout(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        timeout: Duration,
    ) -> Result<Probed, Error> {
        let found = Probed::find(self, from.into(), tag.into(), Deadline::after(timeout))?;
        found.ok_or(Error::TimedOut { after: timeout })
    }

    /// Returns the message that a receive would get, if one is queued.
    ///
    /// # Errors
    ///
    /// [`Error`], if none is queued and none can come.
    pub fn iprobe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Option<Probed>, Error> {
        let now = Deadline::after(Duration::ZERO);
        Probed::find(self, from.into(), tag.into(), now)
    }

    /// Runs `work`, which may post memory that it borrows from outside the scope. Returns when all
    /// of it has been sent or received. If `work` panics, receives without a message are cancelled,
    /// and so are messages that no receive has. Posted collective operations fail then.
    ///
    /// ```
    /// use jstream_transport::rank;
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let mut ranks = rank::threads(2, &rank::Options::default());
    /// let (one, zero) = (ranks.pop().unwrap(), ranks.pop().unwrap());
    /// let (mut left, mut right) = ([0u32; 2], [0u32; 2]);
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| {
    ///         one.send(0, 1, &[1u32, 2]).unwrap();
    ///         one.send(0, 2, &[3u32, 4]).unwrap();
    ///     });
    ///     zero.scope(|scope| {
    ///         let second = scope.irecv(1, 2, &mut right);
    ///         let first = scope.irecv(1, 1, &mut left);
    ///         second.wait()?;
    ///         first.wait()
    ///     })
    /// })?;
    /// assert_eq!((left, right), ([1, 2], [3, 4]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'env, R>(
        &'env self,
        work: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        scope::run(self, work)
    }

    /// Returns the operations on messages in jbufs, whose memory is not borrowed: blocking,
    /// posted, async and persistent ones.
    #[must_use]
    pub fn buffers(&self) -> Buffers<'_> {
        Buffers { rank: self }
    }

    /// Returns the operations on objects with pointers, text or enums.
    #[must_use]
    pub fn objects(&self) -> Objects<'_> {
        Objects { rank: self }
    }

    /// Returns the operations on elements that a [`Layout`](super::Layout) selects.
    #[must_use]
    pub fn layouts(&self) -> Layouts<'_> {
        Layouts { rank: self }
    }

    /// Returns the operations with which the members that are left continue after a failure.
    #[must_use]
    pub fn recovery(&self) -> Recovery<'_> {
        Recovery { rank: self }
    }
}
