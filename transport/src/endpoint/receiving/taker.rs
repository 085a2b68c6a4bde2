//! Who gets all messages of a direction as they come, whoever drives it, in two stages: where the payload
//! goes is chosen when the header is here.

use jstream::buffer::Spent;

use super::{Receiving, SCRATCH};
use crate::device::connection::{Fault, Outbound, Payload, Whole};
use crate::endpoint::facts::End;
use crate::endpoint::gate::{Credit, Overfull};
use crate::endpoint::ops::Notify;
use crate::endpoint::remote::Served;
use crate::endpoint::sending::{Leftover, Sending};
use crate::endpoint::turn::Direction;
use crate::error::{HeaderError, RecvError};
use crate::header::Header;

/// Takes messages under the lock of the direction: it may lock, wake and answer, but not use an endpoint.
///
/// A message is chosen for, and then taken or [lost](Self::lose); nothing else comes in between.
pub(crate) trait Taker: Send + Sync {
    /// Where the payload of the next message goes.
    fn choose(&self, header: &Header, replies: &mut Replies) -> Choice;

    /// Takes a message. Its payload is in the jbuf that was chosen, unless the device moves its own.
    ///
    /// # Errors
    ///
    /// If the peer does not keep to the rules, which ends the connection.
    fn take(
        &self,
        header: &Header,
        payload: Payload,
        replies: &mut Replies,
    ) -> Result<(), HeaderError>;

    /// Takes a message that was chosen to be [`Brief`](Choice::Brief).
    ///
    /// # Errors
    ///
    /// As for [`take`](Self::take).
    fn take_brief(
        &self,
        header: &Header,
        payload: &[u8],
        replies: &mut Replies,
    ) -> Result<(), HeaderError>;

    /// The pool has no jbuf for the next message, which waits for [`Shared::resume`](super::Shared::resume).
    fn starve(&self);

    /// Nothing more comes. Of a message that was chosen for, and not taken, the memory is dropped.
    fn lose(&self, error: RecvError);
}

/// Where a payload goes.
pub(crate) enum Choice {
    /// To a jbuf of the pool.
    Pool,
    /// To this jbuf, which has room for it.
    Jbuf(Spent),
    /// To memory that is lent while it is looked at. Only for a few bytes.
    Brief,
    /// Nowhere: the peer does not keep to the rules, which ends the connection.
    Refuse(HeaderError),
}

/// What a taker sends.
#[derive(Default)]
pub(crate) struct Replies {
    messages: Vec<(Outbound<'static>, Notify)>,
    /// What the peer has told of its window, and given back of it; and what is wrong with it if it is too much.
    opened: Option<Credit>,
    restored: Credit,
    overfull: Option<HeaderError>,
    /// Nobody waits who would carry them on.
    pub(crate) alone: bool,
}

impl Replies {
    pub(crate) fn push(&mut self, message: Outbound<'static>, notify: Notify) {
        self.messages.push((message, notify));
    }

    /// The peer takes so much: what waited for that goes. A second time is `wrong`.
    pub(crate) fn open(&mut self, window: Credit, wrong: HeaderError) {
        self.opened = Some(window);
        self.overfull = Some(wrong);
    }

    /// The peer has given back so much. More than there was is `wrong`.
    pub(crate) fn restore(&mut self, credit: Credit, wrong: HeaderError) {
        let restored = &mut self.restored;
        restored.messages = restored.messages.saturating_add(credit.messages);
        restored.bytes = restored.bytes.saturating_add(credit.bytes);
        self.overfull = Some(wrong);
    }

    fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.overfull.is_none()
    }
}

/// What came of receiving past the taker.
pub(crate) enum Past {
    Received(Header),
    /// Nothing is here.
    Nothing,
    /// What is here, or the end, is for the taker.
    Other,
}

/// What became of a step.
enum Step {
    Done,
    /// Nothing is to be done for now.
    Wait,
}

