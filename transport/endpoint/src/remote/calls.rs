//! Public interface of puts and gets.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;

use jstream::buffer::MessageBuffer;
use rustix::rand::{GetRandomFlags, getrandom};

use super::asker::{Ask, piece};
use super::error::RemoteError;
use super::exposure::Exposure;
use super::frame::{RemoteFrame, Target};
use super::key::{RemoteKey, Rights};
use super::ticket::{GetTicket, PutTicket, RemoteRequest, wait_answer, wait_unless_blocked};
use super::window::Window;
use crate::endpoint::Endpoint;
use crate::shared::Patience;
use jstream_base::Header;
use jstream_base::SendError;
use jstream_device::connection::{Body, Outbound};

/// Maximum number of bytes of a put that are sent together with its notice. They are copied to a
/// buffer.
const NOTICED: usize = 16 << 10;

/// Number of simultaneous gets of one [`Remote::get_into`].
const AHEAD: usize = 4;

/// Puts and gets of an endpoint; see [`Endpoint::remote`].
#[derive(Debug, Clone, Copy)]
pub struct Remote<'a>(&'a Endpoint);

impl Endpoint {
    /// Returns the one-sided operations: exposing memory to the peer, and writing and reading
    /// memory that the peer has exposed.
    #[must_use]
    pub fn remote(&self) -> Remote<'_> {
        Remote(self)
    }
}

