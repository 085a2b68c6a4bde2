//! Puts and gets as programs call them.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use jstream::buffer::Filled;
use rustix::rand::{GetRandomFlags, getrandom};

use super::asker::{Answer, Ask, piece};
use super::error::RemoteError;
use super::frame::{Frame, Target};
use super::key::{RemoteKey, Rights};
use super::ticket::{Asked, GetTicket, PutTicket};
use super::window::{Exposure, Window};
use crate::device::connection::{Body, Outbound};
use crate::endpoint::Endpoint;
use crate::endpoint::ops::OpId;
use crate::endpoint::shared::{Patience, Shared, Way};
use crate::endpoint::turn::Turn;
use crate::error::SendError;
use crate::header::Header;

/// How much of a put with a notice goes together with it: so much is copied for it.
const NOTICED: usize = 16 << 10;

/// How many gets of one [`Endpoint::get_into`] are on their way at once.
const AHEAD: usize = 4;

/// How often whoever waits for an answer looks whether others have received the messages before it.
const BLOCKED: Duration = Duration::from_millis(1);

impl Endpoint {
    /// Exposes memory to the peer, which may put or get there as `rights` say, as long as the
    /// [`Exposure`] is there. Its [key](Exposure::key) is to be sent to the peer.
    ///
    /// Requests are served by whoever receives on this endpoint, waits for an answer or sleeps while it
    /// sends; a [`Progress`](crate::Progress) thread serves them when nobody does. Messages that come
    /// before them are kept meanwhile, up to the limits of
    /// [`Options::queue_messages`](crate::Options::queue_messages) and
    /// [`Options::queue_bytes`](crate::Options::queue_bytes); what comes behind more of them waits
    /// until they are received.
    ///
    /// # Errors
    ///
    /// What the system says when it has no random numbers.
    pub fn expose(&self, window: impl Into<Window>, rights: Rights) -> io::Result<Exposure> {
        let (window, shared) = (window.into(), self.shared());
        let length = window.len() as u64;
        loop {
            let number = random()?;
            if shared.expose(number, window.clone(), rights) {
                let key = RemoteKey {
                    number,
                    length,
                    rights,
                };
                return Ok(Exposure::new(key, window, Arc::downgrade(shared)));
            }
        }
    }

    /// Puts `bytes` into memory that the peer has exposed, `offset` bytes from its beginning. Returns
    /// when they are there. Nobody sees a part of them, unless they are longer than
    /// [`Limits::max_send`](crate::Limits::max_send): then they are put in pieces.
    ///
    /// It waits as long as the connection lives, for the peer serves when it receives.
    ///
    /// # Errors
    ///
    /// [`RemoteError`].
    pub fn put(&self, key: &RemoteKey, offset: u64, bytes: &[u8]) -> Result<(), RemoteError> {
        let shared = self.shared();
        let target = self.target(key, offset, bytes.len() as u64)?;
        let max = shared.facts().limits.max_send;
        let piece = usize::try_from(max).unwrap_or(usize::MAX).max(1);
        if bytes.len() <= piece {
            return shared.put(target, bytes);
        }
        let mut offset = offset;
        for piece in bytes.chunks(piece) {
            shared.put(Target { offset, ..target }, piece)?;
            offset = offset.saturating_add(piece.len() as u64);
        }
        Ok(())
    }

    /// As [`put`](Self::put). When all is there, the peer receives a message of this header without a
    /// payload. The last 16 KiB are put together with the notice, what is before them is put before.
    ///
    /// # Errors
    ///
    /// [`RemoteError`]; then there is no message.
    pub fn put_notify(
        &self,
        key: &RemoteKey,
        offset: u64,
        bytes: &[u8],
        notice: Header,
    ) -> Result<(), RemoteError> {
        let target = self.target(key, offset, bytes.len() as u64)?;
        let facts = self.shared().facts();
        let max = usize::try_from(facts.limits.max_send).unwrap_or(usize::MAX);
        let before = bytes.len().saturating_sub(NOTICED.min(max));
        let (first, last) = bytes.split_at(before);
        if !first.is_empty() {
            self.put(key, offset, first)?;
        }
        let spent = facts.pool.take(last.len());
        let no_room = |source| RemoteError::NoBuffer {
            length: last.len(),
            source,
        };
        let Ok(filled) = spent.map_err(no_room)?.copy_from(last) else {
            unreachable!("it has room for what it was taken for");
        };
        let target = Target {
            offset: target.offset.saturating_add(before as u64),
            ..target
        };
        let ask = Ask::put(target, filled, Some(Frame::notice(notice)));
        PutTicket {
            asked: self.ask(Ok(ask)),
        }
        .wait()
    }