impl Receiving {
    /// From now on `taker` gets all messages, those that are here first. There is one in a connection's
    /// life: false for any other.
    pub(in crate::endpoint) fn set_taker(&mut self, taker: std::sync::Arc<dyn Taker>) -> bool {
        if std::mem::replace(&mut self.taken, true) {
            let peer = self.facts.peer.clone();
            taker.lose(RecvError::Taken { peer });
            return false;
        }
        self.taker = Some(taker);
        self.begun_before = self.begun;
        self.drive();
        true
    }

    /// The pool may have room.
    pub(in crate::endpoint) fn resume(&mut self) {
        self.held = false;
        self.drive();
    }

    /// Whether messages are taken as they come.
    #[inline]
    pub(in crate::endpoint) fn has_taker(&self) -> bool {
        self.taker.is_some() && !self.held
    }

    /// Receives as far as it goes now.
    pub(super) fn drive_taker(&mut self) {
        let Some(taker) = self.taker.take() else {
            return;
        };
        let goes_on = loop {
            if let (Some(end), None) = (&self.end, &self.half) {
                if self.kept.is_empty() {
                    taker.lose(self.facts.recv_error(end));
                    self.common.news = true;
                    break false;
                }
            }
            // Whoever sleeps with the half may have memory that a message was begun in.
            let is_away = self.half.is_none() && self.end.is_none();
            if self.held || is_away {
                break true;
            }
            if let Step::Wait = self.step(&*taker) {
                break true;
            }
        };
        if goes_on {
            self.taker = Some(taker);
        }
        if !self.replies.is_empty() {
            self.reply();
        }
        if !goes_on {
            // Those that wait for credit wait in vain.
            if let Some(shared) = self.remote.shared.upgrade() {
                let closed = |sending: &mut Sending| {
                    sending.close_gate();
                    Ok(())
                };
                let _ = shared.take_credit(&mut self.common, closed);
            }
        }
    }

    #[inline]
    fn step(&mut self, taker: &dyn Taker) -> Step {
        if !self.kept.is_empty() {
            return self.give_kept(taker);
        }
        let Some(half) = &mut self.half else {
            return Step::Wait;
        };
        let header = match half.header() {
            Ok(Some(header)) => header,
            Ok(None) => {
                // The device may have begun anew what it was armed for.
                self.alarm.disarm();
                return Step::Wait;
            }
            Err(fault) => return self.step_failed(taker, fault),
        };
        if header.op != 0 {
            return self.step_beside(header);
        }
        if self.begun_before {
            return self.finish_begun(taker, header);
        }
        if !self.begun {
            match taker.choose(&header, &mut self.replies) {
                Choice::Pool => {}
                Choice::Jbuf(spent) => self.into = Some(spent.filling()),
                Choice::Brief => self.lend_scratch(),
                Choice::Refuse(error) => return self.refused(error),
            }
            self.begun = true;
        }
        let Some(half) = &mut self.half else {
            return Step::Wait;
        };
        match half.payload(&mut self.into) {
            Ok(Some(payload)) => {
                self.end_message(&header);
                self.common.news = true;
                self.give(taker, &header, payload)
            }
            Ok(None) => {
                self.alarm.disarm();
                Step::Wait
            }
            Err(fault) => self.step_failed(taker, fault),
        }
    }

    /// Receives the next message to the front of `memory`, past the taker, where all of it is here and
    /// `wants` says so.
    #[inline]
    pub(in crate::endpoint) fn receive_past(
        &mut self,
        memory: &mut [u8],
        wants: impl Fn(&Header) -> bool,
    ) -> Past {
        let is_free = self.has_taker() && self.kept.is_empty() && !self.begun;
        let Some(half) = self.half.as_mut().filter(|_| is_free) else {
            return Past::Other;
        };
        let mut header = Header::default();
        match half.receive_wanted(memory, &mut header, &wants) {
            Ok(Whole::Here) => {
                self.end_message(&header);
                Past::Received(header)
            }
            Ok(Whole::Nothing) => Past::Nothing,
            // A fault is found again by the taker's way.
            Ok(Whole::Other) | Err(_) => Past::Other,
        }
    }

