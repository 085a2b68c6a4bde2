//! The short way of a call: what can be known of all calls of an object is worked out with it, and what need not be known
//! before is found out when the call is under way.

use std::io::IoSlice;

use jstream_transport::active::Handler;

use super::{Object, ObjectPlace};
use crate::call::{Sent, unsent};
use crate::context;
use crate::error::CallError;
use crate::frame::{Span, Word};
use crate::interface::Method;
use crate::session::{Connection, length};

/// Fewer bytes are sent at once, so that the time of a call may count from behind that.
const BRIEF: usize = 4 << 10;

/// What the calls of an object say that go over its connection, are seen by nobody there, and have a long time each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    handler: Handler,
    /// That of its first method.
    word: u64,
}

impl Plain {
    pub(super) fn of(place: &ObjectPlace, span: &Span) -> Option<Self> {
        let (connection, number) = place.at_peer()?;
        let session = connection.session();
        (session.is_plain && span.is_long()).then(|| Self {
            handler: session.calls(),
            word: Word::spanning(number, 0, span),
        })
    }

    /// That of the method at `place`.
    #[inline]
    pub(super) fn word(&self, place: u16) -> u64 {
        self.word | Word::placed(place)
    }
}

impl ObjectPlace {
    /// By which connection it is reached, and by what number, where both stay the same.
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
    /// How a call goes that is made now, unless it inherits a deadline.
    #[inline]
    pub(super) fn plain_way(&self) -> Option<(&Connection, &Plain)> {
        let plain = self.plain.as_ref()?;
        let (connection, _) = self.place.at_peer()?;
        (!context::has_deadline()).then_some((connection, plain))
    }

    /// Sends a call so.
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
        // The other side is at work meanwhile.
        let deadline = deadline.or_else(|| self.span.deadline());
        match ticket {
            Ok(ticket) => Ok(self.sent(ticket, connection.session(), method, deadline, None)),
            Err(error) => Err(unsent(method, error)),
        }
    }
}
