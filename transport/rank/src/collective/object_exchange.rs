//! The messages of one rank in a collective operation on objects.
//!
//! Decision 091 has the reasons.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::MessageBuffer;
use jstream::{Received, Transportable};
use jstream_collective::{Algorithm, Collective};
use jstream_device::connection::Payload;
use jstream_device::deadline::Deadline;

use super::call::{Agreed, Call, UNEQUAL, in_node, wait_for_notices};
use crate::error::Error;
use crate::failures::text_of;
use crate::member::Rank;
use crate::names::{Destination, Status};
use crate::request::ReceiveTarget;
use crate::requests::{RankMessage, RecvRequest, SendRequest, Waitable};
use crate::transfer::offers::SendMode;

/// The messages that a rank sends and receives in one operation.
///
/// Each member knows which other members it sends a message to, and which it receives one from. If
/// the operation ends early, by an error or because the program's code panics in a write, each
/// message that has not been sent is replaced by one that says that the rank has failed, and each
/// message that was not received is dropped when it arrives. All of this has one deadline.
pub(super) struct ObjectExchange<'r> {
    rank: &'r Rank,
    call: Call,
    timeout: Duration,
    deadline: Deadline,
    /// The members that no message was sent to, of those that expect one.
    unserved: Vec<usize>,
    /// The members that a message, or notice of the failure, was sent to.
    served: Vec<usize>,
    sends: Vec<(usize, SendRequest)>,
    receives: Vec<RecvRequest>,
    /// The member that failure messages name: this one, until another member is gone or has
    /// reported a failure.
    failed: usize,
    /// The text of the first error, for failure messages.
    reason: Option<Arc<str>>,
    /// The first error.
    error: Option<Error>,
    /// True if a message has failed.
    has_failed: bool,
}

impl<'r> ObjectExchange<'r> {
    /// Numbers an operation, and posts the receives of the messages from `senders`.
    pub(super) fn new(
        rank: &'r Rank,
        (collective, algorithm, root): (Collective, Algorithm, u32),
        receivers: Vec<usize>,
        senders: impl IntoIterator<Item = usize>,
    ) -> Self {
        let agreed = Agreed {
            algorithm,
            root,
            count: UNEQUAL,
        };
        let call = Call::new::<u8>(rank, collective, agreed).of_objects();
        let receives = senders.into_iter().map(|sender| {
            let pattern = Some(call.pattern(rank, sender));
            rank.post_recv(pattern, ReceiveTarget::Pool, call.expected())
        });
        let timeout = rank.node().inbox.options.collective_timeout;
        Self {
            receives: receives.collect(),
            rank,
            call,
            timeout,
            deadline: Deadline::after(timeout),
            unserved: receivers,
            served: Vec::new(),
            sends: Vec::new(),
            failed: rank.rank() as usize,
            reason: None,
            error: None,
            has_failed: false,
        }
    }

    /// Returns the members that expect a message and have none yet.
    pub(super) fn unserved(&self) -> &[usize] {
        &self.unserved
    }

    /// Writes an object into a jbuf for a message to a member, or into one of this rank's pool.
    pub(super) fn write<T: Transportable>(
        &mut self,
        to: Option<usize>,
        object: &T,
    ) -> Result<MessageBuffer, Error> {
        let (node, members) = (self.rank.node(), self.rank.members());
        if to.is_some_and(|to| !node.reach(in_node(self.rank, to), || self.deadline)) {
            return Err(self.call.error(self.timed_out()));
        }
        let pool = to.map_or(Ok(node.inbox.pool()), |to| {
            node.pool_for(in_node(self.rank, to))
        });
        let written = pool.and_then(|pool| node.write_object(object, pool));
        written.map_err(|error| {
            let error = members.error(error);
            self.reason = Some(text_of(&error));
            self.call.error(error)
        })
    }

