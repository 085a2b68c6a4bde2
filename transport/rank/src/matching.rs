//! Matching of receives with messages, and delivery of messages that have arrived.

use super::element::name_by;
use super::error::{ElementName, Error};
use super::failures::{add_text, has_text};
use super::names::Status;
use super::outcome::RequestOutcome;
use super::queue::Content;
use super::request::ReceiveTarget;
use super::state::RankState;
use super::transfer::incoming::Arriving;
use super::transfer::letter::{Leaving, Letter, LetterAnswer, LetterPayload};
use super::work_queue::{Copy, DeferredTask, DeferredWork};
use jstream_device::connection::Payload;
use jstream_endpoint::ops::OpId;
use jstream_matching::{Arrival, Claim, Heading, Matched, Pattern, Posting};

/// Maximum length in bytes of a message that is copied under the lock of an inbox. For these,
/// taking the lock again costs more than the copy.
pub(super) const SMALL: usize = 4096;

impl RankState {
    /// Posts a receive.
    pub(super) fn post(
        &mut self,
        pattern: Pattern,
        target: ReceiveTarget,
        expected: ElementName,
        deferred: &mut DeferredWork,
    ) -> OpId {
        let context = pattern.context;
        let wanted = Some(pattern);
        let id = self
            .requests
            .insert_receive(context, wanted, target, expected);
        // Checked first: a receive of a message that never comes would wait for ever.
        let failed = self.contexts.failure(&pattern, expected);
        if let Some(error) = self.contexts.revocation(context).or(failed) {
            self.complete(id, RequestOutcome::failed(error), deferred);
            return id;
        }
        match self.arrivals.post(pattern, expected.descriptor, id) {
            Ok(Posting::Matched(matched)) => self.deliver(matched, deferred),
            Ok(Posting::Claimed(claim, id)) => self.request_payload(id, claim, deferred),
            // Checked only after the matching: a message that has arrived can be received, although
            // its sender is gone.
            Ok(Posting::Waits(receive)) if self.is_hopeless(&pattern) => {
                self.arrivals.cancel(receive);
                self.complete(id, RequestOutcome::failed(Error::NobodyLeft), deferred);
                return id;
            }
            Ok(Posting::Waits(receive)) => {
                self.requests.set_posted(id, receive);
                // A rank without a connection does not tell that it has ended, so the receive asks
                // for one.
                self.peers.want_lines(&pattern, &self.contexts);
            }
            Err(unposted) => {
                let error = self.unmatched(&pattern).unwrap_or(Error::NobodyLeft);
                self.complete(unposted.receive, RequestOutcome::failed(error), deferred);
                return id;
            }
        }
        // The receive may match a message that waits for room, or may have taken one that made
        // room.
        self.admit_backlogs(deferred);
        id
    }

    /// Returns true if a receive from any source has no other member of its communicator left.
    #[inline]
    fn is_hopeless(&self, pattern: &Pattern) -> bool {
        let is_alone = || self.peers.is_alone_in(pattern.context, &self.contexts);
        pattern.source.is_none() && is_alone()
    }

    /// Returns the error of a receive that no message will match, if it can be known.
    fn unmatched(&self, pattern: &Pattern) -> Option<Error> {
        match pattern.source {
            Some(rank) if rank >= self.peers.size() => Some(self.peers.no_rank(rank)),
            Some(rank) => self.peers.gone(rank),
            None => self.is_hopeless(pattern).then_some(Error::NobodyLeft),
        }
    }

    /// Claims a message, or returns the error if none can come.
    pub(super) fn claim(&mut self, pattern: &Pattern) -> Option<Result<(Status, Claim), Error>> {
        if let Some(error) = self.contexts.revocation(pattern.context) {
            return Some(Err(error));
        }
        if let Some(claim) = self.arrivals.claim(pattern) {
            return Some(Ok((Status::from_heading(claim.heading()), claim)));
        }
        self.peers.want_lines(pattern, &self.contexts);
        self.unmatched(pattern).map(Err)
    }

