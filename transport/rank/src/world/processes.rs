//! Worlds of processes that one of them starts.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::process::{self, Command};

use super::children::Children;
use super::error::WorldError;
use super::meeting::Meeting;
use super::options::WorldOptions;
use super::session::Session;
use super::variables::{PARENT, RANK, SESSION, SHARERS, SIZE, THREADS, WORLD};
use jstream_base::Address;

/// Returns a function that returns the command by which this process was started.
pub(super) fn this_program() -> io::Result<impl FnMut(u32) -> Command> {
    let program = env::current_exe()?;
    Ok(move |_| {
        let mut command = Command::new(&program);
        command.args(env::args_os().skip(1));
        command
    })
}

/// A world whose processes have been started.
pub(super) struct StartedWorld {
    pub(super) meeting: Meeting,
    pub(super) children: Children,
    /// The options, with the session of the world.
    pub(super) options: WorldOptions,
}

/// The ranks of a world whose processes are to be started.
pub(super) struct Newcomers {
    /// The last ranks of the world.
    pub(super) ranks: Range<u32>,
    /// Number of ranks of each process.
    pub(super) threads: u32,
    /// Number of all ranks, new or not, that run on the host of the new ones.
    pub(super) sharers: u32,
}

impl Newcomers {
    /// Returns all ranks of a world of one host but those of the first process.
    pub(super) fn of_one_host(threads: u32, size: u32) -> Self {
        Self {
            ranks: threads..size,
            threads,
            sharers: size,
        }
    }
}

/// Opens the meeting of a world, and starts the processes of its last ranks.
pub(super) fn start(
    addresses: &[Address],
    newcomers: Newcomers,
    options: &WorldOptions,
    mut command: impl FnMut(u32) -> Command,
) -> Result<StartedWorld, WorldError> {
    let mut options = options.clone();
    // The session keeps out all other processes.
    let session = options.session.map_or_else(Session::new, Ok)?;
    options.session = Some(session);
    let Newcomers {
        ranks,
        threads,
        sharers,
    } = newcomers;
    let size = ranks.end;
    options.spin_among(sharers, true);
    // Open before the processes start: they are told its addresses, in which port 0 is replaced.
    let meeting = Meeting::open(addresses, size, &options)?;
    let addresses = meeting.addresses().iter().map(Address::to_string);
    let addresses = addresses.collect::<Vec<_>>().join(" ");
    let firsts = ranks.step_by(threads.max(1) as usize);
    let commands = firsts.map(|rank| {
        let mut command = command(rank);
        let is_told = |(name, _): (&OsStr, _)| name == PARENT;
        if !command.get_envs().any(is_told) {
            command.env(PARENT, process::id().to_string());
        }
        command
            .env(RANK, rank.to_string())
            .env(SIZE, size.to_string())
            .env(THREADS, threads.to_string())
            .env(SHARERS, sharers.to_string())
            .env(WORLD, &addresses)
            .env(SESSION, session.to_string());
        (rank, command)
    });
    Ok(StartedWorld {
        children: Children::start(commands.collect())?,
        meeting,
        options,
    })
}
