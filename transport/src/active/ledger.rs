//! What both sides owe each other, without I/O: windows, requests that wait for their answers, and those of
//! the peer that are open.
//!
//! A side sends only within the window that the other one told it: so many messages, and so many bytes. What
//! is done with, the other side gives back, with whatever frame goes its way next. Answers need no room: who
//! asks for one has kept a place for it.

use std::mem;
use std::sync::Arc;
use std::task::Waker;

use jstream::buffer::Filled;

use super::frame::Credit;
use super::task::Cancel;

/// A limit of what is under way, and how much is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    messages: u32,
    bytes: u64,
    messages_out: u32,
    bytes_out: u64,
}

impl Window {
    pub(super) fn new(messages: u32, bytes: u64) -> Self {
        Self {
            messages,
            bytes,
            messages_out: 0,
            bytes_out: 0,
        }
    }

    /// Whether a message of `length` bytes may go. One that is longer than half of the window goes when half
    /// of it is free: else it might wait for what is given back only with more.
    #[inline]
    fn has_room(&self, length: u64) -> bool {
        let needed = length.min(self.bytes / 2);
        self.messages_out < self.messages && self.bytes_out.saturating_add(needed) <= self.bytes
    }

    #[inline]
    fn charge(&mut self, length: u64) -> bool {
        let has_room = self.has_room(length);
        if has_room {
            self.messages_out = self.messages_out.saturating_add(1);
            self.bytes_out = self.bytes_out.saturating_add(length);
        }
        has_room
    }

    /// Takes back so much. False when more was given than was out.
    #[inline]
    fn restore(&mut self, credit: Credit) -> bool {
        let messages = self.messages_out.checked_sub(u32::from(credit.messages));
        let bytes = self.bytes_out.checked_sub(credit.bytes);
        let (Some(messages), Some(bytes)) = (messages, bytes) else {
            return false;
        };
        (self.messages_out, self.bytes_out) = (messages, bytes);
        true
    }
}

/// What came of a request.
#[derive(Debug)]
pub(super) enum Answer {
    Reply {
        word: u64,
        payload: Filled,
    },
    Returned {
        reason: u16,
        word: u64,
        /// What was sent, and behind that so many bytes of text.
        payload: Filled,
        text: u16,
    },
}

/// A request of this side.
#[derive(Debug)]
enum Call {
    Free,
    /// Its answer has not come; who is told.
    Waiting(Option<Waker>),
    /// Nobody wants its answer.
    Forgotten,
    Done(Answer),
}

#[derive(Debug)]
struct Place {
    generation: u16,
    call: Call,
}

/// What is known of a request of the peer.
pub(super) enum Open {
    No,
    /// Nobody waits in it, as far as is known.
    Running,
    /// Its handler waits, and can be cancelled.
    Moved(Arc<dyn Cancel>),
}

/// A request of the peer, or the place for one.
struct OpenPlace {
    number: u32,
    open: Open,
    /// Nobody wants its answer.
    cancelled: bool,
}

/// The peer does what nobody of this version does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Violation(pub(super) &'static str);

/// The accounts of one connection.
pub(super) struct Ledger {
    /// What this side may send, and what the peer may.
    out: Window,
    inward: Window,
    /// What the peer is to get back.
    due_messages: u32,
    due_bytes: u64,
    calls: Vec<Place>,
    free: Vec<u16>,
    open: Vec<OpenPlace>,
    /// Those who wait for credit.
    wanting: Vec<Waker>,
    ended: bool,
}

/// Why a request can't go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    NoCredit,
    Ended,
}

impl Ledger {
    /// `inward` was told to the peer, `out` by it. Both have at most 65,535 messages.
    pub(super) fn new(out: Window, inward: Window) -> Self {
        Self {
            out,
            inward,
            due_messages: 0,
            due_bytes: 0,
            calls: Vec::new(),
            free: Vec::new(),
            open: Vec::new(),
            wanting: Vec::new(),
            ended: false,
        }
    }

    /// Room for a message of `length` bytes that nobody answers.
    #[inline]
    pub(super) fn charge(&mut self, length: u64) -> Result<Credit, Held> {
        if self.ended {
            return Err(Held::Ended);
        }
        if !self.out.charge(length) {
            return Err(Held::NoCredit);
        }
        Ok(self.take_due())
    }

