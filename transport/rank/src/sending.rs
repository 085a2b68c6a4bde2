//! Sending of messages to another rank, over a connection or within the process.

use std::io::IoSlice;
use std::sync::Arc;

use jstream::Transportable;
use jstream::buffer::{MessageBuffer, Pool};

use super::error::Error;
use super::inbox::Inbox;
use super::layout::runs::Runs;
use super::lent_memory::{AbortOnUnwind, body_of, message_of, segment_of};
use super::line::Line;
use super::local::{Left, Near, PostOutcome};
use super::matching::SMALL;
use super::node::{Link, Node};
use super::outbound::{announcement, outbound};
use super::outcome::{payload_of, unsendable};
use super::transfer::letter::{Letter, Sender};
use super::transfer::offers::SendMode;
use super::wire::{Frame, Label};
use jstream_base::SendError;
use jstream_device::connection::{Body, Payload};
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::{Notify, OpId};
use jstream_endpoint::shared::Patience;
use jstream_matching::Heading;

impl Node {
    /// Creates a request of a message for the thread `to`.
    fn sender(&self, context: u32, to: u32) -> Result<(OpId, Sender), Error> {
        let request = self.inbox.lock().insert_send(context, to)?;
        Ok((request, Sender::new(self.inbox.clone(), request, to)))
    }

    /// Posts a message to a thread. The payload is moved.
    pub(super) fn post_to_thread(
        &self,
        to: u32,
        near: &Near,
        heading: Heading,
        mut payload: Payload,
        mode: SendMode,
    ) -> PostOutcome {
        let context = heading.envelope.context;
        if let Err(error) = self.check(context) {
            return PostOutcome::Refused(error, Some(payload));
        }
        // The sender of a message that the receiver may refuse has to learn it.
        let is_confirmed = mode.is_confirmed() || heading.length > near.max_allocated;
        if !is_confirmed {
            payload = match near.try_bring(heading, payload) {
                Ok(()) => return PostOutcome::Done,
                Err((Some(error), payload)) => return PostOutcome::Refused(error, Some(payload)),
                Err((None, payload)) => payload,
            };
        }
        // The request exists before its letter is delivered, because the receiver may end it at
        // once.
        let (request, sender) = match self.sender(context, to) {
            Ok(request) => request,
            Err(error) => return PostOutcome::Refused(error, Some(payload)),
        };
        // A long message without room stays with its sender until a receive has it, as over a
        // connection. It uses no room, so that a probe finds it however long it is.
        let is_long = heading.length > self.inbox.eager_between_threads;
        let (heading, letter) = match (is_long, is_confirmed) {
            (true, _) => (heading.announced(), Letter::confirmed(payload, sender)),
            (false, true) => (heading, Letter::confirmed(payload, sender)),
            (false, false) => (heading, Letter::stalled(payload, sender)),
        };
        // The letter notifies the sender, also if it is returned and dropped.
        drop(near.inbox.bring_letter(heading, letter));
        // The communicator may have been revoked between the check above and the entry of the
        // request. Ending its operations would have missed this one.
        self.end_if_revoked(request, context);
        PostOutcome::Pending(request)
    }

    /// Sends short bytes, if there is room for them. Returns `None` if the call would have to wait;
    /// nothing was sent then.
    #[inline]
    pub(super) fn try_send(
        &self,
        to: u32,
        label: Label,
        bytes: &[u8],
    ) -> Option<Result<(), Error>> {
        let link = self.check(label.context).and_then(|()| self.link(to));
        match link {
            Ok(link) => self.send_eagerly(link, to, label, bytes, Patience::None),
            Err(error) => Some(Err(error)),
        }
    }

    /// Sends bytes without a request. Returns `None` if they are too long, or if the call would
    /// have to wait longer than `patience`; nothing was sent then.
    #[inline]
    fn send_eagerly(
        &self,
        link: Link<'_>,
        to: u32,
        label: Label,
        bytes: &[u8],
        patience: Patience,
    ) -> Option<Result<(), Error>> {
        let length = bytes.len() as u64;
        match link {
            Link::Line(line) if line.is_gone() => Some(Err(self.lost(to))),
            Link::Line(line) => {
                // Without patience, the rest that the device does not take at once would be copied.
                // A posted message is sent from the memory of the caller.
                let is_short = bytes.len() <= SMALL || !matches!(patience, Patience::None);
                if length > line.eager || !is_short {
                    return None;
                }
                let header = Frame::Eager { label }.header();
                let (segments, cost) = ([IoSlice::new(bytes)], Credit::of_message(length));
                let shared = line.endpoint.shared();
                match shared.send_segments(header, &segments, patience, cost) {
                    Ok(()) => Some(Ok(())),
                    Err(SendError::WouldBlock) => None,
                    Err(error) => Some(Err(unsendable(to, error))),
                }
            }
            Link::Thread(near) if length <= self.inbox.eager_between_threads => {
                let heading = label.heading(self.inbox.rank, length);
                match near.leave_copy(heading, bytes) {
                    Left::Done => Some(Ok(())),
                    Left::Refused(error) => Some(Err(error)),
                    Left::NoRoom => None,
                }
            }
            Link::Thread(_) => None,
        }
    }