    fn give(&mut self, taker: &dyn Taker, header: &Header, payload: Payload) -> Step {
        let taken = match (std::mem::take(&mut self.scratched), payload) {
            (false, payload) => taker.take(header, payload, &mut self.replies),
            (true, Payload::Bytes(filled)) => {
                let taken = taker.take_brief(header, filled.as_bytes(), &mut self.replies);
                self.scratch = Some(filled.into_spent());
                taken
            }
            (true, Payload::Object(_)) => Err(HeaderError::Rank { kind: header.kind }),
        };
        match taken {
            Ok(()) => Step::Done,
            Err(error) => self.refused(error),
        }
    }

    /// A message that was received before there was a taker.
    #[cold]
    fn give_kept(&mut self, taker: &dyn Taker) -> Step {
        let Some(arrived) = self.kept.front() else {
            return Step::Wait;
        };
        let header = arrived.header;
        let choice = taker.choose(&header, &mut self.replies);
        match choice {
            Choice::Refuse(error) => return self.refused(error),
            Choice::Pool | Choice::Jbuf(_) | Choice::Brief => {}
        }
        let Some(arrived) = self.take_kept() else {
            return Step::Wait;
        };
        self.scratched = matches!(choice, Choice::Brief);
        // A jbuf that was chosen is not needed.
        drop(choice);
        self.common.news = true;
        self.give(taker, &header, arrived.payload)
    }

    /// A message that had begun before there was a taker.
    #[cold]
    fn finish_begun(&mut self, taker: &dyn Taker, header: Header) -> Step {
        let Some(half) = &mut self.half else {
            return Step::Wait;
        };
        match half.payload(&mut self.into) {
            Ok(Some(payload)) => {
                self.end_message(&header);
                let payload = match self.scratched {
                    true => self.leave_scratch(payload),
                    false => payload,
                };
                self.begun_before = false;
                let arrived = self.number(header, payload);
                self.kept.push_back(arrived);
                Step::Done
            }
            Ok(None) => {
                self.alarm.disarm();
                Step::Wait
            }
            Err(fault) => self.step_failed(taker, fault),
        }
    }

    /// A frame of puts and gets.
    #[cold]
    fn step_beside(&mut self, header: Header) -> Step {
        match self.serve(header) {
            Served::Done => Step::Done,
            Served::Partly => Step::Wait,
            // A notice is a message.
            Served::Arrived(arrived) => {
                self.kept.push_back(arrived);
                Step::Done
            }
            Served::Failed(_) => Step::Done,
        }
    }

    #[cold]
    fn step_failed(&mut self, taker: &dyn Taker, fault: Fault) -> Step {
        if let Fault::NoBuffer { .. } = fault {
            self.held = true;
            taker.starve();
            return Step::Wait;
        }
        let _ = self.trouble(fault);
        Step::Done
    }

    #[cold]
    fn refused(&mut self, error: HeaderError) -> Step {
        self.kept.clear();
        self.end_with(End::Malformed(error));
        Step::Done
    }

    fn lend_scratch(&mut self) {
        self.scratched = true;
        // A device that moves jbufs has one already.
        if !self.facts.limits.moves {
            let scratch = self.scratch.take();
            let scratch = scratch.unwrap_or_else(|| Spent::heap(SCRATCH));
            self.into = Some(scratch.filling());
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
        let Some(shared) = self.remote.shared.upgrade() else {
            messages.clear();
            return;
        };
        let mut replied = Ok(Leftover::Nothing);
        if let Some(wrong) = overfull.take() {
            let taken = shared.take_credit(&mut self.common, |sending| {
                opened.map_or(Ok(()), |window| sending.open_gate(window))?;
                sending.restore_credit(restored)
            });
            replied = taken.map_err(|Overfull| wrong);
        }
        if !messages.is_empty() {
            let posted = shared.post_behind(&mut self.common, messages.drain(..));
            replied = replied.and(posted);
        }
        match replied {
            Ok(Leftover::Nothing) => {}
            Ok(Leftover::Waiting) if !alone => {}
            // Who sleeps since before that wakes for what is received only.
            Ok(Leftover::InLine) if !alone && !self.alarm.is_waited_for() => {}
            Ok(Leftover::Waiting | Leftover::InLine) => shared.carry(),
            Err(error) => drop(self.refused(error)),
        }
    }
}
