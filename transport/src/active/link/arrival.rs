//! What comes from the other side of a connection.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use jstream::buffer::Filled;

use super::{Link, lock_plainly};
use crate::active::driving::Driving;
use crate::active::error::{Reason, Returned};
use crate::active::frame::Frame;
use crate::active::ledger::{Answer, Ledger, Number, Violation};
use crate::active::request::Request;
use crate::active::sync::MutexGuard;
use crate::active::turn;
use crate::header::Header;

impl Link {
    /// A message has come. Before a handler runs, others may receive.
    #[inline]
    pub(in crate::active) fn arrived(
        self: &Arc<Self>,
        header: &Header,
        payload: Filled,
        driving: &mut Driving<'_>,
    ) {
        if self.starves() {
            self.has_room();
        }
        let mut wake = Vec::new();
        let taken = self.take_in(header, payload, driving, &mut wake);
        wake_all(&mut wake);
        if let Err(violation) = taken {
            driving.release();
            self.break_off(violation);
        }
    }

    #[inline]
    fn take_in(
        self: &Arc<Self>,
        header: &Header,
        payload: Filled,
        driving: &mut Driving<'_>,
        wake: &mut Vec<Waker>,
    ) -> Result<(), Violation> {
        let unknown = Violation("it sends what is no active message");
        let (frame, credit) = Frame::of(header).ok_or(unknown)?;
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, false, header, &[IoSlice::new(payload.as_bytes())]);
        }
        let mut ledger = self.ledger();
        ledger.absorb(credit, wake)?;
        match frame {
            Frame::Request {
                number,
                handler,
                word,
            } => {
                let number = self.accept(ledger, Some(number), header.length)?;
                // The handler may take long, or wait for one of them.
                wake_all(wake);
                self.serve(number, handler, word, payload, driving);
            }
            Frame::Send { handler, word } => {
                let number = self.accept(ledger, None, header.length)?;
                wake_all(wake);
                self.serve(number, handler, word, payload, driving);
            }
            Frame::Reply { number, word } => {
                let answer = Answer::Reply { word, payload };
                self.take_answer(ledger, number, answer, driving)?;
            }
            Frame::Return {
                number,
                reason,
                word,
                text,
            } => {
                let answer = Answer::Returned {
                    reason,
                    word,
                    payload,
                    text,
                };
                self.take_answer(ledger, number, answer, driving)?;
            }
            Frame::Bounce {
                handler,
                reason,
                word,
                text,
            } => {
                drop(ledger);
                self.keep(returned(handler, reason, word, payload, text));
            }
            Frame::Cancel { number } => {
                let task = ledger.cancelled(number);
                drop(ledger);
                if let Some(task) = task {
                    // What is dropped with it is the program's.
                    driving.release();
                    task.cancel();
                }
            }
            Frame::Credit => drop(ledger),
            Frame::Hello { .. } => return Err(unknown),
        }
        Ok(())
    }

    /// Takes a message of the peer into the accounts. Where its window is used up as far as is known, frames that gave
    /// something back may have gone since.
    #[inline]
    fn accept(
        &self,
        mut ledger: MutexGuard<'_, Ledger>,
        number: Option<u32>,
        length: u64,
    ) -> Result<Number, Violation> {
        match ledger.accept(number, length) {
            Err(_) if ledger.withholds() => {
                drop(ledger);
                let unsent = self.endpoint.shared().count_unsent();
                let mut ledger = self.ledger();
                ledger.give(unsent);
                ledger.accept(number, length)
            }
            accepted => accepted,
        }
    }

    /// Leaves an answer to whoever drives, if that is who waits for it, and else notes it.
    #[inline]
    fn take_answer(
        &self,
        mut ledger: MutexGuard<'_, Ledger>,
        number: u32,
        answer: Answer,
        driving: &mut Driving<'_>,
    ) -> Result<(), Violation> {
        if driving.wants(self, number) {
            ledger.hand_out(number)?;
            driving.found = Some(answer);
            return Ok(());
        }
        let told = ledger.answer(number, answer)?;
        self.count_answer();
        drop(ledger);
        tell(told, driving);
        Ok(())
    }

    #[inline]
    fn serve(
        self: &Arc<Self>,
        number: Number,
        handler: u16,
        word: u64,
        payload: Filled,
        driving: &mut Driving<'_>,
    ) {
        if !self.has_served() {
            self.served.store(true, Ordering::Relaxed);
        }
        let request = Request::new(self.clone(), number, handler, word, payload);
        let Some(request) = self.handlers.first(request) else {
            return;
        };
        if driving.is_aside() {
            return driving.put_aside(request);
        }
        driving.release();
        if self.stopping.load(Ordering::Relaxed) {
            return request.give_back(Reason::Ending, "");
        }
        match self.handlers.entry(handler) {
            Some(entry) => entry.run(self, request, turn::depth() >= self.settings.nesting),
            None => request.give_back(Reason::NoSuchHandler, ""),
        }
    }

    /// Runs a request that could not run before, unless nobody wants it any more.
    pub(in crate::active) fn serve_put_off(request: Request) {
        if request.link().is_cancelled(request.number()) {
            return request.give_back(Reason::Cancelled, "");
        }
        let link = request.link().clone();
        match link.handlers.entry(request.handler()) {
            Some(entry) => entry.run(&link, request, turn::depth() >= link.settings.nesting),
            None => request.give_back(Reason::NoSuchHandler, ""),
        }
    }

    fn keep(&self, returned: Returned) {
        let mut kept = lock_plainly(&self.returned);
        let lengths = kept.iter().chain([&returned]).filter_map(|returned| {
            let payload = returned.payload.as_ref()?;
            Some(payload.len() as u64)
        });
        let bytes = lengths.fold(0, u64::saturating_add);
        let has_room = kept.is_empty() || bytes <= self.settings.window_bytes;
        if kept.len() < self.settings.kept_returns && has_room {
            return kept.push_back(returned);
        }
        tracing::debug!(peer = %self.endpoint.peer(), %returned, "a message that came back is dropped");
    }
}

/// Wakes those who wait for credit, mostly nobody.
#[inline]
fn wake_all(wake: &mut Vec<Waker>) {
    if !wake.is_empty() {
        wake.drain(..).for_each(Waker::wake);
    }
}

/// Wakes who waits for an answer. A handler that does is gone on with at once.
#[inline]
fn tell((waker, unwanted): (Option<Waker>, Option<Answer>), driving: &mut Driving<'_>) {
    drop(unwanted);
    if let Some(waker) = waker {
        turn::gathering(|| waker.wake());
        if !turn::has_jobs() {
            return;
        }
        if driving.is_aside() {
            // Whoever only looks holds what the program likes.
            return turn::send_away();
        }
        driving.release();
        turn::go_on();
    }
}

/// What came back, as programs have it.
pub(in crate::active) fn returned(
    handler: u16,
    reason: u16,
    word: u64,
    mut payload: Filled,
    text: u16,
) -> Returned {
    let length = payload.len().saturating_sub(usize::from(text));
    let why = payload.as_bytes().get(length..).unwrap_or_default();
    let why = String::from_utf8_lossy(why).into_owned();
    payload.truncate(length);
    let payload = (length > 0).then_some(payload);
    Returned {
        reason: Reason::of(reason),
        text: why,
        handler,
        word,
        payload,
    }
}