    /// Sends bytes and blocks until the send ends.
    #[inline]
    pub(super) fn send_bytes(
        &self,
        to: u32,
        label: Label,
        bytes: &[u8],
        mode: SendMode,
    ) -> Result<(), Error> {
        self.check(label.context)?;
        let link = self.link(to)?;
        if !mode.is_confirmed() {
            // With one connection, this thread drives all that there is while it blocks in the
            // endpoint. With several, the others would stand still.
            let patience = match link {
                Link::Line(line) if !self.has_many_lines() => line.endpoint.patience(),
                Link::Line(_) | Link::Thread(_) => Patience::None,
            };
            if let Some(sent) = self.send_eagerly(link, to, label, bytes, patience) {
                return sent;
            }
        }
        match link {
            Link::Line(line) => self.send_bytes_posted(to, line, label, bytes, mode),
            Link::Thread(near) => {
                let heading = label.heading(self.inbox.rank, bytes.len() as u64);
                self.send_bytes_waiting(to, &near.inbox, heading, bytes, mode)
            }
        }
    }

    /// Returns the error of a send to a rank that is gone.
    #[cold]
    fn lost(&self, to: u32) -> Error {
        let gone = self.inbox.lock().peers.gone(to);
        gone.unwrap_or(Error::NoRank {
            rank: to,
            size: self.inbox.size,
        })
    }

    /// Sends to a thread that copies the bytes from the memory of the sender, or that has no room
    /// for them yet.
    #[cold]
    fn send_bytes_waiting(
        &self,
        to: u32,
        inbox: &Arc<Inbox>,
        heading: Heading,
        bytes: &[u8],
        mode: SendMode,
    ) -> Result<(), Error> {
        let is_long = bytes.len() as u64 > self.inbox.eager_between_threads;
        let copy = if is_long {
            None
        } else {
            // From the pool of the receiver, in which the message stays.
            let empty = inbox.pool().take(bytes.len()).ok();
            empty.and_then(|empty| empty.copy_from(bytes).ok())
        };
        if let Some(copy) = copy {
            let context = heading.envelope.context;
            let (request, sender) = self.sender(context, to)?;
            let payload = Payload::Bytes(copy);
            let letter = if mode.is_confirmed() {
                Letter::confirmed(payload, sender)
            } else {
                Letter::stalled(payload, sender)
            };
            // The letter notifies the sender, also if it is returned and dropped.
            drop(inbox.bring_letter(heading, letter));
            self.end_if_revoked(request, context);
            return self.outcome(request).result.map(drop);
        }
        self.send_lent_message(bytes, |bytes| self.lend(to, inbox, heading, bytes, None))
    }

    /// Lends a message to a thread, or the selected parts of it, and returns the request.
    pub(super) fn lend(
        &self,
        to: u32,
        inbox: &Inbox,
        heading: Heading,
        bytes: MessageBuffer,
        gather: Option<Box<Runs>>,
    ) -> Result<OpId, Error> {
        let context = heading.envelope.context;
        let (request, sender) = self.sender(context, to)?;
        let letter = Letter::lent(bytes, gather, sender);
        // If the other rank has ended, dropping the letter notifies the sender.
        drop(inbox.bring_letter(heading.announced(), letter));
        self.end_if_revoked(request, context);
        Ok(request)
    }

    /// Sends over a connection and drives all other connections meanwhile, because the receiver may
    /// depend on them.
    #[cold]
    fn send_bytes_posted(
        &self,
        to: u32,
        line: &Line,
        label: Label,
        bytes: &[u8],
        mode: SendMode,
    ) -> Result<(), Error> {
        let length = bytes.len() as u64;
        self.send_lent(bytes, |body| {
            match self.post_to_line(to, line, label, body, length, mode) {
                PostOutcome::Pending(id) => Ok(Some(id)),
                PostOutcome::Done | PostOutcome::Gone(_) => Ok(None),
                PostOutcome::Refused(error, _) => Err(error),
            }
        })
    }

