//! Other ranks, as far as this rank exchanges messages with them over connections.

use std::sync::Arc;

use super::communicator::ENDING;
use super::contexts::Contexts;
use super::credit::Account;
use super::error::Error;
use super::summary::Flags;
use super::transfer::incoming::{Arriving, Incoming, Want};
use super::transfer::offers::{EndedOffer, Offers};
use super::wanted_lines::WantedLines;
use super::wire::Frame;
use jstream_endpoint::gate::Credit;
use jstream_matching::{Bounds, Pattern};

/// The ranks of the world, including this rank itself.
///
/// A rank that is gone has no offers, no requested payloads, and no payload that is arriving.
pub(super) struct Peers {
    list: Vec<Peer>,
    /// Number of other ranks that are not gone.
    live: usize,
    wanted: WantedLines,
    /// Frames that could not be sent when they were due. Their number is limited by the credit of
    /// their ranks: each answers a message that was charged.
    deferred: Vec<(u32, Frame)>,
}

/// Another rank.
#[derive(Default)]
struct Peer {
    /// The reason, if the rank is gone.
    gone: Option<Arc<str>>,
    /// Flow control of its messages, if they arrive over a connection.
    account: Option<Account>,
    /// Messages of this rank that the peer has to answer.
    offers: Offers,
    /// Messages of the peer whose payload is under way, or that it may withdraw.
    incoming: Incoming,
}

/// State of a rank that is gone, which ends with it.
pub(super) struct LostPeer {
    pub(super) arriving: Arriving,
    pub(super) offers: Vec<EndedOffer>,
    pub(super) wants: Vec<Want>,
}

impl Peers {
    /// Returns the ranks of a world of `size` ranks, none of which has a connection.
    pub(super) fn new(size: u32) -> Self {
        let list: Vec<_> = (0..size).map(|_| Peer::default()).collect();
        Self {
            live: list.len().saturating_sub(1),
            list,
            wanted: WantedLines::new(size),
            deferred: Vec::new(),
        }
    }

    #[inline]
    fn get(&self, rank: u32) -> Option<&Peer> {
        self.list.get(rank as usize)
    }

    #[inline]
    fn get_mut(&mut self, rank: u32) -> Option<&mut Peer> {
        self.list.get_mut(rank as usize)
    }

    /// Returns the number of ranks of the world.
    pub(super) fn size(&self) -> u32 {
        u32::try_from(self.list.len()).unwrap_or(u32::MAX)
    }

    /// Returns the number of other ranks that are not gone.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// Returns the error of a rank that does not exist.
    pub(super) fn no_rank(&self, rank: u32) -> Error {
        let size = self.size();
        Error::NoRank { rank, size }
    }

    /// Returns the error of a rank that is gone, or `None` if it may still send.
    pub(super) fn gone(&self, rank: u32) -> Option<Error> {
        let reason = self.get(rank)?.gone.clone()?;
        Some(Error::PeerGone { rank, reason })
    }

    /// Returns true if the rank is gone and sends nothing more.
    pub(super) fn is_gone(&self, rank: u32) -> bool {
        self.get(rank).is_none_or(|peer| peer.gone.is_some())
    }

    /// Returns true if all other ranks are gone.
    pub(super) fn is_alone(&self) -> bool {
        self.live == 0 && self.list.len() > 1
    }

    /// Returns true if no other member of a communicator is left that could send a message.
    pub(super) fn is_alone_in(&self, context: u32, contexts: &Contexts) -> bool {
        if self.is_alone() {
            return true;
        }
        let members = contexts.members(context);
        members.is_some_and(|members| members.others_are_all(|rank| self.is_gone(rank)))
    }

    /// Returns true if all ranks with a connection are gone.
    pub(super) fn connected_are_gone(&self) -> bool {
        let mut connected = self.list.iter().filter(|peer| peer.account.is_some());
        connected.all(|peer| peer.gone.is_some())
    }

    /// Marks a rank as gone. Returns `None` if there is no such rank, or if it was gone before.
    pub(super) fn remove(&mut self, rank: u32, reason: &Arc<str>) -> Option<LostPeer> {
        let peer = self.list.get_mut(rank as usize)?;
        // A connection that ends and an attempt to connect may both report it. The first reason
        // stays.
        if peer.gone.is_some() {
            return None;
        }
        peer.gone = Some(reason.clone());
        self.live = self.live.saturating_sub(1);
        self.wanted.resolve(rank);
        let (arriving, wants) = peer.incoming.lose();
        Some(LostPeer {
            arriving,
            offers: peer.offers.end_all().collect(),
            wants,
        })
    }

    /// Prepares for messages of a rank over a connection. A second connection, which is not used,
    /// changes nothing.
    pub(super) fn open_account(&mut self, rank: u32, bounds: Bounds) {
        if let Some(peer) = self.get_mut(rank) {
            peer.account.get_or_insert_with(|| Account::new(bounds));
        }
    }

