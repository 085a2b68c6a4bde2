//! One side of a connection during a measurement.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::{Duration, Instant};

use jstream::buffer::MessageBuffer;
use jstream_transport::{Endpoint, Header, Message};

use crate::buffers::{Places, inspect, prepare};
use crate::failure::Failure;
use crate::greeting::{ACK, ANNOUNCED, DATA, LAST, WANTED, WRONG, expect, instead, send_words};
use crate::lead::Exchange;
use crate::work::{Op, Receive, Touch, Work};

/// One side of a connection, with its memory.
pub(crate) struct Party<'e> {
    endpoint: &'e Endpoint,
    work: Work,
    from: Places,
    to: Places,
    /// Received jbufs. They are sent back, or kept for a while so that other jbufs are used.
    kept: VecDeque<MessageBuffer>,
    patience: Duration,
    sent: u64,
    received: u64,
}

impl<'e> Party<'e> {
    pub(crate) fn new(
        endpoint: &'e Endpoint,
        work: Work,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let count = usize::try_from(work.places)?;
        let places = |is_used: bool| match is_used {
            true => Places::new(work.size, work.stride(), count),
            false => Places::new(0, 0, 0),
        };
        let mut party = Self {
            endpoint,
            work,
            from: places(work.receive != Receive::Moved),
            to: places(matches!(work.receive, Receive::Into | Receive::Copied)),
            kept: VecDeque::with_capacity(count.saturating_add(1)),
            patience,
            sent: 0,
            received: 0,
        };
        if work.receive == Receive::Moved {
            for _ in 0..work.places {
                party
                    .kept
                    .push_back(endpoint.take(work.size)?.zeroed(work.size)?);
            }
        }
        Ok(party)
    }

    /// Performs the server's part until the last exchange. Calls `go_on` at intervals, and stops if
    /// it fails.
    pub(crate) fn follow(
        &mut self,
        mut go_on: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        /// Number of exchanges between two calls of `go_on`.
        const SOME: u64 = 1024;
        for count in 1u64.. {
            let kind = match self.work.op {
                Op::Pingpong => {
                    let kind = self.recv()?;
                    self.think();
                    self.send(kind)?;
                    kind
                }
                Op::Pingping => self.cross(DATA)?,
                Op::Bandwidth | Op::Rate => {
                    let mut kind = DATA;
                    for _ in 0..self.work.window {
                        kind = self.recv()?;
                    }
                    send_words(self.endpoint, ACK, [0; 3])?;
                    kind
                }
                Op::Rendezvous => {
                    let kind = self.ask()?;
                    self.announce(kind)?;
                    kind
                }
                Op::Tags => unreachable!("ranks perform these exchanges"),
            };
            if kind == LAST {
                return Ok(());
            }
            if count % SOME == 0 {
                go_on()?;
            }
        }
        Ok(())
    }

    fn think(&self) {
        if self.work.think > 0 {
            let until = Duration::from_nanos(u64::from(self.work.think));
            let begun = Instant::now();
            while begun.elapsed() < until {
                std::hint::spin_loop();
            }
        }
    }

    #[inline]
    fn header(&mut self, kind: u32) -> Header {
        self.sent = self.sent.wrapping_add(1);
        Header::new(kind, [self.sent, 0, 0])
    }

    /// Returns the next bytes to send.
    #[inline]
    fn ready(&mut self) -> &mut [u8] {
        let bytes = self.from.next();
        prepare(bytes, &self.work, self.sent);
        bytes
    }

    #[inline]
    fn send(&mut self, kind: u32) -> Result<(), Failure> {
        let header = self.header(kind);
        let endpoint = self.endpoint;
        match self.work.receive {
            Receive::Into | Receive::Jbuf | Receive::Copied => {
                Ok(endpoint.send_message(header, &[IoSlice::new(self.ready())])?)
            }
            Receive::Moved | Receive::Trusted => {
                let filled = self.filled()?;
                Ok(endpoint.send_buffer(header, filled)?)
            }
        }
    }

    /// Returns the next jbuf to send.
    fn filled(&mut self) -> Result<MessageBuffer, Failure> {
        if self.work.receive == Receive::Moved {
            let kept = self.kept.pop_front();
            let mut filled =
                kept.ok_or_else(|| Failure::Said("the jbufs were not returned".to_owned()))?;
            prepare(filled.as_bytes_mut(), &self.work, self.sent);
            return Ok(filled);
        }
        let empty = self.endpoint.take(self.work.size)?;
        Ok(match (self.work.touch, self.work.check) {
            (Touch::Dirty, false) => {
                let [fill, ..] = self.sent.to_le_bytes();
                empty.filled_with(self.work.size, |_| fill)?
            }
            _ => empty.copy_from(self.ready())?,
        })
    }