    /// Posts a message in a jbuf.
    pub(super) fn post_buffer(
        &self,
        to: u32,
        label: Label,
        filled: MessageBuffer,
        mode: SendMode,
    ) -> PostOutcome {
        let length = filled.len() as u64;
        if let Err(error) = self.check(label.context) {
            return PostOutcome::Refused(error, Some(Payload::Bytes(filled)));
        }
        match self.link(to) {
            Ok(Link::Thread(near)) => {
                let heading = label.heading(self.inbox.rank, length);
                self.post_to_thread(to, near, heading, Payload::Bytes(filled), mode)
            }
            Ok(Link::Line(line)) => {
                let moves = line.endpoint.shared().info().limits.moves;
                let is_short = filled.len() <= SMALL && length <= line.eager;
                // A short message is copied by the device at once, and its buffer returns without a
                // request.
                if is_short && !mode.is_confirmed() && !moves && !line.is_gone() {
                    let header = Frame::Eager { label }.header();
                    let segments = [IoSlice::new(filled.as_bytes())];
                    let endpoint = &line.endpoint;
                    let cost = Credit::of_message(length);
                    // If this fails, the message is posted below, which reports the error or waits
                    // for room.
                    let sent =
                        endpoint
                            .shared()
                            .send_segments(header, &segments, Patience::None, cost);
                    if sent.is_ok() {
                        return PostOutcome::Gone(filled.into_empty());
                    }
                }
                self.post_to_line(to, line, label, Body::Owned(filled), length, mode)
            }
            Err(error) => PostOutcome::Refused(error, Some(Payload::Bytes(filled))),
        }
    }

    /// Posts bytes that are lent until the request has ended, either as a `body` or as a `message`.
    pub(super) fn post_lent(
        &self,
        to: u32,
        label: Label,
        bytes: &[u8],
        body: Body<'static>,
        message: impl FnOnce() -> MessageBuffer,
        mode: SendMode,
    ) -> PostOutcome {
        let length = bytes.len() as u64;
        if let Err(error) = self.check(label.context) {
            return PostOutcome::Refused(error, None);
        }
        match self.link(to) {
            Ok(Link::Thread(near)) => {
                let heading = label.heading(self.inbox.rank, length);
                if !mode.is_confirmed() && length <= self.inbox.eager_between_threads {
                    match near.leave_copy(heading, bytes) {
                        Left::Done => return PostOutcome::Done,
                        Left::Refused(error) => return PostOutcome::Refused(error, None),
                        Left::NoRoom => {}
                    }
                }
                match self.lend(to, &near.inbox, heading, message(), None) {
                    Ok(request) => PostOutcome::Pending(request),
                    Err(error) => PostOutcome::Refused(error, None),
                }
            }
            Ok(Link::Line(line)) => self.post_to_line(to, line, label, body, length, mode),
            Err(error) => PostOutcome::Refused(error, None),
        }
    }

    pub(super) fn post_to_line(
        &self,
        to: u32,
        line: &Line,
        label: Label,
        body: Body<'static>,
        length: u64,
        mode: SendMode,
    ) -> PostOutcome {
        if line.is_gone() {
            return PostOutcome::Refused(self.lost(to), payload_of(body));
        }
        let limits = &line.endpoint.shared().info().limits;
        // A device can move only buffers that it may own.
        let moves = limits.moves && !matches!(body, Body::Borrowed(_));
        let is_long = length > if moves { line.max_moved } else { line.eager };
        if mode.is_confirmed() || is_long {
            let body = match body {
                // The message may be confirmed before all of it was sent, so its bytes are copied.
                Body::Borrowed(bytes) if !is_long => {
                    Body::Owned(line.endpoint.shared().gather(bytes))
                }
                body => body,
            };
            self.post_offered(to, line, label, body, length, (mode, is_long))
        } else {
            // The request exists before the message is posted, because the device may report at
            // once that it was sent.
            let inserted = self.inbox.lock().insert_send(label.context, to);
            let request = match inserted {
                Ok(request) => request,
                Err(error) => return PostOutcome::Refused(error, payload_of(body)),
            };
            let frame = Frame::Eager { label };
            let shared = line.endpoint.shared();
            let (mut message, refused) = shared.outbound(frame.header(), Some(length), body);
            message.is_exchange = mode == SendMode::Exchange;
            let notify = Notify::Sink(line.whole.clone(), request.number());
            shared.post_with_credit(message, refused, notify, Credit::of_message(length));
            // As in `post_to_thread`.
            self.end_if_revoked(request, label.context);
            PostOutcome::Pending(request)
        }
    }