    #[inline]
    fn account(&mut self, rank: u32) -> Option<&mut Account> {
        self.get_mut(rank)?.account.as_mut()
    }

    /// Charges a message that uses `bytes` of the window. Returns false if it exceeds the window.
    #[inline]
    pub(super) fn charge(&mut self, rank: u32, bytes: u64) -> bool {
        let account = self.account(rank);
        account.is_some_and(|account| account.arrive(bytes))
    }

    /// Removes a message of a rank from the flow control, because a receive has it or no receive
    /// ever will. Returns the frame that returns credit, which is due for several messages at once.
    #[inline]
    #[must_use = "the frame is sent to the rank"]
    pub(super) fn release_credit(&mut self, rank: u32, bytes: u64) -> Option<Frame> {
        Some(credit_frame(self.account(rank)?.release(bytes)?))
    }

    /// Like [`release_credit`](Self::release_credit), for messages that were received on the fast
    /// path, bypassing the matcher.
    #[must_use = "the frame is sent to the rank"]
    pub(super) fn release_bypassed(&mut self, rank: u32, passed: Credit) -> Option<Frame> {
        Some(credit_frame(self.account(rank)?.release_passed(passed)?))
    }

    /// Returns the messages of a rank whose payload is under way, or that it may withdraw.
    #[inline]
    pub(super) fn incoming(&mut self, rank: u32) -> Option<&mut Incoming> {
        Some(&mut self.get_mut(rank)?.incoming)
    }

    /// Returns the messages that a rank has to answer, unless it is gone.
    ///
    /// # Errors
    ///
    /// The error of a rank that is gone or does not exist.
    pub(super) fn offers(&mut self, rank: u32) -> Result<&mut Offers, Error> {
        if let Some(error) = self.gone(rank) {
            return Err(error);
        }
        let no_rank = self.no_rank(rank);
        self.get_mut(rank)
            .map(|peer| &mut peer.offers)
            .ok_or(no_rank)
    }

    /// Returns true if no transfer of a rank is under way.
    #[cfg(test)]
    pub(super) fn is_idle(&self, rank: u32) -> bool {
        self.get(rank)
            .is_some_and(|peer| peer.offers.is_empty() && peer.incoming.is_empty())
    }

    /// Returns the credit of a rank that is in use, or will be returned in the next batch.
    #[cfg(test)]
    pub(super) fn used_credit(&self, rank: u32) -> Credit {
        let account = self.get(rank).and_then(|peer| peer.account.as_ref());
        account.map_or(Credit::FREE, Account::used)
    }

    /// Drops all receives and claims when this rank ends. Payloads that still arrive are dropped.
    pub(super) fn drop_requesters(&mut self) {
        for peer in &mut self.list {
            peer.incoming.drop_requesters();
        }
    }

    /// Returns the flags of the parts that change rarely.
    #[inline]
    pub(super) fn flags(&self) -> Flags {
        Flags::new(&[
            (Flags::WANTED_LINES, !self.wanted.is_empty()),
            (Flags::DEFERRED_FRAMES, !self.deferred.is_empty()),
        ])
    }

    /// Keeps a frame for a rank until a thread may use the connection.
    pub(super) fn defer_frame(&mut self, to: u32, frame: Frame) {
        self.deferred.push((to, frame));
    }

    /// Removes and returns the frames that were kept, with their ranks.
    pub(super) fn take_deferred(&mut self) -> Vec<(u32, Frame)> {
        std::mem::take(&mut self.deferred)
    }

    /// Returns the connections that receives wait for.
    pub(super) fn wanted(&mut self) -> &mut WantedLines {
        &mut self.wanted
    }

    /// Asks for the connections to the ranks whose messages match a pattern: without a source, to
    /// all members of the communicator.
    #[inline]
    pub(super) fn want_lines(&mut self, pattern: &Pattern, contexts: &Contexts) {
        if self.wanted.any_is_missing() {
            self.want_missing(pattern, contexts);
        }
    }

    #[cold]
    fn want_missing(&mut self, pattern: &Pattern, contexts: &Contexts) {
        if let Some(rank) = pattern.source {
            return self.wanted.want(rank);
        }
        if pattern.context == ENDING {
            // The end of a world is told along the tree of its ranks.
            return;
        }
        let members = contexts.members(pattern.context);
        match members.as_ref().and_then(|members| members.all()) {
            Some(members) => members.iter().for_each(|rank| self.wanted.want(*rank)),
            None => (0..self.size()).for_each(|rank| self.wanted.want(rank)),
        }
    }
}

fn credit_frame(credit: Credit) -> Frame {
    let Credit { messages, bytes } = credit;
    Frame::Credit { messages, bytes }
}
