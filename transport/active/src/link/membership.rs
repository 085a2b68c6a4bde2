//! The poll group that serves a connection.
//!
//! Decision 132 has the reasons.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::poll_loop::PollLoop;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};

/// Membership of a connection in a poll group.
pub(crate) struct Membership {
    /// The group until the connection is moved for the first time.
    first: Arc<PollLoop>,
    /// The summary is the number of moves.
    state: PublishingLock<MembershipState>,
    /// Address of the group whose queue reports the next message of the connection, or 0. While it
    /// is not 0, that group is the current one, so it exists.
    ///
    /// Accessed with `Relaxed`, because locks order it. Moves and arming hold `moving`. The poller
    /// of the group reads it and takes reports, and holds the lock of the poller. A report comes
    /// from the queue, which got it after `CompletionQueue::arm` had locked the direction.
    armed_in: AtomicUsize,
    /// Held while the connection is moved, or armed in its group.
    moving: Mutex<()>,
}

struct MembershipState {
    group: Arc<PollLoop>,
    /// Number of moves between groups.
    moves: usize,
}

impl Publish for MembershipState {
    type Summary = Word<usize>;
    type Listeners = ();

    fn summary(&self) -> usize {
        self.moves
    }
}

impl Membership {
    pub(super) fn new(group: &Arc<PollLoop>) -> Self {
        let state = MembershipState {
            group: group.clone(),
            moves: 0,
        };
        Self {
            first: group.clone(),
            state: PublishingLock::new(state, ()),
            armed_in: AtomicUsize::new(0),
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
        // A move right after this check is harmless: work that is queued in the old group is passed
        // on, and waits compare the number of moves.
        (self.moves() == 0).then_some(&self.first)
    }

    /// Returns the number of moves between groups.
    #[inline]
    pub(super) fn moves(&self) -> usize {
        self.state.summary().get_acquire()
    }

    /// Prevents moves. Held to move or to arm the connection.
    pub(crate) fn lock_moves(&self) -> MutexGuard<'_, ()> {
        jstream_sync::lock(&self.moving)
    }

    /// Sets the group. If it differs from the previous one, returns that, whose queue the caller
    /// has to disarm. The caller prevents other moves.
    pub(crate) fn change(&self, group: &Arc<PollLoop>) -> Option<Arc<PollLoop>> {
        let mut state = self.state.lock();
        if Arc::ptr_eq(&state.group, group) {
            return None;
        }
        state.moves = state.moves.wrapping_add(1);
        let before = std::mem::replace(&mut state.group, group.clone());
        self.armed_in.store(0, Ordering::Relaxed);
        Some(before)
    }

    /// Returns true if the queue of the group reports the next message. Then the group does not
    /// poll the connection.
    #[inline]
    pub(crate) fn is_armed(&self) -> bool {
        self.armed_in.load(Ordering::Relaxed) != 0
    }

    /// Records that the queue of `group` is going to report the next message. Returns false if
    /// another group serves the connection. The caller is the poller of the group, and prevents
    /// moves.
    pub(crate) fn arm(&self, group: &PollLoop) -> bool {
        let is_current = self.is_in(group);
        if is_current {
            self.armed_in.store(address(group), Ordering::Relaxed);
        }
        is_current
    }

    /// Records that the queue of `group` has reported a message. Returns false if the connection
    /// has moved since it was armed there: the report is void. The queue still knows the
    /// connection.
    pub(crate) fn disarm(&self, group: &PollLoop) -> bool {
        let (armed, relaxed) = (address(group), Ordering::Relaxed);
        let disarmed = self.armed_in.compare_exchange(armed, 0, relaxed, relaxed);
        disarmed.is_ok()
    }

    pub(crate) fn is_in(&self, group: &PollLoop) -> bool {
        self.with_group(|current| std::ptr::eq(Arc::as_ptr(current), group))
    }
}

fn address(group: &PollLoop) -> usize {
    std::ptr::from_ref(group).addr()
}
