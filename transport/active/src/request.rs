//! A received message, as its handler gets it.
//!
//! Decisions 010 and 015 have the reasons.

mod deferred;
mod weak;

use std::any::Any;
use std::fmt;
use std::io::IoSlice;
use std::mem;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use jstream::buffer::MessageBuffer;
use jstream::{Received, Transportable};

pub use self::weak::WeakMark;
use super::budget::Tick;
use super::drop_reason::{giving_back, reason};
use super::error::Reason;
use super::frame::{Credit, Frame};
use super::ledger::{Cancel, Number};
use super::link::Link;
use super::other_version::{snapshots_of, with_list};
use super::retry_after::encode_retry_after;
use jstream_base::byte_limit::ByteCharge;
use jstream_endpoint::object::read;
use jstream_endpoint::{Message, RecvObjectError};

/// A received message: a word, a payload in a buffer of this side, and the means to answer.
///
/// The owner answers once, from any place: in the handler, after an `await`, or later in another
/// thread. A request that is dropped without an answer is returned to its sender as
/// [`Reason::Unanswered`]. A one-way message that was [sent](super::Peer::send) is normally just
/// dropped.
#[must_use = "a request that is dropped comes back to its sender"]
pub struct Request {
    /// Attached value. It is dropped before the sender learns that the request was returned.
    kept: Option<Box<dyn Any + Send>>,
    payload: Option<MessageBuffer>,
    replier: Replier,
    /// Time at which the request was queued.
    since: Option<Instant>,
    /// Clock tick at which the handler began.
    begun: Tick,
    /// True if the request has been deferred because the peer did not drain its receive side.
    has_waited: bool,
}

/// Identity of a request, for code that no longer owns the request.
#[derive(Clone)]
pub struct Mark {
    link: Arc<Link>,
    number: Number,
}

