//! The matcher of one rank.
//!
//! Decision 066 has the reasons.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use super::envelope::{Class, Envelope, Heading, Key, Pattern};
use super::hash::Hash;
use super::lanes::Id;
use super::outcome::{
    Arrival, Claim, Ended, Matched, MessageId, Post, PostError, Posting, Probed, ReceiveId, Stray,
    Unposted,
};
use super::posted::{Posted, Receives};
use super::sources::{Bounds, Sources};
use super::unexpected::Messages;

/// The posted receives and the unexpected messages of one rank.
///
/// `R` is the value that is kept with a receive, for example its buffer, and `M` the value that is
/// kept with a message. The [module documentation](super) states the matching rules and has an
/// example.
pub struct Matcher<R, M> {
    hash: Hash,
    receives: Receives<R>,
    messages: Messages<M>,
    sources: Sources,
    /// Sequence number of the latest receive or message; earlier ones have lower numbers.
    sequence: u64,
}

impl<R, M> Matcher<R, M> {
    /// Creates a matcher without sources. `bounds` limits the waiting messages of each source.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            hash: Hash::new(),
            receives: Receives::new(),
            messages: Messages::new(),
            sources: Sources::new(bounds),
            // A random start, so that identifiers of another matcher are invalid here.
            sequence: RandomState::new().hash_one(()) >> 1,
        }
    }

    /// Adds a source, and returns its number, which is the number of sources added before. Numbers
    /// are not reused: a peer that reconnects is another source.
    ///
    /// # Panics
    ///
    /// If 2^32 sources have been added.
    pub fn add_source(&mut self) -> u32 {
        self.sources.add()
    }

    /// Ends a source after all its messages have arrived. Waiting messages of it can still be
    /// received.
    ///
    /// Removes and returns the receives that only this source could have matched, in the order in
    /// which they were posted. If it was the last source, these include the receives from any
    /// source. The time is linear in the maximum number of receives that have waited at the same
    /// time.
    pub fn end_source(&mut self, source: u32) -> Vec<Ended<R>> {
        if !self.sources.end(source) {
            return Vec::new();
        }
        let nobody_is_left = self.sources.nobody_is_left();
        self.receives.remove_all(|pattern| match pattern.source {
            Some(other) => other == source,
            None => nobody_is_left,
        })
    }

    /// Ends the receives from any source in one context, for example when all members of that
    /// context are gone. The time is linear in the maximum number of receives that have waited at
    /// the same time.
    pub fn end_any_source(&mut self, context: u32) -> Vec<Ended<R>> {
        let is_meant = |p: &Pattern| p.context == context && p.source.is_none();
        self.receives.remove_all(is_meant)
    }

    /// Ends the receives from any source in all contexts, for example when only the rank itself is
    /// left.
    pub fn end_any_sources(&mut self) -> Vec<Ended<R>> {
        self.receives.remove_all(|pattern| pattern.source.is_none())
    }

    /// Posts a receive. It gets the first message that `pattern` matches, either one that waits or
    /// one that arrives later. `expected` states the element type of the message for
    /// [`Matched::agrees`]; it does not affect the match.
    ///
    /// # Errors
    ///
    /// If no waiting message matches, and none can arrive.
    #[inline]
    pub fn post(
        &mut self,
        pattern: Pattern,
        expected: Option<u64>,
        receive: R,
    ) -> Result<Post<R, M>, Unposted<R>> {
        let key = self.hash.pattern(&pattern);
        if let Some((heading, message)) = self.first_message(&key) {
            return Ok(Post::Matched(Matched {
                receive,
                message,
                heading,
                expected,
            }));
        }
        let id = self.wait(key, &pattern, expected, receive)?;
        Ok(Post::Waits(id))
    }

    /// As [`post`](Self::post), but a message for which `stays` returns true is claimed instead of
    /// removed.
    #[doc(hidden)]
    #[inline]
    pub fn post_claiming(
        &mut self,
        pattern: Pattern,
        expected: Option<u64>,
        receive: R,
        stays: impl FnOnce(&M) -> bool,
    ) -> Result<Posting<R, M>, Unposted<R>> {
        let key = self.hash.pattern(&pattern);
        let Some(id) = self.messages.find(&key) else {
            let id = self.wait(key, &pattern, expected, receive)?;
            return Ok(Posting::Waits(id));
        };
        if let Some((heading, message)) = self.messages.get(id) {
            if stays(message) {
                self.messages.claim(id);
                return Ok(Posting::Claimed(Claim { id, heading }, receive));
            }
        }
        match self.remove_message(id) {
            Some((heading, message)) => Ok(Posting::Matched(Matched {
                receive,
                message,
                heading,
                expected,
            })),
            None => unreachable!("what was found is here"),
        }
    }

    /// Queues a receive for which no message waits.
    #[inline]
    fn wait(
        &mut self,
        key: Key,
        pattern: &Pattern,
        expected: Option<u64>,
        receive: R,
    ) -> Result<ReceiveId, Unposted<R>> {
        if let Some(error) = self.waits_in_vain(pattern) {
            return Err(Unposted { error, receive });
        }
        let posted = Posted {
            descriptor: expected,
            receive,
        };
        let sequence = self.next_sequence();
        let id = self.receives.push(key, sequence, posted);
        self.sources.wanted(pattern);
        Ok(ReceiveId(id))
    }

    /// Takes the message that a receive with that pattern would get, if one waits. Equivalent to
    /// [`claim`](Self::claim) and [`take`](Self::take).
    #[inline]
    pub fn receive(&mut self, pattern: &Pattern) -> Option<(Heading, M)> {
        self.first_message(&self.hash.pattern(pattern))
    }

    #[inline]
    fn first_message(&mut self, key: &Key) -> Option<(Heading, M)> {
        let (heading, message) = self.messages.take_first(key)?;
        self.sources.remove_message(&heading);
        Some((heading, message))
    }

    #[inline]
    fn remove_message(&mut self, id: Id) -> Option<(Heading, M)> {
        let (heading, message) = self.messages.remove(id)?;
        self.sources.remove_message(&heading);
        Some((heading, message))
    }

    #[inline]
    fn waits_in_vain(&self, pattern: &Pattern) -> Option<PostError> {
        let Some(source_number) = pattern.source else {
            let nobody_is_left = self.sources.nobody_is_left();
            return nobody_is_left.then_some(PostError::NobodyLeft);
        };
        match self.sources.is_live(source_number) {
            Some(true) => None,
            Some(false) => Some(PostError::SourceEnded { source_number }),
            None => Some(PostError::NoSource { source_number }),
        }
    }

    #[inline]
    fn next_sequence(&mut self) -> u64 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }

    /// Handles an arriving message: the earliest posted receive that matches gets it; otherwise it
    /// waits.
    ///
    /// The messages of a source must arrive in the order in which it sent them.
    ///
    /// # Errors
    ///
    /// If the source was not added, or has ended.
    #[inline]
    pub fn arrive(&mut self, heading: Heading, message: M) -> Result<Arrival<R, M>, Stray<M>> {
        let source_number = heading.envelope.source;
        if !self.sources.tries(source_number) {
            return Err(Stray {
                source_number,
                message,
            });
        }
        if let Some(posted) = self.first_receive(&heading) {
            return Ok(Arrival::Matched(posted.matched(heading, message)));
        }
        match self.queue(heading, message) {
            Ok(id) => Ok(Arrival::Waits(id)),
            Err(message) => Ok(Arrival::Full(message)),
        }
    }

    /// Handles the first part of [`arrive`](Self::arrive): takes the receive that gets an arriving
    /// message. If there is none, the caller must [`queue`](Self::queue) the message. So a message
    /// that has a receive need not exist as a value.
    ///
    /// # Errors
    ///
    /// If the source was not added, or has ended.
    #[doc(hidden)]
    #[inline]
    pub fn match_receive(&mut self, heading: &Heading) -> Result<Option<R>, Stray<()>> {
        let source_number = heading.envelope.source;
        if !self.sources.tries(source_number) {
            let message = ();
            return Err(Stray {
                source_number,
                message,
            });
        }
        Ok(self.first_receive(heading).map(|posted| posted.receive))
    }

    /// As [`match_receive`](Self::match_receive), for a message that will be
    /// [queued beyond the bounds](Self::queue_beyond).
    #[doc(hidden)]
    #[inline]
    pub fn match_receive_beyond(&mut self, heading: &Heading) -> Result<Option<R>, Stray<()>> {
        let source_number = heading.envelope.source;
        if self.sources.is_live(source_number) != Some(true) {
            let message = ();
            return Err(Stray {
                source_number,
                message,
            });
        }
        Ok(self.first_receive(heading).map(|posted| posted.receive))
    }

    /// Stores a message that has no receive. If the bounds of its source are reached, returns the
    /// message, as [`Arrival::Full`] does.
    #[doc(hidden)]
    #[allow(clippy::missing_errors_doc, reason = "the summary has them")]
    #[inline]
    pub fn queue(&mut self, heading: Heading, message: M) -> Result<MessageId, M> {
        if !self.sources.add_message(&heading) {
            self.sources.stall(heading);
            return Err(message);
        }
        Ok(self.keep(heading, message))
    }

    /// Stores a message that was received already and has no receive, even if the bounds of its
    /// source are exceeded. A message that the source keeps is not affected.
    #[doc(hidden)]
    #[inline]
    pub fn queue_beyond(&mut self, heading: Heading, message: M) -> MessageId {
        self.sources.add_beyond(&heading);
        self.keep(heading, message)
    }

    /// Stores a message that has its receive already, as claimed, even if the bounds of its source
    /// are exceeded.
    #[doc(hidden)]
    pub fn keep_claimed(&mut self, heading: Heading, message: M) -> Claim {
        self.sources.add_beyond(&heading);
        let MessageId(id) = self.keep(heading, message);
        self.messages.claim(id);
        Claim { id, heading }
    }

    #[inline]
    fn keep(&mut self, heading: Heading, message: M) -> MessageId {
        let sequence = self.next_sequence();
        let key = self.hash.envelope_key(&heading.envelope, Class::Exact);
        MessageId(self.messages.push(key, sequence, heading, message))
    }

    #[inline]
    fn first_receive(&mut self, heading: &Heading) -> Option<Posted<R>> {
        self.receives.take_first(&self.hash, &heading.envelope)
    }

    /// Returns a source that got [`Arrival::Full`] and may try again, because there is room or a
    /// receive for its message was posted. Call this until it returns `None`, whenever a receive
    /// was posted, or a waiting message was matched, taken or withdrawn. Another message may take
    /// the room first, and then the source has to wait again.
    pub fn next_ready(&mut self) -> Option<u32> {
        self.sources.next_ready()
    }

    /// Returns true if a source keeps a message. A receive for it may have to be posted before it
    /// can arrive.
    #[doc(hidden)]
    #[inline]
    pub fn has_stalled(&self) -> bool {
        self.sources.has_stalled()
    }

    /// Records that a source has withdrawn the message that it had to keep.
    #[doc(hidden)]
    pub fn is_kept_no_more(&mut self, source: u32) {
        self.sources.tries(source);
    }

    /// Removes a receive. Returns `None` if it was matched already, or has ended.
    #[inline]
    pub fn cancel(&mut self, receive: ReceiveId) -> Option<R> {
        Some(self.receives.remove(receive.0)?.receive)
    }

    /// Removes a message. Returns `None` if it was received already, or is claimed.
    pub fn withdraw(&mut self, message: MessageId) -> Option<M> {
        if self.messages.is_claimed(message.0) {
            return None;
        }
        Some(self.remove_message(message.0)?.1)
    }

    /// Removes all waiting messages whose envelopes `is_meant` accepts, for example when their
    /// context has ended. Returns them in the order of arrival. Claimed messages stay. The time is
    /// linear in the number of waiting messages.
    pub fn remove_messages(&mut self, is_meant: impl Fn(&Envelope) -> bool) -> Vec<(Heading, M)> {
        let found = self.messages.select(is_meant);
        let removed = found.into_iter().map(|id| self.remove_message(id));
        removed.flatten().collect()
    }

    /// Returns the value of a waiting or claimed message, for example to complete its payload.
    pub fn message_mut(&mut self, message: MessageId) -> Option<&mut M> {
        self.messages.get_mut(message.0)
    }

    /// Returns the message that a receive with that pattern would get, if one waits. The message
    /// stays, and another receive may get it; see [`claim`](Self::claim).
    #[must_use]
    pub fn probe(&self, pattern: &Pattern) -> Option<Probed<'_, M>> {
        let id = self.messages.find(&self.hash.pattern(pattern))?;
        let (heading, message) = self.messages.get(id)?;
        Some(Probed {
            id: MessageId(id),
            heading,
            message,
        })
    }

    /// Claims the message that a receive with that pattern would get, if one waits: no receive gets
    /// it from then on. The message counts for its source until it is taken.
    pub fn claim(&mut self, pattern: &Pattern) -> Option<Claim> {
        let id = self.messages.find(&self.hash.pattern(pattern))?;
        let (heading, _) = self.messages.get(id)?;
        self.messages.claim(id);
        Some(Claim { id, heading })
    }

    /// Takes a claimed message.
    ///
    /// # Panics
    ///
    /// If the claim is from another matcher.
    pub fn take(&mut self, claim: Claim) -> (Heading, M) {
        let Some(message) = self.remove_message(claim.id) else {
            panic!("the claim is another matcher's")
        };
        message
    }

    /// Releases a claim. The earliest posted receive that matches the message gets it; otherwise
    /// the message waits again in its former place.
    ///
    /// # Panics
    ///
    /// If the claim is from another matcher.
    pub fn restore(&mut self, claim: Claim) -> Option<Matched<R, M>> {
        assert!(
            self.messages.is_claimed(claim.id),
            "the claim is another matcher's"
        );
        let Some(posted) = self.first_receive(&claim.heading) else {
            self.messages.restore(claim.id);
            return None;
        };
        let (heading, message) = self.remove_message(claim.id)?;
        Some(posted.matched(heading, message))
    }

    /// As [`restore`](Self::restore), but the message stays claimed for the receive that gets it.
    #[doc(hidden)]
    pub fn hand_on(&mut self, claim: Claim) -> Option<(R, Claim)> {
        match self.first_receive(&claim.heading) {
            Some(posted) => Some((posted.receive, claim)),
            None => {
                self.messages.restore(claim.id);
                None
            }
        }
    }

    /// Returns the number of posted receives.
    #[must_use]
    pub fn posted(&self) -> usize {
        self.receives.len()
    }

    /// Returns the number of waiting messages, including claimed ones.
    #[must_use]
    pub fn unexpected(&self) -> usize {
        self.messages.len()
    }

    /// Returns the number of waiting messages of a source, including claimed ones, and the bytes
    /// that they hold. Returns `None` if the source was not added.
    #[must_use]
    pub fn held(&self, source: u32) -> Option<(usize, u64)> {
        self.sources.held(source)
    }

    /// Returns an unclaimed message of `source` for which `is_it` returns true. Searches all
    /// waiting messages.
    #[doc(hidden)]
    pub fn search(&self, source: u32, is_it: impl Fn(&M) -> bool) -> Option<MessageId> {
        let id = self.messages.search(source, is_it)?;
        (!self.messages.is_claimed(id)).then_some(MessageId(id))
    }
}

impl<R> Posted<R> {
    #[inline]
    fn matched<M>(self, heading: Heading, message: M) -> Matched<R, M> {
        Matched {
            receive: self.receive,
            message,
            heading,
            expected: self.descriptor,
        }
    }
}

impl<R, M> Default for Matcher<R, M> {
    fn default() -> Self {
        Self::new(Bounds::default())
    }
}

impl<R, M> fmt::Debug for Matcher<R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("posted", &self.posted())
            .field("unexpected", &self.unexpected())
            .finish_non_exhaustive()
    }
}
