//! Worlds of processes that have several ranks each.

use std::ops::Range;
use std::process::Command;

use super::World;
use super::environment::{Assembly, ProcessRole};
use super::error::WorldError;
use super::limits::check_size;
use super::options::WorldOptions;
use super::processes::{self, Newcomers, StartedWorld};
use super::seat::Seat;
use super::threads::run;
use super::variables::{SIZE, THREADS};
use jstream_base::Address;

/// Creates the world of one rank.
type Make<'m> = Box<dyn FnOnce() -> Result<World, WorldError> + Send + 'm>;

impl World {
    /// Runs `work` at each rank of a world of `processes` processes with `threads` ranks each, and
    /// finishes each rank. Returns the results of the ranks of this process. So one program runs
    /// with ranks as threads, as processes, or as threads of several processes.
    ///
    /// The first process starts the others as [`processes`](Self::processes) does, and has the
    /// ranks from 0. The ranks of one process reach each other directly, others by the cheapest of
    /// `addresses` that works for both. A world of one process has no connections.
    ///
    /// ```no_run
    /// use jstream_transport::rank::operation::Sum;
    /// use jstream_transport::rank::world::{World, WorldError, WorldOptions};
    ///
    /// fn main() -> Result<(), WorldError> {
    ///     let addresses = ["shm://sums".parse()?, "tcp://127.0.0.1:0".parse()?];
    ///     let sums = World::run(&addresses, 2, 3, &WorldOptions::default(), |world| {
    ///         let mut sum = [0];
    ///         world.all_reduce(&[world.rank()], &mut sum, &Sum).map(|()| sum)
    ///     })?;
    ///     assert!(sums.into_iter().all(|sum| sum.unwrap() == [15]));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// As for [`threads`](Self::threads).
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world can't be created, or a rank of this process did not end
    /// properly. [`WorldError::Children`] names a process by its first rank.
    pub fn run<R: Send>(
        addresses: &[Address],
        processes: u32,
        threads: u32,
        options: &WorldOptions,
        work: impl Fn(&Self) -> R + Sync,
    ) -> Result<Vec<R>, WorldError> {
        let command = processes::this_program()?;
        Self::run_commands(addresses, (processes, threads), options, command, work)
    }

    /// Like [`run`](Self::run) for `(processes, threads)`, with a command for each process but the
    /// first, by its first rank; see [`spawn`](Self::spawn). The started process calls
    /// [`run_from_env`](Self::run_from_env), or this function.
    ///
    /// # Panics
    ///
    /// As for [`threads`](Self::threads).
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn run_commands<R: Send>(
        addresses: &[Address],
        (processes, threads): (u32, u32),
        options: &WorldOptions,
        command: impl FnMut(u32) -> Command,
        work: impl Fn(&Self) -> R + Sync,
    ) -> Result<Vec<R>, WorldError> {
        let size = processes.saturating_mul(threads);
        check_size(size)?;
        if let Some(role) = ProcessRole::of_this_process()? {
            ProcessRole::check(SIZE, role.size, size)?;
            ProcessRole::check(THREADS, role.threads, threads)?;
            return run(joining(role, options)?, &work);
        }
        if processes == 1 {
            return Self::threads(threads, options, work);
        }
        let newcomers = Newcomers::of_one_host(threads, size);
        let StartedWorld {
            meeting,
            children,
            options,
        } = processes::start(addresses, newcomers, options, command)?;
        let addresses = meeting.addresses().to_vec();
        let mut first = Some((meeting, children));
        let seats = Seat::of_threads(&(0..threads), size, &options.rank);
        let makes = seats.into_iter().map(|seat| -> Make<'_> {
            let (addresses, options) = (&addresses, &options);
            match first.take() {
                Some((meeting, children)) => Box::new(move || {
                    let mut world = meeting.join_unless(seat, &mut || children.check())?;
                    world.children.push(children);
                    Ok(world)
                }),
                None => Box::new(move || seat.join(addresses, options)),
            }
        });
        run(makes.collect(), &work)
    }

    /// Runs `work` at each rank of this process in the world that the environment describes, and
    /// finishes each rank. Returns the results of the ranks of this process. The variables are
    /// those of [`from_env`](Self::from_env), and optionally [`THREADS`], the number of ranks of
    /// this process. [`RANK`](super::RANK) is the first of them.
    ///
    /// # Panics
    ///
    /// As for [`threads`](Self::threads).
    ///
    /// # Errors
    ///
    /// [`WorldError::Environment`] if a variable is missing or invalid, or another [`WorldError`].
    pub fn run_from_env<R: Send>(
        options: &WorldOptions,
        work: impl Fn(&Self) -> R + Sync,
    ) -> Result<Vec<R>, WorldError> {
        let role = ProcessRole::require()?;
        run(joining(role, options)?, &work)
    }
}

/// Returns what creates the worlds of the ranks of this process.
fn joining(role: ProcessRole, options: &WorldOptions) -> Result<Vec<Make<'static>>, WorldError> {
    let (near, size) = (role.ranks(), role.size);
    let Assembly {
        addresses,
        options,
        mut meeting,
    } = role.assemble(options)?;
    let seats = Seat::of_threads(&near, size, &options.rank);
    let makes = seats.into_iter().map(|seat| -> Make<'static> {
        if let Some(meeting) = meeting.take() {
            return Box::new(move || meeting.join(seat));
        }
        let (addresses, options) = (addresses.clone(), options.clone());
        Box::new(move || seat.join(&addresses, &options))
    });
    Ok(makes.collect())
}

impl ProcessRole {
    /// Returns the ranks of this process.
    fn ranks(&self) -> Range<u32> {
        self.rank..self.rank.saturating_add(self.threads)
    }
}
