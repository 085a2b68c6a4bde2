//! Posted receives, and messages that have arrived and that no receive has.

use std::collections::VecDeque;

use super::queue::{Cleared, Entry, Exit, SHORT, SLOTS, queue};
use super::transfer::letter::Letter;
use jstream_device::SlotMessage as Cell;
use jstream_endpoint::ops::OpId;
use jstream_matching::{
    Arrival, Bounds, Claim, Ended, Envelope, Heading, Matched, Matcher, MessageId, Pattern,
    Posting, ReceiveId, Stray, Unposted,
};
use jstream_sync::ring::Viewer;

/// Posted receives, and messages that have arrived and that no receive has.
///
/// The messages of a rank have an order: those in the matcher come first, then those in its
/// backlog, and then those in its queue. A queue is drained before any other message of its rank is
/// added, and a message that has no room goes to the backlog, as do all messages after it.
pub(super) struct Arrivals {
    matcher: Matcher<OpId, Letter>,
    /// By rank.
    sources: Vec<SourceState>,
    /// The rank whose queue is polled first by a receive from any source.
    first: u32,
    bounds: Bounds,
}

/// Messages of a rank, apart from those in the matcher.
#[derive(Default)]
struct SourceState {
    /// The receiving end of the queue for short messages of a thread.
    queue: Option<Exit>,
    /// Messages of a thread that do not fit the bounds of the matcher, in order.
    backlog: VecDeque<(Heading, Letter)>,
}

/// A message that waits in the matcher, and that a receive can take.
pub(super) enum Unexpected {
    /// The message was removed.
    Taken(Heading, Letter),
    /// The message needs more work than to be taken.
    Busy,
    None,
}

impl Arrivals {
    /// Returns the state of a rank in a world of `size` ranks. `bounds` limits the messages of each
    /// rank in the matcher, and `queue_bounds` those that may be put into its queue.
    pub(super) fn new(size: u32, bounds: Bounds, queue_bounds: Bounds) -> Self {
        let mut matcher = Matcher::new(bounds);
        let sources = (0..size).map(|rank| {
            let source = matcher.add_source();
            debug_assert_eq!(source, rank, "sources are ranks");
            SourceState::default()
        });
        let sources = sources.collect();
        Self {
            matcher,
            sources,
            first: 0,
            bounds: queue_bounds,
        }
    }

    #[inline]
    fn source(&mut self, rank: u32) -> Option<&mut SourceState> {
        self.sources.get_mut(rank as usize)
    }

    /// Posts a receive. An announced message is claimed for it.
    #[inline]
    pub(super) fn post(
        &mut self,
        pattern: Pattern,
        descriptor: u64,
        request: OpId,
    ) -> Result<Posting<OpId, Letter>, Unposted<OpId>> {
        let descriptor = (descriptor != 0).then_some(descriptor);
        self.matcher
            .post_claiming(pattern, descriptor, request, Letter::is_announced)
    }

    /// Cancels a posted receive. Returns false if it has a message.
    pub(super) fn cancel(&mut self, receive: ReceiveId) -> bool {
        self.matcher.cancel(receive).is_some()
    }

    /// Matches a message, or adds it to the matcher if there is room.
    #[inline]
    pub(super) fn add(
        &mut self,
        heading: Heading,
        letter: Letter,
    ) -> Result<Arrival<OpId, Letter>, Stray<Letter>> {
        self.matcher.arrive(heading, letter)
    }

    /// Takes the receive that gets a message. If there is none, the message must be
    /// [pushed](Self::push).
    #[inline]
    pub(super) fn match_receive(&mut self, heading: &Heading) -> Result<Option<OpId>, Stray<()>> {
        self.matcher.match_receive(heading)
    }

    /// Adds a message without a receive to the matcher, or returns it if there is no room.
    #[allow(clippy::result_large_err, reason = "the message comes back in it")]
    pub(super) fn push(&mut self, heading: Heading, letter: Letter) -> Result<MessageId, Letter> {
        self.matcher.queue(heading, letter)
    }

    /// Takes the receive that gets a message of a queue. If there is none, the message must be
    /// [pushed](Self::push_sent).
    #[inline]
    pub(super) fn match_sent(&mut self, heading: &Heading) -> Result<Option<OpId>, Stray<()>> {
        self.matcher.match_receive_beyond(heading)
    }

    /// Adds a message of a queue without a receive to the matcher, even beyond the bounds.
    pub(super) fn push_sent(&mut self, heading: Heading, letter: Letter) {
        // The source exists, because the message was matched against the receives before.
        let _ = self.matcher.queue_beyond(heading, letter);
    }

    /// Adds an announced message that has its receive already, as claimed.
    pub(super) fn add_claimed(&mut self, matched: Matched<OpId, Letter>) -> (OpId, Claim) {
        let Matched {
            receive,
            message,
            heading,
            ..
        } = matched;
        (receive, self.matcher.keep_claimed(heading, message))
    }

