//! What the two sides of a channel say before the first object: who they are, and what they mean by `T`.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream::schema::{Schema, TypeIndex};

use super::error::OpenError;
use super::near::Link;
use super::peers::Way;
use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::endpoint::{Endpoint, connect};
use crate::error::ConnectError;
use crate::header::Header;
use crate::options::Options;

/// The kinds of the two messages; `jsc` and a number.
const JOIN: u32 = 0x6a73_6301;
const ANSWER: u32 = 0x6a73_6302;

/// The longest schema that travels; one that is longer is told apart by its descriptor alone. Answers the
/// threat of peers that have us decode what they like.
const MAX_SCHEMA: usize = 64 << 10;

/// How soon one who finds nobody looks again: at first, and at last.
const SOON: Duration = Duration::from_millis(1);
const LATER: Duration = Duration::from_millis(20);

/// What a side does.
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

/// What the side that listens says to one who wants to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Welcome = 0,
    OtherType = 1,
    SameRole = 2,
    Full = 3,
}

/// What a side says of itself.
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

    fn send(&self, endpoint: &Endpoint, kind: u32, first: u64) -> Result<(), String> {
        let header = Header::new(kind, [first, self.descriptor, 0]);
        let sent = endpoint.send_message(header, &[IoSlice::new(&self.schema)]);
        sent.map_err(|error| error.to_string())
    }

    /// What the side that listens makes of one who wants to join, whom it tells. `reserve` says whether there is
    /// room for one who may: that one is told so only afterwards.
    pub(super) fn welcome(
        &self,
        endpoint: &Endpoint,
        reserve: impl FnOnce() -> bool,
        timeout: Duration,
    ) -> Result<(), String> {
        let theirs = endpoint.recv_message_timeout(timeout);
        let theirs = theirs.map_err(|error| error.to_string())?;
        let [role, descriptor, _] = theirs.header.words;
        if theirs.header.kind != JOIN {
            return Err("it does not begin as a channel does".to_owned());
        }
        let verdict = if role == self.role as u64 {
            Verdict::SameRole
        } else if descriptor != self.descriptor {
            Verdict::OtherType
        } else if !reserve() {
            Verdict::Full
        } else {
            Verdict::Welcome
        };
        self.send(endpoint, ANSWER, verdict as u64)?;
        match verdict {
            Verdict::Welcome => Ok(()),
            Verdict::OtherType => Err("it is of another type".to_owned()),
            Verdict::SameRole => Err(format!("it is a {}, too", self.role.name())),
            Verdict::Full => Err("there is no room for it".to_owned()),
        }
    }

    /// What the side that joins makes of its answer.
    fn be_welcomed(&self, endpoint: &Endpoint, options: &Options) -> Result<(), OpenError> {
        let address = || endpoint.address().clone();
        let no_channel = |reason| OpenError::NoChannel {
            address: address(),
            reason,
        };
        self.send(endpoint, JOIN, self.role as u64)
            .map_err(no_channel)?;
        let answer = endpoint.recv_message_timeout(options.handshake_timeout);
        let answer = answer.map_err(|error| no_channel(error.to_string()))?;
        let header = answer.header;
        if header.kind != ANSWER {
            return Err(no_channel(format!(
                "it sent a message of kind {}",
                header.kind
            )));
        }
        let [verdict, descriptor, _] = header.words;
        match verdict {
            0 if descriptor == self.descriptor => Ok(()),
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
            _ => Err(no_channel(format!("it answers {verdict}"))),
        }
    }

    /// The name of their type, and where it differs from ours.
    fn difference(&self, theirs: &[u8]) -> (String, String) {
        let unknown = || {
            (
                "a type that it does not describe".to_owned(),
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
        let difference = difference.map_or_else(|| "their layouts".to_owned(), |d| d.to_string());
        (name, difference)
    }
}

/// What a type is called; a peer's may be anything.
fn name_of(schema: &Schema, root: TypeIndex) -> String {
    /// The most characters of it.
    const MOST: usize = 80;
    let name = schema.get(root).map_or("?", |root| &*root.name);
    let mut shown: String = name.escape_debug().take(MOST).collect();
    if shown.len() < name.len() {
        shown.push_str("..");
    }
    shown
}

/// Who is found in this process.
pub(super) enum Near<T: Transportable + 'static> {
    Nobody,
    /// Somebody who is about to listen.
    Soon,
    Joined(Arc<Link<T>>),
    Refused(OpenError),
}

/// Joins who listens at `address`, whom it waits for as long as somebody wants it: in this process where `near`
/// finds it there.
pub(super) fn join<T: Transportable + 'static>(
    address: &Address,
    ours: &Hello,
    options: &Options,
    near: impl Fn() -> Near<T>,
    is_wanted: impl Fn() -> bool,
) -> Result<Way<T>, OpenError> {
    let until = Deadline::after(options.connect_timeout);
    let mut pause = SOON;
    loop {
        let connected = match near() {
            Near::Joined(link) => return Ok(Way::Near(link)),
            Near::Refused(error) => return Err(error),
            Near::Nobody => connect(address, options),
            Near::Soon => Err(ConnectError::NoListener {
                address: address.clone(),
            }),
        };
        match (connected, near()) {
            (_, Near::Joined(link)) => return Ok(Way::Near(link)),
            (_, Near::Refused(error)) => return Err(error),
            (Ok(endpoint), Near::Nobody) => {
                ours.be_welcomed(&endpoint, options)?;
                return Ok(Way::Far(endpoint));
            }
            (Err(source), _) if !is_absent(&source) || until.has_passed() || !is_wanted() => {
                let other = ours.role.other();
                return Err(OpenError::Connect { other, source });
            }
            // It began to listen meanwhile, or nobody is there yet.
            (Ok(_), Near::Soon) | (Err(_), _) => {}
        }
        thread::sleep(until.left().map_or(pause, |left| left.min(pause)));
        pause = pause.saturating_mul(2).min(LATER);
    }
}

/// Whether nobody is there yet who may come.
fn is_absent(error: &ConnectError) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, NotFound};
    match error {
        ConnectError::NoListener { .. } => true,
        ConnectError::Unreachable { source, .. } => {
            matches!(source.kind(), ConnectionRefused | NotFound)
        }
        _ => false,
    }
}
