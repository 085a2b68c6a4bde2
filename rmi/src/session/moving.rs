//! The end of a server, as both sides know it before the connection closes.
//!
//! A server that is shutting down tells its clients to move. Those that attend to this answer when
//! they make no more calls, so that no call of theirs is on its way when the connection closes. A
//! connection whose server is moving is [retired](jstream_active::Peer::is_retired).
//!
//! Decision 120 has the reasons.

use std::sync::atomic::{AtomicBool, Ordering};

use jstream_active::Handler;

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
        is_known(&self.is_attended) && !is_known(&self.has_moved)
    }
}
