//! Handshake of a channel, before the first object: both sides exchange their roles and the type
//! `T`.
//!
//! Decision 119 has the reasons.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream::Transportable;

use super::error::OpenError;
use super::near::NearLink;
use super::peers::PeerConnection;
use super::versions::{Differs, MAX_DESCRIPTION, MAX_REASON, TypeDescription, Version, shortened};
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::frames;
use jstream_base::{ConnectError, HandshakeError, Header, RecvError};
use jstream_device::deadline::Deadline;
use jstream_endpoint::described::ClassSnapshots;
use jstream_endpoint::{Endpoint, Message, connect};

frames! {
    /// The header of a message of the handshake.
    #[derive(Debug, Clone, Copy)]
    enum HelloHeader by Kind, reserved Ignored {
        /// The first message of the connecting side, with its [`Role`], and with the description of
        /// its type if it is the sender.
        JOIN = 0x6a73_6301 => Join { role: u64 = First, descriptor: u64 = Second, len: u64 = Third },
        /// The response, which is a [`JoinVerdict`]. A sender welcomes a receiver with the
        /// description of its type, and a receiver explains a sender why their types differ.
        ANSWER = 0x6a73_6302 => Answer {
            verdict: u64 = First,
            descriptor: u64 = Second,
            len: u64 = Third,
        },
        /// The next part of a description.
        MORE = 0x6a73_6303 => More,
        /// The decision of a connecting receiver, whose type is another one than the sender's, to
        /// convert the sender's objects. Otherwise it closes the connection.
        ACCEPT = 0x6a73_6304 => Accept,
    }
}

/// Maximum length of a part of a description, in bytes.
pub(super) const MAX_PIECE: usize = 64 << 10;

/// Maximum number of connections that end before a response. A side that has too many connections
/// ends some; one that does not speak this protocol ends all.
const MOST_ENDS: u32 = 32;

/// First and longest pause between two attempts to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_millis(20);

/// The role of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Sender = 1,
    Receiver = 2,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }

    fn other(self) -> &'static str {
        match self {
            Self::Sender => "receiver",
            Self::Receiver => "sender",
        }
    }
}

/// Response of the listening side to a peer that wants to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinVerdict {
    Welcome = 0,
    OtherType = 1,
    SameRole = 2,
    Full = 3,
}

/// The description of a side in the handshake.
pub(super) struct Hello {
    role: Role,
    of: TypeDescription,
    /// The classes that the description leaves out. Empty if this side receives.
    undescribed: Arc<ClassSnapshots>,
    /// Decides whether this side can receive the objects of a sender.
    judge_sender: fn(&TypeDescription, TypeDescription) -> Result<Option<Version>, Differs>,
}

/// The description of the peer, while it arrives in parts.
#[derive(Default)]
pub(super) struct PeerHello {
    /// The first message.
    header: Option<HelloHeader>,
    /// Number of bytes that have not arrived.
    missing: usize,
    of: TypeDescription,
}

impl PeerHello {
    pub(super) fn is_complete(&self) -> bool {
        self.header.is_some() && self.missing == 0
    }

    /// Adds a message of the handshake. Memory grows by what has arrived, and not by what was
    /// claimed, and all parts but the last are of full length.
    pub(super) fn push(&mut self, message: &Message) -> Result<(), String> {
        let header = HelloHeader::decode(&message.header);
        match (&self.header, header) {
            (
                None,
                Some(
                    first @ (HelloHeader::Join {
                        descriptor, len, ..
                    }
                    | HelloHeader::Answer {
                        descriptor, len, ..
                    }),
                ),
            ) => {
                self.header = Some(first);
                self.of.descriptor = descriptor;
                self.missing = usize::try_from(len).unwrap_or(usize::MAX);
                if self.missing > MAX_DESCRIPTION {
                    return Err(format!(
                        "it describes its type in {len} bytes; the limit is {MAX_DESCRIPTION}"
                    ));
                }
            }
            (Some(_), Some(HelloHeader::More)) if self.missing > 0 => {}
            _ => {
                let kind = message.header.kind;
                return Err(format!("it sent a message of the unexpected kind {kind}"));
            }
        }
        let part = message.payload.as_bytes();
        if part.len() != self.missing.min(MAX_PIECE) {
            let (len, missing) = (part.len(), self.missing);
            return Err(format!(
                "it sent {len} bytes where {missing} of its description follow"
            ));
        }
        self.missing = self.missing.saturating_sub(part.len());
        self.of.snapshots.extend_from_slice(part);
        Ok(())
    }
}

