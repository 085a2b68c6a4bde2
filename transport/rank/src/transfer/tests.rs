//! Simulation of three ranks with random schedules. Ranks 0 and 1 have a connection, ranks 0 and 2
//! are threads of one process. The simulated connection keeps the order of its frames and nothing
//! else: payloads arrive late, and so do the reports that messages were sent.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;

use super::letter::{Letter, Sender};
use crate::credit::window;
use crate::error::{ElementName, Error};
use crate::inbox::Inbox;
use crate::local::{Left, Near};
use crate::names::Status;
use crate::options::Options;
use crate::outbound::{announcement, outbound, without_payload};
use crate::outcome::RequestOutcome;
use crate::request::ReceiveTarget;
use crate::state::RankState;
use crate::wire::{Frame, Label, VERSION};
use crate::work_queue::{DeferredTask, DeferredWork};
use jstream::buffer::{EmptyBuffer, MessageBuffer, Pool, PoolError};
use jstream_base::{Header, SendError};
use jstream_device::connection::{Body, Outbound, Payload};
use jstream_endpoint::gate::{Credit, Gate};
use jstream_endpoint::ops::OpId;
use jstream_endpoint::receiving::Choice;
use jstream_endpoint::sending::SendOutcome;
use jstream_matching::{Bounds, Claim, Pattern};

/// Length in bytes from which a message over the connection is announced.
const EAGER: usize = 300;
/// Length in bytes that the ranks allocate at most for a message.
const MAX_ALLOCATED: usize = 4096;
const CONTEXTS: u64 = 2;
const TAGS: u64 = 3;

fn bounds() -> Bounds {
    let mut bounds = Bounds::default();
    (bounds.messages, bounds.bytes) = (6, 4096);
    bounds
}

struct Random(u64);

impl Random {
    /// Returns a number below `end` (`SplitMix64`).
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The events that a schedule may have besides sends and receives.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    seed: u64,
    cancels: bool,
    /// Receives are cancelled even if they have an announced message, and sends are given up.
    abandons: bool,
    probes: bool,
    revokes: bool,
    loses: bool,
    lacks_room: bool,
    is_hostile: bool,
}

/// The request of a message on its way.
#[derive(Clone, Copy)]
enum Reported {
    Nowhere,
    Request(OpId),
    Offer(OpId),
}

struct Posted {
    message: Outbound<'static>,
    cost: Credit,
    reported: Reported,
}

/// One end of the connection: messages that wait for credit, messages whose outcome was not
/// reported, and messages on the wire to this end.
#[derive(Default)]
struct End {
    gate: Gate<()>,
    waiting: VecDeque<Posted>,
    unreported: VecDeque<(Body<'static>, Reported)>,
    wire: VecDeque<(Header, Vec<u8>)>,
    /// A payload that is arriving, with its destination.
    arriving: Option<(Choice, Vec<u8>)>,
    is_lost: bool,
}

struct Node {
    inbox: Arc<Inbox>,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Standard,
    Confirmed,
    Lent,
}

struct SentMessage {
    from: usize,
    to: usize,
    pattern: (u32, u64),
    bytes: Vec<u8>,
    mode: Mode,
    request: Option<OpId>,
    is_cancelled: bool,
    is_abandoned: bool,
    /// The end of the send.
    ended: Option<Result<(), Error>>,
    is_received: bool,
}

struct PostedReceive {
    at: usize,
    pattern: Pattern,
    request: OpId,
    capacity: Option<usize>,
    is_cancelled: bool,
    is_ended: bool,
    /// True if it has ended with a message, or because of one.
    has_message: bool,
}

struct Simulation {
    random: Random,
    schedule: Schedule,
    nodes: Vec<Node>,
    near: HashMap<(usize, usize), Near>,
    sent: Vec<SentMessage>,
    receives: Vec<PostedReceive>,
    /// The messages that programs have probed, with their patterns and the rank that has them.
    claims: Vec<(usize, Pattern, Claim)>,
    /// The last message that a receive of this pattern has got, with the number of the receive.
    order: HashMap<(usize, Pattern, usize), Vec<(usize, usize)>>,
    revoked: HashSet<u32>,
    is_lost: bool,
}

fn pool_error() -> PoolError {
    PoolError::System {
        wanted: 1,
        source: io::ErrorKind::OutOfMemory.into(),
    }
}

fn lost() -> SendError {
    SendError::Closed {
        peer: "tcp://127.0.0.1:1".parse().unwrap(),
    }
}

fn filled(bytes: &[u8]) -> MessageBuffer {
    EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap()
}

fn bytes_of(body: &Body<'_>) -> Vec<u8> {
    match body {
        Body::Owned(filled) => filled.as_bytes().to_vec(),
        Body::Borrowed(segments) => segments.iter().flat_map(|part| part.to_vec()).collect(),
        Body::Object(_) | Body::Taken => Vec::new(),
    }
}

impl Simulation {
    fn new(schedule: Schedule, pool: &Pool) -> Self {
        let mut options = Options::new(pool.clone());
        options.bounds = bounds();
        options.object_limits.bytes = MAX_ALLOCATED;
        options.eager = Some(EAGER as u64);
        let node = |rank| Node {
            inbox: Inbox::new(rank, 3, &options),
            end: End::default(),
        };
        let nodes: Vec<Node> = (0..3).map(node).collect();
        nodes[0].inbox.add_line(1);
        nodes[1].inbox.add_line(0);
        let near = [(0, 2), (2, 0)]
            .map(|(from, to): (usize, usize)| ((from, to), Near::new(nodes[to].inbox.clone())));
        let mut world = Self {
            random: Random(schedule.seed),
            schedule,
            nodes,
            near: near.into(),
            sent: Vec::new(),
            receives: Vec::new(),
            claims: Vec::new(),
            order: HashMap::new(),
            revoked: HashSet::new(),
            is_lost: false,
        };
        let Credit { messages, bytes } = window(bounds());
        for at in 0..2 {
            world.post_frame(
                at,
                Frame::Hello {
                    version: VERSION,
                    messages,
                    bytes,
                },
            );
        }
        world
    }

