//! The TLS handshake.

use std::io::IoSlice;

use rustls::{ClientConnection, Connection};

use super::arrived::Arrived;
use super::wire::{TlsWire, flush};
use crate::deadline::Deadline;
use crate::stream::Wire;
use crate::stream::hello::MAGIC;
use crate::stream::socket::SocketWire;
use jstream_base::HandshakeError;
use jstream_base::Options;
use jstream_sync::watcher::Interest;

/// The types of the records that a handshake consists of: change of cipher, alert, handshake.
const FIRST: std::ops::RangeInclusive<u8> = 0x14..=0x16;

/// The fatal alert `unexpected_message`, as an unencrypted record of TLS 1.2, which clients and
/// servers of all versions understand.
const UNEXPECTED: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 10];

/// The longest reason of a failure, in bytes.
const MAX_REASON: usize = 256;

/// Performs the TLS handshake of a client until the deadline. The exchange of greetings has to
/// follow.
pub(super) fn agree(
    socket: SocketWire,
    tls: ClientConnection,
    options: &Options,
    deadline: Deadline,
) -> Result<TlsWire, HandshakeError> {
    let mut shaking = Shaking::new(socket, Some(tls.into()));
    loop {
        let done = shaking.advance(|| Err(shaking_without_session()));
        match done {
            Ok(true) => return shaking.finish(),
            Ok(false) if deadline.has_passed() => return Err(shaking.timed_out(options)),
            Ok(false) => {
                let slept = shaking.socket.sleep(shaking.interest(), deadline);
                slept.map_err(|source| HandshakeError::System { source })?;
            }
            Err(error) => {
                shaking.send_alert(&error);
                return Err(explain(error));
            }
        }
    }
}

/// A TLS handshake, which does not block.
pub(super) struct Shaking {
    socket: SocketWire,
    /// `None` at a server until the first bytes have arrived, because a session needs memory.
    tls: Option<Connection>,
    arrived: Arrived,
    /// Total number of bytes received.
    received: usize,
    /// True if bytes wait to be sent.
    writes: bool,
}

impl Shaking {
    pub(super) fn new(socket: SocketWire, tls: Option<Connection>) -> Self {
        Self {
            socket,
            tls,
            arrived: Arrived::default(),
            received: 0,
            writes: false,
        }
    }

    /// Continues as far as is possible without blocking. Returns true once the handshake is
    /// complete. `session` makes the session if there is none yet.
    pub(super) fn advance(
        &mut self,
        session: impl FnOnce() -> Result<Connection, HandshakeError>,
    ) -> Result<bool, HandshakeError> {
        let broken = |source| HandshakeError::System { source };
        let mut session = Some(session);
        loop {
            if let Some(tls) = &mut self.tls {
                let flushed = flush(tls, &self.socket).map_err(broken)?;
                self.writes = !flushed;
                if !flushed {
                    return Ok(false);
                }
                if !tls.is_handshaking() {
                    return Ok(true);
                }
            }
            if self.arrived.bytes().is_empty() && !self.receive()? {
                return Ok(false);
            }
            if let (None, Some(session)) = (&self.tls, session.take()) {
                self.tls = Some(session()?);
            }
            let Some(tls) = &mut self.tls else {
                return Err(shaking_without_session());
            };
            let n = tls.read_tls(&mut self.arrived.bytes()).map_err(broken)?;
            self.arrived.consume(n);
            tls.process_new_packets()
                .map_err(|error| in_words(&error))?;
            if n == 0 {
                return Err(self.closed());
            }
        }
    }

    /// Receives more bytes. Returns false if there are none.
    fn receive(&mut self) -> Result<bool, HandshakeError> {
        let received = self.arrived.receive(&self.socket);
        let received = received.map_err(|source| HandshakeError::System { source })?;
        let Some(n) = received else {
            self.arrived.rest();
            return Ok(false);
        };
        if self.received == 0 {
            is_tls(self.arrived.bytes()).inspect_err(|_| {
                // Tells a client without encryption what this side expects. If it can't be sent
                // now, the client learns only that the connection has ended.
                let _ = self.socket.try_write(&[IoSlice::new(&UNEXPECTED)]);
            })?;
        }
        self.received = self.received.saturating_add(n);
        if n == 0 { Err(self.closed()) } else { Ok(true) }
    }

    /// Returns the stream after the handshake is complete.
    pub(super) fn finish(self) -> Result<TlsWire, HandshakeError> {
        let tls = self.tls.ok_or_else(shaking_without_session)?;
        Ok(TlsWire::new(self.socket, tls, self.arrived))
    }

    /// Tells the peer the reason of the failure.
    pub(super) fn send_alert(&mut self, error: &HandshakeError) {
        if matches!(error, HandshakeError::Tls { .. }) {
            if let Some(tls) = &mut self.tls {
                // A failure is ignored, because then no peer is listening.
                let _ = flush(tls, &self.socket);
            }
            self.socket.end_sending();
        }
    }

    pub(super) fn socket(&self) -> &SocketWire {
        &self.socket
    }

    /// Returns the readiness to wait for.
    pub(super) fn interest(&self) -> Interest {
        if self.writes {
            Interest::Writable
        } else {
            Interest::Readable
        }
    }

    pub(super) fn timed_out(&self, options: &Options) -> HandshakeError {
        HandshakeError::TimedOut {
            received: self.received,
            after: options.handshake_timeout,
        }
    }

    fn closed(&self) -> HandshakeError {
        HandshakeError::Closed {
            received: self.received,
        }
    }
}

fn shaking_without_session() -> HandshakeError {
    HandshakeError::Tls {
        reason: "there is no session".into(),
    }
}

/// Checks that the first bytes from a peer can be TLS. If not, returns a better error than the TLS
/// library, which would try to parse them.
fn is_tls(bytes: &[u8]) -> Result<(), HandshakeError> {
    if bytes.first().is_none_or(|first| FIRST.contains(first)) {
        return Ok(());
    }
    let start = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    let reason = if start == MAGIC {
        "the peer communicates without encryption; use tls://host:port on both sides".into()
    } else {
        format!("the peer does not speak TLS: it began with {start:02x?}")
    };
    Err(HandshakeError::Tls { reason })
}

/// Converts an error of the stream to the TLS error that caused it, if there is one.
pub(super) fn explain(error: HandshakeError) -> HandshakeError {
    let HandshakeError::System { source } = &error else {
        return error;
    };
    let inner = source.get_ref();
    match inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(why) => in_words(why),
        None => error,
    }
}

pub(super) fn in_words(error: &rustls::Error) -> HandshakeError {
    let mut reason = match error {
        rustls::Error::AlertReceived(alert) => {
            format!("the peer sent a TLS alert: {alert:?}")
        }
        error => error.to_string(),
    };
    let mut end = reason.len().min(MAX_REASON);
    while !reason.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    reason.truncate(end);
    HandshakeError::Tls { reason }
}
