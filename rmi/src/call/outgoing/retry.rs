//! Automatic retries of failed calls.

use std::time::Instant;

use jstream::MessageBuffer;

use crate::call::outgoing::sent::Sent;
use crate::frame::Metadata;
use crate::interface::Interface;
use crate::reference::{Object, Retries};
use crate::support::CallError;

/// State needed to retry a call.
pub(crate) struct RetryState {
    object: Object,
    interface: &'static Interface,
    index: usize,
    message: MessageBuffer,
    deadline: Option<Instant>,
    metadata: Metadata,
    retries: Retries,
    times: u32,
}

impl RetryState {
    pub(crate) fn new(
        object: Object,
        interface: &'static Interface,
        index: usize,
        message: MessageBuffer,
        (deadline, metadata): (Option<Instant>, Metadata),
        retries: Retries,
    ) -> Self {
        Self {
            object,
            interface,
            index,
            message,
            deadline,
            metadata,
            retries,
            times: 0,
        }
    }

    pub(crate) fn send(&self) -> Result<Sent, CallError> {
        let terms = (self.deadline, self.metadata.clone());
        let message = self.message.as_bytes();
        let method = self.interface.method(self.index);
        let named = (self.interface.name(), method);
        self.object.send_message(named, self.index, message, terms)
    }

    /// Returns the time of the next retry, or `None` if a retry cannot help or is not allowed.
    pub(crate) fn after(&mut self, error: &CallError) -> Option<Instant> {
        let is_in_vain = matches!(
            error,
            CallError::Arguments { .. }
                | CallError::Deadline { .. }
                | CallError::UnknownObject { .. }
                | CallError::UnknownMethod { .. }
                | CallError::Denied { .. }
                | CallError::Refused { .. }
        );
        let connection = self.object.connection();
        let has_ended = connection.is_none_or(|connection| connection.peer().has_ended());
        if is_in_vain || has_ended || !error.can_be_repeated() || self.times >= self.retries.most {
            return None;
        }
        let factor = 1u32.checked_shl(self.times).unwrap_or(u32::MAX);
        let pause = self.retries.pause.saturating_mul(factor);
        let pause = pause.min(self.retries.longest_pause);
        self.times = self.times.saturating_add(1);
        let over = self.object.clock().now().checked_add(pause)?;
        if self.deadline.is_some_and(|deadline| deadline <= over) {
            return None;
        }
        Instant::now().checked_add(pause)
    }

    /// Serves calls from the peer until the given time.
    pub(crate) fn pause(&self, until: Instant) {
        if let Some(connection) = self.object.connection() {
            connection.peer().serve(Some(until));
        }
    }
}
