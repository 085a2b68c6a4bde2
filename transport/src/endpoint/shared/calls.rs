//! Calls that wait: messages that are sent and received behind everything posted.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{Filled, Spent};

use super::{Patience, Shared};
use crate::device::connection::{Body, Fault, Outbound, Outgoing, Push};
use crate::device::deadline::Deadline;
use crate::endpoint::facts::{End, Trouble};
use crate::endpoint::gate::Credit;
use crate::endpoint::message::Message;
use crate::endpoint::receiving::{Arrived, Receiving};
use crate::endpoint::sending::{self, Sending};
use crate::endpoint::spin::Spin;
use crate::endpoint::turn::{Direction, Held};
use crate::error::{RecvError, SendError};
use crate::header::Header;

impl Shared {
    /// A message that waits to be sent. Its length is filled in, and checked.
    #[inline]
    pub(crate) fn outbound<'a>(
        &self,
        header: Header,
        length: Option<u64>,
        body: Body<'a>,
    ) -> (Outbound<'a>, Option<SendError>) {
        let length = length.unwrap_or(u64::MAX);
        let refused = self.check_length(length).err();
        (Outbound::new(header, length, body), refused)
    }

    /// Whether the peer takes messages of that length.
    #[inline]
    pub(crate) fn check_length(&self, length: u64) -> Result<(), SendError> {
        let max = self.facts.limits.max_send;
        if length > max {
            return Err(self.too_large(length, max));
        }
        Ok(())
    }

    #[cold]
    fn too_large(&self, length: u64, max: u64) -> SendError {
        SendError::TooLarge {
            length,
            max,
            peer: self.facts.peer.clone(),
        }
    }

    /// Sends a message behind everything posted; its body is left in it where that did not move.
    #[inline]
    pub(crate) fn send(
        self: &Arc<Self>,
        message: &mut Outbound<'_>,
        patience: Patience,
    ) -> Result<(), SendError> {
        self.send_costly(message, patience, Credit::FREE)
    }

    /// As [`send`](Self::send), for a message that needs credit of the peer:
    /// [`WouldBlock`](SendError::WouldBlock) where there is none.
    #[inline(always)]
    pub(crate) fn send_costly(
        self: &Arc<Self>,
        message: &mut Outbound<'_>,
        patience: Patience,
        cost: Credit,
    ) -> Result<(), SendError> {
        let mut held = self.sending.lock();
        if cost != Credit::FREE && !held.charge(cost) {
            self.settle(self.sending.leave(held));
            return Err(SendError::WouldBlock);
        }
        let mut pushed = None;
        if let Some(half) = held.free_half() {
            match half.push(message) {
                Ok(Push::Done) => {
                    held.count(&message.header);
                    self.settle(self.sending.leave(held));
                    return Ok(());
                }
                other => pushed = Some(other),
            }
        }
        let sent = self.send_slowly(held, message, pushed, patience);
        if sent.is_err() && cost != Credit::FREE {
            self.refund(cost);
        }
        sent
    }

    #[cold]
    fn refund(&self, cost: Credit) {
        let mut held = self.sending.lock();
        held.refund(cost);
        self.settle(self.sending.leave(held));
    }

    #[cold]
    fn send_slowly<'s>(
        self: &'s Arc<Self>,
        mut held: Held<'s, Sending>,
        message: &mut Outbound<'_>,
        mut pushed: Option<Result<Push, Fault>>,
        patience: Patience,
    ) -> Result<(), SendError> {
        let deadline = patience.deadline();
        if pushed.is_none() {
            let (mut turn, come) = self.sending.wait_until(
                &self.receiving,
                held,
                || deadline,
                |sending| sending.has_turn().then_some(()),
            );
            if come.is_none() {
                self.settle(self.sending.leave(turn));
                return Err(self.late(patience));
            }
            if let Some(error) = turn.ended() {
                self.settle(self.sending.leave(turn));
                return Err(error);
            }
            pushed = turn.free_half().map(|half| half.push(message));
            held = turn;
        }
        let begun = match pushed {
            Some(Ok(Push::Begun)) => {
                if matches!(patience, Patience::None) {
                    self.let_go(held, message);
                    return Ok(());
                }
                true
            }
            Some(Ok(Push::Untouched)) | None => {
                if matches!(patience, Patience::None) {
                    self.settle(self.sending.leave(held));
                    return Err(SendError::WouldBlock);
                }
                false
            }
            Some(Ok(Push::Done)) => {
                held.count(&message.header);
                self.settle(self.sending.leave(held));
                return Ok(());
            }
            Some(Err(fault)) => return Err(self.send_failed(held, fault)),
        };
        let Some(mut half) = held.take_out() else {
            unreachable!("what was pushed to is here")
        };
        self.settle(self.sending.leave(held));
        let outcome = self.push_until(&mut half, message, begun, deadline);
        self.sending_alarm.disarm();
        let mut held = self.sending.lock();
        held.give_back(half);
        let result = match outcome {
            Ok(()) => {
                held.count(&message.header);
                Ok(())
            }
            Err(Unpushed::Late) => Err(self.late(patience)),
            Err(Unpushed::Stalled) => {
                let (sent, total) = sending::progress(message);
                held.fail(End::Stalled { received: 0 }, false);
                Err(SendError::Stalled {
                    sent,
                    total,
                    after: self.facts.send_timeout,
                    peer: self.facts.peer.clone(),
                })
            }
            Err(Unpushed::Fault(fault)) => return Err(self.send_failed(held, fault)),
        };
        held.drive();
        self.settle(self.sending.leave(held));
        result
    }

    /// Has the rest of a message sent without its caller, as if it had been posted.
    #[cold]
    fn let_go(self: &Arc<Self>, mut held: Held<'_, Sending>, message: &mut Outbound<'_>) {
        let body = match std::mem::replace(&mut message.body, Body::Taken) {
            Body::Borrowed(segments) => Body::Owned(self.gather(segments)),
            Body::Owned(filled) => Body::Owned(filled),
            // The device has the rest of it.
            Body::Taken => Body::Taken,
            Body::Object(_) => unreachable!("what moves moves as a whole"),
        };
        held.adopt(Outbound {
            header: message.header,
            body,
            taken: message.taken,
        });
        self.settle(self.sending.leave(held));
        self.carry();
    }

    /// A copy of a message's payload. At most one in a connection is on its way, so where the pool has no
    /// room, it is memory of its own.
    pub(crate) fn gather(&self, segments: &[IoSlice<'_>]) -> Filled {
        let length = segments.iter().map(|segment| segment.len());
        let length = length.fold(0, usize::saturating_add);
        let spent = self.facts.pool.take(length);
        let mut filling = spent.unwrap_or_else(|_| Spent::heap(length)).filling();
        for segment in segments {
            let fits = filling.extend(segment);
            debug_assert!(fits, "there is room for all of them");
        }
        filling.finish()
    }

    /// Whether a message that is not posted could be sent now, as far as what was posted goes.
    pub(crate) fn has_turn(&self) -> bool {
        let mut held = self.sending.lock();
        held.drive();
        let has_turn = held.has_turn();
        self.settle(self.sending.leave(held));
        has_turn
    }

    /// Pushes one message until it is done, while the half is nobody else's.
    fn push_until(
        &self,
        half: &mut Box<dyn Outgoing>,
        message: &mut Outbound<'_>,
        mut begun: bool,
        deadline: Deadline,
    ) -> Result<(), Unpushed> {
        let mut spin = Spin::begin(self.facts.spin, 0, deadline);
        loop {
            match half.push(message).map_err(Unpushed::Fault)? {
                Push::Done => return Ok(()),
                Push::Begun => begun = true,
                Push::Untouched => {}
            }
            // What was posted beside goes on in the sleep, and what is taken as it comes also before it.
            if (!self.receiving.is_pending() || self.takes_beside()) && spin.again() {
                continue;
            }
            if deadline.has_passed() {
                if begun {
                    half.abandon(message);
                    return Err(Unpushed::Stalled);
                }
                return Err(Unpushed::Late);
            }
            let (slept, broke) = self.receiving.sleep_beside::<Sending>(half, deadline);
            self.settle(broke);
            slept.map_err(Unpushed::Fault)?;
        }
    }

    pub(super) fn late(&self, patience: Patience) -> SendError {
        match patience {
            Patience::None => SendError::WouldBlock,
            Patience::For(after) => SendError::TimedOut {
                after,
                peer: self.facts.peer.clone(),
            },
            Patience::Endless => unreachable!("nothing is late that may take for ever"),
        }
    }

    fn send_failed(&self, mut held: Held<'_, Sending>, fault: Fault) -> SendError {
        let error = match Trouble::of(fault, 0) {
            Trouble::NoBuffer { length, source } => SendError::NoBuffer {
                length,
                peer: self.facts.peer.clone(),
                source,
            },
            Trouble::End(end) => {
                let error = self.facts.send_error(&end);
                held.fail(end, false);
                error
            }
        };
        held.drive();
        self.settle(self.sending.leave(held));
        error
    }

    /// Receives a message behind everything posted: into `message`, or to `other` where it is more than
    /// bytes.
    #[inline]
    pub(crate) fn receive(
        &self,
        message: &mut Message,
        other: &mut Option<Arrived>,
        patience: Patience,
    ) -> Result<(), RecvError> {
        let mut held = self.receiving.lock();
        let mut more = None;
        let asleep = patience.is_long() && self.receives_asleep(&held);
        if asleep || !held.receive_whole(message, &mut more) {
            let attempt = |receiving: &mut Receiving| receiving.receive_whole(message, &mut more);
            let (turn, come) = self.receive_slowly(held, patience, attempt);
            if !come {
                more = Some(Err(self.unreceived(patience)));
            }
            held = turn;
        }
        self.settle(self.receiving.leave(held));
        more.map_or(Ok(()), |more| leave_to(other, more))
    }

    /// As [`receive`](Self::receive), where `more` gets what is more than bytes, or why there is none; false when none came
    /// until then, or within `slice`, which counts from when spinning is over, or from the first looks where the time is
    /// limited.
    #[inline]
    pub(crate) fn receive_within(
        &self,
        message: &mut Message,
        more: &mut Option<Result<Arrived, RecvError>>,
        slice: Duration,
        until: Deadline,
    ) -> bool {
        let mut held = self.receiving.lock();
        let asleep = self.receives_asleep(&held) && until.left().is_none_or(|left| left > slice);
        let mut come = !asleep && held.receive_whole(message, more);
        if !come {
            let (turn, beside) = (&self.receiving, &self.sending);
            let deadline = || Deadline::after(slice).or_sooner(until);
            let attempt = |receiving: &mut Receiving| {
                let come = receiving.receive_whole(message, more);
                come.then_some(())
            };
            let is_bounded = until.moment().is_some();
            let waited = turn.wait_beyond_spinning(beside, held, is_bounded, deadline, attempt);
            (held, come) = (waited.0, waited.1.is_some());
        }
        self.gathering.note(come, held.half.as_deref());
        self.settle(self.receiving.leave(held));
        come
    }

    /// The same for a message that is here; false when none is, or what was posted goes before.
    #[inline]
    pub(crate) fn look(
        &self,
        message: &mut Message,
        more: &mut Option<Result<Arrived, RecvError>>,
    ) -> bool {
        self.look_again(message, more, || false)
    }

    /// As [`look`](Self::look), `again` and again under one lock, for as long as others leave that to the caller.
    #[inline]
    pub(crate) fn look_again(
        &self,
        message: &mut Message,
        more: &mut Option<Result<Arrived, RecvError>>,
        again: impl FnMut() -> bool,
    ) -> bool {
        let mut held = self.receiving.lock();
        let mut come = held.receive_whole(message, more);
        if !come {
            let attempt = |receiving: &mut Receiving| {
                let come = receiving.receive_whole(message, more);
                come.then_some(())
            };
            let (turn, found) = self
                .receiving
                .spin_until(&self.sending, held, again, attempt);
            (held, come) = (turn, found.is_some());
        }
        self.gathering.note(come, held.half.as_deref());
        self.settle(self.receiving.leave(held));
        come
    }

    /// As [`receive`](Self::receive), for a message that is wanted in `memory`.
    #[inline]
    pub(crate) fn receive_into(
        &self,
        memory: &mut [u8],
        patience: Patience,
    ) -> Result<Header, RecvError> {
        let mut held = self.receiving.lock();
        let (mut header, mut failed) = (Header::default(), None);
        if !held.receive_into(memory, &mut header, &mut failed) {
            let attempt = |receiving: &mut Receiving| {
                receiving.receive_into(memory, &mut header, &mut failed)
            };
            let (turn, come) = self.receive_slowly(held, patience, attempt);
            if !come {
                failed = Some(self.unreceived(patience));
            }
            held = turn;
        }
        self.settle(self.receiving.leave(held));
        match failed {
            None => Ok(header),
            Some(error) => Err(error),
        }
    }

    /// Waits until `attempt` says that something has come, or not any longer. A look was, or would be, in vain.
    fn receive_slowly<'s>(
        &'s self,
        held: Held<'s, Receiving>,
        patience: Patience,
        mut attempt: impl FnMut(&mut Receiving) -> bool,
    ) -> (Held<'s, Receiving>, bool) {
        let deadline = || patience.deadline();
        let attempt = |receiving: &mut Receiving| attempt(receiving).then_some(());
        let waited = self
            .receiving
            .wait_after_look(&self.sending, held, deadline, attempt);
        (waited.0, waited.1.is_some())
    }

    /// Whether who waits sleeps without a look, which would be a call of the system in vain mostly.
    #[inline]
    fn receives_asleep(&self, held: &Receiving) -> bool {
        self.receiving.never_spins() && held.receives_asleep()
    }

    /// Whether [`sleep_or_called`](Self::sleep_or_called) may come to a sleep, as far as is known without the lock.
    #[inline]
    pub(crate) fn may_be_called(&self) -> bool {
        self.sleeps_receiving && !self.has_more()
    }

    /// Sleeps until something may have come, or `bell` is readable. False, without a sleep, where something is here, or
    /// others see to what comes.
    pub(crate) fn sleep_or_called(&self, bell: BorrowedFd<'_>, until: Deadline) -> bool {
        let mut held = self.receiving.lock();
        let sleeps = held.receives_asleep() && !self.sending.is_pending();
        if sleeps {
            let (turn, beside) = (&self.receiving, &self.sending);
            held = turn.sleep_or_called(beside, held, bell, until);
        }
        self.settle(self.receiving.leave(held));
        sleeps
    }

    #[cold]
    fn unreceived(&self, patience: Patience) -> RecvError {
        match patience {
            Patience::None => RecvError::Empty,
            Patience::For(after) => RecvError::TimedOut {
                after,
                peer: self.facts.peer.clone(),
            },
            Patience::Endless => unreachable!("nothing is late that may take for ever"),
        }
    }
}

/// Leaves what is more than bytes to `other`, or says why there is no message.
#[inline(never)]
fn leave_to(
    other: &mut Option<Arrived>,
    more: Result<Arrived, RecvError>,
) -> Result<(), RecvError> {
    *other = Some(more?);
    Ok(())
}

/// Why a message was not pushed to its end.
enum Unpushed {
    /// Nothing of it was taken in time.
    Late,
    /// Something was.
    Stalled,
    Fault(Fault),
}