    /// Posts a put of a jbuf, which goes back to its pool when it was sent. It is no longer than
    /// [`Limits::max_send`](crate::Limits::max_send). Whatever is wrong with it the ticket says.
    pub fn post_put(&self, key: &RemoteKey, offset: u64, filled: Filled) -> PutTicket {
        self.post_filled(key, offset, filled, None)
    }

    /// As [`post_put`](Self::post_put), with a notice as of [`put_notify`](Self::put_notify).
    pub fn post_put_notify(
        &self,
        key: &RemoteKey,
        offset: u64,
        filled: Filled,
        notice: Header,
    ) -> PutTicket {
        self.post_filled(key, offset, filled, Some(Frame::notice(notice)))
    }

    fn post_filled(
        &self,
        key: &RemoteKey,
        offset: u64,
        filled: Filled,
        notice: Option<Header>,
    ) -> PutTicket {
        let length = filled.len() as u64;
        let max = self.limits().max_send;
        let checked = self.target(key, offset, length).and_then(|target| {
            if length > max {
                let peer = self.peer().clone();
                let source = SendError::TooLarge { length, max, peer };
                return Err(RemoteError::Unsent { source });
            }
            Ok(Ask::put(target, filled, notice))
        });
        PutTicket {
            asked: self.ask(checked),
        }
    }

    /// Gets `length` bytes of what the peer has exposed, `offset` bytes from its beginning, in a jbuf of
    /// the pool. What is longer than 256 KiB is got in pieces, between which others may put.
    ///
    /// It waits as long as the connection lives, for the peer serves when it receives.
    ///
    /// # Errors
    ///
    /// [`RemoteError`].
    pub fn get(&self, key: &RemoteKey, offset: u64, length: usize) -> Result<Filled, RemoteError> {
        self.post_get(key, offset, length).wait()
    }

    /// As [`get`](Self::get), to fill `memory`.
    ///
    /// # Errors
    ///
    /// [`RemoteError`]; then what `memory` holds is unknown.
    pub fn get_into(
        &self,
        key: &RemoteKey,
        offset: u64,
        memory: &mut [u8],
    ) -> Result<(), RemoteError> {
        self.target(key, offset, memory.len() as u64)?;
        let piece = piece(self.limits().max_receive) as usize;
        if memory.len() <= piece {
            let got = self.get(key, offset, memory.len())?;
            memory.copy_from_slice(got.as_bytes());
            return Ok(());
        }
        let mut offset = offset;
        let mut tickets = VecDeque::with_capacity(AHEAD);
        let mut wait = |(place, ticket): (&mut [u8], GetTicket)| {
            let got = ticket.wait()?;
            place.copy_from_slice(got.as_bytes());
            Ok(())
        };
        for place in memory.chunks_mut(piece) {
            if tickets.len() == AHEAD {
                tickets.pop_front().map_or(Ok(()), &mut wait)?;
            }
            let length = place.len();
            tickets.push_back((place, self.post_get(key, offset, length)));
            offset = offset.saturating_add(length as u64);
        }
        tickets.into_iter().try_for_each(wait)
    }

    /// Posts a get. Whatever is wrong with it the ticket says.
    pub fn post_get(&self, key: &RemoteKey, offset: u64, length: usize) -> GetTicket {
        let facts = self.shared().facts();
        let piece = piece(facts.limits.max_receive);
        let checked = self.target(key, offset, length as u64).and_then(|target| {
            let filling = if length > piece as usize {
                let spent = facts.pool.take(length);
                let no_room = |source| RemoteError::NoBuffer { length, source };
                Some(spent.map_err(no_room)?.filling())
            } else {
                None
            };
            Ok(Ask::get(target, length as u64, piece, filling))
        });
        GetTicket {
            asked: self.ask(checked),
        }
    }

    fn ask(&self, ask: Result<Ask, RemoteError>) -> Asked {
        let shared = self.shared();
        let posted = ask.and_then(|ask| match shared.unsendable() {
            Some(source) => Err(RemoteError::Unsent { source }),
            None => Ok(shared.post_ask(ask)),
        });
        Asked::new(shared.clone(), posted)
    }

    /// What a key says is wrong already here is not asked for. The owner looks for itself.
    fn target(&self, key: &RemoteKey, offset: u64, length: u64) -> Result<Target, RemoteError> {
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > key.length) {
            return Err(RemoteError::OutOfBounds {
                offset,
                length,
                exposed: key.length,
                peer: self.peer().clone(),
            });
        }
        Ok(Target {
            key: key.number,
            offset,
        })
    }
}

