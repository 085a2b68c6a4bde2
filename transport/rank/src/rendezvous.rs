//! Matching of receives with messages, and their completion.

use jstream::buffer::EmptyBuffer;

use super::element::name_by;
use super::error::Error;
use super::failures::{add_text, has_text};
use super::inbox::Inbox;
use super::layout::runs::copy_lent;
use super::letter::{Ack, ExpectedPayload, Letter};
use super::names::Status;
use super::request::{RankRequest, ReceiveTarget, RequestOutcome};
use super::state::RankState;
use super::wire::Frame;
use super::work_queue::{Copy, DeferredTask, DeferredWork};
use crate::error::ElementName;
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
        place: ReceiveTarget,
        expected: ElementName,
        deferred: &mut DeferredWork,
    ) -> OpId {
        let context = pattern.context;
        let id = self
            .requests
            .insert(RankRequest::receive(context, place, expected));
        let failed = self.told_failure(&pattern, expected);
        if let Some(error) = self.rare.revocations.error(context).or(failed) {
            self.complete(id, RequestOutcome::failed(error), deferred);
            return id;
        }
        if let Some(request) = self.requests.get_mut(id) {
            request.pattern = Some(pattern);
        }
        let descriptor = (expected.descriptor != 0).then_some(expected.descriptor);
        let alone = pattern.source.is_none() && self.nobody_is_left_in(pattern.context);
        let posted = self
            .matcher
            .post_claiming(pattern, descriptor, id, Letter::is_announced);
        match posted {
            Ok(Posting::Matched(matched)) => {
                self.meet(matched, deferred);
                self.let_in(deferred);
            }
            Ok(Posting::Claimed(claim, id)) => {
                self.ask(id, claim, deferred);
                self.let_in(deferred);
            }
            Ok(Posting::Waits(receive)) if alone => {
                let _ = self.matcher.cancel(receive);
                self.complete(id, RequestOutcome::failed(Error::NobodyLeft), deferred);
            }
            Ok(Posting::Waits(receive)) => {
                if let Some(request) = self.requests.get_mut(id) {
                    request.posted = Some(receive);
                }
                self.want_lines(&pattern);
                self.let_in(deferred);
            }
            Err(unposted) => {
                let gone = pattern.source.and_then(|rank| self.gone(rank));
                let error = match (gone, pattern.source) {
                    (Some(gone), _) => gone,
                    (None, Some(rank)) => Error::NoRank {
                        rank,
                        size: u32::try_from(self.peers.len()).unwrap_or(u32::MAX),
                    },
                    (None, None) => Error::NobodyLeft,
                };
                self.complete(unposted.receive, RequestOutcome::failed(error), deferred);
            }
        }
        id
    }

    /// Posts a receive for a claimed message.
    pub(super) fn post_claimed(
        &mut self,
        claim: Claim,
        place: ReceiveTarget,
        expected: ElementName,
        deferred: &mut DeferredWork,
    ) -> OpId {
        let context = claim.heading().envelope.context;
        let id = self
            .requests
            .insert(RankRequest::receive(context, place, expected));
        if let Some(error) = self.rare.revocations.error(context) {
            self.complete(id, RequestOutcome::failed(error), deferred);
            self.restore(claim, deferred);
            return id;
        }
        if self.is_announced(&claim) {
            self.ask(id, claim, deferred);
        } else {
            let (heading, message) = self.matcher.take(claim);
            let matched = Matched::untyped(id, message, heading);
            self.meet(matched, deferred);
        }
        self.let_in(deferred);
        id
    }

    /// Releases a claim.
    pub(super) fn restore(&mut self, claim: Claim, deferred: &mut DeferredWork) {
        if self.is_unwanted(&claim.heading().envelope) {
            let (heading, letter) = self.matcher.take(claim);
            self.drop_letter(&heading, letter, deferred);
            return self.let_in(deferred);
        }
        if self.is_announced(&claim) {
            match self.matcher.hand_on(claim) {
                Some((id, claim)) => {
                    self.ask(id, claim, deferred);
                    self.let_in(deferred);
                }
                None => self.record_arrival(),
            }
            return;
        }
        match self.matcher.restore(claim) {
            Some(matched) => {
                self.meet(matched, deferred);
                self.let_in(deferred);
            }
            None => self.record_arrival(),
        }
    }

    fn is_announced(&mut self, claim: &Claim) -> bool {
        let letter = self.matcher.message_mut(claim.message());
        letter.is_some_and(|letter| letter.is_announced())
    }

    /// Cancels a receive that has no message. Returns false if it has one.
    pub(super) fn cancel(&mut self, id: OpId, error: Error, deferred: &mut DeferredWork) -> bool {
        let Some(request) = self.requests.get_mut(id) else {
            return false;
        };
        let Some(receive) = request.posted.take() else {
            return false;
        };
        let cancelled = self.matcher.cancel(receive).is_some();
        if cancelled {
            self.complete(id, RequestOutcome::failed(error), deferred);
        }
        cancelled
    }

    /// Completes a receive with the message that it matched.
    pub(super) fn meet(&mut self, matched: Matched<OpId, Letter>, deferred: &mut DeferredWork) {
        let (id, heading) = (matched.receive, matched.heading);
        if matched.message.is_announced() {
            let claim = self.matcher.keep_claimed(heading, matched.message);
            return self.ask(id, claim, deferred);
        }
        let source = heading.envelope.source;
        let accepted = match &matched.message {
            // The receive ends with the text that is arriving.
            Letter::Coming { .. } if has_text(&heading) => self.await_text(id),
            Letter::Here {
                payload: Payload::Bytes(filled),
                ..
            } => self.accept_with(id, &heading, filled.as_bytes(), deferred),
            _ => self.accept(id, &heading, deferred),
        };
        self.settle(source, heading.held, deferred);
        match matched.message {
            Letter::Here { payload, ack } => {
                self.acknowledge(source, ack, deferred);
                if accepted {
                    self.hand_over(id, &heading, payload, deferred);
                } else {
                    deferred.drop_later(payload);
                }
            }
            Letter::Coming { ack } => {
                self.acknowledge(source, ack, deferred);
                if let Some(peer) = self.peer(source) {
                    peer.incoming = if accepted {
                        ExpectedPayload::Late {
                            request: id,
                            heading,
                        }
                    } else {
                        ExpectedPayload::Unwanted
                    };
                }
            }
            Letter::Lent {
                bytes,
                gather,
                sender,
            } => {
                let request = self.requests.get_mut(id).filter(|_| accepted);
                match request {
                    Some(request) => {
                        let (to, scatter) = request.take_target();
                        deferred.push(DeferredTask::Copy(Copy {
                            request: id,
                            heading,
                            from: bytes,
                            gather,
                            to,
                            scatter,
                            sender: Some(sender),
                        }));
                    }
                    None => {
                        drop(bytes);
                        deferred.push(DeferredTask::Finish(sender));
                    }
                }
            }
            Letter::Dropped(source) => {
                let length = heading.length;
                let error = Error::NoBuffer { length, source };
                self.complete(id, RequestOutcome::failed(error), deferred);
            }
            Letter::Lost | Letter::Announced { .. } | Letter::Asked { .. } => {
                self.complete_lost(id, source, deferred);
            }
        }
    }

    pub(super) fn complete_lost(&mut self, id: OpId, source: u32, deferred: &mut DeferredWork) {
        if let Some(error) = self.gone(source) {
            self.complete(id, RequestOutcome::failed(error), deferred);
        }
    }

    /// Returns true if the receive can take the message. If not, the receive has ended with an
    /// error.
    pub(super) fn accept(
        &mut self,
        id: OpId,
        heading: &Heading,
        deferred: &mut DeferredWork,
    ) -> bool {
        self.accept_with(id, heading, &[], deferred)
    }

    /// Keeps a receive until the text of the failure message that it matched has arrived. Returns
    /// true.
    pub(super) fn await_text(&mut self, id: OpId) -> bool {
        if let Some(request) = self.requests.get_mut(id) {
            request.posted = None;
        }
        true
    }

    /// Like [`accept`](Self::accept), for a message whose payload is known.
    pub(super) fn accept_with(
        &mut self,
        id: OpId,
        heading: &Heading,
        payload: &[u8],
        deferred: &mut DeferredWork,
    ) -> bool {
        let Some(request) = self.requests.get_mut(id) else {
            return false;
        };
        request.posted = None;
        match refusal(request.expected, request.capacity, heading) {
            None => true,
            Some(error) => {
                let error = add_text(error, heading, payload);
                self.complete(id, RequestOutcome::failed(error), deferred);
                false
            }
        }
    }

    /// Notifies the sender that its message was matched, if it asked for that.
    pub(super) fn acknowledge(&mut self, source: u32, ack: Ack, deferred: &mut DeferredWork) {
        match ack {
            Ack::Nobody => {}
            Ack::Line(offer) => {
                if let Some(peer) = self.peer(source).filter(|peer| peer.gone.is_none()) {
                    peer.withdrawable.remove(&offer);
                    let frame = Frame::Matched { offer };
                    deferred.push(DeferredTask::Say { to: source, frame });
                }
            }
            Ack::Thread(sender) | Ack::Admitted(sender) => {
                deferred.push(DeferredTask::Finish(sender))
            }
        }
    }

    /// Gives a receive its message, whose payload has arrived.
    pub(super) fn hand_over(
        &mut self,
        id: OpId,
        heading: &Heading,
        payload: Payload,
        deferred: &mut DeferredWork,
    ) {
        let Some(request) = self.requests.get_mut(id) else {
            return deferred.drop_later(payload);
        };
        let status = Status::of(heading);
        let filled = match payload {
            Payload::Bytes(filled) => filled,
            object => return self.complete(id, RequestOutcome::received(status, object), deferred),
        };
        match request.take_memory() {
            None => self.complete(
                id,
                RequestOutcome::received(status, Payload::Bytes(filled)),
                deferred,
            ),
            Some(memory) if filled.len() <= SMALL => {
                let outcome = copied(status, memory, filled.as_bytes());
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
        match self.matcher.arrive(heading, letter) {
            Ok(Arrival::Matched(matched)) => self.meet(matched, deferred),
            Ok(Arrival::Waits(id)) => {
                if let Some(Letter::Here { ack, .. }) = self.matcher.message_mut(id) {
                    if matches!(ack, Ack::Admitted(_)) {
                        let ack = std::mem::replace(ack, Ack::Nobody);
                        self.acknowledge(heading.envelope.source, ack, deferred);
                    }
                }
                self.record_arrival();
            }
            Ok(Arrival::Full(letter)) => return Err(letter),
            Err(stray) => deferred.drop_later(stray.message),
        }
        Ok(())
    }

    /// Admits messages from the backlogs that have room now, or that match a receive that was
    /// posted.
    #[inline]
    pub(super) fn let_in(&mut self, deferred: &mut DeferredWork) {
        while let Some(rank) = self.matcher.next_ready() {
            self.let_in_from(rank, deferred);
        }
    }

    /// Admits messages from the backlog of one rank, in order, while there is room.
    pub(super) fn let_in_from(&mut self, rank: u32, deferred: &mut DeferredWork) {
        while let Some((heading, letter)) = self.next_in_backlog(rank) {
            if let Err(letter) = self.arrive(heading, letter, deferred) {
                if let Some(peer) = self.peer(rank) {
                    peer.backlog.push_front((heading, letter));
                }
                return;
            }
        }
    }

    fn next_in_backlog(&mut self, rank: u32) -> Option<(Heading, Letter)> {
        self.peer(rank)?.backlog.pop_front()
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

/// Returns the outcome of a receive whose message is copied to its destination.
pub(super) fn copied(status: Status, to: EmptyBuffer, bytes: &[u8]) -> RequestOutcome {
    let capacity = to.capacity() as u64;
    match to.copy_from(bytes) {
        Ok(filled) => RequestOutcome::received(status, Payload::Bytes(filled)),
        Err(overfull) => RequestOutcome {
            empty: Some(overfull.buffer),
            ..RequestOutcome::failed(Error::Truncated {
                length: bytes.len() as u64,
                capacity,
                rank: status.source,
                tag: status.tag,
            })
        },
    }
}

impl Inbox {
    /// Does recorded work. `with_line` handles tasks that need a connection.
    pub(super) fn carry_out(
        &self,
        mut deferred: DeferredWork,
        mut with_line: impl FnMut(DeferredTask),
    ) {
        while !deferred.is_empty() {
            for task in deferred.drain() {
                match task {
                    DeferredTask::Copy(copy) => self.copy(copy),
                    DeferredTask::Finish(sender) => sender.finish(),
                    DeferredTask::Say { .. } => with_line(task),
                    DeferredTask::Drop(_)
                    | DeferredTask::DropOutcome(_)
                    | DeferredTask::DropPayload(_) => {}
                }
            }
        }
    }

    fn copy(&self, copy: Copy) {
        let Copy {
            request,
            heading,
            from,
            gather,
            to,
            scatter,
            sender,
        } = copy;
        let status = Status::of(&heading);
        let to = match to {
            Some(to) => Ok(to),
            // The memory of a sender with a layout may be longer than the message.
            None => self.pool().take(status.len::<u8>()),
        };
        let outcome = match to {
            Ok(to) if gather.is_none() && scatter.is_none() => copied(status, to, from.as_bytes()),
            Ok(to) => {
                let (gather, scatter) = (gather.as_deref(), scatter.as_deref());
                let length = status.len::<u8>();
                match copy_lent(from.as_bytes(), gather, to, scatter, length, self.pool()) {
                    Ok(filled) => RequestOutcome::received(status, Payload::Bytes(filled)),
                    Err(empty) => RequestOutcome {
                        result: Ok(status),
                        payload: None,
                        empty: Some(empty),
                    },
                }
            }
            Err(source) => RequestOutcome::failed(Error::NoBuffer {
                length: heading.length,
                source,
            }),
        };
        drop(from);
        self.complete(request, outcome);
        if let Some(sender) = sender {
            sender.finish();
        }
    }

    /// Ends a request.
    pub(super) fn complete(&self, request: OpId, outcome: RequestOutcome) {
        let mut deferred = DeferredWork::default();
        self.lock().complete(request, outcome, &mut deferred);
    }
}
