//! A message as its handler has it.

mod parked;
mod weak;

use std::any::Any;
use std::fmt;
use std::io::IoSlice;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream::buffer::Filled;
use jstream::{Received, Transportable};

pub(super) use self::parked::Parked;
pub use self::weak::WeakMark;
use super::budget::Tick;
use super::error::Reason;
use super::frame::{Credit, Frame};
use super::ledger::Number;
use super::link::Link;
use super::peer::Peer;
use super::task;
use crate::endpoint::object::read;
use crate::endpoint::{Message, RecvObjectError};
use crate::error::SendError;
use crate::header::Header;

/// A message whose handler runs: a word, a payload in a jbuf of this side, and the way back.
///
/// Whoever has it answers once, from wherever it is kept: in the handler, behind an `await`, or in another
/// thread later. One that is dropped without an answer comes back to its sender as
/// [`Reason::Unanswered`]; a message that was [sent](Peer::send) without asking for an answer is dropped
/// as a rule.
#[must_use = "a request that is dropped comes back to its sender"]
pub struct Request {
    /// Dropped before its sender knows that it goes back.
    kept: Option<Box<dyn Any + Send>>,
    payload: Option<Filled>,
    replier: Replier,
    /// Since when it waits for its turn.
    since: Option<Instant>,
    /// When its handler has begun.
    begun: Tick,
    /// It has waited for its peer to take what it was sent.
    has_waited: bool,
}

/// Which request it is, for who has not got it any more.
#[derive(Clone)]
pub struct Mark {
    link: Arc<Link>,
    number: Number,
}