    /// Runs `work` on the state of a rank, and does the recorded work.
    fn with<R>(
        &mut self,
        at: usize,
        work: impl FnOnce(&mut RankState, &mut DeferredWork) -> R,
    ) -> R {
        let inbox = self.nodes[at].inbox.clone();
        let mut deferred = DeferredWork::default();
        let result = work(&mut inbox.lock(), &mut deferred);
        let mut frames = Vec::new();
        inbox.carry_out(deferred, |task| match task {
            DeferredTask::SendFrame { to, frame } => frames.push((to, frame)),
            _ => unreachable!("all other work is done by the inbox"),
        });
        for (to, frame) in frames {
            assert_eq!(to as usize, 1 - at, "only the connection has frames");
            self.post_frame(at, frame);
        }
        result
    }

    fn post_frame(&mut self, at: usize, frame: Frame) {
        self.post(
            at,
            Posted {
                message: without_payload(frame),
                cost: Credit::FREE,
                reported: Reported::Nowhere,
            },
        );
    }

    /// Posts a message to the connection, where it may have to wait for credit.
    fn post(&mut self, at: usize, posted: Posted) {
        let end = &mut self.nodes[at].end;
        if end.is_lost {
            return self.report(at, posted.message.body, posted.reported, Err(lost()));
        }
        let is_free = posted.cost == Credit::FREE;
        if is_free || (end.waiting.is_empty() && end.gate.charge(posted.cost)) {
            self.transmit(at, posted);
        } else {
            end.waiting.push_back(posted);
        }
    }

    fn transmit(&mut self, at: usize, posted: Posted) {
        let Posted {
            message, reported, ..
        } = posted;
        let bytes = bytes_of(&message.body);
        assert_eq!(
            bytes.len() as u64,
            message.header.length,
            "the length is true"
        );
        self.nodes[1 - at]
            .end
            .wire
            .push_back((message.header, bytes));
        self.nodes[at]
            .end
            .unreported
            .push_back((message.body, reported));
    }

    /// Sends messages that wait, as far as there is credit. Messages that lack credit for bytes may
    /// be announced instead.
    fn send_waiting(&mut self, at: usize) {
        while let Some(mut posted) = self.nodes[at].end.waiting.pop_front() {
            let is_charged = self.nodes[at].end.gate.charge(posted.cost);
            if !is_charged && posted.cost.bytes > 0 && self.random.chance(50) {
                let id = match posted.reported {
                    Reported::Nowhere => None,
                    Reported::Request(id) | Reported::Offer(id) => Some(id),
                };
                let message = &mut posted.message;
                let announced =
                    id.and_then(|id| self.with(at, |state, _| state.announce_instead(id, message)));
                if let (Some((label, offer)), Some(id)) = (announced, id) {
                    let pool = self.nodes[at].inbox.pool().clone();
                    *message = announcement(label, offer, message.header.length, &pool);
                    posted.reported = Reported::Offer(id);
                    posted.cost = Credit::of_message(0);
                }
                self.nodes[at].end.waiting.push_front(posted);
                continue;
            }
            if !is_charged {
                self.nodes[at].end.waiting.push_front(posted);
                return;
            }
            self.transmit(at, posted);
        }
    }

    fn report(
        &mut self,
        at: usize,
        body: Body<'static>,
        reported: Reported,
        result: Result<(), SendError>,
    ) {
        let sent = SendOutcome { result, body };
        self.with(at, |state, deferred| match reported {
            Reported::Nowhere => {}
            Reported::Request(id) => state.complete_sent(id, sent, deferred),
            Reported::Offer(id) => state.record_offer_sent(id, sent, deferred),
        });
    }

    fn report_next(&mut self, at: usize) {
        if let Some((body, reported)) = self.nodes[at].end.unreported.pop_front() {
            self.report(at, body, reported, Ok(()));
        }
    }

