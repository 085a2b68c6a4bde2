//! Handshake: from a connected Unix socket to shared memory.
//!
//! ```text
//! client:  Hello                 Offer                                    Can, outbox
//! server:         Hello Verdict         Offer + memory, socket, outbox
//! ```
//!
//! An offer contains the address of a random value in the sender's memory. The other side tries to
//! read the value there, and its answer says whether that worked. The sides exchange outboxes if
//! both offers say that they trust each other. Numbers are in the byte order of the host.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use socket2::{Domain, Socket, Type};

use super::incoming::ShmIncoming;
use super::line::ShmConnection;
use super::mapping::{DATA, Lane, Mapping};
use super::outgoing::ShmOutgoing;
use super::remote::{Nonce, NonceMark, Remote};
use super::ring::{Consumer, INLINE, Producer};
use super::trusted::{Offered, TrustedInbox};
use crate::connection::{Connection, Establish, Farewell, Interest, Limits};
use crate::credentials::Credentials;
use crate::deadline::Deadline;
use crate::poll::sleep_on;
use crate::stream::Wire;
use crate::stream::greeting::{self, Unwelcome, Welcoming};
use crate::stream::hello::Hello;
use crate::stream::socket::SocketWire;
use jstream_base::Address;
use jstream_base::HandshakeError;
use jstream_base::Options;

/// Flag of earlier versions, without effect: barriers of other processes were to take effect in the
/// sender's process.
const PASSES_BARRIERS: u64 = 1;
/// Flag: the sender reads the other side's memory.
const READS: u64 = 2;
/// Flag: the sender trusts the other side, and has an outbox for it.
const TRUSTS: u64 = 4;
/// All flags that this version supports.
const KNOWN: u64 = PASSES_BARRIERS | READS | TRUSTS;
/// Maximum length of a message that is sent without waiting for the receiver if there is room, in
/// bytes.
const EAGER: usize = DATA / 8;
/// Maximum number of descriptors that accompany a record.
const DESCRIPTORS: usize = 3;

const OFFER: usize = 32;

/// Announcement of a side: its mark and flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Offer {
    mark: NonceMark,
    flags: u64,
}

impl Offer {
    fn to_bytes(self) -> [u8; OFFER] {
        let [low, high] = self.mark.value;
        zerocopy::transmute!([self.mark.address, low, high, self.flags])
    }

    fn from_bytes(bytes: [u8; OFFER]) -> Result<Self, HandshakeError> {
        let [address, low, high, flags]: [u64; 4] = zerocopy::transmute!(bytes);
        if flags & !KNOWN != 0 {
            return Err(HandshakeError::Reserved { theirs: flags });
        }
        Ok(Self {
            mark: NonceMark {
                address,
                value: [low, high],
            },
            flags,
        })
    }
}

/// Reason why the peer's memory is not read.
enum Unread {
    /// An option disables it.
    Unwanted,
    Failed(io::Error),
}

impl Unread {
    fn another_process() -> Self {
        Self::not_permitted("its descriptors belong to another process than the listener")
    }

    fn not_permitted(reason: &'static str) -> Self {
        Self::Failed(io::Error::new(io::ErrorKind::PermissionDenied, reason))
    }
}

/// Tries to read the memory of a process, if the options permit it. Memory of another user is never
/// read: a process with more rights than its peer would read on behalf of the peer.
fn probe(process: Credentials, mark: NonceMark, options: &Options) -> Result<Remote, Unread> {
    if !options.remote_reads {
        return Err(Unread::Unwanted);
    }
    if !is_same_user(process) {
        return Err(Unread::not_permitted("it belongs to another user"));
    }
    Remote::probe(process.pid, mark).map_err(Unread::Failed)
}

/// Returns the mark by which the peer may read this process's memory, or an invalid one if the
/// options forbid it or the peer belongs to another user.
fn mark(nonce: &Nonce, peer: Credentials, options: &Options) -> NonceMark {
    if options.remote_reads && is_same_user(peer) {
        nonce.mark()
    } else {
        NonceMark::NOWHERE
    }
}

/// The users whose processes may be peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Users {
    /// This user alone. Between processes of one user, the device adds no rights that they do not
    /// have already.
    Same,
    /// All that the mode of the listener's file permits to connect.
    ByMode,
}

impl Users {
    /// Returns the users who may connect to a listener at a path, or at another name.
    pub(super) fn allowed(is_path: bool) -> Self {
        if is_path { Self::ByMode } else { Self::Same }
    }

