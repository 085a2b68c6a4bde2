//! The halves of a connection.

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::Filled;

use super::assembly::{Assembly, Fault};
use super::socket::{Connection, Failure, Patience};
use crate::device::deadline::Deadline;
use crate::device::link::{Message, ReceiveHalf, SendHalf, payload_length};
use crate::error::{RecvError, SendError, Unsent};
use crate::header::Header;
use crate::options::Options;

/// How many slices one call sends when a message has few segments, and when it has many. The
/// system allows at least the latter.
const FEW: usize = 8;
const MANY: usize = 256;

pub(super) struct TcpSender {
    connection: Arc<Connection>,
    patience: Patience,
    send_timeout: Duration,
    max_message: u64,
    /// A message was sent in part, so that nothing can follow it.
    broken: bool,
}

impl TcpSender {
    /// `patience` is what the socket was told so far, `max_message` what the peer takes.
    pub(super) fn new(
        connection: Arc<Connection>,
        patience: Patience,
        options: &Options,
        max_message: u64,
    ) -> Self {
        Self {
            connection,
            patience,
            send_timeout: options.send_timeout,
            max_message,
            broken: false,
        }
    }

    fn check(&self, length: Option<u64>) -> Result<u64, SendError> {
        if self.connection.is_closed() {
            return Err(SendError::ClosedLocally {
                peer: self.connection.peer(),
            });
        }
        if self.broken {
            return Err(SendError::Closed {
                peer: self.connection.peer(),
            });
        }
        length
            .filter(|length| *length <= self.max_message)
            .ok_or_else(|| SendError::TooLarge {
                length: length.unwrap_or(u64::MAX),
                max: self.max_message,
                peer: self.connection.peer(),
            })
    }

    /// Sends the header and all segments, at most `N` slices in one call.
    fn write<const N: usize>(
        &mut self,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        let deadline = Deadline::after(self.send_timeout);
        let head = header.to_bytes();
        let mut sent = 0u64;
        let mut slices = std::iter::once(IoSlice::new(&head))
            .chain(segments.iter().copied())
            .filter(|slice| !slice.is_empty());
        let mut batch = [IoSlice::new(&[]); N];
        loop {
            let mut count = 0usize;
            for (place, slice) in batch.iter_mut().zip(&mut slices) {
                *place = slice;
                count = count.saturating_add(1);
            }
            let mut rest = batch.get_mut(..count).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            while !rest.is_empty() {
                let socket = self.connection.socket();
                match self.patience.send(socket, deadline, rest) {
                    Ok(n) => {
                        sent = sent.saturating_add(n as u64);
                        IoSlice::advance_slices(&mut rest, n);
                    }
                    Err(failure) => return Err(self.failed(failure, sent, header.length)),
                }
            }
        }
    }

    fn failed(&mut self, failure: Failure, sent: u64, length: u64) -> SendError {
        let peer = self.connection.peer();
        if self.connection.is_closed() {
            return SendError::ClosedLocally { peer };
        }
        let after = self.send_timeout;
        let error = match failure {
            Failure::TimedOut if sent == 0 => return SendError::TimedOut { after, peer },
            Failure::TimedOut => SendError::Stalled {
                sent,
                total: length.saturating_add(Header::WIRE_LENGTH as u64),
                after,
                peer,
            },
            Failure::System(source) if sent == 0 && source.kind() == io::ErrorKind::BrokenPipe => {
                SendError::Closed { peer }
            }
            Failure::System(source) => SendError::Lost { peer, source },
        };
        self.broken = true;
        self.connection.end();
        error
    }
}

impl SendHalf for TcpSender {
    fn send(&mut self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), SendError> {
        let length = self.check(payload_length(segments))?;
        let header = header.with_length(length);
        if segments.len() < FEW {
            self.write::<FEW>(header, segments)
        } else {
            self.write::<MANY>(header, segments)
        }
    }

    fn send_filled(&mut self, header: Header, filled: Filled) -> Result<(), Unsent> {
        match self.send(header, &[IoSlice::new(filled.as_bytes())]) {
            Ok(()) => Ok(()),
            Err(error) => Err(Unsent { error, filled }),
        }
    }

    fn max_message(&self) -> u64 {
        self.max_message
    }
}

impl Drop for TcpSender {
    fn drop(&mut self) {
        self.connection.end_sending();
    }
}

