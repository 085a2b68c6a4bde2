//! The receive direction, under its lock: the half, posted receives, and messages whose receives
//! were dropped.
//!
//! A message of an established connection over a socket takes this way from the socket to the
//! object, if one thread receives and nothing is posted:
//!
//! 1. `Endpoint::recv` calls `Endpoint::receive_object` (`typed`).
//! 2. `Shared::receive` (`shared::calls`) locks the direction (`DirectionLock::lock`). The
//!    [`Inbound`] that it passes down is the only place of the message up to step 9.
//! 3. `Receiving::receive_whole` checks that the message is for this caller.
//! 4. `StreamIncoming::receive` (`jstream_device::stream::incoming`) reads if no header is staged.
//! 5. `StreamIncoming::read` calls `SocketWire::try_read` with the space of `Assembly::spare`.
//! 6. `Assembly::take_whole` copies the payload to a buffer of the pool (`Pool::take`).
//! 7. `Receiving::end_message` counts the message.
//! 8. Dropping the guard publishes the direction and unlocks it. If there is no message,
//!    `Shared::receive_slowly` polls and sleeps in `DirectionLock::wait_spinning` instead, and
//!    repeats from step 3.
//! 9. `object::read` borrows a reader (`Codecs::with`), and `Reader::read` checks the message and
//!    makes it native where it lies.

mod arrived;
mod begun_bytes;
mod delivery;
mod direction;
mod posted;
mod receive_sink;

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::{BufferWriter, EmptyBuffer, MessageBuffer};

pub(super) use self::arrived::Destination;
pub use self::arrived::{Arrived, Inbound, Missed, Receipt};
pub use self::receive_sink::{BypassedMessages, Choice, ReceiveSink, Replies};

use self::arrived::too_small;
pub(crate) use self::begun_bytes::BegunBytes;
use self::begun_bytes::is_full;
use super::alarm::Alarm;
use super::connection_info::{ConnectionInfo, EndReason, Trouble};
use super::counters::Tally;
use super::direction_lock::{Common, Direction};
use super::ops::{Notify, OpId, Ops};
use super::remote::RemoteState;
use super::shared::Shared;
use jstream_base::Header;
use jstream_base::RecvError;
use jstream_device::connection::{Armed, Fault, Incoming, Payload, Whole};

/// Messages of up to this many bytes whose payload is not kept are received into a scratch buffer
/// of the endpoint. They need no buffer of the pool then.
pub(super) const SCRATCH: usize = 4096;

struct RecvOp {
    empty: Option<EmptyBuffer>,
    receipt: Option<Receipt>,
    notify: Notify,
}

/// State of the receive direction.
pub(crate) struct Receiving {
    pub(super) half: Option<Box<dyn Incoming>>,
    pub(super) end: Option<EndReason>,
    /// Destination of the message that has begun.
    pub(super) into: Option<BufferWriter>,
    /// True if a destination was chosen for the next message.
    pub(super) begun: bool,
    /// True if that destination is the scratch buffer.
    scratched: bool,
    /// True if there is none, because the sink does not want the payload.
    is_discarded: bool,
    pub(super) scratch: Option<EmptyBuffer>,
    /// Messages whose operations were dropped, in order of arrival.
    pub(super) kept: VecDeque<Arrived>,
    pub(super) posted: VecDeque<OpId>,
    ops: Ops<RecvOp>,
    /// Time that the message that has begun may still take.
    pub(super) left: Duration,
    next: u64,
    /// True once a receive was posted, a window was exposed, a put or a get was begun, or a receive
    /// sink was set. Until then, no message is received without a caller that waits for it.
    pub(super) is_driven: bool,
    /// True while a task may be registered to be woken when a message has arrived, which it then
    /// receives.
    reports_arrivals: bool,
    pub(super) common: Common,
    pub(super) info: Arc<ConnectionInfo>,
    pub(super) tally: Arc<Tally>,
    pub(super) alarm: Arc<Alarm>,
    alarm_waker: Waker,
    /// Puts and gets of both sides.
    pub(super) remote: RemoteState,
    /// The connection, for sending answers, requests and replies.
    pub(super) shared: Weak<Shared>,
    /// The receive sink, which gets all messages on arrival.
    receive_sink: Option<Arc<dyn ReceiveSink>>,
    /// True once a receive sink was set. From then on, no other caller receives messages, because a
    /// message that has begun may be in the sink's memory.
    had_sink: bool,
    /// True if a message had begun for another receiver when the sink was set.
    began_before_sink: bool,
    /// True if the pool has no room for the next message of the sink.
    is_starved: bool,
    /// True if the connection was closed in this program. A half that is put back is then dropped.
    is_closed: bool,
    /// Share of this connection in the bytes of all incomplete messages.
    begun_bytes: BegunBytes,
    /// Messages that the receive sink sends.
    replies: Replies,
}

