//! Errors of worlds.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use jstream_derive::ErrorDebug;
use thiserror::Error;

use jstream_base::Address;
use jstream_base::{AddressError, ConnectError, ListenError};

/// Error of creating or ending a world.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The rank is not less than the size of the world.
    #[error(
        "there is no rank {rank} in a world of {size}: ranks are numbered from 0 to the size minus 1"
    )]
    NoRank {
        /// The requested rank.
        rank: u32,
        /// The size of the world.
        size: u32,
    },
    /// The size of the world is out of range.
    #[error("a world has 1 to {max} ranks, not {size}")]
    BadSize {
        /// The requested size.
        size: u32,
        /// The maximum size.
        max: u32,
    },
    /// The text is not a valid session.
    #[error("`{text}` is not a session, which has 32 hexadecimal digits and is not 0")]
    BadSession {
        /// The text, escaped and shortened to 64 characters.
        text: String,
    },
    /// No address of rank 0 was given.
    #[error("no address was given for rank 0")]
    NoAddress,
    /// No listening address for this member can be derived from those of rank 0.
    #[error("{source}; set the addresses of this rank with WorldOptions::listen")]
    Address {
        /// The cause.
        r#source: AddressError,
    },
    /// This member can't listen on any of its addresses.
    #[error("rank {rank} can't listen: {source}")]
    Listen {
        /// The rank of this member.
        rank: u32,
        /// The cause.
        r#source: ListenError,
    },
    /// A member can't be reached.
    #[error(
        "rank {rank} can't be reached: {source}{}; check that it is running, and its address",
        earlier(before.as_deref())
    )]
    Unreachable {
        /// The rank of that member.
        rank: u32,
        /// The error of the last attempt that had reached a listener, if there was one, and it is
        /// another one than the cause.
        before: Option<String>,
        /// The cause.
        r#source: ConnectError,
    },
    /// Another member refused this one.
    #[error("{address} refused rank {rank}: {refusal}")]
    Refused {
        /// The address of the other member.
        address: Address,
        /// The rank of this member.
        rank: u32,
        /// The reason.
        refusal: Refusal,
    },
    /// Not all members have joined in time.
    #[error(
        "{} of {size} did not join within {after:?}; start them, or raise WorldOptions::timeout{}",
        Ranks(ranks),
        Also(also)
    )]
    Missing {
        /// The ranks that are missing.
        ranks: Vec<u32>,
        /// The size of the world.
        size: u32,
        /// The timeout.
        after: Duration,
        /// The last member that was refused or lost, with the reason.
        also: Option<String>,
    },
    /// The other members were not ready in time.
    #[error("the world was not complete within {after:?}: {what}")]
    TimedOut {
        /// The timeout.
        after: Duration,
        /// The missing step.
        what: String,
    },
    /// The connection to a member was lost while the world was being created.
    #[error("rank {rank} went away while the world was being created: {reason}")]
    Lost {
        /// The rank of the member.
        rank: u32,
        /// The cause.
        reason: String,
    },
    /// Another member reported that the world can't be created.
    #[error("rank {rank} gave up: {reason}")]
    Failed {
        /// The rank of that member.
        rank: u32,
        /// The reason that it reported, escaped.
        reason: String,
    },
    /// The peer violated the protocol; it may be of another version.
    #[error("rank {rank} violated the protocol: {reason}; do all members have the same version?")]
    Nonsense {
        /// The rank of the peer.
        rank: u32,
        /// The violation.
        reason: String,
    },
    /// The environment variables do not describe a member of a world.
    #[error("the variable {variable} {problem}; a launcher sets it for each process of a world")]
    Environment {
        /// The name of the variable.
        variable: &'static str,
        /// The problem.
        problem: String,
    },
    /// The processes of a launcher's job could not agree on the address of rank 0.
    #[error("the processes of {launcher} can't agree on the address of rank 0: {reason}")]
    Launcher {
        /// The launcher.
        launcher: &'static str,
        /// The cause.
        reason: String,
    },
    /// A process could not be started.
    #[error("the process of rank {rank} can't be started: {source}")]
    Spawn {
        /// The rank of the process.
        rank: u32,
        /// The error of the operating system.
        r#source: io::Error,
    },
    /// Child processes ended early or without success.
    #[error("{}", Ends(ends))]
    Children {
        /// The ranks with their exit status; `None` for processes that did not end and were killed.
        ends: Vec<(u32, Option<ExitStatus>)>,
    },
    /// Not all members said goodbye in time, or some were lost before.
    #[error("{} did not end properly: {reason}", Ranks(ranks))]
    Unfinished {
        /// The ranks of these members.
        ranks: Vec<u32>,
        /// The timeout.
        after: Duration,
        /// The reason for the first of them.
        reason: String,
    },
    /// An operation between the members failed.
    #[error("the members of the world could not exchange their addresses: {source}")]
    Members {
        /// The cause.
        r#source: crate::Error,
    },
    /// A system call failed.
    #[error("the world can't be created: {source}")]
    System {
        /// The error of the operating system.
        r#source: io::Error,
    },
}

impl WorldError {
    /// Returns the error for a member that sends another message than the protocol allows now.
    pub(super) fn out_of_turn(rank: u32) -> Self {
        let reason = "it sent an unexpected message".to_owned();
        Self::Nonsense { rank, reason }
    }