    /// A request of `length` bytes: its number, and what the peer gets back with it.
    #[inline]
    pub(super) fn begin(&mut self, length: u64) -> Result<(u32, Credit), Held> {
        // Answers that nobody has taken keep their places.
        if self.free.is_empty() && self.calls.len() > usize::from(u16::MAX) {
            return Err(Held::NoCredit);
        }
        let credit = self.charge(length)?;
        let index = self.free.pop().unwrap_or_else(|| {
            let index = u16::try_from(self.calls.len()).unwrap_or(u16::MAX);
            self.calls.push(Place {
                generation: 0,
                call: Call::Free,
            });
            index
        });
        let place = self.calls.get_mut(usize::from(index));
        let generation = place.map_or(0, |place| {
            place.call = Call::Waiting(None);
            place.generation
        });
        Ok((u32::from(index) | (u32::from(generation) << 16), credit))
    }

    /// A request that was begun was not sent after all.
    pub(super) fn unsend(&mut self, number: u32, length: u64) {
        self.uncharge(length);
        self.release(number);
    }

    /// The same of a message that nobody answers.
    pub(super) fn uncharge(&mut self, length: u64) {
        self.out.messages_out = self.out.messages_out.saturating_sub(1);
        self.out.bytes_out = self.out.bytes_out.saturating_sub(length);
    }

    fn place(&mut self, number: u32) -> Option<&mut Place> {
        let place = self.calls.get_mut((number & 0xffff) as usize)?;
        (u32::from(place.generation) == number >> 16).then_some(place)
    }

    fn release(&mut self, number: u32) -> Option<Call> {
        let place = self.place(number)?;
        let call = mem::replace(&mut place.call, Call::Free);
        place.generation = place.generation.wrapping_add(1);
        self.free.push(u16::try_from(number & 0xffff).unwrap_or(0));
        Some(call)
    }

    /// What the peer gives back. Those who wait for it go to `wake`.
    #[inline]
    pub(super) fn absorb(
        &mut self,
        credit: Credit,
        wake: &mut Vec<Waker>,
    ) -> Result<(), Violation> {
        if credit == Credit::default() {
            return Ok(());
        }
        if !self.out.restore(credit) {
            return Err(Violation("it gives back more than was sent"));
        }
        if !self.wanting.is_empty() {
            wake.append(&mut self.wanting);
        }
        Ok(())
    }

    /// The answer to a request. An answer that nobody wants comes back.
    #[inline]
    pub(super) fn answer(
        &mut self,
        number: u32,
        answer: Answer,
    ) -> Result<(Option<Waker>, Option<Answer>), Violation> {
        let unasked = Violation("it answers what was not asked");
        let place = self.place(number).ok_or(unasked)?;
        match &mut place.call {
            Call::Waiting(waker) => {
                let waker = waker.take();
                place.call = Call::Done(answer);
                Ok((waker, None))
            }
            Call::Forgotten => {
                self.release(number);
                Ok((None, Some(answer)))
            }
            Call::Free | Call::Done(_) => Err(unasked),
        }
    }

    /// What came of a request; `Err` when nothing will. `Ok(None)` when it is not known, and then `task` is told.
    #[inline]
    pub(super) fn take(
        &mut self,
        number: u32,
        task: Option<&Waker>,
    ) -> Result<Option<Answer>, Held> {
        let ended = self.ended;
        let place = self.place(number).ok_or(Held::Ended)?;
        match &mut place.call {
            Call::Waiting(_) if ended => {
                self.release(number);
                Err(Held::Ended)
            }
            Call::Waiting(known) => {
                if let Some(task) = task {
                    match known {
                        Some(known) => known.clone_from(task),
                        None => *known = Some(task.clone()),
                    }
                }
                Ok(None)
            }
            Call::Done(_) => match self.release(number) {
                Some(Call::Done(answer)) => Ok(Some(answer)),
                _ => Err(Held::Ended),
            },
            Call::Free | Call::Forgotten => Err(Held::Ended),
        }
    }

    /// Nobody wants the answer to a request any more. True when it has not come yet.
    pub(super) fn forget(&mut self, number: u32) -> (bool, Option<Answer>) {
        let ended = self.ended;
        match self.place(number) {
            Some(place) if matches!(place.call, Call::Waiting(_)) && !ended => {
                place.call = Call::Forgotten;
                (true, None)
            }
            Some(_) => match self.release(number) {
                Some(Call::Done(answer)) => (false, Some(answer)),
                _ => (false, None),
            },
            None => (false, None),
        }
    }

