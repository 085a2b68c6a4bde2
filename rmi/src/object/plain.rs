//! Fast path of a call. The header that all calls of an object share is computed once, with the
//! object. The deadline is computed after the request is sent, while the peer is already processing
//! it.

use std::io::IoSlice;

use jstream_transport::active::Handler;

use super::{Object, ObjectPlace};
use crate::call::{Sent, unsent};
use crate::context;
use crate::error::CallError;
use crate::frame::{CallHeader, Span};
use crate::interface::Method;
use crate::session::{Connection, length};

/// Size limit in bytes below which a send is short enough that the deadline may be computed after
/// it.
const BRIEF: usize = 4 << 10;

/// Shared header of the calls of an object. Requires a connection without interceptors, and a long
/// timeout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    handler: Handler,
    /// Header of the first method.
    word: u64,
}

impl Plain {
    pub(super) fn of(place: &ObjectPlace, span: &Span) -> Option<Self> {
        let (connection, number) = place.at_peer()?;
        let session = connection.session();
        (session.is_plain && span.is_long()).then(|| Self {
            handler: session.calls(),
            word: CallHeader::spanning(number, 0, span),
        })
    }

    /// Returns the header of the method at `place`.
    #[inline]
    pub(super) fn word(&self, place: u16) -> u64 {
        self.word | CallHeader::placed(place)
    }
}

impl ObjectPlace {
    /// Returns the connection and number of the object if neither can change.
    #[inline]
    fn at_peer(&self) -> Option<(&Connection, u32)> {
        match self {
            Self::Own(connection, number) => Some((connection, *number)),
            Self::Import(import) => Some((import.connection(), import.number())),
            Self::Here(_) | Self::Ahead(_) => None,
        }
    }
}

impl Object {
    /// Returns the fast path, unless the object has none or the caller inherits a deadline.
    #[inline]
    pub(super) fn plain_way(&self) -> Option<(&Connection, &Plain)> {
        let plain = self.plain.as_ref()?;
        let (connection, _) = self.place.at_peer()?;
        (!context::has_deadline()).then_some((connection, plain))
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
            peer.request_in_turn(plain.handler, word, segments)
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