impl Receiving {
    pub(super) fn new(
        half: Box<dyn Incoming>,
        info: Arc<ConnectionInfo>,
        tally: Arc<Tally>,
        alarm: Arc<Alarm>,
        begun_bytes: BegunBytes,
        shared: Weak<Shared>,
    ) -> Self {
        Self {
            half: Some(half),
            end: None,
            into: None,
            begun: false,
            scratched: false,
            is_discarded: false,
            scratch: None,
            kept: VecDeque::new(),
            posted: VecDeque::new(),
            ops: Ops::default(),
            left: info.message_timeout,
            next: 0,
            is_driven: false,
            reports_arrivals: false,
            common: Common::default(),
            info,
            tally,
            alarm_waker: alarm.clone().into(),
            alarm,
            remote: RemoteState::default(),
            shared,
            receive_sink: None,
            had_sink: false,
            began_before_sink: false,
            is_starved: false,
            is_closed: false,
            begun_bytes,
            replies: Replies::default(),
        }
    }

    /// Receives a message for a blocking call, behind everything posted. Returns true if there is
    /// an outcome: in `inbound.message` if the fast path of the device applies, otherwise in
    /// `inbound.other`.
    #[inline]
    pub(super) fn receive_whole(&mut self, inbound: &mut Inbound) -> bool {
        // Posted receives were there first, so the next message belongs to them.
        if !self.posted.is_empty() {
            return false;
        }
        // The fast path of the device starts a message and delivers to this caller. A kept message
        // precedes it, a begun message already has a destination, and a sink gets all messages.
        let is_free = self.kept.is_empty() && !self.begun && !self.had_sink;
        if let (Some(half), true) = (&mut self.half, is_free) {
            let message = &mut inbound.message;
            match half.receive(&mut message.header, &mut message.payload) {
                Ok(Whole::Here) => {
                    self.end_message(&message.header);
                    return true;
                }
                Ok(Whole::Nothing) => {
                    self.rearm();
                    return false;
                }
                Ok(Whole::Other) => {}
                Err(fault) => {
                    inbound.other = self.handle_fault(fault).map(Err);
                    return inbound.other.is_some();
                }
            }
        }
        inbound.other = self.next(Destination::Pool);
        if inbound.other.is_none() {
            self.rearm();
        }
        inbound.other.is_some()
    }

    /// Returns true if polling before a sleep would be a wasted system call: nothing has arrived,
    /// or the call that sleeps receives it as well.
    #[inline]
    pub(super) fn receives_asleep(&self) -> bool {
        let is_free =
            self.posted.is_empty() && self.kept.is_empty() && !self.begun && !self.had_sink;
        is_free
            && self
                .half
                .as_ref()
                .is_some_and(|half| half.receives_asleep())
    }

    /// Detects an end that the device already knows of. Messages stay in the device.
    pub(super) fn detect_end(&mut self) {
        let half = self.half.as_mut();
        // A header is only looked at: a message that has arrived is still received by its receiver.
        if let Some(Err(fault)) = half.map(|half| half.header()) {
            self.handle_fault(fault);
        }
    }

