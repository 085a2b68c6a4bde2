//! Tagged messages between ranks, on both sides.

use std::time::Duration;

use jstream_transport::Endpoint;
use jstream_transport::rank::{self, Error, Mesh, Rank, RecvRequest, Source, Status, Tag};

use crate::buffers::{inspect, prepare};
use crate::failure::Failure;
use crate::lead::Exchange;
use crate::work::{Order, Work};

/// Rank of the client, which measures.
pub(crate) const CLIENT: u32 = 0;
pub(crate) const SERVER: u32 = 1;
/// First tag of messages that are never sent.
const NEVER: u64 = 1 << 32;

/// One of two ranks during a measurement. No other rank uses the connection.
pub(crate) struct Tagged {
    rank: Rank,
    peer: u32,
    work: Work,
    from: Vec<u8>,
    to: Vec<u8>,
    /// Number of messages so far in each direction.
    messages: u64,
    /// Receives that stay pending, to lengthen the queue that is searched.
    _waiting: Vec<RecvRequest>,
}

/// Reason why a rank stops.
enum Ended {
    Error(Error),
    /// A payload mismatch: the number of the message, and the index of the first wrong byte.
    Payload(u64, usize),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        Self::Said(match ended {
            Ended::Error(error) => error.to_string(),
            Ended::Payload(number, at) => {
                format!("message {number} differs from what was sent, from byte {at} on")
            }
        })
    }
}

impl Tagged {
    pub(crate) fn new(
        endpoint: &Endpoint,
        me: u32,
        work: Work,
        spin: Duration,
    ) -> Result<Self, Failure> {
        let mut options = rank::Options::default();
        options.spin = spin;
        let peer = if me == CLIENT { SERVER } else { CLIENT };
        let mesh = Mesh::new(me, 2, &options).endpoint(peer, endpoint.clone())?;
        let rank = mesh.build();
        let tags = (NEVER..).take(work.depth as usize);
        let waiting = tags.map(|tag| rank.buffers().irecv(peer, tag)).collect();
        let places = work.stride().saturating_mul(work.window as usize);
        Ok(Self {
            rank,
            peer,
            work,
            from: vec![1; places],
            to: vec![1; places],
            messages: 0,
            _waiting: waiting,
        })
    }

    /// Performs the server's part until the client has gone.
    pub(crate) fn follow(
        &mut self,
        mut go_on: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        /// Number of exchanges between two calls of `go_on`.
        const SOME: u64 = 1024;
        for count in 1u64.. {
            let done = self.receive().and_then(|()| self.send());
            match done {
                Ok(()) => self.count(),
                Err(Ended::Error(Error::PeerGone { .. } | Error::NobodyLeft)) => return Ok(()),
                Err(ended) => return Err(ended.into()),
            }
            if count % SOME == 0 {
                go_on()?;
            }
        }
        Ok(())
    }

    fn count(&mut self) {
        self.messages = self.messages.wrapping_add(u64::from(self.work.window));
    }

    /// Writes the contents of all messages of a window, as the options of the measurement demand.
    fn prepare(&mut self) {
        let places = self.from.chunks_mut(self.work.stride());
        for (place, tag) in places.zip(0u64..) {
            if let Some(bytes) = place.get_mut(..self.work.size) {
                prepare(bytes, &self.work, self.messages.wrapping_add(tag));
            }
        }
    }

    /// Sends a window of messages, with tags from 0.
    fn send(&mut self) -> Result<(), Ended> {
        self.prepare();
        if self.work.window == 1 {
            let bytes = self.from.get(..self.work.size).unwrap_or_default();
            return Ok(self.rank.send(self.peer, 0, bytes)?);
        }
        Ok(send_all(&self.rank, self.peer, &self.work, &self.from)?)
    }

    /// Receives a window of messages, in the order that was asked for.
    fn receive(&mut self) -> Result<(), Ended> {
        if self.work.window > 1 {
            return self.receive_while(|_, _| Ok(()));
        }
        let place = self.to.get_mut(..self.work.size).unwrap_or_default();
        let (source, tag) = self.work.wanted(self.peer, 0);
        let status = self.rank.recv(source, tag, place)?;
        check(&self.work, place, &status, self.messages)
    }

    /// Posts all receives, calls `meanwhile`, and waits for the receives.
    fn receive_while(
        &mut self,
        meanwhile: impl FnOnce(&Rank, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Ended> {
        let (rank, peer, work) = (&self.rank, self.peer, &self.work);
        let (places, from) = (self.to.chunks_mut(work.stride()), &self.from);
        let statuses = rank.scope(|scope| {
            let posted = places.zip(0u32..).map(|(place, turn)| {
                let place = place.get_mut(..work.size).unwrap_or_default();
                let (source, tag) = work.wanted(peer, turn);
                scope.irecv(source, tag, place)
            });
            let posted: Vec<_> = posted.collect();
            meanwhile(rank, from)?;
            let statuses = posted.into_iter().map(|ticket| ticket.wait());
            statuses.collect::<Result<Vec<_>, _>>()
        })?;
        for (place, status) in self.to.chunks(work.stride()).zip(&statuses) {
            let bytes = place.get(..work.size).unwrap_or_default();
            check(work, bytes, status, self.messages)?;
        }
        Ok(())
    }
}

impl Exchange for Tagged {
    fn exchange(&mut self, _is_last: bool) -> Result<(), Failure> {
        if self.work.window == 1 {
            self.send()?;
            self.receive()?;
        } else {
            self.prepare();
            let (peer, work) = (self.peer, self.work);
            self.receive_while(|rank, from| send_all(rank, peer, &work, from))?;
        }
        self.count();
        Ok(())
    }
}

impl Work {
    /// Returns the source and tag of receive `turn` of a window.
    fn wanted(&self, peer: u32, turn: u32) -> (Source, Tag) {
        let last = self.window.saturating_sub(1);
        match self.order {
            Order::In => (Source::Rank(peer), Tag::Is(turn.into())),
            Order::Reverse => {
                let tag = last.saturating_sub(turn);
                (Source::Rank(peer), Tag::Is(tag.into()))
            }
            Order::Any => (Source::Any, Tag::Any),
        }
    }
}

/// Posts a window of messages, and waits until all of them have been sent.
fn send_all(rank: &Rank, peer: u32, work: &Work, from: &[u8]) -> Result<(), Error> {
    rank.scope(|scope| {
        let posted = from.chunks(work.stride()).zip(0u64..).map(|(place, tag)| {
            let bytes = place.get(..work.size).unwrap_or_default();
            scope.isend(peer, tag, bytes)
        });
        let posted: Vec<_> = posted.collect();
        posted.into_iter().try_for_each(|ticket| ticket.wait())
    })
}

/// Checks a received message, as the options of the measurement demand.
fn check(work: &Work, bytes: &[u8], status: &Status, before: u64) -> Result<(), Ended> {
    let number = before.wrapping_add(status.tag);
    inspect(bytes, status.bytes, work, number).map_err(|at| Ended::Payload(number, at))
}
