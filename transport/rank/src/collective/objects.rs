//! The collective operations of a rank on objects.
//!
//! Decision 091 has the reasons.

use std::{fmt, iter, vec};

use jstream::{Covariant, Received, Transportable};
use jstream_collective::{Algorithm, Blocks, Collective, Position, Schedule, ScheduleError, Step};

use super::call::NO_ROOT;
use super::object_exchange::ObjectExchange;
use crate::error::Error;
use crate::object::Objects;

/// # Collective operations on objects
///
/// Objects with pointers, text or enums are broadcast, scattered and gathered as messages that the
/// receivers read in place. As for the other [collective
/// operations](crate::Rank#collective-operations), all members of a communicator take part, in the
/// same order.
///
/// | goal | root | other ranks |
/// |---|---|---|
/// | an object of one rank at all | [`broadcast`](Self::broadcast) | [`recv_broadcast`](Self::recv_broadcast) |
/// | a part of a slice of one rank at each | [`scatter`](Self::scatter), [`scatter_v`](Self::scatter_v) | [`recv_scattered`](Self::recv_scattered) |
/// | a slice of each rank at one | [`gather`](Self::gather) | [`gather`](Self::gather) |
/// | a slice of each rank at all | [`all_gather`](Self::all_gather) | |
/// | a part of the slice of each rank at each | [`all_to_all`](Self::all_to_all), [`all_to_all_v`](Self::all_to_all_v) | |
///
/// If only the root gives an object, it calls another method than the other ranks. So no rank can
/// give an object that is ignored, and the root can't omit it.
///
/// Each part of a slice is written as a message of its own, directly from the slice, and the length
/// of a part is not known to its receiver before. A rank gets its own part as the others do theirs,
/// in a jbuf of its pool.
///
/// ```
/// use jstream_transport::rank;
///
/// # fn main() -> Result<(), rank::Error> {
/// let ranks = rank::threads(3, &rank::Options::default());
/// std::thread::scope(|scope| {
///     for rank in &ranks {
///         scope.spawn(move || -> Result<(), rank::Error> {
///             let objects = rank.objects();
///             let part = match rank.rank() {
///                 0 => {
///                     let words = ["one", "two", "three", "four"].map(str::to_owned);
///                     objects.scatter(&words)?
///                 }
///                 _ => objects.recv_scattered::<String>(0)?,
///             };
///             let lengths: Vec<_> = part.get().iter().map(|word| (word.len(), *word)).collect();
///             let lengths: Vec<_> = lengths.iter().map(|(n, word)| format!("{word}: {n}")).collect();
///             if let Some(parts) = objects.gather(0, &lengths)? {
///                 let all: Vec<_> = parts.iter().flatten().copied().collect();
///                 assert_eq!(all, ["one: 3", "two: 3", "three: 5", "four: 4"]);
///             }
///             Ok(())
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
///
/// If a rank fails, the ranks that depend on it get [`Error::FailedAt`]. If an object can't be
/// written or read, the error is an [`Error::Collective`] with [`Error::Write`] or
/// [`Error::Read`]. Only the ranks that should receive the object depend on a write. No other rank
/// depends on a read, also in a broadcast, whose bytes are forwarded before they are read.
/// [`Options::collective_timeout`](crate::Options::collective_timeout) limits the time of the whole
/// operation. [`with_algorithm`](crate::Rank::with_algorithm) has no effect.
impl Objects<'_> {
    /// Sends an object, and everything that it reaches, to all other ranks, which call
    /// [`recv_broadcast`](Self::recv_broadcast) with the number of this rank. The object is written
    /// once. The message goes along a binomial tree, and the other ranks forward its bytes as they
    /// are. Returns when the object may be changed again.
    ///
    /// # Errors
    ///
    /// [`Error`] of the object, or of a member that is gone or has failed.
    pub fn broadcast<T: Transportable>(&self, object: &T) -> Result<(), Error> {
        let (mut exchange, _) = self.broadcast_exchange(self.rank.rank())?;
        let filled = exchange.write(exchange.unserved().first().copied(), object)?;
        match *exchange.unserved() {
            // The jbuf itself is moved, if that is possible.
            [to] => exchange.send(to, filled),
            _ => exchange.send_to_all(filled.as_bytes()),
        }
        exchange.finish()
    }

    /// Receives the object of a [broadcast](Self::broadcast) by `root`.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, of the message if it is not a `T`, or of a member that is gone
    /// or has failed.
    pub fn recv_broadcast<T: Transportable + 'static>(
        &self,
        root: u32,
    ) -> Result<Received<T>, Error> {
        let collective = Collective::Broadcast;
        let (mut exchange, is_root) = self.broadcast_exchange(root)?;
        let messages = exchange.receive()?;
        let Some(message) = messages.into_iter().next().filter(|_| !is_root) else {
            return Err(self.is_root(collective, "Objects::broadcast"));
        };
        // Passed on before it is read, so that the ranks below do not wait for that. They get the
        // message even if it cannot be read here.
        exchange.send_to_all(message.payload.as_bytes());
        exchange.finish()?;
        exchange.read(message)
    }

    /// Divides the objects among all ranks, in the order of the ranks: the lengths of two parts
    /// differ by 1 at most, and the longer ones come first. The other ranks call
    /// [`recv_scattered`](Self::recv_scattered) with the number of this rank. Returns the part of
    /// this rank.
    ///
    /// # Errors
    ///
    /// [`Error`] of the objects, or of a member that is gone or has failed.
    pub fn scatter<T: Transportable + 'static>(
        &self,
        objects: &[T],
    ) -> Result<Received<Vec<T>>, Error> {
        self.scatter_parts(objects, |size| even_blocks(objects.len(), size))
    }

    /// Like [`scatter`](Self::scatter), with parts of other lengths: `counts` has
    /// the length of the part of each rank.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments or the objects, or of a member that is gone or has failed.
    pub fn scatter_v<T: Transportable + 'static>(
        &self,
        objects: &[T],
        counts: &[usize],
    ) -> Result<Received<Vec<T>>, Error> {
        self.scatter_parts(objects, |size| counted_blocks(counts, size))
    }

    fn scatter_parts<T: Transportable + 'static>(
        &self,
        objects: &[T],
        blocks: impl FnOnce(usize) -> Result<Blocks, ScheduleError>,
    ) -> Result<Received<Vec<T>>, Error> {
        let collective = Collective::Scatter;
        let call = (collective, Algorithm::Direct, self.rank.rank());
        let mut exchange = ObjectExchange::new(self.rank, call, self.others(), []);
        let parts = self.parts(collective, objects, blocks)?;
        let own = self.send_parts(&mut exchange, &parts)?;
        exchange.finish()?;
        Ok(own)
    }

    /// Receives a part of the objects that `root` [scatters](Self::scatter).
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, of the message if it has no objects of type `T`, or of a member
    /// that is gone or has failed.
    pub fn recv_scattered<T: Transportable + 'static>(
        &self,
        root: u32,
    ) -> Result<Received<Vec<T>>, Error> {
        let collective = Collective::Scatter;
        self.check_root(collective, root)?;
        let call = (collective, Algorithm::Direct, root);
        if root == self.rank.rank() {
            // The other members are told by the exchange, which sends them nothing.
            drop(ObjectExchange::new(self.rank, call, self.others(), []));
            return Err(self.is_root(collective, "Objects::scatter"));
        }
        let mut exchange = ObjectExchange::new(self.rank, call, Vec::new(), [root as usize]);
        let mut messages = exchange.receive()?;
        match messages.pop() {
            Some(message) => exchange.read(message),
            None => unreachable!("a message was received from each sender"),
        }
    }

    /// Collects the objects of all ranks at the root, in the order of the ranks. Returns them at
    /// the root, and `None` at the other ranks. The ranks may have different numbers of objects.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments or the objects, or of a member that is gone or has failed.
    pub fn gather<T: Transportable + 'static>(
        &self,
        root: u32,
        objects: &[T],
    ) -> Result<Option<ObjectParts<T>>, Error> {
        let collective = Collective::Gather;
        self.check_root(collective, root)?;
        let call = (collective, Algorithm::Direct, root);
        if root != self.rank.rank() {
            let to = root as usize;
            let mut exchange = ObjectExchange::new(self.rank, call, vec![to], []);
            let filled = exchange.write(Some(to), &objects)?;
            exchange.send(to, filled);
            exchange.finish()?;
            return Ok(None);
        }
        let mut exchange = ObjectExchange::new(self.rank, call, Vec::new(), self.others());
        let own = exchange.keep(&objects)?;
        self.receive_parts(&mut exchange, own).map(Some)
    }

    /// Collects the objects of all ranks at all ranks, in the order of the ranks. The ranks may
    /// have different numbers of objects. Each rank writes its objects once.
    ///
    /// # Errors
    ///
    /// [`Error`] of the objects, or of a member that is gone or has failed.
    pub fn all_gather<T: Transportable + 'static>(
        &self,
        objects: &[T],
    ) -> Result<ObjectParts<T>, Error> {
        let call = (Collective::AllGather, Algorithm::Direct, NO_ROOT);
        let mut exchange = ObjectExchange::new(self.rank, call, self.others(), self.others());
        let filled = exchange.write(None, &objects)?;
        exchange.send_to_all(filled.as_bytes());
        let own = exchange.read(exchange.message_of_own(filled))?;
        self.receive_parts(&mut exchange, own)
    }

    /// Divides the objects of each rank among all ranks, as
    /// [`scatter`](Self::scatter) does. Returns the parts for this rank, in the
    /// order of the ranks that they come from.
    ///
    /// # Errors
    ///
    /// [`Error`] of the objects, or of a member that is gone or has failed.
    pub fn all_to_all<T: Transportable + 'static>(
        &self,
        objects: &[T],
    ) -> Result<ObjectParts<T>, Error> {
        self.all_to_all_parts(objects, |size| even_blocks(objects.len(), size))
    }

    /// Like [`all_to_all`](Self::all_to_all), with parts of other lengths: `counts`
    /// has the length of the part for each rank.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments or the objects, or of a member that is gone or has failed.
    pub fn all_to_all_v<T: Transportable + 'static>(
        &self,
        objects: &[T],
        counts: &[usize],
    ) -> Result<ObjectParts<T>, Error> {
        self.all_to_all_parts(objects, |size| counted_blocks(counts, size))
    }

    fn all_to_all_parts<T: Transportable + 'static>(
        &self,
        objects: &[T],
        blocks: impl FnOnce(usize) -> Result<Blocks, ScheduleError>,
    ) -> Result<ObjectParts<T>, Error> {
        let collective = Collective::AllToAll;
        let call = (collective, Algorithm::Direct, NO_ROOT);
        let mut exchange = ObjectExchange::new(self.rank, call, self.others(), self.others());
        let parts = self.parts(collective, objects, blocks)?;
        let own = self.send_parts(&mut exchange, &parts)?;
        self.receive_parts(&mut exchange, own)
    }

    /// Writes and posts the part of each other rank. Returns the own part.
    fn send_parts<T: Transportable + 'static>(
        &self,
        exchange: &mut ObjectExchange<'_>,
        parts: &[&[T]],
    ) -> Result<Received<Vec<T>>, Error> {
        // The ranks behind this one come first, so that not all ranks begin with the same one.
        let own = self.rank.rank() as usize;
        let (before, behind) = parts.split_at_checked(own).unwrap_or_default();
        let (kept, behind) = behind
            .split_first()
            .map_or((&[][..], behind), |(kept, behind)| (*kept, behind));
        let first = own.saturating_add(1);
        let all = (first..).zip(behind).chain((0..).zip(before));
        for (to, part) in all {
            let filled = exchange.write(Some(to), part)?;
            exchange.send(to, filled);
        }
        exchange.keep(&kept)
    }

    /// Waits for all messages, and puts the own part between those of the other ranks.
    fn receive_parts<T: Transportable + 'static>(
        &self,
        exchange: &mut ObjectExchange<'_>,
        own: Received<Vec<T>>,
    ) -> Result<ObjectParts<T>, Error> {
        let messages = exchange.receive()?;
        // Read only after everything was exchanged: an object that cannot be read must not stop the
        // others.
        exchange.finish()?;
        let mut parts = Vec::with_capacity(self.rank.size() as usize);
        let mut messages = messages.into_iter();
        for message in messages.by_ref().take(self.rank.rank() as usize) {
            parts.push(exchange.read(message)?);
        }
        parts.push(own);
        for message in messages {
            parts.push(exchange.read(message)?);
        }
        Ok(ObjectParts { parts })
    }

    /// Divides a slice into the parts of all ranks.
    fn parts<'o, T>(
        &self,
        collective: Collective,
        objects: &'o [T],
        blocks: impl FnOnce(usize) -> Result<Blocks, ScheduleError>,
    ) -> Result<Vec<&'o [T]>, Error> {
        let blocks = blocks(self.rank.size() as usize);
        let blocks = blocks.map_err(|source| Error::Arguments { collective, source })?;
        let wrong = || Error::WrongLength {
            collective,
            what: "objects",
            given: objects.len(),
            expected: blocks.total(),
        };
        let mut rest = objects;
        let parts = (0..blocks.size()).map(|block| {
            let (part, behind) = rest.split_at_checked(blocks.len(block)).ok_or_else(wrong)?;
            rest = behind;
            Ok(part)
        });
        let parts = parts.collect::<Result<Vec<_>, Error>>()?;
        if rest.is_empty() {
            Ok(parts)
        } else {
            Err(wrong())
        }
    }

    /// Creates the exchange of a broadcast. Returns true if this rank is the root.
    fn broadcast_exchange(&self, root: u32) -> Result<(ObjectExchange<'_>, bool), Error> {
        let (collective, algorithm) = (Collective::Broadcast, Algorithm::Binomial);
        self.check_root(collective, root)?;
        let at = Position {
            rank: self.rank.rank() as usize,
            size: self.rank.size() as usize,
        };
        // The message is one element of the schedule.
        let tree = Schedule::broadcast(at, root as usize, 1, algorithm);
        let tree = tree.map_err(|source| Error::Arguments { collective, source })?;
        let receivers = tree.steps().iter().filter_map(|step| match *step {
            Step::Send { to, .. } => Some(to),
            _ => None,
        });
        let senders = tree.steps().iter().filter_map(|step| match *step {
            Step::Receive { from, .. } => Some(from),
            _ => None,
        });
        let call = (collective, algorithm, root);
        let exchange = ObjectExchange::new(self.rank, call, receivers.collect(), senders);
        Ok((exchange, root == self.rank.rank()))
    }

    /// Returns an error if the root is no member. The other members are told.
    fn check_root(&self, collective: Collective, root: u32) -> Result<(), Error> {
        if root < self.rank.size() {
            return Ok(());
        }
        // The operation is numbered nevertheless, and the other members are told.
        self.rank.refuse(collective);
        let source = ScheduleError::NoRoot {
            root: root as usize,
            size: self.rank.size() as usize,
        };
        Err(Error::Arguments { collective, source })
    }

    fn is_root(&self, collective: Collective, instead: &'static str) -> Error {
        Error::IsRoot {
            collective,
            rank: self.rank.rank(),
            instead,
        }
    }

    /// Returns the numbers of all other members.
    fn others(&self) -> Vec<usize> {
        let own = self.rank.rank() as usize;
        (0..self.rank.size() as usize)
            .filter(|rank| *rank != own)
            .collect()
    }
}

