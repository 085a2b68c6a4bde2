//! The receive half of a connection.

use std::io::IoSlice;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use jstream::buffer::MessageBuffer;

use super::Link;
use crate::budget::{Tick, tick};
use crate::error::{Reason, Returned};
use crate::frame::{Credit, Frame, NO_HANDLER};
use crate::handlers::{Entry, Handlers, See};
use crate::ledger::{Answer, FULL, Held, Ledger, Number, Violation, discard};
use crate::poll_loop::PollGuard;
use crate::request::Request;
use crate::turn::{self, Side};
use jstream_base::Header;
use jstream_base::events::emit;
use jstream_sync::MutexGuard;
use jstream_sync::callbacks;
use jstream_sync::lock;
use jstream_sync::panics::{catch_panic, forget_panic};
use tracing::Level;

/// A message for a handler.
struct Served {
    number: Number,
    handler: u16,
    word: u64,
}

/// Run time of a handler in nanoseconds after which the presence of the peer is checked before the
/// next request.
const SLOW: u64 = 50_000_000;

impl Link {
    /// Handles a received message. The poller lock is released before a handler runs. `handlers`
    /// are those of the connection.
    #[inline]
    pub(crate) fn arrived(
        self: Arc<Self>,
        handlers: &Handlers,
        header: &Header,
        mut payload: MessageBuffer,
        guard: &mut PollGuard<'_>,
    ) {
        let alone = self.take_alone(header);
        let Some(message) = alone.or_else(|| self.take(header, &mut payload, guard)) else {
            return;
        };
        let last = mem::take(&mut guard.last);
        if !self.has_served() {
            self.served.store(true, Ordering::Relaxed);
        }
        let entry = handlers.entry(message.handler);
        let first = entry.and_then(|entry| entry.first(message.word));
        if first.is_some() || guard.is_aside() {
            guard.last = self.serve_seen(entry, first, (message, payload), guard);
            return;
        }
        if guard.is_slow() && self.is_in_vain(&message) {
            guard.release();
            return self.hang_up();
        }
        let Served {
            number,
            handler,
            word,
        } = message;
        let mut request = Some(Request::new(self, number, handler, word, payload));
        guard.release();
        let begun = last.nanos().unwrap_or_else(tick);
        guard.last = Entry::run(entry, &mut request, guard.side(), last);
        let done = guard.last.nanos();
        let took = done.map_or(0, |now| now.saturating_sub(begun));
        guard.set_slow(took > SLOW);
    }

    /// Fast path for a request while no other one of the peer is open. Returns `None` without a
    /// side effect if the message is something else, or must be recorded in the ledger.
    #[inline]
    fn take_alone(&self, header: &Header) -> Option<Served> {
        let ((number, handler, word), credit) = Frame::asks(header)?;
        let is_plain = !self.starves() && self.settings.tap.is_none();
        let is_taken = is_plain && self.accounts.accept_alone(number, header.length, credit);
        is_taken.then_some(Served {
            number: Number::Asked(number),
            handler,
            word,
        })
    }