    /// Posts a receive for a claimed message.
    pub(super) fn post_claimed(
        &mut self,
        claim: Claim,
        target: ReceiveTarget,
        expected: ElementName,
        deferred: &mut DeferredWork,
    ) -> OpId {
        let context = claim.heading().envelope.context;
        let id = self
            .requests
            .insert_receive(context, None, target, expected);
        if let Some(error) = self.contexts.revocation(context) {
            self.complete(id, RequestOutcome::failed(error), deferred);
            // The message leaves the queue with the communicator, and its sender is answered.
            self.restore(claim, deferred);
            return id;
        }
        if self.is_announced(&claim) {
            self.request_payload(id, claim, deferred);
        } else {
            let (heading, message) = self.arrivals.take(claim);
            let matched = Matched::untyped(id, message, heading);
            self.deliver(matched, deferred);
        }
        // The message has left the matcher, so there may be room for another one.
        self.admit_backlogs(deferred);
        id
    }

    /// Releases a claim. The message is dropped if no receive can get it any more.
    pub(super) fn restore(&mut self, claim: Claim, deferred: &mut DeferredWork) {
        let is_unwanted = self.contexts.is_unwanted(&claim.heading().envelope);
        let letter = self.arrivals.claimed(&claim);
        if is_unwanted || letter.is_some_and(|letter| letter.is_absent()) {
            let (heading, letter) = self.arrivals.take(claim);
            self.drop_letter(&heading, letter, deferred);
        } else if self.is_announced(&claim) {
            match self.arrivals.hand_on(claim) {
                Some((id, claim)) => self.request_payload(id, claim, deferred),
                None => return self.waiters.notify_of_arrival(),
            }
        } else {
            match self.arrivals.restore(claim) {
                Some(matched) => self.deliver(matched, deferred),
                None => return self.waiters.notify_of_arrival(),
            }
        }
        self.admit_backlogs(deferred);
    }

    fn is_announced(&mut self, claim: &Claim) -> bool {
        let letter = self.arrivals.claimed(claim);
        letter.is_some_and(|letter| letter.is_announced())
    }

    /// Completes a receive with the message that it matched.
    pub(super) fn deliver(&mut self, matched: Matched<OpId, Letter>, deferred: &mut DeferredWork) {
        // The message stays in the matcher until its payload begins to arrive, so a receive that is
        // cancelled before leaves it in its place.
        if matched.message.is_announced() {
            let (id, claim) = self.arrivals.add_claimed(matched);
            return self.request_payload(id, claim, deferred);
        }
        let (id, heading) = (matched.receive, matched.heading);
        let source = heading.envelope.source;
        let letter = matched.message;
        let accepted = if letter.is_arriving() && has_text(&heading) {
            // The receive ends with the text that is arriving.
            self.await_text(id);
            Ok(())
        } else {
            self.accept(id, &heading, letter.bytes(), deferred)
        };
        if let Err(leaving) = accepted {
            return self.discard_letter(&heading, letter, leaving, deferred);
        }
        // The receive has the message now, so it does not count against the window any more.
        self.release_credit(source, heading.held, deferred);
        let (answer, payload) = letter.leave(Leaving::Received);
        // Such a message is long, so it is copied without the lock. The sender is blocked until
        // then.
        if let LetterPayload::Lent { bytes, gather } = payload {
            let (to, scatter) = self.requests.take_target(id);
            let sender = match answer {
                LetterAnswer::Finish(sender) => Some(sender),
                _ => None,
            };
            return deferred.push(DeferredTask::Copy(Copy {
                request: id,
                heading,
                from: bytes,
                gather,
                to,
                scatter,
                sender,
            }));
        }
        self.answer(source, answer, deferred);
        match payload {
            LetterPayload::Here(payload) => {
                self.deliver_payload(id, &heading, payload, deferred);
            }
            LetterPayload::Arriving => {
                // The payload is arriving in a buffer of the pool. The receive gets it when it is
                // complete.
                let request = id;
                self.redirect(source, Some(Arriving::Receive { request, heading }));
            }
            LetterPayload::NoRoom(source) => {
                let length = heading.length;
                let error = Error::NoBuffer { length, source };
                self.complete(id, RequestOutcome::failed(error), deferred);
            }
            LetterPayload::Absent => {
                let tag = heading.envelope.tag;
                let error = Error::Withdrawn { rank: source, tag };
                self.complete(id, RequestOutcome::failed(error), deferred);
            }
            LetterPayload::Announced
            | LetterPayload::Requested(_)
            | LetterPayload::Lent { .. }
            | LetterPayload::Lost => self.complete_lost(id, source, deferred),
        }
    }

