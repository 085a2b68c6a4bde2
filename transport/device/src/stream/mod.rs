//! Messages over any ordered stream of bytes.
//!
//! ```text
//! client:  Hello                             messages
//! server:         Hello Verdict [reason]     messages
//! ```
//!
//! A message is a [`Header`] followed by its payload. A clean shutdown sends
//! [`FAREWELL`](assembly::FAREWELL). A stream that ends without it has lost its peer.
//!
//! Modules: `hello` and `greeting` implement the handshake before the first message. `assembly`
//! parses bytes into messages and does no input or output. `outgoing` and `incoming` are the send
//! half and the receive half, and `line` is the state that they share. `wire` is the stream of
//! bytes below them, and `socket` is a [`Wire`] over a socket. `lent` is a buffer that a wire keeps
//! until the kernel has released it.

pub(crate) mod assembly;
mod broken;
mod gathered;
pub(crate) mod greeting;
pub(crate) mod hello;
mod incoming;
pub(crate) mod lent;
mod line;
pub(crate) mod listening;
mod outgoing;
pub(crate) mod socket;
#[cfg(test)]
pub(crate) mod tests;
mod wire;

use std::sync::Arc;

use self::hello::Hello;
use self::incoming::StreamIncoming;
use self::line::StreamSocket;
use self::outgoing::StreamOutgoing;
pub(crate) use self::wire::read_some;
pub(crate) use self::wire::{Patience, Wire};
use self::wire::{Short, read_exact, write_all};
use super::connection::{Connection, Limits, PeerIdentity};
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::Options;

/// The longest payload that is received in one call with its header, in bytes.
const INLINE: usize = assembly::AHEAD - Header::WIRE_LENGTH;

/// The send buffer size of a socket before the kernel has tuned it, in bytes.
const EAGER: usize = 16 << 10;

/// Creates a connection from a wire on which the greetings were exchanged.
pub(crate) fn connection(
    wire: impl Wire,
    (peer, scheme): (Address, &'static str),
    theirs: Hello,
    options: &Options,
) -> Connection {
    let line = Arc::new(StreamSocket::new(wire));
    Connection {
        peer,
        scheme,
        outgoing: Box::new(StreamOutgoing::new(line.clone(), options)),
        incoming: Box::new(StreamIncoming::new(line.clone(), options)),
        control: line,
        limits: Limits {
            max_send: theirs.max_message,
            max_receive: options.max_message,
            inline: INLINE,
            eager: EAGER,
            moves: false,
        },
        identity: PeerIdentity::default(),
        degraded: Vec::new(),
    }
}
