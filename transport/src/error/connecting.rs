//! Of listening, accepting and connecting.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::address::Address;

/// Why nobody listens.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ListenError {
    /// This program was built without the device.
    #[error("{address} needs a device that this program was built without")]
    NoDevice {
        /// The address asked for.
        address: Address,
    },
    /// There are no certificates to listen with.
    #[error("{address} needs the certificate of a server; set `Options::tls`")]
    NoCertificate {
        /// The address asked for.
        address: Address,
    },
    /// There was no address to listen on.
    #[error("no address was given to listen on")]
    NoAddress,
    /// Somebody else listens there.
    #[error("{address} is in use; stop the other listener or choose another address")]
    InUse {
        /// The address asked for.
        address: Address,
    },
    /// The host's name has no address.
    #[error("{address} can't be resolved: {source}")]
    Resolve {
        /// The address asked for.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
    /// The system refuses.
    #[error("can't listen on {address}: {source}")]
    System {
        /// The address asked for.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
}

/// Why nobody was accepted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// Nobody connected in time.
    #[error("nobody connected to {address} within {after:?}")]
    TimedOut {
        /// Where it listens.
        address: Address,
        /// How long the call allowed.
        after: Duration,
    },
    /// The listener was closed in this program.
    #[error("the listener on {address} was closed")]
    ClosedLocally {
        /// Where it listened.
        address: Address,
    },
    /// The system refuses for now, as when it is out of descriptors: the listener lives on, so
    /// accept again.
    #[error("can't accept on {address} now: {source}; try again")]
    System {
        /// Where it listens.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
}

/// Why there is no connection to an address.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// This program was built without the device.
    #[error("{address} needs a device that this program was built without")]
    NoDevice {
        /// The address asked for.
        address: Address,
    },
    /// It is not said which certificates to trust.
    #[error("{address} needs to know which certificates to trust; set `Options::tls`")]
    NoCertificate {
        /// The address asked for.
        address: Address,
    },
    /// None of several addresses could be reached.
    #[error("none of {tried} addresses could be reached; the last failed: {last}")]
    NoneWorks {
        /// How many were tried.
        tried: usize,
        /// Why the last one failed.
        #[source]
        last: Box<ConnectError>,
    },
    /// There was no address to connect to.
    #[error("no address was given to connect to")]
    NoAddress,
    /// Nobody in this process listens under that name.
    #[error("nobody in this process listens on {address}; listen there first")]
    NoListener {
        /// The address asked for.
        address: Address,
    },
    /// The listener has accepted nobody for so long that its queue is full.
    #[error("{address} did not accept within {after:?}; its queue of connections is full")]
    TimedOut {
        /// The address asked for.
        address: Address,
        /// How long we waited.
        after: Duration,
    },
    /// The host's name has no address.
    #[error("{address} can't be resolved: {source}")]
    Resolve {
        /// The address asked for.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
    /// None of the host's addresses could be reached.
    #[error("can't reach {address} ({tried} addresses tried): {source}; does it listen there?")]
    Unreachable {
        /// The address asked for.
        address: Address,
        /// How many addresses the host has.
        tried: usize,
        /// What the system said about the last one.
        source: io::Error,
    },
    /// The listener does not want this connection.
    #[error("{address} refused the connection: {reason}")]
    Refused {
        /// The address asked for.
        address: Address,
        /// What the listener said, escaped.
        reason: String,
    },
    /// Somebody answered, but the two don't understand each other.
    #[error("no agreement with {address}: {source}")]
    Handshake {
        /// The address asked for.
        address: Address,
        /// What does not fit.
        source: HandshakeError,
    },
}

/// Why two sides made no connection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The peer speaks another protocol.
    #[error("the peer does not speak this protocol: it began with {theirs:02x?}, not {ours:02x?}")]
    Magic {
        /// How every connection begins.
        ours: [u8; 8],
        /// How the peer began.
        theirs: [u8; 8],
    },
    /// The peer has another version of the protocol.
    #[error("the peer has version {theirs} of the protocol, we have {ours}; update the older one")]
    Version {
        /// Our version.
        ours: u32,
        /// The peer's version.
        theirs: u32,
    },
    /// The peer's numbers have another byte order than ours.
    #[error(
        "the peer's byte order mark is {theirs:#06x} here, ours is {ours:#06x}; \
         objects can't be shared in place"
    )]
    ByteOrder {
        /// Our mark.
        ours: u16,
        /// The peer's mark, read in our order.
        theirs: u16,
    },
    /// The peer's pointers have another width than ours.
    #[error(
        "the peer's pointers have {theirs} bits, ours have {ours}; objects can't be shared in place"
    )]
    PointerWidth {
        /// Our width in bits.
        ours: u8,
        /// The peer's width in bits.
        theirs: u8,
    },
    /// The peer asks for something that this version does not know.
    #[error("the peer's reserved bytes are {theirs:#x} instead of 0; is it a later version?")]
    Reserved {
        /// Their value.
        theirs: u64,
    },
    /// The peer did not say who it is in time.
    #[error("the peer sent {received} bytes of its greeting within {after:?}")]
    TimedOut {
        /// How many bytes came.
        received: usize,
        /// How long we waited.
        after: Duration,
    },
    /// The peer went away before it said who it is.
    #[error("the peer closed the connection after {received} bytes of its greeting")]
    Closed {
        /// How many bytes came.
        received: usize,
    },
    /// There is no trust: a certificate is missing, unknown, expired or of another host, the two sides
    /// have no way of encryption in common, or the peer does not speak TLS.
    #[error("no TLS with the peer: {reason}")]
    Tls {
        /// What is wrong, at most 256 bytes of it.
        reason: String,
    },
    /// The connection broke.
    #[error("the connection broke: {source}")]
    System {
        /// What the system said.
        source: io::Error,
    },
}
