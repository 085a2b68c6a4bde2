//! Sending from the queue.

use std::io::IoSlice;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use jstream::buffer::MessageBuffer;

use super::{Going, Gone, Left, QueuePlace, SendQueueState, Turn};
use crate::blocking;
use crate::error::RequestError;
use crate::frame::Frame;
use crate::ledger::Held;
use crate::link::Link;
use crate::link::outgoing::{Grant, Message};
use jstream_sync::callbacks;

/// Maximum length in bytes of a payload that is sent in place like other small messages.
const SMALL: usize = 4096;

/// Next step for the first entry, after it got credit.
enum Next {
    /// The waiting owner was woken.
    Told,
    Send(MessageBuffer, Result<Grant, RequestError>),
}

/// Waker that continues with the queue when there is credit.
struct QueueWaker(Weak<Link>);

impl Wake for QueueWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(link) = self.0.upgrade() {
            link.advance_queue();
        }
    }
}

/// Guard of a send from the queue. Dropping it records the result.
struct Sending<'l> {
    link: &'l Arc<Link>,
    gone: Option<Result<Grant, RequestError>>,
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        let queue = &self.link.queue;
        // Without a result, the send has panicked. The entry ends with an error then, because the
        // queue stands still while an entry is being sent.
        let lost = || {
            let peer = self.link.endpoint().peer().clone();
            Err(RequestError::Lost { peer })
        };
        let gone = self.gone.take().unwrap_or_else(lost);
        let mut state = queue.lock();
        let going = state.going.take();
        let (waker, left) = match going {
            Some(Going {
                number,
                waker,
                left: None,
            }) => {
                let gone = Gone {
                    outcome: gone,
                    unsent: None,
                    has_yielded: false,
                };
                state.gone.insert(number, gone);
                (waker, None)
            }
            Some(Going {
                left: Some(left), ..
            }) => (None, Some((gone, left))),
            None => (None, None),
        };
        // The calls below send a frame, lock the ledger and wake tasks.
        drop(state);
        if let Some((Ok(grant), left)) = left {
            grant.abandon(self.link, left);
        }
        waker.into_iter().for_each(callbacks::wake);
    }
}

impl Grant {
    /// Returns the credit of a message that was not sent.
    fn give_back(&self, link: &Link) {
        link.unsend(self.number(), self.length, self.credit);
    }

    /// Abandons the message.
    pub(super) fn abandon(&self, link: &Link, left: Left) {
        match self.asked {
            _ if !self.is_sent => self.give_back(link),
            Some(asked) if left == Left::Detached => {
                link.forget(asked.number);
            }
            Some(asked) => link.give_up(asked.number),
            None => {}
        }
    }
}

impl Link {
    /// Queues a message. If there is credit, it is sent immediately.
    pub(crate) fn enqueue(self: &Arc<Self>, message: Message) -> Turn {
        // Entries of outer stack frames can't go before the request of a nested handler.
        blocking::yield_turn();
        let stays = message.payload.is_none();
        let place = QueuePlace {
            message,
            waker: None,
            has_yielded: false,
        };
        let mut state = self.queue.lock();
        let number = state.next;
        state.next = number.wrapping_add(1);
        // Entered before the queue is advanced: either this thread finds credit for it, or the
        // waker for credit, which is registered before the check, does.
        state.waiting.insert(number, place);
        drop(state);
        self.advance_queue();
        Turn::new(self, number, stays)
    }

    /// Returns true if other messages wait for credit, and so go before a new one.
    pub(crate) fn has_queue(&self) -> bool {
        self.queue.is_used()
    }

    /// Returns true if no other messages wait for credit; otherwise registers `waker` to be called
    /// when that is so.
    pub(crate) fn is_first(&self, waker: &Waker) -> bool {
        if !self.has_queue() {
            return true;
        }
        let mut state = self.queue.lock();
        // Checked again under the lock, whose release calls the wakers when the queue is no longer
        // used.
        if !self.has_queue() {
            return true;
        }
        if !state.outside.iter().any(|known| known.will_wake(waker)) {
            state.outside.push(waker.clone());
        }
        false
    }

    /// Sends queued messages while there is credit.
    pub(crate) fn advance_queue(self: &Arc<Self>) {
        if self.has_queue() && !self.is_elsewhere() {
            self.send_queued();
        }
    }

    fn send_queued(self: &Arc<Self>) {
        while let Some(next) = self.next_queued() {
            if let Next::Send(payload, begun) = next {
                let mut sending = Sending {
                    link: self,
                    gone: None,
                };
                let gone = begun.and_then(|grant| self.send_granted(grant, payload));
                sending.gone = Some(gone);
            }
        }
    }

