//! Waiting for a call until its deadline.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use crate::call::outgoing::sent::{Answered, Sent};
use crate::session::{Alarm, Clock, Connection, Line, Session, until_ready};

impl Sent {
    /// Returns the clock of the deadline.
    pub(super) fn clock(&self) -> &Clock {
        let session = self.ticket.attached::<Session>();
        session.map_or(&Clock::SYSTEM, |session| &session.terms.clock)
    }

    /// Blocks until the answer arrives or the call's clock reaches `deadline`.
    pub(super) fn wait_until(&mut self, deadline: Instant) -> Answered {
        if self.by_system {
            self.ticket.wait_deadline(deadline)
        } else {
            self.wait_for_clock(deadline)
        }
    }

    /// Waits by a manual clock.
    fn wait_for_clock(&mut self, deadline: Instant) -> Answered {
        let clock = self.clock().clone();
        let line: Arc<dyn Line> = Arc::new(Connection::from_peer(self.ticket.peer()));
        // Without an alarm, the wait ends when the answer arrives or the server enforces the
        // deadline.
        let alarm = Alarm::new(&clock).ok();
        let answer = until_ready(
            || Some(line.clone()),
            None,
            |context| match Pin::new(&mut self.ticket).poll(context) {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                // After the poll of the ticket, so that an answer which is here counts.
                Poll::Pending if deadline <= clock.now() => Poll::Ready(None),
                Poll::Pending => {
                    if let Some(alarm) = &alarm {
                        alarm.set(deadline, context.waker());
                    }
                    Poll::Pending
                }
            },
        );
        answer.flatten()
    }
}
