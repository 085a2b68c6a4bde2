//! Agreement of the members of a communicator, of which some may have failed.
//!
//! The state machine is [`Agreement`] of `jstream-collective`. Here its messages are sent between
//! ranks: in a context of their own, with the context of the communicator and the number of the
//! agreement as the tag. Each member has one receive for every other member. It fails after the
//! last message of a rank that is gone, as the state machine requires.
//!
//! Decision 092 has the reasons.

mod words;

use jstream_collective::{Agreement, Decision};
use std::sync::Arc;

use super::communicator::{AGREEMENT, COLLECTIVE, Members};
use super::error::{ElementName, Error};
use super::member::Rank;
use super::names::Destination;
use super::request::ReceiveTarget;
use super::requests::RecvRequest;
use super::revocation::Recovery;
use super::transfer::offers::SendMode;
use super::waiting::wait_any_timeout;
use super::wire::Label;
use jstream_matching::Pattern;

/// The kind of an agreement is this bit of its tag, so that members that call different methods
/// never combine their values.
const SHRINK: u64 = 1 << 63;

/// The result of [`Recovery::agree`], the same at all members that return one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Consensus {
    /// The flags of the members, combined by bitwise AND.
    pub flags: u64,
    /// The numbers of the members that have failed, in ascending order. Further members may have
    /// failed meanwhile.
    pub failed: Vec<u32>,
}