impl Mark {
    /// Returns true if the answer is no longer wanted: the request was cancelled, or the connection
    /// has ended. If no other thread is polling, receives the available messages first; requests
    /// among them are served later.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        if self.number.asked().is_some() {
            self.link.membership().group().poll_deferring();
        }
        self.link.is_cancelled(self.number)
    }

    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Returns the value that was [attached](super::Peer::attach) to the connection, if its type is
    /// `T`.
    #[must_use]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.link.attached()
    }

    /// Registers the task of a suspended handler, so that it can be cancelled. Returns true if the
    /// request is still wanted.
    pub(super) fn register_task(&self, task: &Arc<dyn Cancel>) -> bool {
        self.link.register_task(self.number, task)
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mark")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// The means to answer a request; see [`Request`].
#[must_use = "a request that is not answered comes back to its sender"]
pub struct Replier {
    link: Arc<Link>,
    word: u64,
    handler: u16,
    number: Number,
    length: u64,
    is_open: bool,
}

/// A request in a queue. It holds its connection weakly, because the connection may own the queue.
/// If no other handle of the connection is left, both are dropped.
pub(super) struct DeferredRequest {
    /// Identifier of the connection in poll groups.
    pub(super) id: u64,
    link: Weak<Link>,
    kept: Option<Box<dyn Any + Send>>,
    payload: Option<MessageBuffer>,
    word: u64,
    handler: u16,
    number: Number,
    length: u64,
    since: Option<Instant>,
    has_waited: bool,
}

impl Request {
    #[inline(always)]
    pub(super) fn new(
        link: Arc<Link>,
        number: Number,
        handler: u16,
        word: u64,
        payload: MessageBuffer,
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

    /// Returns the word that was sent.
    #[must_use]
    #[inline]
    pub fn word(&self) -> u64 {
        self.replier.word
    }

    /// Returns the payload; its bytes are not validated.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.payload
            .as_ref()
            .map_or(&[], |payload| payload.as_bytes())
    }

    /// Returns true if the sender waits for an answer.
    #[must_use]
    pub fn wants_reply(&self) -> bool {
        self.replier.number.asked().is_some()
    }

    /// Returns the value that was [attached](super::Peer::attach) to the connection, if its type is
    /// `T`.
    #[must_use]
    #[inline]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.replier.attached()
    }

    /// Returns the [`PeerStatus::backlog`](super::PeerStatus::backlog) of the sender.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.replier.link.backlog()
    }

    /// Returns true if the request should be [deferred](Self::put_off): its sender has more than
    /// `most` bytes of messages to take, or any while all peers together have more than half of
    /// [`Settings::max_backlog_in_all`](super::Settings::max_backlog_in_all), or it has requests
    /// that are deferred for that reason. Returns false if the request was deferred before.
    #[must_use]
    #[inline]
    pub fn is_unread(&self, most: u64) -> bool {
        !self.has_waited
            && self
                .replier
                .link
                .deferred()
                .defers(&self.replier.link, most)
    }

    /// Defers the request until its sender has taken all but `most` bytes of the messages sent to
    /// it, or all of them if all peers together have too many; then its handler runs. Deferred
    /// requests run in the order of arrival. A deferred request keeps its place in the peer's
    /// window, which therefore limits what the peer can make this side hold.
    pub fn put_off(mut self, most: u64) {
        self.wait();
        let link = self.replier.link.clone();
        link.deferred().push(&link, self, most);
    }

    /// Runs the handler again with this request, on a serving thread, before messages that arrive
    /// from now on.
    pub fn run_again(mut self) {
        self.wait();
        let link = self.replier.link.clone();
        link.membership().group().run_next(self);
    }

    /// Runs the handler again with this request, a little later.
    pub(super) fn run_later(self) {
        let group = self.replier.link.membership().group();
        group.rerun(self);
    }

    /// Attaches a value to the request, and replaces an earlier one. If the request is returned,
    /// the value is dropped before the sender knows. If the sender may then retry the request,
    /// [`is_given_back`](super::is_given_back) returns true during that drop.
    pub fn keep<T: Any + Send>(&mut self, what: Box<T>) {
        self.kept = Some(what);
    }

    /// Takes the attached value if its type is `T`.
    #[must_use]
    pub fn take_kept<T: Any + Send>(&mut self) -> Option<Box<T>> {
        self.kept.take_if(|kept| kept.is::<T>())?.downcast().ok()
    }

    /// Returns true if a value is attached.
    #[must_use]
    #[inline]
    pub fn has_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Marks the request as one that has been deferred, so that it is not deferred again.
    pub(super) fn has_waited(&mut self) {
        self.has_waited = true;
    }

    /// Returns the identity of the request.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.replier.mark()
    }

    /// Returns the time that the request was queued on this side, or zero.
    #[must_use]
    #[inline]
    pub fn waited(&self) -> Duration {
        self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Records the clock tick at which the handler begins.
    #[inline]
    pub(super) fn begin(&mut self, tick: Tick) {
        self.begun = tick;
    }

    /// Returns the system's coarse monotonic clock in nanoseconds, read when the handler began or
    /// when the previous handler ended. Callers use it to avoid another reading. Returns `None` if
    /// the clock was not read or the request was queued.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn ticked(&self) -> Option<u64> {
        self.begun.nanos().filter(|_| self.since.is_none())
    }

    /// Records that the request is queued from now on.
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

    /// Answers with a word and bytes. The answer to a one-way message is dropped.
    pub fn reply(self, word: u64, bytes: &[u8]) {
        self.replier.reply(word, bytes);
    }

    /// Answers with an object.
    pub fn reply_object<R: Transportable>(self, object: &R) {
        self.replier.reply_object(object);
    }

    /// Answers with the payload itself, whose buffer moves to the peer if the device can do that.
    pub fn echo(mut self) {
        match self.payload.take() {
            Some(payload) => self.replier.reply_buffer(0, payload),
            None => self.replier.reply(0, &[]),
        }
    }

    /// Returns the message to its sender as refused, with a reason in words.
    pub fn refuse(self, explanation: &str) {
        self.give_back(Reason::Refused, explanation);
    }

    /// Returns the message to its sender, because this side takes no more requests.
    pub fn turn_away(self) {
        self.give_back(Reason::Ending, "");
    }

    /// Returns the message to its sender as busy. A sender that waits for the answer retries it
    /// later, a limited number of times.
    pub fn nack(self) {
        self.replier
            .link
            .handlers()
            .count_nack(self.replier.handler);
        self.give_back(Reason::Busy, "");
    }

    /// Returns the message to its sender as busy, with the time after which it may be sent again,
    /// which is rounded up to milliseconds and at most a minute. The sender does not retry it
    /// before that.
    pub fn nack_for(self, retry_after: Duration) {
        self.replier
            .link
            .handlers()
            .count_nack(self.replier.handler);
        self.give_back(Reason::Busy, &encode_retry_after(retry_after));
    }

    pub(super) fn give_back(mut self, reason: Reason, explanation: &str) {
        if let Some(kept) = self.kept.take() {
            giving_back(reason == Reason::Busy, || drop(kept));
        }
        let payload = self.payload.take();
        self.replier.give_back(reason, payload, explanation);
    }

    /// Splits the request into the payload and the means to answer.
    #[inline(always)]
    pub fn into_parts(self) -> (MessageBuffer, Replier) {
        // The other fields are destructured separately; otherwise they would be copied with the
        // result.
        let Self {
            kept,
            payload,
            replier,
            ..
        } = self;
        drop(kept);
        (payload.unwrap_or_else(MessageBuffer::nothing), replier)
    }

    /// Reads the object in the payload. A payload that can't be read is returned to its sender, and
    /// the result is `None`.
    #[must_use]
    pub fn read<T: Transportable + 'static>(self) -> Option<(Received<T>, Replier)> {
        let (payload, replier) = self.into_parts();
        let message = Message::of_payload(payload);
        let read = read::<T>(message, replier.link.endpoint().shared());
        replier.with_object(read.map(|(_, object)| object))
    }

    /// Reads the argument of a function. Also returns true if the caller has another version of the
    /// types, so that the result must bring its schemas along.
    pub(super) fn read_argument<T: Transportable + 'static>(
        self,
    ) -> Option<(Received<T>, Replier, bool)> {
        let list_bytes = self.word();
        if list_bytes == 0 {
            let (object, replier) = self.read::<T>()?;
            return Some((object, replier, false));
        }
        let (payload, replier) = self.into_parts();
        let link = &replier.link;
        let of = (&**link.endpoint().shared(), &link.settings);
        let read = link.other_versions().read::<T>(payload, list_bytes, of);
        let (object, replier) = replier.with_object(read)?;
        Some((object, replier, true))
    }
}