    /// Ends a receive whose message was lost with its source.
    pub(super) fn complete_lost(&mut self, id: OpId, source: u32, deferred: &mut DeferredWork) {
        if let Some(error) = self.peers.gone(source) {
            self.complete(id, RequestOutcome::failed(error), deferred);
        }
    }

    /// Keeps a receive until the text of the failure message that it matched has arrived.
    pub(super) fn await_text(&mut self, id: OpId) {
        let _ = self.requests.set_matched(id);
    }

    /// Checks that the receive can take the message, whose payload may be known. If not, the
    /// receive has ended with an error.
    ///
    /// # Errors
    ///
    /// The reason for which the message leaves the queue.
    #[inline]
    pub(super) fn accept(
        &mut self,
        id: OpId,
        heading: &Heading,
        payload: &[u8],
        deferred: &mut DeferredWork,
    ) -> Result<(), Leaving> {
        let Some((expected, capacity)) = self.requests.set_matched(id) else {
            return Err(Leaving::Unwanted(None));
        };
        let (length, max) = (heading.length, self.max_allocated);
        let is_over_limit = capacity.is_none() && length > max;
        let refused = refusal(expected, capacity, heading);
        // An error of the arguments comes first: it says more than the limit does.
        match refused.or_else(|| is_over_limit.then(|| over_limit(heading, max))) {
            None => Ok(()),
            Some(error) => {
                let error = add_text(error, heading, payload);
                self.complete(id, RequestOutcome::failed(error), deferred);
                Err(match is_over_limit {
                    true => Leaving::TooLong { length, max },
                    false => Leaving::Unwanted(None),
                })
            }
        }
    }

    /// Gives a receive its message, whose payload has arrived.
    pub(super) fn deliver_payload(
        &mut self,
        id: OpId,
        heading: &Heading,
        payload: Payload,
        deferred: &mut DeferredWork,
    ) {
        let status = Status::from_heading(heading);
        let filled = match payload {
            Payload::Bytes(filled) => filled,
            object => return self.complete(id, RequestOutcome::received(status, object), deferred),
        };
        match self.requests.take_memory(id) {
            None => {
                let outcome = RequestOutcome::received(status, Payload::Bytes(filled));
                self.complete(id, outcome, deferred);
            }
            // A short copy takes less time than to lock again afterwards.
            Some(memory) if filled.len() <= SMALL => {
                let outcome = RequestOutcome::copied(status, memory, filled.as_bytes());
                // Dropped without the lock, as all values that may belong to the program.
                deferred.drop_later(Payload::Bytes(filled));
                self.complete(id, outcome, deferred);
            }
            Some(memory) => deferred.push(DeferredTask::Copy(Copy {
                request: id,
                heading: *heading,
                from: filled,
                gather: None,
                to: Some(memory),
                scatter: None,
                sender: None,
            })),
        }
    }

    /// Gives a receive the bytes of a message of a thread.
    pub(super) fn deliver_bytes(
        &mut self,
        id: OpId,
        heading: &Heading,
        bytes: &[u8],
        deferred: &mut DeferredWork,
    ) {
        if self.accept(id, heading, bytes, deferred).is_err() {
            return;
        }
        let target = match self.requests.take_jbuf(id) {
            Some(empty) => Ok(empty),
            None => self.pool.take(bytes.len()),
        };
        let outcome = match target {
            Ok(empty) => RequestOutcome::copied(Status::from_heading(heading), empty, bytes),
            Err(source) => {
                let length = heading.length;
                RequestOutcome::failed(Error::NoBuffer { length, source })
            }
        };
        self.complete(id, outcome, deferred);
    }

    /// Takes a message of a thread. If there is no room, the letter is returned.
    pub(super) fn arrive(
        &mut self,
        heading: Heading,
        letter: Letter,
        deferred: &mut DeferredWork,
    ) -> Result<(), Letter> {
        if self.is_dropped(&heading, deferred) {
            self.drop_letter(&heading, letter, deferred);
            return Ok(());
        }
        match self.arrivals.add(heading, letter) {
            Ok(Arrival::Matched(matched)) => self.deliver(matched, deferred),
            Ok(Arrival::Waits(id)) => {
                // A message that had no room before lets its sender go on as soon as it is queued.
                if let Some(sender) = self.arrivals.letter(id).and_then(Letter::admit) {
                    deferred.push(DeferredTask::Finish(sender));
                }
                self.waiters.notify_of_arrival();
            }
            Ok(Arrival::Full(letter)) => return Err(letter),
            Err(stray) => deferred.drop_later(stray.message),
        }
        Ok(())
    }