impl Remote<'_> {
    /// Exposes memory to the peer, which may put or get as `rights` permit while the [`Exposure`]
    /// exists. Send its [key](Exposure::key) to the peer.
    ///
    /// Requests are served by threads that receive on this endpoint, wait for an answer, or sleep
    /// while they send. A [`Progress`](crate::Progress) thread serves them otherwise. Messages that
    /// arrive before the requests are kept, up to the limits of
    /// [`Options::queue_messages`](jstream_base::Options::queue_messages) and
    /// [`Options::queue_bytes`](jstream_base::Options::queue_bytes). Requests behind more messages
    /// wait until messages are received.
    ///
    /// # Errors
    ///
    /// The error of the system if it provides no random numbers.
    pub fn expose(&self, window: impl Into<Window>, rights: Rights) -> io::Result<Exposure> {
        let (window, shared) = (window.into(), self.0.shared());
        let length = window.len() as u64;
        loop {
            let number = random()?;
            // Two equal random numbers are unlikely but possible, and a key must not lead to
            // another window.
            if shared.receiving().expose(number, window.clone(), rights) {
                let key = RemoteKey {
                    number,
                    length,
                    rights,
                };
                return Ok(Exposure::new(key, window, Arc::downgrade(shared)));
            }
        }
    }

    /// Writes `bytes` to memory that the peer has exposed, starting at `offset` bytes. Returns when
    /// they are written. The put is atomic, unless it is longer than
    /// [`Limits::max_send`](crate::Limits::max_send): then it is split into pieces.
    ///
    /// The call has no timeout while the connection lives, because the peer serves requests only
    /// when it receives.
    ///
    /// # Errors
    ///
    /// [`RemoteError`].
    pub fn put(&self, key: &RemoteKey, offset: u64, bytes: &[u8]) -> Result<(), RemoteError> {
        let shared = self.0.shared();
        let target = self.target(key, offset, bytes.len() as u64)?;
        let max = shared.info().limits.max_send;
        let piece = usize::try_from(max).unwrap_or(usize::MAX).max(1);
        if bytes.len() <= piece {
            return self.put_piece(target, bytes);
        }
        let mut offset = offset;
        for piece in bytes.chunks(piece) {
            self.put_piece(Target { offset, ..target }, piece)?;
            offset = offset.saturating_add(piece.len() as u64);
        }
        Ok(())
    }

    /// As [`put`](Self::put). When all bytes are written, the peer receives a message with this
    /// header and no payload. The last 16 KiB are sent together with the notice; the bytes before
    /// them are sent first.
    ///
    /// # Errors
    ///
    /// [`RemoteError`]; then no message is delivered.
    pub fn put_notify(
        &self,
        key: &RemoteKey,
        offset: u64,
        bytes: &[u8],
        notice: Header,
    ) -> Result<(), RemoteError> {
        let target = self.target(key, offset, bytes.len() as u64)?;
        let info = self.0.shared().info();
        let max = usize::try_from(info.limits.max_send).unwrap_or(usize::MAX);
        // The part with the notice is copied, so most of a long put is sent from the caller's
        // memory.
        let before = bytes.len().saturating_sub(NOTICED.min(max));
        let (first, last) = bytes.split_at(before);
        if !first.is_empty() {
            self.put(key, offset, first)?;
        }
        let empty = info.pool.take(last.len());
        let no_room = |source| RemoteError::NoBuffer {
            length: last.len(),
            source,
        };
        let Ok(filled) = empty.map_err(no_room)?.copy_from(last) else {
            unreachable!("the buffer has the requested capacity");
        };
        let target = Target {
            offset: target.offset.saturating_add(before as u64),
            ..target
        };
        let ask = Ask::put(target, filled, Some(RemoteFrame::notice(notice)));
        PutTicket {
            asked: self.ask(Ok(ask)),
        }
        .wait()
    }

    /// Posts a put of a buffer, which returns to its pool after it was sent. Its length is limited
    /// by [`Limits::max_send`](crate::Limits::max_send). The ticket reports any error.
    pub fn post_put(&self, key: &RemoteKey, offset: u64, filled: MessageBuffer) -> PutTicket {
        self.post_buffer(key, offset, filled, None)
    }

    /// As [`post_put`](Self::post_put), with a notice; see [`put_notify`](Self::put_notify).
    pub fn post_put_notify(
        &self,
        key: &RemoteKey,
        offset: u64,
        filled: MessageBuffer,
        notice: Header,
    ) -> PutTicket {
        self.post_buffer(key, offset, filled, Some(RemoteFrame::notice(notice)))
    }

    fn post_buffer(
        &self,
        key: &RemoteKey,
        offset: u64,
        filled: MessageBuffer,
        notice: Option<Header>,
    ) -> PutTicket {
        let length = filled.len() as u64;
        let max = self.0.shared().info().limits.max_send;
        let checked = self.target(key, offset, length).and_then(|target| {
            if length > max {
                let peer = self.0.peer().clone();
                let source = SendError::TooLarge { length, max, peer };
                return Err(RemoteError::Unsent { source });
            }
            Ok(Ask::put(target, filled, notice))
        });
        PutTicket {
            asked: self.ask(checked),
        }
    }

    /// Reads `length` bytes of memory that the peer has exposed, starting at `offset` bytes, into a
    /// buffer of the pool. More than 256 KiB are read in pieces, and other puts may come between
    /// them.
    ///
    /// The call has no timeout while the connection lives, because the peer serves requests only
    /// when it receives.
    ///
    /// # Errors
    ///
    /// [`RemoteError`].
    pub fn get(
        &self,
        key: &RemoteKey,
        offset: u64,
        length: usize,
    ) -> Result<MessageBuffer, RemoteError> {
        self.post_get(key, offset, length).wait()
    }

    /// As [`get`](Self::get), but fills `memory`.
    ///
    /// # Errors
    ///
    /// [`RemoteError`]; then the content of `memory` is unspecified.
    pub fn get_into(
        &self,
        key: &RemoteKey,
        offset: u64,
        memory: &mut [u8],
    ) -> Result<(), RemoteError> {
        self.target(key, offset, memory.len() as u64)?;
        let piece = piece(self.0.shared().info().limits.max_receive) as usize;
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
            // Each get holds a buffer of the pool, so their number is bounded.
            if tickets.len() == AHEAD {
                tickets.pop_front().map_or(Ok(()), &mut wait)?;
            }
            let length = place.len();
            tickets.push_back((place, self.post_get(key, offset, length)));
            offset = offset.saturating_add(length as u64);
        }
        tickets.into_iter().try_for_each(wait)
    }

    /// Posts a get. The ticket reports any error.
    pub fn post_get(&self, key: &RemoteKey, offset: u64, length: usize) -> GetTicket {
        let info = self.0.shared().info();
        let piece = piece(info.limits.max_receive);
        let checked = self.target(key, offset, length as u64).and_then(|target| {
            let filling = if length > piece as usize {
                let empty = info.pool.take(length);
                let no_room = |source| RemoteError::NoBuffer { length, source };
                Some(empty.map_err(no_room)?.writer())
            } else {
                None
            };
            Ok(Ask::get(target, length as u64, piece, filling))
        });
        GetTicket {
            asked: self.ask(checked),
        }
    }

    /// Puts bytes that fit one message.
    fn put_piece(&self, target: Target, bytes: &[u8]) -> Result<(), RemoteError> {
        let shared = self.0.shared();
        let length = bytes.len() as u64;
        let (id, header) = wait_unless_blocked(shared, Patience::Endless, |receiving| {
            receiving.begin_put(target, length)
        })
        .unwrap_or_else(|| unreachable!("a wait without a deadline does not time out"))
        .and_then(|begun| begun)?;
        let segments = [IoSlice::new(bytes)];
        let mut message = Outbound {
            header: header.with_length(length),
            body: Body::Borrowed(&segments),
            is_exchange: false,
            taken: 0,
        };
        let patience = Patience::For(shared.info().send_timeout);
        if let Err(source) = shared.send(&mut message, patience) {
            shared.receiving().abort_put(id);
            return Err(RemoteError::Unsent { source });
        }
        match wait_answer(shared, id, Patience::Endless) {
            Some(answer) => answer.map(drop),
            None => unreachable!("a wait without a deadline does not time out"),
        }
    }

    fn ask(&self, ask: Result<Ask, RemoteError>) -> RemoteRequest {
        let shared = self.0.shared();
        let posted = ask.and_then(|ask| match shared.unsendable() {
            Some(source) => Err(RemoteError::Unsent { source }),
            None => Ok(shared.receiving().post_ask(ask)),
        });
        RemoteRequest::new(shared.clone(), posted)
    }

    /// Checks a range against the length in the key, so that an invalid request is not sent. The
    /// owner checks again.
    fn target(&self, key: &RemoteKey, offset: u64, length: u64) -> Result<Target, RemoteError> {
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > key.length) {
            return Err(RemoteError::OutOfBounds {
                offset,
                length,
                exposed: key.length,
                peer: self.0.peer().clone(),
            });
        }
        Ok(Target {
            key: key.number,
            offset,
        })
    }
}

/// Returns an unpredictable number.
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
