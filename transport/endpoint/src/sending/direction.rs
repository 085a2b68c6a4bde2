//! Implementation of [`Direction`] for the send direction.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::{RETRY, SendDirection};
use crate::connection_info::{EndReason, Trouble};
use crate::direction_lock::{Common, Direction};
use jstream_base::SendError;
use jstream_device::connection::{Armed, Fault, Interest, Outgoing, Push};
use jstream_device::deadline::Deadline;

impl Direction for SendDirection {
    type Half = Box<dyn Outgoing>;

    #[inline]
    fn common(&mut self) -> &mut Common {
        &mut self.common
    }

    #[inline]
    fn drive(&mut self) {
        while let Some(id) = self.posted.front() {
            // A thread that sleeps with the half drives the queue when it puts the half back.
            let (Some(half), Some(op)) = (&mut self.half, self.ops.get_mut(*id)) else {
                return;
            };
            let before = op.message.taken;
            let pushed = half.push(&mut op.message);
            if let Some(holder) = op.holder() {
                // A device that moves a whole message does not count its bytes in `taken`.
                let taken = match pushed {
                    Ok(Push::Done) => op.message.header.length,
                    _ => op.message.taken,
                };
                holder.record_moved(taken.saturating_sub(before));
            }
            match pushed {
                Ok(Push::Done) => self.complete_first(Ok(())),
                Ok(Push::Begun) => {
                    self.begun = true;
                    return;
                }
                Ok(Push::Untouched) => return,
                Err(fault) => match Trouble::new(fault, 0) {
                    Trouble::NoBuffer { length, source } => {
                        // The device has taken nothing, so only this message fails.
                        let peer = self.info.peer.clone();
                        self.complete_first(Err(SendError::NoBuffer {
                            length,
                            peer,
                            source,
                        }));
                    }
                    Trouble::End(end) => return self.fail(end, true),
                },
            }
        }
    }

    #[inline]
    fn has_posted(&self) -> bool {
        !self.posted.is_empty() || !self.gate.is_empty()
    }

    /// Returns true if messages are queued. Messages that wait for credit depend on the receive
    /// half instead.
    fn wants_half(&self) -> bool {
        !self.posted.is_empty()
    }

    fn has_half(&self) -> bool {
        self.half.is_some()
    }

    fn patience(&mut self) -> Option<Duration> {
        self.left().map(|left| left.min(RETRY))
    }

    fn take_half(&mut self) -> Option<Self::Half> {
        self.half.take()
    }

    fn sleep(half: &mut Self::Half, deadline: Deadline) -> Result<(), Fault> {
        half.wait(deadline)
    }

    fn arm_bare(half: &mut Self::Half) -> Armed {
        half.arm(None)
    }

    fn source(half: &Self::Half) -> (BorrowedFd<'_>, Interest) {
        half.source()
    }

    fn put_back(&mut self, half: Self::Half, slept: Result<(), Fault>, elapsed: Duration) {
        self.half = Some(half);
        match slept.map_err(|fault| Trouble::new(fault, 0)) {
            Err(Trouble::End(end)) => self.fail(end, false),
            Ok(()) | Err(Trouble::NoBuffer { .. }) => {
                self.clock = self.clock.saturating_add(elapsed);
                // Driven before the time is checked: a message that can go now does not time out.
                self.drive();
                // Messages that were posted together time out together.
                while self.left().is_some_and(|left| left.is_zero()) {
                    self.expire();
                }
            }
        }
    }

    fn disown(&mut self) {
        // Dropping them would send a farewell on the parent's connection, and remove its
        // registration.
        std::mem::forget((self.half.take(), self.common.watch.take()));
        if self.end.is_none() {
            // The begun message is the parent's, which goes on sending it.
            self.begun = false;
            self.fail(EndReason::Forked, false);
        }
    }

    fn arm(&mut self) -> bool {
        let Some(half) = &mut self.half else {
            return true;
        };
        // The device may call the waker before `arm` returns.
        self.alarm.set_armed();
        match half.arm(Some(&self.alarm_waker)) {
            Armed::Ready => {
                self.alarm.disarm();
                return false;
            }
            Armed::Waker => {}
            Armed::Source => {
                let (source, interest) = half.source();
                let watch = &mut self.common.watch;
                let watched = self
                    .alarm
                    .watcher()
                    .and_then(|watcher| watcher.watch(watch, source, interest, &self.alarm_waker));
                // The device cannot wake the tasks, so they are woken to poll again.
                if watched.is_err() {
                    self.alarm.ring();
                }
            }
        }
        true
    }
}