    /// Admits messages from the backlogs that have room now, or that match a receive that was
    /// posted.
    #[inline]
    pub(super) fn admit_backlogs(&mut self, deferred: &mut DeferredWork) {
        while let Some(rank) = self.arrivals.next_ready() {
            self.admit_backlog(rank, deferred);
        }
    }

    /// Admits messages from the backlog of one rank, in order, while there is room.
    pub(super) fn admit_backlog(&mut self, rank: u32, deferred: &mut DeferredWork) {
        // Ends at the first message without room, so that none overtakes it.
        while let Some((heading, letter)) = self.arrivals.pop_backlog(rank) {
            if let Err(letter) = self.arrive(heading, letter, deferred) {
                return self.arrivals.return_backlog(rank, heading, letter);
            }
        }
    }

    /// Drains the queue of a rank.
    #[inline]
    pub(super) fn drain_queue(&mut self, source: u32, deferred: &mut DeferredWork) {
        // Detached, because each of its messages may change the rest of the state.
        let Some(mut queue) = self.arrivals.detach_queue(source) else {
            return;
        };
        let all = |_: &Heading| true;
        while queue
            .take(source, all, |heading, content| {
                self.admit_queued(heading, content, deferred);
            })
            .is_some()
        {}
        self.arrivals.attach_queue(source, queue);
    }

    /// Drains all queues.
    pub(super) fn drain_queues(&mut self, deferred: &mut DeferredWork) {
        for source in 0..self.peers.size() {
            self.drain_queue(source, deferred);
        }
    }

    /// Gives a message that was sent already to the receive that matches it, or adds it to the
    /// unexpected messages.
    fn admit_queued(
        &mut self,
        heading: Heading,
        content: Content<'_>,
        deferred: &mut DeferredWork,
    ) {
        if self.is_dropped(&heading, deferred) {
            return drop_content(content, deferred);
        }
        // The sender has gone on already, so the message is taken even beyond the bounds. The size
        // of the queue limits how far.
        match self.arrivals.match_sent(&heading) {
            Ok(Some(receive)) => match content {
                Content::Bytes(bytes) => self.deliver_bytes(receive, &heading, bytes, deferred),
                Content::Jbuf(filled) => {
                    let accepted = self.accept(receive, &heading, filled.as_bytes(), deferred);
                    let payload = Payload::Bytes(filled);
                    match accepted {
                        Ok(()) => self.deliver_payload(receive, &heading, payload, deferred),
                        Err(_) => deferred.drop_later(payload),
                    }
                }
            },
            Ok(None) => {
                let payload = Payload::Bytes(content.into_jbuf(&self.pool));
                self.arrivals.push_sent(heading, Letter::whole(payload));
                self.waiters.notify_of_arrival();
            }
            // The rank has ended.
            Err(_) => drop_content(content, deferred),
        }
    }
}

fn drop_content(content: Content<'_>, deferred: &mut DeferredWork) {
    if let Content::Jbuf(filled) = content {
        deferred.drop_later(Payload::Bytes(filled));
    }
}

/// Returns the error if a receive can't take a message.
pub(super) fn refusal(
    expected: ElementName,
    capacity: Option<usize>,
    heading: &Heading,
) -> Option<Error> {
    let (rank, tag) = (heading.envelope.source, heading.envelope.tag);
    if !expected.agrees(heading.descriptor) {
        let sent = heading.descriptor.unwrap_or(0);
        return Some(Error::WrongElements {
            expected,
            sent: name_by(sent),
            rank,
            tag,
        });
    }
    let capacity = capacity? as u64;
    (heading.length > capacity).then_some(Error::Truncated {
        length: heading.length,
        capacity,
        rank,
        tag,
    })
}

/// Returns the error of a receive for whose message the library would have to allocate more than
/// `max` bytes.
#[cold]
pub(super) fn over_limit(heading: &Heading, max: u64) -> Error {
    Error::OverLimit {
        length: heading.length,
        max,
        rank: heading.envelope.source,
        tag: heading.envelope.tag,
    }
}
