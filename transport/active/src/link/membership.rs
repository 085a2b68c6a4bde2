//! The poll group that serves a connection.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::poll_loop::PollLoop;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};

/// Membership of a connection in a poll group.
pub(crate) struct Membership {
    /// The group until the connection is moved for the first time.
    first: Arc<PollLoop>,
    /// The summary is true if a receive is posted in the current group, and the number of moves.
    state: PublishingLock<MembershipState>,
    /// Held while the connection is moved, or a receive is posted in its group.
    moving: Mutex<()>,
}

struct MembershipState {
    group: Arc<PollLoop>,
    /// True if a receive is posted in the queue of that group.
    is_posted: bool,
    /// Number of moves between groups.
    moves: usize,
}

impl Publish for MembershipState {
    type Summary = (Word<bool>, Word<usize>);
    type Listeners = ();

    fn summary(&self) -> (bool, usize) {
        (self.is_posted, self.moves)
    }
}

impl Membership {
    pub(super) fn new(group: &Arc<PollLoop>) -> Self {
        let state = MembershipState {
            group: group.clone(),
            is_posted: false,
            moves: 0,
        };
        Self {
            first: group.clone(),
            state: PublishingLock::new(state, ()),
            moving: Mutex::default(),
        }
    }

    /// Returns the group.
    pub(crate) fn group(&self) -> Arc<PollLoop> {
        self.state.lock().group.clone()
    }

    /// Calls `work` with the group. Takes no lock if the connection was never moved.
    #[inline]
    pub(crate) fn with_group<R>(&self, work: impl FnOnce(&Arc<PollLoop>) -> R) -> R {
        match self.unmoved() {
            Some(first) => work(first),
            None => work(&self.group()),
        }
    }

    /// Returns the group if the connection was never moved.
    #[inline]
    pub(super) fn unmoved(&self) -> Option<&Arc<PollLoop>> {
        (self.moves() == 0).then_some(&self.first)
    }

    /// Returns the number of moves between groups.
    #[inline]
    pub(super) fn moves(&self) -> usize {
        self.state.summary().1.get_acquire()
    }

    /// Prevents moves. Held to move the connection or to post a receive.
    pub(crate) fn lock_moves(&self) -> MutexGuard<'_, ()> {
        jstream_sync::lock(&self.moving)
    }

    /// Sets the group. If it differs from the previous one, returns that, and whether a receive was
    /// posted there.
    pub(crate) fn change(&self, group: &Arc<PollLoop>) -> Option<(Arc<PollLoop>, bool)> {
        let mut state = self.state.lock();
        if Arc::ptr_eq(&state.group, group) {
            return None;
        }
        let was_posted = std::mem::take(&mut state.is_posted);
        state.moves = state.moves.wrapping_add(1);
        let before = std::mem::replace(&mut state.group, group.clone());
        Some((before, was_posted))
    }

    /// Returns true if a receive is posted in the group.
    #[inline]
    pub(crate) fn is_posted(&self) -> bool {
        self.state.summary().0.get()
    }

    /// Records that a receive is posted in `group`, or no longer is. Returns false if that was
    /// recorded already, or another group serves the connection.
    pub(crate) fn set_posted(&self, group: &PollLoop, is_posted: bool) -> bool {
        let mut state = self.state.lock();
        let is_current = std::ptr::eq(Arc::as_ptr(&state.group), group);
        if !is_current || state.is_posted == is_posted {
            return false;
        }
        state.is_posted = is_posted;
        true
    }

    pub(crate) fn is_in(&self, group: &PollLoop) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.state.lock().group), group)
    }
}