    /// Receives the next part of what is on the wire.
    fn receive(&mut self, at: usize) {
        let peer = u32::try_from(1 - at).unwrap();
        if let Some((choice, bytes)) = self.nodes[at].end.arriving.take() {
            let payload = match choice {
                Choice::Jbuf(empty) => empty.copy_from(&bytes).unwrap(),
                Choice::Discard => MessageBuffer::nothing(),
                _ => filled(&bytes),
            };
            return self.with(at, |state, deferred| {
                state.complete_payload(peer, Payload::Bytes(payload), deferred);
            });
        }
        let Some((header, bytes)) = self.nodes[at].end.wire.pop_front() else {
            return;
        };
        let has_no_room = self.schedule.lacks_room && self.random.chance(20);
        let frame = Frame::parse(&header).unwrap();
        let length = header.length;
        let chosen = match frame {
            Frame::Data { want } => self.with(at, |state, deferred| {
                let choice = state.begin_payload(peer, want, length, deferred)?;
                if has_no_room && matches!(choice, Choice::Pool) {
                    state.drop_payload(peer, length, pool_error(), deferred);
                    return Ok(Choice::Discard);
                }
                Ok(choice)
            }),
            Frame::Eager { label } => self.with(at, |state, deferred| {
                state.begin_message(peer, label, None, length, deferred)
            }),
            Frame::EagerConfirmed { label, offer } => self.with(at, |state, deferred| {
                state.begin_message(peer, label, Some(offer), length, deferred)
            }),
            Frame::Hello {
                messages, bytes, ..
            } => {
                let opened = self.nodes[at].end.gate.open(Credit { messages, bytes });
                assert_eq!(opened, Ok(()), "hello is sent once");
                return self.send_waiting(at);
            }
            Frame::Credit { messages, bytes } => {
                let gate = &mut self.nodes[at].end.gate;
                if gate.restore(Credit { messages, bytes }).is_err() {
                    return self.end_by_violation(super::Violation);
                }
                return self.send_waiting(at);
            }
            Frame::Revoked { context, rank } => {
                let known = self.with(at, |state, _| state.record_revocation(context, rank, peer));
                assert!(known);
                return self.end_revoked(at);
            }
            frame => {
                let handled = self.with(at, |state, deferred| {
                    state.handle_frame(peer, frame, &bytes, deferred)
                });
                match handled {
                    Ok(Some(requested)) => {
                        let (want, offer) = (requested.want, requested.offer);
                        let body = offer.body.unwrap();
                        let message = outbound(Frame::Data { want }, offer.length, body);
                        self.post(
                            at,
                            Posted {
                                message,
                                cost: Credit::FREE,
                                reported: Reported::Request(offer.request),
                            },
                        );
                    }
                    Ok(None) => {}
                    Err(violation) => self.end_by_violation(violation),
                }
                return;
            }
        };
        match chosen {
            Ok(choice) => self.nodes[at].end.arriving = Some((choice, bytes)),
            Err(violation) => self.end_by_violation(violation),
        }
    }

    fn end_by_violation(&mut self, violation: super::Violation) {
        assert!(self.schedule.is_hostile, "{violation:?} of a correct peer");
        self.lose();
    }

    /// Ends the operations of revoked communicators, as a node does.
    fn end_revoked(&mut self, at: usize) {
        let open = self.with(at, |state, _| state.contexts.take_open_revocations());
        for context in open {
            self.revoked.insert(context);
            if at < 2 {
                let rank = u32::try_from(at).unwrap();
                self.post_frame(at, Frame::Revoked { context, rank });
            }
            for to in [0, 2].into_iter().filter(|to| at != 1 && *to != at) {
                let rank = u32::try_from(at).unwrap();
                self.with(to, |state, _| state.record_revocation(context, rank, rank));
                self.end_revoked(to);
            }
            let sends = self.with(at, |state, deferred| state.end_context(context, deferred));
            sends.into_iter().for_each(|id| self.abandon_send(at, id));
        }
    }

    /// Cancels a message that waits for credit. Returns false if it does not.
    fn cancel_waiting(&mut self, at: usize, id: OpId) -> bool {
        let end = &mut self.nodes[at].end;
        let is_it = |posted: &Posted| matches!(posted.reported, Reported::Request(of) | Reported::Offer(of) if of == id);
        let Some(place) = end.waiting.iter().position(is_it) else {
            return false;
        };
        let posted = end.waiting.remove(place).unwrap();
        let cancelled = Err(SendError::Cancelled);
        self.report(at, posted.message.body, posted.reported, cancelled);
        true
    }

    fn take_back(&mut self, at: usize, id: OpId) {
        let sending = self.with(at, |state, _| state.requests.sending(id));
        let Some(sending) = sending.filter(|sending| sending.offer.is_none()) else {
            return;
        };
        if let Some(near) = self.near.get(&(at, sending.to as usize)) {
            near.inbox.withdraw(u32::try_from(at).unwrap(), id);
        }
    }

    fn cancel_send(&mut self, at: usize, id: OpId) {
        if !self.cancel_waiting(at, id) {
            self.with(at, |state, deferred| state.withdraw(id, deferred));
            self.take_back(at, id);
        }
    }

    fn abandon_send(&mut self, at: usize, id: OpId) {
        if let Some(sent) = self.send_of(at, id) {
            self.sent[sent].is_abandoned = true;
        }
        if !self.cancel_waiting(at, id) {
            self.with(at, |state, deferred| state.abandon_send(id, deferred));
            self.take_back(at, id);
        }
    }

