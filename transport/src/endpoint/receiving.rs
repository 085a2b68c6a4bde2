//! The direction that receives, under its lock: the half, what was posted, and messages that nobody
//! asked for any more.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::{Filled, Filling, Pool, Spent};
use jstream::{Erased, Writer};

use super::alarm::Alarm;
use super::counters::Tally;
use super::facts::{End, Facts, Trouble};
use super::ops::{Notify, OpId, Ops, Sink};
use super::remote::Remote;
use super::shared::Shared;
use super::turn::{Common, Direction};
use crate::device::connection::{Armed, Fault, Incoming, Interest, Payload};
use crate::device::deadline::Deadline;
use crate::error::RecvError;
use crate::header::Header;

/// Messages of up to so many bytes are received into memory of the endpoint's own when the program
/// wants them in its own: then they cost no jbuf.
pub(super) const SCRATCH: usize = 4096;

/// A message that was received.
pub(crate) struct Arrived {
    pub(crate) header: Header,
    pub(crate) payload: Payload,
    /// Which one it is.
    number: u64,
}

impl Arrived {
    /// Its bytes: an object becomes a message again. One that can't, for want of room, comes back.
    #[inline]
    pub(crate) fn into_bytes(self, pool: &Pool) -> Result<(Header, Filled), Box<Unwritten>> {
        match self.payload {
            Payload::Bytes(filled) => Ok((self.header, filled)),
            Payload::Object(object) => forward(self.header, self.number, object, pool),
        }
    }
}

#[cold]
fn forward(
    header: Header,
    number: u64,
    object: Erased,
    pool: &Pool,
) -> Result<(Header, Filled), Box<Unwritten>> {
    let type_name = object.type_name();
    match object.forward(&mut Writer::new(), pool) {
        Ok(forwarded) => {
            let length = forwarded.message.len() as u64;
            Ok((header.with_length(length), forwarded.message))
        }
        Err(unforwarded) => Err(Box::new(Unwritten {
            error: RecvError::Object {
                type_name,
                source: unforwarded.error,
            },
            arrived: unforwarded.object.map(|object| Arrived {
                header,
                payload: Payload::Object(object),
                number,
            }),
        })),
    }
}

/// An object that did not become a message, and why.
pub(crate) struct Unwritten {
    pub(crate) error: RecvError,
    pub(crate) arrived: Option<Arrived>,
}

/// What came of a posted receive.
pub(crate) type Receipt = Result<Arrived, Missed>;

/// No message, why, and the jbuf that was posted.
pub(crate) struct Missed {
    pub(crate) error: RecvError,
    pub(crate) spent: Option<Spent>,
}

/// Where a message is wanted.
pub(super) enum Place<'s> {
    /// In a jbuf of the pool.
    Pool,
    /// In this jbuf, which is taken.
    Jbuf(&'s mut Option<Spent>),
    /// In memory of so many bytes; it stands in the scratch meanwhile, or in a jbuf of the pool.
    Memory(usize),
}

struct RecvOp {
    spent: Option<Spent>,
    receipt: Option<Receipt>,
    notify: Notify,
}

/// The state of the direction.
pub(crate) struct Receiving {
    pub(super) half: Option<Box<dyn Incoming>>,
    pub(super) end: Option<End>,
    /// Where the message goes that has begun.
    pub(super) into: Option<Filling>,
    /// A place was chosen for the message that comes next.
    pub(super) begun: bool,
    /// It is the scratch.
    scratched: bool,
    pub(super) scratch: Option<Spent>,
    /// Messages whose operations were forgotten, in order.
    pub(super) kept: VecDeque<Arrived>,
    pub(super) posted: VecDeque<OpId>,
    ops: Ops<RecvOp>,
    /// How long the message that has begun may still take.
    pub(super) left: Duration,
    next: u64,
    pub(super) common: Common,
    pub(super) facts: Arc<Facts>,
    pub(super) tally: Arc<Tally>,
    pub(super) alarm: Arc<Alarm>,
    alarm_waker: Waker,
    /// Puts and gets, of this side and of the peer.
    pub(super) remote: Remote,
}