/// Returns blocks whose lengths differ by 1 at most.
fn even_blocks(count: usize, size: usize) -> Result<Blocks, ScheduleError> {
    let least = count.checked_div(size).unwrap_or(0);
    let longer = count.checked_rem(size).unwrap_or(0);
    let lengths = iter::repeat_n(least.saturating_add(1), longer);
    Blocks::of(lengths.chain(iter::repeat_n(least, size.saturating_sub(longer))))
}

fn counted_blocks(counts: &[usize], size: usize) -> Result<Blocks, ScheduleError> {
    let given = counts.len();
    if given != size {
        return Err(ScheduleError::WrongCounts { given, size });
    }
    Blocks::of(counts.iter().copied())
}

/// The objects of all ranks that a rank has received in a [collective operation on
/// objects](Objects#collective-operations-on-objects), in the order of the ranks. The part of each
/// rank lies in place in the jbuf that it was received in.
///
/// As an iterator, it returns the parts as objects that own their jbufs.
pub struct ObjectParts<T: Transportable + 'static> {
    parts: Vec<Received<Slice<T>>>,
}

#[cfg(not(doc))]
type Slice<T> = Vec<T>;

/// A stand-in for rustdoc, which fails when it computes the auto traits of the slice type.
#[cfg(doc)]
type Slice<T> = T;

impl<T: Transportable + 'static> ObjectParts<T> {
    /// Returns the objects of each rank.
    pub fn iter<'s>(
        &'s self,
    ) -> impl DoubleEndedIterator<Item = &'s [T::InPlace<'s>]> + ExactSizeIterator
    where
        T: Covariant,
    {
        self.parts.iter().map(|part| *part.get())
    }

    /// Returns the part of a rank, which owns its jbuf. `None` if there is no such rank.
    #[must_use]
    pub fn part(&self, rank: u32) -> Option<&Received<Vec<T>>> {
        self.parts.get(rank as usize)
    }
}

impl<T: Transportable + 'static> IntoIterator for ObjectParts<T> {
    type Item = Received<Vec<T>>;
    type IntoIter = vec::IntoIter<Received<Vec<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.into_iter()
    }
}

impl<T: Transportable + 'static> fmt::Debug for ObjectParts<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectParts")
            .field("parts", &self.parts.len())
            .finish_non_exhaustive()
    }
}
