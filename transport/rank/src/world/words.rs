//! Protocol by which members join a world. This module does no input or output except through the
//! endpoint that it is given.

use std::fmt::Write;
use std::io::IoSlice;
use std::time::Duration;

use super::MAX_SIZE;
use super::error::Refusal;
use super::session::Session;
use jstream_base::Address;
use jstream_base::{Header, RecvError, SendError, frames};
use jstream_endpoint::Endpoint;

/// Version of this protocol.
pub(super) const VERSION: u64 = 1;

frames! {
    /// The header of a message.
    #[derive(Debug, Clone, Copy)]
    enum WordHeader by Kind, reserved Ignored {
        ASK = 0x6a73_7701 => Ask { version: u64 = First, rank: u64 = Second, size: u64 = Third },
        WELCOME = 0x6a73_7702 => Welcome { version: u64 = First },
        HERE = 0x6a73_7703 => Here,
        TABLE = 0x6a73_7704 => Table { members: u64 = First },
        READY = 0x6a73_7705 => Ready,
        GO = 0x6a73_7706 => Go,
        FAILED = 0x6a73_7707 => Failed { rank: u64 = First },
        REFUSED = 0x6a73_7708 => Refused {
            reason: u64 = First,
            theirs: u64 = Second,
            ours: u64 = Third,
        },
        NOTED = 0x6a73_7709 => Noted,
        ATTACH = 0x6a73_770a => Attach { version: u64 = First, rank: u64 = Second, size: u64 = Third },
    }
}

/// Maximum number of addresses of a member. Limits the size of the tables of addresses.
pub(super) const MAX_ADDRESSES: usize = 8;

/// Maximum length in bytes of a message from a peer that is not a member yet: its list of
/// addresses.
pub(super) const LONGEST: usize = MAX_ADDRESSES * 513;

/// Maximum length in bytes of the reason in a message.
const REASON: usize = 512;

/// The purpose of a connection that a member opens to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The world is being created: a member joins at rank 0, or a parent passes the table on.
    Join,
    /// The world is complete, and the pair has no connection yet.
    Attach,
}

/// Request of a member for a connection to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) purpose: Purpose,
    pub(super) version: u64,
    pub(super) rank: u64,
    pub(super) size: u64,
    /// The session, or [`Session::UNKNOWN`] if the member does not know it.
    pub(super) session: Session,
}

/// A message of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Word {
    Ask(Ask),
    /// Acceptance: the session, and the host under which the peer is seen, if there is one.
    Welcome(Session, String),
    /// The listening addresses of a member.
    Here(Vec<Address>),
    /// The listening addresses of all members except rank 0, in the order of their ranks.
    Table(Vec<Vec<Address>>),
    /// Notice of rank 0 that it knows the member, which waits for a connection of its parent.
    Noted,
    /// Notice that a member and all members below it in the tree have the table.
    Ready,
    /// Notice that all members have the table.
    Go,
    /// Notice that the member of this rank has given up, with the reason.
    Failed(u32, String),
    Refused(Refusal),
}

impl Word {
    /// Encodes the message.
    pub(super) fn to_message(&self) -> (Header, Vec<u8>) {
        let says = |header: WordHeader, payload: Vec<u8>| (header.header(), payload);
        match self {
            &Self::Ask(Ask {
                purpose,
                version,
                rank,
                size,
                session,
            }) => {
                let header = match purpose {
                    Purpose::Join => WordHeader::Ask {
                        version,
                        rank,
                        size,
                    },
                    Purpose::Attach => WordHeader::Attach {
                        version,
                        rank,
                        size,
                    },
                };
                says(header, session.bytes().to_vec())
            }
            Self::Welcome(session, host) => {
                let payload = [session.bytes(), host.as_bytes()].concat();
                says(WordHeader::Welcome { version: VERSION }, payload)
            }
            Self::Here(addresses) => says(WordHeader::Here, line_of(addresses).into_bytes()),
            Self::Table(places) => {
                let lines: Vec<_> = places.iter().map(|addresses| line_of(addresses)).collect();
                let members = places.len() as u64;
                says(WordHeader::Table { members }, lines.join("\n").into_bytes())
            }
            Self::Noted => says(WordHeader::Noted, Vec::new()),
            Self::Ready => says(WordHeader::Ready, Vec::new()),
            Self::Go => says(WordHeader::Go, Vec::new()),
            Self::Failed(rank, reason) => {
                // Cut at the limit, but not within a character.
                let end = (0..=reason.len().min(REASON)).rev();
                let cut = end.filter_map(|length| reason.get(..length)).next();
                let payload = cut.unwrap_or_default().as_bytes().to_vec();
                let rank = u64::from(*rank);
                says(WordHeader::Failed { rank }, payload)
            }
            Self::Refused(refusal) => {
                let [reason, theirs, ours] = refusal.to_words();
                let header = WordHeader::Refused {
                    reason,
                    theirs,
                    ours,
                };
                says(header, Vec::new())
            }
        }
    }

