//! The collective operations of a rank.

use jstream_collective::{Algorithm, Collective, Position, ScheduleError};
use jstream_device::deadline::Deadline;

use super::call::{Agreed, Call, NO_ROOT, UNEQUAL, wait_for_notices};
use super::execution::Execution;
use super::plans::{Plan, Plans};
use super::settings::Settings;
use crate::element::Element;
use crate::error::Error;
use crate::member::Rank;
use crate::operation::Operation;

/// # Collective operations
///
/// All members of a communicator call a collective operation, with the same root, number of
/// elements and element type, and in the same order as other collective operations of this
/// communicator. They block until their part is done, which may be before others have begun. A
/// communicator serves one thread of each member at a time: [duplicate](Rank::duplicate) it for
/// another thread.
///
/// ```
/// use jstream_transport::rank::{self, operation::Sum};
///
/// # fn main() -> Result<(), rank::Error> {
/// let ranks = rank::threads(3, &rank::Options::default());
/// std::thread::scope(|scope| {
///     for rank in &ranks {
///         scope.spawn(move || -> Result<(), rank::Error> {
///             let mut sums = [0.0; 2];
///             rank.all_reduce(&[1.0, f64::from(rank.rank())], &mut sums, &Sum)?;
///             assert_eq!(sums, [3.0, 3.0]);
///             Ok(())
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
///
/// The algorithm depends on the number of ranks and elements; see
/// [`Collective::choose`](crate::Collective::choose). [`with_algorithm`](Rank::with_algorithm)
/// chooses another one, and so does the environment variable `JSTREAM_COLLECTIVES`, a list such as
/// `all_reduce=ring,broadcast=chain`. It must be the same at all ranks.
///
/// If an operation fails at one rank, the ranks that depend on it fail with [`Error::FailedAt`].
/// Ranks that disagree in the operation or its arguments get [`Error::Disagreement`] as soon as one
/// gets a message from the other, and otherwise [`Error::TimedOut`] after
/// [`Options::collective_timeout`](crate::Options::collective_timeout). The elements that should
/// have been received have any values then.
impl Rank {
    /// Returns a handle of the same communicator whose collective operations use an algorithm.
    /// Operations that do not have it are errors. [`scatter_v`](Self::scatter_v),
    /// [`gather_v`](Self::gather_v) and [`all_to_all_v`](Self::all_to_all_v) ignore it, because not
    /// all ranks know all counts.
    #[must_use]
    pub fn with_algorithm(&self, algorithm: Algorithm) -> Self {
        self.choosing(Some(algorithm))
    }

    /// Blocks until all members have called this.
    ///
    /// # Errors
    ///
    /// [`Error`] of a member that is gone or has failed.
    pub fn barrier(&self) -> Result<(), Error> {
        let plan = Plans(self).barrier();
        self.execute::<u8>(plan, &[], &mut [])
    }

