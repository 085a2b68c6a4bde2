//! The matcher of one rank.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use super::envelope::{Class, Heading, Key, Pattern};
use super::hash::Hash;
use super::lanes::Id;
use super::outcome::{
    Arrival, Claim, Ended, Matched, MessageId, Post, PostError, Posting, Probed, ReceiveId, Stray,
    Unposted,
};
use super::posted::{Posted, Receives};
use super::sources::{Bounds, Sources};
use super::unexpected::Messages;

/// The receives that wait for messages, and the messages that wait for receives, of one rank.
///
/// `R` is what is kept with a receive, `M` what is kept with a message: where to put it, where it is.
/// The [module](super) says what is matched with what, and shows it.
pub struct Matcher<R, M> {
    hash: Hash,
    receives: Receives<R>,
    messages: Messages<M>,
    sources: Sources,
    /// The number of the last receive or message: lower ones came before.
    sequence: u64,
}

impl<R, M> Matcher<R, M> {
    /// One without sources, of each of which up to `bounds` will wait here.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            hash: Hash::new(),
            receives: Receives::new(),
            messages: Messages::new(),
            sources: Sources::new(bounds),
            // Ids of another matcher mean nothing here, as its numbers are far from these.
            sequence: RandomState::new().hash_one(()) >> 1,
        }
    }

    /// Adds a source, which gets the number of sources that there were before. Numbers are not used
    /// again: a peer that comes back is another source.
    ///
    /// # Panics
    ///
    /// When there have been 2^32 already.
    pub fn add_source(&mut self) -> u32 {
        self.sources.add()
    }

    /// Ends a source: everything that it sent has arrived. Its messages are still received.
    ///
    /// Ends the receives that only it could have matched; those from any source too, if it was the
    /// last. They come in the order in which they were posted. Takes as long as there have been
    /// receives at once.
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

    /// Ends the receives from any source in one context, as when all of its members are gone while
    /// those of others go on. Takes as long as there have been receives at once.
    pub fn end_any_source(&mut self, context: u32) -> Vec<Ended<R>> {
        let is_meant = |p: &Pattern| p.context == context && p.source.is_none();
        self.receives.remove_all(is_meant)
    }

    /// Ends the receives from any source in all contexts, as when only the rank itself is left.
    pub fn end_any_sources(&mut self) -> Vec<Ended<R>> {
        self.receives.remove_all(|pattern| pattern.source.is_none())
    }

    /// Posts a receive: it gets the first message that `pattern` matches, of those that wait or of those
    /// that arrive. `expected` says what the message's elements have to be, which
    /// [`Matched::agrees`] compares: it chooses no message.
    ///
    /// # Errors
    ///
    /// If no message waits for it, and none can arrive.
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

    /// As [`post`](Self::post), but a message that `stays` is claimed.
    #[inline]
    pub(crate) fn post_claiming(
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

    /// No message is here for a receive.
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

    /// Takes the message that a receive with that pattern gets, if it is here. The same as
    /// [`claim`](Self::claim) and [`take`](Self::take).
    #[inline]
    pub fn receive(&mut self, pattern: &Pattern) -> Option<(Heading, M)> {
        self.first_message(&self.hash.pattern(pattern))
    }

    #[inline]
    fn first_message(&mut self, key: &Key) -> Option<(Heading, M)> {
        let id = self.messages.find(key)?;
        self.remove_message(id)
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

    /// Takes a message: the receive that was posted first of those that match it gets it, or it waits.
    ///
    /// The messages of a source have to come in the order in which it sent them.
    ///
    /// # Errors
    ///
    /// If its source was not added, or has ended.
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
        if !self.sources.add_message(&heading) {
            self.sources.stall(heading);
            return Ok(Arrival::Full(message));
        }
        Ok(Arrival::Waits(self.keep(heading, message)))
    }

    /// As [`arrive`](Self::arrive), for a message that has come already, whether there is room for it or not:
    /// what its source has to keep, that keeps on keeping.
    #[inline]
    pub(crate) fn arrive_beyond(
        &mut self,
        heading: Heading,
        message: M,
    ) -> Result<Arrival<R, M>, Stray<M>> {
        let source_number = heading.envelope.source;
        if self.sources.is_live(source_number) != Some(true) {
            return Err(Stray {
                source_number,
                message,
            });
        }
        if let Some(posted) = self.first_receive(&heading) {
            return Ok(Arrival::Matched(posted.matched(heading, message)));
        }
        self.sources.add_beyond(&heading);
        Ok(Arrival::Waits(self.keep(heading, message)))
    }

    /// Keeps a message that has its receive already, claimed for that, whether there is room for it or not.
    pub(crate) fn keep_claimed(&mut self, heading: Heading, message: M) -> Claim {
        self.sources.add_beyond(&heading);
        let MessageId(id) = self.keep(heading, message);
        self.messages.claim(id);
        Claim { id, heading }
    }

    #[inline]
    fn keep(&mut self, heading: Heading, message: M) -> MessageId {
        let sequence = self.next_sequence();
        let key = self.hash.of(&heading.envelope, Class::Exact);
        MessageId(self.messages.push(key, sequence, heading, message))
    }

    #[inline]
    fn first_receive(&mut self, heading: &Heading) -> Option<Posted<R>> {
        let id = self.receives.first(&self.hash, &heading.envelope)?;
        self.receives.remove(id)
    }

    /// A source that got [`Arrival::Full`], and may try again now, since there is room, or since a
    /// receive for its message was posted. To be asked until it says `None` whenever a receive was
    /// posted, or a message that waited was matched, taken or withdrawn. Another source may be quicker,
    /// and then it has to wait once more.
    pub fn next_ready(&mut self) -> Option<u32> {
        self.sources.next_ready()
    }

    /// Whether a source has to keep a message: a receive for it may have to be posted before it comes.
    #[inline]
    pub(crate) fn has_stalled(&self) -> bool {
        self.sources.has_stalled()
    }

    /// A source has taken back the message that it had to keep.
    pub(crate) fn is_kept_no_more(&mut self, source: u32) {
        self.sources.tries(source);
    }

    /// Takes back a receive; `None` if it has its message already, or has ended.
    #[inline]
    pub fn cancel(&mut self, receive: ReceiveId) -> Option<R> {
        Some(self.receives.remove(receive.0)?.receive)
    }

    /// Takes back a message; `None` if it was received already, or is claimed.
    pub fn withdraw(&mut self, message: MessageId) -> Option<M> {
        if self.messages.is_claimed(message.0) {
            return None;
        }
        Some(self.remove_message(message.0)?.1)
    }

    /// A message that waits or is claimed, as when the rest of it has come.
    pub fn message_mut(&mut self, message: MessageId) -> Option<&mut M> {
        self.messages.get_mut(message.0)
    }

    /// The message that a receive with that pattern would get, if it is here. It stays, and another
    /// receive may get it: see [`claim`](Self::claim).
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

    /// Claims the message that a receive with that pattern would get, if it is here: from then on no
    /// receive gets it. It counts for its source until it is taken.
    pub fn claim(&mut self, pattern: &Pattern) -> Option<Claim> {
        let id = self.messages.find(&self.hash.pattern(pattern))?;
        let (heading, _) = self.messages.get(id)?;
        self.messages.claim(id);
        Some(Claim { id, heading })
    }

    /// Receives the message that was claimed.
    ///
    /// # Panics
    ///
    /// If another matcher gave the claim.
    pub fn take(&mut self, claim: Claim) -> (Heading, M) {
        let Some(message) = self.remove_message(claim.id) else {
            panic!("the claim is another matcher's")
        };
        message
    }

    /// Gives up a claim. The receive that was posted first of those that match the message gets it; else
    /// it waits again, in the place that it had.
    ///
    /// # Panics
    ///
    /// If another matcher gave the claim.
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
    pub(crate) fn hand_on(&mut self, claim: Claim) -> Option<(R, Claim)> {
        match self.first_receive(&claim.heading) {
            Some(posted) => Some((posted.receive, claim)),
            None => {
                self.messages.restore(claim.id);
                None
            }
        }
    }

    /// How many receives wait.
    #[must_use]
    pub fn posted(&self) -> usize {
        self.receives.len()
    }

    /// How many messages wait, claimed ones included.
    #[must_use]
    pub fn unexpected(&self) -> usize {
        self.messages.len()
    }

    /// How many messages of a source wait, claimed ones included, and how many bytes they hold; `None`
    /// if it was not added.
    #[must_use]
    pub fn held(&self, source: u32) -> Option<(usize, u64)> {
        self.sources.held(source)
    }

    /// A message of `source` that is the one, and that nobody has claimed. Looks at all that wait.
    pub(crate) fn search(&self, source: u32, is_it: impl Fn(&M) -> bool) -> Option<MessageId> {
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
