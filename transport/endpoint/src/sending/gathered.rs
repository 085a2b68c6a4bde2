//! Small messages that wait in the device to be batched with later ones.

use std::io::IoSlice;

use super::SendDirection;
use crate::connection_info::Trouble;
use crate::ops::Notify;
use jstream_base::Header;

/// Outcome of a [flush](SendDirection::flush).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// No gathered message is left, or the rest is sent with the posted messages.
    All,
    /// The rest was posted.
    Posted,
    /// Another thread holds the half. If it sends anything, it sends the gathered messages first.
    Later,
}

impl SendDirection {
    /// Leaves a message with the device, to be batched with others. Returns false if the message
    /// has to be sent by itself.
    pub(crate) fn gather(&mut self, header: Header, segments: &[IoSlice<'_>]) -> bool {
        let gathered = self
            .free_half()
            .is_some_and(|half| half.gather(header, segments));
        if gathered {
            self.count(&header);
        }
        gathered
    }

    /// Sends the gathered messages.
    pub(crate) fn flush(&mut self) -> Flushed {
        // The device sends the gathered messages before the next one that is pushed, and the posted
        // ones are pushed by whoever drives them.
        if !self.posted.is_empty() || self.end.is_some() {
            return Flushed::All;
        }
        let Some(half) = &mut self.half else {
            return Flushed::Later;
        };
        match half.flush().map_err(|fault| Trouble::new(fault, 0)) {
            Ok(Some(rest)) => {
                self.begun = rest.taken > 0;
                self.enqueue_message(rest, Notify::Gathered);
                Flushed::Posted
            }
            Ok(None) | Err(Trouble::NoBuffer { .. }) => Flushed::All,
            Err(Trouble::End(end)) => {
                self.fail(end, true);
                Flushed::All
            }
        }
    }
}
