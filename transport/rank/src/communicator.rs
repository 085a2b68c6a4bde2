//! Communicators: a context, and the members that send messages in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::collective::kept::KeptPlans;
use super::error::Error;
use super::names::{Source, Status};
use super::outcome::RequestOutcome;

/// The context that the collective operations of a communicator use has this bit in addition. So a
/// receive with wildcards never matches a message of a collective operation.
pub(super) const COLLECTIVE: u32 = 1 << 31;

/// The context of the messages with which ranks take leave.
pub(super) const ENDING: u32 = 1;

/// The context of the messages of agreements, which no handle has: there are no collective
/// operations in the context in which ranks take leave.
pub(super) const AGREEMENT: u32 = ENDING | COLLECTIVE;

/// Marks a number that is no member of a subgroup, so that no rank of the node has it.
const NO_MEMBER: u32 = 1 << 31;

/// The state of one context that all handles of a rank share.
pub(super) struct Communicator {
    pub(super) members: Members,
    /// Number of collective operations that were begun.
    collectives: AtomicU64,
    /// Number of agreements that were begun.
    agreements: AtomicU64,
    pub(super) plans: KeptPlans,
}

impl Communicator {
    pub(super) fn new(members: Members) -> Self {
        Self {
            members,
            collectives: AtomicU64::new(0),
            agreements: AtomicU64::new(0),
            plans: KeptPlans::default(),
        }
    }

    /// Numbers a collective operation. All members number it alike.
    pub(super) fn next_collective(&self) -> u64 {
        // Relaxed is enough: the members number their operations alike because they call them in
        // the same order.
        self.collectives.fetch_add(1, Ordering::Relaxed)
    }

    /// Numbers an agreement. All members number it alike.
    pub(super) fn next_agreement(&self) -> u64 {
        self.agreements.fetch_add(1, Ordering::Relaxed)
    }
}

/// The members of a communicator, in the order of their numbers in it. `None` for all ranks of the
/// node, whose numbers are the same there.
///
/// Within the node, ranks always have the numbers of the node. Numbers are converted where a handle
/// takes or returns them.
#[derive(Clone, Default)]
pub(super) struct Members(Option<Arc<Subgroup>>);

/// Some ranks of a node.
struct Subgroup {
    /// Numbers of the members in the node.
    in_node: Vec<u32>,
    /// The own number in the subgroup.
    own: u32,
}

impl Subgroup {
    fn number_of(&self, rank: u32) -> Option<u32> {
        let found = (0..).zip(&self.in_node).find(|(_, other)| **other == rank);
        found.map(|(member, _)| member)
    }
}

impl Members {
    /// Returns a subgroup of these ranks of the node, of which this rank has the number `own`.
    pub(super) fn subgroup(in_node: Vec<u32>, own: u32) -> Self {
        Self(Some(Arc::new(Subgroup { in_node, own })))
    }

    /// Returns the numbers in the node of all members of a subgroup.
    pub(super) fn all(&self) -> Option<&[u32]> {
        Some(&self.0.as_deref()?.in_node)
    }

    /// Returns true if a rank of the node is a member.
    pub(super) fn contain(&self, rank: u32) -> bool {
        self.all().is_none_or(|ranks| ranks.contains(&rank))
    }

    /// Returns true if this is a subgroup of several ranks, and `is_meant` is true for the numbers
    /// in the node of all but this one.
    pub(super) fn others_are_all(&self, is_meant: impl Fn(u32) -> bool) -> bool {
        // The whole world is counted by `Peers`.
        let Some(group) = self.0.as_deref() else {
            return false;
        };
        let mut members = (0..).zip(&group.in_node);
        // A rank that is the only member has not been left by anybody.
        group.in_node.len() > 1
            && members.all(|(member, rank)| member == group.own || is_meant(*rank))
    }

    /// Returns the own number and the size of a subgroup.
    #[inline]
    pub(super) fn position(&self) -> Option<(u32, u32)> {
        let group = self.0.as_deref()?;
        let size = u32::try_from(group.in_node.len()).unwrap_or(u32::MAX);
        Some((group.own, size))
    }

    /// Returns the number in the node of a member. If there is no such member, returns a number
    /// that no rank has.
    #[inline]
    pub(super) fn in_node(&self, member: u32) -> u32 {
        match &self.0 {
            None => member,
            Some(group) => match group.in_node.get(member as usize) {
                Some(rank) => *rank,
                // No rank of the node has this number, so the operation fails with an error that
                // can name the member.
                None => member | NO_MEMBER,
            },
        }
    }

    /// Returns the number of a rank of the node, if it is a member.
    pub(super) fn number_of(&self, rank: u32) -> Option<u32> {
        match self.0.as_deref() {
            None => Some(rank),
            Some(group) => group.number_of(rank),
        }
    }

    /// Converts the source of a receive.
    #[inline]
    pub(super) fn source(&self, source: Source) -> Source {
        match source {
            Source::Rank(rank) => Source::Rank(self.in_node(rank)),
            Source::Any | Source::Null => source,
        }
    }

    /// Returns the number of a rank of the node in the subgroup.
    fn member(group: &Subgroup, rank: u32) -> u32 {
        group.number_of(rank).unwrap_or(rank & !NO_MEMBER)
    }

    /// Converts the status of a message that was received.
    #[inline]
    pub(super) fn status(&self, status: Status) -> Status {
        match &self.0 {
            Some(group) if status.source != Status::NOBODY => Status {
                source: Self::member(group, status.source),
                ..status
            },
            _ => status,
        }
    }

    /// Converts the ranks that an error names.
    #[inline]
    pub(super) fn error(&self, mut error: Error) -> Error {
        if let Some(group) = &self.0 {
            let size = u32::try_from(group.in_node.len()).unwrap_or(u32::MAX);
            error.renumber(|rank| Self::member(group, rank), size);
        }
        error
    }

    /// Converts the result of a receive.
    #[inline]
    pub(super) fn result(&self, result: Result<Status, Error>) -> Result<Status, Error> {
        match &self.0 {
            None => result,
            Some(_) => match result {
                Ok(status) => Ok(self.status(status)),
                Err(error) => Err(self.error(error)),
            },
        }
    }

    /// Converts the outcome of a request in place, because it is large.
    #[inline]
    pub(super) fn convert(&self, outcome: &mut RequestOutcome) {
        // In the world, the numbers are the same, and the outcome need not be moved.
        if self.0.is_some() {
            let result = std::mem::replace(&mut outcome.result, Ok(Status::NULL));
            outcome.result = self.result(result);
        }
    }
}
