//! What can go wrong with a world.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;

use crate::address::Address;
use crate::error::{AddressError, ConnectError, ListenError};

/// Why there is no world, or why it did not end as it should.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorldError {
    /// There is no such rank.
    #[error(
        "there is no rank {rank} in a world of {size}: ranks go from 0 to one less than the size"
    )]
    NoRank {
        /// The rank asked for.
        rank: u32,
        /// How many ranks there are to be.
        size: u32,
    },
    /// A world of that size is not made.
    #[error("a world has 1 to {max} ranks, not {size}")]
    BadSize {
        /// How many were asked for.
        size: u32,
        /// How many there may be.
        max: u32,
    },
    /// The text is no session.
    #[error("`{text}` is no session, which has 32 hexadecimal digits")]
    BadSession {
        /// What was given.
        text: String,
    },
    /// No address was given at which rank 0 is.
    #[error("no address was given at which rank 0 is")]
    NoAddress,
    /// An address that this member would listen on can't be made of those of rank 0.
    #[error("{source}; name where this rank listens with WorldOptions::listen")]
    Address {
        /// Why.
        #[from]
        source: AddressError,
    },
    /// This member listens nowhere.
    #[error("rank {rank} can't listen: {source}")]
    Listen {
        /// This member's rank.
        rank: u32,
        /// Why.
        source: ListenError,
    },
    /// A member is not reached.
    #[error("rank {rank} can't be reached: {source}; does it run, and is that its address?")]
    Unreachable {
        /// The member.
        rank: u32,
        /// Why.
        source: ConnectError,
    },
    /// A member does not want this one.
    #[error("{address} refused rank {rank}: {refusal}")]
    Refused {
        /// Where the member is.
        address: Address,
        /// This member's rank.
        rank: u32,
        /// Why.
        refusal: Refusal,
    },
    /// Not all have joined in time.
    #[error(
        "{} of {size} did not join within {after:?}; start them, or raise WorldOptions::timeout{}",
        Ranks(ranks),
        Also(also)
    )]
    Missing {
        /// Those who did not.
        ranks: Vec<u32>,
        /// How many there are to be.
        size: u32,
        /// How long they were waited for.
        after: Duration,
        /// Whom rank 0 refused last, or who went away again, and why.
        also: Option<String>,
    },
    /// The others did not get ready in time.
    #[error("the world was not complete within {after:?}: {what}")]
    TimedOut {
        /// How long it was waited for.
        after: Duration,
        /// What was waited for.
        what: String,
    },
    /// A member went away while the world was made.
    #[error("rank {rank} went away while the world was made: {reason}")]
    Lost {
        /// The member.
        rank: u32,
        /// How that showed.
        reason: String,
    },
    /// Another member found that the world can't be made.
    #[error("rank {rank} gave up: {reason}")]
    Failed {
        /// That member.
        rank: u32,
        /// What it said, escaped.
        reason: String,
    },
    /// Who answered does not do as members of this version do.
    #[error("rank {rank} does not answer as members do: {reason}; are all of one version?")]
    Nonsense {
        /// The member.
        rank: u32,
        /// What it did.
        reason: String,
    },
    /// The environment does not say which member of which world this process is.
    #[error("the variable {variable} {problem}; a launcher sets it for each process of a world")]
    Environment {
        /// The variable.
        variable: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A process was not started.
    #[error("the process of rank {rank} can't be started: {source}")]
    Spawn {
        /// The rank that it was to be.
        rank: u32,
        /// What the system said.
        source: io::Error,
    },
    /// Processes that were started ended as they should not.
    #[error("{}", Ends(ends))]
    Children {
        /// Their ranks, and how they ended; `None` for those that did not, and were killed.
        ends: Vec<(u32, Option<ExitStatus>)>,
    },
    /// Not all members said goodbye in time, or some were lost before.
    #[error("{} did not end properly within {after:?}: {reason}", Ranks(ranks))]
    Unfinished {
        /// Those who did not.
        ranks: Vec<u32>,
        /// How long they were waited for.
        after: Duration,
        /// What happened to the first.
        reason: String,
    },
    /// The system is out of something.
    #[error("the world can't be made: {source}")]
    System {
        /// What it said.
        #[from]
        source: io::Error,
    },
}

/// Why a member is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The two speak different versions of the protocol.
    #[non_exhaustive]
    Version {
        /// The version of who refuses.
        theirs: u64,
        /// The version of who is refused.
        ours: u64,
    },
    /// The two disagree about how many there are.
    #[non_exhaustive]
    Size {
        /// The size at who refuses.
        theirs: u64,
        /// The size at who is refused.
        ours: u64,
    },
    /// That rank has no place there.
    Rank,
    /// That rank is there already.
    Taken,
    /// It belongs to another world.
    Session,
    /// All are there, or they are not waited for any more.
    Closed,
    /// It was not understood.
    Nonsense,
}

impl Refusal {
    /// As it travels: a number, and what stands with it.
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
                "it makes worlds of version {theirs}, this one of version {ours}; build all from one version"
            ),
            Self::Size { theirs, ours } => write!(
                f,
                "its world has {theirs} ranks, this one is to have {ours}; give all the same size"
            ),
            Self::Rank => {
                f.write_str("the rank has no place there; does another world use the address?")
            }
            Self::Taken => {
                f.write_str("the rank is there already; give each member a rank of its own")
            }
            Self::Session => {
                f.write_str("it belongs to another world; give each world addresses of its own")
            }
            Self::Closed => {
                f.write_str("it lets in nobody any more: its world is complete, or was given up")
            }
            Self::Nonsense => f.write_str("it was not understood; are all of one version?"),
        }
    }
}

/// Ranks in a sentence.
struct Ranks<'r>(&'r [u32]);

/// How many of them are named.
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

/// What happened besides.
struct Also<'a>(&'a Option<String>);

impl fmt::Display for Also<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|also| write!(f, " ({also})"))
    }
}

/// How processes ended.
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
