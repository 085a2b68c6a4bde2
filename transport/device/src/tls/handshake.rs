//! The TLS handshake.

use rustls::Connection;

use super::arrived::Arrived;
use super::wire::{TlsWire, flush};
use crate::deadline::Deadline;
use crate::stream::Wire;
use crate::stream::greeting::BRIEFLY;
use crate::stream::hello::MAGIC;
use crate::stream::socket::SocketWire;
use jstream_base::HandshakeError;
use jstream_base::Options;
use jstream_sync::watcher::Interest;

/// The types of the records that a handshake consists of: change of cipher, alert, handshake.
const FIRST: std::ops::RangeInclusive<u8> = 0x14..=0x16;

/// Maximum number of pieces that are read and discarded before a failed connection is closed.
const LAST_WORDS: usize = 64;

/// The longest reason of a failure, in bytes.
const MAX_REASON: usize = 256;

/// Performs the TLS handshake on a socket until the deadline. The exchange of greetings has to
/// follow.
pub(super) fn agree(
    socket: SocketWire,
    mut tls: Connection,
    options: &Options,
    deadline: Deadline,
) -> Result<TlsWire, HandshakeError> {
    let mut arrived = Arrived::default();
    let mut shaking = Shaking {
        socket: &socket,
        arrived: &mut arrived,
        received: 0,
        options,
        deadline,
    };
    match shaking.shake(&mut tls) {
        Ok(()) => Ok(TlsWire::new(socket, tls, arrived)),
        Err(error) => {
            leave(&socket, &mut tls, &error);
            Err(explain(error))
        }
    }
}

struct Shaking<'s> {
    socket: &'s SocketWire,
    arrived: &'s mut Arrived,
    /// Total number of bytes received.
    received: usize,
    options: &'s Options,
    deadline: Deadline,
}

impl Shaking<'_> {
    fn shake(&mut self, tls: &mut Connection) -> Result<(), HandshakeError> {
        let broken = |source| HandshakeError::System { source };
        loop {
            let flushed = flush(tls, self.socket).map_err(broken)?;
            if flushed && !tls.is_handshaking() {
                return Ok(());
            }
            if self.deadline.has_passed() {
                return Err(HandshakeError::TimedOut {
                    received: self.received,
                    after: self.options.handshake_timeout,
                });
            }
            if !flushed {
                let slept = self.socket.sleep(Interest::Writable, self.deadline);
                slept.map_err(broken)?;
            } else if self.arrived.bytes().is_empty() {
                self.receive()?;
            } else {
                let n = tls.read_tls(&mut self.arrived.bytes()).map_err(broken)?;
                self.arrived.consume(n);
                tls.process_new_packets()
                    .map_err(|error| in_words(&error))?;
                if n == 0 {
                    return Err(self.closed());
                }
            }
        }
    }

    /// Receives more bytes, or sleeps until there are some.
    fn receive(&mut self) -> Result<(), HandshakeError> {
        let broken = |source| HandshakeError::System { source };
        let received = self.arrived.receive(self.socket).map_err(broken)?;
        let Some(n) = received else {
            let slept = self.socket.sleep(Interest::Readable, self.deadline);
            return slept.map_err(broken);
        };
        if self.received == 0 {
            is_tls(self.arrived.bytes())?;
        }
        self.received = self.received.saturating_add(n);
        if n == 0 { Err(self.closed()) } else { Ok(()) }
    }

    fn closed(&self) -> HandshakeError {
        HandshakeError::Closed {
            received: self.received,
        }
    }
}

/// Checks that the first bytes from a peer can be TLS. If not, returns a better error than the TLS
/// library, which would try to parse them.
fn is_tls(bytes: &[u8]) -> Result<(), HandshakeError> {
    if bytes.first().is_none_or(|first| FIRST.contains(first)) {
        return Ok(());
    }
    let begins = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    let reason = if begins == MAGIC {
        "the peer communicates without encryption; use tls://host:port on both sides".into()
    } else {
        format!("the peer does not speak TLS: it began with {begins:02x?}")
    };
    Err(HandshakeError::Tls { reason })
}

/// Tells the peer the reason of the failure.
fn leave(socket: &SocketWire, tls: &mut Connection, error: &HandshakeError) {
    if !matches!(error, HandshakeError::Tls { .. }) {
        return;
    }
    // A failure is ignored, because then no peer is listening.
    let _ = flush(tls, socket);
    socket.end_sending();
    if matches!(tls, Connection::Client(_)) {
        return;
    }
    // The client may have sent more data by now. If the socket were closed with unread bytes, the
    // kernel would discard the alert that was sent.
    let deadline = Deadline::after(BRIEFLY);
    let mut last_words = Arrived::default();
    for _ in 0..LAST_WORDS {
        match last_words.receive(socket) {
            Ok(Some(1..)) => {}
            Ok(None) if !deadline.has_passed() => {
                let _ = socket.sleep(Interest::Readable, deadline);
            }
            _ => return,
        }
    }
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