    /// Returns the credentials of the peer, or an error if it is of another user and must not be.
    fn check(self, socket: &Socket) -> Result<Credentials, HandshakeError> {
        let system = |source| HandshakeError::System { source };
        let peer = Credentials::of_peer(socket.as_fd()).map_err(system)?;
        if self == Self::ByMode || is_same_user(peer) {
            return Ok(peer);
        }
        Err(system(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("the peer belongs to another user, {}", peer.uid),
        )))
    }
}

fn is_same_user(peer: Credentials) -> bool {
    peer.uid == rustix::process::geteuid().as_raw()
}

/// Performs the client's part of the handshake.
pub(super) fn connect(
    socket: Socket,
    peer: Address,
    users: Users,
    options: &Options,
) -> Result<Connection, Unwelcome> {
    let deadline = Deadline::after(options.handshake_timeout);
    let listening = users.check(&socket)?;
    let theirs = greeting::greet(&wire(&socket)?, options)?;
    let nonce = Nonce::new();
    let talk = Talk {
        socket: &socket,
        deadline,
        options,
    };
    let mut trusted = Offered::new(options, is_same_user(listening));
    let ours = Offer {
        mark: mark(&nonce, listening, options),
        flags: trusted.flag(TRUSTS),
    };
    send_record(&socket, &ours.to_bytes(), &[])?;
    let mut given = Vec::new();
    let offer = Offer::from_bytes(talk.receive(&mut given)?)?;
    let inbox = trusted.agree(offer.flags & TRUSTS != 0, || given.pop())?;
    let (Some(bells), Some(memory)) = (given.pop(), given.pop()) else {
        return Err(odd("the peer sent no descriptor of shared memory").into());
    };
    let system = |source| HandshakeError::System { source };
    let [outgoing, incoming] = Mapping::open(memory).map_err(system)?.lanes();
    let bells = Socket::from(bells);
    // The peer may have forwarded a socket and a mark of another process. This process must not
    // read that process's memory on behalf of the peer.
    let remote = if users.check(&bells)?.pid == listening.pid {
        probe(listening, offer.mark, options)
    } else {
        Err(Unread::another_process())
    };
    let can = if remote.is_ok() { READS } else { 0 };
    let fd = trusted.fd();
    send_record(&socket, &can.to_ne_bytes(), fd.as_slice())?;
    Ok(Made {
        peer,
        sockets: [socket, bells],
        lanes: [outgoing, incoming],
        nonce,
        theirs,
        read: options.remote_reads && is_same_user(listening) && offer.flags & READS != 0,
        remote,
        trusted,
        inbox,
    }
    .connection(options))
}

/// An accepted socket before the handshake is complete: the server's part, which does not block.
pub(super) struct PendingShm {
    /// `None` after the connection was returned.
    wire: Option<SocketWire>,
    welcoming: Welcoming,
    users: Users,
    /// The process of the peer, once it is known to belong to a user who may connect.
    process: Option<Credentials>,
    /// The part of the offer that was received.
    offer: Record<OFFER>,
    /// The offer of this side, once it was sent.
    offered: Option<ServerOffer>,
    /// The part of the peer's last record that was received.
    can: Record<8>,
    peer: Address,
    options: Options,
}

/// The offer of a server to a client.
struct ServerOffer {
    theirs: Hello,
    remote: Result<Remote, Unread>,
    nonce: Nonce,
    mapping: Mapping,
    bells: Socket,
    trusted: Offered,
    trusts: bool,
}

impl PendingShm {
    pub(super) fn new(socket: Socket, peer: Address, users: Users, options: &Options) -> Self {
        Self {
            wire: Some(SocketWire::new(socket)),
            users,
            welcoming: Welcoming::default(),
            process: None,
            offer: Record::new(),
            offered: None,
            can: Record::new(),
            peer,
            options: options.clone(),
        }
    }

    /// Answers the offer of a client.
    fn answer(&self, theirs: Hello, offer: Offer) -> Result<ServerOffer, HandshakeError> {
        let (Some(wire), Some(process)) = (&self.wire, self.process) else {
            return Err(HandshakeError::Closed { received: 0 });
        };
        let options = &self.options;
        let remote = probe(process, offer.mark, options);
        let nonce = Nonce::new();
        let system = |source| HandshakeError::System { source };
        let (mapping, memory) = Mapping::create().map_err(system)?;
        let (bells, theirs_too) = Socket::pair(Domain::UNIX, Type::STREAM, None).map_err(system)?;
        let trusted = Offered::new(options, is_same_user(process));
        let ours = Offer {
            mark: mark(&nonce, process, options),
            flags: trusted.flag(TRUSTS) | if remote.is_ok() { READS } else { 0 },
        };
        let trusts = offer.flags & TRUSTS != 0;
        let mut descriptors = vec![memory.as_fd(), theirs_too.as_fd()];
        descriptors.extend(trusted.fd().filter(|_| trusts));
        send_record(wire.socket(), &ours.to_bytes(), &descriptors)?;
        Ok(ServerOffer {
            theirs,
            remote,
            nonce,
            mapping,
            bells,
            trusted,
            trusts,
        })
    }
}