impl Mark {
    /// Whether nobody wants the answer any more: it was cancelled, or the connection has ended. Looks at what has come
    /// meanwhile, if nobody else receives; what is requested there is served later.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        if self.number.asked().is_some() {
            self.link.bundle().look_aside();
        }
        self.link.is_cancelled(self.number)
    }

    /// Who made the request.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::of(self.link.clone())
    }

    /// What was [attached](Peer::attach) to the connection, if that is a `T`.
    #[must_use]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.link.attached()
    }

    /// Notes the task of a request that waits, so that it can be cancelled. Whether it is still wanted.
    pub(super) fn note(&self, task: &Arc<dyn task::Cancel>) -> bool {
        self.link.note_moved(self.number, task)
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mark")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// The way back to whoever made a request; see [`Request`].
#[must_use = "a request that is not answered comes back to its sender"]
pub struct Replier {
    link: Arc<Link>,
    word: u64,
    handler: u16,
    number: Number,
    length: u64,
    is_open: bool,
}

impl Request {
    pub(super) fn new(
        link: Arc<Link>,
        number: Number,
        handler: u16,
        word: u64,
        payload: Filled,
    ) -> Self {
        Self {
            replier: Replier {
                link,
                word,
                handler,
                number,
                length: payload.len() as u64,
                is_open: true,
            },
            payload: Some(payload),
            since: None,
            begun: Tick::default(),
            has_waited: false,
            kept: None,
        }
    }

    /// The word that was sent.
    #[must_use]
    #[inline]
    pub fn word(&self) -> u64 {
        self.replier.word
    }

    /// The payload; nobody has believed its bytes yet.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.payload
            .as_ref()
            .map_or(&[], |payload| payload.as_bytes())
    }

    /// Whether an answer is waited for.
    #[must_use]
    pub fn wants_reply(&self) -> bool {
        self.replier.number.asked().is_some()
    }

    /// Who sent it, to send something back besides the answer.
    #[must_use]
    pub fn peer(&self) -> Peer {
        self.replier.peer()
    }

    /// What was [attached](Peer::attach) to the connection, if that is a `T`.
    #[must_use]
    #[inline]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.replier.attached()
    }

    /// As [`Peer::backlog`], of who sent it.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.replier.link.backlog()
    }

    /// Whether it is to be [put off](Self::put_off): who sent it has more than `most` bytes to take of what it was sent, or
    /// has requests that wait for that. One that has waited is not put off again.
    #[must_use]
    #[inline]
    pub fn is_unread(&self, most: u64) -> bool {
        !self.has_waited && self.replier.link.is_unread(most)
    }

    /// Has it wait until who sent it has taken all but `most` bytes of what it was sent, in order of coming: its handler is
    /// run with it again then. It keeps its place in the window of the other side, which therefore can't make us keep more
    /// than that allows.
    pub fn put_off(mut self, most: u64) {
        self.wait();
        let link = self.replier.link.clone();
        link.put_off(self, most);
    }

    /// Has its handler run with it again, by who serves, before what comes from now on.
    pub fn run_again(mut self) {
        self.wait();
        let link = self.replier.link.clone();
        link.bundle().run_soon(self);
    }

    /// Has its handler run with it a little later.
    pub(super) fn run_later(self) {
        let bundle = self.replier.link.bundle();
        bundle.run_later(self);
    }

    /// Keeps something with the request, instead of what was kept before. It is dropped where the request goes back, before
    /// its sender knows; and where that may send it again, so that it [says so](super::is_given_back).
    pub fn keep<T: Any + Send>(&mut self, what: Box<T>) {
        self.kept = Some(what);
    }

    /// What is kept with it, if that is a `T`.
    #[must_use]
    pub fn take_kept<T: Any + Send>(&mut self) -> Option<Box<T>> {
        self.kept.take_if(|kept| kept.is::<T>())?.downcast().ok()
    }

    /// Whether something is kept with it.
    #[must_use]
    #[inline]
    pub fn has_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// It is the first of those that wait for their peer, and need not any more.
    pub(super) fn has_waited(&mut self) {
        self.has_waited = true;
    }

    /// Which request it is.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.replier.mark()
    }

    /// How long it has waited here for its turn, where it has.
    #[must_use]
    #[inline]
    pub fn waited(&self) -> Duration {
        self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Its handler begins, when the clock was at that tick.
    #[inline]
    pub(super) fn begin(&mut self, tick: Tick) {
        self.begun = tick;
    }

    /// What the system's monotonic clock said at its last tick before the handler began, or before the one ended that ran just
    /// before, in nanoseconds, where that was asked and it has not waited for its turn: for who would ask it again.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn ticked(&self) -> Option<u64> {
        self.begun.nanos().filter(|_| self.since.is_none())
    }

    /// It waits for its turn from now on.
    pub(super) fn wait(&mut self) {
        self.since.get_or_insert_with(Instant::now);
        self.begun = Tick::default();
    }

    pub(super) fn handler(&self) -> u16 {
        self.replier.handler
    }

    pub(super) fn number(&self) -> Number {
        self.replier.number
    }

    pub(super) fn link(&self) -> &Arc<Link> {
        &self.replier.link
    }

    /// Answers with a word and bytes. Of a message that nobody waits for the answer of, that is dropped.
    pub fn reply(self, word: u64, bytes: &[u8]) {
        self.replier.reply(word, bytes);
    }

    /// Answers with an object.
    pub fn reply_object<R: Transportable>(self, object: &R) {
        self.replier.reply_object(object);
    }

    /// Answers with the payload itself, which moves where jbufs do.
    pub fn echo(mut self) {
        match self.payload.take() {
            Some(payload) => self.replier.reply_filled(0, payload),
            None => self.replier.reply(0, &[]),
        }
    }

    /// Gives the message back to its sender, for a reason in words.
    pub fn refuse(self, why: &str) {
        self.give_back(Reason::Refused, why);
    }

    /// Gives the message back for now: whoever waits for the answer sends it again a little later, a number
    /// of times.
    pub fn nack(self) {
        self.replier
            .link
            .handlers()
            .count_nack(self.replier.handler);
        self.give_back(Reason::Busy, "");
    }

    pub(super) fn give_back(mut self, reason: Reason, why: &str) {
        if let Some(kept) = self.kept.take() {
            task::giving_back(reason == Reason::Busy, || drop(kept));
        }
        let payload = self.payload.take();
        self.replier.give_back(reason, payload, why);
    }

    /// The payload, to keep, and the way back.
    #[inline(always)]
    pub fn into_parts(self) -> (Filled, Replier) {
        // What is dropped here is apart from the rest, which would be copied with it.
        let Self {
            kept,
            payload,
            replier,
            ..
        } = self;
        drop(kept);
        (payload.unwrap_or_else(Filled::nothing), replier)
    }

    /// The object that the payload is, and the way back. A payload that is none goes back to its sender, and
    /// there is nothing to do.
    #[must_use]
    pub fn read<T: Transportable + 'static>(self) -> Option<(Received<T>, Replier)> {
        let (payload, replier) = self.into_parts();
        let message = Message {
            header: Header::default(),
            payload,
        };
        match read::<T>(message, replier.link.endpoint().shared()) {
            Ok((_, object)) => Some((object, replier)),
            Err(RecvObjectError::Read { source, .. }) => {
                let why = source.to_string();
                replier.give_back(Reason::Malformed, None, &why);
                None
            }
            Err(_) => None,
        }
    }
}