    /// Decodes a message of a peer, which may contain anything.
    pub(super) fn from_message(header: &Header, payload: &[u8]) -> Result<Self, String> {
        let unknown = || format!("a message of kind {:#x}", header.kind);
        let ask = |purpose, version, rank, size| {
            let session = session(payload)?;
            Ok::<_, String>(Self::Ask(Ask {
                purpose,
                version,
                rank,
                size,
                session,
            }))
        };
        Ok(match WordHeader::decode(header).ok_or_else(unknown)? {
            WordHeader::Ask {
                version,
                rank,
                size,
            } => ask(Purpose::Join, version, rank, size)?,
            WordHeader::Attach {
                version,
                rank,
                size,
            } => ask(Purpose::Attach, version, rank, size)?,
            WordHeader::Welcome { .. } => {
                let (bytes, host) = payload
                    .split_at_checked(Session::LENGTH)
                    .ok_or("a welcome without a session")?;
                Self::Welcome(session(bytes)?, text(host)?.to_owned())
            }
            WordHeader::Here => Self::Here(addresses_of(text(payload)?)?),
            WordHeader::Table { members } => {
                let lines = text(payload)?.split('\n').filter(|_| members > 0);
                let count = u64::from(MAX_SIZE).min(members);
                // One more line than expected is enough to detect a wrong count.
                let most = usize::try_from(count).unwrap_or(0).saturating_add(1);
                let places: Result<Vec<_>, _> = lines.take(most).map(addresses_of).collect();
                let places = places?;
                if places.len() as u64 != members {
                    return Err(format!(
                        "a table of {members} ranks with {} entries",
                        places.len()
                    ));
                }
                Self::Table(places)
            }
            WordHeader::Noted => Self::Noted,
            WordHeader::Ready => Self::Ready,
            WordHeader::Go => Self::Go,
            WordHeader::Failed { rank } => {
                let rank = u32::try_from(rank).map_err(|_| format!("a rank of {rank}"))?;
                // The text of another process is shown to users, so control characters are escaped.
                let reason = text(payload.get(..REASON).unwrap_or(payload));
                Self::Failed(rank, reason.unwrap_or("?").escape_debug().collect())
            }
            WordHeader::Refused {
                reason,
                theirs,
                ours,
            } => {
                let refusal = Refusal::from_words([reason, theirs, ours]);
                Self::Refused(refusal.ok_or_else(|| format!("a refusal of kind {reason}"))?)
            }
        })
    }

    /// Sends the message.
    pub(super) fn send(&self, endpoint: &Endpoint) -> Result<(), SendError> {
        let (header, payload) = self.to_message();
        endpoint.send_message(header, &[IoSlice::new(&payload)])
    }

    /// Sends the message if this does not block.
    pub(super) fn try_say(&self, endpoint: &Endpoint) -> Result<(), SendError> {
        let (header, payload) = self.to_message();
        endpoint.try_send_message(header, &[IoSlice::new(&payload)])
    }

    /// Receives a message of at most [`LONGEST`] bytes, and waits for at most `wait`.
    pub(super) fn receive(endpoint: &Endpoint, wait: Duration) -> Result<Self, Unheard> {
        let mut memory = [0; LONGEST];
        let header = endpoint
            .recv_into_within(&mut memory, wait)
            .map_err(Unheard::Nothing)?;
        let length = usize::try_from(header.length).unwrap_or(usize::MAX);
        Self::from_message(&header, memory.get(..length).unwrap_or_default())
            .map_err(Unheard::Nonsense)
    }

    /// Receives a message of any length. Returns `None` if none has arrived.
    pub(super) fn try_receive(endpoint: &Endpoint) -> Result<Option<Self>, Unheard> {
        match endpoint.recv_message_within(Duration::ZERO) {
            Ok(message) => Self::from_message(&message.header, message.payload.as_bytes())
                .map(Some)
                .map_err(Unheard::Nonsense),
            Err(RecvError::Empty) => Ok(None),
            Err(error) => Err(Unheard::Nothing(error)),
        }
    }
}

