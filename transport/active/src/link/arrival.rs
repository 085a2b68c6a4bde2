//! The receive half of a connection.

use std::io::IoSlice;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use jstream::buffer::MessageBuffer;

use super::Link;
use crate::budget::Tick;
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

const UNKNOWN: Violation = Violation("unknown or malformed frame");

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
        let Some((frame, credit)) = Frame::parse(header) else {
            guard.release();
            return self.break_off(UNKNOWN);
        };
        let length = header.length;
        let is_noticed = self.notices_messages();
        // Both fast paths change the accounts, so all of their other conditions are checked before.
        let message = match frame {
            Frame::Request {
                number,
                handler,
                word,
            } if !is_noticed && self.accounts.accept_alone(number, length, credit) => Served {
                number: Number::Asked(number),
                handler,
                word,
            },
            Frame::Reply { number, word }
                if !is_noticed
                    && guard.wants(&self, number)
                    && self.accounts.settle_answer(number, credit) =>
            {
                guard.last = Tick::default();
                guard.found = Some(Answer::Reply { word, payload });
                return;
            }
            frame => match self.record((frame, credit), header, &mut payload, guard) {
                Some(message) => message,
                None => {
                    guard.last = Tick::default();
                    return;
                }
            },
        };
        let last = mem::take(&mut guard.last);
        // Read first, so that the cache line is not written for each message.
        if !self.has_served() {
            self.served.store(true, Ordering::Relaxed);
        }
        let entry = handlers.entry(message.handler);
        let first = entry.and_then(|entry| entry.first(message.word));
        if first.is_some() || guard.defers_requests() {
            guard.last = self.serve_seen(entry, first, (message, payload), guard);
            return;
        }
        // Asking for the presence of the peer is a system call, so only a slow handler makes it
        // worthwhile.
        if guard.is_slow() && self.is_in_vain(&message) {
            guard.release();
            return self.hang_up();
        }
        let Served {
            number,
            handler,
            word,
        } = message;
        // An option, out of which the handler takes the request: passing it by value would copy it.
        let mut request = Some(Request::new(self, number, handler, word, payload));
        // The handler may wait for an answer, which another thread then has to be able to receive.
        guard.release();
        // One reading of the clock is the start for the budget of the handler, for the deadline of
        // a call, and here.
        let begun = last.or_now();
        guard.last = Entry::run(entry, &mut request, guard.side(), begun);
        guard.set_slow(guard.last.nanos_since(begun) > SLOW);
    }

    /// Fast path for a thread that waits for the answer to the request `number`. Returns false
    /// without a side effect if the message is something else, or other threads must be informed.
    #[inline]
    pub(crate) fn take_reply(&self, header: &Header, number: u32) -> bool {
        let Some(credit) = Frame::replies(header, number) else {
            return false;
        };
        !self.notices_messages() && self.accounts.settle_answer(number, credit)
    }

    /// Returns true if each message has to be shown to the tap, or to threads that wait for room in
    /// the pool.
    #[inline]
    fn notices_messages(&self) -> bool {
        self.shortage.is_active() || self.settings.tap.is_some()
    }

    /// Records a message in the ledger. Returns it if it is for a handler; its payload is then left
    /// in place.
    #[inline(never)]
    fn record(
        &self,
        frame: (Frame, Credit),
        header: &Header,
        payload: &mut MessageBuffer,
        guard: &mut PollGuard<'_>,
    ) -> Option<Served> {
        if self.shortage.is_active() {
            self.shortage.clear();
            guard.last = Tick::default();
        }
        let mut wake = Vec::new();
        if let Some(tap) = &self.settings.tap {
            self.show(&**tap, false, header, &[IoSlice::new(payload.as_bytes())]);
        }
        let taken = self.record_frame(frame, header.length, payload, guard, &mut wake);
        if !wake.is_empty() {
            // They run when the poller lock is released, before the handler, which may take long
            // or wait for one of them.
            wake_all(&mut wake);
            guard.last = Tick::default();
        }
        match taken {
            Ok(message) => message,
            Err(violation) => {
                guard.release();
                self.break_off(violation);
                None
            }
        }
    }

    fn record_frame(
        &self,
        (frame, credit): (Frame, Credit),
        length: u64,
        payload: &mut MessageBuffer,
        guard: &mut PollGuard<'_>,
        wake: &mut Vec<Waker>,
    ) -> Result<Option<Served>, Violation> {
        let mut ledger = self.ledger();
        // Any frame may return credit, so it is absorbed before the frame is looked at.
        ledger.absorb(credit, wake)?;
        match frame {
            Frame::Request {
                number,
                handler,
                word,
            } => {
                let number = self.accept(ledger, Some(number), length)?;
                return Ok(Some(Served {
                    number,
                    handler,
                    word,
                }));
            }
            Frame::Send { handler, word } => {
                let number = self.accept(ledger, None, length)?;
                return Ok(Some(Served {
                    number,
                    handler,
                    word,
                }));
            }
            Frame::Reply { number, word } => {
                let payload = mem::replace(payload, MessageBuffer::nothing());
                let answer = Answer::Reply { word, payload };
                self.record_answer(ledger, (number, answer), guard, wake)?;
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
                self.record_answer(ledger, (number, answer), guard, wake)?;
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
                let returned = Returned::new(handler, reason, word, payload, text);
                if let Some(dropped) = self.returned.keep(returned, &self.settings) {
                    self.report_dropped(dropped);
                }
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
            Frame::Hello { .. } => return Err(UNKNOWN),
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
            // The peer may have received a frame with credit, and used that credit, before this
            // side has recorded that the frame was sent.
            Err(FULL) if ledger.withholds() => {
                drop(ledger);
                self.accept_after_sends(number, length)
            }
            accepted => accepted,
        }
    }

    #[cold]
    fn accept_after_sends(&self, number: Option<u32>, length: u64) -> Result<Number, Violation> {
        let gone = self.endpoint.shared().completed_position();
        let mut ledger = self.ledger();
        ledger.record_sent(gone);
        ledger.accept(number, length)
    }

    /// Hands an answer to the poller if that waits for it, and otherwise records it.
    #[inline]
    fn record_answer(
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
        // Counted after the answer is in the ledger, so a thread that sees the new number finds the
        // answer.
        self.accounts.count_answer(&ledger);
        drop(ledger);
        // Woken first, because a task that continues below may wait for what they send.
        wake_all(wake);
        wake_task(told, guard);
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
            // The function belongs to the program. A panic must not end the thread that receives.
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
        if guard.defers_requests() {
            guard.defer(request);
            return Tick::default();
        }
        guard.release();
        Entry::run(entry, &mut Some(request), guard.side(), Tick::default())
    }

    /// Runs a deferred request for that side, unless it was cancelled.
    pub(crate) fn serve_deferred(request: Request, side: Side) {
        // The cancellation may have arrived while the request was deferred. A one-way message can't
        // be cancelled, and runs although the connection has ended since: it came before the end.
        let number = request.number();
        if number.asked().is_some() && request.link().is_cancelled(number) {
            return request.give_back(Reason::Cancelled, "");
        }
        // Cloned, because the request takes the link with it.
        let handlers = request.link().handlers.clone();
        let entry = handlers.entry(request.handler());
        Entry::run(entry, &mut Some(request), side, Tick::default());
    }

    /// Reports a returned message for which there was no room.
    #[cold]
    fn report_dropped(&self, returned: Returned) {
        let peer = self.endpoint.peer().clone();
        emit(Level::DEBUG, move || {
            tracing::debug!(%peer, %returned, "dropped a returned message");
        });
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
fn wake_task((waker, unwanted): (Option<Waker>, Option<Answer>), guard: &mut PollGuard<'_>) {
    drop(unwanted);
    if let Some(waker) = waker {
        // Without this, the wake-up would hand the task to its executor, and so to another thread.
        turn::gathering(guard.side(), || catch_panic(|| waker.wake()));
        if !turn::has_jobs_of(guard.side()) {
            return;
        }
        if guard.defers_requests() {
            // A thread that runs no handlers may hold locks of the program.
            return turn::send_away();
        }
        guard.release();
        turn::run_collected(guard.side());
    }
}
