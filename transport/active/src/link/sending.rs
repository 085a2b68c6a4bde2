//! The send half of a connection.
//!
//! Decisions 063 and 064 have the reasons.

use std::io::IoSlice;
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::MessageBuffer;

use super::Link;
use super::outgoing::{Asked, BegunRequest};
use crate::blocking;
use crate::error::Reason;
use crate::frame::{Credit, Frame};
use crate::hello::cut;
use crate::ledger::{Haste, Held, Number, discard};
use crate::turn;
use jstream_base::Header;
use jstream_base::SendError;
use jstream_base::byte_limit::ByteCharge;
use jstream_device::connection::Body;
use jstream_endpoint::gate;
use jstream_endpoint::shared::Patience;
use jstream_sync::callbacks;

/// Maximum length of a reason that is sent to a peer, in bytes.
const LONGEST_TEXT: usize = 1024;

/// Time that a large send blocks before the thread polls for received messages.
const PATIENCE: Duration = Duration::from_millis(1);

impl Link {
    /// Begins a request: takes credit and a number. Inlined, because the result would be copied
    /// otherwise.
    #[inline(always)]
    pub(crate) fn begin(&self, handler: u16, word: u64, length: u64) -> Result<BegunRequest, Held> {
        // Read first, so that an answer or an end recorded after this counts as new.
        let answers = self.accounts.answers();
        let (number, credit, haste) = self.accounts.begin(length)?;
        let frame = Frame::Request {
            number,
            handler,
            word,
        };
        Ok(BegunRequest {
            asked: Asked { number, answers },
            header: frame.with_credit(credit),
            credit,
            haste,
        })
    }

    /// Takes credit for a one-way message. Returns the credit that it carries, and its urgency.
    #[inline]
    pub(crate) fn charge(&self, length: u64) -> Result<(Credit, Haste), Held> {
        let mut ledger = self.ledger();
        let credit = ledger.charge(length)?;
        Ok((credit, ledger.haste()))
    }

    /// Reverts the accounting of a message that was charged but not sent. It is a request if it has
    /// a number. Wakes the senders that wait for credit.
    #[cold]
    pub(crate) fn unsend(&self, number: Option<u32>, length: u64, credit: Credit) {
        let wanting = self.undo(number, length, credit);
        wanting.into_iter().for_each(callbacks::wake);
    }

    /// As [`unsend`](Self::unsend), but returns the wakers to call.
    pub(super) fn undo(&self, number: Option<u32>, length: u64, credit: Credit) -> Vec<Waker> {
        let mut ledger = self.ledger();
        match number {
            Some(number) => ledger.unsend(number, length, credit),
            None => ledger.uncharge(length, credit),
        }
        ledger.take_wanting()
    }

    /// Sends a frame without blocking. If the device has no room, the frame is copied and sent in
    /// the background. The number of such frames is bounded by the windows, because the credit in a
    /// frame counts only when the frame has been sent.
    #[inline]
    pub(crate) fn send(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
        haste: Haste,
    ) -> Result<(), SendError> {
        match self.try_send(header, segments, haste) {
            Err(SendError::WouldBlock | SendError::NoBuffer { .. }) => {
                let filled = self.endpoint.shared().gather(segments);
                self.post(header, filled, None);
                Ok(())
            }
            sent => sent,
        }
    }

    /// Sends a frame if the device has room for it.
    #[inline]
    fn try_send(
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
        let shared = self.endpoint.shared();
        shared.send_segments(header, segments, Patience::None, gate::Credit::FREE)
    }

