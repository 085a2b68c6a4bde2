//! Sources: their bounds, and backpressure.
//!
//! Decision 066 has the reasons.

use std::collections::VecDeque;

use super::envelope::{Heading, Pattern};

/// Bounds of the waiting messages of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Maximum number of messages (default 4,096). Counters a source that sends messages without a
    /// matching receive, and bounds searches with wildcards.
    pub messages: usize,
    /// Maximum number of bytes that they hold (default 16 MiB). Counters the same threat with large
    /// messages.
    pub bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            messages: 4_096,
            bytes: 16 << 20,
        }
    }
}

/// State of a source.
#[derive(Default)]
struct Source {
    has_ended: bool,
    /// Number of waiting messages, including claimed ones, and their bytes.
    messages: usize,
    bytes: u64,
    /// The message that the source must keep until there is room or a receive for it, and the index
    /// of the source in [`Sources::stalled`].
    stalled: Option<(Heading, usize)>,
    /// True if the source keeps a message and can try again.
    is_ready: bool,
    /// True if the source is in [`Sources::ready`].
    is_queued: bool,
}

/// The sources of one rank.
pub(super) struct Sources {
    bounds: Bounds,
    all: Vec<Source>,
    /// Number of sources that have not ended.
    live: usize,
    /// Sources that keep a message.
    stalled: Vec<u32>,
    /// Sources that may try again, each once. Some have tried again since.
    ready: VecDeque<u32>,
}

impl Sources {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            all: Vec::new(),
            live: 0,
            stalled: Vec::new(),
            ready: VecDeque::new(),
        }
    }

    /// Adds a source.
    ///
    /// # Panics
    ///
    /// If 2^32 sources have been added.
    pub(super) fn add(&mut self) -> u32 {
        let Ok(number) = u32::try_from(self.all.len()) else {
            panic!("too many sources: the limit is 2^32")
        };
        self.all.push(Source::default());
        self.live = self.live.saturating_add(1);
        number
    }

    /// Returns false if the source has ended, and `None` if it was not added.
    #[inline]
    pub(super) fn is_live(&self, number: u32) -> Option<bool> {
        Some(!self.get(number)?.has_ended)
    }

    /// Returns true if there were sources and all have ended.
    pub(super) fn nobody_is_left(&self) -> bool {
        self.live == 0 && !self.all.is_empty()
    }

    /// Ends a source. Returns true if it had not ended before.
    pub(super) fn end(&mut self, number: u32) -> bool {
        self.clear_stalled(number);
        let ended = match self.get_mut(number) {
            Some(source) if !source.has_ended => {
                source.has_ended = true;
                true
            }
            _ => false,
        };
        if ended {
            self.live = self.live.saturating_sub(1);
        }
        ended
    }

    /// Returns the number of waiting messages of a source, and their bytes.
    pub(super) fn held(&self, number: u32) -> Option<(usize, u64)> {
        let source = self.get(number)?;
        Some((source.messages, source.bytes))
    }

    /// Counts a message that waits. Returns false if there is no room for it.
    #[inline]
    pub(super) fn add_message(&mut self, heading: &Heading) -> bool {
        let bounds = self.bounds;
        let Some(source) = self.get_mut(heading.envelope.source) else {
            return false;
        };
        if !source.has_room(heading, bounds) {
            return false;
        }
        source.add(heading);
        true
    }

    /// As [`add_message`](Self::add_message), but ignores the bounds.
    #[inline]
    pub(super) fn add_beyond(&mut self, heading: &Heading) {
        if let Some(source) = self.get_mut(heading.envelope.source) {
            source.add(heading);
        }
    }

    /// Uncounts a message that waited. Its source may become ready.
    #[inline]
    pub(super) fn remove_message(&mut self, heading: &Heading) {
        let bounds = self.bounds;
        let number = heading.envelope.source;
        let Some(source) = self.get_mut(number) else {
            return;
        };
        source.messages = source.messages.saturating_sub(1);
        source.bytes = source.bytes.saturating_sub(heading.held);
        if let Some((waits, _)) = source.stalled {
            if source.has_room(&waits, bounds) {
                self.set_ready(number);
            }
        }
    }

    /// Records that a source must keep a message.
    #[cold]
    pub(super) fn stall(&mut self, heading: Heading) {
        let number = heading.envelope.source;
        let place = self.stalled.len();
        if let Some(source) = self.get_mut(number) {
            source.stalled = Some((heading, place));
            self.stalled.push(number);
        }
    }

    /// Returns true if any source must keep a message.
    #[inline]
    pub(super) fn has_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    /// Records that a source tries to send, so it no longer keeps a message. Returns false if it
    /// was not added, or has ended.
    #[inline]
    pub(super) fn tries(&mut self, number: u32) -> bool {
        match self.get(number) {
            Some(source) if !source.has_ended => {
                if source.stalled.is_some() {
                    self.clear_stalled(number);
                }
                true
            }
            _ => false,
        }
    }

    fn clear_stalled(&mut self, number: u32) {
        let Some(source) = self.get_mut(number) else {
            return;
        };
        source.is_ready = false;
        let Some((_, place)) = source.stalled.take() else {
            return;
        };
        self.stalled.swap_remove(place);
        if let Some(&moved) = self.stalled.get(place) {
            if let Some((_, at)) = self.get_mut(moved).and_then(|one| one.stalled.as_mut()) {
                *at = place;
            }
        }
    }

    /// Marks the sources as ready whose kept messages match a receive that waits now.
    #[inline]
    pub(super) fn wanted(&mut self, pattern: &Pattern) {
        if self.stalled.is_empty() {
            return;
        }
        if let Some(number) = pattern.source {
            return self.wanted_of(number, pattern);
        }
        for place in 0..self.stalled.len() {
            if let Some(&number) = self.stalled.get(place) {
                self.wanted_of(number, pattern);
            }
        }
    }

    fn wanted_of(&mut self, number: u32, pattern: &Pattern) {
        let stalled = self.get(number).and_then(|source| source.stalled);
        if stalled.is_some_and(|(heading, _)| pattern.matches(&heading.envelope)) {
            self.set_ready(number);
        }
    }

    /// Returns the source that has been ready for the longest time.
    pub(super) fn next_ready(&mut self) -> Option<u32> {
        while let Some(number) = self.ready.pop_front() {
            if let Some(source) = self.get_mut(number) {
                source.is_queued = false;
                if std::mem::take(&mut source.is_ready) {
                    return Some(number);
                }
            }
        }
        None
    }

    fn set_ready(&mut self, number: u32) {
        if let Some(source) = self.get_mut(number) {
            source.is_ready = true;
            if !std::mem::replace(&mut source.is_queued, true) {
                self.ready.push_back(number);
            }
        }
    }

    #[inline]
    fn get(&self, number: u32) -> Option<&Source> {
        self.all.get(number as usize)
    }

    #[inline]
    fn get_mut(&mut self, number: u32) -> Option<&mut Source> {
        self.all.get_mut(number as usize)
    }
}

impl Source {
    fn add(&mut self, heading: &Heading) {
        self.messages = self.messages.wrapping_add(1);
        self.bytes = self.bytes.saturating_add(heading.held);
    }

    fn has_room(&self, heading: &Heading, bounds: Bounds) -> bool {
        let bytes = self.bytes.checked_add(heading.held);
        self.messages < bounds.messages && bytes.is_some_and(|bytes| bytes <= bounds.bytes)
    }
}
