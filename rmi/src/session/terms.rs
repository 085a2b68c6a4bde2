//! Settings of a session: limits for the peer, and defaults for calls.

use std::sync::Arc;
use std::time::Duration;

use jstream::Limits;
use jstream_active::Settings;
use jstream_base::Address;

use crate::frame::Window;
use crate::interface::Interface;
use crate::session::admission::AdmissionControl;
use crate::session::auth::Secret;
use crate::session::capture::Capturing;
use crate::session::clock::Clock;
use crate::session::connection::Connection;
use crate::session::intercept::Interceptors;
use crate::session::references::{Import, References};

/// Settings of a session: limits for the peer, and defaults for calls.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) limits: Limits,
    /// Default timeout of calls.
    pub(crate) time: Duration,
    /// Maximum number of suspended methods of this connection. `max_waiting_in_all` is the maximum
    /// for all connections.
    pub(crate) max_waiting: usize,
    pub(crate) max_waiting_in_all: usize,
    /// Maximum size in bytes of the answers that the peer may leave unread.
    pub(crate) max_backlog: u64,
    /// Flow-control window of each incoming stream.
    pub(crate) window: Window,
    /// Maximum number of open argument streams from the peer.
    pub(crate) max_streams: usize,
    /// Result streams that may be open at once ([`max_result_streams`]).
    pub(crate) max_result_streams: usize,
    /// Time after which the references of a silent peer expire. `max_references` is the maximum
    /// number of references that it may have.
    pub(crate) lease: Duration,
    pub(crate) max_references: usize,
    /// Function that claims objects of other owners that the peer names, if this side accepts them.
    pub(crate) third_parties: Option<Claim>,
    pub(crate) clock: Clock,
    /// Admission of the peer's calls, at a server that limits them.
    pub(crate) admission: Option<Arc<AdmissionControl>>,
    /// Interceptors of the calls in both directions.
    pub(crate) interceptors: Interceptors,
    /// Shared secret for authentication.
    pub(crate) secret: Option<Secret>,
    /// Certificates with which this side claims objects of third parties, over `tls`.
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<jstream_base::tls::Tls>,
    /// Destination of captured messages.
    pub(crate) capture: Option<Capturing>,
}

/// Function that claims an object of a third party from its owner: by the connection over which it
/// was passed, its key, the address of the owner, and its interface. Returns the reason if it
/// fails.
pub(crate) type Claim =
    fn(&Connection, [u64; 2], &str, &'static Interface) -> Result<Arc<Import>, String>;

/// Returns the maximum number of calls of a peer with these settings that may have open result
/// streams at once: three quarters of its window. Each such call is in flight until its stream has
/// ended, so the rest of the window is left for other calls.
pub(crate) fn max_result_streams(settings: &Settings) -> usize {
    let window = usize::from(settings.window_messages);
    window.saturating_sub(window / 4)
}

impl Terms {
    /// Returns true if calls are not limited, intercepted or captured and use the system clock.
    pub(super) fn are_plain(&self) -> bool {
        let is_observed = self.capture.is_some() || !self.interceptors.is_empty();
        // An answer of a plain session skips the look for each of these parts. A new part that
        // calls may have must be listed here.
        !is_observed && self.admission.is_none() && !self.clock.is_paused()
    }

    /// Creates an empty table of references. `reach` is the address by which third parties reach
    /// the peer.
    pub(super) fn references(&self, reach: Option<&Address>) -> Arc<References> {
        let (lease, most, clock) = (self.lease, self.max_references, self.clock.clone());
        Arc::new(References::new(lease, most, clock, reach.cloned()))
    }
}