    /// As [`receive_whole`](Self::receive_whole), for a message that is wanted in `memory`. Returns
    /// true if it was received, or if `other` was set: to an error, or to an object, which the
    /// caller converts without the lock, because that calls the program.
    #[inline]
    pub(super) fn receive_into(
        &mut self,
        memory: &mut [u8],
        header: &mut Header,
        other: &mut Option<Result<Arrived, RecvError>>,
    ) -> bool {
        if !self.posted.is_empty() {
            return false;
        }
        // As in `receive_whole`.
        let is_free = self.kept.is_empty() && !self.begun && !self.had_sink;
        if let (Some(half), true) = (&mut self.half, is_free) {
            match half.receive_into(memory, header, &|_| true) {
                Ok(Whole::Here) => {
                    self.end_message(header);
                    return true;
                }
                Ok(Whole::Nothing) => {
                    self.rearm();
                    return false;
                }
                Ok(Whole::Other) => {}
                Err(fault) => {
                    *other = self.handle_fault(fault).map(Err);
                    return other.is_some();
                }
            }
        }
        // The general path receives into a buffer of the pool, and copies.
        match self.next(Destination::Memory(memory.len())) {
            None => {
                self.rearm();
                return false;
            }
            Some(Ok(Arrived {
                header: of_message,
                payload: Payload::Bytes(filled),
                number,
            })) => match self.copy_out((of_message, filled, number), memory) {
                Ok(copied) => *header = copied,
                Err(error) => *other = Some(Err(error)),
            },
            object_or_error => *other = object_or_error,
        }
        true
    }

    /// Returns the next message if it has arrived.
    #[inline]
    fn next(&mut self, place: Destination<'_>) -> Option<Result<Arrived, RecvError>> {
        if !self.kept.is_empty() || self.had_sink {
            return self.next_kept(&place);
        }
        self.next_new(place)
    }

    /// Returns the next message of the device.
    #[inline]
    pub(super) fn next_new(
        &mut self,
        mut place: Destination<'_>,
    ) -> Option<Result<Arrived, RecvError>> {
        let Some(half) = &mut self.half else {
            // Without a half and without an end, another thread sleeps with the half.
            let end = self.end.as_ref()?;
            return Some(Err(self.info.recv_error(end)));
        };
        let header = match half.header() {
            Ok(Some(header)) => header,
            Ok(None) => return None,
            Err(fault) => return self.handle_fault(fault).map(Err),
        };
        // Frames of puts and gets have no receiver. They are served, and the message behind them is
        // the result.
        if header.op() != 0 {
            return self.next_behind_frames(place);
        }
        // Checked before anything of the message is taken, so a later receive with more room gets
        // it.
        if let Some(error) = too_small(&place, header.length) {
            // The device does not report it again once it was read.
            self.report();
            return Some(Err(error));
        }
        // The destination is chosen once. A posted buffer that comes later would not contain the
        // part that has already arrived.
        if !self.begun {
            self.begun = true;
            if let Destination::Jbuf(empty) = &mut place {
                self.into = empty.take().map(EmptyBuffer::writer);
            }
        }
        loop {
            let half = self.half.as_mut()?;
            let bytes = &mut self.begun_bytes;
            // Charged before the device takes memory for the whole message: the header alone is a
            // claim of the peer.
            if let Err(full) = bytes.reserve(&**half, self.into.as_ref(), header.length) {
                return self.handle_fault(full).map(Err);
            }
            return match half.payload(&mut self.into) {
                Ok(Some(payload)) => {
                    let number = self.end_message(&header);
                    Some(Ok(Arrived {
                        header,
                        payload,
                        number,
                    }))
                }
                // The first, small buffer is full. The next round charges the whole message before
                // the device takes a buffer for all of it.
                Ok(None) if is_full(self.into.as_ref(), header.length) => continue,
                Ok(None) => {
                    self.begun_bytes.record(half.begun());
                    None
                }
                Err(fault) => self.handle_fault(fault).map(Err),
            };
        }
    }

    /// Resets the per-message state when all of a message or frame was received. Returns its
    /// number.
    #[inline]
    pub(super) fn end_message(&mut self, header: &Header) -> u64 {
        self.begun = false;
        self.begun_bytes.end();
        self.info.trimmer.record(header.length);
        self.left = self.info.message_timeout;
        // Tasks that go on waiting do so for another message, whose time begins now.
        self.common.waited_since = None;
        // Data was received since the device was armed, so it may not signal the next message.
        self.alarm.disarm();
        self.tally.received(header.length);
        self.info.trace(header, "received");
        let number = self.next;
        // Numbers may wrap: `keep` compares them by their distance.
        self.next = number.wrapping_add(1);
        number
    }

    /// Copies a message to the front of `memory`.
    #[inline]
    pub(super) fn copy_out(
        &mut self,
        (header, filled, number): (Header, MessageBuffer, u64),
        memory: &mut [u8],
    ) -> Result<Header, RecvError> {
        let Some(room) = memory.get_mut(..filled.len()) else {
            // It was an object that was modified, so its message is longer than the buffer in which
            // it was received.
            self.keep(Arrived {
                header,
                payload: Payload::Bytes(filled),
                number,
            });
            return Err(RecvError::TooSmall {
                length: header.length,
                capacity: memory.len(),
            });
        };
        room.copy_from_slice(filled.as_bytes());
        Ok(header)
    }

