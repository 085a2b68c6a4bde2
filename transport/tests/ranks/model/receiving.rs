//! The receive steps of a thread.

use std::collections::VecDeque;
use std::time::Duration;

use jstream::EmptyBuffer;
use jstream_transport::rank::{self, Error, Probed, RecvRequest, Source, Status, Tag};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::book::{Asked, End};
use super::plan::{Elements, Found, ROOM, ReceiveHow, Send, Together, Wants, content, length};
use super::threads::Actor;

pub(super) const UNTOUCHED: u8 = 0xee;

/// A message that was found by a probe, and is received later.
pub(super) struct Held {
    pub(super) asked: Asked,
    pub(super) found: Probed,
    pub(super) since: usize,
}

impl Actor<'_> {
    pub(super) fn ask(&mut self, wants: Wants, waits: bool) -> Option<Asked> {
        let now = self.tick();
        self.book.ask(self.me, self.lane, wants, waits, now)
    }

    pub(super) fn answer(&mut self, asked: Asked, end: &End) {
        let now = self.tick();
        self.book.answer(self.me, asked, end, now);
    }

    pub(super) fn receive(
        &mut self,
        wants: Wants,
        how: ReceiveHow,
        room: usize,
        elements: Elements,
    ) {
        let waits = !matches!(how, ReceiveHow::Timed(_));
        let Some(asked) = self.ask(wants, waits) else {
            return;
        };
        let (from, tag) = pattern(wants);
        let rank = self.rank.clone();
        let end = match (how, elements) {
            (ReceiveHow::Timed(micros), _) => {
                let timeout = Duration::from_micros(micros);
                let end = self.with_memory::<u8>(room, |memory| {
                    rank.recv_timeout(from, tag, memory, timeout)
                });
                if matches!(end, End::Nothing) {
                    self.book.gave_up(self.me, &asked);
                }
                end
            }
            (ReceiveHow::MessageBuffer, _) => match rank.buffers().recv(from, tag) {
                Ok(message) => self.book.got(&message.status, message.payload.as_bytes()),
                Err(error) => self.book.failed(&error),
            },
            (ReceiveHow::Scoped, _) => self.with_memory::<u8>(room, |memory| {
                rank.scope(|scope| scope.irecv(from, tag, memory).wait())
            }),
            (ReceiveHow::Persistent, _) => {
                let mut persistent = rank.buffers().recv_init(from, tag, EmptyBuffer::heap(room));
                persistent.start();
                match persistent.wait() {
                    Ok(status) => {
                        let bytes = persistent.message().unwrap().as_bytes();
                        self.book.got(&status, bytes)
                    }
                    Err(error) => self.book.failed(&error),
                }
            }
            (_, Elements::Bytes) => {
                self.with_memory::<u8>(room, |memory| rank.recv(from, tag, memory))
            }
            (_, Elements::Words) => {
                self.with_memory::<u64>(room / 8, |memory| rank.recv(from, tag, memory))
            }
            (_, Elements::Floats) => {
                self.with_memory::<f32>(room / 4, |memory| rank.recv(from, tag, memory))
            }
        };
        self.answer(asked, &end);
    }

    /// Receives to memory, and checks that the bytes behind the message are unchanged.
    pub(super) fn with_memory<E: FromBytes + IntoBytes + Immutable + Clone>(
        &self,
        room: usize,
        receive: impl FnOnce(&mut [E]) -> Result<Status, Error>,
    ) -> End {
        let mut memory = vec![E::new_zeroed(); room];
        memory.as_mut_bytes().fill(UNTOUCHED);
        let result = receive(&mut memory);
        let length = result.as_ref().map_or(0, Status::len::<u8>);
        let Some((message, rest)) = memory.as_bytes().split_at_checked(length) else {
            self.book.fault(format!("{length} bytes in {room}"));
            return End::Nothing;
        };
        // If the peer ended within a message, part of it may be in the memory.
        let may_have_begun = matches!(result, Err(Error::PeerGone { .. }));
        if !may_have_begun && rest.iter().any(|byte| *byte != UNTOUCHED) {
            self.book.fault(format!(
                "the memory behind a message has changed: {result:?}"
            ));
        }
        match result {
            Ok(status) => self.book.got(&status, message),
            Err(error) => self.book.failed(&error),
        }
    }

    pub(super) fn posted(&self, wants: Wants, room: Option<usize>) -> RecvRequest {
        let (from, tag) = pattern(wants);
        match room {
            Some(room) => self
                .rank
                .buffers()
                .irecv_into(from, tag, EmptyBuffer::heap(room)),
            None => self.rank.buffers().irecv(from, tag),
        }
    }

    pub(super) fn post(&mut self, wants: Wants, room: Option<usize>) {
        if let Some(asked) = self.ask(wants, false) {
            let request = self.posted(wants, room);
            self.asked.push(Some(asked));
            self.receives.push(request);
        }
    }

    pub(super) fn note(
        &mut self,
        asked: Asked,
        result: Result<rank::RankMessage, rank::Unreceived>,
    ) {
        let end = match result {
            Ok(message) => self.book.got(&message.status, message.payload.as_bytes()),
            Err(unreceived) => self.book.failed(&unreceived.error),
        };
        self.answer(asked, &end);
    }

    pub(super) fn batch(&mut self, wants: Wants, count: usize, how: Together) {
        let mut asked: Vec<_> = (0..count).map_while(|_| self.ask(wants, true)).collect();
        let mut requests: Vec<_> = asked.iter().map(|_| self.posted(wants, None)).collect();
        let mut places: Vec<_> = asked.drain(..).map(Some).collect();
        while places.iter().any(Option::is_some) {
            let ended: Vec<_> = match how {
                Together::Any => rank::wait_any(&mut requests).into_iter().collect(),
                Together::Some => rank::wait_some(&mut requests),
                Together::All => (0..).zip(rank::wait_all(&mut requests)).collect(),
            };
            if ended.is_empty() {
                return self.book.fault("a request has ended without an outcome");
            }
            for (place, result) in ended {
                let asked = places[place].take().unwrap();
                self.note(asked, result);
            }
        }
    }

    pub(super) fn exchange(&mut self, send: Send, wants: Wants) {
        let send = Send { class: 0, ..send };
        let long = length(send.id, send.class) as u64;
        let is_free = self.rank.eager(send.to).is_some_and(|eager| long <= eager);
        // If the send fails, the receive may already have taken a message.
        let is_certain = is_free && !self.book.plan.setting.tight && !self.book.is_victim(send.to);
        let asked = if is_certain && !send.typed {
            self.ask(wants, true)
        } else {
            None
        };
        let Some(asked) = asked else {
            return self.send(send, false);
        };
        self.begin(&send);
        let (from, tag) = pattern(wants);
        let bytes = content(send.id, send.class);
        let rank = self.rank.clone();
        let end = self.with_memory::<u8>(ROOM, |memory| {
            rank.sendrecv(send.to, send.tag, &bytes, from, tag, memory)
        });
        self.answer(asked, &end);
    }

    pub(super) fn probe(&mut self, wants: Wants, patience: u64, then: Found) {
        let Some(asked) = self.ask(wants, false) else {
            return;
        };
        let (from, tag) = pattern(wants);
        let found = match patience {
            0..50 => self.rank.iprobe(from, tag),
            _ => self
                .rank
                .probe_timeout(from, tag, Duration::from_micros(patience))
                .map(Some),
        };
        let since = self.tick();
        let found = found.unwrap_or_else(|error| {
            let _ = self.book.failed(&error);
            None
        });
        let Some(found) = found else {
            return self.book.unask(self.me, &asked);
        };
        let held = Held {
            asked,
            found,
            since,
        };
        match then {
            Found::Held => self.held = Some(held),
            Found::GivenBack => self.give_back(held),
            Found::Received => self.receive_held(held),
            Found::InJbuf => {
                let end = match held.found.recv_buffer() {
                    Ok(message) => self.book.got(&message.status, message.payload.as_bytes()),
                    Err(error) => self.book.failed(&error),
                };
                self.answer_held(held.asked, since, &end);
            }
        }
    }

    pub(super) fn give_back(&mut self, held: Held) {
        let Status {
            source, tag, bytes, ..
        } = held.found.status();
        let id = self.book.message_of(source, tag, bytes);
        drop(held.found);
        let until = self.tick();
        self.book.unask(self.me, &held.asked);
        match id {
            Some(id) => self.book.hide(id, self.me, self.lane, held.since, until),
            None => self.book.fault("a probe found a message that was not sent"),
        }
    }

    pub(super) fn receive_held(&mut self, held: Held) {
        let room = held.found.status().len::<u8>();
        let end = self.with_memory::<u8>(room, |memory| held.found.recv(memory));
        self.answer_held(held.asked, held.since, &end);
    }

    /// Records a message that was matched when the probe found it.
    pub(super) fn answer_held(&mut self, asked: Asked, since: usize, end: &End) {
        match end {
            End::Got(_) => self.book.answer(self.me, asked, end, since),
            _ => self.book.unask(self.me, &asked),
        }
    }

    pub(super) fn look(&mut self, how: Together) {
        let ended: Vec<_> = match how {
            Together::Any => rank::test_any(&mut self.receives).into_iter().collect(),
            Together::Some => rank::test_some(&mut self.receives),
            Together::All => rank::wait_any_timeout(&mut self.receives, Duration::from_micros(200))
                .into_iter()
                .collect(),
        };
        for (place, result) in ended {
            let asked = self.asked[place].take().unwrap();
            self.note(asked, result);
        }
        let left = |asked: &Option<Asked>| asked.is_some();
        let mut is_left = self.asked.iter().map(left).collect::<VecDeque<_>>();
        self.receives.retain(|_| is_left.pop_front().unwrap());
        self.asked.retain(left);
    }

    pub(super) fn cancel(&mut self, which: usize) {
        if let Some(place) = which.checked_rem(self.receives.len()) {
            let request = self.receives.remove(place);
            let asked = self.asked.remove(place).unwrap();
            self.note(asked, request.cancel());
        }
    }
}

pub(crate) fn pattern(wants: Wants) -> (Source, Tag) {
    (
        wants.from.map_or(Source::Any, Source::Rank),
        wants.tag.map_or(Tag::Any, Tag::Is),
    )
}
