//! Handshake of a channel, before the first object: both sides exchange their roles and the type
//! `T`.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream::Transportable;

use super::error::OpenError;
use super::near::NearLink;
use super::peers::PeerConnection;
use super::versions::{Differs, MAX_DESCRIPTION, TypeDescription, Version};
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::frames;
use jstream_base::{ConnectError, HandshakeError, Header, RecvError};
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, Message, connect};

frames! {
    /// The header of a message of the handshake. A side describes its type in the payloads of its
    /// first message and of as many of the kind [`MORE`] as its length needs.
    #[derive(Debug, Clone, Copy)]
    enum HelloHeader by Kind, reserved Ignored {
        /// The first message of the connecting side, with its [`Role`].
        JOIN = 0x6a73_6301 => Join { role: u64 = First, descriptor: u64 = Second, len: u64 = Third },
        /// The response, which is a [`JoinVerdict`].
        ANSWER = 0x6a73_6302 => Answer {
            verdict: u64 = First,
            descriptor: u64 = Second,
            len: u64 = Third,
        },
        /// The next part of a description.
        MORE = 0x6a73_6303 => More,
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
}

/// The description of the peer, while it arrives in parts.
pub(super) struct PeerHello {
    /// The first message.
    header: Option<HelloHeader>,
    /// Number of bytes of the description that have not arrived.
    missing: usize,
    of: TypeDescription,
}

impl PeerHello {
    pub(super) fn new() -> Self {
        Self {
            header: None,
            missing: 0,
            of: TypeDescription {
                descriptor: 0,
                snapshots: Vec::new(),
            },
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.header.is_some() && self.missing == 0
    }

    /// Adds a message of the handshake. Memory grows by what has arrived, and not by what was
    /// claimed.
    pub(super) fn push(&mut self, message: &Message) -> Result<(), String> {
        let header = HelloHeader::decode(&message.header);
        let part = message.payload.as_bytes();
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
            (Some(_), Some(HelloHeader::More)) if !part.is_empty() => {}
            _ => {
                let kind = message.header.kind;
                return Err(format!("it sent a message of the unexpected kind {kind}"));
            }
        }
        let Some(missing) = self.missing.checked_sub(part.len()) else {
            return Err("it sent more than the length of its description".to_owned());
        };
        self.missing = missing;
        self.of.snapshots.extend_from_slice(part);
        Ok(())
    }
}

impl Hello {
    pub(super) fn role(&self) -> Role {
        self.role
    }

    pub(super) fn new<T: Transportable + 'static>(role: Role) -> Self {
        Self {
            role,
            of: TypeDescription::of::<T>(),
        }
    }

    /// Returns the version of the peer's objects, or `None` if this side needs no conversion to
    /// read them.
    fn agree(&self, theirs: &TypeDescription) -> Result<Option<Version>, Differs> {
        match self.role {
            Role::Sender => self.of.assert_sends_to(theirs).map(|()| None),
            Role::Receiver => self.of.version_of(theirs),
        }
    }

    /// Checks the description of a peer that wants to join the listening side. Returns the version
    /// of its objects if they have to be converted.
    pub(super) fn judge(
        &self,
        theirs: PeerHello,
    ) -> Result<(JoinVerdict, Option<Version>), String> {
        let Some(HelloHeader::Join { role, .. }) = theirs.header else {
            return Err("its first message is not a channel handshake".to_owned());
        };
        if role == self.role as u64 {
            return Ok((JoinVerdict::SameRole, None));
        }
        Ok(match self.agree(&theirs.of) {
            Ok(version) => (JoinVerdict::Welcome, version),
            Err(_) => (JoinVerdict::OtherType, None),
        })
    }

    /// Returns the headers and payloads of a description that begins with this header.
    fn parts(&self, first: HelloHeader) -> impl Iterator<Item = (Header, &[u8])> {
        let (start, rest) = self.of.snapshots.split_at(self.first_len());
        let more = rest.chunks(MAX_PIECE);
        let more = more.map(|part| (HelloHeader::More.header(), part));
        std::iter::once((first.header(), start)).chain(more)
    }

    fn first_len(&self) -> usize {
        self.of.snapshots.len().min(MAX_PIECE)
    }

    /// Returns the headers and payloads of the messages with the verdict.
    pub(super) fn answer(&self, verdict: JoinVerdict) -> impl Iterator<Item = (Header, &[u8])> {
        self.parts(HelloHeader::Answer {
            verdict: verdict as u64,
            descriptor: self.of.descriptor,
            len: self.of.snapshots.len() as u64,
        })
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
        let join = HelloHeader::Join {
            role: self.role as u64,
            descriptor: self.of.descriptor,
            len: self.of.snapshots.len() as u64,
        };
        for (header, part) in self.parts(join) {
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
        let mut theirs = PeerHello::new();
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
        let differs = |differs: Differs| OpenError::Type {
            address: address(),
            ours: self.of.name(),
            theirs: differs.theirs,
            difference: differs.difference,
        };
        match verdict {
            0 => self.agree(&theirs.of).map(Ok).map_err(differs),
            // The other side knows rules that this one can't have agreed with.
            1 => Err(differs(match self.agree(&theirs.of) {
                Err(error) => error,
                Ok(_) => Differs {
                    theirs: theirs.of.name(),
                    difference: "the other side can't convert the objects".to_owned(),
                },
            })),
            2 => Err(OpenError::Role {
                address: address(),
                role: self.role.name(),
            }),
            3 => Err(OpenError::Full { address: address() }),
            _ => Err(no_channel(format!("it sent the unknown verdict {verdict}"))),
        }
    }
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
    use jstream::EmptyBuffer;
    use jstream_base::frame::assert_documented;

    #[test]
    fn the_protocol_lists_these_messages() {
        let page = include_str!("../../PROTOCOL.md");
        assert_documented(page, "## 11. Typed channels", HelloHeader::LAYOUT, &[]);
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
    fn a_description_arrives_in_parts() {
        let mut theirs = PeerHello::new();
        theirs.push(&join(5, b"ab")).unwrap();
        assert!(!theirs.is_complete());
        theirs.push(&more(b"c")).unwrap();
        theirs.push(&more(b"de")).unwrap();
        assert!(theirs.is_complete());
        assert_eq!(theirs.of.snapshots, b"abcde");
    }

    #[test]
    fn descriptions_that_lie_about_their_length_are_refused() {
        let limit = MAX_DESCRIPTION as u64;
        for len in [limit + 1, u64::MAX] {
            let error = PeerHello::new().push(&join(len, b"")).unwrap_err();
            assert!(error.contains(&limit.to_string()), "{error}");
        }
        // More than was announced, nothing, a second beginning, and a part without a beginning.
        let begun = || {
            let mut theirs = PeerHello::new();
            theirs.push(&join(4, b"ab")).unwrap();
            theirs
        };
        assert!(begun().push(&more(b"abc")).is_err());
        assert!(begun().push(&more(b"")).is_err());
        assert!(begun().push(&join(4, b"ab")).is_err());
        assert!(PeerHello::new().push(&more(b"a")).is_err());
        // Memory is not reserved for what was only claimed.
        let mut theirs = PeerHello::new();
        theirs.push(&join(limit, b"ab")).unwrap();
        assert!(theirs.of.snapshots.capacity() < 1 << 10);
    }

    #[test]
    fn long_descriptions_are_sent_in_parts() {
        for len in [0, 1, MAX_PIECE, MAX_PIECE + 1, MAX_DESCRIPTION] {
            let ours = Hello {
                role: Role::Sender,
                of: TypeDescription {
                    descriptor: 7,
                    snapshots: vec![3; len],
                },
            };
            let mut theirs = PeerHello::new();
            for (header, part) in ours.answer(JoinVerdict::Welcome) {
                assert!(!theirs.is_complete(), "{len}");
                theirs.push(&message(header, part)).unwrap();
            }
            assert!(theirs.is_complete());
            assert_eq!(theirs.of.snapshots, ours.of.snapshots);
        }
    }
}
