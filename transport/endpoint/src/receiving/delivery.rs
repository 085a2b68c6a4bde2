//! Delivery of messages to the receive sink.
//!
//! Decision 107 has the reasons.

use std::sync::Arc;

use jstream::buffer::EmptyBuffer;

use super::receive_sink::{BypassedMessages, Choice, ReceiveSink, Replies};
use super::{Arrived, Receiving, SCRATCH};
use crate::connection_info::{EndReason, time_for};
use crate::direction_lock::Direction;
use crate::gate::Overfull;
use crate::remote::ServeOutcome;
use crate::sending::Leftover;
use jstream_base::Header;
use jstream_base::{HeaderError, RecvError};
use jstream_device::connection::{Fault, Payload, Whole};

/// Minimum length in bytes of a message that is received after the replies to those before it.
const LONG: u64 = 32 << 10;

/// Outcome of one step of the receive loop.
enum Step {
    Done,
    /// No further progress is possible now.
    Wait,
}

/// The receive sink while messages are delivered to it. It returns to its place when the guard is
/// dropped, unless it has been told the end.
struct SinkInUse<'r> {
    receiving: &'r mut Receiving,
    sink: Option<Arc<dyn ReceiveSink>>,
}

impl SinkInUse<'_> {
    /// Receives as far as possible without blocking. Returns false if the sink has been told the
    /// end.
    fn receive(&mut self) -> bool {
        let receiving = &mut *self.receiving;
        loop {
            // Messages that had arrived before the end are delivered first, so the end is told only
            // when the kept ones are gone.
            if let (Some(end), None) = (&receiving.end, &receiving.half) {
                if receiving.kept.is_empty() {
                    // Threads may wait for what the sink was to bring.
                    receiving.common.duties.record_change();
                    if let Some(sink) = self.sink.take() {
                        sink.lose(receiving.info.recv_error(end));
                    }
                    return false;
                }
            }
            // A sleeping thread that holds the half may also hold the buffer of a begun message.
            let is_away = receiving.half.is_none() && receiving.end.is_none();
            let Some(sink) = self.sink.as_deref() else {
                return false;
            };
            if receiving.is_starved || is_away {
                return true;
            }
            if let Step::Wait = receiving.receive_next(sink) {
                return true;
            }
        }
    }
}

impl Drop for SinkInUse<'_> {
    fn drop(&mut self) {
        if let Some(sink) = self.sink.take() {
            self.receiving.receive_sink = Some(sink);
        }
    }
}

impl Receiving {
    /// Makes `sink` the receiver of all messages, beginning with those that have already arrived.
    /// A connection accepts one receive sink in its lifetime. Returns false for any other.
    pub(crate) fn set_receive_sink(&mut self, sink: Arc<dyn ReceiveSink>) -> bool {
        if std::mem::replace(&mut self.had_sink, true) {
            let peer = self.info.peer.clone();
            // The owner of the refused sink learns by this call that it gets nothing.
            sink.lose(RecvError::Taken { peer });
            return false;
        }
        self.is_driven = true;
        self.receive_sink = Some(sink);
        self.began_before_sink = self.begun;
        // If a sleeping thread has the half, the limit is lifted when it is put back.
        if let Some(half) = &mut self.half {
            half.lift_limit();
        }
        self.drive();
        true
    }

    /// Retries after the pool may have room again.
    pub(crate) fn resume(&mut self) {
        self.is_starved = false;
        self.drive();
    }

    /// Returns true if a receive sink gets messages on arrival, and does not wait for a buffer.
    #[inline]
    pub(crate) fn has_ready_sink(&self) -> bool {
        self.receive_sink.is_some() && !self.is_starved
    }

    /// Receives as far as possible without blocking.
    pub(super) fn drive_sink(&mut self) {
        let Some(sink) = self.receive_sink.take() else {
            return;
        };
        // The sink is moved out of the state so that it can be called while the state changes.
        let mut sink = SinkInUse {
            receiving: self,
            sink: Some(sink),
        };
        let goes_on = sink.receive();
        drop(sink);
        // The replies to all messages that were received together are sent under one lock of the
        // send direction.
        if !self.replies.is_empty() {
            self.reply();
        }
        if !goes_on {
            // No more credit arrives, so the messages that wait for credit fail.
            if let Some(shared) = self.shared.upgrade() {
                shared.sending().close_gate();
            }
        }
    }

