//! The queue of senders that wait for credit. Its entries are sent in order, by whichever thread
//! finds credit.
//!
//! A thread that waits for credit serves, and a handler that runs inside this wait may wait in
//! turn. Until that handler has ended, the outer thread can't send. So its entry steps aside:
//! others go before it, and use the credit granted to it if there is no other credit.

mod turns;

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Wake, Waker};

use jstream::buffer::Filled;

use super::sending::Haste;
use super::{Asked, Link, lock_plainly};
use crate::error::RequestError;
use crate::frame::{Credit, Frame};
use crate::ledger::Held;
use crate::turn;
use jstream_base::Header;

pub(crate) use self::turns::Turn;

/// Maximum length in bytes of a payload that is sent in place like other small messages.
const SMALL: usize = 4096;

/// The send queue of a connection.
#[derive(Default)]
pub(super) struct Queue {
    /// True if an entry may be sent, or is being sent; changes under the lock.
    is_used: AtomicBool,
    state: Mutex<SendQueueState>,
    /// Waker for new credit.
    waker: OnceLock<Waker>,
}

#[derive(Default)]
struct SendQueueState {
    next: u64,
    waiting: BTreeMap<u64, QueuePlace>,
    /// The entry that is being sent. There is one at a time.
    going: Option<Going>,
    /// Results that their owners have not collected.
    gone: BTreeMap<u64, Gone>,
    /// Wakers to call when the queue is empty.
    outside: Vec<Waker>,
}

struct QueuePlace {
    message: Message,
    waker: Option<Waker>,
    /// True if the entry's thread can't send now.
    is_aside: bool,
}

struct Gone {
    outcome: Result<Grant, RequestError>,
    /// The message that the entry's thread can send now.
    unsent: Option<Message>,
    /// True if the entry's thread can't send now.
    is_aside: bool,
}

struct Going {
    number: u64,
    waker: Option<Waker>,
    /// Set if the owner of the entry does not want the result.
    left: Option<Left>,
}

/// The way in which an owner abandons an entry that may be on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// The message is cancelled.
    Cancelled,
    /// The message is sent, and its result is ignored.
    Detached,
}

/// Next step for the first entry, after it got credit.
enum Next {
    /// The waiting owner was woken.
    Told,
    Send(Filled, Result<Grant, RequestError>),
}

/// A message that waits for credit.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) handler: u16,
    pub(crate) word: u64,
    pub(crate) length: u64,
    /// True if the message is a request.
    pub(crate) asks: bool,
    /// Payload, which is sent in the entry's turn. If there is none, the owner of the entry sends.
    pub(crate) payload: Option<Filled>,
}

/// Credit for one message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub(crate) header: Header,
    pub(crate) length: u64,
    pub(crate) credit: Credit,
    pub(crate) haste: Haste,
    /// Number of the request; `None` for a one-way message.
    pub(crate) asked: Option<Asked>,
    /// True if the message is on its way.
    is_sent: bool,
}

impl Grant {
    /// Returns the credit of a message that was not sent.
    fn give_back(&self, link: &Link) {
        link.unsend(self.number(), self.length, self.credit);
    }

    fn number(&self) -> Option<u32> {
        self.asked.map(|asked| asked.number)
    }

    /// Abandons the message.
    fn leave(&self, link: &Link, left: Left) {
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

impl SendQueueState {
    /// Returns the flag that tells that the owner of a waiting or uncollected entry can't send now.
    fn is_aside(&mut self, number: u64) -> Option<&mut bool> {
        match self.waiting.get_mut(&number) {
            Some(place) => Some(&mut place.is_aside),
            None => Some(&mut self.gone.get_mut(&number)?.is_aside),
        }
    }
}

impl Queue {
    /// Updates `is_used`. Returns the wakers to call.
    fn note(&self, state: &mut SendQueueState) -> Vec<Waker> {
        let may_go = state.waiting.values().any(|place| !place.is_aside);
        let is_used = may_go || state.going.is_some();
        self.is_used.store(is_used, Ordering::Release);
        if is_used {
            return Vec::new();
        }
        std::mem::take(&mut state.outside)
    }
}

/// Waker that continues with the queue when there is credit.
struct GoOn(Weak<Link>);

impl Wake for GoOn {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(link) = self.0.upgrade() {
            link.go_on();
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
        let lost = || {
            let peer = self.link.endpoint().peer().clone();
            Err(RequestError::Lost { peer })
        };
        let gone = self.gone.take().unwrap_or_else(lost);
        let mut state = lock_plainly(&queue.state);
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
                    is_aside: false,
                };
                state.gone.insert(number, gone);
                (waker, None)
            }
            Some(Going {
                left: Some(left), ..
            }) => (None, Some((gone, left))),
            None => (None, None),
        };
        let outside = queue.note(&mut state);
        drop(state);
        if let Some((Ok(grant), left)) = left {
            grant.leave(self.link, left);
        }
        waker.into_iter().chain(outside).for_each(Waker::wake);
    }
}

impl Link {
    /// Returns true if other messages wait for credit, and so go before a new one.
    #[inline]
    pub(crate) fn has_queue(&self) -> bool {
        self.queue.is_used.load(Ordering::Acquire)
    }

    /// Returns true if no other messages wait for credit; otherwise registers `waker` to be called
    /// when that is so.
    pub(crate) fn is_first(&self, waker: &Waker) -> bool {
        if !self.has_queue() {
            return true;
        }
        let mut state = lock_plainly(&self.queue.state);
        if !self.has_queue() {
            return true;
        }
        if !state.outside.iter().any(|known| known.will_wake(waker)) {
            state.outside.push(waker.clone());
        }
        false
    }

