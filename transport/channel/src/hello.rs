//! Handshake of a channel, before the first object: both sides exchange their roles and the type
//! `T`.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream::schema::{Schema, TypeIndex};

use super::error::OpenError;
use super::near::NearLink;
use super::peers::PeerConnection;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::frames;
use jstream_base::{ConnectError, HandshakeError, Header, RecvError};
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, connect};

frames! {
    /// The header of a message, whose payload is the schema of the sender's type.
    #[derive(Debug, Clone, Copy)]
    enum HelloHeader by Kind, reserved Ignored {
        /// The first message of the connecting side, with its [`Role`].
        JOIN = 0x6a73_6301 => Join { role: u64 = First, descriptor: u64 = Second },
        /// The response, which is a [`JoinVerdict`].
        ANSWER = 0x6a73_6302 => Answer { verdict: u64 = First, descriptor: u64 = Second },
    }
}

/// Maximum length of a schema in the handshake, in bytes. Types with a longer schema are compared
/// by descriptor alone. Bounds the work of decoding the schema of an untrusted peer.
pub(super) const MAX_SCHEMA: usize = 64 << 10;

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
    descriptor: u64,
    schema: Vec<u8>,
    name: String,
}

impl Hello {
    pub(super) fn role(&self) -> Role {
        self.role
    }

    pub(super) fn new<T: Transportable + 'static>(role: Role) -> Self {
        let (schema, root) = Schema::of::<T>();
        let mut bytes = schema.to_bytes(root);
        if bytes.len() > MAX_SCHEMA {
            bytes.clear();
        }
        Self {
            role,
            descriptor: schema.descriptor(root),
            schema: bytes,
            name: name_of(&schema, root),
        }
    }

    fn send(&self, endpoint: &Endpoint, header: HelloHeader) -> Result<(), String> {
        let sent = endpoint.send_message(header.header(), &[IoSlice::new(&self.schema)]);
        sent.map_err(|error| error.to_string())
    }

    /// Checks the first message of a peer that wants to join the listening side. `reserve` reserves
    /// a place for a peer that passes the checks, before the peer is told.
    pub(super) fn judge(
        &self,
        theirs: &Header,
        reserve: impl FnOnce() -> bool,
    ) -> Result<JoinVerdict, String> {
        let Some(HelloHeader::Join { role, descriptor }) = HelloHeader::decode(theirs) else {
            return Err("its first message is not a channel handshake".to_owned());
        };
        Ok(if role == self.role as u64 {
            JoinVerdict::SameRole
        } else if descriptor != self.descriptor {
            JoinVerdict::OtherType
        } else if !reserve() {
            JoinVerdict::Full
        } else {
            JoinVerdict::Welcome
        })
    }

    /// Returns the header and payload of the message with the verdict.
    pub(super) fn answer(&self, verdict: JoinVerdict) -> (Header, &[u8]) {
        let answer = HelloHeader::Answer {
            verdict: verdict as u64,
            descriptor: self.descriptor,
        };
        (answer.header(), &self.schema)
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

    /// Joins the listening side, and checks its response. Returns an error inside `Ok` if the
    /// connection ended before a response: the listening side may have had too many connections.
    fn request_to_join(
        &self,
        endpoint: &Endpoint,
        options: &Options,
    ) -> Result<Result<(), OpenError>, OpenError> {
        let address = || endpoint.info().address.clone();
        let no_channel = |reason| OpenError::NoChannel {
            address: address(),
            reason,
        };
        let join = HelloHeader::Join {
            role: self.role as u64,
            descriptor: self.descriptor,
        };
        // The connection is read even if sending has failed: a response that the peer sent before
        // it closed explains more.
        let said = self.send(endpoint, join);
        let answer = match endpoint.recv_message_within(options.handshake_timeout) {
            Ok(answer) => answer,
            Err(error) => {
                let reason = said.err().unwrap_or_else(|| error.to_string());
                return match error {
                    RecvError::Closed { .. } | RecvError::Lost { .. } => {
                        Ok(Err(no_channel(reason)))
                    }
                    _ => Err(no_channel(reason)),
                };
            }
        };
        let Some(HelloHeader::Answer {
            verdict,
            descriptor,
        }) = HelloHeader::decode(&answer.header)
        else {
            return Err(no_channel(format!(
                "it sent a message of the unexpected kind {}",
                answer.header.kind
            )));
        };
        match verdict {
            0 if descriptor == self.descriptor => Ok(Ok(())),
            0 | 1 => {
                let (theirs, difference) = self.difference(answer.payload.as_bytes());
                Err(OpenError::Type {
                    address: address(),
                    ours: self.name.clone(),
                    theirs,
                    difference,
                })
            }
            2 => Err(OpenError::Role {
                address: address(),
                role: self.role.name(),
            }),
            3 => Err(OpenError::Full { address: address() }),
            _ => Err(no_channel(format!("it sent the unknown verdict {verdict}"))),
        }
    }

    /// Returns the name of the peer's type, and the first difference from the type of this side.
    fn difference(&self, theirs: &[u8]) -> (String, String) {
        let unknown = || {
            (
                "a type that it did not describe".to_owned(),
                "unknown".to_owned(),
            )
        };
        if theirs.len() > MAX_SCHEMA {
            return unknown();
        }
        let (Ok((here, our_root)), Ok((there, their_root))) =
            (Schema::from_bytes(&self.schema), Schema::from_bytes(theirs))
        else {
            return unknown();
        };
        let name = name_of(&there, their_root);
        let difference = here.difference(our_root, &there, their_root);
        let difference = difference.map_or_else(|| "layouts differ".to_owned(), |d| d.to_string());
        (name, difference)
    }
}

