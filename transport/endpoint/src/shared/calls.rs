//! Blocking calls: messages that are sent and received behind everything posted.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::{Patience, Shared};
use crate::connection_info::{EndReason, Trouble};
use crate::direction_lock::{Direction, DirectionGuard};
use crate::gate::Credit;
use crate::message::Message;
use crate::receiving::{Arrived, Inbound, Receiving};
use crate::sending::{RETRY, SendDirection, progress};
use crate::spin::Spin;
use jstream_base::Header;
use jstream_base::{RecvError, SendError};
use jstream_device::connection::{Body, Fault, Outbound, Outgoing, Push};
use jstream_device::deadline::Deadline;
use jstream_sync::callbacks;

impl Shared {
    /// Creates an outgoing message with its length filled in. Also returns the error if the length
    /// is not allowed.
    #[inline]
    pub fn outbound<'a>(
        &self,
        header: Header,
        length: Option<u64>,
        body: Body<'a>,
    ) -> (Outbound<'a>, Option<SendError>) {
        let length = length.unwrap_or(u64::MAX);
        let refused = self.check_length(length).err();
        (Outbound::new(header, length, body), refused)
    }

    /// Checks that the peer accepts messages of this length.
    ///
    /// # Errors
    ///
    /// [`SendError::TooLarge`].
    #[inline]
    pub fn check_length(&self, length: u64) -> Result<(), SendError> {
        let max = self.info.limits.max_send;
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
            peer: self.info.peer.clone(),
        }
    }

    /// Sends one message behind everything posted, from segments that are borrowed for the call. If
    /// it needs credit of the peer and there is not enough, returns
    /// [`WouldBlock`](SendError::WouldBlock). A message without cost does not check the credit.
    ///
    /// The message is built in this function, because returning it from another function would copy
    /// it.
    #[inline(always)]
    pub fn send_segments(
        self: &Arc<Self>,
        header: Header,
        segments: &[IoSlice<'_>],
        patience: Patience,
        cost: Credit,
    ) -> Result<(), SendError> {
        let length = segments
            .iter()
            .try_fold(0u64, |sum, segment| sum.checked_add(segment.len() as u64));
        let length = length.unwrap_or(u64::MAX);
        self.check_length(length)?;
        let mut message = Outbound::new(header, length, Body::Borrowed(segments));
        // The caller returns before the device has taken all of such a message, so the device needs
        // a copy of the payload. It is made only if the message can be sent.
        if self.is_long(length) && matches!(patience, Patience::None) {
            if !self.has_turn() {
                return Err(SendError::WouldBlock);
            }
            message.body = Body::Owned(self.gather(segments));
        }
        self.send_with_credit(&mut message, patience, cost)
    }

    /// Sends a message behind everything posted. The body is left in `message` if the device did
    /// not move it.
    #[inline]
    pub(crate) fn send(
        self: &Arc<Self>,
        message: &mut Outbound<'_>,
        patience: Patience,
    ) -> Result<(), SendError> {
        self.send_with_credit(message, patience, Credit::FREE)
    }

    /// Returns true if the device may have to wait for the peer before it has taken a message of
    /// this length. It may then keep the begun message for longer than its segments are borrowed.
    #[inline]
    pub fn is_long(&self, length: u64) -> bool {
        let limits = &self.info.limits;
        !limits.moves && length >= limits.eager as u64
    }

    /// As [`send`](Self::send), for a message that needs credit of the peer. Returns
    /// [`WouldBlock`](SendError::WouldBlock) if there is not enough credit.
    #[inline(always)]
    pub(crate) fn send_with_credit(
        self: &Arc<Self>,
        message: &mut Outbound<'_>,
        patience: Patience,
        cost: Credit,
    ) -> Result<(), SendError> {
        let mut sending = self.sending.lock();
        // Charged before the push and under the same lock, so that two senders cannot use the same
        // credit.
        if cost != Credit::FREE && !sending.charge(cost) {
            sending.release();
            return Err(SendError::WouldBlock);
        }
        let mut pushed = None;
        if let Some(half) = sending.free_half() {
            match half.push(message) {
                Ok(Push::Done) => {
                    sending.count(&message.header);
                    sending.release();
                    return Ok(());
                }
                other => pushed = Some(other),
            }
        }
        let sent = self.send_slowly(sending, message, pushed, patience);
        if sent.is_err() && cost != Credit::FREE {
            self.refund(cost);
        }
        sent
    }

    #[cold]
    fn refund(&self, cost: Credit) {
        self.sending.lock().refund(cost);
    }

    #[cold]
    fn send_slowly<'s>(
        self: &'s Arc<Self>,
        mut sending: DirectionGuard<'s, SendDirection>,
        message: &mut Outbound<'_>,
        mut pushed: Option<Result<Push, Fault>>,
        patience: Patience,
    ) -> Result<(), SendError> {
        // The clock is read here, because a message that the device takes at once needs no
        // deadline.
        let deadline = patience.deadline();
        if pushed.is_none() {
            let is_turn;
            (sending, is_turn) = self.sending.wait_until(
                &self.receiving,
                sending,
                || deadline,
                |sending| sending.has_turn().then_some(()),
            );
            if is_turn.is_none() {
                return Err(self.timeout_error(patience));
            }
            if let Some(error) = sending.ended() {
                return Err(error);
            }
            pushed = sending.free_half().map(|half| half.push(message));
        }
        let begun = match pushed {
            Some(Ok(Push::Begun)) => {
                // A begun message cannot be taken back, so a call that may not wait leaves the rest
                // to the queue.
                if matches!(patience, Patience::None) {
                    self.post_rest(sending, message);
                    return Ok(());
                }
                true
            }
            Some(Ok(Push::Untouched)) | None => {
                if matches!(patience, Patience::None) {
                    return Err(SendError::WouldBlock);
                }
                false
            }
            Some(Ok(Push::Done)) => {
                sending.count(&message.header);
                return Ok(());
            }
            Some(Err(fault)) => return Err(self.send_failed(sending, fault)),
        };
        // This thread may sleep until the peer reads. Without the half in the lock, others can
        // still post meanwhile.
        let Some(mut half) = sending.take_out() else {
            unreachable!("the half to which the message was pushed is present")
        };
        drop(sending);
        let outcome = self.push_until(&mut half, message, begun, deadline);
        // The sleep may have consumed the event for which the device was armed.
        self.sending_alarm.disarm();
        let mut sending = self.sending.lock();
        sending.give_back(half);
        let result = match outcome {
            Ok(()) => {
                sending.count(&message.header);
                Ok(())
            }
            Err(Unpushed::Late) => Err(self.timeout_error(patience)),
            Err(Unpushed::Stalled) => {
                let (sent, total) = progress(message);
                // The peer has a part of the message, so no other one can follow it.
                sending.fail(EndReason::Stalled { received: 0 }, false);
                Err(SendError::Stalled {
                    sent,
                    total,
                    after: self.info.send_timeout,
                    peer: self.info.peer.clone(),
                })
            }
            Err(Unpushed::Fault(fault)) => return Err(self.send_failed(sending, fault)),
        };
        // Messages that were posted meanwhile could not be pushed without the half.
        sending.drive();
        result
    }

    /// Has the rest of a message sent without its caller, as if it had been posted.
    #[cold]
    fn post_rest(
        self: &Arc<Self>,
        mut sending: DirectionGuard<'_, SendDirection>,
        message: &mut Outbound<'_>,
    ) {
        let body = match std::mem::replace(&mut message.body, Body::Taken) {
            Body::Borrowed(segments) => Body::Owned(self.gather(segments)),
            Body::Owned(filled) => Body::Owned(filled),
            // The device has the rest of the message.
            Body::Taken => Body::Taken,
            Body::Object(_) => unreachable!("an object is never moved in part"),
        };
        sending.adopt(Outbound {
            header: message.header,
            body,
            is_exchange: message.is_exchange,
            taken: message.taken,
        });
        drop(sending);
        self.carry();
    }

    /// Copies the payload of a message to one buffer. If the pool is full, the buffer is allocated
    /// on the heap: the layers above limit the bytes of such copies.
    pub fn gather(&self, segments: &[IoSlice<'_>]) -> MessageBuffer {
        let length = segments.iter().map(|segment| segment.len());
        let length = length.fold(0, usize::saturating_add);
        self.info.trimmer.record(length as u64);
        let empty = self.info.pool.take(length);
        let mut filling = empty.unwrap_or_else(|_| EmptyBuffer::heap(length)).writer();
        for segment in segments {
            let fits = filling.extend(segment);
            debug_assert!(fits, "there is room for all of them");
        }
        filling.finish()
    }

    /// Returns true if a message that is not posted could be sent now, as far as posted messages
    /// are concerned.
    pub(crate) fn has_turn(&self) -> bool {
        let mut sending = self.sending.lock();
        sending.drive();
        sending.has_turn()
    }

    /// Pushes one message until it is done. The calling thread holds the half.
    fn push_until(
        &self,
        half: &mut Box<dyn Outgoing>,
        message: &mut Outbound<'_>,
        mut begun: bool,
        deadline: Deadline,
    ) -> Result<(), Unpushed> {
        let mut spin = Spin::begin(self.info.spin, 0, deadline);
        loop {
            match half.push(message).map_err(Unpushed::Fault)? {
                Push::Done => return Ok(()),
                Push::Begun => begun = true,
                Push::Untouched => {}
            }
            // Operations that are posted to the other direction are driven during the sleep.
            // Messages for a receive sink are also received before it.
            if (!self.receiving.is_pending() || self.drive_ready_sink()) && spin.may_continue() {
                continue;
            }
            if deadline.has_passed() {
                if begun {
                    // The payload is borrowed for this call only, so the device has to let go of it
                    // before the call returns.
                    half.abandon(message);
                    return Err(Unpushed::Stalled);
                }
                return Err(Unpushed::Late);
            }
            // A socket with a little room does not report it, so the push is repeated after some
            // time.
            let retry = deadline.or_sooner(Deadline::after(RETRY));
            let slept = self.receiving.sleep_beside::<SendDirection>(half, retry);
            slept.map_err(Unpushed::Fault)?;
        }
    }

    pub(super) fn timeout_error(&self, patience: Patience) -> SendError {
        match patience {
            Patience::None => SendError::WouldBlock,
            Patience::For(after) => SendError::TimedOut {
                after,
                peer: self.info.peer.clone(),
            },
            Patience::Endless => unreachable!("a wait without a deadline does not time out"),
        }
    }

    fn send_failed(
        &self,
        mut sending: DirectionGuard<'_, SendDirection>,
        fault: Fault,
    ) -> SendError {
        let error = match Trouble::new(fault, 0) {
            Trouble::NoBuffer { length, source } => SendError::NoBuffer {
                length,
                peer: self.info.peer.clone(),
                source,
            },
            Trouble::End(end) => {
                let error = self.info.send_error(&end);
                sending.fail(end, false);
                error
            }
        };
        // Operations behind the failed one either go now or end with the connection.
        sending.drive();
        error
    }

    /// Receives a message behind everything posted, within the time of `patience`.
    #[inline]
    pub(crate) fn receive(&self, inbound: &mut Inbound, patience: Patience) {
        let mut receiving = self.receiving.lock();
        if receiving.receive_whole(inbound) {
            return receiving.release();
        }
        let attempt = |receiving: &mut Receiving| receiving.receive_whole(inbound);
        let (_receiving, is_received) = self.receive_slowly(receiving, patience, attempt);
        if !is_received {
            inbound.other = Some(Err(self.unreceived(patience)));
        }
    }

    /// As `receive`, but returns false if no message arrives before `until` or within `slice`. The
    /// slice begins when spinning is over or, if the time is limited, after the first polls. Also
    /// returns false if callbacks are queued, which the caller defers.
    #[inline]
    pub fn receive_within(&self, inbound: &mut Inbound, slice: Duration, until: Deadline) -> bool {
        let mut receiving = self.receiving.lock();
        if receiving.receive_whole(inbound) {
            self.batching.record_more(true, receiving.half.as_deref());
            receiving.release();
            return true;
        }
        let (direction, beside) = (&self.receiving, &self.sending);
        let deadline = || Deadline::after(slice).or_sooner(until);
        let attempt = |receiving: &mut Receiving| {
            let is_received = receiving.receive_whole(inbound);
            (is_received || callbacks::are_queued()).then_some(is_received)
        };
        let is_bounded = until.moment().is_some();
        let (receiving, answer) =
            direction.wait_beyond_spinning(beside, receiving, is_bounded, deadline, attempt);
        let is_received = answer == Some(true);
        self.batching
            .record_more(is_received, receiving.half.as_deref());
        is_received
    }

    /// As [`receive_within`](Self::receive_within), for a message that has already arrived. Returns
    /// false if no message has arrived, or if posted receives go first.
    #[inline]
    pub fn poll_message(&self, inbound: &mut Inbound) -> bool {
        let mut receiving = self.receiving.lock();
        let is_received = receiving.receive_whole(inbound);
        self.batching
            .record_more(is_received, receiving.half.as_deref());
        receiving.release();
        is_received
    }

    /// As [`poll_message`](Self::poll_message), for a connection that was reported.
    #[inline(never)]
    pub fn poll_reported(&self, inbound: &mut Inbound) -> bool {
        let mut receiving = self.receiving.lock();
        receiving.end_wait();
        let is_received = receiving.receive_whole(inbound);
        self.batching
            .record_more(is_received, receiving.half.as_deref());
        is_received
    }

    /// As [`receive`](Self::receive), for a message that is wanted in `memory`.
    #[inline]
    pub(crate) fn receive_into(
        &self,
        memory: &mut [u8],
        patience: Patience,
    ) -> Result<Header, RecvError> {
        let mut receiving = self.receiving.lock();
        let (mut header, mut other) = (Header::default(), None);
        if receiving.receive_into(memory, &mut header, &mut other) {
            receiving.release();
        } else {
            let attempt =
                |receiving: &mut Receiving| receiving.receive_into(memory, &mut header, &mut other);
            let (_receiving, is_received) = self.receive_slowly(receiving, patience, attempt);
            if !is_received {
                other = Some(Err(self.unreceived(patience)));
            }
        }
        // An object is converted without the lock, because that calls the program.
        match other {
            None => Ok(header),
            Some(object) => self.copy_object(object?, memory),
        }
    }

    /// Converts a received message to bytes. An object that can't be converted is received next.
    /// The caller holds no lock, because adapters of the program run.
    #[inline]
    pub(crate) fn convert_to_message(&self, arrived: Arrived) -> Result<Message, RecvError> {
        match arrived.into_bytes(&self.info.pool) {
            Ok((header, payload)) => Ok(Message { header, payload }),
            Err(unwritten) => {
                if let Some(arrived) = unwritten.arrived {
                    self.keep(arrived);
                }
                Err(unwritten.error)
            }
        }
    }

    /// Converts an object to its message, and copies that to the front of `memory`.
    #[cold]
    fn copy_object(&self, object: Arrived, memory: &mut [u8]) -> Result<Header, RecvError> {
        let number = object.number;
        let Message { header, payload } = self.convert_to_message(object)?;
        let mut receiving = self.receiving.lock();
        receiving.copy_out((header, payload, number), memory)
    }

    /// Blocks until `attempt` returns true or the time is over. The caller has polled already.
    fn receive_slowly<'s>(
        &'s self,
        receiving: DirectionGuard<'s, Receiving>,
        patience: Patience,
        mut attempt: impl FnMut(&mut Receiving) -> bool,
    ) -> (DirectionGuard<'s, Receiving>, bool) {
        let deadline = || patience.deadline();
        let attempt = |receiving: &mut Receiving| attempt(receiving).then_some(());
        let waited =
            self.receiving
                .wait_spinning(&self.sending, receiving, (None, true), deadline, attempt);
        (waited.0, waited.1.is_some())
    }

    /// Returns true if [`sleep_or_called`](Self::sleep_or_called) may sleep, as far as is known
    /// without the lock.
    #[inline]
    pub fn may_be_called(&self) -> bool {
        self.sleeps_receiving && !self.has_more()
    }

    /// Sleeps until a message may have arrived, or `bell` is readable. Returns false without
    /// sleeping if a message has arrived, or if other threads handle arriving messages.
    pub fn sleep_or_called(&self, bell: BorrowedFd<'_>, until: Deadline) -> bool {
        let receiving = self.receiving.lock();
        // Whatever else arrives, begins or is posted needs the general wait, which drives it.
        let sleeps = receiving.receives_asleep() && !self.sending.is_pending();
        if sleeps {
            let (direction, beside) = (&self.receiving, &self.sending);
            let _receiving = direction.sleep_or_called(beside, receiving, bell, until);
        }
        sleeps
    }

    #[cold]
    fn unreceived(&self, patience: Patience) -> RecvError {
        match patience {
            Patience::None => RecvError::Empty,
            Patience::For(after) => RecvError::TimedOut {
                after,
                peer: self.info.peer.clone(),
            },
            Patience::Endless => unreachable!("a wait without a deadline does not time out"),
        }
    }
}

/// Reason why a message was not pushed completely.
enum Unpushed {
    /// The deadline passed before the device took any of it.
    Late,
    /// The deadline passed after the device took a part of it.
    Stalled,
    Fault(Fault),
}
