//! Ways to start or join a world.

use std::process::Command;

use super::environment::ProcessRole;
use super::error::WorldError;
use super::handle::World;
use super::limits::check_size;
use super::meeting::Meeting;
use super::mixed::{Make, joining};
use super::options::WorldOptions;
use super::processes::{Newcomers, StartedWorld, start, this_program};
use super::seat::Seat;
use super::session::Session;
use super::site::Site;
use super::threads::run;
use super::variables::{SIZE, THREADS};
use jstream_base::Address;

impl World {
    /// Joins the world whose rank 0 listens at `address`, as `rank` of `size`. Rank 0 itself
    /// listens there; the others wait for it. Returns when all members have joined and know each
    /// other's addresses. Two members are connected when they first need each other.
    ///
    /// # Errors
    ///
    /// [`WorldError`] on all ranks, within [`WorldOptions::timeout`].
    pub fn join(
        address: &Address,
        rank: u32,
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        Self::join_cheapest(std::slice::from_ref(address), rank, size, options)
    }

    /// Like [`join`](Self::join), where rank 0 listens on all of `addresses`. The members listen on
    /// the same devices, and each pair is connected by the cheapest one that works: for example,
    /// ranks on one host by shared memory, and others by TCP. All members must be given the same
    /// addresses. The member that opens a connection chooses the device.
    ///
    /// # Errors
    ///
    /// As for [`join`](Self::join).
    pub fn join_cheapest(
        addresses: &[Address],
        rank: u32,
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        check_size(size)?;
        if rank >= size {
            return Err(WorldError::NoRank { rank, size });
        }
        if addresses.is_empty() {
            return Err(WorldError::NoAddress);
        }
        if rank == 0 {
            return Meeting::open(addresses, size, options)?.join();
        }
        Seat::alone(rank, size, &options.rank).join(addresses, options)
    }

    /// Joins the world that the environment describes. A launcher sets the variables for each
    /// process, on one host or on several. The first row that applies counts:
    ///
    /// | launcher | place of a process | agreement on the address of rank 0 and the session |
    /// |---|---|---|
    /// | `jrun`, [`World::spawn`] | [`RANK`](super::RANK), [`SIZE`], [`WORLD`](super::WORLD), optionally [`SESSION`](super::SESSION), [`PARENT`](super::PARENT), [`SHARERS`](super::SHARERS) | the variables |
    /// | `mpirun` of OpenMPI 4 and 5 | `OMPI_COMM_WORLD_RANK`, `_SIZE`, `_LOCAL_SIZE` | PMIx if `PMIX_NAMESPACE` and `PMIX_RANK` are set, and the library `libpmix.so.2` is found in `PMIX_PREFIX` or the system; otherwise, on one host, a file |
    /// | `mpiexec` of MPICH (Hydra), `srun --mpi=pmi2` | `PMI_RANK`, `PMI_SIZE`, `MPI_LOCALNRANKS` | PMI-1 over the descriptor `PMI_FD` |
    /// | `srun` of Slurm | `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS`, `SLURM_STEP_NUM_NODES` | PMIx with `--mpi=pmix`; otherwise, on one host, a file, and on several a port of the first of `SLURM_STEP_NODELIST`, with [`SESSION`](super::SESSION) |
    /// | Kubernetes indexed job | `JOB_COMPLETION_INDEX`, [`SIZE`] | port 7117 of the pod with index 0 in the headless service [`SERVICE`](super::SERVICE), with [`SESSION`](super::SESSION) |
    ///
    /// With the other launchers, [`WORLD`](super::WORLD) sets the addresses at which rank 0 listens
    /// (default: on one host shared memory and a Unix socket, otherwise shared memory and a TCP
    /// port), and [`THREADS`] the number of ranks in each process. A session in
    /// [`SESSION`](super::SESSION) is used instead of a random one. Without a store of the
    /// launcher, a world on several hosts needs it, so that strangers on the network can't join.
    /// The file is in `jstream-UID` of the folder for temporary files. Only the same user can read
    /// it, and it is removed when all have joined.
    ///
    /// [`WorldOptions`] says for how long waiting ranks spin, which depends on the number of ranks
    /// that are known to run on the cores of this process.
    ///
    /// # Errors
    ///
    /// [`WorldError::Environment`] if a variable is missing or invalid, or another [`WorldError`].
    pub fn from_env(options: &WorldOptions) -> Result<Self, WorldError> {
        ProcessRole::require()?.join(options)
    }