    /// Receives a message, and returns its kind.
    #[inline]
    fn recv(&mut self) -> Result<u32, Failure> {
        let header = match self.work.receive {
            Receive::Into => {
                let bytes = self.to.next();
                let header = self.endpoint.recv_into_within(bytes, self.patience)?;
                self.received = self.received.wrapping_add(1);
                check(bytes, &header, &self.work, self.received).map(|()| header)
            }
            Receive::Copied => {
                let message = self.endpoint.recv_message_within(self.patience)?;
                let (bytes, came) = (self.to.next(), message.payload.as_bytes());
                if let Some(bytes) = bytes.get_mut(..came.len()) {
                    bytes.copy_from_slice(came);
                }
                self.received = self.received.wrapping_add(1);
                check(bytes, &message.header, &self.work, self.received).map(|()| message.header)
            }
            Receive::Jbuf | Receive::Trusted | Receive::Moved => {
                let message = self.endpoint.recv_message_within(self.patience)?;
                self.received = self.received.wrapping_add(1);
                let bytes = message.payload.as_bytes();
                let looked = check(bytes, &message.header, &self.work, self.received);
                let header = message.header;
                self.keep(message);
                looked.map(|()| header)
            }
        };
        match header {
            Ok(header) => Ok(header.kind),
            Err(wrong) => Err(self.blame(wrong)),
        }
    }

    /// Converts a mismatch to an error, and reports a wrong payload to the other side.
    #[cold]
    fn blame(&self, wrong: Wrong) -> Failure {
        match wrong {
            Wrong::Kind(failure) => failure,
            Wrong::Payload { at } => {
                let number = self.received;
                let _ = send_words(self.endpoint, WRONG, [number, at as u64, 0]);
                Failure::Said(format!(
                    "message {number} differs from what was sent, from byte {at} on"
                ))
            }
        }
    }

    #[inline]
    fn keep(&mut self, message: Message) {
        if self.work.receive == Receive::Moved {
            self.kept.push_back(message.payload);
        } else if self.work.places > 1 {
            self.kept.push_back(message.payload);
            if self.kept.len() >= self.work.places as usize {
                self.kept.pop_front();
            }
        }
    }

    /// Sends and receives at the same time.
    fn cross(&mut self, kind: u32) -> Result<u32, Failure> {
        let header = self.header(kind);
        let endpoint = self.endpoint;
        if matches!(self.work.receive, Receive::Moved | Receive::Trusted) {
            let filled = self.filled()?;
            let ticket = endpoint.post_send(header, filled);
            let kind = self.recv()?;
            ticket.wait()?;
            return Ok(kind);
        }
        // The memory is moved out, so that `self` can be borrowed for receiving.
        let mut from = std::mem::replace(&mut self.from, Places::new(0, 0, 0));
        let bytes = from.next();
        prepare(bytes, &self.work, self.sent);
        let bytes = &*bytes;
        let kind = endpoint.scope(|scope| {
            let ticket = scope.post_send(header, &[IoSlice::new(bytes)]);
            let kind = self.recv()?;
            ticket.wait()?;
            Ok(kind)
        });
        self.from = from;
        kind
    }

    /// Announces a message, and sends it when it is requested.
    fn announce(&mut self, kind: u32) -> Result<(), Failure> {
        send_words(self.endpoint, ANNOUNCED, [self.work.size as u64, 0, 0])?;
        let header = self.endpoint.recv_into_within(&mut [], self.patience)?;
        expect(&header, WANTED, None)?;
        self.send(kind)
    }

    /// Waits for an announcement, requests the message, and receives it.
    fn ask(&mut self) -> Result<u32, Failure> {
        let header = self.endpoint.recv_into_within(&mut [], self.patience)?;
        expect(&header, ANNOUNCED, None)?;
        send_words(self.endpoint, WANTED, [0; 3])?;
        self.recv()
    }
}

impl Exchange for Party<'_> {
    #[inline]
    fn exchange(&mut self, is_last: bool) -> Result<(), Failure> {
        let kind = if is_last { LAST } else { DATA };
        match self.work.op {
            Op::Pingpong => {
                self.send(kind)?;
                self.recv().map(drop)
            }
            Op::Pingping => self.cross(kind).map(drop),
            Op::Bandwidth | Op::Rate => {
                for left in (0..self.work.window).rev() {
                    self.send(if left == 0 { kind } else { DATA })?;
                }
                let header = self.endpoint.recv_into_within(&mut [], self.patience)?;
                expect(&header, ACK, None)
            }
            Op::Rendezvous => {
                self.announce(kind)?;
                self.ask().map(drop)
            }
            Op::Tags => unreachable!("ranks perform these exchanges"),
        }
    }
}

/// A mismatch of a received message.
enum Wrong {
    Kind(Failure),
    Payload { at: usize },
}

/// Checks a received message, as the options of the measurement demand.
#[inline]
fn check(bytes: &[u8], header: &Header, work: &Work, number: u64) -> Result<(), Wrong> {
    if !matches!(header.kind, DATA | LAST) {
        return Err(Wrong::Kind(instead(header, Some(bytes))));
    }
    if work.check && header.tag() != number {
        return Err(Wrong::Payload { at: 0 });
    }
    inspect(bytes, header.length, work, number).map_err(|at| Wrong::Payload { at })
}
