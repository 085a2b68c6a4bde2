//! New communicators: duplicates, and subgroups.

use super::communicator::{COLLECTIVE, ENDING, Members};
use super::error::Error;
use super::member::Rank;
use super::operation::{Max, Min};

impl Rank {
    /// Returns this rank in a new context, which is isolated from the messages of all other
    /// contexts. Libraries use it to keep their messages apart from those of the program.
    ///
    /// This is a collective operation: all members of the communicator have to call it.
    ///
    /// ```
    /// use jstream_transport::rank::{self, Tag};
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// std::thread::scope(|scope| {
    ///     for rank in &ranks {
    ///         scope.spawn(move || -> Result<(), rank::Error> {
    ///             let library = rank.duplicate()?;
    ///             let other = 1 - rank.rank();
    ///             library.send(other, 7, b"library")?;
    ///             rank.send(other, 7, b"program")?;
    ///             let mut text = [0; 7];
    ///             rank.recv(other, Tag::Any, &mut text)?;
    ///             assert_eq!(&text, b"program");
    ///             library.recv(other, Tag::Any, &mut text)?;
    ///             assert_eq!(&text, b"library");
    ///             Ok(())
    ///         });
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`all_reduce`](Self::all_reduce).
    pub fn duplicate(&self) -> Result<Self, Error> {
        let context = self.agree_on_context()?;
        Ok(self.with_members(context, self.members().clone()))
    }

    /// Returns a communicator of all members that give the same `color`, or `None` if this rank
    /// gives none. The members are numbered in the order of their keys, and by their numbers in
    /// this communicator if the keys are equal.
    ///
    /// This is a collective operation: all members of this communicator have to call it.
    ///
    /// ```
    /// use jstream_transport::rank;
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(5, &rank::Options::default());
    /// std::thread::scope(|scope| {
    ///     for rank in &ranks {
    ///         scope.spawn(move || -> Result<(), rank::Error> {
    ///             // Ranks 0, 2 and 4 are one group, in reverse order, and 1 and 3 the other.
    ///             let (color, key) = (rank.rank() % 2, 10 - rank.rank());
    ///             let group = rank.split(Some(color), key)?.unwrap();
    ///             assert_eq!(group.size(), 3 - color);
    ///             let mut numbers = vec![0; group.size() as usize];
    ///             group.all_gather(&[rank.rank()], &mut numbers)?;
    ///             assert_eq!(numbers, [vec![4, 2, 0], vec![3, 1]][color as usize]);
    ///             Ok(())
    ///         });
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`all_gather`](Self::all_gather).
    pub fn split(&self, color: Option<u32>, key: u32) -> Result<Option<Self>, Error> {
        // Colors are sent with 1 added; 0 stands for none.
        let sent = color.map_or(0, |color| u64::from(color).saturating_add(1));
        let mut all = vec![[0u64; 2]; self.size() as usize];
        // An algorithm that the program has chosen for its own operations may not suit these.
        let plain = self.choosing(None);
        plain.all_gather(&[[sent, u64::from(key)]], &mut all)?;
        // All members take part, also those without a color: the agreement is an operation of the
        // whole communicator.
        let context = self.agree_on_context()?;
        if color.is_none() {
            return Ok(None);
        }
        let mut members: Vec<(u64, u32)> = (0u32..)
            .zip(&all)
            .filter(|(_, [color, _])| *color == sent)
            .map(|(rank, [_, key])| (*key, rank))
            .collect();
        members.sort_unstable();
        let own = members.iter().position(|(_, rank)| *rank == self.rank());
        let own = own.and_then(|own| u32::try_from(own).ok()).unwrap_or(0);
        let members = members
            .into_iter()
            .map(|(_, rank)| self.members().in_node(rank));
        let members = Members::subgroup(members.collect(), own);
        Ok(Some(self.with_members(context, members)))
    }

    /// Compares a digest with those of all other members, as a collective operation. Returns the
    /// first member with another one.
    pub(super) fn find_other(&self, own: u64) -> Result<Option<u32>, Error> {
        let mut all = vec![0; self.size() as usize];
        self.choosing(None).all_gather(&[own], &mut all)?;
        let other = (0..).zip(&all).find(|(_, digest)| **digest != own);
        Ok(other.map(|(rank, _)| rank))
    }

    /// Agrees with all other members on the number of a context that none of them uses.
    ///
    /// Each member reserves the largest number that is next at any of them. If a thread of a member
    /// has reserved that number for another communicator meanwhile, all try again.
    fn agree_on_context(&self) -> Result<u32, Error> {
        let plain = self.choosing(None);
        loop {
            let next = self.node().unused_contexts.next();
            let mut context = [0];
            plain.all_reduce(&[next], &mut context, &Max)?;
            let [context] = context;
            if context >= COLLECTIVE {
                return Err(Error::NoContext);
            }
            // A thread of a member may have reserved the number meanwhile, for another
            // communicator. Then all try again.
            let mut is_reserved = [0];
            let reserved = u8::from(self.node().unused_contexts.reserve(context));
            plain.all_reduce(&[reserved], &mut is_reserved, &Min)?;
            if is_reserved == [1] {
                return Ok(context);
            }
        }
    }

    /// Returns this rank in the context of the messages with which ranks take leave.
    pub(super) fn in_ending_context(&self) -> Self {
        self.with_members(ENDING, self.members().clone())
    }
}