/// Returns the name of a type, escaped and shortened, because a peer may send any name.
fn name_of(schema: &Schema, root: TypeIndex) -> String {
    /// Maximum length of the name, in characters.
    const MOST: usize = 80;
    let name = schema.get(root).map_or("?", |root| &*root.name);
    let mut shown: String = name.escape_debug().take(MOST).collect();
    if shown.len() < name.len() {
        shown.push_str("..");
    }
    shown
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
/// for the listener up to the connect timeout, and while `is_wanted` returns true.
pub(super) fn join<T: Transportable + 'static>(
    address: &Address,
    ours: &Hello,
    options: &Options,
    near: impl Fn() -> Near<T>,
    is_wanted: impl Fn() -> bool,
) -> Result<PeerConnection<T>, OpenError> {
    let until = Deadline::after(options.connect_timeout);
    let mut pause = FIRST_PAUSE;
    let mut ends = 0_u32;
    loop {
        let connected = match near() {
            Near::Joined(link) => return Ok(PeerConnection::Near(link)),
            Near::Refused(error) => return Err(error),
            Near::Nobody => connect(address, options),
            Near::Soon => Err(ConnectError::NoListener {
                address: address.clone(),
            }),
        };
        match (connected, near()) {
            (_, Near::Joined(link)) => return Ok(PeerConnection::Near(link)),
            (_, Near::Refused(error)) => return Err(error),
            (Ok(endpoint), Near::Nobody) => {
                let Err(error) = ours.request_to_join(&endpoint, options)? else {
                    return Ok(PeerConnection::Far(endpoint));
                };
                ends = ends.saturating_add(1);
                if ends >= MOST_ENDS || until.has_passed() || !is_wanted() {
                    return Err(error);
                }
            }
            (Err(source), _) if !may_come(&source) || until.has_passed() || !is_wanted() => {
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
fn may_come(error: &ConnectError) -> bool {
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
    use jstream_base::frame::assert_documented;

    #[test]
    fn the_protocol_lists_these_messages() {
        let page = include_str!("../../PROTOCOL.md");
        assert_documented(page, "## 11. Typed channels", HelloHeader::LAYOUT, &[]);
    }
}