impl Recovery<'_> {
    /// Agrees with the other members on which of them have failed, and on a value: the bitwise AND
    /// of the `flags` of all members. Works in a [revoked](Self::revoke) communicator.
    ///
    /// All members that have not failed have to call this. The result is the same at all of them,
    /// also if further members fail meanwhile. If a member fails after it has returned the result,
    /// the others get that result too. The flags of a member that has failed may be included or
    /// not. Failed members are those that this rank, or another member, knows as
    /// [gone](Error::PeerGone) before the value is decided. A member that lives is among them if
    /// its connection to another member was lost.
    ///
    /// A communicator serves one thread of each member at a time, as for collective operations.
    /// For `n` members, this takes about `n²` short messages. A member without room for a message,
    /// because it does not receive those of other communicators, delays it.
    ///
    /// ```
    /// use jstream_transport::rank;
    ///
    /// let mut ranks = rank::threads(3, &rank::Options::default());
    /// drop(ranks.remove(1));
    /// std::thread::scope(|scope| {
    ///     for (rank, flags) in ranks.iter().zip([0b011, 0b110]) {
    ///         scope.spawn(move || {
    ///             let consensus = rank.recovery().agree(flags).unwrap();
    ///             assert_eq!((consensus.flags, consensus.failed), (0b010, vec![1]));
    ///         });
    ///     }
    /// });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if no member sends a message for the [timeout of collective
    /// operations](super::Options::collective_timeout), for example because a member that has not
    /// failed does not call this. [`Error::PeerGone`] with the number of this rank if the other
    /// members have lost the connection to it, and agree that it has failed.
    pub fn agree(&self, flags: u64) -> Result<Consensus, Error> {
        let decision = self.decide(0, flags, 0)?;
        let failed = decision.failed.iter();
        Ok(Consensus {
            flags: decision.bits,
            failed: failed
                .filter_map(|rank| u32::try_from(*rank).ok())
                .collect(),
        })
    }

    /// Returns a communicator of the members that have not failed, in the order of their numbers in
    /// this one. Works in a [revoked](Self::revoke) communicator, and is how a program continues
    /// after a failure.
    ///
    /// All members that have not failed have to call this. They get the same members and the same
    /// context, also if further members fail meanwhile: as for [`agree`](Self::agree), such a
    /// member is either left out by all, or is in the new communicator of all, where operations
    /// with it fail. No message in transit belongs to the context, which none of the members has
    /// used.
    ///
    /// ```
    /// use jstream_transport::rank::{self, operation::Sum};
    ///
    /// let mut ranks = rank::threads(4, &rank::Options::default());
    /// drop(ranks.remove(1));
    /// std::thread::scope(|scope| {
    ///     for rank in &ranks {
    ///         scope.spawn(move || {
    ///             let mut sum = [0];
    ///             if rank.all_reduce(&[1], &mut sum, &Sum).is_err() {
    ///                 rank.recovery().revoke();
    ///             }
    ///             let survivors = rank.recovery().shrink().unwrap();
    ///             survivors.all_reduce(&[1], &mut sum, &Sum).unwrap();
    ///             assert_eq!((survivors.size(), sum), (3, [3]));
    ///         });
    ///     }
    /// });
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`agree`](Self::agree). [`Error::NoContext`] if all contexts have been used.
    pub fn shrink(&self) -> Result<Rank, Error> {
        let node = self.rank.node();
        loop {
            // As in `agree_on_context`, with agreements instead of reductions.
            let next = node.unused_contexts.next();
            let largest = self.decide(SHRINK, u64::MAX, u64::from(next))?.number;
            let context = u32::try_from(largest).unwrap_or(COLLECTIVE);
            if context >= COLLECTIVE {
                return Err(Error::NoContext);
            }
            let is_reserved = u64::from(node.unused_contexts.reserve(context));
            let decision = self.decide(SHRINK, is_reserved, 0)?;
            if decision.bits == 1 {
                return Ok(self.rank.with_members(context, self.survivors(&decision)));
            }
        }
    }

    /// Returns the members that have not failed.
    fn survivors(&self, decision: &Decision) -> Members {
        let has_failed = |rank: u32| decision.failed.contains(&(rank as usize));
        let members = (0..self.rank.size()).filter(|rank| !has_failed(*rank));
        let members: Vec<_> = members.collect();
        let own = members.iter().position(|rank| *rank == self.rank.rank());
        let own = own.and_then(|own| u32::try_from(own).ok()).unwrap_or(0);
        let in_node = members
            .iter()
            .map(|rank| self.rank.members().in_node(*rank));
        Members::subgroup(in_node.collect(), own)
    }

    /// Agrees with the other members on the bitwise AND of `bits` and the maximum of `number`.
    fn decide(&self, kind: u64, bits: u64, number: u64) -> Result<Decision, Error> {
        let (own, size) = (self.rank.rank() as usize, self.rank.size() as usize);
        // Numbers are reused after 2^32 agreements. No message stays in transit for so long.
        let count = self.rank.communicator().next_agreement() & u64::from(u32::MAX);
        let label = Label {
            context: AGREEMENT,
            tag: kind | u64::from(self.rank.context()) << 32 | count,
            descriptor: 0,
        };
        let decided = self.exchange(label, Agreement::new(own, size, bits, number));
        let (node, Label { context, tag, .. }) = (self.rank.node(), label);
        // Messages of members that decide later are not needed.
        node.with(|state, deferred| state.end_operation(context, tag, deferred));
        let decision = decided?;
        if decision.failed.contains(&own) {
            let reason = "the other members have lost the connection to this rank";
            let (rank, reason) = (self.rank.rank(), Arc::from(reason));
            return Err(Error::PeerGone { rank, reason });
        }
        Ok(decision)
    }

    /// Exchanges the messages of an agreement until it is decided and all its messages are sent.
    fn exchange(&self, label: Label, mut agreement: Agreement) -> Result<Decision, Error> {
        let after = self.rank.node().inbox.options.collective_timeout;
        let others = (0..self.rank.size()).filter(|member| *member != self.rank.rank());
        let others: Vec<_> = others.collect();
        let receives = others
            .iter()
            .map(|member| self.post_receive(label, *member));
        let mut receives: Vec<_> = receives.collect();
        let mut sends = Vec::new();
        let decision = loop {
            while let Some((to, message)) = agreement.next_message() {
                let filled = self
                    .rank
                    .message_of(&words::encode(&message, self.rank.size() as usize));
                let to = Destination::Rank(u32::try_from(to).unwrap_or(u32::MAX));
                sends.push(self.rank.post_send(to, label, filled, SendMode::Standard));
            }
            // The messages of the decision are posted already: a member that has decided tells all
            // others before it returns.
            if let Some(decision) = agreement.decision() {
                break decision.clone();
            }
            let Some((place, received)) = wait_any_timeout(&mut receives, after) else {
                return Err(Error::TimedOut { after });
            };
            let Some(member) = others.get(place).copied() else {
                unreachable!("there is one receive for each other member")
            };
            let from = member as usize;
            let message = match received {
                Ok(message) => words::decode(message.payload.as_bytes(), self.rank.size() as usize),
                Err(unreceived) => match unreceived.error {
                    Error::PeerGone { .. } => None,
                    error => return Err(error),
                },
            };
            match (message, receives.get_mut(place)) {
                (Some(message), Some(receive)) => {
                    // Posted before the message is handled, so that a member always has one receive
                    // of each other member. Only such a receive tells that it is gone.
                    *receive = self.post_receive(label, member);
                    agreement.receive(from, message);
                }
                // The member has ended, or sends what no member sends.
                _ => agreement.fail(from),
            }
        };
        for mut send in sends {
            // If this fails, the other member has failed.
            // The decision must have left this rank before the rank may end.
            if send.wait_timeout(after).is_none() {
                return Err(Error::TimedOut { after });
            }
        }
        Ok(decision)
    }

    fn post_receive(&self, label: Label, member: u32) -> RecvRequest {
        let pattern = Pattern::any(label.context)
            .sent_by(self.rank.members().in_node(member))
            .tagged(label.tag);
        self.rank
            .post_recv(Some(pattern), ReceiveTarget::Pool, ElementName::BYTES)
    }
}