    fn send_of(&self, at: usize, id: OpId) -> Option<usize> {
        let mut all = self.sent.iter();
        all.position(|sent| sent.from == at && sent.request == Some(id))
    }

    fn send(&mut self) {
        let (from, to) = [(0, 1), (1, 0), (0, 2), (2, 0)][self.random.index(4)];
        let (context, tag) = (
            u32::try_from(2 + self.random.below(CONTEXTS)).unwrap(),
            self.random.below(TAGS),
        );
        let length = match self.random.below(10) {
            0..5 => 8 + self.random.index(100),
            5..7 => 8 + self.random.index(1000),
            7..9 => EAGER + self.random.index(MAX_ALLOCATED - EAGER),
            _ => MAX_ALLOCATED + 1 + self.random.index(4000),
        };
        let number = self.sent.len();
        let mut bytes: Vec<u8> = (0..length)
            .map(|place| u8::try_from((place * 7 + number) % 251).unwrap())
            .collect();
        bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let mode = [Mode::Standard, Mode::Confirmed, Mode::Lent][self.random.index(3)];
        self.sent.push(SentMessage {
            from,
            to,
            pattern: (context, tag),
            bytes: bytes.clone(),
            mode,
            request: None,
            is_cancelled: false,
            is_abandoned: false,
            ended: None,
            is_received: false,
        });
        let label = Label {
            context,
            tag,
            descriptor: 0,
        };
        let peer = u32::try_from(to).unwrap();
        let request = if self.near.contains_key(&(from, to)) {
            self.send_to_thread(from, to, label, &bytes, mode)
        } else {
            self.send_over_line(from, peer, label, &bytes, mode)
        };
        match request {
            Ok(request) => self.sent[number].request = request,
            Err(error) => self.sent[number].ended = Some(Err(error)),
        }
        if self.sent[number].request.is_none() && self.sent[number].ended.is_none() {
            self.sent[number].ended = Some(Ok(()));
        }
    }

    fn send_over_line(
        &mut self,
        from: usize,
        to: u32,
        label: Label,
        bytes: &[u8],
        mode: Mode,
    ) -> Result<Option<OpId>, Error> {
        let (length, body) = (bytes.len() as u64, Body::Owned(filled(bytes)));
        let is_long = bytes.len() > EAGER;
        if is_long || mode == Mode::Confirmed {
            let (offered, first) = if is_long {
                (Some(body), None)
            } else {
                (None, Some(body))
            };
            let offered = self.with(from, |state, _| {
                state.offer(to, label.context, offered, length, false)
            });
            let (id, offer) = offered.map_err(|(error, _)| error)?;
            let (message, held) = match first {
                None => {
                    let pool = self.nodes[from].inbox.pool().clone();
                    (announcement(label, offer, length, &pool), 0)
                }
                Some(body) => {
                    let frame = Frame::EagerConfirmed { label, offer };
                    (outbound(frame, length, body), length)
                }
            };
            self.post(
                from,
                Posted {
                    message,
                    cost: Credit::of_message(held),
                    reported: Reported::Offer(id),
                },
            );
            return Ok(Some(id));
        }
        let inserted = self.with(from, |state, _| match state.peers.gone(to) {
            Some(error) => Err(error),
            None => state.insert_send(label.context, to),
        });
        let id = inserted?;
        self.post(
            from,
            Posted {
                message: outbound(Frame::Eager { label }, length, body),
                cost: Credit::of_message(length),
                reported: Reported::Request(id),
            },
        );
        Ok(Some(id))
    }

    fn send_to_thread(
        &mut self,
        from: usize,
        to: usize,
        label: Label,
        bytes: &[u8],
        mode: Mode,
    ) -> Result<Option<OpId>, Error> {
        let context = label.context;
        self.with(from, |state, _| match state.contexts.revocation(context) {
            Some(error) => Err(error),
            None => Ok(()),
        })?;
        let near = &self.near[&(from, to)];
        let own = u32::try_from(from).unwrap();
        let heading = label.heading(own, bytes.len() as u64);
        let is_long = bytes.len() > EAGER;
        if mode == Mode::Standard && !is_long {
            match near.leave_copy(heading, bytes) {
                Left::Done => return Ok(None),
                Left::Refused(error) => return Err(error),
                Left::NoRoom => {}
            }
        }
        let inbox = self.nodes[from].inbox.clone();
        let request = inbox
            .lock()
            .insert_send(context, u32::try_from(to).unwrap())?;
        let sender = Sender::new(inbox, request, u32::try_from(to).unwrap());
        let (heading, letter) = match (mode, is_long) {
            (Mode::Lent, _) => (
                heading.announced(),
                Letter::lent(filled(bytes), None, sender),
            ),
            (_, true) => {
                let payload = Payload::Bytes(filled(bytes));
                (heading.announced(), Letter::confirmed(payload, sender))
            }
            (Mode::Confirmed, false) => {
                let payload = Payload::Bytes(filled(bytes));
                (heading, Letter::confirmed(payload, sender))
            }
            (Mode::Standard, false) => {
                let payload = Payload::Bytes(filled(bytes));
                (heading, Letter::stalled(payload, sender))
            }
        };
        drop(near.inbox.bring_letter(heading, letter));
        Ok(Some(request))
    }

