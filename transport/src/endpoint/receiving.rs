//! The direction that receives, under its lock: the half, what was posted, and messages that nobody
//! asked for any more.

mod arrived;
mod direction;
mod posted;
mod taker;

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::{Filling, PoolError, Spent};

pub(super) use self::arrived::Place;
pub(crate) use self::arrived::{Arrived, Missed, Receipt};
pub(crate) use self::taker::{Choice, Past, Replies, Taker};

use self::arrived::too_small;
use super::alarm::Alarm;
use super::begun::BegunShare;
use super::counters::Tally;
use super::facts::{End, Facts, Trouble};
use super::message::Message;
use super::ops::{Notify, OpId, Ops};
use super::remote::Remote;
use super::shared::Shared;
use super::turn::{Common, Direction};
use crate::device::connection::{Armed, Fault, Incoming, Payload, Whole};
use crate::error::RecvError;
use crate::header::Header;

/// Messages of up to so many bytes are received into memory of the endpoint's own when the program
/// wants them in its own: then they cost no jbuf.
pub(super) const SCRATCH: usize = 4096;

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
    /// Who gets all messages as they come.
    taker: Option<Arc<dyn Taker>>,
    /// There was one: nobody else receives any more, as a message that has begun may go to its memory.
    taken: bool,
    /// A message had begun before, for somebody else.
    begun_before: bool,
    /// The pool has no room for its next message.
    held: bool,
    /// The connection was closed in this program: a half that comes back is dropped.
    is_closed: bool,
    /// The message that has begun, among those of all connections.
    begun_share: BegunShare,
    /// What it sends.
    replies: Replies,
}

impl Receiving {
    pub(super) fn new(
        half: Box<dyn Incoming>,
        facts: Arc<Facts>,
        tally: Arc<Tally>,
        alarm: Arc<Alarm>,
        begun_share: BegunShare,
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
            taker: None,
            taken: false,
            begun_before: false,
            held: false,
            is_closed: false,
            begun_share,
            replies: Replies::default(),
        }
    }

    /// A message for a call that waits, behind everything posted, into `message`. What is more than bytes,
    /// or why there will be none, goes to `other`. True when one of both was done.
    ///
    /// What is moved through results and options is copied by each; so a small message goes to its place.
    #[inline]
    pub(super) fn receive_whole(
        &mut self,
        message: &mut Message,
        other: &mut Option<Result<Arrived, RecvError>>,
    ) -> bool {
        if !self.posted.is_empty() {
            return false;
        }
        let is_free = self.kept.is_empty() && !self.begun && !self.taken;
        if let (Some(half), true) = (&mut self.half, is_free) {
            match half.receive(&mut message.header, &mut message.payload) {
                Ok(Whole::Here) => {
                    self.end_message(&message.header);
                    self.take_number();
                    return true;
                }
                Ok(Whole::Nothing) => return false,
                Ok(Whole::Other) => {}
                Err(fault) => {
                    *other = self.trouble(fault).map(Err);
                    return other.is_some();
                }
            }
        }
        *other = self.next(Place::Pool);
        other.is_some()
    }

    /// Whether a look would find nothing, or what a sleep finds as well, in one call of the system less.
    #[inline]
    pub(super) fn receives_asleep(&self) -> bool {
        let is_free = self.posted.is_empty() && self.kept.is_empty() && !self.begun && !self.taken;
        is_free
            && self
                .half
                .as_ref()
                .is_some_and(|half| half.receives_asleep())
    }

    /// Learns of an end that the device knows of already; a message stays where it is.
    pub(super) fn look(&mut self) {
        let half = self.half.as_mut();
        if let Some(Err(fault)) = half.map(|half| half.header()) {
            self.trouble(fault);
        }
    }

    /// As [`receive_whole`](Self::receive_whole), for a message that is wanted in `memory`. True when it is there, or
    /// `failed` says why not.
    #[inline]
    pub(super) fn receive_into(
        &mut self,
        memory: &mut [u8],
        header: &mut Header,
        failed: &mut Option<RecvError>,
    ) -> bool {
        if !self.posted.is_empty() {
            return false;
        }
        let is_free = self.kept.is_empty() && !self.begun && !self.taken;
        if let (Some(half), true) = (&mut self.half, is_free) {
            match half.receive_into(memory, header) {
                Ok(Whole::Here) => {
                    self.end_message(header);
                    self.take_number();
                    return true;
                }
                Ok(Whole::Nothing) => return false,
                Ok(Whole::Other) => {}
                Err(fault) => {
                    *failed = self.trouble(fault);
                    return failed.is_some();
                }
            }
        }
        let Some(received) = self.next(Place::Memory(memory.len())) else {
            return false;
        };
        match received.and_then(|arrived| self.copy_out(arrived, memory)) {
            Ok(copied) => *header = copied,
            Err(error) => *failed = Some(error),
        }
        true
    }

    /// The next message, if it is here.
    #[inline]
    fn next(&mut self, place: Place<'_>) -> Option<Result<Arrived, RecvError>> {
        if !self.kept.is_empty() || self.taken {
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
            if let Err((held, limit)) = self.begun_share.begin(header.length) {
                return Some(Err(self.no_begun_bytes(header.length, held, limit)));
            }
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
        self.begun_share.end();
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
    pub(super) fn leave_scratch(&mut self, payload: Payload) -> Payload {
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
        if self.taken {
            let peer = self.facts.peer.clone();
            return Some(Err(RecvError::Taken { peer }));
        }
        let length = self.kept.front()?.header.length;
        if let Some(error) = too_small(place, length) {
            return Some(Err(error));
        }
        self.take_kept().map(Ok)
    }

    #[cold]
    fn no_begun_bytes(&self, length: u64, held: u64, limit: u64) -> RecvError {
        let bytes = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        RecvError::NoBuffer {
            length,
            peer: self.facts.peer.clone(),
            source: PoolError::Exhausted {
                wanted: bytes(length),
                mapped: bytes(held),
                max_mapped: bytes(limit),
            },
        }
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
        // Whoever watches the descriptor forgets it before it is closed.
        self.common.watch = None;
        self.half = None;
        self.into = None;
        self.begun = false;
        self.begun_share.end();
        if matches!(end, End::ClosedLocally | End::Forked) {
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
        self.is_closed = true;
        self.kept.clear();
        self.remote.kept_bytes = 0;
        self.drive();
        self.look();
    }

    /// The message that has begun was looked for so long without a sleep. The first look behind a pause of the program
    /// counts as a part of the time-out only.
    pub(super) fn count_begun(&mut self, elapsed: Duration) {
        let Some(left) = self.patience() else {
            return;
        };
        let most = self.facts.message_timeout.checked_div(4);
        self.left = left.saturating_sub(elapsed.min(most.unwrap_or_default()));
        if self.left.is_zero() {
            self.expire();
            self.drive();
        }
    }

    /// The message that has begun takes too long.
    fn expire(&mut self) {
        let received = self.half.as_ref().map_or(0, |half| half.begun());
        self.end_with(End::Stalled { received });
    }
}

impl Drop for Receiving {
    /// Whoever watches the descriptor forgets it before it is closed.
    fn drop(&mut self) {
        self.common.watch = None;
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