/// A number that nobody can guess.
fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    let mut filled = 0usize;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match getrandom(rest, GetRandomFlags::empty()) {
            Ok(more) => filled = filled.saturating_add(more),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(u64::from_ne_bytes(bytes))
}

impl Shared {
    fn expose(&self, key: u64, window: Window, rights: Rights) -> bool {
        let mut held = self.receiving.lock();
        let is_new = held.expose(key, window, rights);
        self.settle(self.receiving.leave(held));
        is_new
    }

    pub(super) fn withdraw(&self, key: u64) {
        let mut held = self.receiving.lock();
        let window = held.withdraw(key);
        self.settle(self.receiving.leave(held));
        drop(window);
    }

    fn post_ask(&self, ask: Ask) -> OpId {
        let mut held = self.receiving.lock();
        let id = held.post_ask(ask);
        self.settle(self.receiving.leave(held));
        id
    }

    /// Puts what one message holds.
    fn put(self: &Arc<Self>, target: Target, bytes: &[u8]) -> Result<(), RemoteError> {
        let length = bytes.len() as u64;
        let (id, header) = self
            .wait_unless_blocked(Patience::Endless, |receiving| {
                receiving.begin_put(target, length)
            })
            .unwrap_or_else(|| unreachable!("nothing is late that may take for ever"))
            .and_then(|begun| begun)?;
        let segments = [IoSlice::new(bytes)];
        let mut message = Outbound {
            header: header.with_length(length),
            body: Body::Borrowed(&segments),
            taken: 0,
        };
        let patience = Patience::For(self.facts().send_timeout);
        if let Err(source) = self.send(&mut message, patience) {
            let mut held = self.receiving.lock();
            held.abort_put(id);
            self.settle(self.receiving.leave(held));
            return Err(RemoteError::Unsent { source });
        }
        match self.wait_answer(id, Patience::Endless) {
            Some(answer) => answer.map(drop),
            None => unreachable!("nothing is late that may take for ever"),
        }
    }

    /// Waits for an answer; `None` when it does not come in time. Who is blocked for too long does not get
    /// it any more.
    pub(super) fn wait_answer(&self, id: OpId, patience: Patience) -> Option<Answer> {
        let waited = self.wait_unless_blocked(patience, |receiving| receiving.take_answer(id))?;
        Some(waited.unwrap_or_else(|blocked| {
            self.forget_answer(id);
            Err(blocked)
        }))
    }

    /// Waits until `attempt` answers. Where messages stand before what it waits for that can't be kept,
    /// others have time to receive them.
    fn wait_unless_blocked<R>(
        &self,
        patience: Patience,
        mut attempt: impl FnMut(&mut super::super::receiving::Receiving) -> Option<R>,
    ) -> Option<Result<R, RemoteError>> {
        let deadline = patience.deadline();
        let mut blocked_since = None;
        loop {
            let held = self.receiving.lock();
            let (held, found) = self.receiving.wait_until(
                &self.sending,
                held,
                || deadline,
                |receiving| match attempt(receiving) {
                    Some(answer) => Some(Ok(answer)),
                    None => receiving.blocked_by().map(Err),
                },
            );
            self.settle(self.receiving.leave(held));
            let messages = match found? {
                Ok(answer) => return Some(Ok(answer)),
                Err(messages) => messages,
            };
            if deadline.has_passed() {
                return None;
            }
            let since = *blocked_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= self.facts().send_timeout {
                let peer = self.facts().peer.clone();
                return Some(Err(RemoteError::Blocked { messages, peer }));
            }
            thread::sleep(BLOCKED);
        }
    }

    /// The answer, or else `task` is woken when it may be here.
    pub(super) fn poll_answer(&self, id: OpId, task: &Waker) -> Option<Answer> {
        let mut held = self.receiving.lock();
        Turn::drive_for_task(&mut *held);
        let answer = held.take_answer(id);
        if answer.is_none() {
            held.notify_answer(id, task);
            self.receiving_alarm.register(task, None);
        }
        self.settle(self.receiving.leave(held));
        if answer.is_none() {
            self.progress_beside(Way::In, Some(task), None);
        }
        answer
    }

    /// Nobody asks for an answer any more.
    pub(super) fn forget_answer(&self, id: OpId) {
        let mut held = self.receiving.lock();
        let answer = held.forget_answer(id);
        self.settle(self.receiving.leave(held));
        drop(answer);
    }
}
