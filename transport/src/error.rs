//! What can go wrong, by operation.

use std::io;
use std::time::Duration;

use jstream::WriteError;
use jstream::buffer::{Filled, PoolError, Spent};
use thiserror::Error;

use crate::address::Address;

/// Why a text is not an [`Address`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// Nothing that long is an address.
    #[error("an address of {length} bytes is too long; at most {max} are allowed")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The most that is allowed.
        max: usize,
    },
    /// There is no `://`.
    #[error("`{uri}` has no scheme; write for example inproc://name or tcp://host:port")]
    NoScheme {
        /// The text.
        uri: String,
    },
    /// No device goes by that scheme.
    #[error("no device has the scheme `{scheme}`; known are: {known}")]
    UnknownScheme {
        /// What stands before `://`.
        scheme: String,
        /// The schemes there are.
        known: &'static str,
    },
    /// Nothing stands after `://`.
    #[error("the address has no name; write {scheme}://name")]
    EmptyName {
        /// Its scheme.
        scheme: &'static str,
    },
    /// A name that nobody could read in a log.
    #[error("the name `{name}` holds white space or control characters")]
    BadName {
        /// The name, escaped.
        name: String,
    },
    /// Nothing stands before the port.
    #[error("the address has no host; write tcp://host:port, with 0.0.0.0 to listen everywhere")]
    EmptyHost,
    /// No host has such a name.
    #[error(
        "`{host}` is neither a host name nor an IP address; IPv6 needs brackets: tcp://[::1]:80"
    )]
    BadHost {
        /// The host, escaped.
        host: String,
    },
    /// There is no port.
    #[error("`{uri}` has no port; write tcp://host:port, with port 0 to listen on a free one")]
    NoPort {
        /// The address.
        uri: String,
    },
    /// The port is not a number from 0 to 65535.
    #[error("the port `{port}` is not a number from 0 to 65535")]
    BadPort {
        /// The port, escaped.
        port: String,
    },
}

/// Why bytes are not a [`Header`](crate::Header).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The reserved word has a meaning that this version does not know.
    #[error(
        "the header's reserved word is {value:#x}, which means nothing; is the peer a later version?"
    )]
    Reserved {
        /// Its value.
        value: u32,
    },
    /// The ring of the shared memory holds what no peer of this version writes.
    #[error("the shared memory's {what} is {value:#x}, which no peer of this version writes")]
    Ring {
        /// Which of its words.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// It is a request of a put or a get, or the answer to one, that nobody of this version sends, or
    /// not now.
    #[error("a request or an answer of kind {op} makes no sense; is the peer a later version?")]
    Unexpected {
        /// What kind it is.
        op: u32,
    },
    /// It is a request beyond those that a peer may have without having received the answers.
    #[error("more than {max} requests wait for their answers to be received")]
    TooManyRequests {
        /// How many are allowed.
        max: usize,
    },
}

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
    /// The connection broke.
    #[error("the connection broke: {source}")]
    System {
        /// What the system said.
        source: io::Error,
    },
}

/// Why a message was not sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message could not be taken at once. Nothing was sent.
    #[error("the message can't be taken at once; wait, or try again")]
    WouldBlock,
    /// The operation was cancelled before the device had taken anything.
    #[error("sending was cancelled")]
    Cancelled,
    /// The peer does not take messages that long. Nothing was sent; the connection can be used.
    #[error(
        "a payload of {length} bytes is too long for {peer}, which takes at most {max}; \
         split it or raise its Options::max_message"
    )]
    TooLarge {
        /// The payload's length in bytes.
        length: u64,
        /// The most that the peer takes.
        max: u64,
        /// The peer.
        peer: Address,
    },
    /// The peer's pool gave no jbuf. Nothing was sent; the connection can be used.
    #[error("{peer} has no room for a payload of {length} bytes: {source}")]
    NoBuffer {
        /// The payload's length in bytes.
        length: u64,
        /// The peer.
        peer: Address,
        /// What the pool said.
        source: PoolError,
    },
    /// The device took nothing for so long. Nothing was sent; the connection can be used.
    #[error("{peer} took nothing within {after:?}; it does not read")]
    TimedOut {
        /// How long we waited.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The device took a part of the message and then no more. The connection was ended.
    #[error("{peer} took {sent} of {total} bytes within {after:?}; the connection was ended")]
    Stalled {
        /// How many bytes it took, header included.
        sent: u64,
        /// How many bytes there were, header included.
        total: u64,
        /// How long we waited.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The connection has ended, at the peer or with an error before. Nothing was sent.
    #[error("the connection to {peer} has ended; connect again")]
    Closed {
        /// The peer.
        peer: Address,
    },
    /// The connection broke. Whether the peer has the message is unknown.
    #[error("the connection to {peer} was lost: {source}; connect again")]
    Lost {
        /// The peer.
        peer: Address,
        /// What the system said.
        source: io::Error,
    },
    /// The endpoint was closed in this program.
    #[error("the endpoint of {peer} was closed in this program")]
    ClosedLocally {
        /// The peer.
        peer: Address,
    },
}

/// A jbuf that was not sent, and why.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unsent {
    /// Why.
    #[source]
    pub error: SendError,
    /// The jbuf, unchanged.
    pub filled: Filled,
}

