//! Who sends, how much of it waits here, and who has to wait.

use std::collections::VecDeque;

use super::envelope::{Heading, Pattern};

/// How much of one source waits for receives, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// How many messages (default 4,096). Answers the threat of a source that sends what nobody wants,
    /// and bounds what a search with wildcards looks at.
    pub messages: usize,
    /// How many bytes these hold (default 16 MiB). Answers the same threat with large messages.
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

/// What is known of a source.
#[derive(Default)]
struct Source {
    has_ended: bool,
    /// What waits here of its messages, claimed ones included.
    messages: usize,
    bytes: u64,
    /// The message that it has to keep until there is room, or a receive for it; and where it is noted
    /// in [`Sources::stalled`].
    stalled: Option<(Heading, usize)>,
    /// It has to keep one, and can try again.
    is_ready: bool,
    /// It stands in [`Sources::ready`].
    is_queued: bool,
}

/// All of one rank.
pub(super) struct Sources {
    bounds: Bounds,
    all: Vec<Source>,
    /// How many have not ended.
    live: usize,
    /// Those that have to wait.
    stalled: Vec<u32>,
    /// Those that could try again, each once; some have done so already.
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

    /// # Panics
    ///
    /// When there have been 2^32 already.
    pub(super) fn add(&mut self) -> u32 {
        let Ok(number) = u32::try_from(self.all.len()) else {
            panic!("no rank has that many peers")
        };
        self.all.push(Source::default());
        self.live = self.live.saturating_add(1);
        number
    }

    /// Whether it was added; `false` when it has ended since.
    #[inline]
    pub(super) fn is_live(&self, number: u32) -> Option<bool> {
        Some(!self.get(number)?.has_ended)
    }

    /// Whether all that there were have ended.
    pub(super) fn nobody_is_left(&self) -> bool {
        self.live == 0 && !self.all.is_empty()
    }

    /// Whether it had not ended before.
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

    /// What waits here: messages, and their bytes.
    pub(super) fn held(&self, number: u32) -> Option<(usize, u64)> {
        let source = self.get(number)?;
        Some((source.messages, source.bytes))
    }

    /// Takes note of a message that has to wait here; false if there is no room.
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

    /// As [`add_message`](Self::add_message), where there is room or not.
    #[inline]
    pub(super) fn add_beyond(&mut self, heading: &Heading) {
        if let Some(source) = self.get_mut(heading.envelope.source) {
            source.add(heading);
        }
    }

    /// A message that waited here is gone, and its source may get on.
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

    /// The source has to keep this message.
    #[cold]
    pub(super) fn stall(&mut self, heading: Heading) {
        let number = heading.envelope.source;
        let place = self.stalled.len();
        if let Some(source) = self.get_mut(number) {
            source.stalled = Some((heading, place));
            self.stalled.push(number);
        }
    }

    /// Whether any source has to wait.
    #[inline]
    pub(super) fn has_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    /// The source tries to send: whatever it had to keep, it does not any more. False if it was not
    /// added, or has ended.
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

    /// A receive waits now, maybe for a message that a source has to keep.
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

    /// A source that may try again, the one that could first.
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
        self.messages = self.messages.saturating_add(1);
        self.bytes = self.bytes.saturating_add(heading.held);
    }

    fn has_room(&self, heading: &Heading, bounds: Bounds) -> bool {
        let bytes = self.bytes.checked_add(heading.held);
        self.messages < bounds.messages && bytes.is_some_and(|bytes| bytes <= bounds.bytes)
    }
}
