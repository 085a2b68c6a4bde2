//! Implementation of [`Direction`] for the receive direction.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use jstream::buffer::BufferWriter;

use super::{Destination, Receiving};
use crate::connection_info::EndReason;
use crate::direction_lock::{Common, Direction};
use jstream_device::connection::{Armed, Fault, Incoming, Interest};
use jstream_device::deadline::Deadline;

/// The receive half and its destination buffer, moved out of the lock for a sleep.
pub(crate) struct Asleep {
    half: Box<dyn Incoming>,
    into: Option<BufferWriter>,
    /// True if a message had begun before the sleep.
    measured: bool,
}

impl Direction for Receiving {
    type Half = Asleep;

    #[inline]
    fn common(&mut self) -> &mut Common {
        &mut self.common
    }

    #[inline]
    fn drive(&mut self) {
        while let Some(id) = self.posted.front().copied() {
            let Some(op) = self.ops.get_mut(id) else {
                return;
            };
            // Moved out because `next` borrows the whole direction. It is put back if no message
            // has come.
            let mut empty = op.empty.take();
            let place = if empty.is_some() {
                Destination::Jbuf(&mut empty)
            } else {
                Destination::Pool
            };
            let next = self.next(place);
            if let Some(op) = self.ops.get_mut(id) {
                op.empty = empty;
            }
            let Some(result) = next else {
                // A part may have been received, or the device may have restarted the operation for
                // which it was armed.
                self.alarm.disarm();
                return;
            };
            self.posted.pop_front();
            self.complete(id, result);
        }
        // The loop of a sink serves the frames of puts and gets itself, in their order among the
        // messages.
        if self.receive_sink.is_some() {
            self.drive_sink();
        } else if self.remote.is_active() {
            self.drive_remote();
        }
    }

    #[inline]
    fn has_posted(&self) -> bool {
        self.is_driven
            && (!self.posted.is_empty()
                || (self.end.is_none() && (self.remote.is_waiting() || self.has_ready_sink())))
    }

    /// Returns true also if a task waits for the next message without a posted receive.
    /// [`has_posted`](Self::has_posted) says in contrast whether driving may receive: for a report,
    /// the device is armed, but no thread drives the direction.
    #[inline]
    fn wants_half(&self) -> bool {
        self.reports_arrivals || self.has_posted()
    }

    fn has_half(&self) -> bool {
        self.half.is_some()
    }

    fn patience(&mut self) -> Option<Duration> {
        let begun = self.half.as_ref().is_some_and(|half| half.begun() > 0);
        begun.then_some(self.left)
    }

    fn take_half(&mut self) -> Option<Self::Half> {
        // The sleep counts only towards a message that had begun before it. A message that begins
        // at the end of a long sleep would otherwise time out at once.
        let measured = self.patience().is_some();
        Some(Asleep {
            half: self.half.take()?,
            into: self.into.take(),
            measured,
        })
    }

    fn sleep(half: &mut Self::Half, deadline: Deadline) -> Result<(), Fault> {
        half.half.wait(&mut half.into, deadline)
    }

    fn arm_bare(half: &mut Self::Half) -> Armed {
        half.half.arm(None)
    }

    fn source(half: &Self::Half) -> (BorrowedFd<'_>, Interest) {
        (half.half.source(), Interest::Readable)
    }

    fn put_back(&mut self, mut half: Self::Half, slept: Result<(), Fault>, elapsed: Duration) {
        // The sink may have been set while the half was away.
        if self.had_sink {
            half.half.lift_limit();
        }
        self.half = Some(half.half);
        self.into = half.into;
        match slept {
            // Earlier messages are still in the device, which itself reports the end behind them.
            Ok(()) | Err(Fault::NoBuffer { .. }) => {}
            Err(fault) => {
                let _ = self.handle_fault(fault);
                return;
            }
        }
        // The program may have closed the connection during the sleep.
        if self.is_closed {
            self.detect_end();
        }
        if half.measured && self.patience().is_some() {
            self.left = self.left.saturating_sub(elapsed);
            if self.left.is_zero() {
                self.expire();
            }
        }
    }

    fn disown(&mut self) {
        // Dropping them would send a farewell on the parent's connection, and remove its
        // registration.
        std::mem::forget((self.half.take(), self.common.watch.take()));
        // The task and its queue belong to the parent process.
        self.reports_arrivals = false;
        if self.end.is_none() {
            self.end_with(EndReason::Forked);
            self.drive();
        }
    }

    fn arm(&mut self) -> bool {
        let has_posted = self.has_posted();
        let Some(half) = &mut self.half else {
            return true;
        };
        // The device may call the waker before `arm` returns.
        self.alarm.set_armed();
        match half.arm(Some(&self.alarm_waker)) {
            Armed::Ready if has_posted => {
                self.alarm.disarm();
                return false;
            }
            // The task that waits receives the message.
            Armed::Ready => self.alarm.ring(),
            Armed::Waker => {}
            Armed::Source => {
                let (waker, watch) = (&self.alarm_waker, &mut self.common.watch);
                let watched = self.alarm.watcher().and_then(|watcher| {
                    if half.watch(waker, &watcher)? {
                        return Ok(());
                    }
                    let watched = watcher.watch(watch, half.source(), Interest::Readable, waker);
                    watched.map(drop)
                });
                // The device cannot wake the tasks, so they are woken to poll again.
                if watched.is_err() {
                    self.alarm.ring();
                }
            }
        }
        true
    }
}