impl Establish for PendingShm {
    fn read_greeting(&mut self) -> Result<bool, HandshakeError> {
        let Some(wire) = &self.wire else {
            return Err(HandshakeError::Closed { received: 0 });
        };
        let heard = self.welcoming.read_hello(wire, &self.options);
        if matches!(heard, Ok(false)) || self.process.is_some() {
            return heard;
        }
        let peer = self.users.check(wire.socket()).inspect_err(|_| {
            let reason = "processes of other users are refused";
            self.welcoming.decline(&self.options, reason);
        });
        self.process = Some(peer?);
        heard
    }

    fn accept(&mut self) -> Result<Option<Connection>, HandshakeError> {
        let closed = || HandshakeError::Closed { received: 0 };
        let wire = self.wire.as_ref().ok_or_else(closed)?;
        let Some(theirs) = self.welcoming.accept(wire, &self.options)? else {
            return Ok(None);
        };
        if self.offered.is_none() {
            if !self.offer.receive(wire.socket())? {
                return Ok(None);
            }
            let offer = Offer::from_bytes(self.offer.bytes)?;
            self.offered = Some(self.answer(theirs, offer)?);
        }
        if !self.can.receive(wire.socket())? {
            return Ok(None);
        }
        let can = u64::from_ne_bytes(self.can.bytes);
        let mut given = mem::take(&mut self.can.given);
        let mut offered = self.offered.take().ok_or_else(closed)?;
        let inbox = offered.trusted.agree(offered.trusts, || given.pop())?;
        if can & !READS != 0 {
            return Err(HandshakeError::Reserved { theirs: can });
        }
        let wire = self.wire.take().ok_or_else(closed)?;
        let [incoming, outgoing] = offered.mapping.lanes();
        let made = Made {
            peer: self.peer.clone(),
            sockets: [wire.into_socket(), offered.bells],
            lanes: [outgoing, incoming],
            nonce: offered.nonce,
            theirs: offered.theirs,
            read: self.options.remote_reads
                && self.process.is_some_and(is_same_user)
                && can & READS != 0,
            remote: offered.remote,
            trusted: offered.trusted,
            inbox,
        };
        Ok(Some(made.connection(&self.options)))
    }

    fn decline(&mut self, reason: &str) {
        self.welcoming.decline(&self.options, reason);
    }

    fn farewell(&mut self) -> Farewell {
        let wire = self.wire.as_ref();
        wire.map_or(Farewell::Gone, |wire| self.welcoming.farewell(wire))
    }

    fn timed_out(&self) -> HandshakeError {
        match self.welcoming.timed_out(&self.options) {
            HandshakeError::TimedOut { received, after } => HandshakeError::TimedOut {
                received: [self.offer.received, self.can.received]
                    .into_iter()
                    .fold(received, usize::saturating_add),
                after,
            },
            error => error,
        }
    }

    fn timeout(&self) -> Duration {
        self.options.handshake_timeout
    }

    fn source(&self) -> Option<(BorrowedFd<'_>, Interest)> {
        Some((self.socket()?, self.welcoming.interest()))
    }

    fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.wire.as_ref().map(Wire::fd)
    }
}

fn wire(socket: &Socket) -> Result<SocketWire, HandshakeError> {
    match socket.try_clone() {
        Ok(socket) => Ok(SocketWire::new(socket)),
        Err(source) => Err(HandshakeError::System { source }),
    }
}

fn odd(details: &'static str) -> HandshakeError {
    HandshakeError::System {
        source: io::Error::new(io::ErrorKind::InvalidData, details),
    }
}

/// Result of the handshake, the same for both sides.
struct Made {
    peer: Address,
    sockets: [Socket; 2],
    /// The lane for sending and the lane for receiving.
    lanes: [Lane; 2],
    nonce: Nonce,
    theirs: Hello,
    /// True if the peer reads this process's memory.
    read: bool,
    remote: Result<Remote, Unread>,
    trusted: Offered,
    inbox: Option<TrustedInbox>,
}

