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
use std::os::fd::{AsFd, BorrowedFd};

use rustls::{ClientConnection, ServerConnection};
use socket2::{SockAddr, Socket};

use self::handshake::{agree, explain, in_words};
use self::wire::TlsWire;
use super::connection::{Accept, Connection, Device, Establish, PeerIdentity};
use super::deadline::Deadline;
use super::stream::connection;
use super::stream::greeting::{BRIEFLY, Unwelcome, greet_until, refuse, welcome_until};
use super::stream::hello::Hello;
use super::stream::listening::Family;
use super::stream::socket::SocketWire;
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
        let wire =
            agree(SocketWire::new(socket), session.into(), options, deadline).map_err(handshake)?;
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
            socket,
            peer,
            options: options.clone(),
        })
    }
}

/// An accepted socket before the TLS handshake.
struct PendingTls {
    socket: Socket,
    peer: Address,
    options: Options,
}

impl PendingTls {
    fn agree(
        socket: Socket,
        options: &Options,
        until: Deadline,
    ) -> Result<TlsWire, HandshakeError> {
        let config = options.tls.as_ref().and_then(|tls| tls.server());
        let config = config.ok_or_else(|| HandshakeError::Tls {
            reason: "no server certificate is configured (Options::tls)".into(),
        })?;
        let session = ServerConnection::new(config.clone()).map_err(|error| in_words(&error))?;
        agree(SocketWire::new(socket), session.into(), options, until)
    }
}

impl Establish for PendingTls {
    fn establish(self: Box<Self>) -> Result<Connection, HandshakeError> {
        let Self {
            socket,
            peer,
            options,
        } = *self;
        prepare(&socket, &options).map_err(|source| HandshakeError::System { source })?;
        let deadline = Deadline::after(options.handshake_timeout);
        let wire = Self::agree(socket, &options, deadline)?;
        let theirs = welcome_until(&wire, &options, deadline).map_err(explain)?;
        Ok(identified(wire, peer, theirs, &options))
    }

    fn socket(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn refuse(self: Box<Self>, reason: &str) {
        let most = self.options.handshake_timeout.min(BRIEFLY);
        // If the TLS handshake fails, the peer is not told the reason.
        if let Ok(wire) = Self::agree(self.socket, &self.options, Deadline::after(most)) {
            refuse(&wire, &self.options, reason);
        }
    }
}