    /// Starts this program as a world of `size` processes with the same arguments. The processes
    /// meet at `addresses` of rank 0, where port 0 is allowed. This process becomes rank 0. In the
    /// other processes, the same call joins the world.
    ///
    /// The other processes are killed when this process ends in any way. [`finish`](Self::finish)
    /// waits for them, and returns an error for those that did not succeed.
    ///
    /// ```no_run
    /// use jstream_transport::rank::world::{World, WorldError, WorldOptions};
    ///
    /// fn main() -> Result<(), WorldError> {
    ///     let addresses = ["tcp://127.0.0.1:0".parse()?];
    ///     let world = World::processes(&addresses, 4, &WorldOptions::default())?;
    ///     println!("this is process {} of {}", world.rank(), world.size());
    ///     world.finish()
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WorldError`]. [`WorldError::Children`] immediately if one of the processes ends before it
    /// has joined.
    pub fn processes(
        addresses: &[Address],
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        Self::spawn(addresses, size, options, this_program()?)
    }

    /// Like [`processes`](Self::processes), with a command for each rank from 1: another program,
    /// other arguments, or a command that starts the process on another host. The started process
    /// calls [`from_env`](Self::from_env), or this function.
    ///
    /// If the command only starts the process that joins, let it [remove](Command::env_remove) the
    /// variable [`PARENT`](super::PARENT). That process is then not killed with its parent, and
    /// ends when it loses the other members.
    ///
    /// # Errors
    ///
    /// As for [`processes`](Self::processes).
    pub fn spawn(
        addresses: &[Address],
        size: u32,
        options: &WorldOptions,
        command: impl FnMut(u32) -> Command,
    ) -> Result<Self, WorldError> {
        if let Some(place) = ProcessRole::of_this_process()? {
            ProcessRole::check(SIZE, place.size, size)?;
            return place.join(options);
        }
        let StartedWorld {
            meeting,
            children,
            options,
        } = start(addresses, Newcomers::of_one_host(1, size), options, command)?;
        let seat = Seat::alone(0, size, &options.rank);
        let mut world = meeting.join_unless(seat, &mut || children.check())?;
        world.children.push(children);
        Ok(world)
    }

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
        let command = this_program()?;
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
        if let Some(process) = ProcessRole::of_this_process()? {
            ProcessRole::check(SIZE, process.size, size)?;
            ProcessRole::check(THREADS, process.threads, threads)?;
            return run(joining(process, options)?, &work);
        }
        if processes == 1 {
            return Self::threads(threads, options, work);
        }
        let newcomers = Newcomers::of_one_host(threads, size);
        let StartedWorld {
            meeting,
            children,
            options,
        } = start(addresses, newcomers, options, command)?;
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
        let process = ProcessRole::require()?;
        run(joining(process, options)?, &work)
    }

    /// Runs `work` in `size` threads, each of which is a rank of one world, and finishes each rank.
    /// Returns the results by rank. The ranks reach each other directly, without connections.
    ///
    /// ```
    /// use jstream_transport::rank::world::{World, WorldError, WorldOptions};
    ///
    /// # fn main() -> Result<(), WorldError> {
    /// let sums = World::threads(3, &WorldOptions::default(), |world| {
    ///     let (next, before) = ((world.rank() + 1) % 3, (world.rank() + 2) % 3);
    ///     let mut number = [0];
    ///     world.sendrecv(next, 7, &[world.rank()], before, 7, &mut number).unwrap();
    ///     number[0] + world.rank()
    /// })?;
    /// assert_eq!(sums, [2, 1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If one of the threads panics, resumes the panic after all have ended. The other threads see
    /// the rank as gone, and do not wait for it.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if a rank did not end properly.
    pub fn threads<R: Send>(
        size: u32,
        options: &WorldOptions,
        work: impl Fn(&Self) -> R + Sync,
    ) -> Result<Vec<R>, WorldError> {
        check_size(size)?;
        let mut options = options.clone();
        options.spin_among(size, true);
        let worlds = crate::threads(size, &options.rank).into_iter();
        let site = Site {
            session: Session::new()?,
            seen: String::new(),
            given: vec![Address::inproc("threads")?],
            members: [].into(),
            transport: options.transport.clone(),
            timeout: options.timeout,
        };
        let worlds = worlds.map(|rank| {
            let world = Self::new(rank, site.clone(), &options);
            move || Ok(world)
        });
        run(worlds.collect(), &work)
    }

    /// Like [`threads`](Self::threads), but connected over `addresses`, as processes are.
    ///
    /// # Panics
    ///
    /// As for [`threads`](Self::threads).
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world can't be created, or a rank did not end properly.
    pub fn threads_over<R: Send>(
        addresses: &[Address],
        size: u32,
        options: &WorldOptions,
        work: impl Fn(&Self) -> R + Sync,
    ) -> Result<Vec<R>, WorldError> {
        let meeting = Meeting::open(addresses, size, options)?;
        let mut options = options.clone();
        options.session = Some(meeting.session());
        options.spin_among(size, true);
        let addresses = meeting.addresses().to_vec();
        let mut meeting = Some(meeting);
        let joining = (0..size).map(|rank| {
            let (addresses, options) = (&addresses, &options);
            let meeting = meeting.take();
            move || match meeting {
                Some(meeting) => meeting.join(),
                None => Self::join_cheapest(addresses, rank, size, options),
            }
        });
        run(joining.collect(), &work)
    }
}
