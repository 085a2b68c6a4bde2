//! Messages and credit changes that the receive direction produces, posted while the caller holds
//! its lock.

use super::Shared;
use crate::direction_lock::Common;
use crate::gate::Overfull;
use crate::ops::Notify;
use crate::remote::MOST_REQUESTS;
use crate::sending::{Leftover, SendDirection};
use jstream_base::HeaderError;
use jstream_device::connection::Outbound;

impl Shared {
    /// Posts an answer while the caller holds the lock of the receive direction. Its `common`
    /// records whether the connection is to be ended. Returns false if too many answers wait.
    pub(crate) fn post_answer(&self, common: &mut Common, message: Outbound<'static>) -> bool {
        let mut held = self.sending.lock();
        let few = held.post_answer(message);
        common.broke |= self.sending.leave(held).0;
        few
    }

    /// Posts a request, and the message that follows it.
    pub(crate) fn post_requests(
        &self,
        common: &mut Common,
        messages: impl Iterator<Item = Outbound<'static>>,
    ) {
        // The messages contain no answers, so the limit of answers does not apply.
        let _ = self
            .post_under_receive_lock(common, messages.map(|message| (message, Notify::Request)));
    }

    /// Takes credit of the peer while the caller holds the lock of the receive direction; see
    /// [`post_under_receive_lock`](Self::post_under_receive_lock).
    pub(crate) fn take_credit(
        &self,
        common: &mut Common,
        take: impl FnOnce(&mut SendDirection) -> Result<(), Overfull>,
    ) -> Result<Leftover, Overfull> {
        let mut held = self.sending.lock();
        let taken = take(&mut held);
        let unsent = held.unsent();
        common.broke |= self.sending.leave(held).0;
        taken.map(|()| unsent)
    }

    /// Posts messages while the caller holds the lock of the receive direction. Returns the kind of
    /// messages that were not sent, or an error if too many answers wait.
    pub(crate) fn post_under_receive_lock(
        &self,
        common: &mut Common,
        messages: impl Iterator<Item = (Outbound<'static>, Notify)>,
    ) -> Result<Leftover, HeaderError> {
        let mut held = self.sending.lock();
        let mut few = true;
        for (message, notify) in messages {
            match notify {
                Notify::Answer => few &= held.post_answer(message),
                notify => drop(held.post(message, None, notify)),
            }
        }
        let unsent = held.unsent();
        common.broke |= self.sending.leave(held).0;
        few.then_some(unsent)
            .ok_or(HeaderError::TooManyRequests { max: MOST_REQUESTS })
    }
}