impl Replier {
    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Returns the value that was [attached](super::Peer::attach) to the connection, if its type is
    /// `T`.
    #[must_use]
    #[inline]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.link.attached()
    }

    /// Returns the identity of the request.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            link: self.link.clone(),
            number: self.number,
        }
    }

    /// Returns true if the sender waits for an answer.
    #[must_use]
    #[inline]
    pub fn wants_reply(&self) -> bool {
        self.number.asked().is_some()
    }

    /// Answers with a word and bytes.
    pub fn reply(self, word: u64, bytes: &[u8]) {
        self.reply_segments(word, &[IoSlice::new(bytes)]);
    }

    /// As [`reply`](Self::reply), with a payload in several segments. Returns false if the peer
    /// does not accept such a message; then it gets the reason instead.
    pub fn reply_segments(mut self, word: u64, segments: &[IoSlice<'_>]) -> bool {
        self.reply_in_place(word, segments)
    }

    /// As [`reply_segments`](Self::reply_segments), but does not consume the replier. Later answers
    /// have no effect.
    #[doc(hidden)]
    pub fn reply_in_place(&mut self, word: u64, segments: &[IoSlice<'_>]) -> bool {
        if !mem::take(&mut self.is_open) {
            return true;
        }
        match self.number {
            Number::Asked(number) => {
                let reply = Frame::Reply { number, word };
                let credit = self.link.close(self.number, self.length);
                match self.link.reply(reply.with_credit(credit), segments) {
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

    /// Charges the bytes of a result that is kept for the peer to fetch, as long as the guard
    /// lives. Returns `None` if there is no room within
    /// [`Settings::max_backlog_in_all`](super::Settings::max_backlog_in_all).
    #[doc(hidden)]
    #[must_use]
    pub fn charge_kept(&self, bytes: u64) -> Option<ByteCharge> {
        self.link.settings.charge_kept(bytes)
    }

    /// Answers with a buffer, which moves to the peer if the device can do that.
    pub fn reply_buffer(mut self, word: u64, payload: MessageBuffer) {
        if !mem::take(&mut self.is_open) {
            return;
        }
        match self.number {
            Number::Asked(number) => {
                let reply = Frame::Reply { number, word };
                let credit = self.link.close(self.number, self.length);
                if let Err(error) = self.link.reply_buffer(reply.with_credit(credit), payload) {
                    self.unsent(&error, credit);
                }
            }
            told => self.link.close_silently(told, self.length),
        }
    }

    /// Returns the object that was read. A payload that can't be read is returned to its sender.
    fn with_object<T: Transportable + 'static>(
        self,
        read: Result<Received<T>, RecvObjectError>,
    ) -> Option<(Received<T>, Self)> {
        match read {
            Ok(object) => Some((object, self)),
            Err(RecvObjectError::Read { source, .. }) => {
                let explanation = source.to_string();
                self.give_back(Reason::Malformed, None, &explanation);
                None
            }
            Err(_) => None,
        }
    }

    /// Answers with the result of a function, and with its schemas if `is_described`.
    pub(super) fn reply_result<R>(self, result: &R, is_described: bool)
    where
        R: Transportable + 'static,
    {
        let is_described = is_described && self.wants_reply();
        let snapshots = if is_described {
            snapshots_of::<R>()
        } else {
            None
        };
        let Some(snapshots) = snapshots else {
            return self.reply_object(result);
        };
        let shared = self.link.endpoint().shared();
        let max_bytes = shared.info().limits.max_send;
        let list = match shared.with_writer(|writer| snapshots.describe(result, writer)) {
            Ok(list) => list,
            Err(error) => return self.give_back(Reason::Unsendable, None, &error.to_string()),
        };
        self.reply_written(result, |replier, segments| {
            let (segments, word) = with_list(segments, &list, max_bytes);
            replier.reply_segments(word, &segments);
        });
    }

    /// Answers with an object.
    pub fn reply_object<R: Transportable>(self, object: &R) {
        self.reply_written(object, |replier, segments| {
            replier.reply_segments(0, segments);
        });
    }

    /// Writes the object of an answer, which `send` sends.
    fn reply_written<R: Transportable>(self, object: &R, send: impl FnOnce(Self, &[IoSlice<'_>])) {
        if self.number.asked().is_none() {
            return self.reply(0, &[]);
        }
        let link = self.link.clone();
        let mut replier = Some(self);
        let written = link.endpoint().shared().with_writer(|writer| {
            writer.gather(object, |segments| {
                if let Some(replier) = replier.take() {
                    send(replier, segments);
                }
            })
        });
        if let (Some(replier), Err(error)) = (replier, written) {
            replier.give_back(Reason::Unsendable, None, &error.to_string());
        }
    }

    /// Returns the request to its sender as refused, with a reason in words and without the
    /// payload.
    pub fn refuse(self, explanation: &str) {
        self.give_back(Reason::Refused, None, explanation);
    }

    pub(super) fn give_back(
        mut self,
        reason: Reason,
        payload: Option<MessageBuffer>,
        explanation: &str,
    ) {
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
            explanation,
        );
    }

    /// Sends the reason alone for an answer that the peer does not accept.
    #[cold]
    fn unsent(&self, explanation: &str, credit: Credit) {
        let back = (self.number, self.handler, self.word);
        self.link
            .give_back(back, credit, Reason::Unsendable, &[], explanation);
    }

    /// Returns a request that was dropped without an answer.
    #[cold]
    fn give_up(&self) {
        let reason = reason();
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