    fn post_receive(&mut self) {
        let at = self.random.index(3);
        let mut pattern = Pattern::any(u32::try_from(2 + self.random.below(CONTEXTS)).unwrap());
        if self.random.chance(70) {
            pattern.tag = Some(self.random.below(TAGS));
        }
        if self.random.chance(70) {
            let source = match at {
                0 => [1, 2][self.random.index(2)],
                _ => 0,
            };
            pattern.source = Some(source);
        }
        let (target, capacity) = match self.random.below(4) {
            0 => (ReceiveTarget::Pool, None),
            choice => {
                let capacity = match self.random.below(8) {
                    0 => self.random.index(EAGER),
                    _ => 2 * MAX_ALLOCATED + 2,
                };
                let empty = EmptyBuffer::heap(capacity);
                let target = match choice {
                    1 => ReceiveTarget::Jbuf(empty),
                    _ => ReceiveTarget::Memory(empty),
                };
                (target, Some(capacity))
            }
        };
        self.post_receive_of(at, pattern, target, capacity);
    }

    fn post_receive_of(
        &mut self,
        at: usize,
        pattern: Pattern,
        target: ReceiveTarget,
        capacity: Option<usize>,
    ) -> usize {
        let request = self.with(at, |state, deferred| {
            state.drain_queues(deferred);
            state.post(pattern, target, ElementName::BYTES, deferred)
        });
        self.add_receive(at, pattern, request, capacity)
    }

    fn add_receive(
        &mut self,
        at: usize,
        pattern: Pattern,
        request: OpId,
        capacity: Option<usize>,
    ) -> usize {
        self.receives.push(PostedReceive {
            at,
            pattern,
            request,
            capacity,
            is_cancelled: false,
            is_ended: false,
            has_message: false,
        });
        self.receives.len() - 1
    }

    /// Claims a message, as a probe does.
    fn probe(&mut self) {
        let at = self.random.index(3);
        let pattern = Pattern::any(u32::try_from(2 + self.random.below(CONTEXTS)).unwrap());
        let claimed = self.with(at, |state, deferred| {
            state.drain_queues(deferred);
            state.claim(&pattern)
        });
        if let Some(Ok((_, claim))) = claimed {
            self.claims.push((at, pattern, claim));
        }
    }

    /// Receives a claimed message, or puts it back.
    fn use_some_claim(&mut self) {
        if self.claims.is_empty() {
            return;
        }
        let number = self.random.index(self.claims.len());
        let (at, pattern, claim) = self.claims.swap_remove(number);
        if self.random.chance(50) {
            return self.with(at, |state, deferred| state.restore(claim, deferred));
        }
        let capacity = 2 * MAX_ALLOCATED + 2;
        let target = ReceiveTarget::Memory(EmptyBuffer::heap(capacity));
        let request = self.with(at, |state, deferred| {
            state.post_claimed(claim, target, ElementName::BYTES, deferred)
        });
        self.add_receive(at, pattern, request, Some(capacity));
    }

    /// Breaks the connection. All messages of it that were not sent or received are lost.
    fn lose(&mut self) {
        if self.is_lost {
            return;
        }
        self.is_lost = true;
        for at in [0, 1] {
            let end = &mut self.nodes[at].end;
            end.is_lost = true;
            end.wire.clear();
            end.arriving = None;
            let waiting = std::mem::take(&mut end.waiting);
            let unreported = std::mem::take(&mut end.unreported);
            let is_receive_first = self.random.chance(50);
            let peer = u32::try_from(1 - at).unwrap();
            let lose = |world: &mut Self| {
                world.with(at, |state, deferred| {
                    state.lose(peer, &Arc::from("it is lost"), deferred);
                });
            };
            if is_receive_first {
                lose(self);
            }
            for (body, reported) in unreported {
                self.report(at, body, reported, Err(lost()));
            }
            for posted in waiting {
                self.report(at, posted.message.body, posted.reported, Err(lost()));
            }
            if !is_receive_first {
                lose(self);
            }
        }
    }

    /// Sends a frame with small numbers that rank 1 may not have been given.
    fn forge(&mut self) {
        let mut number = || u32::try_from(self.random.below(4)).unwrap();
        let (offer, want) = (number(), number());
        let label = Label {
            context: 2,
            tag: 0,
            descriptor: 0,
        };
        let (frame, length) = match self.random.below(10) {
            0 => (Frame::Wanted { offer, want }, 0),
            1 => (Frame::Data { want }, u64::from(offer) * 400),
            2 => (Frame::Matched { offer }, 0),
            3 => (Frame::Withdraw { offer }, 0),
            4 => (
                Frame::Withdrawn {
                    offer,
                    was_there: u64::from(want) % 2,
                },
                0,
            ),
            5 => (Frame::Absent { want }, 0),
            6 => (Frame::Refused { offer, max: 1 }, 0),
            7 => (Frame::EagerConfirmed { label, offer }, 16),
            _ => (Frame::Announced { label, offer }, 8),
        };
        let bytes = vec![0xff; usize::try_from(length).unwrap()];
        let header = frame.header().with_length(length);
        self.nodes[0].end.wire.push_back((header, bytes));
    }

