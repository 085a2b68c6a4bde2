//! Connections over TLS.
//!
//! The encrypted protocol is that of [`tcp`](super::tcp). The certificates of both sides are
//! checked before or together with the first byte of the greeting. Modules: `handshake` performs
//! the TLS handshake, `wire` is the resulting stream, `arrived` holds received bytes that were not
//! decrypted yet, and `room` is the destination of plain text.

mod arrived;
mod handshake;
mod room;
mod wire;

use std::io;
use std::mem;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustls::{ClientConnection, ServerConnection};
use socket2::{SockAddr, Socket};

use self::handshake::{Shaking, agree, explain, in_words};
use self::wire::TlsWire;
use super::connection::{Accept, Connection, Device, Establish, Farewell, Interest, PeerIdentity};
use super::deadline::Deadline;
use super::stream::greeting::{Unwelcome, Welcoming, discard, greet_until};
use super::stream::hello::Hello;
use super::stream::listening::Family;
use super::stream::socket::SocketWire;
use super::stream::{Wire, connection};
use super::tcp::{self, prepare};
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, HandshakeError, ListenError};

/// The device of `tls://host:port`.
pub(super) struct TlsDevice;

const SCHEME: &str = "tls";

impl Device for TlsDevice {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        if options.tls.as_ref().and_then(|tls| tls.server()).is_none() {
            return Err(ListenError::NoCertificate {
                address: address.clone(),
            });
        }
        tcp::listen(address, options, TlsFamily, Address::tls_peer)
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        let lacking = || ConnectError::NoCertificate {
            address: address.clone(),
        };
        let (Some(tls), Address::Tls { host, .. }) = (&options.tls, address) else {
            return Err(lacking());
        };
        let config = tls.client().ok_or_else(lacking)?;
        let handshake = |source| Unwelcome::Handshake(source).at(address);
        let name = tls.expected(host).map_err(|error| {
            let reason = error.to_string();
            handshake(HandshakeError::Tls { reason })
        })?;
        let session = ClientConnection::new(config.clone(), name)
            .map_err(|error| handshake(in_words(&error)))?;
        let (socket, at) = tcp::connect_to(address, options)?;
        prepare(&socket, options).map_err(|source| handshake(HandshakeError::System { source }))?;
        let deadline = Deadline::after(options.handshake_timeout);
        let wire = agree(SocketWire::new(socket), session, options, deadline).map_err(handshake)?;
        let theirs = greet_until(&wire, options, deadline).map_err(|unwelcome| {
            // The server checks the client's certificate after the client has completed its
            // handshake.
            match unwelcome {
                Unwelcome::Handshake(error) => handshake(explain(error)),
                refused @ Unwelcome::Refused(_) => refused.at(address),
            }
        })?;
        Ok(identified(wire, Address::tls_peer(at), theirs, options))
    }
}

/// Listens on a TCP socket that other processes have, too.
pub(super) fn listen_shared(
    socket: Socket,
    options: &Options,
) -> Result<Box<dyn Accept>, ListenError> {
    if options.tls.as_ref().and_then(|tls| tls.server()).is_none() {
        let local = socket.local_addr().ok().and_then(|local| local.as_socket());
        let local = local.unwrap_or_else(|| ([0; 4], 0).into());
        return Err(ListenError::NoCertificate {
            address: Address::tls_peer(local),
        });
    }
    tcp::listen_shared_of(socket, options, TlsFamily, Address::tls_peer)
}

/// Creates a connection with the certificate of the peer.
fn identified(wire: TlsWire, peer: Address, theirs: Hello, options: &Options) -> Connection {
    let identity = PeerIdentity {
        certificate: wire.certificate(),
        ..PeerIdentity::default()
    };
    Connection {
        identity,
        ..connection(wire, (peer, SCHEME), theirs, options)
    }
}

/// The family of TCP sockets with TLS.
struct TlsFamily;

impl Family for TlsFamily {
    const SCHEME: &'static str = SCHEME;

    fn peer(&self, _socket: &Socket, from: &SockAddr) -> io::Result<Address> {
        let from = from.as_socket();
        from.map(Address::tls_peer)
            .ok_or_else(|| io::Error::other("the socket has no IP address"))
    }

    fn prepare(socket: &Socket, options: &Options) -> io::Result<()> {
        prepare(socket, options)
    }

    fn half_made(socket: Socket, peer: Address, options: &Options) -> Box<dyn Establish> {
        Box::new(PendingTls {
            stage: Stage::Shaking(Shaking::new(SocketWire::new(socket), None)),
            peer,
            options: options.clone(),
        })
    }
}