impl Receiving {
    pub(super) fn new(
        half: Box<dyn Incoming>,
        facts: Arc<Facts>,
        tally: Arc<Tally>,
        alarm: Arc<Alarm>,
        shared: Weak<Shared>,
    ) -> Self {
        Self {
            half: Some(half),
            end: None,
            into: None,
            begun: false,
            scratched: false,
            scratch: None,
            kept: VecDeque::new(),
            posted: VecDeque::new(),
            ops: Ops::new(),
            left: facts.message_timeout,
            next: 0,
            common: Common::default(),
            facts,
            tally,
            alarm_waker: alarm.clone().into(),
            alarm,
            remote: Remote::new(shared),
        }
    }

    /// A message for a call that waits, or why there will be none: behind everything posted.
    #[inline]
    pub(super) fn receive(&mut self, place: Place<'_>) -> Option<Result<Arrived, RecvError>> {
        if !self.posted.is_empty() {
            return None;
        }
        self.next(place)
    }

    /// As [`receive`](Self::receive), for a message that is wanted in `memory`.
    #[inline]
    pub(super) fn receive_into(&mut self, memory: &mut [u8]) -> Option<Result<Header, RecvError>> {
        if !self.posted.is_empty() {
            return None;
        }
        if let (Some(half), true) = (&mut self.half, self.kept.is_empty() && !self.begun) {
            match half.receive_into(memory) {
                Ok(Some(header)) => {
                    self.end_message(&header);
                    self.take_number();
                    return Some(Ok(header));
                }
                Ok(None) => {}
                Err(fault) => return self.trouble(fault).map(Err),
            }
        }
        let received = self.next(Place::Memory(memory.len()))?;
        Some(received.and_then(|arrived| self.copy_out(arrived, memory)))
    }

    /// The next message, if it is here.
    #[inline]
    fn next(&mut self, place: Place<'_>) -> Option<Result<Arrived, RecvError>> {
        if !self.kept.is_empty() {
            return self.next_kept(&place);
        }
        self.next_new(place)
    }

    /// The next message of the device.
    #[inline]
    pub(super) fn next_new(&mut self, mut place: Place<'_>) -> Option<Result<Arrived, RecvError>> {
        let Some(half) = &mut self.half else {
            let end = self.end.as_ref()?;
            return Some(Err(self.facts.recv_error(end)));
        };
        let header = match half.header() {
            Ok(Some(header)) => header,
            Ok(None) => return None,
            Err(fault) => return self.trouble(fault).map(Err),
        };
        if header.op != 0 {
            return self.next_behind_frames(place);
        }
        if let Some(error) = too_small(&place, header.length) {
            return Some(Err(error));
        }
        if !self.begun {
            self.begun = true;
            match &mut place {
                Place::Pool => {}
                Place::Jbuf(spent) => self.into = spent.take().map(Spent::filling),
                Place::Memory(_) => {
                    // A device that moves jbufs has one already.
                    if header.length <= SCRATCH as u64 && !self.facts.limits.moves {
                        let scratch = self.scratch.take();
                        let scratch = scratch.unwrap_or_else(|| Spent::heap(SCRATCH));
                        self.into = Some(scratch.filling());
                        self.scratched = true;
                    }
                }
            }
        }
        match half.payload(&mut self.into) {
            Ok(Some(payload)) => Some(Ok(self.complete_message(header, payload, &place))),
            Ok(None) => None,
            Err(fault) => self.trouble(fault).map(Err),
        }
    }

    #[inline]
    fn complete_message(
        &mut self,
        header: Header,
        mut payload: Payload,
        place: &Place<'_>,
    ) -> Arrived {
        self.end_message(&header);
        if self.scratched && !matches!(place, Place::Memory(_)) {
            payload = self.leave_scratch(payload);
        }
        self.number(header, payload)
    }