    /// Reads the object in a message of this operation.
    pub(super) fn read<T: Transportable + 'static>(
        &self,
        message: RankMessage,
    ) -> Result<Received<T>, Error> {
        let RankMessage {
            status, payload, ..
        } = message;
        let read = self.rank.node().object_of(status, Payload::Bytes(payload));
        let (received, _) = read.map_err(|error| self.call.error(error))?;
        Ok(received)
    }

    /// Writes an object and reads it again, as if this rank had received it from itself.
    pub(super) fn keep<T: Transportable, O: Transportable + 'static>(
        &mut self,
        object: &T,
    ) -> Result<Received<O>, Error> {
        let filled = self.write(None, object)?;
        self.read(self.message_of_own(filled))
    }

    /// Returns the message that this rank would receive from itself.
    pub(super) fn message_of_own(&self, filled: MessageBuffer) -> RankMessage {
        let status = Status {
            source: self.rank.rank(),
            tag: self.call.label(self.rank).tag,
            ..Status::NULL
        };
        RankMessage::new(status, filled)
    }

    /// Posts a message to a member. The jbuf moves to a member of this process.
    pub(super) fn send(&mut self, to: usize, filled: MessageBuffer) {
        let label = self.call.label(self.rank);
        let destination = Destination::Rank(number(to));
        let mut request = self
            .rank
            .post_send(destination, label, filled, SendMode::Standard);
        // A member that is sent its message is not told of a failure as well, unless the send
        // fails.
        self.unserved.retain(|other| *other != to);
        match request.take() {
            None => self.sends.push((to, request)),
            Some(sent) => self.sent(to, sent.map(drop).map_err(Error::from)),
        }
    }

    /// Sends the same bytes to all members that expect a message. When this returns, the bytes are
    /// not used any more. Errors are returned by [`finish`](Self::finish).
    pub(super) fn send_to_all(&mut self, bytes: &[u8]) {
        let (rank, label) = (self.rank, self.call.label(self.rank));
        let is_reached = |to: &usize| rank.node().reach(in_node(rank, *to), || self.deadline);
        let all = mem::take(&mut self.unserved).into_iter();
        // Connected before the scope, because a send in it would connect without a deadline.
        let (receivers, unreached): (Vec<_>, Vec<_>) = all.partition(is_reached);
        let results: Vec<_> = rank.scope(|scope| {
            let sends = receivers.iter().map(|to| {
                let to = in_node(rank, *to);
                (to, scope.send_bytes(to, label, bytes, SendMode::Standard))
            });
            let mut sends: Vec<_> = sends.collect();
            let results = sends
                .iter_mut()
                .map(|(_, send)| send.wait_until(self.deadline));
            let mut results: Vec<_> = results.collect();
            let unfinished = sends
                .iter()
                .zip(&results)
                .filter(|(_, sent)| sent.is_none());
            // All are withdrawn before the first is waited for, so that the time for the rest is
            // shared.
            unfinished.for_each(|((_, send), _)| send.withdraw());
            for ((to, send), result) in sends.into_iter().zip(&mut results) {
                result.get_or_insert_with(|| send.wait_or_sever(to).map_err(|_| self.timed_out()));
            }
            results
        });
        for (to, result) in receivers.into_iter().zip(results) {
            self.sent(to, result.unwrap_or_else(|| Err(self.timed_out())));
        }
        for to in unreached {
            self.sent(to, Err(self.timed_out()));
        }
    }

    /// Waits for all messages that this rank receives, and returns them in the order of the
    /// senders.
    ///
    /// # Errors
    ///
    /// The first error of a message. All other messages were received, and are dropped. If a
    /// message could not be sent, its receiver may wait for it before it sends, so nothing is
    /// received before the receiver is told, when this is dropped.
    pub(super) fn receive(&mut self) -> Result<Vec<RankMessage>, Error> {
        // The operation has failed already. The messages are received when the exchange is dropped.
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut messages = Vec::with_capacity(self.receives.len());
        for mut receive in mem::take(&mut self.receives) {
            match receive.wait_timeout(self.left()) {
                Some(Ok(message)) => messages.push(message),
                Some(Err(unreceived)) => self.record_failure(unreceived.error),
                // The receive is dropped, even if a part of the message has arrived.
                None => self.record_failure(self.timed_out()),
            }
        }
        self.error.take().map_or(Ok(messages), Err)
    }

    /// Waits until all messages have been sent.
    ///
    /// # Errors
    ///
    /// The first error of a message.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        for (to, mut send) in mem::take(&mut self.sends) {
            let sent = match send.wait_timeout(self.left()) {
                Some(sent) => sent.map(drop).map_err(Error::from),
                None => {
                    // The other rank may never answer, so nothing waits for it.
                    send.withdraw();
                    Err(self.timed_out())
                }
            };
            self.sent(to, sent);
        }
        self.error.take().map_or(Ok(()), Err)
    }

    /// Records that a message was sent, or was not.
    fn sent(&mut self, to: usize, result: Result<(), Error>) {
        match result {
            Ok(()) => self.served.push(to),
            Err(error) => {
                // It waits for a message that does not come, and is told so at the end.
                self.unserved.push(to);
                self.record_failure(error);
            }
        }
    }

    /// Keeps the error of a message, and what other members have to know of it.
    #[cold]
    fn record_failure(&mut self, error: Error) {
        let error = self.call.error(error);
        self.has_failed = true;
        match error {
            Error::FailedAt {
                rank, ref reason, ..
            } => {
                self.failed = rank as usize;
                self.reason = reason.clone();
            }
            Error::Collective { ref source, .. } => match **source {
                Error::PeerGone { rank, .. } => {
                    self.failed = rank as usize;
                    self.reason = None;
                    self.call.tell_others(self.rank, rank);
                }
                ref cause => self.reason = Some(text_of(cause)),
            },
            // The member may wait for a message that this rank does not send.
            Error::Disagreement { rank, .. } => {
                let rank = rank as usize;
                if !self.served.contains(&rank) && !self.unserved.contains(&rank) {
                    let is_sent = self.sends.iter().any(|(to, _)| *to == rank);
                    if !is_sent {
                        self.unserved.push(rank);
                    }
                }
            }
            _ => {}
        }
        self.error.get_or_insert(error);
    }

    /// Tells the members that expect a message that there is none.
    fn send_failures(&mut self) {
        let mut notices = Vec::new();
        for to in mem::take(&mut self.unserved) {
            let failure = (to, self.failed);
            let reason = self.reason.as_deref();
            let notice = self
                .call
                .send_failure(self.rank, failure, reason, self.deadline);
            notices.extend(notice);
            self.served.push(to);
        }
        wait_for_notices(notices, self.deadline);
    }

    fn left(&self) -> Duration {
        self.deadline.left().unwrap_or(self.timeout)
    }

    fn timed_out(&self) -> Error {
        Error::TimedOut {
            after: self.timeout,
        }
    }
}

impl Drop for ObjectExchange<'_> {
    fn drop(&mut self) {
        let has_failed = self.has_failed || !self.unserved.is_empty() || !self.receives.is_empty();
        self.send_failures();
        // The caller has got it, and the calls below must not stop at it.
        self.error = None;
        if !self.receives.is_empty() {
            drop(self.receive());
        }
        if !self.sends.is_empty() {
            drop(self.finish());
        }
        // Members that disagree, and members whose message was not sent.
        self.send_failures();
        if has_failed || self.has_failed {
            self.call.bury(self.rank);
        }
    }
}

/// Returns the number of a member as it is sent.
fn number(rank: usize) -> u32 {
    u32::try_from(rank).unwrap_or(u32::MAX)
}