    /// Returns a message in the matcher.
    #[inline]
    pub(super) fn letter(&mut self, message: MessageId) -> Option<&mut Letter> {
        self.matcher.message_mut(message)
    }

    /// Returns a claimed message.
    pub(super) fn claimed(&mut self, claim: &Claim) -> Option<&mut Letter> {
        self.matcher.message_mut(claim.message())
    }

    /// Claims the message that a receive would get. A message that was lost with its source before
    /// all of it had arrived is skipped.
    pub(super) fn claim(&mut self, pattern: &Pattern) -> Option<Claim> {
        while let Some(claim) = self.matcher.claim(pattern) {
            // A receive that matches such a message gets the error. A probe would return a message
            // that cannot be received.
            if self.claimed(&claim).is_some_and(|letter| letter.is_lost()) {
                drop(self.matcher.take(claim));
                continue;
            }
            return Some(claim);
        }
        None
    }

    /// Takes a claimed message.
    pub(super) fn take(&mut self, claim: Claim) -> (Heading, Letter) {
        self.matcher.take(claim)
    }

    /// Releases a claim. Returns the receive that gets the message, if one is posted.
    pub(super) fn restore(&mut self, claim: Claim) -> Option<Matched<OpId, Letter>> {
        self.matcher.restore(claim)
    }

    /// Like [`restore`](Self::restore), but the message stays claimed for the receive.
    pub(super) fn hand_on(&mut self, claim: Claim) -> Option<(OpId, Claim)> {
        self.matcher.hand_on(claim)
    }

    /// Removes a message that no receive has claimed.
    pub(super) fn withdraw(&mut self, message: MessageId) -> Option<Letter> {
        self.matcher.withdraw(message)
    }

    /// Removes all messages whose envelopes `is_meant` accepts.
    pub(super) fn remove_messages(
        &mut self,
        is_meant: impl Fn(&Envelope) -> bool,
    ) -> Vec<(Heading, Letter)> {
        self.matcher.remove_messages(is_meant)
    }

