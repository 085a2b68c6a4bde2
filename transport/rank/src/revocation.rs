//! Revoked communicators.
//!
//! A rank gets to know of a revocation by a frame of another rank, or by a call of a thread of
//! another rank. Both only record it, under the lock of the inbox. The next thread that drives the
//! connections of this rank ends the operations of the communicator
//! ([`Node::finish_pending`]), because this sends frames to several ranks. It also passes the
//! revocation on to all members, so that they get to know of it even if the rank that revoked the
//! communicator has died meanwhile.
//!
//! Decision 093 has the reasons.

use std::sync::Arc;

use super::communicator::{COLLECTIVE, Communicator};
use super::error::Error;
use super::member::Rank;
use super::node::{Link, Node};
use super::wire::Frame;
use jstream_endpoint::ops::OpId;

/// Recovery of a communicator from the failure of members; see [`Rank::recovery`].
#[derive(Debug, Clone, Copy)]
pub struct Recovery<'r> {
    pub(super) rank: &'r Rank,
}

impl Recovery<'_> {
    /// Revokes this communicator: all operations in it fail at all members with
    /// [`Error::Revoked`], those that are pending and all later ones. A rank that has found a
    /// failure calls this, so that members that do not depend on the failed rank stop waiting for
    /// those that do. The members then call [`shrink`](Self::shrink).
    ///
    /// This is not a collective operation. It returns without waiting for the other members. A
    /// member whose threads wait for any operation gets to know of the revocation at once, and any
    /// other member when it next waits. Until then, its operations that need not wait may succeed.
    /// An operation whose message is arriving, or is being sent, ends with that message.
    ///
    /// Messages of the communicator that were not received are dropped. Other communicators, also
    /// those made from this one, are not affected. Only [`agree`](Self::agree) and
    /// [`shrink`](Self::shrink) work in a revoked communicator.
    ///
    /// ```
    /// use jstream_transport::rank::{self, Error, Source, Tag};
    ///
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| ranks[1].recovery().revoke());
    ///     let error = ranks[0].recv(Source::Any, Tag::Any, &mut [0u8]).unwrap_err();
    ///     assert!(matches!(error, Error::Revoked { context: 0, rank: 1 }));
    /// });
    /// assert!(ranks[0].send(1, 7, b"late").is_err());
    /// ```
    pub fn revoke(&self) {
        let (node, own) = (self.rank.node(), self.rank.node().inbox.rank);
        let context = self.rank.context();
        // Recorded like one of another rank, so that the same code ends the operations.
        node.inbox.lock().record_revocation(context, own, own);
        node.finish_pending();
    }

    /// Returns the number of a member that has revoked this communicator, or `None` if this rank
    /// does not know of a revocation. Does not poll the connections.
    #[must_use]
    pub fn revoked_by(&self) -> Option<u32> {
        match self
            .rank
            .members()
            .error(self.rank.node().check(self.rank.context()).err()?)
        {
            Error::Revoked { rank, .. } => Some(rank),
            _ => None,
        }
    }
}

impl Node {
    /// Returns the error of an operation whose communicator was revoked.
    #[inline]
    pub(super) fn check(&self, context: u32) -> Result<(), Error> {
        if !self.inbox.flags().has_revocations() {
            return Ok(());
        }
        self.check_revoked(context)
    }

    /// Returns true if the communicator with this context was revoked, or if a collective operation
    /// of any has failed at another rank. A receive does not spin on then, but is posted, which
    /// tells.
    #[inline]
    pub(super) fn may_be_over(&self, context: u32) -> bool {
        self.is_revoked(context) || context & COLLECTIVE != 0 && self.inbox.flags().has_failures()
    }

    #[inline]
    fn is_revoked(&self, context: u32) -> bool {
        self.inbox.flags().has_revocations()
            && self.inbox.lock().contexts.revocation(context).is_some()
    }

    #[cold]
    fn check_revoked(&self, context: u32) -> Result<(), Error> {
        self.finish_pending();
        let error = self.inbox.lock().contexts.revocation(context);
        error.map_or(Ok(()), Err)
    }

    /// Adds a communicator, which may have been revoked before.
    pub(super) fn add_communicator(&self, context: u32, communicator: &Arc<Communicator>) {
        self.with(|state, _| state.contexts.add(context, communicator));
    }

    /// Ends the operations of communicators that were revoked, and tells all members.
    pub(super) fn end_revoked(&self, open: Vec<u32>) {
        for context in open {
            self.tell_revoked(context);
            // Abandoning a send uses its connection, so it is done after the lock is released.
            let sends = self.with(|state, deferred| state.end_context(context, deferred));
            sends.into_iter().for_each(|id| self.abandon_send(id));
        }
    }

    /// Tells all members that a communicator was revoked. They get this before the answers to their
    /// messages, which are dropped afterwards.
    fn tell_revoked(&self, context: u32) {
        let (by, members) = {
            let state = self.inbox.lock();
            let by = state.contexts.revoking_rank(context);
            (by, state.contexts.members(context))
        };
        let (Some(by), Some(members)) = (by, members) else {
            return;
        };
        let own = self.inbox.rank;
        let all = (0..self.inbox.size).filter(|rank| *rank != own && members.contain(*rank));
        // Members without a connection come last, because connecting to them takes time.
        let (linked, others): (Vec<_>, Vec<_>) = all.partition(|rank| self.line(*rank).is_some());
        for rank in linked.into_iter().chain(others) {
            match self.link(rank) {
                Ok(Link::Line(line)) if !line.is_gone() => {
                    line.send_frame(Frame::Revoked { context, rank: by });
                }
                Ok(Link::Thread(near)) => {
                    near.inbox.lock().record_revocation(context, by, own);
                }
                Ok(Link::Line(_)) | Err(_) => {}
            }
        }
    }

    /// Ends a send that was posted while its communicator was revoked.
    pub(super) fn end_if_revoked(&self, id: OpId, context: u32) {
        if self.check(context).is_err() {
            self.abandon_send(id);
        }
    }

    /// Ends a send with [`Error::Cancelled`] without waiting for the other rank, unless its message
    /// was received or is being sent. The other rank is asked to drop an announced message, or gets
    /// a notice instead of the payload.
    pub(super) fn abandon_send(&self, id: OpId) {
        let sending = self.inbox.lock().requests.sending(id);
        let line = sending.and_then(|sending| self.line(sending.to));
        // A message that waits for credit has not been sent.
        if line.is_some_and(|line| line.endpoint.shared().cancel_waiting(id.number())) {
            return;
        }
        self.with(|state, deferred| state.abandon_send(id, deferred));
        self.take_back(id);
    }
}