    /// Has `task` told when there is credit, or none will be.
    pub(super) fn want(&mut self, task: &Waker) {
        if !self.wanting.iter().any(|other| other.will_wake(task)) {
            self.wanting.push(task.clone());
        }
    }

    /// A message of the peer has come: a request, if it has a number.
    #[inline]
    pub(super) fn accept(&mut self, number: Option<u32>, length: u64) -> Result<(), Violation> {
        if !self.inward.charge(length) {
            return Err(Violation("it sends more than its window allows"));
        }
        let Some(number) = number else {
            return Ok(());
        };
        let index = (number & 0xffff) as usize;
        if self.open.len() <= index {
            self.open
                .resize_with(index.saturating_add(1), || OpenPlace {
                    number: 0,
                    open: Open::No,
                    cancelled: false,
                });
        }
        match self.open.get_mut(index) {
            Some(place) if matches!(place.open, Open::No) => {
                *place = OpenPlace {
                    number,
                    open: Open::Running,
                    cancelled: false,
                };
                Ok(())
            }
            _ => Err(Violation("a number is used twice")),
        }
    }

    fn opened(&mut self, number: u32) -> Option<&mut OpenPlace> {
        let place = self.open.get_mut((number & 0xffff) as usize)?;
        (place.number == number && !matches!(place.open, Open::No)).then_some(place)
    }

    /// The handler of a request waits. False when nobody wants its answer: then it is not noted.
    pub(super) fn note_moved(&mut self, number: u32, task: &Arc<dyn Cancel>) -> bool {
        let ended = self.ended;
        match self.opened(number) {
            Some(place) if matches!(place.open, Open::Running) => {
                let wanted = !ended && !place.cancelled;
                if wanted {
                    place.open = Open::Moved(task.clone());
                }
                wanted
            }
            _ => true,
        }
    }

    /// Whether nobody wants the answer to a request that is open.
    pub(super) fn is_cancelled(&mut self, number: u32) -> bool {
        self.ended || self.opened(number).is_some_and(|place| place.cancelled)
    }

    /// A message of the peer is done with. What it gets back with the frame that says so.
    #[inline]
    pub(super) fn close(&mut self, number: Option<u32>, length: u64) -> (Credit, Open) {
        let open = self.settle(number, length);
        (self.take_due(), open)
    }

    /// As [`close`](Self::close), where no frame goes; there is credit only where it is time for a frame of
    /// its own.
    pub(super) fn close_silently(&mut self, length: u64) -> Option<Credit> {
        self.settle(None, length);
        let is_time = self.due_messages >= (self.inward.messages / 2).max(1)
            || self.due_bytes >= (self.inward.bytes / 2).max(1);
        is_time.then(|| self.take_due())
    }

    fn settle(&mut self, number: Option<u32>, length: u64) -> Open {
        self.due_messages = self.due_messages.saturating_add(1);
        self.due_bytes = self.due_bytes.saturating_add(length);
        number
            .and_then(|number| self.open.get_mut((number & 0xffff) as usize))
            .map_or(Open::No, |place| mem::replace(&mut place.open, Open::No))
    }

    /// What the peer is to get back; from now on it may use it.
    #[inline]
    pub(super) fn take_due(&mut self) -> Credit {
        let credit = Credit::of(self.due_messages, self.due_bytes);
        self.due_messages = self.due_messages.saturating_sub(u32::from(credit.messages));
        self.due_bytes = self.due_bytes.saturating_sub(credit.bytes);
        self.inward.restore(credit);
        credit
    }

    /// Nobody wants the answer to a request any more: its task, if it has one.
    pub(super) fn cancelled(&mut self, number: u32) -> Option<Arc<dyn Cancel>> {
        let place = self.opened(number)?;
        place.cancelled = true;
        match &place.open {
            Open::Moved(task) => Some(task.clone()),
            _ => None,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The connection is gone: those who wait are woken, those who work for the peer are cancelled.
    pub(super) fn end(&mut self) -> (Vec<Waker>, Vec<Arc<dyn Cancel>>) {
        self.ended = true;
        let mut wake = mem::take(&mut self.wanting);
        for place in &mut self.calls {
            if let Call::Waiting(waker) = &mut place.call {
                wake.extend(waker.take());
            }
        }
        let mut tasks = Vec::new();
        for place in &mut self.open {
            if let Open::Moved(task) = mem::replace(&mut place.open, Open::Running) {
                tasks.push(task);
            }
        }
        (wake, tasks)
    }
}
