//! What a side accepts of the other one, and how it calls.

use std::sync::Arc;
use std::time::Duration;

use jstream::Limits;
use jstream_transport::Address;
use jstream_transport::active::Settings;

use crate::auth::Secret;
use crate::capture::Capturing;
use crate::clock::Clock;
use crate::intercept::Interceptors;
use crate::reference::References;
use crate::stream::Window;

/// What a side accepts of the other one, and how it calls.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) limits: Limits,
    /// How long calls wait that say nothing else.
    pub(crate) time: Duration,
    /// How many methods may wait at once, for this connection and for all.
    pub(crate) max_waiting: usize,
    pub(crate) max_waiting_in_all: usize,
    /// How many bytes of answers the other side may leave unread.
    pub(crate) max_backlog: u64,
    /// How much of a stream that comes may be on its way.
    pub(crate) window: Window,
    /// How many streams may come as arguments at once.
    pub(crate) max_streams: usize,
    /// Result streams that may be open at once ([`max_result_streams`]).
    pub(crate) max_result_streams: usize,
    /// How long the other side has references that it says nothing of, and how many.
    pub(crate) lease: Duration,
    pub(crate) max_references: usize,
    /// Whether owners that the other side names are connected to.
    pub(crate) third_parties: bool,
    pub(crate) clock: Clock,
    /// What sees the calls of both sides.
    pub(crate) interceptors: Interceptors,
    /// What both sides have to know.
    pub(crate) secret: Option<Secret>,
    /// Where its messages are written to.
    pub(crate) capture: Option<Capturing>,
}

/// Returns how many calls of a peer with these settings may have open result streams at once: three quarters
/// of its window. Each such call is under way until its stream has ended, so the rest of the window stays for
/// other calls.
pub(crate) fn max_result_streams(settings: &Settings) -> usize {
    let window = usize::from(settings.window_messages);
    window.saturating_sub(window / 4)
}

impl Terms {
    /// Whether nobody sees the calls, and they go by the clock of the system.
    pub(super) fn are_plain(&self) -> bool {
        self.capture.is_none() && self.interceptors.is_empty() && !self.clock.is_paused()
    }

    /// No references, of a connection to a peer that others reach there.
    pub(super) fn references(&self, reach: Option<&Address>) -> Arc<References> {
        let (lease, most, clock) = (self.lease, self.max_references, self.clock.clone());
        Arc::new(References::new(lease, most, clock, reach.cloned()))
    }
}