    /// Returns true if no receive is posted and no message waits, except in queues and backlogs.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.matcher.posted() == 0 && self.matcher.unexpected() == 0
    }

    /// Returns true if any receive is posted.
    #[inline]
    pub(super) fn has_posted(&self) -> bool {
        self.matcher.posted() > 0
    }

    /// Returns true if any rank has a backlog, whose messages are admitted only by a posted
    /// receive.
    #[inline]
    pub(super) fn has_stalled(&self) -> bool {
        self.matcher.has_stalled()
    }

    /// Takes the message that a receive would get, if `is_simple` accepts it.
    #[inline]
    pub(super) fn take_unexpected(
        &mut self,
        pattern: &Pattern,
        is_simple: impl FnOnce(&Letter) -> bool,
    ) -> Unexpected {
        // The common case needs no look-up.
        if self.matcher.unexpected() == 0 {
            return Unexpected::None;
        }
        let Some(found) = self.matcher.probe(pattern) else {
            return Unexpected::None;
        };
        // Looked at before it is taken, because a message that needs an answer, or has not arrived,
        // needs a request.
        if !is_simple(found.message) {
            return Unexpected::Busy;
        }
        match self.matcher.receive(pattern) {
            Some((heading, letter)) => Unexpected::Taken(heading, letter),
            None => Unexpected::Busy,
        }
    }

    /// Removes a message of a rank that no receive has claimed. Returns also the number of bytes
    /// that it held.
    pub(super) fn withdraw_held(&mut self, rank: u32, message: MessageId) -> Option<(Letter, u64)> {
        // Only the matcher knows how many bytes the message held, so they are computed as a
        // difference.
        let held = |matcher: &Matcher<_, _>| matcher.held(rank).map_or(0, |(_, bytes)| bytes);
        let before = held(&self.matcher);
        let letter = self.matcher.withdraw(message)?;
        Some((letter, before.saturating_sub(held(&self.matcher))))
    }

    /// Removes the message of a send request of a thread, unless a receive has it. The second value
    /// is true if the messages behind it in the backlog may have room now.
    pub(super) fn remove_letter(&mut self, rank: u32, request: OpId) -> Option<(Letter, bool)> {
        let is_it = |letter: &Letter| letter.is_of(request);
        // The message may have moved from the backlog to the matcher, so both are searched.
        if let Some(message) = self.matcher.search(rank, is_it) {
            return Some((self.matcher.withdraw(message)?, false));
        }
        let source = self.source(rank)?;
        let mut letters = source.backlog.iter();
        let place = letters.position(|(_, letter)| is_it(letter))?;
        let (_, letter) = source.backlog.remove(place)?;
        // The matcher knows the first message of a backlog, so that a receive that matches it lets
        // it in. It is another one now.
        if place == 0 {
            self.matcher.is_kept_no_more(rank);
        }
        Some((letter, place == 0))
    }

    /// Returns true if the backlog of a rank has messages.
    #[inline]
    pub(super) fn has_backlog(&self, rank: u32) -> bool {
        let source = self.sources.get(rank as usize);
        source.is_some_and(|source| !source.backlog.is_empty())
    }

    /// Adds a message to the end of the backlog.
    pub(super) fn push_backlog(&mut self, rank: u32, heading: Heading, letter: Letter) {
        if let Some(source) = self.source(rank) {
            source.backlog.push_back((heading, letter));
        }
    }

    /// Returns a message that had no room to the front of the backlog.
    pub(super) fn return_backlog(&mut self, rank: u32, heading: Heading, letter: Letter) {
        if let Some(source) = self.source(rank) {
            source.backlog.push_front((heading, letter));
        }
    }

    /// Takes the first message of the backlog.
    pub(super) fn pop_backlog(&mut self, rank: u32) -> Option<(Heading, Letter)> {
        self.source(rank)?.backlog.pop_front()
    }

    /// Returns a rank whose backlog has a message that has room now, or that matches a receive that
    /// was posted.
    #[inline]
    pub(super) fn next_ready(&mut self) -> Option<u32> {
        self.matcher.next_ready()
    }

    /// Opens the queue for messages of a rank. Returns `None` if it has one already.
    #[cold]
    pub(super) fn open_queue(&mut self, rank: u32) -> Option<(Entry, Viewer<Cell>)> {
        let source = self.source(rank).filter(|source| source.queue.is_none())?;
        let (entry, exit, viewer) = queue();
        source.queue = Some(exit);
        // A new queue is closed. The bounds decide whether it opens.
        self.update_queue(rank);
        Some((entry, viewer))
    }

    /// Returns the queue of a rank.
    #[inline]
    pub(super) fn queue(&mut self, rank: u32) -> Option<&mut Exit> {
        self.source(rank)?.queue.as_mut()
    }

    /// Detaches the queue of a rank while it is drained, if it has messages.
    #[inline]
    pub(super) fn detach_queue(&mut self, rank: u32) -> Option<Exit> {
        self.source(rank)?.queue.take_if(|queue| queue.is_filled())
    }

    /// Attaches the queue of a rank that was drained.
    pub(super) fn attach_queue(&mut self, rank: u32, queue: Exit) {
        if let Some(source) = self.source(rank) {
            source.queue = Some(queue);
        }
        self.update_queue(rank);
    }

    /// Opens or closes the queue of a rank, depending on how many of its messages are unexpected.
    /// Must be called after the last change to the messages of a rank.
    #[inline]
    pub(super) fn update_queue(&mut self, rank: u32) {
        let Some(SourceState {
            queue: Some(queue),
            backlog,
            ..
        }) = self.sources.get(rank as usize)
        else {
            return;
        };
        // Without a count, the source has ended, and its queue stays closed.
        let (messages, bytes) = self.matcher.held(rank).unwrap_or((usize::MAX, 0));
        // Messages that are in the queue now, and those that may arrive before it is drained next.
        let messages = messages.saturating_add(2 * SLOTS);
        let bytes = bytes.saturating_add((2 * SLOTS * SHORT) as u64);
        let has_room = messages <= self.bounds.messages && bytes <= self.bounds.bytes;
        queue.set_open(backlog.is_empty() && has_room);
    }

    /// Returns the ranks in the order in which a receive from any source polls their queues.
    #[inline]
    pub(super) fn polling_order(&self) -> impl Iterator<Item = u32> + use<> {
        let size = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        let first = self.first;
        (0..size).map(move |offset| first.wrapping_add(offset).checked_rem(size).unwrap_or(0))
    }

    /// Makes the rank after `rank` the first to be polled, so that a rank that sends continuously
    /// does not starve the others.
    #[inline]
    pub(super) fn poll_after(&mut self, rank: u32) {
        self.first = rank.wrapping_add(1);
    }

    /// Ends the messages of a rank that is gone. Returns the receives that only this rank could
    /// have matched, or any rank if `is_last`, and its backlog.
    pub(super) fn end_source(
        &mut self,
        rank: u32,
        is_last: bool,
    ) -> (Vec<Ended<OpId>>, VecDeque<(Heading, Letter)>) {
        let source = self.source(rank);
        let backlog = source.map(|source| std::mem::take(&mut source.backlog));
        let mut ended = self.matcher.end_source(rank);
        if is_last {
            ended.extend(self.matcher.end_any_sources());
        }
        (ended, backlog.unwrap_or_default())
    }

    /// Ends the receives from any source in a context.
    pub(super) fn end_any_source(&mut self, context: u32) -> Vec<Ended<OpId>> {
        self.matcher.end_any_source(context)
    }

    /// Removes all receives and messages. The caller must drop the result without holding the lock.
    pub(super) fn close(&mut self) -> impl Sized + use<> {
        let matcher = std::mem::take(&mut self.matcher);
        let sources = self.sources.iter_mut();
        let rest = sources.map(|source| (std::mem::take(&mut source.backlog), source.queue.take()));
        let (backlogs, queues): (Vec<_>, Vec<_>) = rest.unzip();
        (matcher, backlogs, Cleared::new(queues))
    }
}