    fn post_offered(
        &self,
        to: u32,
        line: &Line,
        label: Label,
        body: Body<'static>,
        length: u64,
        (mode, is_long): (SendMode, bool),
    ) -> PostOutcome {
        let shared = line.endpoint.shared();
        let (offered, first) = if is_long {
            (Some(body), None)
        } else {
            (None, Some(body))
        };
        let is_exchange = mode == SendMode::Exchange;
        // The offer exists before its frame is posted, because the peer may answer at once.
        let posted = {
            let mut state = self.inbox.lock();
            state.offer(to, label.context, offered, length, is_exchange)
        };
        let (request, offer) = match posted {
            Ok(posted) => posted,
            Err((error, offered)) => {
                let body = offered.or(first);
                return PostOutcome::Refused(error, body.and_then(payload_of));
            }
        };
        let (message, held) = match first {
            None => {
                let pool = &shared.info().pool;
                (announcement(label, offer, length, pool), 0)
            }
            Some(body) => {
                let frame = Frame::EagerConfirmed { label, offer };
                (outbound(frame, length, body), length)
            }
        };
        let notify = Notify::Sink(line.offers.clone(), request.number());
        shared.post_with_credit(message, None, notify, Credit::of_message(held));
        // As in `post_to_thread`.
        self.end_if_revoked(request, label.context);
        PostOutcome::Pending(request)
    }

    /// Returns the pool for messages to a rank.
    pub(super) fn pool_for(&self, to: u32) -> Result<&Pool, Error> {
        Ok(match self.link(to)? {
            Link::Line(line) => &line.endpoint.shared().info().pool,
            Link::Thread(near) => near.inbox.pool(),
        })
    }

    /// Writes an object into a jbuf of `pool`.
    pub(super) fn write_object<T: Transportable>(
        &self,
        object: &T,
        pool: &Pool,
    ) -> Result<MessageBuffer, Error> {
        let written = self.codecs.writers.with(|writer| {
            writer.set_limits(self.inbox.options.object_limits);
            writer.write_to(object, pool)
        });
        written.map_err(Error::Write)
    }

    pub(super) fn post_object(
        &self,
        to: u32,
        label: Label,
        object: Payload,
    ) -> Result<PostOutcome, Error> {
        let length = match &object {
            Payload::Object(object) => object.capacity() as u64,
            Payload::Bytes(filled) => filled.len() as u64,
        };
        match self.link(to)? {
            // The message of an object may be shorter than its buffer, so an object in a buffer
            // beyond the limit is converted.
            Link::Thread(near) if length <= near.max_allocated => {
                let heading = label.heading(self.inbox.rank, length);
                Ok(self.post_to_thread(to, near, heading, object, SendMode::Standard))
            }
            Link::Thread(_) | Link::Line(_) => {
                let filled = self.bytes_of(object)?;
                Ok(self.post_buffer(to, label, filled, SendMode::Standard))
            }
        }
    }

    /// Sends bytes of the caller, and blocks until they have been sent. `post` sends them
    /// immediately or returns a request.
    pub(super) fn send_lent(
        &self,
        bytes: &[u8],
        post: impl FnOnce(Body<'static>) -> Result<Option<OpId>, Error>,
    ) -> Result<(), Error> {
        let guard = AbortOnUnwind;
        // SAFETY: this function waits until the request has ended, and does not unwind, because of
        // the guard.
        let segments = [unsafe { segment_of(bytes) }];
        // SAFETY: as above; `segments` lives until the request has ended.
        let body = unsafe { body_of(&segments) };
        let result = match post(body) {
            Ok(Some(id)) => self.outcome(id).result.map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        std::mem::forget(guard);
        result
    }

    /// Like [`send_lent`](Self::send_lent), for a request that takes the bytes as a message.
    pub(super) fn send_lent_message(
        &self,
        bytes: &[u8],
        offer: impl FnOnce(MessageBuffer) -> Result<OpId, Error>,
    ) -> Result<(), Error> {
        let guard = AbortOnUnwind;
        // SAFETY: this function waits until the request has ended, and the message is dropped
        // before that. It does not unwind, because of the guard.
        let filled = unsafe { message_of(bytes) };
        let result = offer(filled).and_then(|id| self.outcome(id).result);
        std::mem::forget(guard);
        result.map(drop)
    }
}