    /// All of a message, or of a frame, was received.
    #[inline]
    pub(super) fn end_message(&mut self, header: &Header) {
        self.begun = false;
        self.left = self.facts.message_timeout;
        self.common.waited_since = None;
        // Something was received since it was armed: it may not call for what comes next.
        self.alarm.disarm();
        self.tally.received(header.length);
        self.facts.trace(header, "received");
    }

    /// What was received, as the message that comes next.
    #[inline]
    pub(super) fn number(&mut self, header: Header, payload: Payload) -> Arrived {
        Arrived {
            header,
            payload,
            number: self.take_number(),
        }
    }

    /// The number of the message that comes next.
    fn take_number(&mut self) -> u64 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// A message that was begun for somebody who had memory, and goes to somebody else.
    #[cold]
    fn leave_scratch(&mut self, payload: Payload) -> Payload {
        self.scratched = false;
        let Payload::Bytes(filled) = payload else {
            return payload;
        };
        let copied = self.facts.pool.take(filled.len()).ok().and_then(|spent| {
            let copied = spent.copy_from(filled.as_bytes());
            copied.ok()
        });
        match copied {
            Some(copied) => {
                self.scratch = Some(filled.into_spent());
                Payload::Bytes(copied)
            }
            // A pool without room gets none of it; the next one gets a new scratch.
            None => Payload::Bytes(filled),
        }
    }