    /// Holds a frame back to coalesce it with others.
    #[inline]
    fn gather(&self, header: Header, segments: &[IoSlice<'_>], haste: Haste) -> bool {
        let shared = self.endpoint.shared();
        let is_answer = haste == Haste::Answering;
        // Tasks that the handler has woken may answer, too.
        let is_followed = || turn::has_jobs_of(turn::side());
        if !shared.gathers() || (is_answer && !shared.has_more() && !is_followed()) {
            return false;
        }
        if !shared.gather_message(header, segments) {
            return false;
        }
        turn::record_gathered(shared);
        // Checked again after the frame is held back: the thread that receives may have found
        // nothing more in between, and then it does not flush.
        if is_answer && !is_followed() {
            shared.flush_unless_more();
        }
        true
    }

    /// Sends a frame in place, and serves until the connection has taken it. The peer may wait for
    /// this side to receive meanwhile.
    #[cold]
    pub(crate) fn send_large(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, true, &header, segments);
        }
        // A scope keeps the borrowed segments until the device is done with them, also if a handler
        // panics in this poll.
        self.endpoint.scope(|scope| {
            let mut sending = scope.post_send(header, segments);
            let mut patience = PATIENCE;
            loop {
                match sending.wait_timeout(patience) {
                    Ok(sent) => return sent,
                    Err(unsent) => sending = unsent,
                }
                // A handler that runs in this poll may wait in turn, so the thread is marked as
                // waiting.
                let is_served = blocking::waiting(|| self.poll()) > 0;
                // More messages may be there, and the peer may not receive before it has sent them.
                patience = if is_served { Duration::ZERO } else { PATIENCE };
            }
        })
    }

    /// Tells the peer that the result of a request is not wanted. The caller still waits for its
    /// outcome.
    pub(crate) fn revoke(&self, number: u32) {
        if !self.is_elsewhere() && self.ledger().is_open(number) {
            let cancel = Frame::Cancel { number }.header();
            // If it can't be sent, the connection has ended, and with it the request.
            let _ = self.send(cancel, &[], Haste::Now);
        }
    }

    /// Cancels a request whose answer is not wanted.
    pub(crate) fn give_up(&self, number: u32) {
        if self.forget(number) {
            let cancel = Frame::Cancel { number }.header();
            // If it can't be sent, the connection has ended, and with it the request.
            let _ = self.send(cancel, &[], Haste::Now);
        }
    }

    /// Stops waiting for the answer to a request without cancelling it. Returns true if the answer
    /// was still to come.
    pub(crate) fn forget(&self, number: u32) -> bool {
        if self.is_elsewhere() {
            return false;
        }
        let mut ledger = self.ledger();
        let (is_open, call) = ledger.forget(number);
        let freed = ledger.take_freed();
        drop(ledger);
        // The waker belongs to the program, so it is dropped without the lock.
        discard(call);
        freed.into_iter().for_each(callbacks::wake);
        is_open
    }

    /// As [`send`](Self::send), with a buffer that moves to the peer if the device can do that. A
    /// buffer that was refused is returned.
    pub(crate) fn send_buffer(
        &self,
        header: Header,
        filled: MessageBuffer,
    ) -> Result<(), (SendError, MessageBuffer)> {
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, true, &header, &[IoSlice::new(filled.as_bytes())]);
        }
        let shared = self.endpoint.shared();
        let length = Some(filled.len() as u64);
        let (message, refused) = shared.outbound(header, length, Body::Owned(filled));
        match (refused, message.body) {
            (Some(error), Body::Owned(filled)) => Err((error, filled)),
            (None, Body::Owned(filled)) => {
                self.post(header, filled, None);
                Ok(())
            }
            _ => unreachable!("a refused message keeps its payload"),
        }
    }

    #[cold]
    fn post(&self, header: Header, filled: MessageBuffer, charge: Option<ByteCharge>) {
        let shared = self.endpoint.shared();
        // The peer can't use the credit in a frame before it has the frame.
        let credit = Frame::parse(&header).map_or_else(Credit::default, |(_, credit)| credit);
        let length = filled.len() as u64;
        let (message, refused) = shared.outbound(header, Some(length), Body::Owned(filled));
        // If the frame can't be sent, the connection ends. Otherwise a peer that waits for it would
        // wait forever.
        // The closure runs under the lock of the send direction, so the frames are recorded in the
        // order in which they are queued.
        shared.post_with_position(message, refused, charge, |place, gone| {
            self.accounts.withhold(credit, length, place, gone);
        });
        // No caller waits for this frame, so no thread may be driving it.
        if shared.has_unsent() {
            shared.carry();
        }
    }

    /// Returns the number of sent bytes that the peer has not taken yet.
    #[inline]
    pub(crate) fn backlog(&self) -> u64 {
        let gone = || self.endpoint.shared().completed_position();
        self.accounts.backlog(gone)
    }

    /// Returns true if the device has not taken all that was sent.
    pub(crate) fn is_sending(&self) -> bool {
        self.endpoint.shared().has_unsent()
    }

    /// Sends an answer. Fails only if the peer does not accept such a message, or does not take the
    /// answers that it has. Then returns the reason.
    #[inline]
    pub(crate) fn reply(&self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), String> {
        let lengths = segments.iter().map(|segment| segment.len() as u64);
        let length = lengths.fold(0, u64::saturating_add);
        // A long frame may be begun only if its memory stays, and that of the caller does not.
        if !self.endpoint.shared().is_long(length) {
            match self.try_send(header, segments, Haste::Answering) {
                Err(SendError::WouldBlock | SendError::NoBuffer { .. }) => {}
                sent => return only_refused(sent),
            }
        } else if let Some(tap) = &self.settings.tap {
            self.show(&**tap, true, &header, segments);
        }
        self.reply_copied(header, segments, length)
    }

    /// Sends a copy of an answer in the background, as far as the device has no room now.
    #[cold]
    fn reply_copied(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
        length: u64,
    ) -> Result<(), String> {
        let shared = self.endpoint.shared();
        let accepted = shared.check_length(length);
        accepted.map_err(|error| error.to_string())?;
        // Charged before the copy is made.
        let charge = self.charge_answer(length)?;
        self.post(header, shared.gather(segments), Some(charge));
        Ok(())
    }

    pub(crate) fn reply_buffer(&self, header: Header, filled: MessageBuffer) -> Result<(), String> {
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, true, &header, &[IoSlice::new(filled.as_bytes())]);
        }
        let accepted = self.endpoint.shared().check_length(filled.len() as u64);
        accepted.map_err(|error| error.to_string())?;
        let charge = self.charge_answer(filled.len() as u64)?;
        self.post(header, filled, Some(charge));
        Ok(())
    }

    /// Charges the bytes of an answer until the peer has taken it.
    fn charge_answer(&self, length: u64) -> Result<ByteCharge, String> {
        let limit = self.settings.max_backlog_in_all;
        let explanation = "its peer took its answers too slowly while others needed room \
                   (Settings::max_backlog_in_all)";
        self.backlog_bytes
            .charge(length, limit, explanation)
            .map_err(|all| {
                format!(
                    "an answer of {length} bytes was not sent: {all} bytes of answers wait for \
                     their peers, of which this one is the slowest; the limit is {limit} \
                     (Settings::max_backlog_in_all)"
                )
            })
    }

    /// Completes a message of the peer. Returns the credit for it.
    #[inline]
    pub(crate) fn close(&self, number: Number, length: u64) -> Credit {
        self.accounts.close(number, length)
    }

    /// Completes a message of the peer for which no frame is sent.
    pub(crate) fn close_silently(&self, number: Number, length: u64) {
        let (credit, open) = self.ledger().close_silently(number, length);
        drop(open);
        if let Some(credit) = credit {
            // If it can't be sent, the connection has ended, and credit is worth nothing.
            let _ = self.send(Frame::Credit.with_credit(credit), &[], Haste::Answering);
        }
    }

    /// Returns a message to its sender, with the rest of its payload. Does nothing if the
    /// connection has ended: the handlers were cancelled because of the end, and the end is what
    /// the peer sees.
    pub(crate) fn give_back(
        &self,
        (number, handler, word): (Number, u16, u64),
        credit: Credit,
        reason: Reason,
        payload: &[u8],
        explanation: &str,
    ) {
        if self.has_ended() {
            return;
        }
        let explanation = cut(explanation, LONGEST_TEXT);
        let frame = |explanation: &str| {
            let (reason, text) = (reason.code(), u16::try_from(explanation.len()).unwrap_or(0));
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
        let segments = [IoSlice::new(payload), IoSlice::new(explanation.as_bytes())];
        if self
            .reply(frame(explanation).with_credit(credit), &segments)
            .is_err()
        {
            // A peer that accepts almost nothing may accept the reason alone.
            let _ = self.send(frame("").with_credit(credit), &[], Haste::Answering);
        }
    }
}

/// Keeps only the errors of messages that the peer does not accept. The polling thread detects the
/// end of the connection.
fn only_refused(sent: Result<(), SendError>) -> Result<(), String> {
    match sent {
        Err(error @ SendError::TooLarge { .. }) => Err(error.to_string()),
        _ => Ok(()),
    }
}
