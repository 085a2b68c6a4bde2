//! Fast path of a call. The header that all calls of an object share is computed once, with the
//! object. The deadline is computed after the request is sent, while the peer is already processing
//! it.

use std::io::IoSlice;

use jstream_transport::active::Backpressure;

use crate::call::outgoing::failure::unsent;
use crate::call::outgoing::sent::Sent;
use crate::frame::length;
use crate::interface::Method;
use crate::reference::{Object, Plain};
use crate::session::{Connection, has_deadline};
use crate::support::CallError;

/// Size limit in bytes below which a send is short enough that the deadline may be computed after
/// it.
const BRIEF: usize = 4 << 10;

impl Object {
    /// Returns the fast path, unless the object has none or the caller inherits a deadline.
    #[inline]
    pub(super) fn plain_way(&self) -> Option<(&Connection, &Plain)> {
        let plain = self.plain.as_ref()?;
        let (connection, _) = self.place.at_peer()?;
        (!has_deadline()).then_some((connection, plain))
    }

    /// Sends a call over the fast path.
    pub(super) fn send_plainly(
        &self,
        (connection, plain): (&Connection, &Plain),
        (place, method): (u16, &'static Method),
        segments: &[IoSlice<'_>],
    ) -> Result<Sent, CallError> {
        let word = plain.word(place);
        let mut deadline = None;
        let ticket = if length(segments) < BRIEF {
            let peer = connection.peer();
            peer.request_with(plain.handler, word, segments, Backpressure::QueueInPlace)
        } else {
            deadline = self.span.deadline();
            connection.call(connection.session(), word, segments, deadline)
        };
        // The peer processes the request while the deadline is computed.
        let deadline = deadline.or_else(|| self.span.deadline());
        match ticket {
            Ok(ticket) => Ok(self.sent(ticket, connection.session(), method, deadline, None)),
            Err(error) => Err(unsent(method, error)),
        }
    }
}
