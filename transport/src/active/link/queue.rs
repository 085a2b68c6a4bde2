//! Those who wait for room at the other side: they go in the order in which they came, whoever finds that there is some.

use std::collections::BTreeMap;
use std::fmt;
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
use crate::header::Header;

/// Up to so many bytes are sent as other small messages are, from where they are.
const SMALL: usize = 4096;

/// The queue of a connection.
#[derive(Default)]
pub(super) struct Queue {
    /// Somebody is there, or is about to be sent; changes under the lock.
    is_used: AtomicBool,
    state: Mutex<State>,
    /// Told when there is credit.
    waker: OnceLock<Waker>,
}

#[derive(Default)]
struct State {
    next: u64,
    waiting: BTreeMap<u64, Place>,
    /// What is being sent, by whom nobody else sends meanwhile.
    going: Option<Going>,
    /// What came of those who have not looked since.
    gone: BTreeMap<u64, Result<Grant, RequestError>>,
    /// Told when there is nobody any more.
    outside: Vec<Waker>,
}

struct Place {
    message: Message,
    waker: Option<Waker>,
}

struct Going {
    number: u64,
    waker: Option<Waker>,
    /// Nobody wants to know what came of it.
    is_left: bool,
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
        let mut ledger = link.ledger();
        match self.asked {
            Some(asked) => ledger.unsend(asked.number, self.length, asked.credit),
            None => ledger.uncharge(self.length, self.credit),
        }
        let wanting = ledger.take_wanting();
        drop(ledger);
        wanting.into_iter().for_each(Waker::wake);
    }

    /// Nobody wants to know what comes of it.
    fn leave(&self, link: &Link) {
        match self.asked {
            _ if !self.is_sent => self.give_back(link),
            Some(asked) => link.give_up(asked.number),
            None => {}
        }
    }
}

/// A place in the queue; whoever drops it leaves, and what was not sent is not.
pub(in crate::active) struct Turn {
    link: Arc<Link>,
    /// None when it is known what came of it.
    number: Option<u64>,
}

impl Turn {
    /// What came of it, once; else `waker` is told.
    pub(in crate::active) fn come(
        &mut self,
        waker: Option<&Waker>,
    ) -> Option<Result<Grant, RequestError>> {
        let number = self.number?;
        if self.link.is_elsewhere() {
            return None;
        }
        self.link.go_on();
        let mut state = lock_plainly(&self.link.queue.state);
        let gone = state.gone.remove(&number);
        if gone.is_some() {
            self.number = None;
        } else if let Some(waker) = waker {
            let State { waiting, going, .. } = &mut *state;
            let waiting = waiting.get_mut(&number).map(|place| &mut place.waker);
            let going = going.as_mut().map(|going| &mut going.waker);
            if let Some(known) = waiting.or(going) {
                *known = Some(waker.clone());
            }
        }
        gone
    }

    /// Leaves the queue where it waits there still. True then; else what came of it is to be asked for.
    pub(in crate::active) fn withdraw(&mut self) -> bool {
        let Some(number) = self.number else {
            return false;
        };
        // Whoever had the lock when this process was forked has it for ever.
        if self.link.is_elsewhere() {
            return true;
        }
        let mut state = lock_plainly(&self.link.queue.state);
        let Some(place) = state.waiting.remove(&number) else {
            return false;
        };
        self.number = None;
        let outside = self.link.queue.note(&mut state);
        drop(state);
        drop(place);
        outside.into_iter().for_each(Waker::wake);
        // Others may have waited behind it.
        self.link.go_on();
        true
    }

    /// Leaves the queue. True when it was not sent, and won't be.
    pub(in crate::active) fn leave(&mut self) -> bool {
        let Some(number) = self.number.take() else {
            return false;
        };
        if self.link.is_elsewhere() {
            return true;
        }
        let mut state = lock_plainly(&self.link.queue.state);
        let place = state.waiting.remove(&number);
        let gone = state.gone.remove(&number);
        if let Some(going) = state.going.as_mut().filter(|of| of.number == number) {
            going.is_left = true;
        }
        let outside = self.link.queue.note(&mut state);
        drop(state);
        outside.into_iter().for_each(Waker::wake);
        let is_unsent = match &gone {
            Some(Ok(grant)) => {
                grant.leave(&self.link);
                !grant.is_sent
            }
            Some(Err(_)) => true,
            None => place.is_some(),
        };
        // Others may have waited behind it.
        self.link.go_on();
        is_unsent
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Turn").field(&self.number).finish()
    }
}

impl Queue {
    /// Something has changed. Whom to tell.
    fn note(&self, state: &mut State) -> Vec<Waker> {
        let is_used = !state.waiting.is_empty() || state.going.is_some();
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
                is_left: false,
            }) => {
                state.gone.insert(number, gone);
                (waker, None)
            }
            _ => (None, Some(gone)),
        };
        let outside = queue.note(&mut state);
        drop(state);
        if let Some(Ok(grant)) = left {
            grant.leave(self.link);
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
        let waker = None;
        let place = Place { message, waker };
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
        while let Some((message, begun)) = self.next_queued() {
            let mut sending = Sending {
                link: self,
                gone: None,
            };
            let gone = begun.and_then(|grant| self.send_granted(grant, message.payload));
            sending.gone = Some(gone);
        }
    }

    /// Takes the first one, if there is room for it, to be sent. Nothing while another one is: who sends that looks for
    /// more.
    fn next_queued(self: &Arc<Self>) -> Option<(Message, Result<Grant, RequestError>)> {
        let mut state = lock_plainly(&self.queue.state);
        if state.going.is_some() {
            return None;
        }
        let first = state.waiting.first_entry()?;
        let waker = self.queue.waker.get_or_init(|| {
            let link = Arc::downgrade(self);
            Arc::new(GoOn(link)).into()
        });
        // What there is room for from now on is told.
        self.ledger().want(waker);
        let begun = match self.grant(&first.get().message) {
            Err(Held::NoCredit) => return None,
            Err(Held::Ended) => Err(RequestError::Ended {
                peer: self.endpoint().peer().clone(),
            }),
            Ok(grant) => Ok(grant),
        };
        let (number, Place { message, waker }) = first.remove_entry();
        let is_left = false;
        state.going = Some(Going {
            number,
            waker,
            is_left,
        });
        Some((message, begun))
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
            let (asked, header) = self.begin(handler, word, length)?;
            return Ok(Grant {
                header,
                length,
                credit: asked.credit,
                haste: asked.haste,
                asked: Some(asked),
                is_sent: false,
            });
        }
        let mut ledger = self.ledger();
        let (credit, haste) = (ledger.charge(length)?, ledger.haste());
        drop(ledger);
        Ok(Grant {
            header: Frame::Send { handler, word }.header(credit),
            length,
            credit,
            haste,
            asked: None,
            is_sent: false,
        })
    }

    fn send_granted(&self, grant: Grant, payload: Option<Filled>) -> Result<Grant, RequestError> {
        let Some(payload) = payload else {
            return Ok(grant);
        };
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