pub(super) struct TcpReceiver {
    connection: Arc<Connection>,
    patience: Patience,
    assembly: Assembly,
    message_timeout: Duration,
    /// What is left of `message_timeout` for the message that has begun.
    budget: Duration,
    /// Whatever still comes can't be understood.
    broken: bool,
}

impl TcpReceiver {
    /// `patience` is what the socket was told so far.
    pub(super) fn new(connection: Arc<Connection>, patience: Patience, options: &Options) -> Self {
        Self {
            connection,
            patience,
            assembly: Assembly::new(options.pool.clone(), options.max_message),
            message_timeout: options.message_timeout,
            budget: options.message_timeout,
            broken: false,
        }
    }

    fn receive_more(&mut self, deadline: Deadline) -> Result<usize, Interruption> {
        let mut slices = self.assembly.spare()?;
        let socket = self.connection.socket();
        let n = self.patience.receive(socket, deadline, &mut slices)?;
        // SAFETY: `spare` was the last call, and the system says that it wrote `n` bytes to its
        // slices, filling the first one before the second.
        unsafe { self.assembly.received_more(n) };
        Ok(n)
    }

    fn fault(&mut self, fault: Fault) -> RecvError {
        let peer = self.connection.peer();
        let error = match fault {
            Fault::NoBuffer { length, source } => {
                return RecvError::NoBuffer {
                    length,
                    peer,
                    source,
                };
            }
            Fault::TooLarge { length } => RecvError::TooLarge {
                length,
                max: self.assembly.max_message(),
                peer,
            },
            Fault::Malformed(source) => RecvError::Malformed { peer, source },
        };
        self.give_up();
        error
    }

    /// What the end of the stream means.
    fn ended(&self) -> RecvError {
        let peer = self.connection.peer();
        if self.connection.is_closed() {
            return RecvError::ClosedLocally { peer };
        }
        match self.assembly.received() {
            0 => RecvError::Closed { peer },
            received => RecvError::Lost {
                received,
                peer,
                source: io::ErrorKind::UnexpectedEof.into(),
            },
        }
    }

    fn lost(&self, source: io::Error) -> RecvError {
        let peer = self.connection.peer();
        if self.connection.is_closed() {
            return RecvError::ClosedLocally { peer };
        }
        RecvError::Lost {
            received: self.assembly.received(),
            peer,
            source,
        }
    }

    fn give_up(&mut self) {
        self.broken = true;
        self.connection.end();
    }
}

impl ReceiveHalf for TcpReceiver {
    fn receive(&mut self, timeout: Option<Duration>) -> Result<Message, RecvError> {
        if self.connection.is_closed() {
            return Err(self.ended());
        }
        if self.broken {
            return Err(self.lost(io::ErrorKind::ConnectionAborted.into()));
        }
        let call = timeout.map_or(Deadline::NEVER, Deadline::after);
        let mut rest_of_message = Deadline::NEVER;
        loop {
            match self.assembly.take_message() {
                Ok(Some(message)) => {
                    self.budget = self.message_timeout;
                    return Ok(message);
                }
                Ok(None) => {}
                Err(fault) => return Err(self.fault(fault)),
            }
            if rest_of_message.is_never() && self.assembly.received() > 0 {
                rest_of_message = Deadline::after(self.budget);
            }
            match self.receive_more(call.or_sooner(rest_of_message)) {
                Ok(0) => return Err(self.ended()),
                Ok(_) => {}
                Err(Interruption::Fault(fault)) => return Err(self.fault(fault)),
                Err(Interruption::Failure(Failure::System(error))) => return Err(self.lost(error)),
                Err(Interruption::Failure(Failure::TimedOut)) => {
                    let peer = self.connection.peer();
                    if rest_of_message.has_passed() {
                        self.give_up();
                        return Err(RecvError::Stalled {
                            received: self.assembly.received(),
                            after: self.message_timeout,
                            peer,
                        });
                    }
                    self.budget = rest_of_message.left().unwrap_or(self.budget);
                    return Err(RecvError::TimedOut {
                        after: timeout.unwrap_or_default(),
                        peer,
                    });
                }
            }
        }
    }

    fn max_message(&self) -> u64 {
        self.assembly.max_message()
    }
}

/// Why no bytes came.
enum Interruption {
    Fault(Fault),
    Failure(Failure),
}

impl From<Fault> for Interruption {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Failure> for Interruption {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}