    /// Returns the error for a member whose connection fails.
    pub(super) fn lost(rank: u32, reason: impl ToString) -> Self {
        let reason = reason.to_string();
        Self::Lost { rank, reason }
    }
}

/// Returns what an error says about an earlier attempt.
fn earlier(before: Option<&str>) -> String {
    before.map_or_else(String::new, |before| {
        format!("; an earlier attempt reached a listener, and failed: {before}")
    })
}

impl From<AddressError> for WorldError {
    fn from(source: AddressError) -> Self {
        Self::Address { source }
    }
}

impl From<io::Error> for WorldError {
    fn from(source: io::Error) -> Self {
        Self::System { source }
    }
}

/// Reason why a member was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The two members have different versions of the protocol.
    #[non_exhaustive]
    Version {
        /// The version of the refusing member.
        theirs: u64,
        /// The version of the refused member.
        ours: u64,
    },
    /// The two members have different sizes of the world.
    #[non_exhaustive]
    Size {
        /// The size at the refusing member.
        theirs: u64,
        /// The size at the refused member.
        ours: u64,
    },
    /// The refusing member does not expect this rank.
    Rank,
    /// A member with this rank has joined already.
    Taken,
    /// The session belongs to another world.
    Session,
    /// The world is complete, or was given up.
    Closed,
    /// The request was not understood.
    Nonsense,
}

impl Refusal {
    /// Returns the words that encode the reason in a message.
    pub(super) fn to_words(self) -> [u64; 3] {
        match self {
            Self::Version { theirs, ours } => [1, theirs, ours],
            Self::Size { theirs, ours } => [2, theirs, ours],
            Self::Rank => [3, 0, 0],
            Self::Taken => [4, 0, 0],
            Self::Session => [5, 0, 0],
            Self::Closed => [6, 0, 0],
            Self::Nonsense => [7, 0, 0],
        }
    }

    pub(super) fn from_words(words: [u64; 3]) -> Option<Self> {
        Some(match words {
            [1, theirs, ours] => Self::Version { theirs, ours },
            [2, theirs, ours] => Self::Size { theirs, ours },
            [3, ..] => Self::Rank,
            [4, ..] => Self::Taken,
            [5, ..] => Self::Session,
            [6, ..] => Self::Closed,
            [7, ..] => Self::Nonsense,
            _ => return None,
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { theirs, ours } => write!(
                f,
                "its protocol version is {theirs}, that of this member is {ours}; use the same version for all members"
            ),
            Self::Size { theirs, ours } => write!(
                f,
                "its world has {theirs} ranks, but this member expects {ours}; give all members the same size"
            ),
            Self::Rank => {
                f.write_str("it does not expect this rank; does another world use the address?")
            }
            Self::Taken => {
                f.write_str("this rank has joined already; give each member a different rank")
            }
            Self::Session => {
                f.write_str("it belongs to another world; give each world different addresses")
            }
            Self::Closed => {
                f.write_str("it accepts no more members: its world is complete, or was given up")
            }
            Self::Nonsense => f.write_str(
                "it did not understand the request; do all members have the same version?",
            ),
        }
    }
}

/// Displays a list of ranks.
struct Ranks<'r>(&'r [u32]);

/// Maximum number of ranks that are listed by number.
const NAMED: usize = 10;

impl fmt::Display for Ranks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.0.len() == 1 { "rank" } else { "ranks" };
        f.write_str(word)?;
        for (place, rank) in self.0.iter().take(NAMED).enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma} {rank}")?;
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Displays additional information in parentheses, if there is any.
struct Also<'a>(&'a Option<String>);

impl fmt::Display for Also<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|also| write!(f, " ({also})"))
    }
}

/// Displays the exit status of processes.
struct Ends<'e>(&'e [(u32, Option<ExitStatus>)]);

impl fmt::Display for Ends<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (rank, end)) in self.0.iter().take(NAMED).enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            match end {
                Some(status) => write!(f, "{comma}the process of rank {rank} ended with {status}")?,
                None => write!(
                    f,
                    "{comma}the process of rank {rank} did not end, and was killed"
                )?,
            }
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_travel() {
        for refusal in [
            Refusal::Version { theirs: 2, ours: 1 },
            Refusal::Size { theirs: 4, ours: 5 },
            Refusal::Rank,
            Refusal::Taken,
            Refusal::Session,
            Refusal::Closed,
            Refusal::Nonsense,
        ] {
            assert_eq!(Refusal::from_words(refusal.to_words()), Some(refusal));
        }
        assert_eq!(Refusal::from_words([0; 3]), None);
        assert_eq!(Refusal::from_words([8, 0, 0]), None);
    }

    #[test]
    fn errors_name_ranks() {
        let missing = |ranks: Vec<u32>| WorldError::Missing {
            ranks,
            size: 20,
            after: Duration::from_secs(1),
            also: None,
        };
        assert!(missing(vec![3]).to_string().starts_with("rank 3 of 20 did"));
        assert!(missing(vec![3, 5]).to_string().starts_with("ranks 3, 5 of"));
        let many = missing((1..15).collect()).to_string();
        assert!(many.contains("9, 10 and 4 more of 20"), "{many}");
    }
}