/// The answer of the listening side to a peer that wants to join.
pub(super) struct JoinAnswer {
    pub(super) verdict: JoinVerdict,
    /// The version of the peer's objects, if they have to be converted.
    pub(super) version: Option<Version>,
    /// True if the peer decides whether it joins.
    pub(super) is_open: bool,
    text: String,
}

impl Hello {
    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// Returns the classes whose schemas the objects of this side bring along.
    pub(super) fn undescribed(&self) -> &Arc<ClassSnapshots> {
        &self.undescribed
    }

    pub(super) fn new<T: Transportable + 'static>(role: Role) -> Self {
        let (of, undescribed) = TypeDescription::for_type::<T>();
        let undescribed = match role {
            Role::Sender => undescribed,
            Role::Receiver => ClassSnapshots::default(),
        };
        Self {
            role,
            of,
            undescribed: Arc::new(undescribed),
            judge_sender: TypeDescription::version_of::<T>,
        }
    }

    /// Checks the first message of a peer that wants to join the listening side.
    pub(super) fn judge(&self, theirs: PeerHello) -> Result<JoinAnswer, String> {
        let Some(HelloHeader::Join { role, .. }) = theirs.header else {
            return Err("its first message is not a channel handshake".to_owned());
        };
        let mut answer = JoinAnswer {
            verdict: JoinVerdict::Welcome,
            version: None,
            is_open: false,
            text: String::new(),
        };
        if role == self.role as u64 {
            answer.verdict = JoinVerdict::SameRole;
        } else if self.role == Role::Sender {
            answer.is_open = theirs.of.descriptor != self.of.descriptor;
        } else {
            match (self.judge_sender)(&self.of, theirs.of) {
                Ok(version) => answer.version = version,
                Err(differs) => {
                    answer.verdict = JoinVerdict::OtherType;
                    // A stranger gets no more than what its error shows.
                    let difference = shortened(&differs.difference, MAX_REASON);
                    answer.text = format!("{}\n{difference}", self.of.name());
                }
            }
        }
        Ok(answer)
    }

    /// Returns the headers and payloads of the messages of an answer.
    pub(super) fn answer<'h>(&'h self, answer: &'h JoinAnswer) -> Vec<(Header, &'h [u8])> {
        let payload = match answer.verdict {
            JoinVerdict::Welcome if self.role == Role::Sender => &*self.of.snapshots,
            _ => answer.text.as_bytes(),
        };
        let header = HelloHeader::Answer {
            verdict: answer.verdict as u64,
            descriptor: self.of.descriptor,
            len: payload.len() as u64,
        };
        parts(header, payload)
    }

    /// Returns true if the peer has decided to join.
    pub(super) fn accepts(header: &Header) -> bool {
        matches!(HelloHeader::decode(header), Some(HelloHeader::Accept))
    }

    /// Returns the reason why a peer did not join.
    pub(super) fn reason(&self, verdict: JoinVerdict) -> String {
        match verdict {
            JoinVerdict::Welcome => "the channel was closed".to_owned(),
            JoinVerdict::OtherType => "its type is different".to_owned(),
            JoinVerdict::SameRole => format!("it is also a {}", self.role.name()),
            JoinVerdict::Full => "the maximum number of peers is reached".to_owned(),
        }
    }

    fn send(&self, endpoint: &Endpoint) -> Result<(), String> {
        let description: &[u8] = match self.role {
            Role::Sender => &self.of.snapshots,
            Role::Receiver => &[],
        };
        let join = HelloHeader::Join {
            role: self.role as u64,
            descriptor: self.of.descriptor,
            len: description.len() as u64,
        };
        for (header, part) in parts(join, description) {
            let sent = endpoint.send_message(header, &[IoSlice::new(part)]);
            sent.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Joins the listening side, and checks its response. Returns the version of its objects if
    /// they have to be converted. Returns an error inside `Ok` if the connection ended before a
    /// response: the listening side may have had too many connections.
    fn request_to_join(
        &self,
        endpoint: &Endpoint,
        options: &Options,
    ) -> Result<Result<Option<Version>, OpenError>, OpenError> {
        let address = || endpoint.info().address.clone();
        let no_channel = |reason| OpenError::NoChannel {
            address: address(),
            reason,
        };
        // The connection is read even if sending has failed: a response that the peer sent before
        // it closed explains more.
        let said = self.send(endpoint);
        let until = Deadline::after(options.handshake_timeout);
        let mut theirs = PeerHello::default();
        while !theirs.is_complete() {
            let left = until.left().unwrap_or(options.handshake_timeout);
            match endpoint.recv_message_within(left) {
                Ok(part) => theirs.push(&part).map_err(no_channel)?,
                Err(error) => {
                    let reason = said.err().unwrap_or_else(|| error.to_string());
                    return match error {
                        RecvError::Closed { .. } | RecvError::Lost { .. } => {
                            Ok(Err(no_channel(reason)))
                        }
                        _ => Err(no_channel(reason)),
                    };
                }
            }
        }
        let Some(HelloHeader::Answer { verdict, .. }) = theirs.header else {
            return Err(no_channel("it also wants to join".to_owned()));
        };
        let other_type = |differs: Differs| OpenError::Type {
            address: address(),
            ours: self.of.name(),
            theirs: differs.theirs,
            difference: shortened(&differs.difference, MAX_REASON),
        };
        match (verdict, self.role) {
            (0, Role::Sender) => Ok(Ok(None)),
            (0, Role::Receiver) => {
                let is_open = theirs.of.descriptor != self.of.descriptor;
                let version = (self.judge_sender)(&self.of, theirs.of).map_err(other_type)?;
                if is_open {
                    let accept = endpoint.send_message(HelloHeader::Accept.header(), &[]);
                    accept.map_err(|error| no_channel(error.to_string()))?;
                }
                Ok(Ok(version))
            }
            (1, _) => {
                let text = String::from_utf8_lossy(&theirs.of.snapshots);
                let (name, difference) = text.split_once('\n').unwrap_or(("?", &text));
                Err(other_type(Differs {
                    theirs: shortened(name, MAX_REASON),
                    difference: difference.to_owned(),
                }))
            }
            (2, _) => Err(OpenError::Role {
                address: address(),
                role: self.role.name(),
            }),
            (3, _) => Err(OpenError::Full { address: address() }),
            _ => Err(no_channel(format!("it sent the unknown verdict {verdict}"))),
        }
    }
}

/// Returns the headers and payloads of the messages that begin with `first`.
fn parts(first: HelloHeader, payload: &[u8]) -> Vec<(Header, &[u8])> {
    let (start, rest) = payload.split_at(payload.len().min(MAX_PIECE));
    let more = rest.chunks(MAX_PIECE);
    let more = more.map(|part| (HelloHeader::More.header(), part));
    std::iter::once((first.header(), start))
        .chain(more)
        .collect()
}

/// Result of looking for the listening side in this process.
pub(super) enum Near<T: Transportable + 'static> {
    Nobody,
    /// A side is registered, but does not listen yet.
    Soon,
    Joined(Arc<NearLink<T>>),
    Refused(OpenError),
}