    #[inline]
    fn receive_next(&mut self, sink: &dyn ReceiveSink) -> Step {
        if !self.kept.is_empty() {
            return self.give_kept(sink);
        }
        let Some(half) = &mut self.half else {
            return Step::Wait;
        };
        let header = match half.header() {
            Ok(Some(header)) => header,
            Ok(None) => {
                // The device may have restarted the operation for which it was armed.
                self.alarm.disarm();
                return Step::Wait;
            }
            Err(fault) => return self.receive_failed(sink, fault),
        };
        if header.op() != 0 {
            return self.receive_frame(sink, header);
        }
        if self.began_before_sink {
            return self.finish_begun(sink, header);
        }
        if !self.begun {
            // The sink chooses before memory is reserved, so it can refuse a message of any
            // announced length.
            match sink.choose(&header, &mut self.replies) {
                Choice::Pool => {}
                Choice::Jbuf(empty) => self.into = Some(empty.writer()),
                Choice::Brief => self.lend_scratch(),
                Choice::Discard => self.is_discarded = true,
                Choice::Refuse(error) => return self.refused(error),
            }
            self.begun = true;
            if header.length >= LONG {
                self.begin_long(&header);
            }
        }
        // A refused reply in `begin_long` ends the direction, so the half may be gone now.
        let Some(half) = &mut self.half else {
            return Step::Wait;
        };
        let received = if self.is_discarded {
            half.discard(&mut self.into)
        } else {
            half.payload(&mut self.into)
        };
        match received {
            Ok(Some(payload)) => {
                self.is_discarded = false;
                self.end_message(&header);
                // A thread that waits in this direction may wait for the message that the sink
                // takes now.
                self.common.duties.record_change();
                self.deliver(sink, &header, payload)
            }
            Ok(None) => {
                self.alarm.disarm();
                Step::Wait
            }
            Err(fault) => self.receive_failed(sink, fault),
        }
    }

    /// Prepares for the payload of a long message.
    #[cold]
    fn begin_long(&mut self, header: &Header) {
        if !self.replies.is_empty() {
            // The peer may wait for them while this side receives the payload.
            self.reply();
        }
        let max = self.info.limits.max_receive;
        self.left = time_for(self.left, header.length, max);
    }

    /// Fast path: receives the next message to the front of `memory`, bypassing the receive sink,
    /// if all of it has arrived and `wants` accepts its header.
    #[inline]
    pub(crate) fn receive_bypassing_sink(
        &mut self,
        memory: &mut [u8],
        wants: impl Fn(&Header) -> bool,
    ) -> BypassedMessages {
        let is_free = self.has_ready_sink() && self.kept.is_empty() && !self.begun;
        let Some(half) = self.half.as_mut().filter(|_| is_free) else {
            return BypassedMessages::Other;
        };
        let mut header = Header::default();
        match half.receive_into(memory, &mut header, &wants) {
            Ok(Whole::Here) => {
                self.end_message(&header);
                BypassedMessages::Received(header)
            }
            Ok(Whole::Nothing) => BypassedMessages::Nothing,
            // The slow path through the receive sink finds a fault again.
            Ok(Whole::Other) | Err(_) => BypassedMessages::Other,
        }
    }

    fn deliver(&mut self, sink: &dyn ReceiveSink, header: &Header, payload: Payload) -> Step {
        // The flag is reset before the call, because the sink may refuse the message.
        let taken = match (std::mem::take(&mut self.scratched), payload) {
            (false, payload) => sink.take(header, payload, &mut self.replies),
            (true, Payload::Bytes(filled)) => {
                let taken = sink.take_brief(header, filled.as_bytes(), &mut self.replies);
                self.scratch = Some(filled.into_empty());
                taken
            }
            // A device that moves objects may deliver one whatever the sink has chosen. Frames of a
            // few bytes are never objects, so the peer violates the protocol.
            (true, Payload::Object(_)) => Err(HeaderError::Rank { kind: header.kind }),
        };
        match taken {
            Ok(()) => Step::Done,
            Err(error) => self.refused(error),
        }
    }

    /// Gives the sink a message that was received before the sink was set.
    #[cold]
    fn give_kept(&mut self, sink: &dyn ReceiveSink) -> Step {
        let Some(arrived) = self.kept.front() else {
            return Step::Wait;
        };
        let header = arrived.header;
        // The payload is here already. The sink is asked nevertheless, because it expects this call
        // before each `take`, and may refuse the message.
        let choice = sink.choose(&header, &mut self.replies);
        match choice {
            Choice::Refuse(error) => return self.refused(error),
            Choice::Pool | Choice::Jbuf(_) | Choice::Brief | Choice::Discard => {}
        }
        let Some(arrived) = self.take_kept() else {
            return Step::Wait;
        };
        self.scratched = matches!(choice, Choice::Brief);
        // The chosen buffer is not needed.
        drop(choice);
        self.common.duties.record_change();
        self.deliver(sink, &header, arrived.payload)
    }

