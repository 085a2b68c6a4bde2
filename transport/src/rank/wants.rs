//! Messages that were announced, from when a receive asks for the payload until that comes.
//!
//! Such a message stays in the matcher, claimed for its receive. So a receive that gives up leaves it in the place
//! that it had, and whoever receives it next gets what was asked for. It counts for its source meanwhile: a peer
//! that announces and sends nothing has no more of them here than its window allows.

use super::error::Error;
use super::letter::{Ack, Incoming, Letter};
use super::request::Outcome;
use super::state::State;
use super::todo::{Task, Todo};
use super::wire::Frame;
use crate::endpoint::ops::OpId;
use crate::endpoint::receiving::Choice;
use crate::matching::{Claim, Heading, MessageId};

/// A payload that a peer was asked for.
pub(super) struct Want {
    pub(super) heading: Heading,
    message: MessageId,
    /// Nobody, once its receive has given up.
    asker: Option<Asker>,
}

/// A receive that waits for a payload.
struct Asker {
    request: OpId,
    claim: Claim,
}

impl State {
    /// A receive gets a message that was announced: asks for the payload, unless somebody has.
    pub(super) fn ask(&mut self, request: OpId, claim: Claim, todo: &mut Todo) {
        let heading = *claim.heading();
        let source = heading.envelope.source;
        if !self.accept(request, &heading, todo) {
            return self.decline(claim, todo);
        }
        if self.is_over(source) {
            drop(self.matcher.take(claim));
            return self.complete_lost(request, source, todo);
        }
        let State {
            matcher,
            requests,
            peers,
            ..
        } = self;
        let message = claim.message();
        let letter = matcher.message_mut(message);
        let (Some(letter), Some(peer)) = (letter, peers.get_mut(source as usize)) else {
            return;
        };
        let asker = Some(Asker { request, claim });
        let want = match *letter {
            Letter::Asked { want } => {
                if let Some(entry) = peer.wants.get_mut(want) {
                    entry.asker = asker;
                }
                want
            }
            Letter::Announced { offer } => {
                peer.withdrawable.remove(&offer);
                let want = peer.wants.insert(Want {
                    heading,
                    message,
                    asker,
                });
                *letter = Letter::Asked { want };
                let frame = Frame::Wanted { offer, want };
                todo.push(Task::Say { to: source, frame });
                want
            }
            _ => unreachable!("only announced messages are asked for"),
        };
        if let Some(request) = requests.get_mut(request) {
            request.asked = Some((source, want));
        }
    }

    /// Nobody wants a payload: its receive has ended without.
    fn decline(&mut self, claim: Claim, todo: &mut Todo) {
        let (heading, letter) = self.matcher.take(claim);
        let source = heading.envelope.source;
        self.settle(source, heading.held, todo);
        // One that was asked for is dropped when it comes.
        if let Letter::Announced { offer } = letter {
            self.acknowledge(source, Ack::Line(offer), todo);
        }
    }

    /// Takes back a receive whose message has not begun to come. False if it has, or the receive has ended.
    pub(super) fn give_up(&mut self, id: OpId, error: Error, todo: &mut Todo) -> bool {
        let request = self.requests.get_mut(id);
        let Some((source, want)) = request.and_then(|request| request.asked.take()) else {
            return self.cancel(id, error, todo);
        };
        let want = self.peer(source).and_then(|peer| peer.wants.get_mut(want));
        let Some(asker) = want.and_then(|want| want.asker.take()) else {
            return false;
        };
        self.complete(id, Outcome::failed(error), todo);
        self.restore(asker.claim, todo);
        true
    }

    /// The payload that `rank` was asked for begins to come. Where it goes.
    pub(super) fn begin_wanted(&mut self, rank: u32, want: Want, todo: &mut Todo) -> Choice {
        let (incoming, choice) = match want.asker {
            Some(Asker { request, claim }) => {
                let (heading, _) = self.matcher.take(claim);
                self.settle(rank, heading.held, todo);
                if let Some(request) = self.requests.get_mut(request) {
                    request.asked = None;
                }
                let incoming = Incoming::Receive { request, heading };
                (incoming, self.place_of(request))
            }
            None => match self.matcher.message_mut(want.message) {
                Some(letter) => {
                    *letter = Letter::Coming { ack: Ack::Nobody };
                    (Incoming::Message(want.message), Choice::Pool)
                }
                None => (Incoming::Unwanted, Choice::Pool),
            },
        };
        if let Some(peer) = self.peer(rank) {
            peer.incoming = incoming;
        }
        choice
    }

    /// Nobody receives any more, and no message is kept: payloads that still come are dropped.
    pub(super) fn forget_wanted(&mut self) {
        for want in self.peers.iter_mut().flat_map(|peer| peer.wants.values()) {
            want.asker = None;
        }
    }

    /// The payload never comes.
    pub(super) fn lose_wanted(&mut self, want: Want, error: Error, todo: &mut Todo) {
        if let Some(Asker { request, claim }) = want.asker {
            drop(self.matcher.take(claim));
            self.complete(request, Outcome::failed(error), todo);
        }
    }
}