    fn step(&mut self) {
        if self.schedule.probes && self.random.chance(30) {
            return match self.random.below(4) {
                0 => self.probe(),
                1 => self.use_some_claim(),
                2 => self.cancel_some_send(),
                _ => self.cancel_some_receive(),
            };
        }
        match self.random.below(100) {
            0..18 => self.send(),
            18..36 => self.post_receive(),
            36..50 => self.receive(0),
            50..64 => self.receive(1),
            64..74 => {
                let at = self.random.index(2);
                self.report_next(at);
            }
            74..80 => self.cancel_some_send(),
            80..86 => self.cancel_some_receive(),
            86..90 => {
                let at = [0, 2][self.random.index(2)];
                let inbox = self.nodes[at].inbox.clone();
                inbox.attend(&inbox.lock());
            }
            90..94 => {
                let at = [0, 2][self.random.index(2)];
                self.with(at, |state, deferred| state.drain_queues(deferred));
            }
            94 if self.schedule.revokes => {
                let at = self.random.index(3);
                let context = u32::try_from(2 + self.random.below(CONTEXTS)).unwrap();
                let rank = u32::try_from(at).unwrap();
                self.with(at, |state, _| state.record_revocation(context, rank, rank));
                self.end_revoked(at);
            }
            95 if self.schedule.loses && self.random.chance(10) => self.lose(),
            96..98 if self.schedule.is_hostile && !self.is_lost => self.forge(),
            _ => self.collect(),
        }
    }

    fn cancel_some_send(&mut self) {
        if self.sent.is_empty() || !self.schedule.cancels {
            return;
        }
        let number = self.random.index(self.sent.len());
        let gives_up = self.schedule.abandons && self.random.chance(50);
        let sent = &mut self.sent[number];
        let (Some(id), None) = (sent.request, &sent.ended) else {
            return;
        };
        let from = sent.from;
        if gives_up {
            self.abandon_send(from, id);
        } else {
            sent.is_cancelled = true;
            self.cancel_send(from, id);
        }
    }

    fn cancel_some_receive(&mut self) {
        if self.receives.is_empty() || !self.schedule.cancels {
            return;
        }
        let number = self.random.index(self.receives.len());
        let receive = &mut self.receives[number];
        if receive.is_ended {
            return;
        }
        let (at, id) = (receive.at, receive.request);
        receive.is_cancelled = true;
        let abandons = self.schedule.abandons;
        self.with(at, |state, deferred| {
            if abandons {
                state.abandon_receive(id, Error::Cancelled, deferred);
            } else {
                state.cancel_receive(id, Error::Cancelled, deferred);
            }
        });
    }

    /// Takes the outcomes of requests that have ended.
    fn collect(&mut self) {
        for number in 0..self.sent.len() {
            let (from, request) = (self.sent[number].from, self.sent[number].request);
            if let (Some(id), None) = (request, &self.sent[number].ended) {
                let taken = self.with(from, |state, _| state.requests.take_outcome(id));
                if let Some(outcome) = taken {
                    self.sent[number].ended = Some(outcome.result.map(drop));
                }
            }
        }
        for number in 0..self.receives.len() {
            let PostedReceive { at, request, .. } = self.receives[number];
            if !self.receives[number].is_ended {
                let taken = self.with(at, |state, _| state.requests.take_outcome(request));
                if let Some(outcome) = taken {
                    self.receives[number].is_ended = true;
                    self.check_receive(number, outcome);
                }
            }
        }
    }

    fn check_receive(&mut self, number: usize, outcome: RequestOutcome) {
        let seed = self.schedule;
        let receive = &mut self.receives[number];
        let (at, pattern, capacity) = (receive.at, receive.pattern, receive.capacity);
        receive.has_message = !matches!(
            outcome.result,
            Err(Error::Cancelled | Error::NobodyLeft | Error::Revoked { .. })
        );
        match outcome.result {
            Ok(status) => {
                let Some(Payload::Bytes(payload)) = outcome.payload else {
                    panic!("{seed:?}: a receive without its payload")
                };
                self.check_message(number, status, payload.as_bytes());
            }
            Err(Error::Cancelled) => assert!(receive.is_cancelled, "{seed:?}"),
            Err(Error::Truncated {
                length,
                capacity: reported,
                ..
            }) => {
                assert_eq!(
                    Some(reported),
                    capacity.map(|bytes| bytes as u64),
                    "{seed:?}"
                );
                assert!(length > reported, "{seed:?}");
            }
            Err(Error::OverLimit { length, max, .. }) => {
                assert!(capacity.is_none() && length > max, "{seed:?}");
            }
            Err(Error::PeerGone { rank, .. }) => {
                assert!(self.is_lost && rank as usize == 1 - at, "{seed:?}");
            }
            Err(Error::NobodyLeft) => assert!(self.is_lost && at == 1, "{seed:?}"),
            Err(Error::NoBuffer { .. }) => assert!(self.schedule.lacks_room, "{seed:?}"),
            Err(Error::Withdrawn { .. }) => {
                let is_given_up = self.schedule.abandons || self.schedule.revokes;
                assert!(is_given_up || self.schedule.is_hostile, "{seed:?}");
            }
            Err(Error::Revoked { context, .. }) => {
                assert!(self.revoked.contains(&context), "{seed:?}");
                assert_eq!(context, pattern.context, "{seed:?}");
            }
            Err(error) => panic!("{seed:?}: {error}"),
        }
    }