/// An accepted socket before the greetings were exchanged.
struct PendingTls {
    stage: Stage,
    peer: Address,
    options: Options,
}

/// Progress of an accepted socket.
enum Stage {
    Shaking(Shaking),
    Greeting(TlsWire, Welcoming),
    /// The connection was returned.
    Connected,
}

impl PendingTls {
    fn session(options: &Options) -> Result<rustls::Connection, HandshakeError> {
        let config = options.tls.as_ref().and_then(|tls| tls.server());
        let config = config.ok_or_else(|| HandshakeError::Tls {
            reason: "no server certificate is configured (Options::tls)".into(),
        })?;
        let session = ServerConnection::new(config.clone()).map_err(|error| in_words(&error))?;
        Ok(session.into())
    }

    /// Performs the TLS handshake. Returns true once it is complete.
    fn shake(&mut self) -> Result<bool, HandshakeError> {
        let Stage::Shaking(shaking) = &mut self.stage else {
            return Ok(true);
        };
        match shaking.advance(|| Self::session(&self.options)) {
            Ok(false) => Ok(false),
            Ok(true) => {
                if let Stage::Shaking(shaking) = mem::replace(&mut self.stage, Stage::Connected) {
                    self.stage = Stage::Greeting(shaking.finish()?, Welcoming::default());
                }
                Ok(true)
            }
            Err(error) => {
                shaking.send_alert(&error);
                Err(explain(error))
            }
        }
    }
}

impl Establish for PendingTls {
    fn read_greeting(&mut self) -> Result<bool, HandshakeError> {
        if !self.shake()? {
            return Ok(false);
        }
        match &mut self.stage {
            Stage::Greeting(wire, welcoming) => {
                welcoming.read_hello(wire, &self.options).map_err(explain)
            }
            Stage::Shaking(_) | Stage::Connected => Err(HandshakeError::Closed { received: 0 }),
        }
    }

    fn accept(&mut self) -> Result<Option<Connection>, HandshakeError> {
        let Stage::Greeting(wire, welcoming) = &mut self.stage else {
            return Err(HandshakeError::Closed { received: 0 });
        };
        let Some(theirs) = welcoming.accept(wire, &self.options).map_err(explain)? else {
            return Ok(None);
        };
        prepare(wire.socket().socket(), &self.options)
            .map_err(|source| HandshakeError::System { source })?;
        let peer = self.peer.clone();
        Ok(match mem::replace(&mut self.stage, Stage::Connected) {
            Stage::Greeting(wire, _) => Some(identified(wire, peer, theirs, &self.options)),
            Stage::Shaking(_) | Stage::Connected => None,
        })
    }

    /// If the TLS handshake is not complete, the peer is not told the reason.
    fn decline(&mut self, reason: &str) {
        match &mut self.stage {
            Stage::Greeting(_, welcoming) => welcoming.decline(&self.options, reason),
            Stage::Shaking(shaking) => shaking.socket().end_sending(),
            Stage::Connected => {}
        }
    }

    fn farewell(&mut self) -> Farewell {
        match &mut self.stage {
            Stage::Greeting(wire, welcoming) => welcoming.farewell(wire),
            Stage::Shaking(shaking) => discard(shaking.socket()),
            Stage::Connected => Farewell::Gone,
        }
    }

    fn timed_out(&self) -> HandshakeError {
        match &self.stage {
            Stage::Shaking(shaking) => shaking.timed_out(&self.options),
            Stage::Greeting(_, welcoming) => welcoming.timed_out(&self.options),
            Stage::Connected => HandshakeError::Closed { received: 0 },
        }
    }

    fn timeout(&self) -> Duration {
        self.options.handshake_timeout
    }

    fn source(&self) -> Option<(BorrowedFd<'_>, Interest)> {
        let socket = self.socket()?;
        let interest = match &self.stage {
            Stage::Shaking(shaking) => shaking.interest(),
            Stage::Greeting(_, welcoming) => welcoming.interest(),
            Stage::Connected => Interest::Readable,
        };
        Some((socket, interest))
    }

    fn socket(&self) -> Option<BorrowedFd<'_>> {
        match &self.stage {
            Stage::Shaking(shaking) => Some(shaking.socket().fd()),
            Stage::Greeting(wire, _) => Some(wire.fd()),
            Stage::Connected => None,
        }
    }
}
