//! What goes to the other side of a connection.

use std::io::IoSlice;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::Filled;

use super::{Asked, Begun, Link};
use crate::active::error::Reason;
use crate::active::frame::{Credit, Frame};
use crate::active::hello::cut;
use crate::active::ledger::{Held, Number};
use crate::active::turn;
use crate::device::connection::Body;
use crate::error::SendError;
use crate::header::Header;

/// The longest reason that is told to a peer, in bytes.
const LONGEST_TEXT: usize = 1024;

/// When a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::active) enum Haste {
    Now,
    /// With others that come soon: answers are outstanding, and who waits for one sends it first.
    Asking,
    /// The same of an answer, while there are more messages to be answered.
    Answering,
}

/// How long who sends much waits for the connection to take it before it looks what has come.
const PATIENCE: Duration = Duration::from_millis(1);

impl Link {
    /// Begins a request. What it returns is copied, unless it is inlined.
    #[inline(always)]
    pub(in crate::active) fn begin(
        &self,
        handler: u16,
        word: u64,
        length: u64,
    ) -> Result<Begun, Held> {
        // Who looks for it finds what was noted, or ended, since.
        let answers = self.answers.load(Ordering::Relaxed);
        let (number, credit, haste) = self.accounts.begin(length)?;
        let frame = Frame::Request {
            number,
            handler,
            word,
        };
        Ok(Begun {
            asked: Asked { number, answers },
            header: frame.header(credit),
            credit,
            haste,
        })
    }

    /// Begins a message that nobody answers: what it gives back, and when it goes.
    #[inline]
    pub(in crate::active) fn charge(&self, length: u64) -> Result<(Credit, Haste), Held> {
        let mut ledger = self.ledger();
        let credit = ledger.charge(length)?;
        Ok((credit, ledger.haste()))
    }

    /// A message of so many bytes that was charged was not sent after all: a request, if it has a number. Those who wait for
    /// room are told.
    #[cold]
    pub(in crate::active) fn unsend(&self, number: Option<u32>, length: u64, credit: Credit) {
        let wanting = self.undo(number, length, credit);
        wanting.into_iter().for_each(Waker::wake);
    }

    /// The same. Those to be told.
    pub(super) fn undo(&self, number: Option<u32>, length: u64, credit: Credit) -> Vec<Waker> {
        let mut ledger = self.ledger();
        match number {
            Some(number) => ledger.unsend(number, length, credit),
            None => ledger.uncharge(length, credit),
        }
        ledger.take_wanting()
    }