    /// Queues a message. If there is credit, it is sent immediately.
    #[cold]
    pub(crate) fn enqueue(self: &Arc<Self>, message: Message) -> Turn {
        // Entries of outer stack frames can't go before the request of a nested handler.
        turn::step_aside();
        let stays = message.payload.is_none();
        let place = QueuePlace {
            message,
            waker: None,
            is_aside: false,
        };
        let mut state = lock_plainly(&self.queue.state);
        let number = state.next;
        state.next = number.wrapping_add(1);
        state.waiting.insert(number, place);
        self.queue.note(&mut state);
        drop(state);
        self.go_on();
        Turn {
            link: self.clone(),
            number: Some(number),
            stays,
        }
    }

    /// Sends queued messages while there is credit.
    #[inline]
    pub(crate) fn go_on(self: &Arc<Self>) {
        if self.has_queue() && !self.is_elsewhere() {
            self.send_queued();
        }
    }

    #[cold]
    fn send_queued(self: &Arc<Self>) {
        let mut wake = Vec::new();
        while let Some(next) = self.next_queued(&mut wake) {
            wake.drain(..).for_each(Waker::wake);
            if let Next::Send(payload, begun) = next {
                let mut sending = Sending {
                    link: self,
                    gone: None,
                };
                let gone = begun.and_then(|grant| self.send_granted(grant, payload));
                sending.gone = Some(gone);
            }
        }
        wake.into_iter().for_each(Waker::wake);
    }

    /// Takes the first entry if there is credit for it. Returns `None` while another entry is being
    /// sent: the thread that sends it continues with the queue.
    fn next_queued(self: &Arc<Self>, wake: &mut Vec<Waker>) -> Option<Next> {
        let mut state = lock_plainly(&self.queue.state);
        if state.going.is_some() {
            return None;
        }
        let mut waiting = state.waiting.iter();
        let (&number, _) = waiting.find(|(_, place)| !place.is_aside)?;
        let waker = self.queue.waker.get_or_init(|| {
            let link = Arc::downgrade(self);
            Arc::new(GoOn(link)).into()
        });
        // Registered before the check, so that later credit is reported.
        self.ledger().want(waker);
        let begun = loop {
            match self.grant(&state.waiting.get(&number)?.message) {
                Err(Held::NoCredit) if self.take_back(&mut state, wake) => {}
                Err(Held::NoCredit) => return None,
                Err(Held::Ended) => {
                    break Err(RequestError::Ended {
                        peer: self.endpoint().peer().clone(),
                    });
                }
                Ok(grant) => break Ok(grant),
            }
        };
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
            is_aside: false,
        };
        state.gone.insert(number, gone);
        wake.extend(waker);
        wake.append(&mut self.queue.note(&mut state));
        Some(Next::Told)
    }

    /// Takes credit back from an entry that can't use it now. Returns true if there was one.
    fn take_back(&self, state: &mut SendQueueState, wake: &mut Vec<Waker>) -> bool {
        let mut gone = state.gone.iter();
        let aside = gone.rfind(|(_, gone)| gone.is_aside && gone.outcome.is_ok());
        let Some(number) = aside.map(|(number, _)| *number) else {
            return false;
        };
        match state.gone.remove(&number) {
            Some(Gone {
                outcome: Ok(grant),
                unsent: Some(message),
                ..
            }) => {
                let place = QueuePlace {
                    message,
                    waker: None,
                    is_aside: true,
                };
                state.waiting.insert(number, place);
                wake.append(&mut self.undo(grant.number(), grant.length, grant.credit));
                true
            }
            _ => false,
        }
    }

    /// Takes credit back from an entry that can't use it now, for a sender outside the queue.
    /// Returns true if there was one.
    #[cold]
    pub(crate) fn free_aside(&self) -> bool {
        if self.is_elsewhere() {
            return false;
        }
        let mut wake = Vec::new();
        let mut state = lock_plainly(&self.queue.state);
        let was_held = self.take_back(&mut state, &mut wake);
        drop(state);
        wake.into_iter().for_each(Waker::wake);
        was_held
    }

    /// Lets other entries go before one whose owner waits for another event first.
    pub(crate) fn step_aside(self: &Arc<Self>, number: u64) {
        if self.is_elsewhere() {
            return;
        }
        let mut state = lock_plainly(&self.queue.state);
        let is_new = state.is_aside(number).is_some_and(|is_aside| {
            let was_aside = std::mem::replace(is_aside, true);
            !was_aside
        });
        if is_new {
            // Other senders may use the credit granted to it.
            let mut wake = Vec::new();
            self.take_back(&mut state, &mut wake);
            let outside = self.queue.note(&mut state);
            drop(state);
            wake.into_iter().chain(outside).for_each(Waker::wake);
            self.go_on();
        }
    }

    /// Records that the owner of an entry can send again.
    fn come_back(&self, number: u64) {
        let mut state = lock_plainly(&self.queue.state);
        if let Some(is_aside) = state.is_aside(number) {
            *is_aside = false;
            let outside = self.queue.note(&mut state);
            drop(state);
            outside.into_iter().for_each(Waker::wake);
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

    fn send_granted(&self, grant: Grant, payload: Filled) -> Result<Grant, RequestError> {
        let sent = if payload.len() <= SMALL {
            self.send(
                grant.header,
                &[IoSlice::new(payload.as_bytes())],
                grant.haste,
            )
        } else {
            self.send_filled(grant.header, payload)
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

#[cfg(all(test, not(loom)))]
mod tests;