/// Error of receiving a message: no message, or an invalid one.
#[derive(Debug)]
pub(super) enum Unheard {
    Nothing(RecvError),
    Nonsense(String),
}

impl std::fmt::Display for Unheard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing(error) => write!(f, "{error}"),
            Self::Nonsense(what) => write!(f, "it sent {what}"),
        }
    }
}

/// Joins addresses by spaces. An address contains no white space.
pub(super) fn line_of(addresses: &[Address]) -> String {
    let mut line = String::new();
    for address in addresses {
        let space = if line.is_empty() { "" } else { " " };
        let _ = write!(line, "{space}{address}");
    }
    line
}

/// Parses a line of addresses.
pub(super) fn addresses_of(line: &str) -> Result<Vec<Address>, String> {
    let words = line.split(' ').take(MAX_ADDRESSES.saturating_add(1));
    let addresses: Result<Vec<Address>, _> = words.map(str::parse).collect();
    let addresses = addresses.map_err(|error| format!("an invalid address: {error}"))?;
    if addresses.len() > MAX_ADDRESSES {
        return Err(format!("more than {MAX_ADDRESSES} addresses"));
    }
    Ok(addresses)
}

fn session(bytes: &[u8]) -> Result<Session, String> {
    Session::from_bytes(bytes).ok_or_else(|| format!("a session of {} bytes", bytes.len()))
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| format!("invalid text: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jstream_base::frame::assert_documented;
    use proptest::prelude::*;

    fn places(uris: &[&str]) -> Vec<Address> {
        uris.iter().map(|uri| uri.parse().unwrap()).collect()
    }

    #[test]
    fn words_travel() {
        let session = Session::new().unwrap();
        for word in [
            Word::Ask(Ask {
                purpose: Purpose::Join,
                version: 1,
                rank: 3,
                size: 4,
                session,
            }),
            Word::Ask(Ask {
                purpose: Purpose::Attach,
                version: 1,
                rank: 4,
                size: 3,
                session,
            }),
            Word::Welcome(session, "192.0.2.1".to_owned()),
            Word::Welcome(session, String::new()),
            Word::Here(places(&["shm://a", "tcp://[::1]:7"])),
            Word::Table(Vec::new()),
            Word::Table(vec![places(&["shm://a", "uds://@b"]), places(&["shm://c"])]),
            Word::Noted,
            Word::Ready,
            Word::Go,
            Word::Failed(7, "no more".to_owned()),
            Word::Refused(Refusal::Taken),
        ] {
            let (header, payload) = word.to_message();
            assert_eq!(Word::from_message(&header, &payload), Ok(word));
        }
    }

    #[test]
    fn the_protocol_lists_these_messages() {
        let page = include_str!("../../../PROTOCOL.md");
        assert_documented(page, "## 13. Worlds of ranks", WordHeader::LAYOUT, &[]);
    }

    #[test]
    fn words_beyond_the_limits_are_refused() {
        let says = |kind, first, payload: &[u8]| {
            Word::from_message(&Header::new(kind, [first, 0, 0]), payload)
        };
        let many = ["shm://a"; MAX_ADDRESSES + 1].join(" ");
        assert!(says(HERE, 0, many.as_bytes()).is_err());
        assert!(says(HERE, 0, b"").is_err());
        assert!(says(HERE, 0, b"shm://a\nshm://b").is_err());
        assert!(says(TABLE, 1, b"shm://a\nshm://b").is_err());
        assert!(says(TABLE, 3, b"shm://a\nshm://b").is_err());
        assert!(says(TABLE, u64::MAX, b"shm://a").is_err());
        assert!(says(ASK, 1, &[0; 17]).is_err());
        assert!(says(WELCOME, 1, &[0; 15]).is_err());
        assert!(says(FAILED, u64::MAX, b"").is_err());
        assert!(says(0, 0, b"").is_err());
        let reason = says(FAILED, 1, &[b'\n'; 5000]).unwrap();
        assert!(matches!(reason, Word::Failed(1, reason) if reason.len() == 2 * REASON));
    }

    proptest! {
        #[test]
        fn any_message_is_a_word_or_an_error(
            kind in prop_oneof![0x6a73_7700u32..0x6a73_770c, any::<u32>()],
            words in any::<[u64; 3]>(),
            payload in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            if let Ok(word) = Word::from_message(&Header::new(kind, words), &payload) {
                let (header, payload) = word.to_message();
                prop_assert!(Word::from_message(&header, &payload).is_ok());
            }
        }
    }
}