impl Replier {
    /// Who made the request.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::of(self.link.clone())
    }

    /// What was [attached](Peer::attach) to the connection, if that is a `T`.
    #[must_use]
    #[inline]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.link.attached()
    }

    /// Which request it is.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            link: self.link.clone(),
            number: self.number,
        }
    }

    /// Whether an answer is waited for.
    #[must_use]
    #[inline]
    pub fn wants_reply(&self) -> bool {
        self.number.asked().is_some()
    }

    /// Answers with a word and bytes.
    pub fn reply(self, word: u64, bytes: &[u8]) {
        self.reply_segments(word, &[IoSlice::new(bytes)]);
    }

    /// As [`reply`](Self::reply), with bytes from several places. False when the other side takes no message like that,
    /// and was told so instead.
    pub fn reply_segments(mut self, word: u64, segments: &[IoSlice<'_>]) -> bool {
        self.reply_in_place(word, segments)
    }

    /// The same where this stays until it is dropped. It has answered then: what it is asked further does nothing.
    #[doc(hidden)]
    pub fn reply_in_place(&mut self, word: u64, segments: &[IoSlice<'_>]) -> bool {
        if !mem::take(&mut self.is_open) {
            return true;
        }
        match self.number {
            Number::Asked(number) => {
                let reply = Frame::Reply { number, word };
                let credit = self.link.close(self.number, self.length);
                match self.link.reply(reply.header(credit), segments) {
                    Ok(()) => true,
                    Err(error) => {
                        self.unsent(&error, credit);
                        false
                    }
                }
            }
            told => {
                self.link.close_silently(told, self.length);
                true
            }
        }
    }

    /// Answers with a jbuf, which moves to the other side where jbufs do.
    pub fn reply_filled(mut self, word: u64, payload: Filled) {
        if !mem::take(&mut self.is_open) {
            return;
        }
        match self.number {
            Number::Asked(number) => {
                let reply = Frame::Reply { number, word };
                let credit = self.link.close(self.number, self.length);
                if let Err(error) = self.link.reply_filled(reply.header(credit), payload) {
                    self.unsent(&error, credit);
                }
            }
            told => self.link.close_silently(told, self.length),
        }
    }

    /// Answers with an object.
    pub fn reply_object<R: Transportable>(self, object: &R) {
        if self.number.asked().is_none() {
            return self.reply(0, &[]);
        }
        let link = self.link.clone();
        let mut replier = Some(self);
        let written = link.endpoint().shared().with_writer(|writer| {
            writer.gather(object, |segments| {
                if let Some(replier) = replier.take() {
                    replier.reply_segments(0, segments);
                }
            })
        });
        if let (Some(replier), Err(error)) = (replier, written) {
            replier.give_back(Reason::Unsendable, None, &error.to_string());
        }
    }

    /// Gives the request back to its maker, for a reason in words, without what was sent.
    pub fn refuse(self, why: &str) {
        self.give_back(Reason::Refused, None, why);
    }

    pub(super) fn give_back(mut self, reason: Reason, payload: Option<Filled>, why: &str) {
        if !mem::take(&mut self.is_open) {
            return;
        }
        let credit = self.link.close(self.number, self.length);
        let payload = payload
            .as_ref()
            .map_or(&[][..], |payload| payload.as_bytes());
        self.link.give_back(
            (self.number, self.handler, self.word),
            credit,
            reason,
            payload,
            why,
        );
    }

    /// An answer that the other side does not take leaves it with the reason alone.
    #[cold]
    fn unsent(&self, error: &SendError, credit: Credit) {
        let why = error.to_string();
        let back = (self.number, self.handler, self.word);
        self.link
            .give_back(back, credit, Reason::Unsendable, &[], &why);
    }

    /// It was dropped without an answer.
    #[cold]
    fn give_up(&self) {
        let reason = task::reason();
        if self.number.asked().is_none() && reason == Reason::Unanswered {
            return self.link.close_silently(self.number, self.length);
        }
        let credit = self.link.close(self.number, self.length);
        let back = (self.number, self.handler, self.word);
        self.link.give_back(back, credit, reason, &[], "");
    }
}

impl Drop for Replier {
    #[inline]
    fn drop(&mut self) {
        if mem::take(&mut self.is_open) {
            self.give_up();
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("word", &self.word())
            .field("len", &self.bytes().len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Replier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replier")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
