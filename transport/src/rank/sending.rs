//! Messages on their way to another rank, whichever way leads there.

use std::io::IoSlice;
use std::sync::Arc;

use jstream::buffer::{Filled, Spent};

use super::error::Error;
use super::inbox::{Inbox, State};
use super::letter::{Ack, Letter, Offer};
use super::line::{Line, outbound, unsendable};
use super::local::{Left, Posted};
use super::node::{Link, Node};
use super::request::{Request, Sending, payload_of};
use super::wire::{ANNOUNCEMENT, Frame, Label};
use crate::device::connection::{Body, Payload};
use crate::endpoint::ops::{Notify, OpId};
use crate::matching::Heading;

impl Node {
    /// Sends bytes, and waits until they are on their way, or until they are matched if that is to be
    /// `confirmed`.
    #[inline]
    pub(super) fn send_bytes(
        &self,
        to: u32,
        label: Label,
        bytes: &[u8],
        confirmed: bool,
    ) -> Result<(), Error> {
        match self.link(to)? {
            Link::Line(line) if line.is_gone() => Err(self.lost(to)),
            Link::Line(line) if !confirmed && bytes.len() as u64 <= line.eager => {
                let header = Frame::Eager { label, offer: None }.header();
                let endpoint = &line.endpoint;
                endpoint
                    .send_segments(header, &[IoSlice::new(bytes)], endpoint.patience())
                    .map_err(|error| unsendable(to, error))
            }
            Link::Line(line) => self.send_bytes_offered(to, line, label, bytes),
            Link::Thread(inbox) => {
                let heading = label.heading(self.inbox.rank, bytes.len() as u64);
                let is_long = bytes.len() as u64 > self.inbox.options.eager_between_threads();
                if !confirmed && !is_long {
                    match inbox.leave_copy(heading, bytes) {
                        Left::Done => return Ok(()),
                        Left::Refused(error) => return Err(error),
                        Left::NoRoom => {}
                    }
                }
                self.send_bytes_waiting(to, inbox, heading, bytes, confirmed, is_long)
            }
            Link::Nobody => Ok(()),
        }
    }

    /// Why nothing is sent to a rank that has gone.
    #[cold]
    fn lost(&self, to: u32) -> Error {
        let gone = self.inbox.lock().gone(to);
        gone.unwrap_or(Error::NoRank {
            rank: to,
            size: self.inbox.size,
        })
    }

    /// To a thread that takes the bytes from where they are, or has no room for them.
    #[cold]
    fn send_bytes_waiting(
        &self,
        to: u32,
        inbox: &Arc<Inbox>,
        heading: Heading,
        bytes: &[u8],
        confirmed: bool,
        is_long: bool,
    ) -> Result<(), Error> {
        let copy = if is_long {
            None
        } else {
            let spent = inbox.pool().take(bytes.len()).ok();
            spent.and_then(|spent| spent.copy_from(bytes).ok())
        };
        if let Some(copy) = copy {
            let (request, sender) = self.sender(to);
            let ack = if confirmed {
                Ack::Thread(sender)
            } else {
                Ack::Admitted(sender)
            };
            let payload = Payload::Bytes(copy);
            // The sender is told by the letter, also when it comes back.
            drop(inbox.bring_letter(heading, Letter::Here { payload, ack }));
            return self.outcome(request).result.map(drop);
        }
        self.send_lent_message(bytes, |bytes| {
            let (request, sender) = self.sender(to);
            let letter = Letter::Lent { bytes, sender };
            drop(inbox.bring_letter(heading.announced(), letter));
            request
        })
    }

    /// Over a connection, to be wanted or confirmed by the other side.
    #[cold]
    fn send_bytes_offered(
        &self,
        to: u32,
        line: &Line,
        label: Label,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let length = bytes.len() as u64;
        let is_long = length > line.eager;
        self.send_lent(bytes, |body| {
            let offered = self.offer(to, line, is_long.then_some(body), length);
            let (request, offer) = offered.map_err(|(error, _)| error)?;
            let (frame, payload) = if is_long {
                (Frame::Announced { label, offer }, &length.to_le_bytes()[..])
            } else {
                let offer = Some(offer);
                (Frame::Eager { label, offer }, bytes)
            };
            let endpoint = &line.endpoint;
            let segments = [IoSlice::new(payload)];
            let sent = endpoint.send_segments(frame.header(), &segments, endpoint.patience());
            match sent {
                Ok(()) => Ok(request),
                Err(error) => match self.retract(to, offer, request) {
                    true => Err(unsendable(to, error)),
                    // It has ended by itself.
                    false => Ok(request),
                },
            }
        })
    }

    /// A request of a message that the other rank answers, and its number there. If there is none, the body
    /// comes back.
    #[allow(clippy::type_complexity, reason = "an error, and what is left")]
    fn offer(
        &self,
        to: u32,
        line: &Line,
        body: Option<Body<'static>>,
        length: u64,
    ) -> Result<(OpId, u32), (Error, Option<Body<'static>>)> {
        let max = line.endpoint.limits().max_send;
        if length > max {
            let rank = to;
            return Err((Error::TooLong { length, max, rank }, body));
        }
        let mut state = self.inbox.lock();
        let State {
            requests, peers, ..
        } = &mut *state;
        let Some(peer) = peers.get_mut(to as usize) else {
            let (rank, size) = (to, self.inbox.size);
            return Err((Error::NoRank { rank, size }, body));
        };
        if let Some(why) = peer.gone.clone() {
            return Err((Error::PeerGone { rank: to, why }, body));
        }
        let request = requests.insert(Request::send(to));
        let number = peer.offers.insert(Offer {
            request,
            body,
            length,
        });
        if let Some(request) = requests.get_mut(request) {
            request.sends = Some(Sending {
                to,
                offer: Some(number),
            });
        }
        Ok((request, number))
    }

