//! Those who wait for room at the other side: they go in the order in which they came, whoever finds that there is some.
//!
//! A thread that waits serves, and a handler that runs inside of that may wait in turn, for room or for what others bring
//! about. Until it has ended the thread can't send: it steps aside, and others go before it, with the room that it was
//! given where there is no other.

mod turns;

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Wake, Waker};

use jstream::buffer::Filled;

use super::sending::Haste;
use super::{Asked, Link, lock_plainly};
use crate::active::error::RequestError;
use crate::active::frame::{Credit, Frame};
use crate::active::ledger::Held;
use crate::active::turn;
use crate::header::Header;

pub(in crate::active) use self::turns::Turn;

/// Up to so many bytes are sent as other small messages are, from where they are.
const SMALL: usize = 4096;

/// The queue of a connection.
#[derive(Default)]
pub(super) struct Queue {
    /// Somebody is there who may go, or is about to be sent; changes under the lock.
    is_used: AtomicBool,
    state: Mutex<SendQueueState>,
    /// Told when there is credit.
    waker: OnceLock<Waker>,
}

#[derive(Default)]
struct SendQueueState {
    next: u64,
    waiting: BTreeMap<u64, QueuePlace>,
    /// What is being sent, by whom nobody else sends meanwhile.
    going: Option<Going>,
    /// What came of those who have not looked since.
    gone: BTreeMap<u64, Gone>,
    /// Told when there is nobody any more.
    outside: Vec<Waker>,
}

struct QueuePlace {
    message: Message,
    waker: Option<Waker>,
    /// Its thread can't send now.
    is_aside: bool,
}

struct Gone {
    outcome: Result<Grant, RequestError>,
    /// What its thread has the room to send.
    unsent: Option<Message>,
    /// Its thread can't send now.
    is_aside: bool,
}

struct Going {
    number: u64,
    waker: Option<Waker>,
    /// Nobody wants to know what came of it.
    left: Option<Left>,
}

/// How somebody leaves what may be on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// It is not wanted any more.
    Cancelled,
    /// It goes on.
    Detached,
}

/// What is to be done with the first one, for which there is room.
enum Next {
    /// Who waits knows.
    Told,
    Send(Filled, Result<Grant, RequestError>),
}

/// What waits for room.
#[derive(Debug)]
pub(in crate::active) struct Message {
    pub(in crate::active) handler: u16,
    pub(in crate::active) word: u64,
    pub(in crate::active) length: u64,
    /// It is a request.
    pub(in crate::active) asks: bool,
    /// Sent at its turn. Without one, who waits sends it.
    pub(in crate::active) payload: Option<Filled>,
}

/// Room for a message.
#[derive(Debug, Clone, Copy)]
pub(in crate::active) struct Grant {
    pub(in crate::active) header: Header,
    pub(in crate::active) length: u64,
    pub(in crate::active) credit: Credit,
    pub(in crate::active) haste: Haste,
    /// Of a request.
    pub(in crate::active) asked: Option<Asked>,
    /// It is on its way.
    is_sent: bool,
}

impl Grant {
    /// Its message was not sent after all.
    fn give_back(&self, link: &Link) {
        link.unsend(self.number(), self.length, self.credit);
    }

    fn number(&self) -> Option<u32> {
        self.asked.map(|asked| asked.number)
    }

    /// Nobody wants to know what comes of it.
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
    /// Whether one who waits, or has not looked since, can't send now.
    fn is_aside(&mut self, number: u64) -> Option<&mut bool> {
        match self.waiting.get_mut(&number) {
            Some(place) => Some(&mut place.is_aside),
            None => Some(&mut self.gone.get_mut(&number)?.is_aside),
        }
    }
}

impl Queue {
    /// Something has changed. Whom to tell.
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

/// Goes on with the queue when there is credit.
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

/// What is being sent; when it is dropped that is over.
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
    /// Whether others wait for room, who go before what is sent now.
    #[inline]
    pub(in crate::active) fn has_queue(&self) -> bool {
        self.queue.is_used.load(Ordering::Acquire)
    }

    /// Whether that is not so; else `waker` is told when it is not.
    pub(in crate::active) fn is_first(&self, waker: &Waker) -> bool {
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

    /// Has a message wait for its turn, which may be now.
    #[cold]
    pub(in crate::active) fn enqueue(self: &Arc<Self>, message: Message) -> Turn {
        // Those beneath a handler can't go before what it asks.
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

    /// Sends what waits, as far as there is room.
    #[inline]
    pub(in crate::active) fn go_on(self: &Arc<Self>) {
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

    /// Takes the first one, if there is room for it, to be sent. Nothing while another one is: who sends that looks for
    /// more.
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
        // What there is room for from now on is told.
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

    /// Takes the room back of one who can't use it now. Whether there was one.
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

    /// Has the room back of one who can't use it now, for who does not wait in the queue. Whether there was one.
    #[cold]
    pub(in crate::active) fn free_aside(&self) -> bool {
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

    /// Whose turn that is waits for something else first.
    pub(in crate::active) fn step_aside(self: &Arc<Self>, number: u64) {
        if self.is_elsewhere() {
            return;
        }
        let mut state = lock_plainly(&self.queue.state);
        let is_new = state.is_aside(number).is_some_and(|is_aside| {
            let was_aside = std::mem::replace(is_aside, true);
            !was_aside
        });
        if is_new {
            // What it has been given, others may have meanwhile.
            let mut wake = Vec::new();
            self.take_back(&mut state, &mut wake);
            let outside = self.queue.note(&mut state);
            drop(state);
            wake.into_iter().chain(outside).for_each(Waker::wake);
            self.go_on();
        }
    }

    /// It waits for nothing else any more.
    fn come_back(&self, number: u64) {
        let mut state = lock_plainly(&self.queue.state);
        if let Some(is_aside) = state.is_aside(number) {
            *is_aside = false;
            let outside = self.queue.note(&mut state);
            drop(state);
            outside.into_iter().for_each(Waker::wake);
        }
    }

    /// Room for a message, if there is some.
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
            header: Frame::Send { handler, word }.header(credit),
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
