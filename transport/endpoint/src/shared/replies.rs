//! Messages and credit changes that the receive direction produces, posted while the caller holds
//! its lock.

use super::Shared;
use crate::gate::Overfull;
use crate::ops::Notify;
use crate::remote::MOST_REQUESTS;
use crate::sending::{Leftover, SendDirection};
use jstream_base::HeaderError;
use jstream_device::connection::Outbound;

impl Shared {
    /// Posts an answer while the caller holds the lock of the receive direction. Returns false if
    /// too many answers wait.
    pub(crate) fn post_answer(&self, message: Outbound<'static>) -> bool {
        self.sending.lock().post_answer(message)
    }

    /// Posts a request, and the message that follows it.
    pub(crate) fn post_requests(&self, messages: impl Iterator<Item = Outbound<'static>>) {
        // The messages contain no answers, so the limit of answers does not apply.
        let _ = self.post_under_receive_lock(messages.map(|message| (message, Notify::Request)));
    }

    /// Takes credit of the peer while the caller holds the lock of the receive direction; see
    /// [`post_under_receive_lock`](Self::post_under_receive_lock).
    pub(crate) fn take_credit(
        &self,
        take: impl FnOnce(&mut SendDirection) -> Result<(), Overfull>,
    ) -> Result<Leftover, Overfull> {
        let mut sending = self.sending.lock();
        take(&mut sending)?;
        Ok(sending.unsent())
    }

    /// Posts messages while the caller holds the lock of the receive direction. Returns the kind of
    /// messages that were not sent, or an error if too many answers wait.
    pub(crate) fn post_under_receive_lock(
        &self,
        messages: impl Iterator<Item = (Outbound<'static>, Notify)>,
    ) -> Result<Leftover, HeaderError> {
        let mut sending = self.sending.lock();
        let mut few = true;
        for (message, notify) in messages {
            match notify {
                Notify::Answer => few &= sending.post_answer(message),
                notify => drop(sending.post(message, None, notify)),
            }
        }
        few.then_some(sending.unsent())
            .ok_or(HeaderError::TooManyRequests { max: MOST_REQUESTS })
    }
}