impl From<Unsent> for SendError {
    fn from(unsent: Unsent) -> Self {
        unsent.error
    }
}

/// A posted receive that got no message, and why.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unreceived {
    /// Why.
    #[source]
    pub error: RecvError,
    /// The jbuf that was posted, if there was one and no part of a message stands in it.
    pub spent: Option<Spent>,
}

impl From<Unreceived> for RecvError {
    fn from(unreceived: Unreceived) -> Self {
        unreceived.error
    }
}

/// Why no message was received.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecvError {
    /// No message is here.
    #[error("no message is here yet")]
    Empty,
    /// The operation was cancelled before it had a message.
    #[error("receiving was cancelled")]
    Cancelled,
    /// The memory to receive into is too small for the next message, which waits.
    #[error("the next message has {length} bytes, but there is room for {capacity}")]
    TooSmall {
        /// The length of the message's payload, in bytes.
        length: u64,
        /// How many bytes fit.
        capacity: usize,
    },
    /// No message was complete in time. The connection can be used, and what came of the next message
    /// is kept.
    #[error("no message from {peer} within {after:?}")]
    TimedOut {
        /// How long the call allowed.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The next message is an object of this process, and its bytes were asked for but could not be
    /// written. It waits.
    #[error("the next message is a {type_name}, which could not be written: {source}")]
    Object {
        /// The type that it was sent as.
        type_name: &'static str,
        /// What prevented it.
        source: WriteError,
    },
    /// The pool gave no jbuf. The message waits: drop received ones and receive again.
    #[error("no room for a payload of {length} bytes from {peer}: {source}")]
    NoBuffer {
        /// How many bytes were needed.
        length: u64,
        /// The peer.
        peer: Address,
        /// What the pool said.
        source: PoolError,
    },
    /// The peer announced a payload that is not allowed. The connection was ended.
    #[error(
        "{peer} announced a payload of {length} bytes, at most {max} are allowed; \
         raise Options::max_message if it may"
    )]
    TooLarge {
        /// The length that it announced, in bytes.
        length: u64,
        /// The most that is allowed.
        max: u64,
        /// The peer.
        peer: Address,
    },
    /// The peer sent something that is no header. The connection was ended.
    #[error("{peer} sent a bad header: {source}")]
    Malformed {
        /// The peer.
        peer: Address,
        /// What is wrong with it.
        source: HeaderError,
    },
    /// The peer sent a part of a message and then too slowly. The connection was ended.
    #[error("{peer} sent {received} bytes of a message and not the rest within {after:?}")]
    Stalled {
        /// How many bytes came, header included.
        received: u64,
        /// How long we waited.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The peer sends no more, and everything that it sent was received.
    #[error("{peer} closed the connection")]
    Closed {
        /// The peer.
        peer: Address,
    },
    /// The connection broke, or ended inside a message.
    #[error(
        "the connection to {peer} was lost with {received} bytes of a message received: {source}"
    )]
    Lost {
        /// How many bytes of the unfinished message came, header included.
        received: u64,
        /// The peer.
        peer: Address,
        /// What the system said; `UnexpectedEof` when the peer ended inside a message.
        source: io::Error,
    },
    /// The endpoint was closed in this program.
    #[error("the endpoint of {peer} was closed in this program")]
    ClosedLocally {
        /// The peer.
        peer: Address,
    },
}