    /// Copies the elements of the root to those of all other ranks.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn broadcast<E: Element>(&self, root: u32, elements: &mut [E]) -> Result<(), Error> {
        let plan = Plans(self).broadcast::<E>(root, elements.len());
        self.execute(plan, &[], elements)
    }

    /// Sends one block of the root's `sent` to each rank, in the order of the ranks. The blocks
    /// have the length of `received`. Only the root's `sent` is used.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn scatter<E: Element>(
        &self,
        root: u32,
        sent: &[E],
        received: &mut [E],
    ) -> Result<(), Error> {
        let plan = Plans(self).scatter::<E>(root, received.len());
        // The slice of another member is ignored, so that a program can pass the same arguments at
        // all of them.
        let sent = if self.rank() == root { sent } else { &[] };
        self.execute(plan, sent, received)
    }

    /// Like [`scatter`](Self::scatter), with blocks of different lengths. `counts` has the length
    /// of the block of each rank; only the root's `counts` are used.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn scatter_v<E: Element>(
        &self,
        root: u32,
        sent: &[E],
        counts: &[usize],
        received: &mut [E],
    ) -> Result<(), Error> {
        let plan = Plans(self).scatter_v::<E>(root, counts, received.len());
        let sent = if self.rank() == root { sent } else { &[] };
        self.execute(plan, sent, received)
    }

    /// Collects the elements of all ranks at the root, in the order of the ranks. Only the root's
    /// `received` is used.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn gather<E: Element>(
        &self,
        root: u32,
        sent: &[E],
        received: &mut [E],
    ) -> Result<(), Error> {
        let plan = Plans(self).gather::<E>(root, sent.len());
        let received = if self.rank() == root {
            received
        } else {
            &mut []
        };
        self.execute(plan, sent, received)
    }

    /// Like [`gather`](Self::gather), with blocks of different lengths. `counts` has the length of
    /// the block of each rank; only the root's `counts` are used.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn gather_v<E: Element>(
        &self,
        root: u32,
        sent: &[E],
        counts: &[usize],
        received: &mut [E],
    ) -> Result<(), Error> {
        let plan = Plans(self).gather_v::<E>(root, counts, sent.len());
        let received = if self.rank() == root {
            received
        } else {
            &mut []
        };
        self.execute(plan, sent, received)
    }

    /// Collects the elements of all ranks at all ranks, in the order of the ranks.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn all_gather<E: Element>(&self, sent: &[E], received: &mut [E]) -> Result<(), Error> {
        self.execute(Plans(self).all_gather::<E>(sent.len()), sent, received)
    }

    /// Like [`all_gather`](Self::all_gather), with blocks of different lengths. `counts` has the
    /// length of the block of each rank.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn all_gather_v<E: Element>(
        &self,
        sent: &[E],
        counts: &[usize],
        received: &mut [E],
    ) -> Result<(), Error> {
        self.execute(Plans(self).all_gather_v::<E>(counts), sent, received)
    }

    /// Combines the elements of all ranks at the root, each with those of the same index. Only the
    /// root's `received` is used.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn reduce<E: Element, O: Operation<E>>(
        &self,
        root: u32,
        sent: &[E],
        received: &mut [E],
        operation: &O,
    ) -> Result<(), Error> {
        let plan = Plans(self).reduce::<E, O>(root, sent.len());
        let received = if self.rank() == root {
            received
        } else {
            &mut []
        };
        self.combine(plan, sent, received, operation)
    }

    /// Combines the elements of all ranks at all ranks, each with those of the same index.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn all_reduce<E: Element, O: Operation<E>>(
        &self,
        sent: &[E],
        received: &mut [E],
        operation: &O,
    ) -> Result<(), Error> {
        let plan = Plans(self).all_reduce::<E, O>(sent.len());
        self.combine(plan, sent, received, operation)
    }

    /// Combines the elements of the ranks up to this one, each with those of the same index.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn scan<E: Element, O: Operation<E>>(
        &self,
        sent: &[E],
        received: &mut [E],
        operation: &O,
    ) -> Result<(), Error> {
        let plan = Plans(self).scan::<E, O>(sent.len());
        self.combine(plan, sent, received, operation)
    }

    /// Combines the elements of the ranks before this one, each with those of the same index. What
    /// rank 0 has received stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn exclusive_scan<E: Element, O: Operation<E>>(
        &self,
        sent: &[E],
        received: &mut [E],
        operation: &O,
    ) -> Result<(), Error> {
        let plan = Plans(self).exclusive_scan::<E, O>(sent.len());
        self.combine(plan, sent, received, operation)
    }

    /// Combines the elements of all ranks, and gives one block of the result to each rank, in the
    /// order of the ranks. The blocks have the length of `received`.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn reduce_scatter<E: Element, O: Operation<E>>(
        &self,
        sent: &[E],
        received: &mut [E],
        operation: &O,
    ) -> Result<(), Error> {
        let plan = Plans(self).reduce_scatter::<E, O>(received.len());
        self.combine(plan, sent, received, operation)
    }

    /// Like [`reduce_scatter`](Self::reduce_scatter), with blocks of different lengths. `counts`
    /// has the length of the block of each rank.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn reduce_scatter_v<E: Element, O: Operation<E>>(
        &self,
        sent: &[E],
        counts: &[usize],
        received: &mut [E],
        operation: &O,
    ) -> Result<(), Error> {
        let plan = Plans(self).reduce_scatter_v::<E, O>(counts);
        self.combine(plan, sent, received, operation)
    }

    /// Sends one block of `sent` to each rank, and receives one from each, both in the order of the
    /// ranks. All blocks have the same length.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn all_to_all<E: Element>(&self, sent: &[E], received: &mut [E]) -> Result<(), Error> {
        self.execute(Plans(self).all_to_all::<E>(sent.len()), sent, received)
    }

    /// Like [`all_to_all`](Self::all_to_all), with blocks of different lengths. `sent_counts` has
    /// the length of the block for each rank, and `received_counts` that of the block of each rank.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed.
    pub fn all_to_all_v<E: Element>(
        &self,
        sent: &[E],
        sent_counts: &[usize],
        received: &mut [E],
        received_counts: &[usize],
    ) -> Result<(), Error> {
        let plan = Plans(self).all_to_all_v::<E>(sent_counts, received_counts);
        self.execute(plan, sent, received)
    }

    pub(super) fn position(&self) -> Position {
        Position {
            rank: self.rank() as usize,
            size: self.size() as usize,
        }
    }

    /// Returns the algorithm that this handle, the environment or the size of the operation
    /// chooses, in this order.
    pub(super) fn algorithm_of(
        &self,
        collective: Collective,
        bytes: usize,
        is_commutative: bool,
    ) -> Result<Algorithm, Error> {
        // A choice of the program is binding. One of the environment is used only where it suits.
        if let Some(algorithm) = self.algorithm() {
            let unknown = ScheduleError::NoAlgorithm {
                collective,
                algorithm,
            };
            let is_known = collective.algorithms().contains(&algorithm);
            return self.arguments(collective, is_known.then_some(algorithm).ok_or(unknown));
        }
        let settings = Settings::of_environment().map_err(|reason| {
            self.refuse(collective);
            Error::Settings { reason }
        })?;
        let set = settings.algorithm(collective);
        let suitable = set.filter(|algorithm| collective.suits(*algorithm, is_commutative));
        let chosen = || collective.choose(self.position().size, bytes, is_commutative);
        Ok(suitable.unwrap_or_else(chosen))
    }

    pub(super) fn call<E: Element>(
        &self,
        collective: Collective,
        algorithm: Algorithm,
        root: u32,
        count: usize,
    ) -> Call {
        let agreed = Agreed {
            algorithm,
            root,
            count,
        };
        Call::new::<E>(self, collective, agreed)
    }

    fn execute<E: Element>(
        &self,
        plan: Plan<'_>,
        input: &[E],
        output: &mut [E],
    ) -> Result<(), Error> {
        let (call, schedule) = plan?;
        Execution::new(self, call, &**schedule, input, output, combines_nothing).run()
    }

    fn combine<E: Element, O: Operation<E>>(
        &self,
        plan: Plan<'_>,
        input: &[E],
        output: &mut [E],
        operation: &O,
    ) -> Result<(), Error> {
        let (call, schedule) = plan?;
        let combine = |first: &E, second: &E| operation.combine(first, second);
        Execution::new(self, call, &**schedule, input, output, combine).run()
    }

    /// Converts the error of arguments for which there is no schedule.
    pub(super) fn arguments<T>(
        &self,
        collective: Collective,
        result: Result<T, ScheduleError>,
    ) -> Result<T, Error> {
        result.map_err(|source| {
            self.refuse(collective);
            Error::Arguments { collective, source }
        })
    }

    /// Takes part in an operation without a schedule. The operation is numbered, as it is at the
    /// other members, so that later operations agree. All other members are told, because it is
    /// unknown which of them wait for this one.
    #[cold]
    pub(crate) fn refuse(&self, collective: Collective) {
        let Position { rank, size } = self.position();
        let algorithm = Algorithm::Direct;
        let call = self.call::<u8>(collective, algorithm, NO_ROOT, UNEQUAL);
        let deadline = Deadline::after(self.node().inbox.options.collective_timeout);
        let others = (0..size).filter(|to| *to != rank);
        let notices = others.filter_map(|to| call.send_failure(self, (to, rank), None, deadline));
        wait_for_notices(notices.collect(), deadline);
    }
}

/// The operation of schedules without a combination.
pub(super) fn combines_nothing<E>(_: &E, _: &E) -> E {
    unreachable!("the operation combines nothing")
}