    fn check_message(&mut self, receive: usize, status: Status, payload: &[u8]) {
        let seed = self.schedule;
        let first = payload.first_chunk().copied().unwrap_or([0xff; 8]);
        if self.schedule.is_hostile && first == [0xff; 8] {
            return;
        }
        let number = usize::try_from(u64::from_le_bytes(first)).unwrap();
        let (at, pattern) = (self.receives[receive].at, self.receives[receive].pattern);
        let sent = &mut self.sent[number];
        assert_eq!(
            (sent.to, status.source as usize),
            (at, sent.from),
            "{seed:?}"
        );
        assert_eq!(sent.pattern, (pattern.context, status.tag), "{seed:?}");
        assert!(pattern.tag.is_none_or(|tag| tag == status.tag), "{seed:?}");
        assert_eq!(status.bytes, sent.bytes.len() as u64, "{seed:?}");
        assert!(sent.bytes == payload, "{seed:?}: another payload");
        assert!(!sent.is_received, "{seed:?}: received twice");
        sent.is_received = true;
        let key = (at, pattern, sent.from);
        self.order.entry(key).or_default().push((receive, number));
    }

    /// Makes progress until nothing happens any more, and gives each message a receive.
    fn finish(&mut self) {
        let mut rounds = 0;
        loop {
            rounds += 1;
            assert!(rounds < 10_000, "{:?}: this does not end", self.schedule);
            for at in [0, 1] {
                for _ in 0..4 {
                    self.receive(at);
                }
                self.report_next(at);
                self.send_waiting(at);
            }
            let is_idle = |at: usize| {
                let end = &self.nodes[at].end;
                end.wire.is_empty() && end.arriving.is_none() && end.unreported.is_empty()
            };
            if !is_idle(0) || !is_idle(1) {
                continue;
            }
            self.collect();
            let mut is_done = true;
            for at in 0..3 {
                for context in (2..).take(usize::try_from(CONTEXTS).unwrap()) {
                    is_done &= !self.receive_rest(at, context);
                }
            }
            if is_done {
                return;
            }
        }
    }

    /// Posts a receive for any message. Returns true if there is one.
    fn receive_rest(&mut self, at: usize, context: u32) -> bool {
        let capacity = 2 * MAX_ALLOCATED + 2;
        let target = ReceiveTarget::Memory(EmptyBuffer::heap(capacity));
        let number = self.post_receive_of(at, Pattern::any(context), target, Some(capacity));
        let id = self.receives[number].request;
        let is_cancelled = self.with(at, |state, deferred| {
            state.cancel_receive(id, Error::Cancelled, deferred)
        });
        self.receives[number].is_cancelled = is_cancelled;
        self.collect();
        let receive = &self.receives[number];
        !is_cancelled && (receive.has_message || !receive.is_ended)
    }

    fn check_end(&mut self) {
        let seed = self.schedule;
        // Receives that no message has matched.
        for number in 0..self.receives.len() {
            let receive = &mut self.receives[number];
            let (at, id, is_ended) = (receive.at, receive.request, receive.is_ended);
            if !is_ended {
                receive.is_cancelled = true;
                let is_cancelled = self.with(at, |state, deferred| {
                    state.cancel_receive(id, Error::Cancelled, deferred)
                });
                assert!(is_cancelled, "{seed:?}: a receive hangs");
            }
        }
        self.collect();
        assert!(
            self.receives.iter().all(|receive| receive.is_ended),
            "{seed:?}"
        );
        for (number, sent) in self.sent.iter().enumerate() {
            let Some(ended) = &sent.ended else {
                panic!("{seed:?}: send {number} of {:?} hangs", sent.mode)
            };
            let crosses = sent.from + sent.to == 1;
            match ended {
                // A peer that lies does so about its own transfers.
                _ if crosses && self.schedule.is_hostile => {}
                Ok(()) => {}
                Err(Error::Cancelled) => {
                    assert!(sent.is_cancelled || sent.is_abandoned, "{seed:?}");
                    let is_sure = !sent.is_abandoned;
                    assert!(!(is_sure && sent.is_received), "{seed:?}: {number}");
                }
                Err(Error::Revoked { context, .. }) => {
                    assert!(self.revoked.contains(context), "{seed:?}");
                }
                Err(Error::TooLong { length, max, .. }) => {
                    assert!(length > max && !sent.is_received, "{seed:?}: {number}");
                }
                Err(Error::PeerGone { .. }) => assert!(self.is_lost && crosses, "{seed:?}"),
                Err(error) => panic!("{seed:?}: {error}"),
            }
        }
        // Without cancelled receives, those of one pattern get the messages in order.
        if !self.schedule.abandons {
            for got in self.order.values_mut() {
                got.sort_unstable();
                assert!(got.is_sorted_by_key(|(_, message)| *message), "{seed:?}");
            }
        }
        let is_lossless = !self.schedule.abandons && !self.schedule.revokes && !self.is_lost;
        if is_lossless && !self.schedule.lacks_room {
            self.check_all_received();
        }
        for at in 0..3 {
            let inbox = self.nodes[at].inbox.clone();
            let state = inbox.lock();
            assert_eq!(state.requests.count(), 0, "{seed:?}: requests of {at}");
            assert!(state.arrivals.is_empty(), "{seed:?}: messages at {at}");
            for peer in 0..3 {
                assert!(!state.arrivals.has_backlog(peer), "{seed:?}");
                assert!(state.peers.is_idle(peer), "{seed:?}: {peer} at {at}");
            }
        }
        if !self.is_lost {
            self.check_credit();
        }
    }