    /// Records a message. Returns it if it is for a handler.
    #[inline(never)]
    fn take(
        &self,
        header: &Header,
        payload: &mut MessageBuffer,
        guard: &mut PollGuard<'_>,
    ) -> Option<Served> {
        let mut last = mem::take(&mut guard.last);
        if self.starves() {
            self.has_room();
            last = Tick::default();
        }
        let mut wake = Vec::new();
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, false, header, &[IoSlice::new(payload.as_bytes())]);
        }
        let taken = match Frame::asks(header) {
            Some((asked, credit)) => {
                let taken = self.take_request(asked, credit, header.length, &mut wake);
                taken.map(Some)
            }
            None => self.take_in(header, payload, guard, &mut wake),
        };
        if !wake.is_empty() {
            // They run when the poller lock is released, before the handler, which may take long
            // or wait for one of them.
            wake_all(&mut wake);
            last = Tick::default();
        }
        match taken {
            Ok(None) => None,
            Ok(Some(message)) => {
                guard.last = last;
                Some(message)
            }
            Err(violation) => {
                guard.release();
                self.break_off(violation);
                None
            }
        }
    }

    /// Records a request in the ledger.
    #[inline]
    fn take_request(
        &self,
        (number, handler, word): (u32, u16, u64),
        credit: Credit,
        length: u64,
        wake: &mut Vec<Waker>,
    ) -> Result<Served, Violation> {
        let mut ledger = self.ledger();
        ledger.absorb(credit, wake)?;
        Ok(Served {
            number: self.accept(ledger, Some(number), length)?,
            handler,
            word,
        })
    }

    /// Fast path for the awaited answer. Returns false without a side effect if the message is
    /// something else, or other threads must be informed.
    #[inline]
    pub(crate) fn take_reply(&self, header: &Header, number: u32) -> bool {
        let Some(credit) = Frame::replies(header, number) else {
            return false;
        };
        if self.starves() || self.settings.tap.is_some() {
            return false;
        }
        self.accounts.settle_answer(number, credit)
    }

    /// Records a message that is not a request. Returns it if it is for a handler; its payload is
    /// then left in place.
    fn take_in(
        &self,
        header: &Header,
        payload: &mut MessageBuffer,
        guard: &mut PollGuard<'_>,
        wake: &mut Vec<Waker>,
    ) -> Result<Option<Served>, Violation> {
        let unknown = Violation("unknown or malformed frame");
        let (frame, credit) = Frame::of(header).ok_or(unknown)?;
        let mut ledger = self.ledger();
        ledger.absorb(credit, wake)?;
        match frame {
            Frame::Send { handler, word } => {
                let number = self.accept(ledger, None, header.length)?;
                return Ok(Some(Served {
                    number,
                    handler,
                    word,
                }));
            }
            Frame::Reply { number, word } => {
                let payload = mem::replace(payload, MessageBuffer::nothing());
                let answer = Answer::Reply { word, payload };
                self.note_answer(ledger, (number, answer), guard, wake)?;
            }
            Frame::Return {
                number,
                reason,
                word,
                text,
            } => {
                let payload = mem::replace(payload, MessageBuffer::nothing());
                let answer = Answer::Returned {
                    reason,
                    word,
                    payload,
                    text,
                };
                self.note_answer(ledger, (number, answer), guard, wake)?;
            }
            Frame::Bounce {
                handler,
                reason,
                word,
                text,
            } => {
                drop(ledger);
                if handler == NO_HANDLER && reason == Reason::Ending.code() {
                    // The end of the connection is published after this.
                    self.peer_is_done.store(true, Ordering::Relaxed);
                    return Ok(None);
                }
                let payload = mem::replace(payload, MessageBuffer::nothing());
                self.keep(Returned::of(handler, reason, word, payload, text));
            }
            Frame::Cancel { number } => {
                let task = ledger.cancelled(number);
                drop(ledger);
                if let Some(task) = task {
                    wake_all(wake);
                    // Dropping the task runs code of the program, so the poller lock is released
                    // first.
                    guard.release();
                    task.cancel();
                }
            }
            Frame::Credit => drop(ledger),
            Frame::Request { .. } | Frame::Hello { .. } => return Err(unknown),
        }
        Ok(None)
    }

    /// Records a message of the peer in the ledger. If the peer's window seems exhausted, credit in
    /// frames that were sent meanwhile is counted first.
    #[inline]
    fn accept(
        &self,
        mut ledger: MutexGuard<'_, Ledger>,
        number: Option<u32>,
        length: u64,
    ) -> Result<Number, Violation> {
        match ledger.accept(number, length) {
            Err(FULL) if ledger.withholds() => {
                drop(ledger);
                self.accept_again(number, length)
            }
            accepted => accepted,
        }
    }

    #[cold]
    fn accept_again(&self, number: Option<u32>, length: u64) -> Result<Number, Violation> {
        let gone = self.endpoint.shared().completed_position();
        let mut ledger = self.ledger();
        ledger.give(gone);
        ledger.accept(number, length)
    }

    /// Hands an answer to the poller if that waits for it, and otherwise records it.
    #[inline]
    fn note_answer(
        &self,
        mut ledger: MutexGuard<'_, Ledger>,
        (number, answer): (u32, Answer),
        guard: &mut PollGuard<'_>,
        wake: &mut Vec<Waker>,
    ) -> Result<(), Violation> {
        if guard.wants(self, number) {
            let call = ledger.hand_out(number)?;
            wake.append(&mut ledger.take_freed());
            drop(ledger);
            discard(call);
            guard.found = Some(answer);
            return Ok(());
        }
        let told = ledger.answer(number, answer)?;
        wake.append(&mut ledger.take_freed());
        self.count_answer();
        drop(ledger);
        // Woken first, because a task that continues below may wait for what they send.
        wake_all(wake);
        tell(told, guard);
        Ok(())
    }

    /// Returns true if the peer is gone, so that the answer can't be delivered. After slow
    /// handlers, requests may have been received long ago.
    #[cold]
    fn is_in_vain(&self, message: &Served) -> bool {
        matches!(message.number, Number::Asked(_)) && self.endpoint.shared().info().is_gone()
    }

    /// Runs or queues a request that is shown to a function first, or received by a thread that
    /// runs no handlers.
    #[inline(never)]
    fn serve_seen(
        self: Arc<Self>,
        entry: Option<&Entry>,
        first: Option<&See>,
        (message, payload): (Served, MessageBuffer),
        guard: &mut PollGuard<'_>,
    ) -> Tick {
        let Served {
            number,
            handler,
            word,
        } = message;
        let request = Request::new(self, number, handler, word, payload);
        let seen = match first {
            Some(first) => match catch_unwind(AssertUnwindSafe(|| first(request))) {
                Ok(seen) => seen,
                Err(panic) => {
                    forget_panic(panic);
                    None
                }
            },
            None => Some(request),
        };
        let Some(request) = seen else {
            return Tick::default();
        };
        if guard.is_aside() {
            guard.put_aside(request);
            return Tick::default();
        }
        guard.release();
        Entry::run(entry, &mut Some(request), guard.side(), Tick::default())
    }

    /// Runs a deferred request for that side, unless it was cancelled.
    pub(crate) fn serve_put_off(request: Request, side: Side) {
        if request.link().is_cancelled(request.number()) {
            return request.give_back(Reason::Cancelled, "");
        }
        let handlers = request.link().handlers.clone();
        let entry = handlers.entry(request.handler());
        Entry::run(entry, &mut Some(request), side, Tick::default());
    }

    /// Takes the answer to a request; see [`Ledger::take`].
    pub(crate) fn take_answer(
        &self,
        number: u32,
        task: Option<&Waker>,
    ) -> Result<Option<Answer>, Held> {
        let mut before = None;
        let mut ledger = self.ledger();
        let taken = ledger.take(number, task, &mut before);
        let freed = ledger.take_freed();
        drop(ledger);
        callbacks::discard(before);
        freed.into_iter().for_each(callbacks::wake);
        taken
    }

    fn keep(&self, returned: Returned) {
        let mut kept = lock(&self.returned);
        let lengths = kept.iter().chain([&returned]).filter_map(|returned| {
            let payload = returned.payload.as_ref()?;
            Some(payload.len() as u64)
        });
        let bytes = lengths.fold(0, u64::saturating_add);
        let has_room = kept.is_empty() || bytes <= self.settings.window_bytes;
        if kept.len() < self.settings.kept_returns && has_room {
            return kept.push_back(returned);
        }
        drop(kept);
        let peer = self.endpoint.peer().clone();
        emit(Level::DEBUG, move || {
            tracing::debug!(%peer, %returned, "dropped a returned message");
        });
    }
}

/// Wakes the senders that wait for credit; usually there are none.
#[inline]
fn wake_all(wake: &mut Vec<Waker>) {
    if !wake.is_empty() {
        wake.drain(..).for_each(callbacks::wake);
    }
}

/// Wakes the task that waits for an answer. A suspended handler of this side continues immediately.
#[inline]
fn tell((waker, unwanted): (Option<Waker>, Option<Answer>), guard: &mut PollGuard<'_>) {
    drop(unwanted);
    if let Some(waker) = waker {
        turn::gathering(guard.side(), || catch_panic(|| waker.wake()));
        if !turn::has_jobs_of(guard.side()) {
            return;
        }
        if guard.is_aside() {
            // A thread that runs no handlers may hold locks of the program.
            return turn::send_away();
        }
        guard.release();
        turn::go_on(guard.side());
    }
}
