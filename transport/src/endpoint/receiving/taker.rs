//! Who gets all messages of a direction as they come, whoever drives it, in two stages: where the payload
//! goes is chosen when the header is here.

use jstream::buffer::Spent;

use super::{Receiving, SCRATCH};
use crate::device::connection::{Fault, Outbound, Payload};
use crate::endpoint::facts::End;
use crate::endpoint::ops::Notify;
use crate::endpoint::remote::Served;
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

    /// Takes a message that was chosen to be [`Brief`](Choice::Brief). Whether the next one is wanted, as for
    /// [`Choice::Hold`].
    ///
    /// # Errors
    ///
    /// As for [`take`](Self::take).
    fn take_brief(
        &self,
        header: &Header,
        payload: &[u8],
        replies: &mut Replies,
    ) -> Result<bool, HeaderError>;

    /// After a hold: whether messages are wanted again.
    fn resume(&self, replies: &mut Replies) -> bool;

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
    /// Nowhere: it is not read before [`Shared::resume`](super::Shared::resume).
    Hold,
    /// Nowhere: the peer does not keep to the rules, which ends the connection.
    Refuse(HeaderError),
}

/// What a taker sends.
#[derive(Default)]
pub(crate) struct Replies {
    messages: Vec<(Outbound<'static>, Notify)>,
    /// Nobody waits who would carry them on.
    pub(crate) alone: bool,
}

impl Replies {
    pub(crate) fn push(&mut self, message: Outbound<'static>, notify: Notify) {
        self.messages.push((message, notify));
    }
}

/// What became of a step.
enum Step {
    Done,
    /// Nothing is to be done for now.
    Wait,
}

impl Receiving {
    /// From now on `taker` gets all messages, those that are here first.
    pub(in crate::endpoint) fn set_taker(&mut self, taker: std::sync::Arc<dyn Taker>) {
        self.taker = Some(taker);
        self.drive();
    }

    /// The taker may want messages again, or the pool have room.
    pub(in crate::endpoint) fn resume(&mut self) {
        if let Some(taker) = self.taker.take() {
            self.held = self.held && !taker.resume(&mut self.replies);
            self.taker = Some(taker);
        }
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
            if self.held {
                break true;
            }
            if let Step::Wait = self.step(&*taker) {
                break true;
            }
        };
        if goes_on {
            self.taker = Some(taker);
        }
        if !self.replies.messages.is_empty() {
            self.reply();
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
        if !self.begun {
            match taker.choose(&header, &mut self.replies) {
                Choice::Pool => {}
                Choice::Jbuf(spent) => self.into = Some(spent.filling()),
                Choice::Brief => self.lend_scratch(),
                Choice::Hold => {
                    self.held = true;
                    return Step::Wait;
                }
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

    fn give(&mut self, taker: &dyn Taker, header: &Header, payload: Payload) -> Step {
        let taken = match (std::mem::take(&mut self.scratched), payload) {
            (false, payload) => taker
                .take(header, payload, &mut self.replies)
                .map(|()| true),
            (true, Payload::Bytes(filled)) => {
                let wanted = taker.take_brief(header, filled.as_bytes(), &mut self.replies);
                self.scratch = Some(filled.into_spent());
                wanted
            }
            (true, Payload::Object(_)) => Err(HeaderError::Rank { kind: header.kind }),
        };
        match taken {
            Ok(wanted) => {
                self.held = !wanted;
                Step::Done
            }
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
            Choice::Hold => {
                self.held = true;
                return Step::Wait;
            }
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
        let alone = std::mem::take(&mut self.replies.alone);
        match self.remote.shared.upgrade() {
            Some(shared) => {
                let messages = self.replies.messages.drain(..);
                match shared.post_behind(&mut self.common, messages) {
                    Ok(is_left) if is_left && alone => shared.carry(),
                    Ok(_) => {}
                    Err(error) => drop(self.refused(error)),
                }
            }
            None => self.replies.messages.clear(),
        }
    }
}