    /// Checks that each message was received, unless it was cancelled, or its receive has failed.
    fn check_all_received(&self) {
        let is_unreceived = |sent: &&SentMessage| {
            let is_sent = matches!(sent.ended, Some(Ok(()) | Err(Error::TooLong { .. })));
            is_sent && !sent.is_received
        };
        let unreceived = self.sent.iter().filter(is_unreceived).count();
        let ended = self.receives.iter().filter(|receive| receive.has_message);
        let received = self.sent.iter().filter(|sent| sent.is_received);
        let failed = ended.count() - received.count();
        assert_eq!(unreceived, failed, "{:?}", self.schedule);
    }

    /// Checks that no message uses credit any more, and that the unused credit of both sides is
    /// what the other side has granted.
    fn check_credit(&mut self) {
        let seed = self.schedule;
        for at in [0, 1] {
            let peer = u32::try_from(at).unwrap();
            let used = self.with(1 - at, |state, _| state.peers.used_credit(peer));
            // With this window, the credit of each message is returned at once.
            assert_eq!(used, Credit::FREE, "{seed:?}: credit is not returned");
            let left = window(bounds());
            let gate = &mut self.nodes[at].end.gate;
            assert!(gate.charge(left), "{seed:?}: credit is lost");
            assert!(
                !gate.charge(Credit::of_message(0)),
                "{seed:?}: credit is doubled"
            );
        }
    }
}

fn run(schedule: Schedule, pool: &Pool, steps: usize) {
    let mut world = Simulation::new(schedule, pool);
    for _ in 0..steps {
        world.step();
    }
    if world.schedule.is_hostile {
        world.lose();
    }
    while !world.claims.is_empty() {
        world.use_some_claim();
    }
    world.finish();
    world.check_end();
}

fn run_all(runs: u64, kind: impl Fn(Schedule) -> Schedule) {
    let pool = Options::default().pool;
    for seed in 0..runs {
        let regular = Schedule {
            seed,
            cancels: false,
            abandons: false,
            probes: false,
            revokes: false,
            loses: false,
            lacks_room: false,
            is_hostile: false,
        };
        let steps = if seed % 10 == 0 { 800 } else { 150 };
        run(kind(regular), &pool, steps);
    }
}

#[test]
fn regular_transfers_end_with_their_payload() {
    run_all(600, |schedule| schedule);
}

#[test]
fn cancelled_messages_are_not_received() {
    run_all(600, |schedule| Schedule {
        cancels: true,
        ..schedule
    });
}

#[test]
fn abandoned_transfers_leave_nothing() {
    run_all(600, |schedule| Schedule {
        cancels: true,
        abandons: true,
        lacks_room: schedule.seed % 2 == 0,
        ..schedule
    });
}

#[test]
fn probed_messages_are_received_or_leave_nothing() {
    run_all(600, |schedule| Schedule {
        cancels: true,
        abandons: true,
        probes: true,
        revokes: schedule.seed % 3 == 0,
        lacks_room: schedule.seed % 5 == 0,
        loses: schedule.seed % 7 == 0,
        ..schedule
    });
}

#[test]
fn revoked_transfers_leave_nothing() {
    run_all(600, |schedule| Schedule {
        cancels: true,
        abandons: schedule.seed % 2 == 0,
        revokes: true,
        lacks_room: schedule.seed % 3 == 0,
        ..schedule
    });
}

#[test]
fn transfers_of_lost_connections_end() {
    run_all(600, |schedule| Schedule {
        cancels: true,
        abandons: schedule.seed % 2 == 0,
        revokes: schedule.seed % 3 == 0,
        lacks_room: schedule.seed % 5 == 0,
        loses: true,
        ..schedule
    });
}

#[test]
fn forged_frames_end_the_connection_and_nothing_else() {
    run_all(600, |schedule| Schedule {
        cancels: true,
        abandons: schedule.seed % 2 == 0,
        is_hostile: true,
        ..schedule
    });
}
