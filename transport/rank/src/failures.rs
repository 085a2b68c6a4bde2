//! Collective operations that have failed at other ranks.
//!
//! A rank that loses the connection to another one in a collective operation tells all members that
//! it is connected to. So a member that waits for a message of the lost rank, and does not know
//! that it is lost, gets an error at once. Its other messages of the operation are not affected.
//!
//! Decision 089 has the reasons.

use std::collections::VecDeque;
use std::sync::Arc;

use super::communicator::{COLLECTIVE, Members};
use super::element::name_by;
use super::error::{ElementName, Error};
use jstream_collective::Collective;
use jstream_matching::{Envelope, Heading, Pattern};

/// Maximum number of failures that are kept. A rank that begins an operation whose failure was
/// removed gets to know of it as before: by its own connections, or by the timeout.
const MOST: usize = 256;

/// Descriptor of the messages that tell of a failure, without taking the place of another message.
/// The lower 32 bits are the number in the communicator of the rank that has failed.
pub(super) const TOLD: u64 = 0xffff_fffe << 32;

/// Returns true if the descriptor is that of a message that tells of a failure. Such a message
/// takes effect when it arrives, and no receive gets it.
#[inline]
pub(super) fn is_notice(descriptor: u64) -> bool {
    descriptor >> 32 == TOLD >> 32
}

/// Descriptors from this one on are those of failure messages that take the place of others. The
/// lower 32 bits are the number in the communicator of the rank that has failed. Descriptors of
/// elements are below `1 << 63`. The payload is the text of the error, or empty.
pub(super) const FAILED: u64 = 0xffff_ffff << 32;

/// Maximum length in bytes of the text of an error in a failure message.
const MOST_TEXT: usize = 512;

/// Returns the text of an error for a failure message.
pub(super) fn text_of(error: &Error) -> Arc<str> {
    let text = error.to_string();
    let end = (0..=text.len().min(MOST_TEXT)).rev();
    let cut = end.filter_map(|length| text.get(..length)).next();
    Arc::from(cut.unwrap_or_default())
}

/// Returns true if a message takes the place of another one of a collective operation, and has the
/// text of an error.
#[inline]
pub(super) fn has_text(heading: &Heading) -> bool {
    let is_failure = heading.descriptor.is_some_and(|sent| sent >= FAILED);
    is_failure
        && heading.envelope.context & COLLECTIVE != 0
        && (1..=MOST_TEXT as u64).contains(&heading.length)
}

/// Adds the text in a failure message to the error of the receive that it ends.
pub(super) fn add_text(error: Error, heading: &Heading, payload: &[u8]) -> Error {
    match error {
        Error::WrongElements { sent, .. } if has_text(heading) => {
            let text = String::from_utf8_lossy(payload);
            let text: String = text.chars().filter(|char| !char.is_control()).collect();
            Error::FailedAt {
                // The operation that receives this sets its own name.
                collective: Collective::Barrier,
                rank: u32::try_from(sent.descriptor & !FAILED).unwrap_or(u32::MAX),
                reason: Some(Arc::from(text)),
            }
        }
        error => error,
    }
}

/// An operation that has failed at another rank.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ToldFailure {
    context: u32,
    tag: u64,
    descriptor: u64,
    /// The rank that has told of it.
    source: u32,
}

impl ToldFailure {
    /// Returns the failure that a message tells of.
    pub(super) fn new(envelope: &Envelope, descriptor: u64) -> Self {
        Self {
            context: envelope.context,
            tag: envelope.tag,
            descriptor,
            source: envelope.source,
        }
    }

    /// Returns true if a receive is for a message of the lost rank.
    pub(super) fn concerns(&self, pattern: &Pattern, members: &Members) -> bool {
        let lost = u32::try_from(self.descriptor & !TOLD).unwrap_or(u32::MAX);
        pattern.context == self.context
            && pattern.tag == Some(self.tag)
            && pattern.source == Some(members.in_node(lost))
    }

    /// Returns the error of a receive.
    pub(super) fn error(&self, expected: ElementName) -> Error {
        Error::WrongElements {
            expected,
            sent: name_by(self.descriptor),
            rank: self.source,
            tag: self.tag,
        }
    }
}

/// The operations that have failed at other ranks and have not ended at this one.
#[derive(Default)]
pub(super) struct Failures {
    list: VecDeque<ToldFailure>,
}

impl Failures {
    /// Returns true if there is no failure.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the failure that concerns a receive.
    pub(super) fn find(&self, pattern: &Pattern, members: &Members) -> Option<&ToldFailure> {
        let mut all = self.list.iter();
        all.find(|failure| failure.concerns(pattern, members))
    }

    /// Adds a failure. Returns false if it is known.
    pub(super) fn add(&mut self, new: ToldFailure) -> bool {
        // Several members report the same loss. The source does not distinguish them.
        let is_known = |old: &ToldFailure| {
            ToldFailure {
                source: new.source,
                ..*old
            } == new
        };
        if self.list.iter().any(is_known) {
            return false;
        }
        self.list.push_back(new);
        // A receive that misses a dropped one ends by its timeout instead.
        if self.list.len() > MOST {
            self.list.pop_front();
        }
        true
    }

    /// Removes the failure of an operation that has ended at this rank.
    pub(super) fn remove(&mut self, context: u32, tag: u64) {
        self.list
            .retain(|failure| failure.context != context || failure.tag != tag);
    }
}
