//! Requests of a member to be accepted by another one.

use std::time::Duration;

use super::error::WorldError;
use super::session::Session;
use super::words::{Ask, Unheard, Word};
use jstream_endpoint::Endpoint;

impl Ask {
    /// Asks member `to` to accept this one. Returns the session, and the host under which the other
    /// member sees this one; empty if the other member does not tell it.
    ///
    /// # Errors
    ///
    /// [`WorldError::Refused`], or the error that `unheard` makes of a missing answer.
    pub(super) fn be_welcomed(
        self,
        (to, endpoint): (u32, &Endpoint),
        wait: Duration,
        unheard: impl FnOnce(Unheard) -> WorldError,
    ) -> Result<(Session, String), WorldError> {
        let rank = u32::try_from(self.rank).unwrap_or(u32::MAX);
        // The connection is read even if sending has failed: a message that the peer sent before it
        // closed explains more.
        let said = Word::Ask(self).say(endpoint);
        match Word::hear(endpoint, wait) {
            Ok(Word::Welcome(session, seen)) => Ok((session, seen)),
            Ok(Word::Refused(refusal)) => Err(WorldError::Refused {
                address: endpoint.info().address.clone(),
                rank,
                refusal,
            }),
            Ok(_) => Err(WorldError::out_of_turn(to)),
            Err(nothing) => Err(match said {
                Ok(()) => unheard(nothing),
                Err(error) => WorldError::lost(to, error),
            }),
        }
    }
}