    /// Copies a message to memory that has room for it.
    #[inline]
    pub(super) fn copy_out(
        &mut self,
        arrived: Arrived,
        memory: &mut [u8],
    ) -> Result<Header, RecvError> {
        let number = arrived.number;
        let (header, filled) = match arrived.into_bytes(&self.facts.pool) {
            Ok(message) => message,
            Err(unwritten) => {
                if let Some(arrived) = unwritten.arrived {
                    self.keep(arrived);
                }
                return Err(unwritten.error);
            }
        };
        let Some(room) = memory.get_mut(..filled.len()) else {
            // An object that was changed: its message is longer than the jbuf that it stood in.
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
        if std::mem::take(&mut self.scratched) {
            self.scratch = Some(filled.into_spent());
        }
        Ok(header)
    }

    fn next_kept(&mut self, place: &Place<'_>) -> Option<Result<Arrived, RecvError>> {
        let length = self.kept.front()?.header.length;
        if let Some(error) = too_small(place, length) {
            return Some(Err(error));
        }
        self.take_kept().map(Ok)
    }

    /// What a fault means for whoever receives; the end of the direction, if it stays.
    #[cold]
    pub(super) fn trouble(&mut self, fault: Fault) -> Option<RecvError> {
        let begun = self.half.as_ref().map_or(0, |half| half.begun());
        match Trouble::of(fault, begun) {
            Trouble::NoBuffer { length, source } => {
                // It may be wanted elsewhere the next time.
                self.begun = self.into.is_some();
                Some(RecvError::NoBuffer {
                    length,
                    peer: self.facts.peer.clone(),
                    source,
                })
            }
            Trouble::End(end) => {
                let error = self.facts.recv_error(&end);
                self.end_with(end);
                Some(error)
            }
        }
    }

    /// Notes the end; `drive` ends what is posted.
    pub(super) fn end_with(&mut self, end: End) {
        // Threads that wait for the half to come back wait for ever otherwise.
        self.common.news = true;
        self.half = None;
        self.into = None;
        self.begun = false;
        if matches!(end, End::ClosedLocally) {
            self.kept.clear();
            self.remote.kept_bytes = 0;
        }
        if end.breaks() {
            self.facts.blame(&end);
            self.common.broke = true;
        }
        if self.end.is_none() {
            self.facts.note_end(&end, "receiving");
            self.end = Some(end);
        }
    }

    /// Appends an operation.
    pub(super) fn post(&mut self, spent: Option<Spent>, notify: Notify) -> OpId {
        let id = self.ops.insert(RecvOp {
            spent,
            receipt: None,
            notify,
        });
        self.posted.push_back(id);
        self.drive();
        id
    }

    /// What came of an operation, once it has ended.
    pub(super) fn take(&mut self, id: OpId) -> Option<Receipt> {
        self.ops.get_mut(id)?.receipt.as_ref()?;
        self.ops.remove(id)?.receipt
    }

    /// Has `task` woken when the operation ends, in the place of whoever polled before.
    pub(super) fn notify(&mut self, id: OpId, task: &Waker) {
        let op = self.ops.get_mut(id);
        if let Some(other) = op.and_then(|op| op.notify.set_task(task)) {
            self.release(&other);
        }
    }

    /// Ends an operation that has no message; its jbuf, unless a part of a message stands in it.
    pub(super) fn cancel(&mut self, id: OpId) {
        let place = self.posted.iter().position(|posted| *posted == id);
        if let Some(place) = place {
            self.posted.remove(place);
            self.complete(id, Err(RecvError::Cancelled));
        }
    }

    /// Nobody asks for an operation any more. A message that it has is kept for the next one. What is
    /// to be dropped outside of the lock comes back.
    pub(super) fn forget(&mut self, id: OpId) -> Option<Missed> {
        let op = self.ops.get_mut(id)?;
        if let Notify::Task(task) = std::mem::replace(&mut op.notify, Notify::Nobody) {
            self.release(&task);
        }
        self.cancel(id);
        match self.take(id)? {
            Ok(arrived) => {
                self.keep(arrived);
                None
            }
            Err(missed) => Some(missed),
        }
    }

    /// Gives up the operations of a sink. Their jbufs come back, to be dropped outside of the lock.
    pub(super) fn forget_sink(&mut self, sink: &Arc<dyn Sink>) -> Vec<Missed> {
        let of_sink = |id: &OpId, ops: &mut Ops<RecvOp>| {
            ops.get_mut(*id).is_some_and(|op| op.notify.is_of(sink))
        };
        let mut missed = Vec::new();
        while let Some(id) = self
            .posted
            .iter()
            .copied()
            .find(|id| of_sink(id, &mut self.ops))
        {
            if let Some(op) = self.ops.get_mut(id) {
                op.notify = Notify::Nobody;
            }
            missed.extend(self.forget(id));
        }
        missed
    }

    /// A task does not wait for one operation any more, but maybe for another.
    fn release(&mut self, task: &Waker) {
        let mut posted = self.posted.iter().filter_map(|id| self.ops.get(*id));
        if !posted.any(|op| op.notify.is_task(task)) {
            self.alarm.forget(task);
        }
    }

    /// Has a message received next, as if it had not been received yet.
    pub(super) fn keep(&mut self, arrived: Arrived) {
        if matches!(self.end, Some(End::ClosedLocally)) {
            return;
        }
        let kept_bytes = &mut self.remote.kept_bytes;
        *kept_bytes = kept_bytes.saturating_add(arrived.header.length);
        let later = |kept: &Arrived| kept.number > arrived.number;
        let place = self.kept.iter().position(later);
        self.kept.insert(place.unwrap_or(self.kept.len()), arrived);
        self.drive();
    }

    pub(super) fn source(&self) -> io::Result<OwnedFd> {
        let half = self.half.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        half.source().try_clone_to_owned()
    }

    /// Prepares to sleep in the program's own poll. True when something is to be received first.
    pub(super) fn arm_bare(&mut self) -> bool {
        let is_ready = match &mut self.half {
            Some(half) if self.kept.is_empty() => half.arm(None) == Armed::Ready,
            // Another thread that receives is there to see to it.
            None => self.end.is_some(),
            Some(_) => true,
        };
        self.alarm.disarm();
        is_ready
    }

    /// The connection was closed in this program.
    pub(super) fn close(&mut self) {
        self.kept.clear();
        self.remote.kept_bytes = 0;
        self.drive();
    }

    fn complete(&mut self, id: OpId, result: Result<Arrived, RecvError>) {
        let Some(op) = self.ops.get_mut(id) else {
            return;
        };
        let spent = op.spent.take();
        op.receipt = Some(result.map_err(|error| Missed { error, spent }));
        match std::mem::replace(&mut op.notify, Notify::Ticket) {
            Notify::Ticket | Notify::Nobody | Notify::Request | Notify::Answer => {
                self.common.news = true
            }
            Notify::Task(task) => {
                self.alarm.forget(&task);
                self.common.to_wake.push(task);
            }
            Notify::Sink(sink, user) => {
                if let Some(receipt) = self.take(id) {
                    sink.received(user, receipt);
                }
            }
        }
    }

    /// The message that has begun takes too long.
    fn expire(&mut self) {
        let received = self.half.as_ref().map_or(0, |half| half.begun());
        self.end_with(End::Stalled { received });
    }
}

fn too_small(place: &Place<'_>, length: u64) -> Option<RecvError> {
    let capacity = match place {
        Place::Pool => return None,
        Place::Jbuf(spent) => spent.as_ref()?.capacity(),
        Place::Memory(capacity) => *capacity,
    };
    (length > capacity as u64).then_some(RecvError::TooSmall { length, capacity })
}

/// What a sleep needs: the half, and where it receives to.
pub(crate) struct Asleep {
    half: Box<dyn Incoming>,
    into: Option<Filling>,
    /// A message had begun before.
    measured: bool,
}

impl Direction for Receiving {
    type Half = Asleep;

