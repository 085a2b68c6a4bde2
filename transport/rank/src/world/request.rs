//! Requests of a member to be accepted by another one.

use std::time::Duration;

use super::error::WorldError;
use super::session::Session;
use super::words::{Ask, Unheard, Word};
use jstream_base::RecvError;
use jstream_endpoint::Endpoint;

/// Outcome of a request.
pub(super) enum JoinAnswer {
    /// The session, and the host under which the other member sees this one; empty if the other
    /// member does not tell it.
    Welcome(Session, String),
    /// The connection ended before an answer: the other member may have had too many connections.
    Ended(WorldError),
}

impl Ask {
    /// Returns true if this member may be a member of the world of `session`.
    fn is_of(&self, session: &Session) -> bool {
        self.session == Session::UNKNOWN || self.session.matches(session)
    }

    /// Asks member `to` to accept this one.
    ///
    /// # Errors
    ///
    /// [`WorldError::Refused`], or the error that `unheard` makes of a missing answer.
    pub(super) fn be_welcomed(
        self,
        (to, endpoint): (u32, &Endpoint),
        wait: Duration,
        unheard: impl FnOnce(Unheard) -> WorldError,
    ) -> Result<JoinAnswer, WorldError> {
        let rank = u32::try_from(self.rank).unwrap_or(u32::MAX);
        // The connection is read even if sending has failed: a message that the peer sent before it
        // closed explains more.
        let said = Word::Ask(self).send(endpoint);
        let nothing = match Word::receive(endpoint, wait) {
            Ok(Word::Welcome(session, _)) if !self.is_of(&session) => {
                let reason = "the session of another world".to_owned();
                return Err(WorldError::Nonsense { rank: to, reason });
            }
            Ok(Word::Welcome(session, seen)) => return Ok(JoinAnswer::Welcome(session, seen)),
            Ok(Word::Refused(refusal)) => {
                return Err(WorldError::Refused {
                    address: endpoint.info().address.clone(),
                    rank,
                    refusal,
                });
            }
            Ok(_) => return Err(WorldError::out_of_turn(to)),
            Err(nothing) => nothing,
        };
        // A listener with too many newcomers ends connections without an answer. The caller tries
        // again.
        let has_ended = matches!(
            nothing,
            Unheard::Nothing(RecvError::Closed { .. } | RecvError::Lost { .. })
        );
        let error = match said {
            Ok(()) => unheard(nothing),
            Err(error) => WorldError::lost(to, error),
        };
        if has_ended {
            Ok(JoinAnswer::Ended(error))
        } else {
            Err(error)
        }
    }
}