/// Joins the side that listens at `address`, within this process if `near` finds it there. Waits
/// for the listener up to the connect timeout, and while `is_wanted` returns true. Returns the
/// version of its objects if they have to be converted.
pub(super) fn join<T: Transportable + 'static>(
    address: &Address,
    ours: &Hello,
    options: &Options,
    near: impl Fn() -> Near<T>,
    is_wanted: impl Fn() -> bool,
) -> Result<(PeerConnection<T>, Option<Version>), OpenError> {
    let until = Deadline::after(options.connect_timeout);
    let mut pause = FIRST_PAUSE;
    let mut ends = 0_u32;
    loop {
        let connected = match near() {
            Near::Joined(link) => return Ok((PeerConnection::Near(link), None)),
            Near::Refused(error) => return Err(error),
            Near::Nobody => connect(address, options),
            Near::Soon => Err(ConnectError::NoListener {
                address: address.clone(),
            }),
        };
        match (connected, near()) {
            (_, Near::Joined(link)) => return Ok((PeerConnection::Near(link), None)),
            (_, Near::Refused(error)) => return Err(error),
            (Ok(endpoint), Near::Nobody) => {
                let error = match ours.request_to_join(&endpoint, options)? {
                    Ok(version) => return Ok((PeerConnection::Far(endpoint), version)),
                    Err(error) => error,
                };
                ends = ends.saturating_add(1);
                if ends >= MOST_ENDS || until.has_passed() || !is_wanted() {
                    return Err(error);
                }
            }
            (Err(source), _)
                if !may_succeed_later(&source) || until.has_passed() || !is_wanted() =>
            {
                let other = ours.role.other();
                return Err(OpenError::Connect { other, source });
            }
            // The side in this process was registered meanwhile, or there is no listener yet. Try
            // again.
            (Ok(_), Near::Soon) | (Err(_), _) => {}
        }
        thread::sleep(until.left().map_or(pause, |left| left.min(pause)));
        pause = pause.saturating_mul(2).min(MAX_PAUSE);
    }
}

