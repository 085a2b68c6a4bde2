//! Small messages that wait in the device for those behind them.

use std::io::IoSlice;

use super::Sending;
use crate::endpoint::facts::Trouble;
use crate::endpoint::ops::Notify;
use crate::header::Header;

/// What came of a [flush](Sending::flush).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::endpoint) enum Flushed {
    /// Nothing is left, or it goes with what is posted.
    All,
    /// The rest is posted.
    Posted,
    /// Somebody else has the half, who sends what was gathered first if he sends anything.
    Later,
}

impl Sending {
    /// Leaves a message with the device, where it waits for others. False where it has to be sent by itself.
    pub(in crate::endpoint) fn gather(&mut self, header: Header, segments: &[IoSlice<'_>]) -> bool {
        let gathered = self
            .free_half()
            .is_some_and(|half| half.gather(header, segments));
        if gathered {
            self.count(&header);
        }
        gathered
    }

    /// Sends what was gathered.
    pub(in crate::endpoint) fn flush(&mut self) -> Flushed {
        if !self.posted.is_empty() || self.end.is_some() {
            return Flushed::All;
        }
        let Some(half) = &mut self.half else {
            return Flushed::Later;
        };
        match half.flush().map_err(|fault| Trouble::of(fault, 0)) {
            Ok(Some(rest)) => {
                self.begun = rest.taken > 0;
                self.go_on_with(rest, Notify::Gathered);
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