    /// Sends a frame without waiting: one for which there is no room goes on by itself, from a copy. How many
    /// such there are the windows bound, as what a frame gives back counts when it has gone.
    #[inline]
    pub(in crate::active) fn send(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
        haste: Haste,
    ) -> Result<(), SendError> {
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, true, &header, segments);
        }
        if haste != Haste::Now && self.gather(header, segments, haste) {
            return Ok(());
        }
        match self.endpoint.try_send_message(header, segments) {
            Ok(()) => Ok(()),
            Err(error) => self.send_later(error, header, segments),
        }
    }

    /// Has a frame go on by itself, if there is but no room for it now.
    #[cold]
    fn send_later(
        &self,
        error: SendError,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        match error {
            SendError::WouldBlock | SendError::NoBuffer { .. } => {
                let filled = self.endpoint.shared().gather(segments);
                self.post(header, filled);
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Leaves a frame with the connection, to go with others.
    #[inline]
    fn gather(&self, header: Header, segments: &[IoSlice<'_>], haste: Haste) -> bool {
        let shared = self.endpoint.shared();
        let is_answer = haste == Haste::Answering;
        // What its handler has woken may answer, too.
        let is_followed = || turn::has_jobs_of(turn::side());
        if !shared.gathers() || (is_answer && !shared.has_more() && !is_followed()) {
            return false;
        }
        if !shared.hold_back(header, segments) {
            return false;
        }
        turn::note_gathered(shared);
        if is_answer && !is_followed() {
            shared.flush_unless_more();
        }
        true
    }

    /// The same from where the bytes are: serves until the connection has taken them. The peer may wait for somebody
    /// to receive what it sends itself.
    #[cold]
    pub(in crate::active) fn send_large(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, true, &header, segments);
        }
        self.endpoint.scope(|scope| {
            let mut sending = scope.post_send(header, segments);
            let mut patience = PATIENCE;
            loop {
                match sending.wait_timeout(patience) {
                    Ok(sent) => return sent,
                    Err(unsent) => sending = unsent,
                }
                let is_served = turn::waiting(|| self.poll()) > 0;
                patience = if is_served { Duration::ZERO } else { PATIENCE };
            }
        })
    }

    /// Nobody waits for the result of a request any more, but for what comes of it.
    pub(in crate::active) fn revoke(&self, number: u32) {
        if !self.is_elsewhere() && self.ledger().is_open(number) {
            let cancel = Frame::Cancel { number }.header(Credit::default());
            let _ = self.send(cancel, &[], Haste::Now);
        }
    }

    /// Nobody wants the answer to a request any more.
    pub(in crate::active) fn give_up(&self, number: u32) {
        if self.forget(number) {
            let cancel = Frame::Cancel { number }.header(Credit::default());
            let _ = self.send(cancel, &[], Haste::Now);
        }
    }

    /// The same where the request goes on. Whether its answer is still to come.
    pub(in crate::active) fn forget(&self, number: u32) -> bool {
        if self.is_elsewhere() {
            return false;
        }
        let mut ledger = self.ledger();
        let (is_open, call) = ledger.forget(number);
        let freed = ledger.take_freed();
        drop(ledger);
        drop(call);
        freed.into_iter().for_each(Waker::wake);
        is_open
    }

    /// As [`send`](Self::send), with a jbuf, which moves where jbufs do. One that was refused comes back.
    pub(in crate::active) fn send_filled(
        &self,
        header: Header,
        filled: Filled,
    ) -> Result<(), (SendError, Filled)> {
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, true, &header, &[IoSlice::new(filled.as_bytes())]);
        }
        let shared = self.endpoint.shared();
        let length = Some(filled.len() as u64);
        let (message, refused) = shared.outbound(header, length, Body::Owned(filled));
        match (refused, message.body) {
            (Some(error), Body::Owned(filled)) => Err((error, filled)),
            (None, Body::Owned(filled)) => {
                self.post(header, filled);
                Ok(())
            }
            _ => unreachable!("what was not sent is here"),
        }
    }

    #[cold]
    fn post(&self, header: Header, filled: Filled) {
        let shared = self.endpoint.shared();
        // The peer can't use what a frame gives back before it has the frame.
        let credit = Frame::of(&header).map_or_else(Credit::default, |(_, credit)| credit);
        let length = filled.len() as u64;
        let (message, refused) = shared.outbound(header, Some(length), Body::Owned(filled));
        // Who waits for it would wait for ever: the connection ends when it can't be sent.
        shared.post_noted(message, refused, |place, gone| {
            let mut ledger = self.ledger();
            ledger.withhold(credit, length, place);
            ledger.give(gone);
            self.backlog.store(ledger.unsent(), Ordering::Relaxed);
        });
        if shared.has_unsent() {
            shared.carry();
        }
    }

    /// How many bytes the peer has not taken yet of what was sent to it. Costs next to nothing where there are none.
    #[inline]
    pub(in crate::active) fn backlog(&self) -> u64 {
        if self.backlog.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let gone = self.endpoint.shared().count_gone();
        let mut ledger = self.ledger();
        ledger.give(gone);
        let backlog = ledger.unsent();
        self.backlog.store(backlog, Ordering::Relaxed);
        backlog
    }

    /// Sends an answer. An error says that the other side does not take one like that.
    #[inline]
    pub(in crate::active) fn reply(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        only_refused(self.send(header, segments, Haste::Answering))
    }

    pub(in crate::active) fn reply_filled(
        &self,
        header: Header,
        filled: Filled,
    ) -> Result<(), SendError> {
        only_refused(self.send_filled(header, filled).map_err(|(error, _)| error))
    }

    /// A message of the peer is done with; what it gets back for it.
    #[inline]
    pub(in crate::active) fn close(&self, number: Number, length: u64) -> Credit {
        self.accounts.close(number, length)
    }

    /// The same where no frame goes.
    pub(in crate::active) fn close_silently(&self, number: Number, length: u64) {
        let (credit, open) = self.ledger().close_silently(number, length);
        drop(open);
        if let Some(credit) = credit {
            let _ = self.send(Frame::Credit.header(credit), &[], Haste::Answering);
        }
    }

    /// Gives a message back to its sender, with what is left of its payload. Nothing once the connection has ended: that
    /// is why its handlers were cancelled, and what the other side is to be told.
    pub(in crate::active) fn give_back(
        &self,
        (number, handler, word): (Number, u16, u64),
        credit: Credit,
        reason: Reason,
        payload: &[u8],
        why: &str,
    ) {
        if self.has_ended() {
            return;
        }
        let why = cut(why, LONGEST_TEXT);
        let frame = |why: &str| {
            let (reason, text) = (reason.code(), u16::try_from(why.len()).unwrap_or(0));
            match number {
                Number::Asked(number) => Frame::Return {
                    number,
                    reason,
                    word,
                    text,
                },
                Number::Told(_) => Frame::Bounce {
                    handler,
                    reason,
                    word,
                    text,
                },
            }
        };
        let segments = [IoSlice::new(payload), IoSlice::new(why.as_bytes())];
        let sent = self.send(frame(why).header(credit), &segments, Haste::Answering);
        if let Err(SendError::TooLarge { .. }) = sent {
            // A peer that takes next to nothing may have the reason alone.
            let _ = self.send(frame("").header(credit), &[], Haste::Answering);
        }
    }
}

/// Whether the other side takes no message like that; what ended the connection whoever receives finds.
fn only_refused(sent: Result<(), SendError>) -> Result<(), SendError> {
    match sent {
        Err(error @ SendError::TooLarge { .. }) => Err(error),
        _ => Ok(()),
    }
}
