//! Notification of the sender of a message between threads.

use std::sync::Arc;

use super::Sender;
use crate::error::Error;
use crate::outcome::RequestOutcome;
use crate::work_queue::DeferredWork;
use jstream_device::connection::Payload;

impl Sender {
    /// Ends the request successfully, because the message was matched.
    pub(crate) fn finish(mut self) {
        self.is_done = true;
        self.end(RequestOutcome::sent());
    }

    /// Ends the request with an error and returns `payload` to it. Borrowed memory must have been
    /// dropped before.
    pub(crate) fn fail(mut self, payload: Option<Payload>, error: Error) {
        self.is_done = true;
        self.end(RequestOutcome {
            payload,
            ..RequestOutcome::failed(error)
        });
    }

    fn end(&self, outcome: RequestOutcome) {
        let mut deferred = DeferredWork::default();
        let mut state = self.inbox.lock();
        state.complete(self.request, outcome, &mut deferred);
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if !self.is_done {
            let reason = Arc::from("it ended before it received the message");
            let error = Error::PeerGone {
                rank: self.to,
                reason,
            };
            self.end(RequestOutcome::failed(error));
        }
    }
}