impl Made {
    fn connection(self, options: &Options) -> Connection {
        let [published, consumed] = self.sockets;
        let [outgoing, incoming] = self.lanes;
        let identity = Credentials::identity(published.as_fd());
        let mut degraded = Vec::new();
        if let Err(Unread::Failed(error)) = &self.remote {
            degraded.push(format!(
                "the peer's memory can't be read ({error}): its large messages are copied twice"
            ));
        }
        if options.remote_reads && !self.read {
            degraded.push(
                "the peer can't read this process's memory: large messages are copied twice".into(),
            );
        }
        degraded.extend(self.trusted.lacks());
        let line = ShmConnection::new(
            published,
            consumed,
            outgoing.clone(),
            incoming.clone(),
            self.nonce,
        );
        let line = Arc::new(line.with_outbox(self.trusted.into_outbox()));
        let sends = ShmOutgoing::new(line.clone(), Producer::new(outgoing), self.read);
        let receives = ShmIncoming::new(
            line.clone(),
            Consumer::new(incoming),
            self.remote.ok(),
            options.pool.clone(),
            options.max_message,
        )
        .with_inbox(self.inbox);
        Connection {
            peer: self.peer,
            scheme: "shm",
            outgoing: Box::new(sends),
            incoming: Box::new(receives),
            control: line,
            limits: Limits {
                max_send: self.theirs.max_message,
                max_receive: options.max_message,
                inline: INLINE,
                eager: EAGER,
                moves: false,
            },
            identity,
            degraded,
        }
    }
}

/// Exchange of records over the socket, with a deadline.
struct Talk<'a> {
    socket: &'a Socket,
    deadline: Deadline,
    options: &'a Options,
}

impl Talk<'_> {
    /// Receives exactly `N` bytes, and the descriptors that accompany them.
    fn receive<const N: usize>(&self, given: &mut Vec<OwnedFd>) -> Result<[u8; N], HandshakeError> {
        let mut record = Record::<N>::new();
        while !record.receive(self.socket)? {
            if self.deadline.has_passed() {
                return Err(HandshakeError::TimedOut {
                    received: record.received,
                    after: self.options.handshake_timeout,
                });
            }
            let source = (self.socket.as_fd(), Interest::Readable);
            sleep_on([source], self.deadline)
                .map_err(|source| HandshakeError::System { source })?;
        }
        given.append(&mut record.given);
        Ok(record.bytes)
    }
}

/// Sends a few bytes. An empty socket buffer always has room for them.
fn send_record(
    socket: &Socket,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), HandshakeError> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(odd("too many descriptors for one record"));
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    loop {
        let parts = [IoSlice::new(bytes)];
        return match rustix::net::sendmsg(socket, &parts, &mut control, flags) {
            Ok(n) if n == bytes.len() => Ok(()),
            Ok(_) => Err(odd("the socket has no room for a handshake record")),
            Err(Errno::INTR) => continue,
            Err(Errno::PIPE) => Err(HandshakeError::Closed { received: 0 }),
            Err(error) => Err(HandshakeError::System {
                source: error.into(),
            }),
        };
    }
}

/// A record of `N` bytes that is being received, and the descriptors that accompany it.
struct Record<const N: usize> {
    bytes: [u8; N],
    received: usize,
    given: Vec<OwnedFd>,
}

impl<const N: usize> Record<N> {
    fn new() -> Self {
        Self {
            bytes: [0; N],
            received: 0,
            given: Vec::new(),
        }
    }

    /// Receives available bytes. Returns true once the record is complete. Does not block. More
    /// descriptors than a record may have are closed.
    fn receive(&mut self, socket: &Socket) -> Result<bool, HandshakeError> {
        while let Some(rest) = self.bytes.get_mut(self.received..) {
            if rest.is_empty() {
                break;
            }
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
            let mut parts = [IoSliceMut::new(rest)];
            let heard = rustix::net::recvmsg(socket, &mut parts, &mut control, flags);
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    self.given.extend(descriptors);
                    self.given.truncate(DESCRIPTORS);
                }
            }
            match heard {
                Ok(heard) if heard.bytes == 0 => {
                    let received = self.received;
                    return Err(HandshakeError::Closed { received });
                }
                Ok(heard) => self.received = self.received.saturating_add(heard.bytes),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => {
                    return Err(HandshakeError::System {
                        source: error.into(),
                    });
                }
            }
        }
        Ok(true)
    }
}