/// Returns true if a later attempt may succeed: there is no listener at the address, or it has too
/// many connections.
fn may_succeed_later(error: &ConnectError) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, NotFound};
    match error {
        ConnectError::NoListener { .. } | ConnectError::TimedOut { .. } => true,
        ConnectError::Unreachable { source, .. } => {
            matches!(source.kind(), ConnectionRefused | NotFound)
        }
        ConnectError::Handshake { source, .. } => matches!(
            source,
            HandshakeError::TimedOut { .. }
                | HandshakeError::Closed { .. }
                | HandshakeError::System { .. }
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::described::ObjectHeader;
    use jstream::EmptyBuffer;
    use jstream_base::frame::assert_documented;

    #[test]
    fn the_protocol_lists_these_messages() {
        let page = include_str!("../../PROTOCOL.md");
        let frames = [HelloHeader::LAYOUT, ObjectHeader::LAYOUT].concat();
        assert_documented(page, "## 11. Typed channels", &frames, &[]);
    }

    fn message(header: Header, part: &[u8]) -> Message {
        let payload = EmptyBuffer::heap(part.len()).copy_from(part).unwrap();
        let mut message = Message::of_payload(payload);
        message.header = header;
        message
    }

    fn more(part: &[u8]) -> Message {
        message(HelloHeader::More.header(), part)
    }

    fn join(len: u64, part: &[u8]) -> Message {
        let join = HelloHeader::Join {
            role: Role::Sender as u64,
            descriptor: 1,
            len,
        };
        message(join.header(), part)
    }

    #[test]
    fn descriptions_that_lie_about_their_length_are_refused() {
        let limit = MAX_DESCRIPTION as u64;
        for len in [limit + 1, u64::MAX] {
            let error = PeerHello::default().push(&join(len, b"")).unwrap_err();
            assert!(error.contains(&limit.to_string()), "{error}");
        }
        let full = vec![7; MAX_PIECE];
        let begun = || {
            let mut theirs = PeerHello::default();
            theirs.push(&join(MAX_PIECE as u64 + 2, &full)).unwrap();
            assert!(!theirs.is_complete());
            theirs
        };
        begun().push(&more(b"ab")).unwrap();
        // More than was announced, less, nothing, a second beginning, and a part without one.
        assert!(begun().push(&more(b"abc")).is_err());
        assert!(begun().push(&more(b"a")).is_err());
        assert!(begun().push(&more(b"")).is_err());
        assert!(begun().push(&join(2, b"ab")).is_err());
        assert!(PeerHello::default().push(&more(b"a")).is_err());
        assert!(PeerHello::default().push(&join(2, b"a")).is_err());
        assert!(PeerHello::default().push(&join(0, b"a")).is_err());
        // Memory is not reserved for what was only claimed.
        let mut theirs = PeerHello::default();
        theirs.push(&join(limit, &full)).unwrap();
        assert!(theirs.of.snapshots.capacity() < MAX_DESCRIPTION);
    }

    #[test]
    fn long_descriptions_are_sent_in_parts() {
        let description = |len| TypeDescription {
            descriptor: 7,
            snapshots: vec![3; len],
        };
        for len in [0, 1, MAX_PIECE, MAX_PIECE + 1, MAX_DESCRIPTION] {
            let mut ours = Hello::new::<u64>(Role::Sender);
            ours.of = description(len);
            let join = HelloHeader::Join {
                role: Role::Receiver as u64,
                descriptor: 7,
                len: 0,
            };
            let mut theirs = PeerHello::default();
            theirs.push(&message(join.header(), b"")).unwrap();
            let answer = ours.judge(theirs).unwrap();
            let mut heard = PeerHello::default();
            for (header, part) in ours.answer(&answer) {
                assert!(!heard.is_complete(), "{len}");
                heard.push(&message(header, part)).unwrap();
            }
            assert!(heard.is_complete());
            assert_eq!(heard.of.snapshots, ours.of.snapshots);
        }
    }

    #[test]
    fn a_type_is_converted_however_many_classes_follow() {
        let (mut sender, _) = TypeDescription::for_type::<u32>();
        let class = TypeDescription::for_type::<[u8; 3]>().0.snapshots;
        for _ in 0..300 {
            sender.snapshots.extend_from_slice(&class);
        }
        let ours = Hello::new::<u64>(Role::Receiver);
        let version = (ours.judge_sender)(&ours.of, sender);
        #[cfg(feature = "evolve")]
        {
            let version = version.unwrap().unwrap();
            let bytes = jstream::to_vec(&7_u32).unwrap();
            let message = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            let read = version.with_reader(|reader| reader.reader().read::<u64>(message));
            assert_eq!(*read.unwrap().get(), 7);
        }
        #[cfg(not(feature = "evolve"))]
        assert!(version.is_err());
    }
}