    fn common(&mut self) -> &mut Common {
        &mut self.common
    }

    #[inline]
    fn drive(&mut self) {
        while let Some(id) = self.posted.front().copied() {
            let Some(op) = self.ops.get_mut(id) else {
                return;
            };
            let mut spent = op.spent.take();
            let place = if spent.is_some() {
                Place::Jbuf(&mut spent)
            } else {
                Place::Pool
            };
            let next = self.next(place);
            if let Some(op) = self.ops.get_mut(id) {
                op.spent = spent;
            }
            let Some(result) = next else {
                // A part may have been received, or the device begun anew: what it was armed for.
                self.alarm.disarm();
                return;
            };
            self.posted.pop_front();
            self.complete(id, result);
        }
        if self.remote.is_active() {
            self.drive_remote();
        }
    }

    #[inline]
    fn has_posted(&self) -> bool {
        !self.posted.is_empty() || (self.remote.is_waiting() && self.end.is_none())
    }

    fn has_half(&self) -> bool {
        self.half.is_some()
    }

    fn patience(&mut self) -> Option<Duration> {
        let begun = self.half.as_ref().is_some_and(|half| half.begun() > 0);
        begun.then_some(self.left)
    }

    fn take_half(&mut self) -> Option<Self::Half> {
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

    fn put_back(&mut self, half: Self::Half, slept: Result<(), Fault>, elapsed: Duration) {
        self.half = Some(half.half);
        self.into = half.into;
        match slept {
            // What had come before is still there, and says by itself that it was the last.
            Ok(()) | Err(Fault::NoBuffer { .. }) => {}
            Err(fault) => {
                let _ = self.trouble(fault);
                return;
            }
        }
        if half.measured && self.patience().is_some() {
            self.left = self.left.saturating_sub(elapsed);
            if self.left.is_zero() {
                self.expire();
            }
        }
    }

    fn arm(&mut self) -> bool {
        let Some(half) = &mut self.half else {
            return true;
        };
        self.alarm.set_armed();
        match half.arm(Some(&self.alarm_waker)) {
            Armed::Ready => {
                self.alarm.disarm();
                return false;
            }
            Armed::Waker => {}
            Armed::Source => {
                let (waker, watch) = (&self.alarm_waker, &mut self.common.watch);
                let watched = self.alarm.watcher().and_then(|watcher| {
                    if half.watch(waker, &watcher)? {
                        return Ok(());
                    }
                    watcher.watch(watch, half.source(), Interest::Readable, waker)
                });
                // Nobody is going to call, so the tasks look themselves.
                if watched.is_err() {
                    self.alarm.ring();
                }
            }
        }
        true
    }
}

impl Drop for Receiving {
    /// Whoever watches the descriptor forgets it before it is closed.
    fn drop(&mut self) {
        self.common.watch = None;
    }
}
