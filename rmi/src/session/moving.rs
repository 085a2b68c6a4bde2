//! The end of a server, as both sides know it before the connection closes.
//!
//! A server that is shutting down tells its clients to move. Those that attend to this answer when
//! they make no more calls, so that no call of theirs is on its way when the connection closes. A
//! connection whose server is moving is [retired](jstream_active::Peer::is_retired).
//!
//! Decision 120 has the reasons.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Context;

use jstream_active::Handler;
use jstream_sync::callbacks;
use jstream_sync::wakers::{WakerList, wake_each};

use crate::session::connection::Connection;
use crate::support::lock;

/// Statements of both sides about the end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Moving {
    /// `None` if the other side does not know such messages.
    handler: Option<Handler>,
    /// True if the other side was told to move.
    is_told: AtomicBool,
    /// True if the other side answers when it makes no more calls.
    is_attended: AtomicBool,
    has_moved: AtomicBool,
    /// Tasks that want to know when the other side tells this side to move.
    waiters: Mutex<WakerList>,
}

impl Moving {
    pub(super) fn new(handler: Option<Handler>) -> Self {
        Self {
            handler,
            ..Self::default()
        }
    }

    /// Returns the handler of the other side, if it has one.
    pub(super) fn handler(&self) -> Option<Handler> {
        self.handler
    }

    /// Returns true if the other side was told to move.
    pub(super) fn is_told(&self) -> bool {
        // The flags say what was sent or received, and publish no other memory. A stale value
        // delays a shutdown by one look.
        self.is_told.load(Ordering::Relaxed)
    }

    /// Records that the other side was told to move.
    pub(super) fn record_told(&self) {
        self.is_told.store(true, Ordering::Relaxed);
    }

    /// Records that the other side will say when it makes no more calls.
    pub(super) fn record_attended(&self) {
        self.is_attended.store(true, Ordering::Relaxed);
    }

    /// Records that the other side makes no more calls.
    pub(super) fn record_moved(&self) {
        self.has_moved.store(true, Ordering::Relaxed);
    }

    /// Returns true if the other side may send more calls, and will say when it does not.
    pub(crate) fn is_awaited(&self) -> bool {
        let is_known = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        // A peer that has not announced that it attends has no thread that would answer, so waiting
        // for it would take the whole time limit.
        is_known(&self.is_attended) && !is_known(&self.has_moved)
    }

    /// Wakes the tasks that want to know that the other side has told this side to move.
    pub(super) fn wake_waiters(&self) {
        let locked = || lock(&self.waiters);
        wake_each(locked(), locked, |waiters| waiters);
    }
}

/// Wait for the time at which the server of a connection tells its clients to move.
pub(crate) struct MoveWait {
    connection: Connection,
    key: Option<u64>,
}

impl MoveWait {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            key: None,
        }
    }

    /// Returns true if the server is shutting down, and the connection has not ended yet.
    pub(crate) fn is_moving(&self) -> bool {
        let peer = self.connection.peer();
        peer.is_retired() && !peer.has_ended()
    }

    /// Registers the task, which is woken when the server tells its clients to move. It may have
    /// done so before.
    pub(crate) fn register(&mut self, context: &Context<'_>) {
        let waiters = &self.connection.session().moving.waiters;
        let replaced = lock(waiters).register(&mut self.key, context.waker().clone());
        callbacks::discard(replaced);
    }
}

impl Drop for MoveWait {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let removed = lock(&self.connection.session().moving.waiters).remove(key);
            callbacks::discard(removed);
        }
    }
}
