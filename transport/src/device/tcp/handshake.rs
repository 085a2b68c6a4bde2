//! From a connected socket to a link.

use std::io::IoSlice;
use std::sync::Arc;

use jstream::buffer::Spent;
use socket2::{MaybeUninitSlice, Socket};

use super::halves::{TcpReceiver, TcpSender};
use super::hello::Hello;
use super::socket::{Connection, Failure, Patience, prepare};
use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::device::link::{Closer, Link};
use crate::error::HandshakeError;
use crate::options::Options;

/// Exchanges greetings. Both sides send theirs at once and then read the other's, so that both
/// learn what does not fit.
pub(super) fn handshake(
    socket: Socket,
    peer: Address,
    options: &Options,
) -> Result<Link, HandshakeError> {
    prepare(&socket, options).map_err(|source| HandshakeError::System { source })?;
    let deadline = Deadline::after(options.handshake_timeout);
    let mut sending = Patience::to_send();
    let mut receiving = Patience::to_receive();
    let ours = Hello {
        max_message: options.max_message,
    };
    greet(&socket, &mut sending, deadline, ours).map_err(|failure| because(failure, 0, options))?;
    let theirs = be_greeted(&socket, &mut receiving, deadline, options)?;

    let connection = Arc::new(Connection::new(socket, peer.clone()));
    let closer = Closer::of(&connection);
    let sender = TcpSender::new(connection.clone(), sending, options, theirs.max_message);
    let receiver = TcpReceiver::new(connection, receiving, options);
    Ok(Link::new(peer, sender, receiver, closer))
}

fn greet(
    socket: &Socket,
    patience: &mut Patience,
    deadline: Deadline,
    hello: Hello,
) -> Result<(), Failure> {
    let bytes = hello.to_bytes();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let n = patience.send(socket, deadline, &[IoSlice::new(rest)])?;
        rest = rest.get(n..).unwrap_or_default();
    }
    Ok(())
}

fn be_greeted(
    socket: &Socket,
    patience: &mut Patience,
    deadline: Deadline,
    options: &Options,
) -> Result<Hello, HandshakeError> {
    let mut filling = Spent::heap(Hello::WIRE_LENGTH).filling();
    loop {
        if let Ok(bytes) = filling.as_bytes().try_into() {
            return Hello::from_bytes(bytes);
        }
        let received = filling.len();
        // A jbuf on the heap has exactly the capacity asked for, so nothing of the first message
        // is read here.
        let mut slices = [MaybeUninitSlice::new(filling.rest_mut())];
        match patience.receive(socket, deadline, &mut slices) {
            Ok(0) => return Err(HandshakeError::Closed { received }),
            // SAFETY: the system says that it wrote `n` bytes to the free part.
            Ok(n) => unsafe { filling.advance(n) },
            Err(failure) => return Err(because(failure, received, options)),
        }
    }
}

fn because(failure: Failure, received: usize, options: &Options) -> HandshakeError {
    match failure {
        Failure::TimedOut => HandshakeError::TimedOut {
            received,
            after: options.handshake_timeout,
        },
        Failure::System(source) => HandshakeError::System { source },
    }
}