    fn next_kept(&mut self, place: &Destination<'_>) -> Option<Result<Arrived, RecvError>> {
        // The sink also gets the messages that were kept before it was set.
        if self.had_sink {
            let peer = self.info.peer.clone();
            return Some(Err(RecvError::Taken { peer }));
        }
        let length = self.kept.front()?.header.length;
        if let Some(error) = too_small(place, length) {
            return Some(Err(error));
        }
        self.take_kept().map(Ok)
    }

    /// Converts a fault to the error for the receiver. A permanent fault ends the direction.
    #[cold]
    pub(super) fn handle_fault(&mut self, fault: Fault) -> Option<RecvError> {
        let begun = self.half.as_ref().map_or(0, |half| half.begun());
        match Trouble::new(fault, begun) {
            Trouble::NoBuffer { length, source } => {
                // The next attempt may choose another destination.
                self.begun = self.into.is_some();
                // The message stays in the device, which does not report it again once it was read.
                self.report();
                Some(RecvError::NoBuffer {
                    length,
                    peer: self.info.peer.clone(),
                    source,
                })
            }
            Trouble::End(end) => {
                let error = self.info.recv_error(&end);
                self.end_with(end);
                Some(error)
            }
        }
    }

    /// Records the end. `drive` then ends the posted operations.
    pub(super) fn end_with(&mut self, end: EndReason) {
        // Threads that wait for the half to come back would otherwise wait forever.
        self.common.duties.record_change();
        // The watcher drops its registration before the descriptor is closed.
        self.common.watch = None;
        self.half = None;
        self.into = None;
        self.begun = false;
        self.begun_bytes.end();
        // An end that the peer caused does not take away messages that came before it. A program
        // that has closed the connection itself wants nothing more.
        if matches!(end, EndReason::ClosedLocally | EndReason::Forked) {
            self.kept.clear();
            self.remote.kept_bytes = 0;
        }
        if end.breaks() {
            self.info.blame(&end);
            self.common.duties.record_break();
        }
        // The first reason is the cause. Later ones, such as a device that was closed because of
        // it, are its effects.
        if self.end.is_none() {
            self.info.note_end(&end, "receiving");
            self.end = Some(end);
        }
        self.report();
    }

    pub(super) fn source(&self) -> io::Result<OwnedFd> {
        let half = self.half.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        half.source().try_clone_to_owned()
    }

    /// Prepares for a sleep in the program's own poll. Returns true if something must be received
    /// first.
    pub(super) fn arm_bare(&mut self) -> bool {
        let is_ready = match &mut self.half {
            Some(half) if self.kept.is_empty() => half.arm(None) == Armed::Ready,
            // Another receiving thread holds the half and handles the next message.
            None => self.end.is_some(),
            Some(_) => true,
        };
        // Arming without a waker has replaced the arming for the tasks.
        self.alarm.disarm();
        is_ready
    }

    /// Ends the direction because the connection was closed in this program.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.kept.clear();
        self.remote.kept_bytes = 0;
        // Ends the posted receives. If there are none, `detect_end` asks the device.
        self.drive();
        self.detect_end();
        self.report();
    }

    /// Counts time that was spent polling, without a sleep, towards the timeout of the message that
    /// has begun. One call counts at most a quarter of the timeout, so that a pause of the program
    /// alone does not exceed it.
    pub(super) fn count_begun(&mut self, elapsed: Duration) {
        let Some(left) = self.patience() else {
            return;
        };
        let most = self.info.message_timeout.checked_div(4);
        self.left = left.saturating_sub(elapsed.min(most.unwrap_or_default()));
        if self.left.is_zero() {
            self.expire();
            // Completes the posted receives with the error.
            self.drive();
        }
    }

    /// Ends the direction because the message that has begun timed out.
    fn expire(&mut self) {
        let received = self.half.as_ref().map_or(0, |half| half.begun());
        self.end_with(EndReason::Stalled { received });
    }
}

impl Drop for Receiving {
    /// Drops the watcher's registration before the descriptor is closed.
    fn drop(&mut self) {
        self.common.watch = None;
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