    /// Completes a message that had begun before the sink was set.
    #[cold]
    fn finish_begun(&mut self, sink: &dyn ReceiveSink, header: Header) -> Step {
        let Some(half) = &mut self.half else {
            return Step::Wait;
        };
        match half.payload(&mut self.into) {
            Ok(Some(payload)) => {
                let number = self.end_message(&header);
                self.began_before_sink = false;
                // As a kept message, it goes through `give_kept`, where the sink chooses.
                self.kept.push_back(Arrived {
                    header,
                    payload,
                    number,
                });
                Step::Done
            }
            Ok(None) => {
                self.alarm.disarm();
                Step::Wait
            }
            Err(fault) => self.receive_failed(sink, fault),
        }
    }

    /// Handles a frame of puts and gets, to which the limit of the connection applies.
    #[cold]
    fn receive_frame(&mut self, sink: &dyn ReceiveSink, header: Header) -> Step {
        let length = header.length;
        // The device accepts any length since the sink was set, and the sink sees no frames that it
        // could refuse.
        if length > self.info.limits.max_receive {
            return self.receive_failed(sink, Fault::TooLarge { length });
        }
        match self.serve(header) {
            ServeOutcome::Done => Step::Done,
            ServeOutcome::Partly => Step::Wait,
            // A notification is delivered as a message.
            ServeOutcome::Arrived(arrived) => {
                self.kept.push_back(arrived);
                Step::Done
            }
            ServeOutcome::Failed(_) => Step::Done,
        }
    }

    #[cold]
    fn receive_failed(&mut self, sink: &dyn ReceiveSink, fault: Fault) -> Step {
        if let Fault::NoBuffer { .. } = fault {
            self.is_starved = true;
            sink.starve();
            return Step::Wait;
        }
        // The sink is told of the end by the loop, after the kept messages.
        let _ = self.handle_fault(fault);
        Step::Done
    }

    #[cold]
    fn refused(&mut self, error: HeaderError) -> Step {
        // The sink does not understand the peer any more, so it gets nothing further.
        self.kept.clear();
        self.end_with(EndReason::Malformed(error));
        Step::Done
    }

    fn lend_scratch(&mut self) {
        self.scratched = true;
        // A device that moves buffers already has one.
        if !self.info.limits.moves {
            let scratch = self.scratch.take();
            let scratch = scratch.unwrap_or_else(|| EmptyBuffer::heap(SCRATCH));
            self.into = Some(scratch.writer());
        }
    }

    #[cold]
    fn reply(&mut self) {
        let Replies {
            messages,
            opened,
            restored,
            overfull,
            alone,
        } = &mut self.replies;
        let alone = std::mem::take(alone);
        let (opened, restored) = (opened.take(), std::mem::take(restored));
        let Some(shared) = self.shared.upgrade() else {
            // The connection is being dropped: nobody can send.
            messages.clear();
            return;
        };
        let mut replied = Ok(Leftover::Nothing);
        // `open` and `restore` both set the error, so it also says whether there is credit.
        if let Some(wrong) = overfull.take() {
            let mut sending = shared.sending();
            let opened = opened.map_or(Ok(()), |window| sending.open_gate(window));
            let taken = opened.and_then(|()| sending.restore_credit(restored));
            replied = taken.map(|()| sending.unsent()).map_err(|Overfull| wrong);
        }
        if !messages.is_empty() {
            let posted = shared.sending().post_replies(messages.drain(..));
            replied = replied.and(posted);
        }
        match replied {
            Ok(Leftover::Nothing) => {}
            // Messages that wait for credit go when the peer returns some, which the caller that
            // waits here receives.
            Ok(Leftover::Waiting) if !alone => {}
            // Tasks that already wait are only woken for received messages.
            Ok(Leftover::InLine) if !alone && !self.alarm.is_waited_for() => {}
            Ok(Leftover::Waiting | Leftover::InLine) => shared.carry(),
            // The loop that would use the step is over.
            Err(error) => drop(self.refused(error)),
        }
    }
}
