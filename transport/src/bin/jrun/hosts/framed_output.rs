//! Output of the processes of an agent, as messages to `jrun`.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use super::protocol::{AgentReport, WINDOW};
use crate::output::JobOutput;
use crate::relay::{Relay, Target};

/// The messages of an agent. A thread writes them, so that a slow connection delays no order.
pub(crate) struct FramedOutput {
    relay: Relay,
    /// Number of bytes of output that `jrun` takes; negative after a read that was longer. `jrun`
    /// always takes other messages, so a slow reader of its output does not delay the news that a
    /// process has ended.
    credit: i64,
}

impl FramedOutput {
    pub(crate) fn start() -> io::Result<Self> {
        Ok(Self {
            relay: Relay::start(Vec::new())?,
            credit: i64::from(WINDOW),
        })
    }

    /// Queues a message.
    pub(crate) fn report(&self, report: &AgentReport) {
        self.write(report.to_bytes());
    }

    /// Queues bytes.
    pub(crate) fn write(&self, bytes: Vec<u8>) {
        self.relay.write(Target::Output, bytes);
    }

    /// Adds credit that `jrun` has granted.
    pub(crate) fn grant(&mut self, bytes: u32) {
        let credit = self.credit.saturating_add(i64::from(bytes));
        self.credit = credit.min(i64::from(WINDOW));
    }

    /// Returns true if `jrun` can't be written to any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.relay.failure().is_some()
    }

    /// Returns a descriptor that becomes readable when there is room again.
    pub(crate) fn changed(&self) -> BorrowedFd<'_> {
        self.relay.changed()
    }

    /// Waits until everything is written, at most until a moment.
    pub(crate) fn finish(self, until: Option<Instant>) {
        // If this fails, the connection is gone, and nobody learns of the failure.
        let _ = self.relay.finish(until);
    }
}

impl JobOutput for FramedOutput {
    fn has_room(&self) -> bool {
        self.credit > 0 && self.relay.has_room()
    }

    fn push(&mut self, stream: usize, bytes: &[u8]) {
        let count = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        self.credit = self.credit.saturating_sub(count);
        let stream = u32::try_from(stream).unwrap_or(u32::MAX);
        self.report(&AgentReport::Output(stream, bytes.to_vec()));
    }

    fn end(&mut self, stream: usize) {
        self.push(stream, &[]);
    }
}