    /// Takes the first entry if there is credit for it. Returns `None` while another entry is being
    /// sent: the thread that sends it continues with the queue.
    fn next_queued(self: &Arc<Self>) -> Option<Next> {
        let mut state = self.queue.lock();
        // One message is sent at a time, because two threads could send them in the wrong order.
        if state.going.is_some() {
            return None;
        }
        let mut waiting = state.waiting.iter();
        let (&number, _) = waiting.find(|(_, place)| !place.has_yielded)?;
        let waker = self.queue.waker.get_or_init(|| {
            let link = Arc::downgrade(self);
            Arc::new(QueueWaker(link)).into()
        });
        // Registered before the check, so that later credit is reported.
        self.ledger().want(waker);
        let begun = loop {
            match self.grant(&state.waiting.get(&number)?.message) {
                // Credit of an entry that cannot use it is better used now.
                Err(Held::NoCredit) if self.take_back(&mut state) => {}
                Err(Held::NoCredit) => return None,
                Err(Held::Ended) => {
                    let handler = state.waiting.get(&number)?.message.handler;
                    break Err(self.unsent(handler));
                }
                Ok(grant) => break Ok(grant),
            }
        };
        // Removed only now that it has credit, so that it keeps its place until then.
        let QueuePlace {
            mut message, waker, ..
        } = state.waiting.remove(&number)?;
        if let Some(payload) = message.payload.take() {
            state.going = Some(Going {
                number,
                waker,
                left: None,
            });
            return Some(Next::Send(payload, begun));
        }
        let gone = Gone {
            outcome: begun,
            unsent: Some(message),
            has_yielded: false,
        };
        state.gone.insert(number, gone);
        waker.into_iter().for_each(callbacks::wake);
        Some(Next::Told)
    }

    /// Takes credit back from an entry that can't use it now. Returns true if there was one.
    fn take_back(&self, state: &mut SendQueueState) -> bool {
        let mut gone = state.gone.iter();
        // The last one is to send last, so it misses its credit least.
        let yielded = gone.rfind(|(_, gone)| gone.has_yielded && gone.outcome.is_ok());
        let Some(number) = yielded.map(|(number, _)| *number) else {
            return false;
        };
        match state.gone.remove(&number) {
            Some(Gone {
                outcome: Ok(grant),
                unsent: Some(message),
                ..
            }) => {
                // It gets its old number, and with it its old place in the order.
                let place = QueuePlace {
                    message,
                    waker: None,
                    has_yielded: true,
                };
                state.waiting.insert(number, place);
                let wakers = self.undo(grant.number(), grant.length, grant.credit);
                wakers.into_iter().for_each(callbacks::wake);
                true
            }
            _ => false,
        }
    }

    /// Takes credit back from an entry that can't use it now, for a sender outside the queue.
    /// Returns true if there was one.
    pub(crate) fn reclaim_yielded(&self) -> bool {
        if self.is_elsewhere() {
            return false;
        }
        self.take_back(&mut self.queue.lock())
    }

    /// Lets other entries go before one whose owner waits for another event first.
    pub(crate) fn yield_turn(self: &Arc<Self>, number: u64) {
        if self.is_elsewhere() {
            return;
        }
        let mut state = self.queue.lock();
        let is_new = state.has_yielded(number).is_some_and(|has_yielded| {
            let had_yielded = std::mem::replace(has_yielded, true);
            !had_yielded
        });
        if is_new {
            // Other senders may use the credit granted to it.
            self.take_back(&mut state);
            drop(state);
            self.advance_queue();
        }
    }

    /// Records that the owner of an entry can send again.
    pub(super) fn resume_turn(&self, number: u64) {
        let mut state = self.queue.lock();
        if let Some(has_yielded) = state.has_yielded(number) {
            *has_yielded = false;
        }
    }

    /// Takes credit for a message, if there is some.
    fn grant(&self, message: &Message) -> Result<Grant, Held> {
        let &Message {
            handler,
            word,
            length,
            ..
        } = message;
        if message.asks {
            let begun = self.begin(handler, word, length)?;
            return Ok(Grant {
                header: begun.header,
                length,
                credit: begun.credit,
                haste: begun.haste,
                asked: Some(begun.asked),
                is_sent: false,
            });
        }
        let (credit, haste) = self.charge(length)?;
        Ok(Grant {
            header: Frame::Send { handler, word }.with_credit(credit),
            length,
            credit,
            haste,
            asked: None,
            is_sent: false,
        })
    }

    fn send_granted(&self, grant: Grant, payload: MessageBuffer) -> Result<Grant, RequestError> {
        // A small message may be gathered with others. A larger one moves to the device without a
        // copy.
        let sent = if payload.len() <= SMALL {
            self.send(
                grant.header,
                &[IoSlice::new(payload.as_bytes())],
                grant.haste,
            )
        } else {
            self.send_buffer(grant.header, payload)
                .map_err(|(error, _)| error)
        };
        match sent {
            Ok(()) => Ok(Grant {
                is_sent: true,
                ..grant
            }),
            Err(error) => {
                grant.give_back(self);
                Err(error.into())
            }
        }
    }
}