    /// Takes back an offer that was not sent. False when it has ended meanwhile.
    fn retract(&self, to: u32, offer: u32, request: OpId) -> bool {
        let mut state = self.inbox.lock();
        let offer = state.peer(to).and_then(|peer| peer.offers.remove(offer));
        let is_there = offer.is_some();
        if is_there {
            state.requests.remove(request);
        }
        drop(state);
        is_there
    }

    /// Posts a message that stands in a jbuf.
    pub(super) fn post_filled(
        &self,
        to: u32,
        label: Label,
        filled: Filled,
        confirmed: bool,
    ) -> Posted {
        let length = filled.len() as u64;
        match self.link(to) {
            Ok(Link::Thread(inbox)) => {
                let heading = label.heading(self.inbox.rank, length);
                self.post_to_thread(to, inbox, heading, Payload::Bytes(filled), confirmed)
            }
            Ok(Link::Line(line)) => {
                self.post_to_line(to, line, label, Body::Owned(filled), length, confirmed)
            }
            Ok(Link::Nobody) => Posted::Done,
            Err(error) => Posted::Refused(error, Some(Payload::Bytes(filled))),
        }
    }

    /// Posts bytes that are lent until the request has ended: as a `body`, or as a `message`.
    pub(super) fn post_lent(
        &self,
        to: u32,
        label: Label,
        bytes: &[u8],
        body: Body<'static>,
        message: impl FnOnce() -> Filled,
        confirmed: bool,
    ) -> Posted {
        let length = bytes.len() as u64;
        match self.link(to) {
            Ok(Link::Thread(inbox)) => {
                let heading = label.heading(self.inbox.rank, length);
                if !confirmed && length <= self.inbox.options.eager_between_threads() {
                    match inbox.leave_copy(heading, bytes) {
                        Left::Done => return Posted::Done,
                        Left::Refused(error) => return Posted::Refused(error, None),
                        Left::NoRoom => {}
                    }
                }
                let (request, sender) = self.sender(to);
                let bytes = message();
                let letter = Letter::Lent { bytes, sender };
                drop(inbox.bring_letter(heading.announced(), letter));
                Posted::Pending(request)
            }
            Ok(Link::Line(line)) => self.post_to_line(to, line, label, body, length, confirmed),
            Ok(Link::Nobody) => Posted::Done,
            Err(error) => Posted::Refused(error, None),
        }
    }

    fn post_to_line(
        &self,
        to: u32,
        line: &Line,
        label: Label,
        body: Body<'static>,
        length: u64,
        confirmed: bool,
    ) -> Posted {
        if line.is_gone() {
            return Posted::Refused(self.lost(to), payload_of(body));
        }
        let moves = line.endpoint.limits().moves && !matches!(body, Body::Borrowed(_));
        let is_long = length > line.eager && !moves;
        if confirmed || is_long {
            self.post_offered(to, line, label, body, length, is_long)
        } else {
            let frame = Frame::Eager { label, offer: None };
            let shared = line.endpoint.shared();
            let (message, refused) = shared.outbound(frame.header(), Some(length), body);
            let request = self.inbox.lock().requests.insert(Request::send(to));
            let notify = Notify::Sink(line.whole.clone(), request.number());
            shared.post_send(message, refused, notify);
            Posted::Pending(request)
        }
    }

    fn post_offered(
        &self,
        to: u32,
        line: &Line,
        label: Label,
        body: Body<'static>,
        length: u64,
        is_long: bool,
    ) -> Posted {
        let shared = line.endpoint.shared();
        let (offered, first) = if is_long {
            (Some(body), Body::Owned(announcement(line, length)))
        } else {
            (None, body)
        };
        let (request, offer) = match self.offer(to, line, offered, length) {
            Ok(offered) => offered,
            Err((error, offered)) => {
                let body = offered.unwrap_or(first);
                return Posted::Refused(error, payload_of(body));
            }
        };
        let (frame, length) = if is_long {
            (Frame::Announced { label, offer }, ANNOUNCEMENT)
        } else {
            let offer = Some(offer);
            (Frame::Eager { label, offer }, length)
        };
        let message = outbound(frame, length, first);
        let notify = Notify::Sink(line.offers.clone(), request.number());
        shared.post_send(message, None, notify);
        Posted::Pending(request)
    }
}

/// What an announcement says, in a jbuf.
fn announcement(line: &Line, length: u64) -> Filled {
    let bytes = length.to_le_bytes();
    let spent = line.endpoint.shared().facts().pool.take(bytes.len());
    let spent = spent.unwrap_or_else(|_| Spent::heap(bytes.len()));
    match spent.copy_from(&bytes) {
        Ok(filled) => filled,
        Err(_) => unreachable!("the jbuf has room for a number"),
    }
}
